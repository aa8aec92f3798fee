"""Fused operators: MindSpore's signatures on torch, and on torch_npu where the tensors lie on Ascend.

Each is differentiable, returns MindSpore's dtypes and raises NotImplementedError for an argument that it
cannot honour.
"""

from .adamw import AdamW
from .attention import FlashAttentionScore, flash_attention_score
from .grouped import GroupedMatmul, GroupedMatmulV4, grouped_matmul, grouped_matmul_v4
from .indexer import (
    lightning_indexer,
    npu_dense_lightning_indexer_grad_kl_loss,
    npu_dense_lightning_indexer_softmax_lse,
    npu_sparse_lightning_indexer_grad_kl_loss,
    sparse_flash_attention,
)
from .matmul_comm import all_gather_matmul, matmul_reduce_scatter
from .mhc import npu_mhc_post, npu_mhc_pre_sinkhorn
from .moe import MoeTokenPermute, MoeTokenUnpermute, moe_token_permute, moe_token_unpermute
from .norm_act import RmsNorm, Swiglu, SwigluGrad, rms_norm, swiglu, swiglu_grad
from .rotary import RotaryPositionEmbedding, rotary_position_embedding

__all__ = [
    "AdamW",
    "FlashAttentionScore",
    "GroupedMatmul",
    "GroupedMatmulV4",
    "MoeTokenPermute",
    "MoeTokenUnpermute",
    "RmsNorm",
    "RotaryPositionEmbedding",
    "Swiglu",
    "SwigluGrad",
    "all_gather_matmul",
    "flash_attention_score",
    "grouped_matmul",
    "grouped_matmul_v4",
    "lightning_indexer",
    "matmul_reduce_scatter",
    "moe_token_permute",
    "moe_token_unpermute",
    "npu_dense_lightning_indexer_grad_kl_loss",
    "npu_dense_lightning_indexer_softmax_lse",
    "npu_mhc_post",
    "npu_mhc_pre_sinkhorn",
    "npu_sparse_lightning_indexer_grad_kl_loss",
    "rms_norm",
    "rotary_position_embedding",
    "sparse_flash_attention",
    "swiglu",
    "swiglu_grad",
]
