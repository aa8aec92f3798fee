"""Loss layers of mindspore.nn with its defaults. Source: MindSpore 2.10, mindspore.nn.loss."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from .module import Module


def classes(labels: torch.Tensor) -> torch.Tensor:
    """Class labels as torch wants them: MindSpore's are int32 as a rule."""
    return labels if labels.is_floating_point() else labels.long()


class LossBase(Module):
    """Base of losses: ``get_loss`` weights and reduces. ``reduction``: 'mean', 'sum' or 'none'; ValueError
    otherwise."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction is None:
            reduction = "none"
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"the reduction must be 'mean', 'sum' or 'none', but got {reduction!r}")
        self.reduction = reduction
        self.reduce, self.average = reduction != "none", reduction == "mean"

    def get_axis(self, x: torch.Tensor) -> tuple[int, ...]:
        """All axes of ``x``."""
        return tuple(range(x.dim()))

    def get_loss(self, x: torch.Tensor, weights: Any = 1.0) -> torch.Tensor:
        """``x * weights``, reduced, in x's dtype; computed in float32."""
        out = x.float() * (weights.float() if isinstance(weights, torch.Tensor) else weights)
        if self.reduce:
            out = out.mean() if self.average else out.sum()
        return out.to(x.dtype)

    def forward(self, *inputs: Any) -> Any:
        raise NotImplementedError


class L1Loss(LossBase):
    """|logits - labels|, reduced."""

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return self.get_loss((logits - labels).abs())


class MAELoss(L1Loss):
    """|logits - labels|, reduced."""


class MSELoss(LossBase):
    """(logits - labels)², reduced."""

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return self.get_loss((logits - labels).square())


class RMSELoss(LossBase):
    """Root of the mean square."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, logits: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return (logits - label).square().mean().sqrt()


class SmoothL1Loss(LossBase):
    """Squares below ``beta``, absolute values above; not reduced by default."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = beta

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.smooth_l1_loss(logits, labels, reduction=self.reduction, beta=self.beta)


class HuberLoss(LossBase):
    """Squares up to ``delta``, linear above."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.huber_loss(logits, labels, reduction=self.reduction, delta=self.delta)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of (N, C) logits with labels (N,) if ``sparse``, else (N, C); one loss a row by
    default."""

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = sparse

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        if self.sparse:
            return F.cross_entropy(logits, classes(labels.reshape(-1)), reduction=self.reduction)
        return self.get_loss(-(labels * F.log_softmax(logits, -1)).sum(-1))


class CrossEntropyLoss(LossBase):
    """Cross entropy with class labels or probabilities."""

    def __init__(
        self,
        weight: torch.Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(
            logits,
            classes(labels),
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(LossBase):
    """Negative log likelihood of log probabilities."""

    def __init__(
        self, weight: torch.Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.nll_loss(
            logits, classes(labels), self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class BCELoss(LossBase):
    """Binary cross entropy of probabilities."""

    def __init__(self, weight: torch.Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy(logits, labels, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of logits."""

    def __init__(
        self,
        reduction: str = "mean",
        weight: torch.Tensor | None = None,
        pos_weight: torch.Tensor | None = None,
    ) -> None:
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy_with_logits(
            logits, labels, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(Module):
    """labels * (log labels - logits); logits are log probabilities."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none", "batchmean"):
            raise ValueError(f"the reduction must be mean, sum, none or batchmean, but got {reduction!r}")
        self.reduction = reduction

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.kl_div(logits, labels, reduction=self.reduction)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-labels * logits))."""

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.soft_margin_loss(logits, labels, reduction=self.reduction)


class CosineEmbeddingLoss(LossBase):
    """1 - cos for label 1, cos above the margin for -1."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, logits_x1: torch.Tensor, logits_x2: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, reduction=self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -target * (input1 - input2) + margin)."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: torch.Tensor, input2: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class HingeEmbeddingLoss(LossBase):
    """logits for label 1, max(0, margin - logits) for -1."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.hinge_embedding_loss(logits, labels, self.margin, reduction=self.reduction)
