"""mint's layers: torch's numbers, MindSpore's arguments, inference mode when fresh, no buffers."""

import inspect

import pytest
import torch

from ms2torch.runtime._backend import nn, optim
from ms2torch.runtime._backend.params import Parameter, param_name

LAYERS = [
    name
    for name, value in vars(nn.mint).items()
    if inspect.isclass(value) and issubclass(value, torch.nn.Module) and value.__module__ == nn.mint.__name__
]
ARGS = {
    "AdaptiveAvgPool1d": (2,), "AdaptiveAvgPool2d": (2,), "AdaptiveAvgPool3d": (2,),
    "AdaptiveMaxPool1d": (2,),
    "AdaptiveMaxPool2d": (2,), "AvgPool1d": (2,), "AvgPool2d": (2,), "AvgPool3d": (2,), "BatchNorm1d": (2,),
    "BatchNorm2d": (2,), "BatchNorm3d": (2,), "Conv1d": (2, 3, 3), "Conv2d": (2, 3, 3), "Conv3d": (2, 3, 3),
    "ConvTranspose2d": (2, 3, 3), "Embedding": (3, 4), "Fold": (2, 2), "GroupNorm": (1, 2), "LayerNorm": (2,),
    "Linear": (2, 3), "MaxUnpool2d": (2,), "PixelShuffle": (2,), "Threshold": (0.1, 2.0), "Unfold": (2,),
    **{f"ConstantPad{n}d": (1, 2.0) for n in (1, 2, 3)},
    **{f"{kind}Pad{n}d": (1,) for kind in ("Reflection", "Replication", "Zero") for n in (1, 2, 3)},
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_fresh_layer_is_in_inference_mode(name):
    layer = getattr(nn.mint, name)(*ARGS.get(name, ()))
    assert isinstance(layer, nn.Module) and isinstance(layer, getattr(torch.nn, name))
    assert layer.training is False and not any(b is not None for b in layer._buffers.values())
    assert all(param_name(p) == path for path, p in layer.named_parameters())


def test_batch_norm_statistics_are_parameters():
    layer = nn.mint.BatchNorm2d(2)
    assert [(n, p.requires_grad) for n, p in layer.named_parameters()] == [
        ("weight", True),
        ("bias", True),
        ("running_mean", False),
        ("running_var", False),
        ("num_batches_tracked", False),
    ]
    x = torch.randn(4, 2, 3, 3)
    reference = torch.nn.BatchNorm2d(2)
    layer.set_train()
    assert torch.allclose(layer(x), reference(x))
    assert torch.allclose(layer.running_mean, reference.running_mean) and int(layer.num_batches_tracked) == 1
    assert nn.mint.BatchNorm2d(2, track_running_stats=False)(x).shape == x.shape


def test_arguments_in_mindspores_order():
    assert nn.mint.L1Loss("sum").reduction == "sum"
    assert nn.mint.LayerNorm(2, 1e-5, True, False, torch.float16).weight.dtype == torch.float16
    assert nn.mint.CrossEntropyLoss(None, 0, "sum", 0.1).ignore_index == 0
    loss = nn.mint.CrossEntropyLoss()(torch.zeros(2, 3), torch.tensor([0, 1], dtype=torch.int32))
    assert float(loss) == pytest.approx(1.0986123)
    assert nn.mint.Linear(2, 3, weight_init="ones", bias_init=0.5)(torch.ones(2)).tolist() == [2.5] * 3
    with pytest.raises(TypeError, match="no argument"):
        nn.mint.MSELoss(size_average=True)
    with pytest.raises(TypeError, match="at most"):
        nn.mint.MSELoss("sum", 3)


def test_mint_optimizer_is_called_with_gradients():
    p, q = Parameter(torch.ones(2), name="p"), torch.nn.Parameter(torch.ones(2))
    mine, theirs = optim.mint.AdamW([p], 0.1), torch.optim.AdamW([q], 0.1)
    for step in range(2):
        gradient = torch.full((2,), step + 1.0)
        mine((gradient,))
        q.grad = gradient
        theirs.step()
    assert torch.allclose(p, q) and p.grad is None
    with pytest.raises(ValueError, match="as many"):
        mine(())
