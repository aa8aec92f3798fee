"""Runs in a port: its Muon, router and latent attention beside plain formulas, as JSON on the standard output.

The formulas are written from the published algorithms, each in another form than the port's where there is one
(rotation by complex numbers, tie-breaks by enumeration, Newton-Schulz by float32 products).
"""

import itertools
import json
import math
import types

import numpy as np
import torch
from mindformers.parallel_core.transformer_config import MLATransformerConfig, TransformerConfig
from mindformers.pynative import _backend
from mindformers.pynative.base_models.common.embeddings.rotary_pos_embedding import RotaryEmbedding
from mindformers.pynative.base_models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from mindformers.pynative.base_models.gpt.gpt_model import GPTModel
from mindformers.pynative.optimizer.muon import Muon
from mindformers.pynative.trainer.trainer import patch_pynative_modules
from mindformers.pynative.transformers.moe.router import TopKRouter
from mindformers.pynative.transformers.multi_latent_attention import MLASelfAttention

HEADS, NOPE, PE, VALUE, KV_RANK, HIDDEN = 2, 8, 4, 6, 10, 16


def mla_config(q_rank=12):
    return MLATransformerConfig(
        num_layers=1, hidden_size=HIDDEN, num_attention_heads=HEADS, q_lora_rank=q_rank, kv_lora_rank=KV_RANK,
        qk_head_dim=NOPE, qk_pos_emb_head_dim=PE, v_head_dim=VALUE, compute_dtype="float32", params_dtype="float32",
        rotary_scaling_factor=1.0, add_bias_linear=False, attention_dropout=0.0, hidden_dropout=0.0,
        num_moe_experts=2, moe_ffn_hidden_size=8,
    )  # fmt: skip


# --- Muon ---------------------------------------------------------------------------------------------------------


def orthogonal(x, coefficients, steps):
    """Newton-Schulz in bfloat16 state, products and sums in float32: x <- a x + (b A + c A A) x with A = x x'."""
    turned = x.shape[0] > x.shape[1]
    x = x.T if turned else x
    x = (x / x.norm().clamp(min=1e-7)).bfloat16()
    a, b, c = coefficients
    for _ in range(steps):
        wide = x.float()
        gram = (wide @ wide.T).bfloat16().float()
        inner = (b * gram + c * (gram @ gram)).bfloat16().float()
        x = (a * wide + inner @ wide).bfloat16()
    return (x.T if turned else x).float()


def plain_muon(weight, gradients, pieces, rate, decay, nesterov=True, coefficients=(3.4445, -4.775, 2.0315), steps=5,
               momentum=0.95, rms=0.2):  # fmt: skip
    """The weight and the momentum after the gradients; rows of the weight are orthogonalised piece by piece."""
    weight, m = weight.clone(), torch.zeros_like(weight)
    for gradient in gradients:
        m = momentum * m + gradient
        update = gradient + momentum * m if nesterov else m
        parts = [
            rms * math.sqrt(max(part.shape)) * orthogonal(part, coefficients, steps)
            for part in update.split(pieces)
        ]
        weight = weight * (1 - rate * decay) - rate * torch.cat(parts)
    return weight, m


def muon(made):
    config = mla_config()
    model = types.SimpleNamespace(config=config, get_gpt_transformer_config=lambda: config)
    model.make_model_muon_fns = lambda: GPTModel.make_model_muon_fns(model)
    rate, decay = 0.02, 0.5
    generator = torch.Generator().manual_seed(3)
    name = "model.decoder.layers.0.self_attention.linear_{}.weight"
    shapes = {
        "wide": (name.format("proj"), (16, 24), [16]),
        "tall": (name.format("proj"), (40, 12), [40]),
        "pieces": (name.format("qkv"), (12 + KV_RANK + PE, HIDDEN), [12, KV_RANK, PE]),
    }
    for strategy, (label, (full, shape, pieces)), steps, nesterov in itertools.product(
        ("allgather", "allgather_deredundency"), shapes.items(), (1, 3), (True, False)
    ):
        weight = torch.randn(shape, generator=generator)
        gradients = [torch.randn(shape, generator=generator) for _ in range(steps)]
        parameter = _backend.params.Parameter(weight.clone(), name=full)
        optimizer = Muon([parameter], learning_rate=rate, weight_decay=decay, nesterov=nesterov, model=model,
                         qk_clip_enabled=False, comm_strategy=strategy)  # fmt: skip
        for gradient in gradients:
            with torch.no_grad():
                optimizer.step([gradient.clone()])
        expected, m = plain_muon(weight, gradients, pieces, rate, decay, nesterov)
        wrong = {
            "nesterov": plain_muon(weight, gradients, pieces, rate, decay, not nesterov),
            "decay": plain_muon(weight, gradients, pieces, rate, 0.0, nesterov),
            "steps": plain_muon(weight, gradients, pieces, rate, decay, nesterov, steps=4),
            "rms": plain_muon(weight, gradients, pieces, rate, decay, nesterov, rms=0.18),
            "coefficients": plain_muon(
                weight, gradients, pieces, rate, decay, nesterov, (3.4445, -4.7, 2.0315)
            ),
        }
        if len(pieces) > 1:
            wrong["pieces"] = plain_muon(weight, gradients, [sum(pieces)], rate, decay, nesterov)
        if steps == 1:
            del wrong["nesterov"]  # the first momentum is the gradient: normalising removes its factor
        update = float((expected - weight).abs().max())
        case = {
            "weight": largest(parameter.detach(), expected) / update,
            "momentum": largest(optimizer.muon_m[0].detach(), m),
            "wrong": {key: largest(value, expected) / update for key, (value, _) in wrong.items()},
        }
        made[f"{strategy} {label} {steps} {nesterov}"] = case


# --- Router -------------------------------------------------------------------------------------------------------


def best(values, among, count):
    """All the sets of `count` places among `among` with the greatest values: more than one where values tie."""
    ordered = sorted((values[place] for place in among), reverse=True)
    last = ordered[count - 1]
    sure = [place for place in among if values[place] > last]
    tied = [place for place in among if values[place] == last]
    return [frozenset(sure) | frozenset(more) for more in itertools.combinations(tied, count - len(sure))]


def choices(scores, k, groups, kept):
    """All the selections of experts that a token of these scores may get: a set of frozensets."""
    if not groups:
        return set(best(scores, range(len(scores)), k))
    size = len(scores) // groups
    strength = [
        np.float32(sum(sorted(scores[g * size : (g + 1) * size], reverse=True)[:2])) for g in range(groups)
    ]
    allowed = set()
    for chosen in best(strength, range(groups), kept):
        allowed |= set(best(scores, [g * size + i for g in sorted(chosen) for i in range(size)], k))
    return allowed


def route(logits, bias=None, k=2, groups=None, kept=None, function="sigmoid", norm=True, scale=1.0):
    """What the port's router selects and gives, and what the formula allows."""
    experts = logits.shape[1]
    config = TransformerConfig(
        num_layers=1, hidden_size=experts, num_attention_heads=1, num_moe_experts=experts, moe_router_topk=k,
        moe_router_num_groups=groups, moe_router_group_topk=kept, moe_router_score_function=function,
        norm_topk_prob=norm, moe_router_topk_scaling_factor=scale, moe_router_dtype="float32",
        moe_aux_loss_coeff=0.0, add_bias_linear=False,
    )  # fmt: skip
    router = TopKRouter(config)
    with torch.no_grad():
        router.weight.copy_(torch.eye(experts))  # the logits are the inputs, bit by bit
        given = None if bias is None else torch.from_numpy(bias)
        top, places, counts = router(torch.from_numpy(logits)[:, None], given)
    if function == "sigmoid":
        gate = 1 / (1 + np.exp(-logits))
    elif function == "softmax":
        gate = np.exp(logits - logits.max(1, keepdims=True))
        gate /= gate.sum(1, keepdims=True)
    else:
        gate = np.sqrt(np.log1p(np.exp(logits)))
    gate = gate.astype(np.float32)
    choice = gate if bias is None else gate + bias
    places, top = places.numpy(), top.numpy()
    expected = np.take_along_axis(gate, places, 1)
    if norm:
        expected = expected / expected.sum(1, keepdims=True)
    allowed = [choices(list(row), k, groups, kept) for row in choice]
    return {
        "dtype": str(places.dtype),
        "places": [sorted(row) for row in places.tolist()],
        "allowed": [len(sets) for sets in allowed],
        "outside": [row for row, sets in enumerate(allowed) if frozenset(places[row].tolist()) not in sets],
        "gates": float(np.abs(top - scale * expected).max()),
        "counts": bool((counts.numpy() == np.bincount(places.ravel(), minlength=experts)).all()),
        "top": np.sort(top, 1).tolist(),
    }  # fmt: skip


def router(made):
    generator = np.random.default_rng(4)
    free = generator.permuted(np.arange(-12, 12, dtype=np.float32).reshape(1, 24) / 4, axis=1)
    free = np.concatenate([generator.permuted(free[:, :8], axis=1) for _ in range(6)])  # no ties
    equal = np.zeros((3, 8), np.float32)
    tied = np.array(
        [[2, 1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 3]], np.float32
    )
    twice = np.concatenate([free[:2], free[:2], tied, tied])
    for function in ("sigmoid", "softmax", "sqrtsoftplus"):
        made[f"free {function}"] = route(free, k=3, function=function, scale=2.5)
    made["free unnormalised"] = route(free, k=3, norm=False, scale=2.5)
    made["equal"] = route(equal)
    made["tied"] = route(tied)
    made["duplicated"] = route(twice)
    made["groups free"] = route(free, groups=4, kept=2)
    made["groups equal"] = route(equal, groups=4, kept=1)
    made["groups tied"] = route(tied, groups=4, kept=2)
    # The greatest expert (0) stands in a group whose two best are worth less than another group's.
    made["groups outweigh"] = route(np.array([[3, -9, 1, 1, 2, 2, 0, 0]], np.float32), groups=4, kept=1)
    bias = np.zeros(8, np.float32)
    bias[[5, 6]] = 2, 1  # above any difference of sigmoids
    made["bias"] = route(free, bias)
    made["bias on ties"] = route(equal, bias)
    made["bias in groups"] = route(free, bias, groups=4, kept=2)


# --- Latent attention ---------------------------------------------------------------------------------------------


def rms(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def rotate(x):
    """Neighbouring pairs of the last axis of (positions, batch, heads, PE) as complex numbers, turned."""
    positions = torch.arange(x.shape[0], dtype=torch.float32)
    rates = 10000.0 ** (-torch.arange(0, PE, 2, dtype=torch.float32) / PE)
    turn = torch.polar(torch.ones(len(positions), len(rates)), positions[:, None] * rates)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn[:, None, None]).flatten(-2)


def plain_attention(x, weights, q_rank, eps, rope=True):
    """Multi-head latent attention, causal, without YaRN: (positions, batch, hidden) to the same."""
    length, batch, _ = x.shape
    turn = rotate if rope else (lambda value: value)
    width = HEADS * (NOPE + PE) if q_rank is None else q_rank
    q, latent, k_pe = (x @ weights["linear_qkv.weight"].T).split([width, KV_RANK, PE], -1)
    if q_rank is not None:
        q = rms(q, weights["q_layernorm.weight"], eps) @ weights["linear_qb.weight"].T
    q_nope, q_pe = q.reshape(length, batch, HEADS, NOPE + PE).split([NOPE, PE], -1)
    kv = rms(latent, weights["k_layernorm.weight"], eps) @ weights["linear_kvb.weight"].T
    k_nope, value = kv.reshape(length, batch, HEADS, NOPE + VALUE).split([NOPE, VALUE], -1)
    k_pe = turn(k_pe[:, :, None])[:, :, 0]
    logits = torch.einsum("sbhd,tbhd->bhst", q_nope, k_nope) + torch.einsum(
        "sbhd,tbd->bhst", turn(q_pe), k_pe
    )
    later = torch.ones(length, length).triu(1).bool()
    shares = (logits / math.sqrt(NOPE + PE)).masked_fill(later, -torch.inf).softmax(-1)
    mixed = torch.einsum("bhst,tbhd->sbhd", shares, value).reshape(length, batch, HEADS * VALUE)
    return mixed @ weights["linear_proj.weight"].T


def attention(made):
    length, batch = 7, 2
    for q_rank in (12, None):
        config = mla_config(q_rank)
        spec = get_gpt_layer_local_spec(qk_layernorm=True, multi_latent_attention=True)
        net = MLASelfAttention(config, spec.submodules.self_attention.submodules, 1)
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for name, parameter in net.named_parameters():
                near = 1.0 if "layernorm" in name else 0.0
                parameter.copy_(near + 0.4 * torch.randn(parameter.shape, generator=generator))
        x, probe = (torch.randn(length, batch, HIDDEN, generator=generator) for _ in range(2))
        angles, scale = RotaryEmbedding(PE)(length)
        mask = torch.ones(length, length, dtype=torch.uint8).triu(1).expand(batch, 1, length, length)

        ours = x.clone().requires_grad_()
        output = net(ours, mask, rotary_pos_emb=angles, mscale=scale)
        (output * probe).sum().backward()
        weights = {n: p.detach().clone().requires_grad_() for n, p in net.named_parameters()}
        theirs = x.clone().requires_grad_()
        expected = plain_attention(theirs, weights, q_rank, config.layernorm_epsilon)
        (expected * probe).sum().backward()
        unturned = plain_attention(x, weights, q_rank, config.layernorm_epsilon, rope=False)
        made[f"q_lora_rank {q_rank}"] = {
            "dtype": str(output.dtype),
            "output": relative(output.detach(), expected.detach()),
            "without rope": relative(unturned.detach(), expected.detach()),
            "input": relative(ours.grad, theirs.grad),
            "gradients": {n: relative(p.grad, weights[n].grad) for n, p in net.named_parameters()},
        }


def largest(found, expected):
    return float((found.double() - expected.double()).abs().max())


def relative(found, expected):
    return largest(found, expected) / float(expected.abs().max())


def main():
    torch.set_num_threads(1)
    patch_pynative_modules()
    _backend.init_process_group()
    made = {"muon": {}, "router": {}, "attention": {}}
    muon(made["muon"])
    router(made["router"])
    attention(made["attention"])
    print(json.dumps(made))


if __name__ == "__main__":
    main()
