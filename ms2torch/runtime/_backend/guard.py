"""What stands for a name whose module needs MindSpore.

Ported code keeps its imports of graph-mode modules under ``if _backend.HAS_MINDSPORE:``; otherwise the name
is bound to a placeholder made here, which any module may carry around (as a base class, in an ``isinstance``
tuple, in an annotation, as a dict value) and which explains itself when it is used.
"""

from __future__ import annotations

import copyreg
import functools
import os
import types
from abc import ABCMeta
from collections.abc import Iterator
from typing import Any, NoReturn

__all__ = ["HAS_MINDSPORE", "MindSporeRequired", "Missing", "unavailable", "unavailable_module"]

# Asked for, never probed: a probing guard would import graph-mode code wherever MindSpore happens to be
# installed, and ``find_spec`` trips import hooks that forbid it.
HAS_MINDSPORE: bool = os.environ.get("MF_WITH_MINDSPORE", "") == "1"


class MindSporeRequired(ImportError):
    """A name was used that only a MindSpore module can provide."""


def _line(module: str, name: str) -> str:
    full = f"{module}.{name}" if name else module
    return f"{full} needs MindSpore: set MF_WITH_MINDSPORE=1 with MindSpore installed to import {module}"


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class _Unavailable(ABCMeta):
    """Metaclass of placeholders. From ABCMeta, so that a placeholder can stand beside an ABC as a base."""

    def _origin(cls) -> tuple[str, str, bool]:
        """The guarded module, the guarded name, and whether ``cls`` is the placeholder itself."""
        for klass in type.mro(cls):
            origin = klass.__dict__.get("__ms2torch_origin__")
            if origin is not None:
                return origin[0], origin[1], klass is cls
        return cls.__module__, cls.__qualname__, True

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        module, name, _ = cls._origin()
        raise MindSporeRequired(_line(module, name))

    def __getattr__(cls, name: str) -> NoReturn:
        # Tools (inspect, dataclasses, doctest, pickle, pytest) look for private names on anything they meet
        # and expect AttributeError. A subclass answers so too: registries ask ``hasattr(cls, ...)``.
        module, own, itself = cls._origin()
        if _is_dunder(name):
            raise AttributeError(f"type object {cls.__qualname__!r} has no attribute {name!r}")
        if name.startswith("_") or not itself:
            raise AttributeError(f"{name}: {_line(module, own)}")
        raise MindSporeRequired(_line(module, own))

    def __iter__(cls) -> Iterator[Any]:
        module, name, _ = cls._origin()
        raise MindSporeRequired(_line(module, name))

    def __contains__(cls, item: object) -> bool:
        module, name, _ = cls._origin()
        raise MindSporeRequired(_line(module, name))

    def __repr__(cls) -> str:
        module, name, itself = cls._origin()
        return f"<unavailable {module}.{name}>" if itself else super().__repr__()


def _accept_anything(cls: Any, /, **kwargs: Any) -> None:
    """``__init_subclass__`` of a placeholder: class keywords belong to the base that is missing."""


@functools.cache
def unavailable(module: str, name: str) -> Any:
    """A placeholder class for ``module.name``, the same one at every call.

    Nothing is an instance of it; subclassing it works; calling it or a subclass, or reading an ordinary
    attribute, raises :class:`MindSporeRequired`.
    """
    namespace = {
        "__module__": module,
        "__qualname__": name,
        "__doc__": _line(module, name),
        "__ms2torch_origin__": (module, name),
        "__init_subclass__": classmethod(_accept_anything),
        "__class_getitem__": classmethod(lambda cls, item: cls),
    }
    return _Unavailable(name, (), namespace)


def _reduce(cls: _Unavailable) -> Any:
    module, name, itself = cls._origin()
    return (unavailable, (module, name)) if itself else cls.__qualname__


# Pickling by reference would import the guarded module.
copyreg.pickle(_Unavailable, _reduce)


class _UnavailableModule(types.ModuleType):
    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise MindSporeRequired(_line(self.__name__, ""))

    def __repr__(self) -> str:
        return f"<unavailable module {self.__name__}>"

    def __reduce__(self) -> Any:
        return unavailable_module, (self.__name__, tuple(self.__dict__.get("__all__", ())))


def unavailable_module(module: str, exports: tuple[str, ...] = ()) -> types.ModuleType:
    """A placeholder for the module itself (``import a.b as x``): reading a public attribute of it raises
    :class:`MindSporeRequired`. ``exports`` is its ``__all__``, which packages extend their own with."""
    return _module_placeholder(module, tuple(exports))


@functools.cache
def _module_placeholder(module: str, exports: tuple[str, ...]) -> types.ModuleType:
    made = _UnavailableModule(module, _line(module, ""))
    made.__dict__["__all__"] = list(exports)
    return made


class Missing:
    """Stands in a ``match`` pattern for a name without counterpart: nothing is or equals it."""
