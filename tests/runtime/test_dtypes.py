"""Names, families and conversions of dtypes; expectations were read from MindSpore 2.10."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import dtypes


def test_names():
    assert dtypes.dtype_name(torch.float32) == "Float32"
    assert dtypes.dtype_name(torch.bfloat16) == "BFloat16"
    assert dtypes.dtype_name(torch.bool) == "Bool"
    assert dtypes.dtype_name(torch.uint16) == "UInt16"
    with pytest.raises(TypeError):
        dtypes.dtype_name(torch.qint8)


@pytest.mark.parametrize("dtype", dtypes.all_types)
def test_names_both_ways(dtype):
    name = dtypes.dtype_name(dtype)
    assert (
        dtypes.by_name(name)
        == dtypes.by_name(name.lower())
        == dtypes.by_name(f"mindspore.{name.lower()}")
        == dtype
    )
    assert dtypes.by_name(str(dtype)) == dtype


def test_unknown_name():
    with pytest.raises(TypeError, match="hifloat"):
        dtypes.by_name("hifloat8")


@pytest.mark.parametrize(
    ("family", "inside", "outside"),
    [
        (dtypes.Float, [torch.float16, torch.bfloat16, torch.float64], [torch.int8, torch.bool, "float32"]),
        (dtypes.Int, [torch.int8, torch.int64], [torch.uint8, torch.bool, torch.float32]),
        (dtypes.UInt, [torch.uint8, torch.uint64], [torch.int8]),
        (dtypes.Complex, [torch.complex64], [torch.float32]),
        (dtypes.Bool, [torch.bool], [torch.int8]),
        (dtypes.Number, [torch.bool, torch.int8, torch.complex64], [None, 1]),
    ],
)
def test_families(family, inside, outside):
    assert all(isinstance(each, family) for each in inside)
    assert not any(isinstance(each, family) for each in outside)
    assert all(dtypes.issubclass_(each, family) for each in inside)


def test_conversions():
    assert dtypes.dtype_to_nptype(torch.float32) is np.float32
    assert dtypes.dtype_to_nptype(torch.bool) is np.bool_
    assert dtypes.dtype_to_nptype(torch.uint16) is np.uint16
    assert dtypes.dtype_to_pytype(torch.bfloat16) is float
    assert dtypes.dtype_to_pytype(torch.int8) is int
    assert dtypes.dtype_to_pytype(torch.bool) is bool
    assert dtypes.dtype_to_pytype(torch.complex64) is complex
    assert dtypes.pytype_to_dtype(int) == torch.int64
    assert dtypes.pytype_to_dtype(float) == torch.float64
    assert dtypes.pytype_to_dtype(bool) == torch.bool
    assert dtypes.pytype_to_dtype(complex) == torch.complex128
    assert dtypes.pytype_to_dtype(np.float16) == torch.float16
    assert dtypes.pytype_to_dtype(torch.int8) == torch.int8
    with pytest.raises(NotImplementedError):
        dtypes.pytype_to_dtype(dict)
    assert dtypes.get_py_obj_dtype(1) == dtypes.get_py_obj_dtype(int) == torch.int64
    assert dtypes.get_py_obj_dtype(1.0) == torch.float64
    assert dtypes.get_py_obj_dtype(torch.ones(1)) == torch.float32


def test_module_stands_for_mindspore_dtype():
    assert getattr(dtypes, "float32") is torch.float32  # noqa: B009
    assert dtypes.half is torch.float16 and dtypes.bool_ is torch.bool and dtypes.intc is torch.int32


def test_a_dtype_torch_lacks_is_refused():
    with pytest.raises(TypeError):
        torch.ones(1, dtype=dtypes.hifloat8)
