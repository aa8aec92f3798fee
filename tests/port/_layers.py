"""Runs in a port: the largest differences of its losses and norms from torch's, as JSON on the standard output."""

import json

import torch
import torch.nn.functional as F
from mindformers.pynative.layers.layer_norm import FusedLayerNorm, FusedRMSNorm
from mindformers.pynative.loss import CrossEntropyLoss
from mindformers.pynative.loss.loss import ChunkCrossEntropyLoss


def largest(found, expected):
    return float((found.double() - expected.double()).abs().max())


def losses(made):
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(32, 50, generator=generator)
    label = torch.randint(0, 50, (32,), generator=generator, dtype=torch.int32)
    mask = torch.randint(0, 2, (32,), generator=generator).float()
    for name, per_token in (("mean", False), ("per token", True), ("chunks", False)):
        ours, torchs = (logits.clone().requires_grad_() for _ in range(2))
        if name == "chunks":
            net = ChunkCrossEntropyLoss(chunk_loss_num=4)
            result = net(ours.reshape(4, 8, 50), label.reshape(4, 8), mask.reshape(4, 8))
        else:
            result = CrossEntropyLoss(calculate_per_token_loss=per_token)(ours, label, mask)
        total = (F.cross_entropy(torchs, label.long(), reduction="none") * mask).sum()
        if per_token:
            made[f"{name} denominator"] = largest(result[1], mask.sum())
            result, expected = result[0], total
        else:
            expected = total / mask.sum()
        result.sum().backward()
        expected.backward()
        made[f"{name} loss"] = largest(result.detach(), expected.detach())
        made[f"{name} gradient"] = largest(ours.grad, torchs.grad)


def norms(made):
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(4, 16, generator=generator)
    for kind in (torch.float32, torch.bfloat16):
        for net in (FusedLayerNorm(16, compute_dtype=kind), FusedRMSNorm(16, compute_dtype=kind)):
            net.reset_parameter()
            value = x.to(kind)
            wide = value.double()
            if isinstance(net, FusedLayerNorm):
                expected = F.layer_norm(wide, (16,), eps=1e-5)
            else:
                expected = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)
            output = net(value)
            assert output.dtype == kind
            made[f"{type(net).__name__} {kind}"] = largest(output.detach(), expected)


def main():
    made = {}
    losses(made)
    norms(made)
    print(json.dumps(made))


if __name__ == "__main__":
    main()
