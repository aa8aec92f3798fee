"""Primitives without attributes: each calls one function with the primitive's own parameter names.

Source: MindSpore 2.10, mindspore.ops.<Name>.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import activation, arith, control, creation, indexing, linalg, loss, reduce, shaping
from .._common import pair
from .base import calls


def _unary(name: str, function: Any) -> type:
    """A primitive of one tensor, whose name may be anything: it is given by position."""

    def call(input: Tensor) -> Tensor:
        made: Tensor = function(input)
        return made

    call.__doc__ = f"Elementwise {name}."
    return calls(name, call)


def _xy(name: str, function: Any) -> type:
    """A primitive of two operands called x and y."""

    def call(x: Any, y: Any) -> Tensor:
        made: Tensor = function(x, y)
        return made

    call.__doc__ = function.__doc__
    return calls(name, call)


Abs = _unary("Abs", torch.abs)
ACos = _unary("ACos", torch.acos)
Acosh = _unary("Acosh", torch.acosh)
Asin = _unary("Asin", torch.asin)
Asinh = _unary("Asinh", torch.asinh)
Atan = _unary("Atan", torch.atan)
Atanh = _unary("Atanh", torch.atanh)
Ceil = _unary("Ceil", torch.ceil)
Conj = _unary("Conj", torch.conj)
Cos = _unary("Cos", torch.cos)
Cosh = _unary("Cosh", torch.cosh)
Digamma = _unary("Digamma", torch.digamma)
Erf = _unary("Erf", torch.erf)
Erfc = _unary("Erfc", torch.erfc)
Erfinv = _unary("Erfinv", torch.erfinv)
Exp = _unary("Exp", torch.exp)
Expm1 = _unary("Expm1", torch.expm1)
FastGeLU = _unary("FastGeLU", activation.fast_gelu)
Floor = _unary("Floor", torch.floor)
GeLU = _unary("GeLU", activation.gelu_tanh)
HSigmoid = _unary("HSigmoid", F.hardsigmoid)
HSwish = _unary("HSwish", F.hardswish)
Imag = _unary("Imag", torch.imag)
Inv = _unary("Inv", arith.inv)
Invert = _unary("Invert", torch.bitwise_not)
IsFinite = _unary("IsFinite", torch.isfinite)
IsInf = _unary("IsInf", torch.isinf)
IsNan = _unary("IsNan", torch.isnan)
L2Loss = _unary("L2Loss", loss.l2_loss)
Lgamma = _unary("Lgamma", torch.lgamma)
Log = _unary("Log", torch.log)
Log1p = _unary("Log1p", torch.log1p)
LogicalNot = _unary("LogicalNot", torch.logical_not)
MatrixDeterminant = _unary("MatrixDeterminant", torch.linalg.det)
MatrixExp = _unary("MatrixExp", torch.linalg.matrix_exp)
Mish = _unary("Mish", F.mish)
Neg = _unary("Neg", torch.neg)
NonZero = _unary("NonZero", torch.nonzero)
Real = _unary("Real", torch.real)
Reciprocal = _unary("Reciprocal", torch.reciprocal)
ReLU = _unary("ReLU", torch.relu)
Rint = _unary("Rint", torch.round)
Round = calls("Round", lambda input, decimals=0: arith.round(input, decimals=decimals))
Rsqrt = _unary("Rsqrt", torch.rsqrt)
SeLU = _unary("SeLU", F.selu)
Sigmoid = _unary("Sigmoid", torch.sigmoid)
Sign = _unary("Sign", torch.sign)
SiLU = _unary("SiLU", F.silu)
Sin = _unary("Sin", torch.sin)
Sinc = _unary("Sinc", torch.sinc)
Sinh = _unary("Sinh", torch.sinh)
Softplus = _unary("Softplus", F.softplus)
Softsign = _unary("Softsign", F.softsign)
Square = _unary("Square", torch.square)
Tan = _unary("Tan", torch.tan)
Tanh = _unary("Tanh", torch.tanh)
Trace = _unary("Trace", torch.trace)
Trunc = _unary("Trunc", torch.trunc)
BesselI0 = _unary("BesselI0", torch.special.i0)
BesselI1 = _unary("BesselI1", torch.special.i1)
BesselI0e = _unary("BesselI0e", torch.special.i0e)
BesselI1e = _unary("BesselI1e", torch.special.i1e)

Add = calls("Add", arith.add)
AddN = calls("AddN", arith.addn)
AccumulateNV2 = calls("AccumulateNV2", arith.addn)
Addcdiv = calls("Addcdiv", arith.addcdiv)
Addcmul = calls("Addcmul", arith.addcmul)
Atan2 = calls("Atan2", arith.atan2)
BitwiseAnd = _xy("BitwiseAnd", arith.bitwise_and)
BitwiseOr = _xy("BitwiseOr", arith.bitwise_or)
BitwiseXor = _xy("BitwiseXor", arith.bitwise_xor)
Div = calls("Div", arith.div)
DivNoNan = calls("DivNoNan", arith.div_no_nan)
Equal = calls("Equal", arith.equal)
FloorDiv = calls("FloorDiv", arith.floor_divide)
FloorMod = calls("FloorMod", arith.floor_mod)
Greater = calls("Greater", arith.greater)
GreaterEqual = calls("GreaterEqual", arith.greater_equal)
Less = calls("Less", arith.less)
LessEqual = calls("LessEqual", arith.less_equal)
Lerp = calls("Lerp", arith.lerp)
LogicalAnd = _xy("LogicalAnd", arith.logical_and)
LogicalOr = _xy("LogicalOr", arith.logical_or)
LogicalXor = calls("LogicalXor", arith.logical_xor)
Maximum = calls("Maximum", arith.maximum)
Minimum = calls("Minimum", arith.minimum)
Mod = _xy("Mod", arith.truncate_mod)
Mul = calls("Mul", arith.mul)
MulNoNan = calls("MulNoNan", arith.mul_no_nan)
NotEqual = calls("NotEqual", arith.not_equal)
Pow = calls("Pow", arith.pow)
RealDiv = calls("RealDiv", arith.real_div)
Sqrt = calls("Sqrt", arith.sqrt)
SquaredDifference = calls("SquaredDifference", arith.squared_difference)
Sub = calls("Sub", arith.sub)
TruncateDiv = calls("TruncateDiv", arith.truncate_div)
TruncateMod = calls("TruncateMod", arith.truncate_mod)
Xdivy = calls("Xdivy", arith.xdivy)
Xlogy = calls("Xlogy", arith.xlogy)

Assign = calls("Assign", control.assign)
AssignAdd = calls("AssignAdd", control.assign_add)
AssignSub = calls("AssignSub", control.assign_sub)
Depend = calls("Depend", control.depend)
Identity = calls("Identity", control.identity)
Print = calls("Print", control.print_)
StopGradient = calls("StopGradient", control.stop_gradient)

Eye = calls("Eye", creation.eye)
Fill = calls("Fill", lambda dtype, dims, x: creation.fill(dtype, dims, x))
FillV2 = calls("FillV2", creation.fill_v2)
Fills = calls("Fills", creation.fills)
LinSpace = calls("LinSpace", lambda start, stop, num: creation.linspace(start, stop, num))
Ones = calls("Ones", creation.ones)
OnesLike = calls("OnesLike", lambda x: torch.ones_like(x))
ScalarCast = calls("ScalarCast", creation.scalar_cast)
ScalarToTensor = calls("ScalarToTensor", lambda x, dtype=torch.float32: creation.scalar_to_tensor(x, dtype))
TupleToArray = calls("TupleToArray", creation.tuple_to_array)
Zeros = calls("Zeros", creation.zeros)
ZerosLike = calls("ZerosLike", lambda x: torch.zeros_like(x))


def _cast(input_x: Any, dtype: Any) -> Tensor:
    """``input_x``, a tensor or a number, in ``dtype``."""
    return creation.cast(input_x, dtype)


Cast = calls("Cast", _cast)

Diag = calls("Diag", shaping.diag)
DiagPart = calls("DiagPart", shaping.diag_part)
DType = calls("DType", shaping.dtype)
ExpandDims = calls("ExpandDims", shaping.expand_dims)
Flatten = calls("Flatten", shaping.flatten_prim)
MatrixBandPart = calls("MatrixBandPart", shaping.matrix_band_part)
Rank = calls("Rank", lambda x: shaping.rank(x))
Reshape = calls("Reshape", shaping.reshape)
Shape = calls("Shape", lambda x: shaping.shape(x))
Size = calls("Size", shaping.size)
Slice = calls("Slice", lambda input, begin, size: shaping.slice_(input, begin, size))
TensorShape = calls("TensorShape", shaping.dyn_shape)
Tile = calls("Tile", shaping.tile)
Transpose = calls("Transpose", shaping.transpose)
TransposeView = calls("TransposeView", lambda input, input_perm: shaping.transpose(input, input_perm))
TransposeExtView = calls("TransposeExtView", torch.transpose)


def _invert_permutation(input_x: Any) -> tuple[int, ...]:
    """The inverse of a permutation given as a tuple."""
    made = [0] * len(input_x)
    for place, value in enumerate(input_x):
        made[value] = place
    return tuple(made)


InvertPermutation = calls("InvertPermutation", _invert_permutation)

GatherD = calls("GatherD", indexing.gather_d)
GatherNd = calls("GatherNd", indexing.gather_nd)
IndexFill = calls("IndexFill", indexing.index_fill)
MaskedFill = calls("MaskedFill", indexing.masked_fill)
MaskedSelect = calls("MaskedSelect", indexing.masked_select)
ScatterNd = calls("ScatterNd", indexing.scatter_nd)
Select = calls("Select", indexing.select)
TensorScatterAdd = calls("TensorScatterAdd", indexing.tensor_scatter_add)
TensorScatterDiv = calls("TensorScatterDiv", indexing.tensor_scatter_div)
TensorScatterMax = calls("TensorScatterMax", indexing.tensor_scatter_max)
TensorScatterMin = calls("TensorScatterMin", indexing.tensor_scatter_min)
TensorScatterMul = calls("TensorScatterMul", indexing.tensor_scatter_mul)
TensorScatterSub = calls("TensorScatterSub", indexing.tensor_scatter_sub)
TensorScatterUpdate = calls("TensorScatterUpdate", indexing.tensor_scatter_update)
UnsortedSegmentMax = calls("UnsortedSegmentMax", indexing.unsorted_segment_max)
UnsortedSegmentMin = calls("UnsortedSegmentMin", indexing.unsorted_segment_min)
UnsortedSegmentProd = calls("UnsortedSegmentProd", indexing.unsorted_segment_prod)
UnsortedSegmentSum = calls("UnsortedSegmentSum", indexing.unsorted_segment_sum)


def _embedding_lookup(input_params: Tensor, input_indices: Tensor, offset: int) -> Tensor:
    """Rows of ``input_params`` at ``input_indices - offset``; rows outside are 0."""
    where = input_indices.long() - int(offset)
    inside = (where >= 0) & (where < input_params.shape[0])
    rows = input_params[torch.where(inside, where, torch.zeros_like(where))]
    return rows * inside.reshape(inside.shape + (1,) * (input_params.ndim - 1)).to(rows.dtype)


EmbeddingLookup = calls("EmbeddingLookup", _embedding_lookup)
Unique = calls("Unique", reduce.unique)


def _square_sum_all(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """(sum of squares of x, that of y)."""
    return torch.square(x).sum(), torch.square(y).sum()


SquareSumAll = calls("SquareSumAll", _square_sum_all)


def _float_status(x: Tensor) -> Tensor:
    """1 as a float32 tensor [1] where any value is not finite, else 0."""
    return (~torch.isfinite(x)).any().reshape(1).float()


FloatStatus = calls("FloatStatus", _float_status)
Dense = calls("Dense", activation.dense)
PReLU = calls("PReLU", activation.prelu)
ReLU6 = calls("ReLU6", activation.relu6)
SigmoidCrossEntropyWithLogits = calls("SigmoidCrossEntropyWithLogits", loss.sigmoid_cross_entropy_with_logits)
SoftmaxCrossEntropyWithLogits = calls("SoftmaxCrossEntropyWithLogits", loss.softmax_cross_entropy_with_logits)
Ger = _xy("Ger", torch.outer)
LogMatrixDeterminant = calls("LogMatrixDeterminant", linalg.log_matrix_determinant)
Complex = calls("Complex", torch.complex)
ComplexAbs = calls("ComplexAbs", torch.abs)
Polar = calls("Polar", torch.polar)
Heaviside = calls("Heaviside", lambda x, values: torch.heaviside(*pair(x, values)))
Hypot = _xy("Hypot", torch.hypot)
Igamma = calls("Igamma", lambda a, x: torch.special.gammainc(a, x))
Igammac = calls("Igammac", lambda a, x: torch.special.gammaincc(a, x))
NextAfter = calls("NextAfter", torch.nextafter)
LeftShift = calls("LeftShift", lambda x1, x2: arith.bitwise_left_shift(x1, x2))
RightShift = calls("RightShift", lambda input_x, input_y: arith.bitwise_right_shift(input_x, input_y))
Gcd = calls("Gcd", torch.gcd)
Lcm = _xy("Lcm", torch.lcm)
Eps = calls("Eps", arith.eps)
Fmax = calls("Fmax", torch.fmax)
Fmin = calls("Fmin", torch.fmin)
PopulationCount = calls("PopulationCount", arith.population_count)
UniqueWithPad = calls("UniqueWithPad", reduce.unique_with_pad)
Zeta = calls("Zeta", torch.special.zeta)


def _identity_n(x: Any) -> tuple[Tensor, ...]:
    """The tensors as a tuple."""
    return tuple(x)


def _conjugate_transpose(x: Tensor, perm: Any) -> Tensor:
    """``x`` with its axes in the order ``perm``, conjugated."""
    return torch.conj(shaping.transpose(x, perm)).resolve_conj()


def _segment(name: str, how: str) -> type:
    def call(input_x: Tensor, segment_ids: Tensor) -> Tensor:
        return reduce.segments(input_x, segment_ids, how)

    call.__doc__ = reduce.segments.__doc__
    return calls(name, call)


IdentityN = calls("IdentityN", _identity_n)
ConjugateTranspose = calls("ConjugateTranspose", _conjugate_transpose)
SegmentSum = _segment("SegmentSum", "sum")
SegmentMean = _segment("SegmentMean", "mean")
SegmentProd = _segment("SegmentProd", "prod")
SegmentMax = _segment("SegmentMax", "amax")
SegmentMin = _segment("SegmentMin", "amin")
