# ruff: noqa: F401, I001
"""Functions and primitives of mindspore.ops on torch, with MindSpore's signatures.

The names are MindSpore's: ``ops.gather`` is mindspore.ops.gather, ``ops.mint.gather`` mindspore.mint.gather.
What stands here differs from its torch namesake; the rest of a port calls torch directly.
"""

# fmt: off
from . import mint
from .activation import (
    batch_norm, bias_add, bidense, celu, dense, dropout, dropout1d, dropout2d, dropout3d, elu, embedding,
    fast_gelu, gelu, glu, group_norm, gumbel_softmax, hardshrink, hardsigmoid, hardswish, hardtanh,
    layer_norm, leaky_relu, log_softmax, logsigmoid, lrn, mish, prelu, relu, relu6, rrelu, selu, silu,
    soft_shrink, softmax, softmin, softplus, softshrink, softsign, tanhshrink, threshold,
)
from .arith import (
    accumulate_n, add, addcdiv, addcmul, addn, approximate_equal, arcsin, atan2, bitwise_and,
    bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, clamp, clip_by_global_norm,
    clip_by_norm, clip_by_value, copysign, cummax, cummin, cumsum, div, div_no_nan, eps, equal, exp,
    floor_div, floor_divide, floor_mod, fmod, greater, greater_equal, inv, invert, is_floating_point,
    is_nonzero, isreal, ldexp, lerp, less, less_equal, logical_and, logical_or, logical_xor, logit,
    maximum, minimum, mul, mul_no_nan, not_equal, population_count, pow, real_div, remainder, round,
    sqrt, squared_difference, sub, subtract, trapz, true_divide, truncate_div, truncate_mod, xdivy,
    xlogy, zeta,
)
from .blocks import (
    batch_to_space_nd, depth_to_space, space_to_batch_nd, space_to_depth,
)
from .control import (
    assign, assign_add, assign_sub, deepcopy, depend, format_cast, identity, inplace_add,
    inplace_index_add, inplace_sub, inplace_update, is_tensor, move_to, print_, stop_gradient,
)
from .convpool import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
    adaptive_max_pool2d, adaptive_max_pool3d, affine_grid, avg_pool1d, avg_pool2d, avg_pool3d, conv1d,
    conv2d, conv3d, grid_sample, interpolate, lp_pool1d, lp_pool2d, max_pool2d, max_pool3d, max_unpool1d,
    max_unpool2d, max_unpool3d, upsample,
)
from .creation import (
    bartlett_window, blackman_window, cast, eye, fftfreq, fill, fill_v2, fills, full, hamming_window,
    hann_window, kaiser_window, linspace, logspace, one_hot, ones, range_ as range, rfftfreq,
    scalar_cast, scalar_to_tensor, tril_indices, triu_indices, tuple_to_array, zeros,
)
from .indexing import (
    gather, gather_d, gather_elements, gather_nd, index_add, index_fill, index_select, masked_fill,
    masked_select, scatter, scatter_add, scatter_div, scatter_max, scatter_min, scatter_mul, scatter_nd,
    scatter_nd_add, scatter_nd_div, scatter_nd_max, scatter_nd_min, scatter_nd_mul, scatter_nd_sub,
    scatter_nd_update, scatter_sub, scatter_update, select, select_scatter, slice_scatter, take,
    tensor_scatter_add, tensor_scatter_div, tensor_scatter_elements, tensor_scatter_max,
    tensor_scatter_min, tensor_scatter_mul, tensor_scatter_sub, tensor_scatter_update,
    unsorted_segment_max, unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sum, where,
)
from .linalg import (
    addr, adjoint, baddbmm, batch_dot, bmm, cdist, cholesky, cholesky_inverse, cond, cross, dot, eig,
    ger, inner, log_matrix_determinant, matmul, matrix_solve, mm, mv, pinv, qr, renorm, svd, tensor_dot,
    vecdot,
)
from .loss import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss, cross_entropy,
    gaussian_nll_loss, hinge_embedding_loss, huber_loss, kl_div, l1_loss, margin_ranking_loss, mse_loss,
    multi_margin_loss, multilabel_margin_loss, multilabel_soft_margin_loss, nll_loss,
    sigmoid_cross_entropy_with_logits, smooth_l1_loss, soft_margin_loss,
    softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits, triplet_margin_loss,
)
from .random import (
    bernoulli, gamma, laplace, multinomial, normal, poisson, rand, rand_like, randint, randint_like,
    randn, randn_like, random_categorical, randperm, shuffle, standard_laplace, standard_normal, uniform,
)
from .reduce import (
    all, amax, amin, aminmax, any, argmin, argsort, bincount, bucketize, cosine_similarity,
    count_nonzero, histc, intopk, l2_normalize, logcumsumexp, logsumexp, matrix_norm, max, mean, median,
    min, msort, nanmean, nanmedian, nanquantile, nansum, norm, prod, quantile, reduce_max, reduce_mean,
    reduce_min, reduce_prod, reduce_sum, searchsorted, sort, std, std_mean, top_k, topk, unique,
    unique_consecutive, unique_with_pad, var, var_mean, vector_norm,
)
from .shaping import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_to, cat, channel_shuffle, chunk, concat, diag,
    diag_part, diff, dsplit, dtype, dyn_shape, expand, expand_as, expand_dims, flatten, flip, hsplit,
    hstack, matrix_band_part, meshgrid, mirror_pad, moveaxis, movedim, narrow, pad, padding, permute,
    rank, repeat_elements, repeat_interleave, reshape, reverse, reverse_sequence, roll, sequence_mask,
    shape, size, slice_ as slice, split, squeeze, stack, strided_slice, tensor_split, tile, transpose,
    type_as, unstack, view_as, vsplit, vstack,
)
from .prims.base import (
    Primitive,
)
from .prims.composite import (
    HyperMap, Map, MultitypeFuncGraph, Partial, partial,
)
from .prims.ext import (
    AddExt, Arange, ArgMaxExt, ArgMinExt, BatchMatMulExt, Chunk, ClampScalar, ClampTensor, CumsumExt,
    FmodScalar, FmodTensor, GeluExt, HistcExt, IndexSelect, MatMulExt, MaxDim, MeanExt, MinDim, Mm,
    NonZeroExt, OneHotExt, OnesLikeExt, ProdExt, RepeatInterleaveInt, RepeatInterleaveTensor, Scatter,
    ScatterAddExt, SortExt, SplitTensor, SplitWithSize, StackExt, SubExt, SumExt, TopkExt, TrilExt,
    ZerosLikeExt,
)
from .prims.layers import (
    AdaptiveAvgPool2D, AdaptiveAvgPool3D, AdaptiveMaxPool2D, ApplyMomentum, AvgPool, BatchNorm,
    BCEWithLogitsLoss, BiasAdd, BinaryCrossEntropy, CeLU, Conv2D, Conv3D, Dropout, Dropout2D, Dropout3D,
    Elu, GLU, GridSampler2D, GridSampler3D, HShrink, KLDivLoss, LayerNorm, LogSoftmax, LRN, MaxPool,
    MaxPoolWithArgmax, MultiMarginLoss, NLLLoss, ResizeBilinearV2, ResizeNearestNeighbor,
    ResizeNearestNeighborV2, SmoothL1Loss, SoftMarginLoss, Softmax, SoftShrink,
    SparseSoftmaxCrossEntropyWithLogits,
)
from .prims.made import (
    Argmax, ArgMaxWithValue, Argmin, ArgMinWithValue, BroadcastTo, Concat, Cummax, Cummin, CumProd,
    CumSum, DepthToSpace, EuclideanNorm, Gather, HistogramFixedWidth, IndexAdd, InTopK, L2Normalize,
    LpNorm, Meshgrid, MirrorPad, OneHot, Pad, PadV3, Range, ReduceAll, ReduceAny, ReduceMax, ReduceMean,
    ReduceMin, ReduceProd, ReduceStd, ReduceSum, ReverseSequence, ReverseV2, Roll, ScatterAdd,
    ScatterDiv, ScatterMax, ScatterMin, ScatterMul, ScatterNdAdd, ScatterNdDiv, ScatterNdMax,
    ScatterNdMin, ScatterNdMul, ScatterNdSub, ScatterNdUpdate, ScatterSub, ScatterUpdate, Sort,
    SpaceToDepth, Split, SplitV, Squeeze, Stack, StridedSlice, TensorScatterElements, TopK, Tril, Triu,
    Unstack,
)
from .prims.more import (
    ApproximateEqual, BartlettWindow, BatchMatMul, BatchToSpaceND, BlackmanWindow, Cdist, ChannelShuffle,
    Cholesky, Einsum, FillDiagonal, HammingWindow, Histogram, InplaceAdd, InplaceIndexAdd, InplaceSub,
    InplaceUpdate, InsertGradientOf, IsClose, LowerBound, MatMul, MatrixInverse, MatrixPower,
    MatrixSolve, MatrixTriangularSolve, Median, Multinomial, NanToNum, Padding, Pdist, Qr,
    RandomCategorical, RandomShuffle, RandpermV2, Renorm, SearchSorted, SpaceToBatchND, StandardNormal,
    Svd, TrilIndices, TriuIndices, TruncatedNormal, UniformInt, UniformReal, UniqueConsecutive,
    UpperBound,
)
from .prims.plain import (
    Abs, AccumulateNV2, ACos, Acosh, Add, Addcdiv, Addcmul, AddN, Asin, Asinh, Assign, AssignAdd,
    AssignSub, Atan, Atan2, Atanh, BesselI0, BesselI0e, BesselI1, BesselI1e, BitwiseAnd, BitwiseOr,
    BitwiseXor, Cast, Ceil, Complex, ComplexAbs, Conj, ConjugateTranspose, Cos, Cosh, Dense, Depend,
    Diag, DiagPart, Digamma, Div, DivNoNan, DType, EmbeddingLookup, Eps, Equal, Erf, Erfc, Erfinv, Exp,
    ExpandDims, Expm1, Eye, FastGeLU, Fill, Fills, FillV2, Flatten, FloatStatus, Floor, FloorDiv,
    FloorMod, Fmax, Fmin, GatherD, GatherNd, Gcd, GeLU, Ger, Greater, GreaterEqual, Heaviside, HSigmoid,
    HSwish, Hypot, Identity, IdentityN, Igamma, Igammac, Imag, IndexFill, Inv, Invert, InvertPermutation,
    IsFinite, IsInf, IsNan, L2Loss, Lcm, LeftShift, Lerp, Less, LessEqual, Lgamma, LinSpace, Log, Log1p,
    LogicalAnd, LogicalNot, LogicalOr, LogicalXor, LogMatrixDeterminant, MaskedFill, MaskedSelect,
    MatrixBandPart, MatrixDeterminant, MatrixExp, Maximum, Minimum, Mish, Mod, Mul, MulNoNan, Neg,
    NextAfter, NonZero, NotEqual, Ones, OnesLike, Polar, PopulationCount, Pow, PReLU, Print, Rank, Real,
    RealDiv, Reciprocal, ReLU, ReLU6, Reshape, RightShift, Rint, Round, Rsqrt, ScalarCast,
    ScalarToTensor, ScatterNd, SegmentMax, SegmentMean, SegmentMin, SegmentProd, SegmentSum, Select,
    SeLU, Shape, Sigmoid, SigmoidCrossEntropyWithLogits, Sign, SiLU, Sin, Sinc, Sinh, Size, Slice,
    SoftmaxCrossEntropyWithLogits, Softplus, Softsign, Sqrt, Square, SquaredDifference, SquareSumAll,
    StopGradient, Sub, Tan, Tanh, TensorScatterAdd, TensorScatterDiv, TensorScatterMax, TensorScatterMin,
    TensorScatterMul, TensorScatterSub, TensorScatterUpdate, TensorShape, Tile, Trace, Transpose,
    TransposeExtView, TransposeView, Trunc, TruncateDiv, TruncateMod, TupleToArray, Unique,
    UniqueWithPad, UnsortedSegmentMax, UnsortedSegmentMin, UnsortedSegmentProd, UnsortedSegmentSum,
    Xdivy, Xlogy, Zeros, ZerosLike, Zeta,
)
from ..fused import (
    AdamW, FlashAttentionScore, GroupedMatmul, GroupedMatmulV4, MoeTokenPermute, MoeTokenUnpermute,
    RmsNorm, RotaryPositionEmbedding, Swiglu, SwigluGrad, all_gather_matmul, flash_attention_score,
    grouped_matmul, grouped_matmul_v4, lightning_indexer, matmul_reduce_scatter, moe_token_permute,
    moe_token_unpermute, npu_dense_lightning_indexer_grad_kl_loss,
    npu_dense_lightning_indexer_softmax_lse, npu_mhc_post, npu_mhc_pre_sinkhorn,
    npu_sparse_lightning_indexer_grad_kl_loss, rms_norm, rotary_position_embedding,
    sparse_flash_attention, swiglu, swiglu_grad,
)
# fmt: on
