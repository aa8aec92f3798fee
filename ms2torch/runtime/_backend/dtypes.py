"""MindSpore's dtypes: each is a plain ``torch.dtype``; here are their names, families and conversions.

The module stands for ``mindspore.dtype`` itself, so that ``getattr(_backend.dtypes, "float32")`` works.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

bool_ = torch.bool
int8, int16, int32, int64 = torch.int8, torch.int16, torch.int32, torch.int64
uint8 = torch.uint8
uint16, uint32, uint64 = torch.uint16, torch.uint32, torch.uint64
float16, float32, float64, bfloat16 = torch.float16, torch.float32, torch.float64, torch.bfloat16
complex64, complex128 = torch.complex64, torch.complex128
half, single, double = float16, float32, float64
byte, short, intc, intp, long = int8, int16, int32, int64, int64
ubyte, ushort, uintc, uintp = uint8, uint16, uint32, uint64
cfloat, cdouble = complex64, complex128
float8_e4m3fn = getattr(torch, "float8_e4m3fn", None)
float8_e5m2 = getattr(torch, "float8_e5m2", None)


class _NoTorchDtype:
    """A MindSpore dtype that this torch does not have. A name only: torch refuses it wherever a dtype goes
    (None in its place would silently mean the default dtype)."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<no torch dtype for mindspore.{self.name}>"


qint4x2: Any = getattr(torch, "int4", None) or _NoTorchDtype("qint4x2")
hifloat8: Any = _NoTorchDtype("hifloat8")

_NAMES: dict[torch.dtype, str] = {
    bool_: "Bool",
    int8: "Int8",
    int16: "Int16",
    int32: "Int32",
    int64: "Int64",
    uint8: "UInt8",
    uint16: "UInt16",
    uint32: "UInt32",
    uint64: "UInt64",
    float16: "Float16",
    float32: "Float32",
    float64: "Float64",
    bfloat16: "BFloat16",
    complex64: "Complex64",
    complex128: "Complex128",
}
if float8_e4m3fn is not None:
    _NAMES[float8_e4m3fn] = "Float8E4M3FN"
if float8_e5m2 is not None:
    _NAMES[float8_e5m2] = "Float8E5M2"

all_types: tuple[torch.dtype, ...] = tuple(_NAMES)
float_type = tuple(t for t in all_types if t.is_floating_point)
complex_types = tuple(t for t in all_types if t.is_complex)
uint_type = (uint8, uint16, uint32, uint64)
int_type = (int8, int16, int32, int64)
signed_type = (*int_type, *float_type, *complex_types)
number_type = (*int_type, *uint_type, *float_type, *complex_types)

_BY_NAME = {name.lower(): dtype for dtype, name in _NAMES.items()}
_PYTHON = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
# Through torch itself, so that no table of ours can disagree with it.
_NUMPY = {
    dtype: torch.empty(0, dtype=dtype).numpy().dtype.type
    for dtype in all_types
    if dtype not in (bfloat16, float8_e4m3fn, float8_e5m2)
}


class _Family(type):
    """Metaclass of the dtype families: ``isinstance(torch.float32, Float)`` holds."""

    members: tuple[torch.dtype, ...]

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, torch.dtype) and instance in cls.members


class Float(metaclass=_Family):
    """The floating-point dtypes (``mindspore.common.dtype.Float``)."""

    members = float_type


class Int(metaclass=_Family):
    """The signed integer dtypes (``mindspore.common.dtype.Int``)."""

    members = int_type


class UInt(metaclass=_Family):
    """The unsigned integer dtypes (``mindspore.common.dtype.UInt``)."""

    members = uint_type


class Complex(metaclass=_Family):
    """The complex dtypes (``mindspore.common.dtype.Complex``)."""

    members = complex_types


class Bool(metaclass=_Family):
    """The boolean dtype (``mindspore.common.dtype.Bool``)."""

    members = (bool_,)


class Number(metaclass=_Family):
    """Every dtype of numbers, booleans included (``mindspore.common.dtype.Number``)."""

    members = (bool_, *number_type)


def dtype_name(dtype: torch.dtype) -> str:
    """What MindSpore prints for a dtype: ``Float32``, ``BFloat16``, ``Bool``. Checkpoint metadata holds it.
    Raises TypeError for a dtype that MindSpore does not have."""
    if dtype not in _NAMES:
        raise TypeError(f"MindSpore has no name for {dtype}")
    return _NAMES[dtype]


def by_name(name: str) -> torch.dtype:
    """The dtype of a name in any spelling: ``Float32``, ``float32``, ``mindspore.float32``.
    Raises TypeError for an unknown one."""
    key = name.rsplit(".", 1)[-1].lower().replace("_", "")  # float8_e5m2 is Float8E5M2
    if key not in _BY_NAME:
        raise TypeError(f"unknown dtype name {name!r}")
    return _BY_NAME[key]


def dtype_to_nptype(type_: torch.dtype) -> Any:
    """The numpy scalar type of a dtype. Source: MindSpore 2.10, mindspore.dtype_to_nptype.

    numpy has no bfloat16 or float8 of its own: they come from ``ml_dtypes`` where it is installed, else
    TypeError.
    """
    if type_ in _NUMPY:
        return _NUMPY[type_]
    try:
        import ml_dtypes
    except ImportError as error:
        raise TypeError(f"numpy has no counterpart of {type_} (package ml_dtypes would bring one)") from error
    return getattr(ml_dtypes, str(type_).removeprefix("torch."))


def dtype_to_pytype(type_: torch.dtype) -> type:
    """``bool``, ``int``, ``float`` or ``complex``. Source: MindSpore 2.10, mindspore.dtype_to_pytype."""
    if type_ == torch.bool:
        return bool
    return complex if type_.is_complex else float if type_.is_floating_point else int


def pytype_to_dtype(obj: Any) -> torch.dtype:
    """The dtype of a Python number type or a numpy scalar type: ``int`` gives int64, ``float`` float64.
    Raises NotImplementedError for others, as MindSpore does. Source: MindSpore 2.10, pytype_to_dtype.
    """
    if isinstance(obj, torch.dtype):
        return obj
    if obj in _PYTHON:
        return _PYTHON[obj]
    if isinstance(obj, type) and issubclass(obj, np.generic):
        for dtype, scalar in _NUMPY.items():
            if scalar is obj:
                return dtype
    raise NotImplementedError(f"The python type {obj} cannot be converted to a dtype.")


def get_py_obj_dtype(obj: Any) -> torch.dtype:
    """The dtype of a Python value or of a Python type. Source: MindSpore 2.10, mindspore.get_py_obj_dtype."""
    if isinstance(obj, torch.Tensor):
        return obj.dtype
    return pytype_to_dtype(obj if isinstance(obj, type) else type(obj))


def issubclass_(type_: Any, family: Any) -> bool:
    """Whether a dtype is ``family`` or belongs to it. Source: mindspore.common.dtype.issubclass_."""
    return type_ == family if isinstance(family, torch.dtype) else isinstance(type_, family)


def __getattr__(name: str) -> torch.dtype:
    # MindSpore's dtype module also has these; as module variables they would hide Python's own here.
    plain = {"bool": torch.bool, "int": torch.int32, "float": torch.float32}
    if name in plain:
        return plain[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
