"""Linear algebra of mindspore.ops.

Source: MindSpore 2.10, mindspore.ops.<name> of the same name.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def matmul(input: Tensor, other: Tensor) -> Tensor:
    return torch.matmul(input, other)


def matmul_prim(a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    """Product of matrices or of batches of them, either transposed first."""
    a = a.transpose(-1, -2) if transpose_a else a
    b = b.transpose(-1, -2) if transpose_b else b
    return torch.matmul(a, b)


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Batched product; the batch axes may be any number and are broadcast."""
    return torch.matmul(input_x, mat2)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    return torch.mm(input, mat2)


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    return torch.mv(mat, vec)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Sum over the last axis of ``input`` and the last but one of ``other``, for two axes and more."""
    if input.ndim < 2 or other.ndim < 2:
        raise ValueError("ops.dot takes tensors of two axes and more")
    return torch.tensordot(input, other, dims=([input.ndim - 1], [other.ndim - 2]))


def tensor_dot(x1: Tensor, x2: Tensor, axes: Any) -> Tensor:
    if isinstance(axes, int):
        return torch.tensordot(x1, x2, dims=axes)
    first, second = ([a] if isinstance(a, int) else list(a) for a in axes)
    return torch.tensordot(x1, x2, dims=(first, second))


def batch_dot(x1: Tensor, x2: Tensor, axes: Any = None) -> Tensor:
    """Product over one axis of each input, for each entry of the first axis; two vectors give [n, 1]."""
    if axes is None:
        a, b = (x1.ndim - 1, max(x2.ndim - 2, 1))
    else:
        a, b = (axes, axes) if isinstance(axes, int) else tuple(axes)
    one, two = x1.movedim(a, -1), x2.movedim(b, 1)
    left = one.reshape(one.shape[0], -1, one.shape[-1])
    right = two.reshape(two.shape[0], two.shape[1], -1)
    out = torch.bmm(left, right)
    shape = (x1.shape[0], *one.shape[1:-1], *two.shape[2:])
    return out.reshape(shape if len(shape) > 1 else (x1.shape[0], 1))


def inner(input: Tensor, other: Tensor) -> Tensor:
    return torch.inner(input, other)


def ger(input: Tensor, vec2: Tensor) -> Tensor:
    return torch.outer(input, vec2)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return beta * input + alpha * torch.matmul(batch1, batch2)


def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return torch.addr(x, vec1, vec2, beta=beta, alpha=alpha)


def cross(input: Tensor, other: Tensor, dim: Any = None) -> Tensor:
    """Cross product; without ``dim`` along the first axis of size 3 (torch warns and may change that)."""
    if dim is None:
        dim = next((d for d, size in enumerate(input.shape) if size == 3), None)
        if dim is None:
            raise ValueError(f"cross: no axis of {tuple(input.shape)} has size 3")
    a, b = torch.broadcast_tensors(input, other)
    return torch.linalg.cross(a, b, dim=dim)


def qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    q, r = torch.linalg.qr(input, mode)
    return q, r


def qr_prim(x: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor]:
    return qr(x, "complete" if full_matrices else "reduced")


def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """(s, u, v), singular values first and v not transposed; only s without ``compute_uv``."""
    if not compute_uv:
        return torch.linalg.svdvals(input)
    u, s, vh = torch.linalg.svd(input, full_matrices)
    return s, u, vh.mH


def pinv(x: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    return torch.linalg.pinv(x, atol=atol, rtol=rtol, hermitian=hermitian)


def cond(A: Tensor, p: Any = None) -> Tensor:
    return torch.linalg.cond(A, p)


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    return torch.linalg.solve(matrix.mH if adjoint else matrix, rhs)


def log_matrix_determinant(input: Tensor) -> tuple[Tensor, Tensor]:
    sign, value = torch.linalg.slogdet(input)
    return sign, value


def eig(A: Tensor) -> tuple[Tensor, Tensor]:
    values, vectors = torch.linalg.eig(A)
    return values, vectors


def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    return torch.linalg.cholesky(input_x, upper=upper)


def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    return torch.cholesky_inverse(input_x, upper)


def renorm(input: Tensor, p: Any, axis: int, maxnorm: Any) -> Tensor:
    return torch.renorm(input, p, axis, maxnorm)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    return torch.cdist(x1, x2, p)


def adjoint(x: Tensor) -> Tensor:
    return x.mH


def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    return torch.linalg.vecdot(x, y, dim=axis)
