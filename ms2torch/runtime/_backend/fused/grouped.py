"""Grouped matrix products: each group of rows has a weight of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ._device import host_ints, load_torch_npu, on_npu, refuse

__all__ = ["GroupedMatmul", "GroupedMatmulV4", "grouped_matmul", "grouped_matmul_v4"]


def grouped_matmul(
    x: Sequence[torch.Tensor],
    weight: Sequence[torch.Tensor],
    bias: Sequence[torch.Tensor] | None = None,
    scale: Any = None,
    offset: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    group_list: Any = None,
    split_item: int = 0,
    group_type: int = -1,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> tuple[torch.Tensor, ...]:
    """Products of lists, or of the row groups of one matrix.

    - ``split_item=0, group_type=-1``: ``x[i] @ weight[i] (+ bias[i])``, as many results as weights.
    - ``split_item=3, group_type=0``: ``x[0]`` is [M, K], ``weight[0]`` [E, K, N]; rows
      ``group_list[e-1]:group_list[e]`` (cumulative ends) meet ``weight[0][e]``. One result [M, N]; rows
      behind the last end are zero.

    ``transpose_a`` and ``transpose_b`` swap the last two dimensions of ``x`` and ``weight`` first.
    Quantisation arguments raise NotImplementedError; other pairs of ``split_item`` and ``group_type`` raise
    TypeError, as MindSpore's do. MindSpore 2.10: mindspore.ops.auto_generate.grouped_matmul.
    """
    refuse(
        "grouped_matmul",
        scale=scale,
        offset=offset,
        antiquant_scale=antiquant_scale,
        antiquant_offset=antiquant_offset,
    )
    return _grouped(
        "grouped_matmul", x, weight, bias, group_list, split_item, group_type, 0, transpose_a, transpose_b
    )


def grouped_matmul_v4(
    x: Sequence[torch.Tensor],
    weight: Sequence[torch.Tensor],
    bias: Sequence[torch.Tensor] | None = None,
    scale: Any = None,
    offset: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    pre_token_scale: Any = None,
    group_list: Any = None,
    activation_input: Any = None,
    activation_quant_scale: Any = None,
    activation_quant_offset: Any = None,
    split_item: int = 0,
    group_type: int = -1,
    group_list_type: int = 0,
    act_type: int = 0,
    output_dtype: Any = None,
) -> tuple[torch.Tensor, ...]:
    """:func:`grouped_matmul` whose ``group_list`` may hold sizes (``group_list_type=1``) instead of ends.

    Quantisation and activation arguments raise NotImplementedError.
    MindSpore 2.10: mindspore.ops.auto_generate.grouped_matmul_v4.
    """
    refuse(
        "grouped_matmul_v4",
        scale=scale,
        offset=offset,
        antiquant_scale=antiquant_scale,
        antiquant_offset=antiquant_offset,
        pre_token_scale=pre_token_scale,
        activation_input=activation_input,
        activation_quant_scale=activation_quant_scale,
        activation_quant_offset=activation_quant_offset,
        act_type=act_type or None,
        output_dtype=output_dtype,
    )
    return _grouped("grouped_matmul_v4", x, weight, bias, group_list, split_item, group_type, group_list_type)


def _grouped(
    op: str,
    x: Sequence[torch.Tensor],
    weight: Sequence[torch.Tensor],
    bias: Sequence[torch.Tensor] | None,
    group_list: Any,
    split_item: int,
    group_type: int,
    group_list_type: int = 0,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> tuple[torch.Tensor, ...]:
    if (split_item, group_type) not in ((0, -1), (3, 0)):
        raise TypeError(
            f"{op}: split_item={split_item}, group_type={group_type}: only (0, -1) and (3, 0) are defined"
        )
    left = [t.transpose(-1, -2) for t in x] if transpose_a else list(x)
    right = [t.transpose(-1, -2) for t in weight] if transpose_b else list(weight)
    biases = list(bias) if bias else []
    if split_item == 0:
        if not len(left) == len(right) or (biases and len(biases) != len(right)):
            raise ValueError(
                f"{op}: {len(left)} inputs, {len(right)} weights and {len(biases)} biases do not pair"
            )
        if on_npu(*left):
            torch_npu = load_torch_npu()
            return tuple(
                torch_npu.npu_grouped_matmul(left, right, bias=biases or None, split_item=0, group_type=-1)
            )
        out = [a @ b for a, b in zip(left, right, strict=True)]
        return tuple(o + b for o, b in zip(out, biases, strict=True)) if biases else tuple(out)
    if group_list is None:
        raise TypeError(f"{op}: group_list is required with split_item=3")
    if len(left) != 1 or len(right) != 1 or right[0].ndim != 3 or left[0].ndim != 2:
        raise ValueError(f"{op}: split_item=3 takes one 2-D input and one 3-D weight")
    if on_npu(*left):
        torch_npu = load_torch_npu()
        ends = torch.as_tensor(group_list, dtype=torch.int64, device=left[0].device)
        return tuple(
            torch_npu.npu_grouped_matmul(
                left,
                right,
                bias=biases or None,
                group_list=ends,
                split_item=3,
                group_type=0,
                group_list_type=group_list_type,
            )
        )
    return (_rows(op, left[0], right[0], biases[0] if biases else None, group_list, group_list_type),)


def _rows(
    op: str, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, group_list: Any, kind: int
) -> torch.Tensor:
    fast = None if bias is not None else _native(x, weight, group_list, kind)
    if fast is not None:
        return fast
    sizes = host_ints(group_list) or []
    if len(sizes) != weight.shape[0]:
        raise ValueError(f"{op}: {len(sizes)} groups for {weight.shape[0]} weights")
    if kind == 0:
        sizes = [end - start for start, end in zip([0, *sizes[:-1]], sizes, strict=True)]
    rest = x.shape[0] - sum(sizes)
    if rest < 0 or min(sizes, default=0) < 0:
        raise ValueError(f"{op}: group_list does not divide the {x.shape[0]} rows of x")
    parts = [
        # A group without rows still takes part, so that its weight gets a gradient of zeros.
        rows @ w if bias is None else rows @ w + bias[e]
        for e, (rows, w) in enumerate(zip(torch.split(x, [*sizes, rest]), weight.unbind(0), strict=False))
    ]
    if rest:
        parts.append(x.new_zeros(rest, weight.shape[-1]))
    return torch.cat(parts)


def _native(x: torch.Tensor, weight: torch.Tensor, group_list: Any, kind: int) -> torch.Tensor | None:
    """torch's grouped kernel, where there is one for this device, dtype and alignment; else None."""
    kernel = getattr(torch, "_grouped_mm", None)
    if kernel is None or not x.is_cuda or x.dtype is not torch.bfloat16 or weight.dtype is not torch.bfloat16:
        return None
    if torch.cuda.get_device_capability(x.device) < (9, 0) or not isinstance(group_list, torch.Tensor):
        return None
    # The kernel wants 16-byte rows and offsets in int32. It leaves rows behind the last end uninitialised, in
    # the result and in the gradient of x, and whether there are any is known only by reading the ends back.
    if x.shape[-1] % 8 or weight.shape[-1] % 8 or x.shape[0] == 0:
        return None
    ends = (group_list.cumsum(0) if kind == 1 else group_list).to(device=x.device, dtype=torch.int32)
    behind = (torch.arange(x.shape[0], device=x.device) >= ends[-1]).unsqueeze(-1)
    out: torch.Tensor = kernel(x.masked_fill(behind, 0), weight, offs=ends)
    return out.masked_fill(behind, 0)


class GroupedMatmul:
    """``GroupedMatmul(split_item, group_type)([x], [w], …, group_list)``.

    MindSpore 2.10: mindspore.ops.auto_generate.GroupedMatmul.
    """

    def __init__(
        self, split_item: int = 0, group_type: int = -1, transpose_a: bool = False, transpose_b: bool = False
    ) -> None:
        self.split_item = split_item
        self.group_type = group_type
        self.transpose_a = transpose_a
        self.transpose_b = transpose_b

    def __call__(
        self,
        x: Sequence[torch.Tensor],
        weight: Sequence[torch.Tensor],
        bias: Sequence[torch.Tensor] | None = None,
        scale: Any = None,
        offset: Any = None,
        antiquant_scale: Any = None,
        antiquant_offset: Any = None,
        group_list: Any = None,
    ) -> tuple[torch.Tensor, ...]:
        return grouped_matmul(
            x,
            weight,
            bias,
            scale,
            offset,
            antiquant_scale,
            antiquant_offset,
            group_list,
            self.split_item,
            self.group_type,
            self.transpose_a,
            self.transpose_b,
        )


class GroupedMatmulV4:
    """Primitive form of :func:`grouped_matmul_v4`."""

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        return grouped_matmul_v4(*args, **kwargs)
