"""More primitives that take attributes: products, linear algebra, random numbers, rearrangement.

Source: MindSpore 2.10, mindspore.ops.<Name>: constructor, call and defaults.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import arith, blocks, control, creation, linalg, random, reduce, shaping
from .._common import ints
from .base import attrs

# Products and linear algebra


@attrs
def MatMul(input: Tensor, mat2: Tensor, *, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    return linalg.matmul_prim(input, mat2, transpose_a, transpose_b)


@attrs
def BatchMatMul(x: Tensor, y: Tensor, *, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    return linalg.matmul_prim(x, y, transpose_a, transpose_b)


@attrs
def Einsum(*operands: Any, equation: str) -> Tensor:
    given = operands[0] if len(operands) == 1 and not isinstance(operands[0], Tensor) else operands
    return torch.einsum(equation, *given)


@attrs
def MatrixInverse(x: Tensor, *, adjoint: bool = False) -> Tensor:
    made = torch.linalg.inv(x)
    return made.mH if adjoint else made


@attrs
def Cholesky(input_x: Tensor, *, upper: bool = False) -> Tensor:
    return linalg.cholesky(input_x, upper)


@attrs
def Svd(input: Tensor, *, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    return linalg.svd(input, full_matrices, compute_uv)


@attrs
def Qr(x: Tensor, *, full_matrices: bool = False) -> tuple[Tensor, Tensor]:
    return linalg.qr_prim(x, full_matrices)


@attrs
def IsClose(
    input: Tensor, other: Tensor, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    return torch.isclose(input, other, rtol, atol, equal_nan)


@attrs
def ApproximateEqual(x: Tensor, y: Tensor, *, tolerance: float = 1e-5) -> Tensor:
    return arith.approximate_equal(x, y, tolerance)


@attrs
def NanToNum(input: Tensor, *, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    return torch.nan_to_num(input, nan, posinf, neginf)


# Random numbers


@attrs
def StandardNormal(shape: Any, *, seed: int = 0, seed2: int = 0) -> Tensor:
    return random.standard_normal(shape, seed or seed2 or None)


@attrs
def UniformReal(shape: Any, *, seed: int = 0, seed2: int = 0) -> Tensor:
    return random.rand(shape, seed=seed or seed2 or None)


@attrs
def UniformInt(shape: Any, minval: Any, maxval: Any, *, seed: int = 0, seed2: int = 0) -> Tensor:
    """int32 of [minval, maxval)."""
    return random.randint(minval, maxval, shape, seed or seed2 or None, dtype=torch.int32)


@attrs
def RandomCategorical(logits: Tensor, num_sample: int, seed: int = 0, *, dtype: Any = torch.int64) -> Tensor:
    return random.random_categorical(logits, num_sample, seed, dtype)


@attrs
def Multinomial(
    x: Tensor, num_samples: int, *, seed: int = 0, seed2: int = 0, dtype: Any = torch.int32
) -> Tensor:
    return random.multinomial(x, num_samples, True, seed or seed2 or None).to(dtype)


@attrs
def RandomShuffle(input_x: Tensor, *, seed: int = 0, seed2: int = 0) -> Tensor:
    return random.shuffle(input_x, seed or seed2 or None)


@attrs
def RandpermV2(n: Any, *, seed: int = 0, offset: int = 0, dtype: Any = torch.int64) -> Tensor:
    return random.randperm(n, seed, offset, dtype)


@attrs
def TruncatedNormal(shape: Any, *, dtype: Any = torch.float32, seed: int = 0, seed2: int = 0) -> Tensor:
    """Standard normal numbers within two deviations."""
    made = torch.empty(ints(shape), dtype=torch.float32)
    source = random.generator(seed or seed2 or None)
    return torch.nn.init.trunc_normal_(made, 0.0, 1.0, -2.0, 2.0, generator=source).to(dtype)


# Others


@attrs
def SpaceToBatchND(input_x: Tensor, *, block_shape: Any, paddings: Any) -> Tensor:
    return blocks.space_to_batch_nd(input_x, block_shape, paddings)


@attrs
def BatchToSpaceND(input_x: Tensor, *, block_shape: Any, crops: Any) -> Tensor:
    return blocks.batch_to_space_nd(input_x, block_shape, crops)


@attrs
def Padding(x: Tensor, *, pad_dim_size: int = 8) -> Tensor:
    return shaping.padding(x, pad_dim_size)


@attrs
def InplaceAdd(x: Tensor, input_v: Tensor, *, indices: Any) -> Tensor:
    return control.inplace_add(x, input_v, indices)


@attrs
def InplaceSub(x: Tensor, input_v: Tensor, *, indices: Any) -> Tensor:
    return control.inplace_sub(x, input_v, indices)


@attrs
def InplaceUpdate(x: Tensor, v: Tensor, *, indices: Any) -> Tensor:
    return control.inplace_update(x, v, indices)


@attrs
def Cdist(x1: Tensor, x2: Tensor, *, p: float = 2.0) -> Tensor:
    return torch.cdist(x1, x2, p)


@attrs
def MatrixPower(x: Tensor, *, n: int) -> Tensor:
    return torch.linalg.matrix_power(x, n)


@attrs
def MatrixSolve(matrix: Tensor, rhs: Tensor, *, adjoint: bool = False) -> Tensor:
    return linalg.matrix_solve(matrix, rhs, adjoint)


@attrs
def Renorm(input_x: Tensor, *, p: Any, dim: int, maxnorm: float) -> Tensor:
    return torch.renorm(input_x, p, dim, maxnorm)


@attrs
def SearchSorted(
    sorted_sequence: Tensor,
    values: Tensor,
    sorter: Any = None,
    *,
    dtype: Any = torch.int64,
    right: bool = False,
) -> Tensor:
    return reduce.searchsorted(sorted_sequence, values, right=right, sorter=sorter).to(dtype)


@attrs
def InsertGradientOf(x: Tensor, *, f: Any) -> Tensor:
    """``x``, whose gradient is passed through ``f`` on its way back."""
    made = x.view_as(x)
    if made.requires_grad:
        made.register_hook(f)
    return made


@attrs
def LowerBound(sorted_x: Tensor, values: Tensor, *, out_type: Any = torch.int32) -> Tensor:
    return torch.searchsorted(sorted_x, values).to(out_type)


@attrs
def UpperBound(sorted_x: Tensor, values: Tensor, *, out_type: Any = torch.int32) -> Tensor:
    return torch.searchsorted(sorted_x, values, right=True).to(out_type)


@attrs
def Histogram(x: Tensor, *, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    return reduce.histc(x, bins, min, max)


@attrs
def Median(
    x: Tensor,
    *,
    global_median: bool = False,
    axis: int = 0,
    keep_dims: bool = False,
    ignore_nan: bool = False,
) -> tuple[Tensor, Tensor]:
    """(median, its index); the index of a median of all is 0."""
    if global_median:
        middle = torch.nanmedian(x) if ignore_nan else torch.median(x)
        return middle, torch.zeros_like(middle, dtype=torch.int64)
    return (reduce.nanmedian if ignore_nan else reduce.median)(x, axis, keep_dims)


@attrs
def BlackmanWindow(window_length: Any, *, periodic: bool = True, dtype: Any = torch.float32) -> Tensor:
    return creation.blackman_window(window_length, periodic, dtype=dtype)


@attrs
def BartlettWindow(window_length: Any, *, periodic: bool = True, dtype: Any = torch.float32) -> Tensor:
    return creation.bartlett_window(window_length, periodic, dtype=dtype)


@attrs
def HammingWindow(
    length: Any, *, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, dtype: Any = torch.float32
) -> Tensor:
    return creation.hamming_window(length, periodic, alpha, beta, dtype=dtype)


@attrs
def TrilIndices(*, row: int, col: int, offset: int = 0, dtype: Any = torch.int32) -> Tensor:
    return torch.tril_indices(row, col, offset, dtype=dtype)


@attrs
def TriuIndices(*, row: int, col: int, offset: int = 0, dtype: Any = torch.int32) -> Tensor:
    return torch.triu_indices(row, col, offset, dtype=dtype)


@attrs
def Pdist(x: Tensor, *, p: float = 2.0) -> Tensor:
    return torch.pdist(x, p)


@attrs
def UniqueConsecutive(
    input: Tensor, *, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    return torch.unique_consecutive(input, return_inverse, return_counts, dim)


@attrs
def ChannelShuffle(x: Tensor, *, group: int) -> Tensor:
    return torch.channel_shuffle(x, group)


@attrs
def FillDiagonal(input_x: Tensor, *, fill_value: float, wrap: bool = False) -> Tensor:
    return input_x.clone().fill_diagonal_(fill_value, wrap)


@attrs
def MatrixTriangularSolve(
    matrix: Tensor, rhs: Tensor, *, lower: bool = True, adjoint: bool = False
) -> Tensor:
    made = matrix.mH if adjoint else matrix
    return torch.linalg.solve_triangular(made, rhs, upper=lower == adjoint)


@attrs
def InplaceIndexAdd(var: Tensor, indices: Any, updates: Tensor, *, axis: int) -> Tensor:
    return control.inplace_index_add(var, indices, updates, axis)
