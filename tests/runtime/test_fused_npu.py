"""The Ascend paths against a double that records how torch_npu is called.

The signatures are those of torch_npu's documentation (op_plugin docs of the wheel).
"""

import inspect

import pytest
import torch

from ms2torch.runtime._backend import fused
from ms2torch.runtime._backend.fused import attention, grouped, moe, norm_act, rotary


class Double:
    """torch_npu: each operator has its documented parameters, so that a wrong call raises TypeError."""

    def __init__(self):
        self.calls = []

    def _record(self, name, **given):
        self.calls.append((name, given))

    def npu_rms_norm(self, x, gamma, epsilon=1e-6):
        self._record("npu_rms_norm", epsilon=epsilon)
        return "y", "rstd"

    def npu_swiglu(self, x, dim=-1):
        self._record("npu_swiglu", dim=dim)
        return "swiglu"

    def npu_swiglu_backward(self, grad_output, x, dim=-1):
        self._record("npu_swiglu_backward", dim=dim)
        return "grad"

    def npu_rotary_mul(self, x, r1, r2, rotary_mode="half", rotate=None):
        self._record("npu_rotary_mul", rotary_mode=rotary_mode)
        return "turned"

    def npu_moe_token_permute(self, tokens, indices, num_out_tokens=None, padded_mode=False):
        self._record("npu_moe_token_permute", dtype=indices.dtype, shape=tuple(indices.shape))
        return "tokens", "map"

    def npu_moe_token_unpermute(
        self, permuted_tokens, sorted_indices, probs=None, padded_mode=False, restore_shape=None
    ):
        self._record("npu_moe_token_unpermute", probs=probs)
        return "tokens"

    def npu_grouped_matmul(
        self, x, weight, *, bias=None, group_list=None, split_item=0, group_type=None, group_list_type=0
    ):
        self._record(
            "npu_grouped_matmul",
            groups=group_list,
            split_item=split_item,
            group_type=group_type,
            kind=group_list_type,
        )
        return ["out"]

    def npu_fusion_attention(
        self, query, key, value, head_num, input_layout, pse=None, padding_mask=None, atten_mask=None,
        scale=1.0, keep_prob=1.0, pre_tockens=2147483647, next_tockens=2147483647, inner_precise=0,
        prefix=None, actual_seq_qlen=None, actual_seq_kvlen=None, sparse_mode=0, gen_mask_parallel=True,
        sync=False, softmax_layout="",
    ):  # fmt: skip
        given = inspect.currentframe().f_locals
        self._record("npu_fusion_attention", **{k: v for k, v in given.items() if k != "self"})
        return "out", "max", "sum", None, 0, 0, 0


@pytest.fixture
def npu(monkeypatch):
    double = Double()
    for module in (attention, grouped, moe, norm_act, rotary):
        monkeypatch.setattr(module, "on_npu", lambda *values: True)
        monkeypatch.setattr(module, "load_torch_npu", lambda: double)
    return double


def test_elementwise_and_norm(npu):
    x = torch.ones(1, 2, 3, 4)
    assert fused.rms_norm(x, torch.ones(4), 1e-5) == ("y", "rstd")
    assert fused.swiglu(x, 2 - 1) == "swiglu"
    assert fused.swiglu_grad(x, x, 1) == "grad"
    assert fused.rotary_position_embedding(x, x, x, 1) == "turned"
    assert npu.calls == [
        ("npu_rms_norm", {"epsilon": 1e-5}),
        ("npu_swiglu", {"dim": 1}),
        ("npu_swiglu_backward", {"dim": 1}),
        ("npu_rotary_mul", {"rotary_mode": "interleave"}),
    ]


def test_tokens(npu):
    tokens = torch.ones(3, 2)
    fused.moe_token_permute(tokens, torch.zeros(3, dtype=torch.int32))
    fused.moe_token_unpermute(tokens, torch.arange(3), None)
    assert npu.calls[0] == ("npu_moe_token_permute", {"dtype": torch.int64, "shape": (3, 1)})
    assert npu.calls[1] == ("npu_moe_token_unpermute", {"probs": None})


def test_grouped(npu):
    x, w = torch.ones(4, 3), torch.ones(2, 3, 5)
    assert fused.grouped_matmul([x], [w], group_list=[1, 4], split_item=3, group_type=0) == ("out",)
    name, given = npu.calls[0]
    assert name == "npu_grouped_matmul" and given["groups"].dtype == torch.int64
    assert (given["split_item"], given["group_type"], given["kind"]) == (3, 0, 0)
    fused.grouped_matmul_v4([x], [w], group_list=[1, 3], split_item=3, group_type=0, group_list_type=1)
    assert npu.calls[1][1]["kind"] == 1
    fused.grouped_matmul([x], [w[0]])
    assert (npu.calls[2][1]["split_item"], npu.calls[2][1]["group_type"]) == (0, -1)


def test_attention(npu):
    q = torch.ones(4, 2, 8)
    op = fused.FlashAttentionScore(2, scale_value=0.5, next_tokens=0, input_layout="TND", sparse_mode=3)
    mask = torch.ones(2048, 2048, dtype=torch.uint8)
    ends = torch.tensor([1, 4])
    assert op(q, q, q, attn_mask=mask, actual_seq_qlen=ends, actual_seq_kvlen=ends) == (
        "max",
        "sum",
        None,
        "out",
    )
    name, given = npu.calls[0]
    assert name == "npu_fusion_attention"
    assert given["head_num"] == 2 and given["input_layout"] == "TND" and given["scale"] == 0.5
    assert given["pre_tockens"] == 2147483647 and given["next_tockens"] == 0 and given["sparse_mode"] == 3
    assert given["actual_seq_qlen"] == given["actual_seq_kvlen"] == [1, 4]
    assert given["atten_mask"].dtype == torch.bool and given["pse"] is None


@pytest.mark.parametrize(("mode", "after"), [(2, 0), (3, 0), (4, 1)])
def test_a_part_of_the_queries_is_a_band(npu, mode, after):
    """The kernel counts from the bottom right of the part: row i of n reaches column i + m - n + next."""
    rows, columns, whole = 2, 8, 6
    op = fused.FlashAttentionScore(1, input_layout="BSND", sparse_mode=mode, next_tokens=after, pre_tokens=3)
    op.part = (1, 3)
    op(
        torch.ones(1, rows, 1, 4),
        torch.ones(1, columns, 1, 4),
        torch.ones(1, columns, 1, 4),
        attn_mask=torch.ones(2048, 2048, dtype=torch.uint8),
    )
    given = npu.calls[-1][1]
    assert given["sparse_mode"] == 4
    for row in range(rows):
        last = row + 2 + (0 if mode == 2 else columns - whole) + after
        assert row + columns - rows + given["next_tockens"] == last
        if mode == 4:
            assert row + columns - rows - given["pre_tockens"] == row + 2 + columns - whole - 3


def test_a_part_takes_its_rows_of_a_mask(npu):
    op = fused.FlashAttentionScore(1, input_layout="BSND")
    op.part = (1, 2)
    mask = torch.ones(4, 4).triu(1)
    op(torch.ones(1, 2, 1, 4), *[torch.ones(1, 4, 1, 4)] * 2, attn_mask=mask)
    assert torch.equal(npu.calls[-1][1]["atten_mask"], mask[2:].bool())
