"""Fused kernels of ``hyper_parallel.custom_ops.experimental``.

MindSpore code that asks whether its build has a kernel compares it with None and says at construction that it
is unavailable: those are None here. Those imported without asking raise when they are called. Source:
MindFormers 2.1.0
pynative/transformers/experimental_attention_variant/{csa,indexer,dsa_indexer,dsa_indexer_loss}.py and
pynative/transformers/hyper_connection.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "npu_dense_lightning_indexer_grad_kl_loss",
    "npu_dense_lightning_indexer_softmax_lse",
    "npu_lightning_indexer",
    "npu_mhc_post",
    "npu_mhc_pre_sinkhorn",
    "npu_sparse_flash_mla",
    "npu_sparse_flash_mla_grad",
    "npu_sparse_lightning_indexer_grad_kl_loss",
    "npu_sparse_lightning_indexer_kl_loss_grad",
]

npu_lightning_indexer: Any = None
npu_sparse_flash_mla: Any = None
npu_sparse_flash_mla_grad: Any = None
npu_sparse_lightning_indexer_kl_loss_grad: Any = None


def _missing(name: str) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"hyper_parallel kernel {name}")

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


npu_dense_lightning_indexer_grad_kl_loss = _missing("npu_dense_lightning_indexer_grad_kl_loss")
npu_dense_lightning_indexer_softmax_lse = _missing("npu_dense_lightning_indexer_softmax_lse")
npu_mhc_post = _missing("npu_mhc_post")
npu_mhc_pre_sinkhorn = _missing("npu_mhc_pre_sinkhorn")
npu_sparse_lightning_indexer_grad_kl_loss = _missing("npu_sparse_lightning_indexer_grad_kl_loss")
