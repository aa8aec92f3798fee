"""Shape and order."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from ._receiver import method, no_more, one_of

__all__ = [
    "broadcast_to",
    "chunk",
    "diag",
    "dsplit",
    "expand_dims",
    "fill_diagonal",
    "flatten",
    "flip",
    "fold",
    "hsplit",
    "permute",
    "repeat",
    "reshape",
    "resize",
    "reverse",
    "reverse_sequence",
    "split",
    "squeeze",
    "tensor_split",
    "tile",
    "transpose",
    "unfold",
    "view",
    "vsplit",
]


def _several(op: str, args: tuple[Any, ...], kwargs: dict[str, Any], *names: str) -> tuple[Any, ...]:
    """The elements of a shape or order given as several arguments, as one sequence, or by keyword."""
    found = args if args else (one_of(op, kwargs, *names, default=()),)
    no_more(op, kwargs)
    if len(found) == 1 and isinstance(found[0], torch.Tensor) and found[0].ndim:
        return tuple(found[0].tolist())
    return tuple(found[0]) if len(found) == 1 and isinstance(found[0], list | tuple) else found


@method
def transpose(self: torch.Tensor, *axes: Any, **kwargs: Any) -> torch.Tensor:
    """`transpose(dim0, dim1)` swaps two dimensions, as in torch; another number of axes, or one sequence of
    them, is a permutation; none reverses the order.

    MindSpore 2.10: Tensor.transpose.
    """
    if kwargs:
        order: tuple[Any, ...] = (kwargs.pop("dim0"), kwargs.pop("dim1"))
        no_more("transpose", kwargs)
        return self.transpose(*order)
    if len(axes) == 2:
        return self.transpose(*axes)
    return self.permute(_several("transpose", axes, {}) or tuple(range(self.ndim - 1, -1, -1)))


@method
def permute(self: torch.Tensor, *dims: Any, **kwargs: Any) -> torch.Tensor:
    """Dimensions in another order, by several arguments or one sequence. MindSpore 2.10: Tensor.permute."""
    return self.permute(_several("permute", dims, kwargs, "dims", "axis"))


@method
def reshape(self: torch.Tensor, *shape: Any, **kwargs: Any) -> torch.Tensor:
    """Another shape, by several arguments or one sequence. MindSpore 2.10: Tensor.reshape."""
    return self.reshape(_several("reshape", shape, kwargs, "shape"))


@method
def view(self: torch.Tensor, *shape: Any, **kwargs: Any) -> torch.Tensor:
    """`view(*shape)`, which copies where torch's view cannot (a transposed tensor), or `view(dtype)`.

    MindSpore 2.10: Tensor.view.
    """
    if len(shape) == 1 and isinstance(shape[0], torch.dtype):
        return self.view(shape[0])
    return self.reshape(_several("view", shape, kwargs, "shape"))


@method
def broadcast_to(self: torch.Tensor, *shape: Any, **kwargs: Any) -> torch.Tensor:
    """Broadcast, -1 keeping a dimension. MindSpore 2.10: Tensor.broadcast_to."""
    return self.expand(_several("broadcast_to", shape, kwargs, "shape"))


@method
def expand_dims(self: torch.Tensor, axis: int) -> torch.Tensor:
    """A new dimension of 1 at ``axis``. MindSpore 2.10: Tensor.expand_dims."""
    return self.unsqueeze(axis)


@method
def squeeze(self: torch.Tensor, *axis: Any, **kwargs: Any) -> torch.Tensor:
    """Without the dimensions of 1: all, one, or a sequence of them. MindSpore 2.10: Tensor.squeeze."""
    found = axis[0] if axis else one_of("squeeze", kwargs, "axis", "dim")
    no_more("squeeze", kwargs)
    if found is None or found == ():
        return self.squeeze()
    return self.squeeze(tuple(found) if isinstance(found, list | tuple) else found)


@method
def flatten(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`flatten(start_dim, end_dim)` or `flatten(order)` with order C or F. MindSpore 2.10: Tensor.flatten."""
    order = args[0] if args and isinstance(args[0], str) else kwargs.pop("order", "C")
    if args and isinstance(args[0], str):
        args = args[1:]
    if order not in ("C", "F"):
        raise ValueError(f"Tensor.flatten: order must be 'C' or 'F', not {order!r}")
    if order == "F":
        return self.permute(*range(self.ndim - 1, -1, -1)).flatten(*args, **kwargs)
    return self.flatten(*args, **kwargs)


@method
def split(self: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
    """`split(split_size, dim)` or `split(split_size_or_sections, axis)`. MindSpore 2.10: Tensor.split."""
    sizes = args[0] if args else one_of("split", kwargs, "split_size_or_sections", "split_size")
    axis = args[1] if len(args) > 1 else one_of("split", kwargs, "axis", "dim", default=0)
    no_more("split", kwargs)
    return tuple(torch.split(self, sizes if isinstance(sizes, int) else list(sizes), axis))


@method
def chunk(self: torch.Tensor, chunks: int, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
    """`chunk(chunks, dim)` or `chunk(chunks, axis)`. MindSpore 2.10: Tensor.chunk."""
    axis = args[0] if args else one_of("chunk", kwargs, "axis", "dim", default=0)
    no_more("chunk", kwargs)
    return self.chunk(chunks, axis)


@method
def repeat(self: torch.Tensor, *repeats: Any, **kwargs: Any) -> torch.Tensor:
    """Copies along each dimension, as in torch. MindSpore 2.10: Tensor.repeat."""
    return self.repeat(_several("repeat", repeats, kwargs, "repeats"))


@method
def tile(self: torch.Tensor, *reps: Any, **kwargs: Any) -> torch.Tensor:
    """Copies along the last dimensions. MindSpore 2.10: Tensor.tile."""
    return self.tile(_several("tile", reps, kwargs, "reps", "dims"))


@method
def resize(self: torch.Tensor, *new_shape: Any) -> torch.Tensor:
    """A copy of another size: cut, or filled up with zeros. MindSpore 2.10: Tensor.resize."""
    shape = _several("resize", new_shape, {})
    size = torch.Size(shape).numel()
    flat = self.reshape(-1)
    flat = flat[:size] if size <= flat.numel() else F.pad(flat, (0, size - flat.numel()))
    return flat.reshape(shape).clone()


@method
def flip(self: torch.Tensor, dims: Any) -> torch.Tensor:
    """Reversed along the dims. MindSpore 2.10: Tensor.flip."""
    return self.flip((dims,) if isinstance(dims, int) else tuple(dims))


@method
def reverse(self: torch.Tensor, axis: Any) -> torch.Tensor:
    """Reversed along the axes. MindSpore 2.10: Tensor.reverse."""
    return self.flip((axis,) if isinstance(axis, int) else tuple(axis))


@method
def reverse_sequence(
    self: torch.Tensor, seq_lengths: torch.Tensor, seq_dim: int = 0, batch_dim: int = 0
) -> torch.Tensor:
    """The first ``seq_lengths[b]`` places along ``seq_dim`` reversed, for each ``b`` along ``batch_dim``.

    MindSpore 2.10: Tensor.reverse_sequence.
    """
    batch_dim, seq_dim = batch_dim % self.ndim, seq_dim % self.ndim
    steps = torch.arange(self.shape[seq_dim], device=self.device)
    lengths = seq_lengths.to(self.device).long().unsqueeze(1)
    places = torch.where(steps < lengths, lengths - 1 - steps, steps)
    shape = [1] * self.ndim
    shape[batch_dim], shape[seq_dim] = places.shape
    if batch_dim > seq_dim:
        places = places.T
    return self.gather(seq_dim, places.reshape(shape).expand(self.shape))


@method
def diag(self: torch.Tensor, diagonal: int | None = None) -> torch.Tensor:
    """A vector on the diagonal of a matrix, or (with ``diagonal`` given) the diagonal of a matrix.

    Raises NotImplementedError for `diag()` of a matrix: MindSpore's two forms disagree on it (a 4-D tensor on
    CPU and GPU, the diagonal on Ascend). MindSpore 2.10: Tensor.diag.
    """
    if diagonal is None and self.ndim > 1:
        raise NotImplementedError(
            "Tensor.diag() of a matrix differs between MindSpore's devices: give diagonal=0"
        )
    return self.diag(diagonal or 0)


@method
def fill_diagonal(self: torch.Tensor, fill_value: Any, wrap: bool = False) -> torch.Tensor:
    """A copy with another main diagonal. MindSpore 2.10: Tensor.fill_diagonal."""
    return self.clone().fill_diagonal_(fill_value, wrap)


@method
def unfold(self: torch.Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Sliding blocks of [N, C, H, W] as columns (torch's method of this name is another one).

    MindSpore 2.10: Tensor.unfold.
    """
    return F.unfold(self, kernel_size, dilation, padding, stride)


@method
def fold(
    self: torch.Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> torch.Tensor:
    """Columns summed back into an image. MindSpore 2.10: Tensor.fold."""
    sizes: Any = output_size.tolist() if isinstance(output_size, torch.Tensor) else output_size
    return F.fold(self, sizes, kernel_size, dilation, padding, stride)


@method
def tensor_split(self: torch.Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[torch.Tensor, ...]:
    """Parts as even as can be, or parts that end at the indices. MindSpore 2.10: Tensor.tensor_split."""
    return self.tensor_split(indices_or_sections, axis)


@method
def hsplit(self: torch.Tensor, indices_or_sections: Any) -> tuple[torch.Tensor, ...]:
    """Parts along the second dimension. MindSpore 2.10: Tensor.hsplit."""
    return self.hsplit(indices_or_sections)


@method
def vsplit(self: torch.Tensor, indices_or_sections: Any) -> tuple[torch.Tensor, ...]:
    """Parts along the first dimension. MindSpore 2.10: Tensor.vsplit."""
    return self.vsplit(indices_or_sections)


@method
def dsplit(self: torch.Tensor, indices_or_sections: Any) -> tuple[torch.Tensor, ...]:
    """Parts along the third dimension. MindSpore 2.10: Tensor.dsplit."""
    return self.dsplit(indices_or_sections)
