"""DeepSeek sparse attention: the lightning indexer, attention over what it picks, and its training loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ._device import host_ints, refuse, widen
from .attention import FlashAttentionScore

__all__ = [
    "lightning_indexer",
    "npu_dense_lightning_indexer_grad_kl_loss",
    "npu_dense_lightning_indexer_softmax_lse",
    "npu_sparse_lightning_indexer_grad_kl_loss",
    "sparse_flash_attention",
]

_FAR = 2**63 - 1
# What stands in place of a probability's logarithm where the probability is 0.
_TINY = 1e-12


def _sequences(op: str, layout: str, rows: int, q_ends: Any, k_ends: Any) -> Iterator[tuple[Any, Any]]:
    """Slices of queries and keys that belong together: a batch each for BSND, a packed sequence for TND."""
    if layout == "BSND":
        refuse(op, actual_seq_qlen_with_BSND=q_ends, actual_seq_klen_with_BSND=k_ends)
        yield from ((b, b) for b in range(rows))
        return
    if layout != "TND":
        raise NotImplementedError(f"{op}: layout {layout!r} (only BSND and TND)")
    ends, key_ends = host_ints(q_ends), host_ints(k_ends)
    if ends is None or key_ends is None:
        raise ValueError(f"{op}: TND needs the cumulative lengths of queries and keys")
    start = key_start = 0
    for end, key_end in zip(ends, key_ends, strict=True):
        yield slice(start, end), slice(key_start, key_end)
        start, key_start = end, key_end


def _unseen(rows: int, columns: int, sparse_mode: int, device: torch.device) -> torch.Tensor:
    """Which keys a query must not see: none (mode 0), or those behind the bottom right diagonal (mode 3)."""
    if sparse_mode == 0:
        return torch.zeros(rows, columns, dtype=torch.bool, device=device)
    return torch.ones(rows, columns, dtype=torch.bool, device=device).triu(1 + columns - rows)


def _check_mode(op: str, sparse_mode: int, pre_tokens: int, next_tokens: int) -> None:
    if sparse_mode not in (0, 3):
        raise NotImplementedError(f"{op}: sparse_mode={sparse_mode} (only 0 and 3)")
    if sparse_mode == 0 and (pre_tokens < 2**31 - 1 or next_tokens < 2**31 - 1):
        raise NotImplementedError(f"{op}: pre_tokens and next_tokens")


def _scores(query: torch.Tensor, key: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Index scores [S1, S2] of [S1, N, D] and [S2, 1, D]: ``weights * relu(q k^T)`` summed over heads."""
    if key.shape[1] != 1:
        raise NotImplementedError(f"lightning indexer: {key.shape[1]} key heads (only 1)")
    products = torch.relu(torch.einsum("snd,td->snt", widen(query), widen(key[:, 0])))
    return torch.einsum("snt,sn->st", products, widen(weights))


def lightning_indexer(
    query: torch.Tensor,
    key: torch.Tensor,
    weights: torch.Tensor,
    *,
    actual_seq_lengths_query: Any = None,
    actual_seq_lengths_key: Any = None,
    block_table: Any = None,
    layout_query: str = "BSND",
    layout_key: str = "BSND",
    sparse_count: int = 2048,
    sparse_mode: int = 3,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
    return_value: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The ``sparse_count`` keys with the highest index score for each query.

    Query [B, S1, N, D] or [T1, N, D], key with one head, weights [B, S1, N] or [T1, N]. Returns the indices
    (int32, within the sequence, best first, -1 behind the last one that the query may see) and their scores
    in the query's dtype (-inf there), [B, S1, 1, sparse_count] or [T1, 1, sparse_count]; without
    ``return_value`` the scores are empty.

    Raises NotImplementedError for paged keys and sparse modes but 0 and 3.
    MindSpore 2.10: mindspore.ops.lightning_indexer.
    """
    refuse("lightning_indexer", block_table=block_table)
    _check_mode("lightning_indexer", sparse_mode, pre_tokens, next_tokens)
    if layout_key != layout_query:
        raise NotImplementedError(
            f"lightning_indexer: layout_key={layout_key!r} with {layout_query!r} queries"
        )
    shape = (*query.shape[:-2], 1, sparse_count)
    indices = torch.full(shape, -1, dtype=torch.int32, device=query.device)
    parts: list[torch.Tensor] = []
    pairs = _sequences(
        "lightning_indexer", layout_query, query.shape[0], actual_seq_lengths_query, actual_seq_lengths_key
    )
    for rows, columns in pairs:
        scores = _scores(query[rows], key[columns], weights[rows])
        drop = _unseen(scores.shape[0], scores.shape[1], sparse_mode, scores.device)
        best, places = scores.masked_fill(drop, float("-inf")).topk(min(sparse_count, scores.shape[1]), -1)
        places = places.masked_fill(best == float("-inf"), -1)
        indices[rows][..., 0, : places.shape[1]] = places.to(torch.int32)
        missing = sparse_count - best.shape[1]
        parts.append(torch.nn.functional.pad(best, (0, missing), value=float("-inf")).to(query.dtype))
    if not return_value:
        return indices, query.new_empty(0)
    values = torch.stack(parts) if layout_query == "BSND" else torch.cat(parts)
    return indices, values.unsqueeze(-2)


def sparse_flash_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sparse_indices: torch.Tensor,
    scale_value: float,
    *,
    block_table: Any = None,
    actual_seq_lengths_query: Any = None,
    actual_seq_lengths_kv: Any = None,
    query_rope: torch.Tensor | None = None,
    key_rope: torch.Tensor | None = None,
    sparse_block_size: int = 1,
    layout_query: str = "BSND",
    layout_kv: str = "BSND",
    sparse_mode: int = 3,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
    attention_mode: int = 0,
    return_softmax_lse: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Attention of each query to the keys that ``sparse_indices`` [.., S1, 1, K] name (distinct; -1: none).

    Keys have one head. The rope parts, where given, join queries and keys in the scores. Returns the output
    in the query's shape and dtype, and the softmax maxima and sums, float32 [B, 1, S1, N] or [1, T1, N]
    (empty without ``return_softmax_lse``). Differentiable in queries, keys, values and rope parts.

    Raises NotImplementedError for paged keys, blocks, sparse modes but 0 and 3, attention modes but 0 and 2.
    MindSpore 2.10: mindspore.ops.sparse_flash_attention.
    """
    op = "sparse_flash_attention"
    refuse(
        op, block_table=block_table, sparse_block_size=None if sparse_block_size == 1 else sparse_block_size
    )
    _check_mode(op, sparse_mode, pre_tokens, next_tokens)
    if layout_kv != layout_query or attention_mode not in (0, 2) or key.shape[-2] != 1:
        raise NotImplementedError(
            f"{op}: layout_kv={layout_kv!r}, attention_mode={attention_mode}, {key.shape[-2]} key heads"
        )
    if query_rope is not None and key_rope is not None:
        query, key = torch.cat((query, query_rope), -1), torch.cat((key, key_rope), -1)
    attend = FlashAttentionScore(query.shape[-2], scale_value=scale_value, input_layout="BSND", sparse_mode=1)
    outs, maxima, sums = [], [], []
    pairs = _sequences(op, layout_query, query.shape[0], actual_seq_lengths_query, actual_seq_lengths_kv)
    for rows, columns in pairs:
        q, k, v = query[rows].unsqueeze(0), key[columns].unsqueeze(0), value[columns].unsqueeze(0)
        drop = _not_picked(sparse_indices[rows].squeeze(-2), k.shape[1], sparse_mode)
        top, total, _, out = attend(q, k, v, attn_mask=drop)
        outs.append(out.squeeze(0))
        if return_softmax_lse:
            maxima.append(top[0, :, :, 0].transpose(0, 1))
            sums.append(total[0, :, :, 0].transpose(0, 1))
    dense = layout_query == "BSND"
    out = torch.stack(outs) if dense else torch.cat(outs)
    if not return_softmax_lse:
        nothing = torch.empty(0, dtype=torch.float32, device=query.device)
        return out, nothing, nothing
    if dense:
        return out, torch.stack(maxima).unsqueeze(1), torch.stack(sums).unsqueeze(1)
    return out, torch.cat(maxima).unsqueeze(0), torch.cat(sums).unsqueeze(0)


def _not_picked(indices: torch.Tensor, columns: int, sparse_mode: int) -> torch.Tensor:
    """The mask [S1, S2] that drops every key but those of the indices [S1, K], and those no query may see."""
    rows = indices.shape[0]
    # -1 lands in a column of its own behind the last key.
    places = torch.where(indices < 0, columns, indices).long()
    drop = torch.ones(rows, columns + 1, dtype=torch.bool, device=indices.device)
    drop = drop.scatter(1, places, False)[:, :columns]
    return drop | _unseen(rows, columns, sparse_mode, indices.device)


def npu_dense_lightning_indexer_softmax_lse(
    query_index: torch.Tensor,
    key_index: torch.Tensor,
    weights: torch.Tensor,
    *,
    actual_seq_qlen: Any = None,
    actual_seq_klen: Any = None,
    layout: str = "BSND",
    sparse_mode: int = 3,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Row maxima and sums of the softmax over the index scores, float32 [B, 1, S1] or [1, T1].

    Source: torch_npu's npu_dense_lightning_indexer_softmax_lse.
    """
    op = "npu_dense_lightning_indexer_softmax_lse"
    _check_mode(op, sparse_mode, pre_tokens, next_tokens)
    maxima, sums = [], []
    with torch.no_grad():
        for rows, columns in _sequences(op, layout, query_index.shape[0], actual_seq_qlen, actual_seq_klen):
            scores = _scores(query_index[rows], key_index[columns], weights[rows])
            scores = scores.masked_fill(
                _unseen(scores.shape[0], scores.shape[1], sparse_mode, scores.device), float("-inf")
            )
            maxima.append(scores.amax(-1))
            sums.append((scores - scores.amax(-1, keepdim=True)).exp().sum(-1))
    if layout == "BSND":
        return torch.stack(maxima).unsqueeze(1), torch.stack(sums).unsqueeze(1)
    return torch.cat(maxima).unsqueeze(0), torch.cat(sums).unsqueeze(0)


def _kl_loss(
    op: str,
    query: torch.Tensor,
    key: torch.Tensor,
    query_index: torch.Tensor,
    key_index: torch.Tensor,
    weights: torch.Tensor,
    picked: torch.Tensor | None,
    softmax_max: torch.Tensor,
    softmax_sum: torch.Tensor,
    scale: float,
    query_rope: torch.Tensor | None,
    key_rope: torch.Tensor | None,
    q_ends: Any,
    k_ends: Any,
    layout: str,
    sparse_mode: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    if query_rope is not None and key_rope is not None:
        query, key = torch.cat((query, query_rope), -1), torch.cat((key, key_rope), -1)
    heads = query.shape[-2]
    if layout == "BSND":  # statistics [B, N2, S1, G] -> [B, S1, N]
        tops, totals = (t.transpose(1, 2).flatten(2) for t in (softmax_max, softmax_sum))
    else:
        tops, totals = (t.transpose(0, 1).flatten(1) for t in (softmax_max, softmax_sum))
    leaves = [t.detach().requires_grad_() for t in (query_index, key_index, weights)]
    loss = torch.zeros(1, dtype=torch.float32, device=query.device)
    # A graph of its own, used up right here: an enclosing checkpoint must neither drop nor count its tensors.
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        for rows, columns in _sequences(op, layout, query.shape[0], q_ends, k_ends):
            with torch.no_grad():
                k = widen(key[columns]).repeat_interleave(heads // key.shape[-2], -2)
                logits = torch.einsum("snd,tnd->snt", widen(query[rows]), k) * scale
                chance = (logits - tops[rows].unsqueeze(-1)).exp() / totals[rows].unsqueeze(-1)
                count = key[columns].shape[0]
                if picked is None:
                    drop = _unseen(chance.shape[0], count, sparse_mode, query.device)
                else:
                    drop = _not_picked(picked[rows].reshape(chance.shape[0], -1), count, sparse_mode)
                target = chance.sum(1).masked_fill(drop, 0)
                target = target / target.sum(-1, keepdim=True).clamp_min(_TINY)
            scores = _scores(leaves[0][rows], leaves[1][columns], leaves[2][rows])
            # A large finite value: a query that sees nothing must not turn the loss into NaN.
            predicted = torch.log_softmax(scores.masked_fill(drop, torch.finfo(scores.dtype).min), -1)
            terms = target * (target.clamp_min(_TINY).log() - predicted)
            loss = loss + terms.masked_fill(drop, 0).sum()
        grads = torch.autograd.grad(loss, leaves, allow_unused=True)
    found = [torch.zeros_like(t) if g is None else g for t, g in zip(leaves, grads, strict=True)]
    return found[0], found[1], found[2], loss.detach()


def npu_dense_lightning_indexer_grad_kl_loss(
    query: torch.Tensor,
    key: torch.Tensor,
    query_index: torch.Tensor,
    key_index: torch.Tensor,
    weights: torch.Tensor,
    softmax_max: torch.Tensor,
    softmax_sum: torch.Tensor,
    softmax_max_index: torch.Tensor,
    softmax_sum_index: torch.Tensor,
    scale_value: float,
    *,
    query_rope: torch.Tensor | None = None,
    key_rope: torch.Tensor | None = None,
    actual_seq_qlen: Any = None,
    actual_seq_klen: Any = None,
    layout: str = "BSND",
    sparse_mode: int = 3,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of the indexer's loss with respect to its queries, keys and weights, and the loss [1].

    The loss is the sum over queries of KL(p || softmax(index scores)), where p is the attention probability
    summed over heads and normalised (DeepSeek-V3.2, the dense warm-up stage). The attention statistics are
    those of the attention operator, [B, N2, S1, G] or [N2, T1, G]; the indexer's own are recomputed here.

    Source: torch_npu's npu_dense_lightning_indexer_grad_kl_loss.
    """
    del softmax_max_index, softmax_sum_index
    op = "npu_dense_lightning_indexer_grad_kl_loss"
    _check_mode(op, sparse_mode, pre_tokens, next_tokens)
    return _kl_loss(
        op, query, key, query_index, key_index, weights, None, softmax_max, softmax_sum, scale_value,
        query_rope, key_rope, actual_seq_qlen, actual_seq_klen, layout, sparse_mode,
    )  # fmt: skip


def npu_sparse_lightning_indexer_grad_kl_loss(
    query: torch.Tensor,
    key: torch.Tensor,
    query_index: torch.Tensor,
    key_index: torch.Tensor,
    weights: torch.Tensor,
    sparse_indices: torch.Tensor,
    softmax_max: torch.Tensor,
    softmax_sum: torch.Tensor,
    scale_value: float,
    *,
    query_rope: torch.Tensor | None = None,
    key_rope: torch.Tensor | None = None,
    actual_seq_qlen: Any = None,
    actual_seq_klen: Any = None,
    layout: str = "BSND",
    sparse_mode: int = 3,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """:func:`npu_dense_lightning_indexer_grad_kl_loss` over the picked keys alone (``sparse_indices``
    [.., S1, 1, K], -1 for none): both distributions are taken over those.

    Source: torch_npu's npu_sparse_lightning_indexer_grad_kl_loss; DeepSeek-V3.2, the sparse stage.
    """
    op = "npu_sparse_lightning_indexer_grad_kl_loss"
    _check_mode(op, sparse_mode, pre_tokens, next_tokens)
    return _kl_loss(
        op, query, key, query_index, key_index, weights, sparse_indices, softmax_max, softmax_sum,
        scale_value, query_rope, key_rope, actual_seq_qlen, actual_seq_klen, layout, sparse_mode,
    )  # fmt: skip
