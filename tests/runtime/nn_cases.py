"""What layers, losses, schedules and optimizers compute, written once for both frameworks.

`python tests/runtime/nn_cases.py` under MindSpore prints the reference values that nn_reference.json holds;
the tests run the same cases on the port's runtime.
"""

import json

import numpy as np


def data(*shape, start=0.0):
    """Values that rise and fall, none of them equal to 0."""
    n = int(np.prod(shape))
    return (np.sin(np.arange(n) * 0.7 + start) * 1.5 + 0.01).astype(np.float32).reshape(shape)


def filled(fw, layer):
    """Every parameter of a layer by a rule, so that initialisation does not matter; statistics stay."""
    for name, p in fw.named(layer):
        if "moving" not in name and "running" not in name and "num_batches" not in name:
            fw.put(p, data(*p.shape, start=len(name)) * 0.3 + (1.0 if "gamma" in name else 0.0))
    return layer


# name: (expression for the layer, shapes of the inputs)
LAYERS = {
    "relu": ("nn.ReLU()", [(2, 3)]),
    "relu6": ("nn.ReLU6()", [(2, 3)]),
    "sigmoid": ("nn.Sigmoid()", [(2, 3)]),
    "logsigmoid": ("nn.LogSigmoid()", [(2, 3)]),
    "tanh": ("nn.Tanh()", [(2, 3)]),
    "silu": ("nn.SiLU()", [(2, 3)]),
    "mish": ("nn.Mish()", [(2, 3)]),
    "hswish": ("nn.HSwish()", [(2, 3)]),
    "hsigmoid": ("nn.HSigmoid()", [(2, 3)]),
    "selu": ("nn.SeLU()", [(2, 3)]),
    "fastgelu": ("nn.FastGelu()", [(2, 3)]),
    "gelu": ("nn.GELU()", [(2, 3)]),
    "gelu exact": ("nn.GELU(approximate=False)", [(2, 3)]),
    "leaky": ("nn.LeakyReLU()", [(2, 3)]),
    "leaky alpha": ("nn.LeakyReLU(0.1)", [(2, 3)]),
    "elu": ("nn.ELU()", [(2, 3)]),
    "celu": ("nn.CELU(2.0)", [(2, 3)]),
    "hshrink": ("nn.HShrink()", [(2, 3)]),
    "softshrink": ("nn.SoftShrink()", [(2, 3)]),
    "softmax": ("nn.Softmax()", [(2, 3, 2)]),
    "softmax axis": ("nn.Softmax(axis=1)", [(2, 3, 2)]),
    "logsoftmax": ("nn.LogSoftmax()", [(2, 3, 2)]),
    "prelu": ("nn.PReLU(3)", [(2, 3)]),
    "softsign": ("nn.Softsign()", [(2, 3)]),
    "tanhshrink": ("nn.Tanhshrink()", [(2, 3)]),
    "hardtanh": ("nn.Hardtanh()", [(2, 3)]),
    "softmin": ("nn.Softmin()", [(2, 3)]),
    "threshold": ("nn.Threshold(0.5, 7.0)", [(2, 3)]),
    "glu": ("nn.GLU()", [(2, 4)]),
    "dense": ("nn.Dense(3, 2)", [(2, 4, 3)]),
    "dense relu": ("nn.Dense(3, 2, activation='relu')", [(2, 3)]),
    "dense leaky": ("nn.Dense(3, 2, has_bias=False, activation=nn.LeakyReLU())", [(2, 3)]),
    "dense silu": ("nn.Dense(3, 2, activation='silu')", [(2, 3)]),
    "bidense": ("nn.BiDense(3, 2, 4)", [(2, 3), (2, 2)]),
    "layernorm": ("nn.LayerNorm((4,))", [(2, 3, 4)]),
    "layernorm axes": ("nn.LayerNorm((3, 4), begin_norm_axis=1, begin_params_axis=1)", [(2, 3, 4)]),
    "layernorm small": ("nn.LayerNorm((4,), epsilon=1e-2)", [(2, 4)]),
    "groupnorm": ("nn.GroupNorm(2, 4)", [(2, 4, 3, 3)]),
    "bn2d eval": ("nn.BatchNorm2d(3)", [(2, 3, 2, 2)]),
    "bn1d eval": ("nn.BatchNorm1d(3, eps=1e-2)", [(4, 3)]),
    "conv2d": ("nn.Conv2d(2, 3, 3)", [(1, 2, 5, 6)]),
    "conv2d stride": ("nn.Conv2d(2, 3, 3, stride=2, has_bias=True)", [(1, 2, 5, 6)]),
    "conv2d even": ("nn.Conv2d(2, 3, 2, stride=1)", [(1, 2, 5, 6)]),
    "conv2d valid": ("nn.Conv2d(2, 4, (3, 2), pad_mode='valid', group=2)", [(1, 2, 5, 6)]),
    "conv2d pad": ("nn.Conv2d(2, 3, 3, pad_mode='pad', padding=1, dilation=2)", [(1, 2, 6, 6)]),
    "conv2d pad4": ("nn.Conv2d(2, 3, 3, pad_mode='pad', padding=(1, 2, 0, 1))", [(1, 2, 5, 6)]),
    "conv2d dilation": ("nn.Conv2d(2, 3, 3, dilation=2)", [(1, 2, 5, 6)]),
    "conv1d": ("nn.Conv1d(2, 3, 3, has_bias=True)", [(2, 2, 5)]),
    "conv1d stride": ("nn.Conv1d(2, 3, 4, stride=3)", [(2, 2, 7)]),
    "conv1d pad": ("nn.Conv1d(2, 3, 4, pad_mode='pad', padding=2)", [(2, 2, 7)]),
    "conv3d": ("nn.Conv3d(1, 2, 3)", [(1, 1, 3, 4, 4)]),
    "conv2dT": ("nn.Conv2dTranspose(2, 3, 3, has_bias=True)", [(1, 2, 3, 4)]),
    "conv2dT stride": ("nn.Conv2dTranspose(2, 3, 3, stride=2)", [(1, 2, 3, 4)]),
    "conv2dT even": ("nn.Conv2dTranspose(2, 3, 4, stride=2)", [(1, 2, 3, 4)]),
    "conv2dT valid": ("nn.Conv2dTranspose(2, 3, 3, stride=2, pad_mode='valid')", [(1, 2, 3, 4)]),
    "conv2dT pad": ("nn.Conv2dTranspose(2, 3, 3, stride=2, pad_mode='pad', padding=1)", [(1, 2, 3, 4)]),
    "conv2dT out": (
        "nn.Conv2dTranspose(2, 3, 3, stride=2, pad_mode='pad', padding=1, output_padding=1)",
        [(1, 2, 3, 4)],
    ),
    "conv1dT": ("nn.Conv1dTranspose(2, 3, 3, stride=2)", [(1, 2, 4)]),
    "maxpool": ("nn.MaxPool2d()", [(1, 2, 4, 4)]),
    "maxpool 2": ("nn.MaxPool2d(2)", [(1, 2, 4, 4)]),
    "maxpool 2 2": ("nn.MaxPool2d(kernel_size=2, stride=2)", [(1, 2, 5, 5)]),
    "maxpool same": ("nn.MaxPool2d(3, 2, pad_mode='same')", [(1, 2, 4, 5)]),
    "maxpool SAME": ("nn.MaxPool2d(2, 1, 'SAME')", [(1, 2, 4, 5)]),
    "maxpool1d": ("nn.MaxPool1d(3, 2)", [(1, 2, 7)]),
    "maxpool1d same": ("nn.MaxPool1d(3, 2, pad_mode='same')", [(1, 2, 6)]),
    "avgpool": ("nn.AvgPool2d(2)", [(1, 2, 4, 4)]),
    "avgpool stride": ("nn.AvgPool2d(2, 2)", [(1, 2, 4, 4)]),
    "avgpool same": ("nn.AvgPool2d(3, 2, pad_mode='same')", [(1, 2, 4, 5)]),
    "avgpool1d": ("nn.AvgPool1d(3, 2)", [(1, 2, 7)]),
    "avgpool1d same": ("nn.AvgPool1d(3, 1, pad_mode='same')", [(1, 2, 6)]),
    "adaptive avg": ("nn.AdaptiveAvgPool2d(2)", [(1, 2, 5, 4)]),
    "adaptive avg 1d": ("nn.AdaptiveAvgPool1d(2)", [(1, 2, 6)]),
    "adaptive max": ("nn.AdaptiveMaxPool2d(2)", [(1, 2, 5, 4)]),
    "flatten": ("nn.Flatten()", [(2, 3, 4)]),
    "flatten ends": ("nn.Flatten(0, 1)", [(2, 3, 4)]),
    "identity": ("nn.Identity(3, a=1)", [(2,)]),
    "tril": ("nn.Tril()", [(3, 3)]),
    "triu": ("nn.Triu()", [(3, 3)]),
    "dropout eval": ("nn.Dropout(p=0.5)", [(2, 3)]),
    "pad": ("nn.Pad(((1, 0), (2, 1)))", [(2, 3)]),
    "pad reflect": ("nn.Pad(((1, 0), (2, 1)), 'REFLECT')", [(3, 4)]),
    "pad symmetric": ("nn.Pad(((1, 0), (2, 1)), 'SYMMETRIC')", [(3, 4)]),
    "clip": ("ClipTo(nn)", [(2, 3)]),
    "pixelshuffle": ("nn.PixelShuffle(2)", [(1, 4, 2, 3)]),
    "l1": ("nn.L1Loss()", [(2, 3), (2, 3)]),
    "mae none": ("nn.MAELoss(reduction='none')", [(2, 3), (2, 3)]),
    "mse": ("nn.MSELoss()", [(2, 3), (2, 3)]),
    "mse sum": ("nn.MSELoss('sum')", [(2, 3), (2, 3)]),
    "rmse": ("nn.RMSELoss()", [(2, 3), (2, 3)]),
    "smooth": ("nn.SmoothL1Loss()", [(2, 3), (2, 3)]),
    "smooth mean": ("nn.SmoothL1Loss(0.5, 'mean')", [(2, 3), (2, 3)]),
    "huber": ("nn.HuberLoss()", [(2, 3), (2, 3)]),
    "kl": ("Probable(nn, nn.KLDivLoss())", [(2, 3), (2, 3)]),
    "softmax ce": ("Probable(nn, nn.SoftmaxCrossEntropyWithLogits())", [(2, 3), (2, 3)]),
    "softmax ce mean": (
        "Probable(nn, nn.SoftmaxCrossEntropyWithLogits(reduction='mean'))",
        [(2, 3), (2, 3)],
    ),
    "bce logits": ("nn.BCEWithLogitsLoss()", [(2, 3), (2, 3)]),
    "bce logits sum": ("nn.BCEWithLogitsLoss('sum')", [(2, 3), (2, 3)]),
    "kl sum": ("Probable(nn, nn.KLDivLoss('sum'))", [(2, 3), (2, 3)]),
    "kl none": ("Probable(nn, nn.KLDivLoss('none'))", [(2, 3), (2, 3)]),
    "bce": ("Probable(nn, nn.BCELoss(), both=True)", [(2, 3), (2, 3)]),
    "bce none": ("Probable(nn, nn.BCELoss(reduction='none'), both=True)", [(2, 3), (2, 3)]),
    "hinge": ("Signed(nn.HingeEmbeddingLoss())", [(2, 3), (2, 3)]),
    "hinge margin": ("Signed(nn.HingeEmbeddingLoss(0.5, 'sum'))", [(2, 3), (2, 3)]),
    "ranking": ("Signed(nn.MarginRankingLoss(0.2))", [(3,), (3,), (3,)]),
    "cosine": ("Signed(nn.CosineEmbeddingLoss(0.1))", [(3, 4), (3, 4), (3,)]),
    "constantpad1d": ("nn.ConstantPad1d((1, 2), 0.5)", [(2, 3)]),
    "constantpad2d": ("nn.ConstantPad2d((1, 0, 2, 1), 1)", [(1, 2, 3)]),
    "constantpad2d fewer": ("nn.ConstantPad2d((1, 2), 1)", [(1, 2, 3)]),
    "constantpad3d": ("nn.ConstantPad3d(1, 0.25)", [(1, 2, 1, 2)]),
    "zeropad2d": ("nn.ZeroPad2d((1, 0, 0, 2))", [(1, 1, 2, 3)]),
    "reflectionpad1d": ("nn.ReflectionPad1d((2, 1))", [(1, 2, 3)]),
    "reflectionpad2d": ("nn.ReflectionPad2d((1, 2, 0, 1))", [(1, 1, 2, 3)]),
    "reflectionpad3d": ("nn.ReflectionPad3d((1, 0, 1, 1, 0, 1))", [(1, 1, 2, 3, 2)]),
    "replicationpad1d": ("nn.ReplicationPad1d((2, 1))", [(1, 2, 3)]),
    "replicationpad2d": ("nn.ReplicationPad2d(1)", [(1, 1, 2, 3)]),
    "replicationpad3d": ("nn.ReplicationPad3d((1, 0, 1, 0, 0, 1))", [(1, 1, 2, 2, 2)]),
    "lrn": ("nn.LRN(1, 0.8, 0.3, 0.6)", [(1, 4, 2, 2)]),
    "upsample": ("nn.Upsample(size=(4, 5))", [(1, 1, 2, 3)]),
    "upsample bilinear": ("nn.Upsample(size=(4, 5), mode='bilinear', align_corners=True)", [(1, 1, 2, 3)]),
    "poisson": ("nn.PoissonNLLLoss()", [(2, 3), (2, 3)]),
    "poisson full": ("Squared(nn.PoissonNLLLoss(False, True, 1e-6, 'sum'))", [(2, 3), (2, 3)]),
    "gaussian": ("Squared(nn.GaussianNLLLoss())", [(2, 3), (2, 3), (2, 3)]),
    "gaussian full": ("Squared(nn.GaussianNLLLoss(full=True, reduction='sum'))", [(2, 3), (2, 3), (2, 3)]),
    "unflatten": ("nn.Unflatten(1, (2, 3))", [(2, 6)]),
    "pixelunshuffle": ("nn.PixelUnshuffle(2)", [(1, 1, 4, 6)]),
    "dropout1d eval": ("nn.Dropout1d(0.3)", [(2, 3, 4)]),
    "dropout2d eval": ("nn.Dropout2d(0.3)", [(2, 3, 2, 2)]),
    "dropout3d eval": ("nn.Dropout3d(0.3)", [(1, 2, 2, 2, 2)]),
    "logsoftmax axis": ("nn.LogSoftmax(axis=0)", [(2, 3)]),
    "softmax2d": ("nn.Softmax2d()", [(1, 2, 2, 2)]),
    "relu3d conv": ("nn.Conv3d(1, 2, 2, stride=2, pad_mode='valid', has_bias=True)", [(1, 1, 4, 4, 4)]),
    "conv3dT": ("nn.Conv3dTranspose(1, 2, 2, stride=2, pad_mode='pad')", [(1, 1, 2, 3, 3)]),
    "maxpool3d": ("nn.MaxPool3d(2, 2)", [(1, 1, 4, 4, 4)]),
    "avgpool3d": ("nn.AvgPool3d(2, 2)", [(1, 1, 4, 4, 4)]),
    "adaptive max 1d": ("nn.AdaptiveMaxPool1d(2)", [(1, 2, 6)]),
    "adaptive avg 3d": ("nn.AdaptiveAvgPool3d(2)", [(1, 1, 4, 5, 6)]),
}

# name: (layer, input shape, integer labels)
LABELLED = {
    "ce": ("nn.CrossEntropyLoss()", (3, 4), [1, 0, 3]),
    "ce ignore": ("nn.CrossEntropyLoss(ignore_index=0, reduction='sum')", (3, 4), [1, 0, 3]),
    "ce smooth": ("nn.CrossEntropyLoss(label_smoothing=0.1)", (3, 4), [1, 0, 3]),
    "nll": ("nn.NLLLoss()", (3, 4), [1, 0, 3]),
    "sparse ce": ("nn.SoftmaxCrossEntropyWithLogits(sparse=True)", (3, 4), [1, 0, 3]),
    "sparse ce mean": ("nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')", (3, 4), [1, 0, 3]),
}

IDS = {
    "embedding": "nn.Embedding(5, 3)",
    "embedding one hot": "nn.Embedding(5, 3, use_one_hot=True)",
    "onehot": "nn.OneHot(depth=5)",
    "onehot axis": "nn.OneHot(axis=0, depth=5, on_value=2.0, off_value=-1.0)",
}

BATCH = {
    "bn2d": ("nn.BatchNorm2d(3)", (2, 3, 2, 2)),
    "bn2d momentum": ("nn.BatchNorm2d(3, 1e-3, 0.6)", (2, 3, 2, 2)),
    "bn1d": ("nn.BatchNorm1d(3)", (4, 3)),
    "bn3d": ("nn.BatchNorm3d(2, momentum=0.99)", (1, 2, 2, 2, 2)),
    "bn2d fixed": ("nn.BatchNorm2d(3, use_batch_statistics=False)", (2, 3, 2, 2)),
    "bn2d always": ("nn.BatchNorm2d(3, use_batch_statistics=True, affine=False)", (2, 3, 2, 2)),
}

SCHEDULES = {
    "exp": "nn.ExponentialDecayLR(0.1, 0.9, 4)",
    "exp stair": "nn.ExponentialDecayLR(0.1, 0.9, 4, True)",
    "natural": "nn.NaturalExpDecayLR(0.1, 0.9, 4)",
    "natural stair": "nn.NaturalExpDecayLR(0.1, 0.9, 4, True)",
    "inverse": "nn.InverseDecayLR(0.1, 0.9, 4)",
    "inverse stair": "nn.InverseDecayLR(0.1, 0.9, 4, True)",
    "cosine": "nn.CosineDecayLR(0.01, 0.1, 4)",
    "poly": "nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)",
    "poly update": "nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, True)",
    "warm": "nn.WarmUpLR(0.1, 4)",
}

LISTS = {
    "cosine": "nn.cosine_decay_lr(0.01, 0.1, 6, 2, 3)",
    "exp": "nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2)",
    "exp stair": "nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2, True)",
    "inverse": "nn.inverse_decay_lr(0.1, 0.5, 6, 2, 1)",
    "inverse stair": "nn.inverse_decay_lr(0.1, 0.5, 6, 2, 1, True)",
    "natural": "nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2)",
    "natural stair": "nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True)",
    "piecewise": "nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])",
    "poly": "nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5)",
    "poly update": "nn.polynomial_decay_lr(0.1, 0.01, 8, 2, 2, 0.5, True)",
    "warm": "nn.warmup_lr(0.1, 6, 2, 2)",
}

# Three steps of each on two parameters, "w" and "ln.gamma" (which has no weight decay).
OPTIMIZERS = {
    "sgd": "nn.SGD(params, 0.1)",
    "sgd momentum": "nn.SGD(params, 0.1, momentum=0.9, dampening=0.3, weight_decay=0.1)",
    "sgd nesterov": "nn.SGD(params, 0.1, momentum=0.9, nesterov=True)",
    "sgd scale": "nn.SGD(params, 0.1, momentum=0.5, weight_decay=0.1, loss_scale=4.0)",
    "momentum": "nn.Momentum(params, 0.1, 0.9)",
    # MindSpore's CPU kernel ignores use_nesterov, and in FTRL the sign of l1: left out.
    "momentum decay": "nn.Momentum(params, 0.1, 0.9, weight_decay=0.1)",
    "momentum scale": "nn.Momentum(params, 0.1, 0.9, weight_decay=0.1, loss_scale=4.0)",
    "adam": "nn.Adam(params)",
    "adam settings": "nn.Adam(params, 0.1, beta1=0.8, beta2=0.9, eps=1e-3, weight_decay=0.1,"
    " use_nesterov=True)",
    "adam ams": "nn.Adam(params, 0.1, use_amsgrad=True)",
    "adamw": "nn.AdamWeightDecay(params)",
    "adamw settings": "nn.AdamWeightDecay(params, 0.1, beta1=0.8, beta2=0.9, eps=1e-3, weight_decay=0.1)",
    "adamw list": "nn.AdamWeightDecay(params, [0.1, 0.2, 0.3], weight_decay=0.1)",
    "sgd cosine": "nn.SGD(params, nn.CosineDecayLR(0.01, 0.1, 2))",
    "adagrad": "nn.Adagrad(params, learning_rate=0.1, weight_decay=0.1)",
    "rmsprop": "nn.RMSProp(params, 0.1)",
    "rmsprop momentum": "nn.RMSProp(params, 0.1, decay=0.8, momentum=0.5, epsilon=1e-3, weight_decay=0.1)",
    "rmsprop centered": "nn.RMSProp(params, 0.1, centered=True)",
    "adamax": "nn.AdaMax(params, 0.1, weight_decay=0.1)",
    "adadelta": "nn.Adadelta(params, 1.0, weight_decay=0.1)",
    "ftrl": "nn.FTRL(params, learning_rate=0.1, l2=0.01)",
    "proximal": "nn.ProximalAdagrad(params, learning_rate=0.1, l1=0.01, l2=0.01)",
    "lazyadam": "nn.LazyAdam(params, 0.1)",
    "group momentum": "nn.Momentum([{'params': params[:1], 'lr': 0.5, 'weight_decay': 0.1},"
    " {'params': params[1:]}], 0.1, 0.9)",
    "group adamw": "nn.AdamWeightDecay([{'params': params[:1], 'weight_decay': 0.0},"
    " {'params': params[1:]}], 0.1, weight_decay=0.2)",
}

NAMED = [
    "nn.Dense(2, 3)",
    "nn.Dense(2, 3, activation=nn.PReLU())",
    "nn.BatchNorm2d(2)",
    "nn.BatchNorm3d(2, affine=False)",
    "nn.GroupNorm(1, 2)",
    "nn.LayerNorm((2,))",
    "nn.Embedding(3, 4)",
    "nn.PReLU()",
    "nn.Conv1d(2, 3, 3)",
    "nn.Conv2d(2, 2, 3, has_bias=True)",
    "nn.Conv2dTranspose(2, 3, 3)",
    "nn.BiDense(2, 3, 4)",
    "nn.SequentialCell([nn.Dense(2, 2), nn.ReLU(), nn.SequentialCell(nn.Conv2d(1, 1, 1))])",
    "nn.CellDict({'a': nn.Dense(2, 2), 'b': nn.ReLU()})",
    "nn.WithLossCell(nn.SequentialCell(nn.Dense(2, 1)), nn.MSELoss())",
]


def clip_to(nn):
    layer = nn.ClipByNorm()
    return lambda x: layer(x, abs(x).max())


def probable(nn, loss, both=False):
    """A loss whose labels are probabilities, or whose labels and predictions are."""
    softmax = nn.Softmax()
    return lambda logits, labels: loss(softmax(logits) if both else logits, softmax(labels))


def signed(loss):
    """A loss whose last argument holds only 1 and -1."""
    return lambda *values: loss(*values[:-1], values[-1] / abs(values[-1]))


def squared(loss):
    """A loss whose arguments are above 0."""
    return lambda *values: loss(*(value * value for value in values))


def rounded(value):
    """Nested lists with seven digits: what float32 holds."""
    array = np.asarray(value, dtype=np.float64)
    return np.array([float(f"{v:.7g}") for v in array.reshape(-1)]).reshape(array.shape).tolist()


def results(fw):
    """Every case's numbers as lists, under one key each; a case that the framework cannot run is left out."""
    nn = fw.nn
    scope = {"nn": nn, "ClipTo": clip_to, "Probable": probable, "Signed": signed, "Squared": squared}
    out = {}

    def case(key, run):
        try:
            out[key] = [rounded(v) for v in run()]
        except Exception as error:
            if not fw.lenient:
                raise AssertionError(f"{key}: {error!r}") from error
            print("left out", key, repr(error)[:200], file=__import__("sys").stderr)

    for name, (text, shapes) in LAYERS.items():

        def layer_case(name=name, text=text, shapes=shapes):
            layer = eval(text, scope)
            if hasattr(layer, "training"):
                filled(fw, layer)
            inputs = [fw.t(data(*s, start=i + 1)) for i, s in enumerate(shapes)]
            y, g = fw.value_and_grad(layer, inputs)
            # MindSpore's CPU kernel for the gradient of SeLU is wrong below 0.
            return [fw.np(y)] if name == "selu" else [fw.np(y), fw.np(g)]

        case(f"layer/{name}", layer_case)
    for name, (text, shape, labels) in LABELLED.items():

        def loss_case(text=text, shape=shape, labels=labels):
            layer = eval(text, scope)
            y, g = fw.value_and_grad(
                lambda x: layer(x, fw.t(np.array(labels, np.int32))), [fw.t(data(*shape))]
            )
            return [fw.np(y), fw.np(g)]

        case(f"label/{name}", loss_case)
    for name, text in IDS.items():
        case(
            f"ids/{name}",
            lambda text=text: [
                fw.np(filled(fw, eval(text, scope))(fw.t(np.array([[1, 4], [0, 1]], np.int32))))
            ],
        )
    for name, (text, shape) in BATCH.items():

        def batch_case(text=text, shape=shape):
            layer = filled(fw, eval(text, scope))
            layer.set_train()
            y = layer(fw.t(data(*shape)))
            layer(fw.t(data(*shape, start=2)))
            held = [p for name, p in fw.named(layer) if "moving" in name]
            return [fw.np(v) for v in (y, *held)]

        case(f"batch/{name}", batch_case)
    for name, text in SCHEDULES.items():
        case(
            f"schedule/{name}",
            lambda text=text: [
                fw.np(eval(text, scope)(fw.t(np.array(i, np.int32)))) for i in (0, 1, 2, 4, 5, 8, 9)
            ],
        )
    for name, text in LISTS.items():
        case(f"list/{name}", lambda text=text: [np.array(eval(text, scope))])
    for name, text in OPTIMIZERS.items():

        def optimizer_case(text=text):
            params = [fw.parameter(data(2, 3), "w"), fw.parameter(data(3, start=3), "ln.gamma")]
            optimizer = eval(text, {**scope, "params": params})
            seen = []
            for step in range(3):
                optimizer((fw.t(data(2, 3, start=step + 5)), fw.t(data(3, start=step + 8))))
                seen += [fw.np(p).copy() for p in params]
            return seen

        case(f"optimizer/{name}", optimizer_case)
        params = [fw.parameter(data(2), "w"), fw.parameter(data(3), "ln.gamma")]
        made = eval(text, {**scope, "params": params})
        out[f"states/{name}"] = [list(made.parameters_dict())]
    for text in NAMED:
        out[f"names/{text}"] = [
            [n, p.name if fw.lenient else p._mf_name, list(p.shape), bool(p.requires_grad)]
            for n, p in fw.named(eval(text, scope))
        ]
    return out


class MindSpore:
    """The reference side."""

    lenient = True

    def __init__(self):
        import mindspore
        from mindspore import nn, ops

        self.ms, self.nn, self.ops = mindspore, nn, ops

    def t(self, array):
        return self.ms.Tensor(array)

    def np(self, value):
        return value.asnumpy()

    def named(self, layer):
        return layer.parameters_and_names() if isinstance(layer, self.nn.Cell) else ()

    def put(self, p, array):
        p.set_data(self.ms.Tensor(array))

    def parameter(self, array, name):
        return self.ms.Parameter(self.ms.Tensor(array), name=name)

    def value_and_grad(self, fn, inputs):
        y = fn(*inputs)
        weight = self.t(data(*y.shape, start=0.5)) if y.shape else self.t(np.float32(2.0))
        return y, self.ms.grad(lambda *a: (fn(*a) * weight).sum())(*inputs)


if __name__ == "__main__":
    print(json.dumps(results(MindSpore())))
