"""The fused AdamW step."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["AdamW"]


class AdamW:
    """One AdamW step in place on ``var``, ``m``, ``v`` (``max_v`` too with ``amsgrad``): ``(var, m, v)``.

    ``step`` counts finished steps: MindSpore's own optimizers start it at 0 (mindspore.mint.optim.AdamW sets
    its counter to -1 and adds one before the first call), so the bias correction is
    ``1 - beta ** (step + 1)``. The decay is decoupled: ``var`` shrinks by ``lr * decay`` first. Computed in
    float32.

    MindSpore 2.10: mindspore.ops.auto_generate.AdamW.
    """

    @torch.no_grad()
    def __call__(
        self,
        var: torch.Tensor,
        m: torch.Tensor,
        v: torch.Tensor,
        max_v: torch.Tensor,
        gradient: torch.Tensor,
        step: Any,
        lr: float,
        beta1: float,
        beta2: float,
        decay: float,
        eps: float,
        amsgrad: bool = False,
        maximize: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        done = (step.to(torch.float32) if isinstance(step, torch.Tensor) else float(step)) + 1
        grad = gradient.to(torch.float32).neg() if maximize else gradient.to(torch.float32)
        first = m.to(torch.float32).mul(beta1).add_(grad, alpha=1 - beta1)
        second = v.to(torch.float32).mul(beta2).addcmul_(grad, grad, value=1 - beta2)
        m_hat = first / (1 - beta1**done)
        v_hat = second / (1 - beta2**done)
        if amsgrad:
            v_hat = torch.maximum(max_v.to(torch.float32), v_hat)
            max_v.copy_(v_hat)
        kept = var.to(torch.float32) * (1 - lr * decay)
        var.copy_(kept - lr * m_hat / (v_hat.sqrt() + eps))
        m.copy_(first)
        v.copy_(second)
        return var, m, v
