"""Fused kernels of ``hyper_parallel.custom_ops.experimental`` that have no counterpart here.

They are None: the code that uses them asks whether its build has them, and says at construction that it has
not. Source: MindFormers 2.0.0 and 2.1.0 pynative/transformers/experimental_attention_variant/csa.py and
indexer.py.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "npu_lightning_indexer",
    "npu_lightning_indexer_v2",
    "npu_sparse_attn_shared_kv",
    "npu_sparse_flash_mla",
    "npu_sparse_flash_mla_grad",
    "npu_sparse_lightning_indexer_grad_kl_loss_v2",
    "npu_sparse_lightning_indexer_kl_loss_grad",
]

npu_lightning_indexer: Any = None
npu_lightning_indexer_v2: Any = None
npu_sparse_attn_shared_kv: Any = None
npu_sparse_flash_mla: Any = None
npu_sparse_flash_mla_grad: Any = None
npu_sparse_lightning_indexer_grad_kl_loss_v2: Any = None
npu_sparse_lightning_indexer_kl_loss_grad: Any = None
