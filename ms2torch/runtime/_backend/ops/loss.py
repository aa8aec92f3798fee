"""Loss functions of mindspore.ops: argument names, defaults, int32 labels.

Source: MindSpore 2.10, mindspore.ops.<name> of the same name.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ._common import index


def reduce_loss(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"reduction must be 'none', 'mean' or 'sum', not {reduction!r}")
    return loss.mean() if reduction == "mean" else loss.sum()


def labels(target: Tensor) -> Tensor:
    """Class indices as int64; class probabilities unchanged."""
    return target if target.is_floating_point() else index(target)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    return F.cross_entropy(
        input,
        labels(target),
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def nll_loss(
    inputs: Tensor,
    target: Tensor,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Negative log likelihood; with label smoothing as ``cross_entropy`` has it, for inputs that are
    logarithms."""
    where = index(target)
    if label_smoothing == 0.0:
        return F.nll_loss(inputs, where, weight, ignore_index=ignore_index, reduction=reduction)
    # The log of a softmax is its own log softmax, so cross_entropy applies the smoothing unchanged; other
    # inputs are not normalised, so this is done by hand.
    classes = inputs.shape[1]
    keep = where != ignore_index
    safe = torch.where(keep, where, torch.zeros_like(where))
    w = torch.ones(classes, dtype=inputs.dtype, device=inputs.device) if weight is None else weight
    picked = -inputs.gather(1, safe.unsqueeze(1)).squeeze(1) * w[safe] * keep
    scaled = inputs * w.reshape((1, -1) + (1,) * (inputs.ndim - 2))
    smooth = -scaled.sum(1) * keep
    each = (1 - label_smoothing) * picked + label_smoothing / classes * smooth
    if reduction == "mean":
        return each.sum() / (w[safe] * keep).sum()
    return reduce_loss(each, reduction)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return reduce_loss(torch.square(input - target), reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return reduce_loss(torch.abs(input - target), reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Not reduced by default (torch takes the mean)."""
    return F.smooth_l1_loss(input, target, beta=beta, reduction=reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    return F.huber_loss(input, target, reduction=reduction, delta=delta)


def binary_cross_entropy(
    logits: Tensor, labels: Tensor, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Cross entropy of probabilities (they are called ``logits`` all the same)."""
    return F.binary_cross_entropy(logits, labels, weight, reduction=reduction)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Tensor:
    return F.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight=pos_weight, reduction=reduction
    )


def sigmoid_cross_entropy_with_logits(logits: Tensor, label: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, label, reduction="none")


def softmax_cross_entropy_with_logits(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """(loss of each row, its gradient with respect to the logits)."""
    log_p = torch.log_softmax(logits, -1)
    return -(labels * log_p).sum(-1), torch.exp(log_p).detach() - labels


def sparse_softmax_cross_entropy_with_logits(logits: Tensor, labels: Tensor, is_grad: bool = False) -> Tensor:
    """Mean loss for class indices, or with ``is_grad`` its gradient with respect to the logits."""
    where = index(labels)
    if not is_grad:
        return F.cross_entropy(logits, where)
    one_hot = F.one_hot(where, logits.shape[-1]).to(logits.dtype)
    return (torch.softmax(logits, -1) - one_hot) / logits.shape[0]


def kl_div(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    return F.kl_div(logits, labels, reduction=reduction)


def gaussian_nll_loss(
    x: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    return F.gaussian_nll_loss(x, target, var, full, eps, reduction)


def hinge_embedding_loss(
    inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    return F.hinge_embedding_loss(inputs, targets.to(inputs.dtype), margin, reduction=reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return F.soft_margin_loss(input, target, reduction=reduction)


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    return F.multi_margin_loss(input, index(target), p, margin, weight, reduction=reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return F.multilabel_margin_loss(input, index(target), reduction=reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    return F.multilabel_soft_margin_loss(input, target, weight, reduction=reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: int = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    return F.triplet_margin_loss(anchor, positive, negative, float(margin), p, eps, swap, reduction=reduction)


def l2_loss(input_x: Tensor) -> Tensor:
    """Half the sum of squares."""
    return torch.square(input_x).sum() / 2
