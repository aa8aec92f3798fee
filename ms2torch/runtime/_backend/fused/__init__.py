"""Fused operators: MindSpore's signatures on torch, and on torch_npu where the tensors lie on Ascend.

Each is differentiable, returns MindSpore's dtypes and raises NotImplementedError for an argument that it
cannot honour.
"""

from .adamw import AdamW
from .attention import FlashAttentionScore, flash_attention_score
from .grouped import GroupedMatmul, GroupedMatmulV4, grouped_matmul, grouped_matmul_v4
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
    "flash_attention_score",
    "grouped_matmul",
    "grouped_matmul_v4",
    "moe_token_permute",
    "moe_token_unpermute",
    "rms_norm",
    "rotary_position_embedding",
    "swiglu",
    "swiglu_grad",
]
