"""One parameter under fully sharded data parallelism: its shard, its gathered form, its gradient.

hyper_parallel's HSDP works parameter by parameter; torch's FSDP2 works on groups, which cannot hold two
dtypes, averages, pads, and casts gradients back to the parameter's dtype. Hence an own implementation on
torch.distributed collectives. Source: hyper-parallel hyper_parallel/platform/torch/fully_shard/param.py (what
is sharded and reduced when), MindFormers pynative/base_models/gpt/parallelize.py (replicate_params,
main_grad).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from .collectives import all_gather_dim, reduce_scatter_dim
from .mesh import common_mesh
from .placements import Placement, Replicate, Shard, StridedShard, normalize
from .shard import replace_parameter
from .torch_dist import DeviceMesh, DTensor, from_local_exact

__all__ = ["DataMesh", "ShardedParam"]


@dataclass(frozen=True)
class DataMesh:
    """The data-parallel mesh: one axis shards; of two axes the first replicates and the second shards."""

    mesh: DeviceMesh
    shard_group: Any
    shard_size: int
    replicate_group: Any
    replicate_size: int

    @classmethod
    def of(cls, mesh: DeviceMesh) -> DataMesh:
        """``ValueError`` for a mesh of more than two axes."""
        if mesh.ndim == 1:
            return cls(mesh, mesh.get_group(), mesh.size(), None, 1)
        if mesh.ndim == 2:
            return cls(mesh, mesh.get_group(1), mesh.size(1), mesh.get_group(0), mesh.size(0))
        raise ValueError(f"fully_shard takes a mesh of one or two axes, got {mesh.ndim}: {mesh}")


class ShardedParam:
    """State of one parameter. ``sharded`` is what optimizers and checkpoints see; ``full`` is what forward
    sees."""

    def __init__(
        self,
        owners: list[tuple[nn.Module, str]],
        data: DataMesh,
        shard_dim: int | None,
        param_dtype: torch.dtype | None,
        reduce_dtype: torch.dtype | None,
        main_grad: bool,
    ) -> None:
        self.owners = owners
        self.data = data
        self.param_dtype = param_dtype
        self.reduce_dtype = reduce_dtype
        self.main_grad = main_grad
        owner, name = owners[0]
        param = owner._parameters[name]
        assert param is not None
        self.inner_mesh: DeviceMesh | None = None
        self.inner: tuple[Placement, ...] = ()
        local = param.detach()
        if isinstance(param, DTensor):
            self.inner_mesh = param.device_mesh
            self.inner = tuple(normalize(p, param.ndim) for p in param.placements)
            local = param._local_tensor.detach()
        self.full_shape = local.shape
        self.shard_dim = self._usable(shard_dim, local)
        self.mesh, self.placements = self._layout()
        self.global_shape = param.shape
        self.full: nn.Parameter | None = None
        self._storage: torch.Tensor | None = None
        self._gathered_version = -1
        self._hooked = False
        self.watched = False
        self._local_sum: torch.Tensor | None = None
        self._unsynced: torch.Tensor | None = None
        shard = local if self.shard_dim is None else self._chunk(local).clone()
        self.sharded: nn.Parameter = replace_parameter(owner, name, self._wrap(shard.contiguous()))
        for other, other_name in owners[1:]:
            other._parameters[other_name] = self.sharded

    # Layout.
    def _usable(self, dim: int | None, local: torch.Tensor) -> int | None:
        # A dimension that does not divide is kept whole: the same numbers, without padded shards.
        if dim is None or local.ndim == 0:
            return None
        dim = dim + local.ndim if dim < 0 else dim
        if not 0 <= dim < local.ndim:
            raise ValueError(
                f"fully_shard: cannot shard dimension {dim} of a parameter of shape {local.shape}"
            )
        return dim if local.shape[dim] % self.data.shard_size == 0 else None

    def _chunk(self, local: torch.Tensor) -> torch.Tensor:
        assert self.shard_dim is not None
        return local.chunk(self.data.shard_size, self.shard_dim)[dist.get_rank(self.data.shard_group)]

    def _layout(self) -> tuple[DeviceMesh, tuple[Placement, ...]]:
        outer: list[Placement] = [Replicate() for _ in range(self.data.mesh.ndim)]
        if self.shard_dim is not None:
            parts = 1  # ranks that shard this dimension already: their split is the outer one
            for axis, placement in enumerate(self.inner):
                if placement.is_shard(self.shard_dim):
                    assert self.inner_mesh is not None
                    parts *= self.inner_mesh.size(axis)
            strided = parts > 1
            outer[-1] = StridedShard(self.shard_dim, split_factor=parts) if strided else Shard(self.shard_dim)
        if self.inner_mesh is None:
            return self.data.mesh, tuple(outer)
        return common_mesh(self.data.mesh, self.inner_mesh), (*outer, *self.inner)

    def _wrap(self, local: torch.Tensor) -> DTensor:
        """A DTensor of this parameter's layout around a shard."""
        shape = getattr(self, "global_shape", None)
        if shape is None:
            owner, name = self.owners[0]
            shape = owner._parameters[name].shape  # type: ignore[union-attr]
        stride = torch.empty(shape, device="meta").stride()
        return from_local_exact(local, self.mesh, self.placements, torch.Size(shape), stride)

    # Gathering.
    def refresh(self) -> None:
        """Take the registered parameter as the shard: ``to_empty`` and loaders may have put a new one
        there."""
        owner, name = self.owners[0]
        registered = owner._parameters[name]
        if registered is not None and registered is not self.full:
            self.sharded = registered

    def unshard(self) -> None:
        """Gather the whole parameter and register it; does nothing when it is there and up to date."""
        self.refresh()
        if not self.watched and self.sharded.requires_grad:
            self.sharded.register_post_accumulate_grad_hook(self.take_direct)  # type: ignore[no-untyped-call]
            self.watched = True
        shard = self.sharded._local_tensor.detach()  # type: ignore[attr-defined]
        owner, name = self.owners[0]
        if owner._parameters[name] is self.full and self._gathered_version == shard._version:
            return
        dtype = self.param_dtype if self.param_dtype and shard.is_floating_point() else shard.dtype
        if self.shard_dim is None:
            gathered = shard.to(dtype)
        else:
            gathered = all_gather_dim(shard.to(dtype), self.shard_dim, self.data.shard_group)
        self._fill(gathered)
        self._gathered_version = shard._version
        assert self.full is not None
        for other, other_name in self.owners:
            other._parameters[other_name] = self.full

    def _fill(self, gathered: torch.Tensor) -> None:
        storage = self._storage
        if storage is None or storage.dtype != gathered.dtype or storage.device != gathered.device:
            self._storage = gathered.clone() if self.shard_dim is None else gathered
            whole: torch.Tensor = self._storage
            if self.inner_mesh is not None:
                stride = torch.empty(self.global_shape, device="meta").stride()
                whole = from_local_exact(whole, self.inner_mesh, self.inner, self.global_shape, stride)
            self.full = nn.Parameter(whole, requires_grad=self.sharded.requires_grad)
            self._hooked = False
        else:
            # The graph holds this storage; refilling it through ``data`` is no change in autograd's eyes.
            wanted = storage.numel() * storage.element_size()
            if storage.untyped_storage().size() != wanted:
                storage.untyped_storage().resize_(wanted)
            storage.data.copy_(gathered)
        assert self.full is not None
        self.full.requires_grad_(self.sharded.requires_grad)
        tags = {key: value for key, value in self.sharded.__dict__.items() if key != "main_grad"}
        self.full.__dict__.update(tags)
        if self.full.requires_grad and not self._hooked:
            self.full.register_post_accumulate_grad_hook(self.take_gradient)  # type: ignore[no-untyped-call]
            self._hooked = True

    # What the module told us to do at the next gradient; set by the owner of this object.
    sync = True
    all_reduce = True
    average = True
    on_gradient: Any = None

    def reshard(self) -> None:
        """Register the shard again and give the gathered storage back."""
        if self.full is None:
            return
        for owner, name in self.owners:
            owner._parameters[name] = self.sharded
        self._gathered_version = -1
        assert self._storage is not None
        self._storage.untyped_storage().resize_(0)

    # Gradients.
    @torch.no_grad()
    def take_gradient(self, full: torch.Tensor) -> None:
        """Reduce the gradient that backward left on the gathered parameter and add it to the shard's."""
        grad = full.grad
        full.grad = None
        if grad is not None:
            if isinstance(grad, DTensor):
                assert self.inner_mesh is not None
                if tuple(grad.placements) != self.inner:
                    grad = grad.redistribute(self.inner_mesh, self.inner)
                grad = grad._local_tensor
            local = grad.to(self.reduce_dtype or grad.dtype)
            if self._unsynced is not None:
                local = local + self._unsynced
                self._unsynced = None
            if self.sync:
                self._reduce(local)
            else:
                self._unsynced = local
        if self.on_gradient is not None:
            self.on_gradient(self)

    @torch.no_grad()
    def take_direct(self, shard: torch.Tensor) -> None:
        """Add what backward left on the shard itself, where code outside the module used it: tied weights."""
        grad: Any = shard.grad
        shard.grad = None
        if grad is None:
            return
        if self.average and self._ranks > 1 and not self.main_grad:
            # What was averaged before and what is a sum now are one tensor already.
            raise NotImplementedError(
                "averaged gradients of a sharded weight that is used outside its module"
            )
        if tuple(grad.placements) != self.placements:
            grad = grad.redistribute(self.mesh, self.placements)
        local = grad._local_tensor
        self._accumulate(local / self._ranks if self.average else local)

    @property
    def _ranks(self) -> int:
        return self.data.shard_size * self.data.replicate_size

    def _reduce(self, local: torch.Tensor) -> None:
        if self.average:
            local = local / self._ranks
        if self.shard_dim is None:
            local = local.contiguous().clone()
            dist.all_reduce(local, group=self.data.shard_group)
        else:
            local = reduce_scatter_dim(local, self.shard_dim, self.data.shard_group)
        if self.data.replicate_group is not None:
            # Linear, so it can wait for the last micro-batch of a step.
            if self._local_sum is not None:
                local = local + self._local_sum
                self._local_sum = None
            if not self.all_reduce:
                self._local_sum = local
                return
            dist.all_reduce(local, group=self.data.replicate_group)
        self._accumulate(local)

    def _accumulate(self, local: torch.Tensor) -> None:
        if self.main_grad:
            held = getattr(self.sharded, "main_grad", None)
            if held is None:
                self.sharded.main_grad = self._wrap(local.float())  # type: ignore[attr-defined]
            else:
                held._local_tensor.add_(local)
            return
        local = local.to(self.sharded.dtype)
        if self.sharded.grad is None:
            self.sharded.grad = self._wrap(local)
        else:
            self.sharded.grad._local_tensor.add_(local)  # type: ignore[attr-defined]

    def zero_grad(self) -> None:
        """Forget every gradient, sums that wait for a reduction included."""
        self.refresh()
        self.sharded.grad = None
        if getattr(self.sharded, "main_grad", None) is not None:
            self.sharded.main_grad = None  # type: ignore[attr-defined]
        self._local_sum = self._unsynced = None
