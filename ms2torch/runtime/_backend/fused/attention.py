"""Flash attention with MindSpore's layouts, mask polarity and sparse modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from . import _part
from ._deferred import deferred
from ._device import host_ints, load_torch_npu, on_npu, refuse, widen
from ._sharded import run_on_shards

__all__ = ["FlashAttentionScore", "flash_attention_score"]

_FAR = _part.FAR
_SEQUENCE = {"BSH": 1, "SBH": 0, "BNSD": 2, "BSND": 1}
_LAYOUTS = ("BSH", "SBH", "BNSD", "BSND", "TND")
# Rows of scores held at a time when the softmax statistics are computed on their own.
_CHUNK = 512


class FlashAttentionScore:
    """``softmax(mask(scale * (real_shift + q k^T))) v``, with the softmax statistics.

    Layouts: BSH [B, S, N*D], SBH, BNSD, BSND, and TND [T, N, D] with cumulative ``actual_seq_qlen`` and
    ``actual_seq_kvlen``. Keys and values may have fewer heads than queries (a divisor), values another head
    size than keys. Half, float32 and float64 inputs; the softmax runs in float32 (float64).

    Mask: 1 drops, 0 keeps; shapes [S1, S2], [B, 1, S1, S2], [B, N, S1, S2]. A row that drops
    everything averages all of V (the kernel fills with a finite value). By ``sparse_mode``:

    - 0: the mask as it is (none: full attention). ``pre_tokens`` and ``next_tokens`` only tell the kernel
      which blocks it may skip and must agree with the mask; they change nothing here.
    - 1: the mask as it is, required.
    - 2 and 3: causal from the top left or the bottom right corner; 4: a band of ``pre_tokens`` and
      ``next_tokens`` around the bottom right diagonal. The kernel takes a 2048 x 2048 triangle whatever the
      lengths; here the mask's content is not read, but it must be given, as there.

    Returns ``(softmax_max, softmax_sum, None, out)``: ``out`` in the query's layout and dtype; the statistics
    float32 [B, N, S1, 8] with the last dimension repeated, without gradient. For TND they have shape
    [T, N, 8] over memory that holds [N, S, 8] for one sequence after another (torch_npu:
    npu_fusion_attention, "NTD").

    ``part`` is ``(index, count)`` where queries are one of count equal parts of the sequence and keys and
    values are whole (context parallelism sets it): sparse modes and masks then mean what they mean for the
    whole, and a mask of all queries may be given. Of ``head_num`` heads a call gets one in ``head_parts``.

    Raises NotImplementedError for dropout (``keep_prob < 1``, ``drop_mask``), ``padding_mask``, ``prefix``,
    compressed ``real_shift``, the layout TH and sparse modes from 5. MindSpore 2.10:
    mindspore.ops.operations.nn_ops.FlashAttentionScore.
    """

    def __init__(
        self,
        head_num: int,
        keep_prob: float = 1.0,
        scale_value: float = 1.0,
        pre_tokens: int = _FAR,
        next_tokens: int = _FAR,
        inner_precise: int = 0,
        input_layout: str = "BSH",
        sparse_mode: int = 0,
    ) -> None:
        if input_layout not in _LAYOUTS:
            raise NotImplementedError(
                f"FlashAttentionScore: input_layout={input_layout!r} (one of {_LAYOUTS})"
            )
        if sparse_mode not in (0, 1, 2, 3, 4):
            raise NotImplementedError(f"FlashAttentionScore: sparse_mode={sparse_mode!r} (only 0 to 4)")
        if keep_prob != 1.0:
            raise NotImplementedError(f"FlashAttentionScore: keep_prob={keep_prob!r} (dropout)")
        self.head_num = head_num
        self.keep_prob = keep_prob
        self.scale_value = scale_value
        self.pre_tokens = pre_tokens
        self.next_tokens = next_tokens
        self.inner_precise = inner_precise
        self.input_layout = input_layout
        self.sparse_mode = sparse_mode
        self.part = _part.WHOLE
        self.head_parts = 1

    def __call__(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        real_shift: torch.Tensor | None = None,
        drop_mask: torch.Tensor | None = None,
        padding_mask: torch.Tensor | None = None,
        attn_mask: torch.Tensor | None = None,
        prefix: Any = None,
        actual_seq_qlen: Any = None,
        actual_seq_kvlen: Any = None,
    ) -> tuple[torch.Tensor, torch.Tensor, None, torch.Tensor]:
        refuse("FlashAttentionScore", drop_mask=drop_mask, padding_mask=padding_mask, prefix=prefix)
        if self.sparse_mode and attn_mask is None:
            raise ValueError(f"FlashAttentionScore: sparse_mode={self.sparse_mode} needs attn_mask")
        q_ends, k_ends = host_ints(actual_seq_qlen), host_ints(actual_seq_kvlen)

        def run(
            q: torch.Tensor,
            k: torch.Tensor,
            v: torch.Tensor,
            shift: torch.Tensor | None,
            mask: torch.Tensor | None,
            heads: int,
        ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
            if on_npu(q):
                return self._npu(q, k, v, shift, mask, heads, q_ends, k_ends)
            if self.input_layout == "TND":
                return self._packed(q, k, v, shift, mask, q_ends, k_ends)
            return self._dense(q, k, v, shift, mask, heads)

        biggest, total, out = run_on_shards(
            run, query, key, value, real_shift, attn_mask, self.input_layout, self.head_num // self.head_parts
        )
        return biggest, total, None, out

    def _npu(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        shift: torch.Tensor | None,
        mask: torch.Tensor | None,
        heads: int,
        q_ends: list[int] | None,
        k_ends: list[int] | None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        torch_npu = load_torch_npu()
        mode, before, after = self.sparse_mode, self.pre_tokens, self.next_tokens
        if self.input_layout == "TND":
            if q_ends is not None and k_ends is not None:
                q_ends, k_ends = _part.lengths(mode, mask is not None, q_ends, k_ends, q.shape[0], self.part)
        elif self.part != _part.WHOLE:
            rows, columns = (t.shape[_SEQUENCE[self.input_layout]] for t in (q, k))
            if mask is not None and mode <= 1:
                mask = self._drop(mask, rows, columns, self.part)
            mode, before, after = _part.band(mode, rows, columns, self.part, before, after)
        out, biggest, total = torch_npu.npu_fusion_attention(
            q,
            k,
            v,
            heads,
            self.input_layout,
            pse=shift,
            padding_mask=None,
            atten_mask=mask if mask is None else mask.to(torch.bool),
            scale=self.scale_value,
            keep_prob=1.0,
            pre_tockens=before,
            next_tockens=after,
            inner_precise=self.inner_precise,
            actual_seq_qlen=q_ends,
            actual_seq_kvlen=k_ends,
            sparse_mode=mode,
        )[:3]
        return biggest, total, out

    def _dense(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        shift: torch.Tensor | None,
        mask: torch.Tensor | None,
        heads: int,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        layout = self.input_layout
        q4 = _to_bnsd(q, layout, heads)
        size = q4.shape[-1]
        kv_heads = k.shape[-1] // size if layout in ("BSH", "SBH") else 0
        k4, v4 = _to_bnsd(k, layout, kv_heads), _to_bnsd(v, layout, kv_heads)
        if heads % k4.shape[1] or q4.shape[1] != heads:
            raise ValueError(f"FlashAttentionScore: {heads} query heads over {k4.shape[1]} key heads")
        drop = None if mask is None else self._drop(mask, q4.shape[2], k4.shape[2], self.part)
        out = self._attend(q4, k4, v4, shift, drop)
        biggest, total = _statistics(q4, k4, shift, drop, self.scale_value)
        return biggest, total, _from_bnsd(out, layout)

    def _packed(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        shift: torch.Tensor | None,
        mask: torch.Tensor | None,
        q_ends: list[int] | None,
        k_ends: list[int] | None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        refuse("FlashAttentionScore with TND", real_shift=shift)
        if q_ends is None or k_ends is None or len(q_ends) != len(k_ends):
            raise ValueError(
                "FlashAttentionScore: TND needs actual_seq_qlen and actual_seq_kvlen of one length"
            )
        q_ends, k_ends = _part.lengths(
            self.sparse_mode, mask is not None, q_ends, k_ends, q.shape[0], self.part
        )
        outs: list[torch.Tensor] = []
        stats: list[tuple[torch.Tensor, torch.Tensor]] = []
        q_start = k_start = 0
        for q_end, k_end in zip(q_ends, k_ends, strict=True):
            if q_end <= q_start:  # an empty sequence, or the zeros that end a padded list
                k_start = max(k_start, k_end)
                continue
            q4, k4, v4 = (
                t[start:end].transpose(0, 1).unsqueeze(0)
                for t, start, end in ((q, q_start, q_end), (k, k_start, k_end), (v, k_start, k_end))
            )
            # The lengths place a part's queries: from the bottom right of what each has of a sequence.
            drop = None if mask is None else self._drop(mask, q4.shape[2], k4.shape[2], _part.WHOLE)
            outs.append(self._attend(q4, k4, v4, None, drop).squeeze(0).transpose(0, 1))
            stats.append(_statistics(q4, k4, None, drop, self.scale_value))
            q_start, k_start = q_end, k_end
        rest = q.shape[0] - q_start
        if rest < 0:
            raise ValueError(f"FlashAttentionScore: actual_seq_qlen ends at {q_start} of {q.shape[0]} rows")
        if rest:
            outs.append(q.new_zeros(rest, q.shape[1], v.shape[-1]))

        def gather(which: int) -> torch.Tensor:
            parts = [pair[which].reshape(-1, 8) for pair in stats]
            parts.append(torch.zeros(rest * q.shape[1], 8, dtype=torch.float32, device=q.device))
            return torch.cat(parts).reshape(q.shape[0], q.shape[1], 8)

        shape = (q.shape[0], q.shape[1], 8)
        biggest, total = (
            deferred(shape, torch.float32, q.device, make) for make in (lambda: gather(0), lambda: gather(1))
        )
        return biggest, total, torch.cat(outs)

    def _drop(self, mask: torch.Tensor, rows: int, columns: int, part: _part.Part) -> torch.Tensor:
        return _part.drop(self.sparse_mode, mask, rows, columns, part, self.pre_tokens, self.next_tokens)

    def _attend(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        shift: torch.Tensor | None,
        drop: torch.Tensor | None,
    ) -> torch.Tensor:
        if q.shape[1] != k.shape[1]:
            k, v = (_spread_heads(t, q.shape[1]) for t in (k, v))
        square = q.shape[2] == k.shape[2]
        start = self.part[0] == 0 or self.input_layout == "TND"
        causal = drop is not None and (
            (self.sparse_mode == 2 and start) or (self.sparse_mode == 3 and square)
        )
        if shift is None and (drop is None or causal):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=self.scale_value)
        bias = None if shift is None else _scaled_shift(q, k, shift, self.scale_value)
        if drop is not None:
            # A row that drops everything weighs all of V alike and sends nothing back to q and k. A large
            # negative bias does not do that (in float16 the scores still show; in any dtype the logarithm of
            # the sum is lost beside it, and with it the gradient of v). A query of zeros without mask does.
            empty = drop.all(-1, keepdim=True)
            q = q.masked_fill(empty, 0)
            drop = drop & ~empty
            bias = ~drop if bias is None else bias.masked_fill(drop, float("-inf")).masked_fill(empty, 0)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=self.scale_value)


def flash_attention_score(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    head_num: int,
    real_shift: torch.Tensor | None = None,
    drop_mask: torch.Tensor | None = None,
    padding_mask: torch.Tensor | None = None,
    attn_mask: torch.Tensor | None = None,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    keep_prob: float = 1.0,
    scalar_value: float = 1.0,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
    inner_precise: int = 0,
    input_layout: str = "BSH",
    sparse_mode: int = 0,
) -> torch.Tensor:
    """The attention output of :class:`FlashAttentionScore` alone.

    MindSpore 2.10: mindspore.ops.flash_attention_score.
    """
    prim = FlashAttentionScore(
        head_num, keep_prob, scalar_value, pre_tokens, next_tokens, inner_precise, input_layout, sparse_mode
    )
    return prim(
        query,
        key,
        value,
        real_shift,
        drop_mask,
        padding_mask,
        attn_mask,
        prefix,
        actual_seq_qlen,
        actual_seq_kvlen,
    )[3]


def _to_bnsd(x: torch.Tensor, layout: str, heads: int) -> torch.Tensor:
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    split = x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads)
    return split.transpose(1, 2) if layout == "BSH" else split.permute(1, 2, 0, 3)


def _from_bnsd(x: torch.Tensor, layout: str) -> torch.Tensor:
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    moved = x.transpose(1, 2) if layout == "BSH" else x.permute(2, 0, 1, 3)
    return moved.flatten(2)


def _spread_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """Each key head for its group of query heads; without a copy where there is one key head."""
    wide = x.unsqueeze(2).expand(-1, -1, heads // x.shape[1], -1, -1)
    return wide.reshape(x.shape[0], heads, *x.shape[2:])


def _scaled_shift(q: torch.Tensor, k: torch.Tensor, shift: torch.Tensor, scale: float) -> torch.Tensor:
    """``scale * real_shift``: the kernel adds it before it scales."""
    if shift.ndim != 4 or shift.shape[2] not in (1, q.shape[2]) or shift.shape[3] != k.shape[2]:
        raise NotImplementedError(
            f"FlashAttentionScore: real_shift of shape {tuple(shift.shape)} (compressed)"
        )
    return shift.to(q.dtype) * scale


def _statistics(
    q: torch.Tensor, k: torch.Tensor, shift: torch.Tensor | None, drop: torch.Tensor | None, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Row maxima of the masked scores and sums of their shifted exponentials, float32 [B, N, S1, 8]."""
    found: list[tuple[torch.Tensor, torch.Tensor]] = []
    q, k = q.detach(), k.detach()

    def both() -> tuple[torch.Tensor, torch.Tensor]:
        if not found:
            found.append(_row_statistics(q, k, shift, drop, scale))
        return found[0]

    def make(which: int) -> Callable[[], torch.Tensor]:
        return lambda: both()[which].unsqueeze(-1).repeat(1, 1, 1, 8)

    shape = (*q.shape[:3], 8)
    return deferred(shape, torch.float32, q.device, make(0)), deferred(
        shape, torch.float32, q.device, make(1)
    )


def _row_statistics(
    q: torch.Tensor, k: torch.Tensor, shift: torch.Tensor | None, drop: torch.Tensor | None, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    if q.shape[1] != k.shape[1]:
        k = _spread_heads(k, q.shape[1])
    keys = widen(k).transpose(-1, -2)
    maxima, sums = [], []
    for start in range(0, q.shape[2], _CHUNK):
        rows = slice(start, start + _CHUNK)

        def part(t: torch.Tensor, rows: slice = rows) -> torch.Tensor:
            return t if t.shape[-2] == 1 else t[..., rows, :]

        scores = widen(q[:, :, rows]) @ keys
        if shift is not None:
            scores = scores + part(widen(shift))
        scores = scores * scale
        if drop is not None:
            scores = scores.masked_fill(part(drop), torch.finfo(torch.float32).min)
        top = scores.amax(-1)
        maxima.append(top.float())
        sums.append((scores - top.unsqueeze(-1)).exp().sum(-1).float())
    return torch.cat(maxima, 2), torch.cat(sums, 2)
