"""Context parallelism: the sequence is split over ranks, attention sees all of it.

``ContextParallel`` works on the boundary of an attention module: *Ulysses* exchanges sequence shards for head
shards (all-to-all), *Colossal* gathers keys and values; a hybrid does the first in groups of neighbours and
the second across them. In the gathered form the module's ``FlashAttentionScore`` objects are told which part
of the sequence the queries are. A module that has none of them cannot know: there a rank's queries stand at
their place in a whole-length query, so that any mask means the same, at the price of computing attention for
rows nobody reads.

The other styles can be imported, annotated with and asked for by ``isinstance``; making one raises
``NotImplementedError``, when the run is configured rather than in the middle of it. Source: hyper-parallel as
MindFormers 2.1.0 uses it (pynative/distributed/style.py, context_parallel.py).
"""

from __future__ import annotations

from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch import nn

from ..fused.attention import FlashAttentionScore
from ..groups import new_group
from .collectives import all_gather_dim, reduce_scatter_dim
from .mesh import rank_list

__all__ = [
    "AsyncContextParallel",
    "AsyncDSAIndexerContextParallel",
    "AsyncDSAIndexerLossContextParallel",
    "AsyncDSASparseAttentionContextParallel",
    "ContextParallel",
    "DSAIndexerContextParallel",
    "DSAIndexerLossContextParallel",
    "DSASequenceReplicateCache",
    "DSASparseAttentionContextParallel",
]


class _ContextParallelStyle:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotImplementedError(f"context parallelism ({type(self).__name__}): set context_parallel to 1")


class _Exchange(torch.autograd.Function):
    """All-to-all: split along one dimension, join along another; backward the other way round."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, split: int, join: int, group: Any) -> torch.Tensor:
        ctx.dims, ctx.group = (split, join), group
        parts = torch.stack(x.chunk(dist.get_world_size(group), split))
        received = torch.empty_like(parts)
        dist.all_to_all_single(received, parts, group=group)
        return torch.cat(received.unbind(0), join)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        split, join = ctx.dims
        return _Exchange.apply(grad, join, split, ctx.group), None, None, None  # type: ignore[no-untyped-call]


class _Gather(torch.autograd.Function):
    """All-gather along a dimension; backward adds up what the ranks made of this shard."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, dim: int, group: Any) -> torch.Tensor:
        ctx.dim, ctx.group = dim, group
        return all_gather_dim(x, dim, group)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return reduce_scatter_dim(grad, ctx.dim, ctx.group), None, None


class ContextParallel:
    """Sequence sharded over the ranks of an axis, around an attention module.

    ``seq_dim`` and ``head_dim`` are those of query, key, value (``qkv_indices`` among the positional
    arguments, or ``qkv_kwarg_names``) and of every output. ``ulysses_degree`` ranks exchange heads (None: all
    of them), the rest gather keys and values. ``NotImplementedError`` for ``use_local_output=False``.
    """

    def __init__(
        self,
        seq_dim: int,
        head_dim: int,
        ulysses_degree: int | None = None,
        qkv_indices: tuple[int, int, int] = (0, 1, 2),
        qkv_kwarg_names: tuple[str, str, str] = ("query", "key", "value"),
        use_local_output: bool = True,
    ) -> None:
        if not use_local_output:
            raise NotImplementedError("ContextParallel(use_local_output=False)")
        self.seq_dim, self.head_dim = seq_dim, head_dim
        self.ulysses_degree = ulysses_degree
        self.qkv_indices, self.qkv_kwarg_names = tuple(qkv_indices), tuple(qkv_kwarg_names)

    def apply(self, module: nn.Module, device_mesh: Any) -> nn.Module:
        """Put the exchanges around ``module`` and return it. ``ValueError`` for a degree that does not divide
        the axis, and at a call for heads that do not divide."""
        size = device_mesh.size()
        degree = size if self.ulysses_degree is None else int(self.ulysses_degree)
        if degree < 1 or size % degree:
            raise ValueError(f"ulysses_degree {degree} does not divide context_parallel {size}")
        boundary = _Boundary(self, rank_list(device_mesh), degree, module)
        module.register_forward_pre_hook(boundary.before, with_kwargs=True)
        module.register_forward_hook(boundary.after)
        return module


class _Boundary:
    """The hooks of one module: groups of ``degree`` neighbours exchange heads, rows of groups gather."""

    def __init__(
        self, style: ContextParallel, ranks: tuple[int, ...], degree: int, module: nn.Module
    ) -> None:
        self.style = style
        self.degree = degree
        self.rows = len(ranks) // degree
        self.row, column = divmod(ranks.index(dist.get_rank()), degree)
        self.neighbours = new_group(ranks[self.row * degree : (self.row + 1) * degree])
        self.column = new_group(ranks[column::degree])
        kernels = [
            value
            for inner in module.modules()
            for value in vars(inner).values()
            if isinstance(value, FlashAttentionScore)
        ]
        for kernel in kernels:
            kernel.part, kernel.head_parts = (self.row, self.rows), degree
        self.alone = bool(kernels)

    def enter(self, x: torch.Tensor, is_query: bool) -> torch.Tensor:
        seq, head = self.style.seq_dim, self.style.head_dim
        if self.degree > 1:
            if x.shape[head] % self.degree:
                raise ValueError(f"{x.shape[head]} heads cannot be split over {self.degree} ranks")
            x = _Exchange.apply(x, head, seq, self.neighbours)  # type: ignore[no-untyped-call]
        if self.rows == 1:
            return x
        if not is_query:
            return _Gather.apply(x, seq, self.column)  # type: ignore[no-untyped-call,no-any-return]
        if self.alone:
            return x
        parts = [x if row == self.row else torch.zeros_like(x) for row in range(self.rows)]
        return torch.cat(parts, seq)

    def leave(self, x: Any) -> Any:
        seq, head = self.style.seq_dim, self.style.head_dim
        if not isinstance(x, torch.Tensor) or x.ndim <= max(seq, head):
            return x
        if not self.alone:
            x = x.chunk(self.rows, seq)[self.row]
        if self.degree > 1:
            x = _Exchange.apply(x, seq, head, self.neighbours)  # type: ignore[no-untyped-call]
        return x

    def before(self, module: nn.Module, args: Any, kwargs: Any) -> Any:
        found = list(args)
        for place, (index, name) in enumerate(
            zip(self.style.qkv_indices, self.style.qkv_kwarg_names, strict=True)
        ):
            if index < len(found):
                found[index] = self.enter(found[index], place == 0)
            elif name in kwargs:
                kwargs[name] = self.enter(kwargs[name], place == 0)
            else:
                raise ValueError(f"ContextParallel: {type(module).__name__} was called without {name}")
        return tuple(found), kwargs

    def after(self, module: nn.Module, args: Any, output: Any) -> Any:
        if isinstance(output, (tuple, list)):
            return type(output)(self.leave(item) for item in output)
        return self.leave(output)


class AsyncContextParallel(ContextParallel):
    """The exchanges of :class:`ContextParallel`. hyper_parallel starts them where the projections hand over
    query, key and value; here they start when attention is called: the same numbers without that overlap."""

    def apply(
        self, module: nn.Module, device_mesh: Any, q_proj: Any = None, k_proj: Any = None, v_proj: Any = None
    ) -> nn.Module:
        """Put the exchanges around ``module``; the modules that hand over are left as they are."""
        return super().apply(module, device_mesh)


class DSAIndexerContextParallel(_ContextParallelStyle):
    """Boundary of the sparse-attention indexer."""


class DSAIndexerLossContextParallel(_ContextParallelStyle):
    """Boundary of the indexer's loss."""


class DSASparseAttentionContextParallel(_ContextParallelStyle):
    """Boundary of sparse attention."""


class DSASequenceReplicateCache(_ContextParallelStyle):
    """Gathered keys and values that sparse attention and the indexer's loss share."""


class AsyncDSAIndexerContextParallel(DSAIndexerContextParallel):
    """Overlapping form."""


class AsyncDSAIndexerLossContextParallel(DSAIndexerLossContextParallel):
    """Overlapping form."""


class AsyncDSASparseAttentionContextParallel(DSASparseAttentionContextParallel):
    """Overlapping form."""
