"""``mindspore._checkparam``: argument checks with MindSpore's errors. Source: MindSpore 2.10, run."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

EQ, NE, LT, LE, GT, GE = 1, 2, 3, 4, 5, 6
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = 7, 8, 9, 10
IN, NOT_IN = 11, 12

_BINARY: dict[int, tuple[Callable[[Any, Any], bool], str]] = {
    EQ: (lambda a, b: a == b, "= {}"),
    NE: (lambda a, b: a != b, "!= {}"),
    LT: (lambda a, b: a < b, "< {}"),
    LE: (lambda a, b: a <= b, "<= {}"),
    GT: (lambda a, b: a > b, "> {}"),
    GE: (lambda a, b: a >= b, ">= {}"),
    IN: (lambda a, b: a in b, "in {}"),
    NOT_IN: (lambda a, b: a not in b, "not in {}"),
}
_RANGE: dict[int, tuple[Callable[[Any, Any, Any], bool], str]] = {
    INC_NEITHER: (lambda v, low, high: low < v < high, "({}, {})"),
    INC_LEFT: (lambda v, low, high: low <= v < high, "[{}, {})"),
    INC_RIGHT: (lambda v, low, high: low < v <= high, "({}, {}]"),
    INC_BOTH: (lambda v, low, high: low <= v <= high, "[{}, {}]"),
}


def _who(arg_name: str | None, prim_name: str | None) -> str:
    arg = f"'{arg_name}'" if arg_name else "input value"
    return f"For '{prim_name}', the {arg}" if prim_name else f"The {arg}"


def _type_error(arg_name: str | None, prim_name: str | None, expected: str, value: Any) -> NoReturn:
    raise TypeError(f"{_who(arg_name, prim_name)} must be {expected}, but got '{type(value).__name__}'")


def check(
    arg_name: str,
    arg_value: Any,
    value_name: str,
    value: Any,
    rel: int = EQ,
    prim_name: str | None = None,
    excp_cls: type[Exception] = ValueError,
) -> Any:
    """`arg_value` where it stands in relation `rel` to `value`, else raises `excp_cls`."""
    if rel in _RANGE:
        holds, text = _RANGE[rel]
        if holds(arg_value, *value):
            return arg_value
        form = text.format(*value)
    else:
        compare, text = _BINARY[rel]
        if compare(arg_value, value):
            return arg_value
        form = text.format(f"{value_name}: {value}")
    raise excp_cls(f"{_who(arg_name, prim_name)} should be {form}, but got {arg_value}.")


def _check_number(
    arg_value: Any, value: Any, rel: int, arg_type: type, arg_name: str | None, prim_name: str | None
) -> Any:
    compare, text = _BINARY[rel]
    if not isinstance(arg_value, arg_type):
        _type_error(arg_name, prim_name, arg_type.__name__, arg_value)
    ok = compare(arg_value, value)
    if isinstance(arg_value, bool) or not ok:
        error = TypeError if isinstance(arg_value, bool) else ValueError
        raise error(
            f"{_who(arg_name, prim_name)} must be {arg_type.__name__} and must {text.format(value)}, but got "
            f"'{arg_value}' with type '{type(arg_value).__name__}'."
        )
    return arg_value


def check_int(
    arg_value: Any, value: int, rel: int, arg_name: str | None = None, prim_name: str | None = None
) -> int:
    """An int in relation to `value`. Raises TypeError, ValueError."""
    return int(_check_number(arg_value, value, rel, int, arg_name, prim_name))


def check_float(
    arg_value: Any, value: float, rel: int, arg_name: str | None = None, prim_name: str | None = None
) -> float:
    """A float in relation to `value`. Raises TypeError, ValueError."""
    return float(_check_number(arg_value, value, rel, float, arg_name, prim_name))


def check_positive_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    return check_int(arg_value, 0, GT, arg_name, prim_name)


def check_non_negative_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    return check_int(arg_value, 0, GE, arg_name, prim_name)


def check_negative_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    return check_int(arg_value, 0, LT, arg_name, prim_name)


def check_non_positive_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    return check_int(arg_value, 0, LE, arg_name, prim_name)


def check_equal_int(
    arg_value: Any, value: int, arg_name: str | None = None, prim_name: str | None = None
) -> int:
    return check_int(arg_value, value, EQ, arg_name, prim_name)


def check_positive_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> float:
    return check_float(arg_value, 0, GT, arg_name, prim_name)


def check_non_negative_float(
    arg_value: Any, arg_name: str | None = None, prim_name: str | None = None
) -> float:
    return check_float(arg_value, 0, GE, arg_name, prim_name)


def check_negative_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> float:
    return check_float(arg_value, 0, LT, arg_name, prim_name)


def check_non_positive_float(
    arg_value: Any, arg_name: str | None = None, prim_name: str | None = None
) -> float:
    return check_float(arg_value, 0, LE, arg_name, prim_name)


def check_number(arg_name: str, arg_value: Any, value: Any, rel: int, prim_name: str | None) -> Any:
    """A number in relation to `value`. Raises ValueError."""
    compare, text = _BINARY[rel]
    if not compare(arg_value, value):
        raise ValueError(
            f"For '{prim_name}', the argument '{arg_name}' must {text.format(value)}, but got {arg_value}."
        )
    return arg_value


def check_number_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    value_type: type | tuple[type, ...],
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """A number of a type within limits. Raises TypeError, ValueError."""
    kinds = value_type if isinstance(value_type, tuple) else (value_type,)
    if not isinstance(arg_value, kinds) or (isinstance(arg_value, bool) and bool not in kinds):
        names = " or ".join(f"'{kind.__name__}'" for kind in kinds)
        raise TypeError(
            f"{_who(arg_name, prim_name)} must be {names},  but got '{type(arg_value).__name__}'."
        )
    holds, text = _RANGE[rel]
    if not holds(arg_value, lower_limit, upper_limit):
        raise ValueError(
            f"{_who(arg_name, prim_name)} must be in range of {text.format(lower_limit, upper_limit)}, "
            f"but got {arg_value} with type '{type(arg_value).__name__}'."
        )
    return arg_value


def check_int_range(
    arg_value: Any,
    lower_limit: int,
    upper_limit: int,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> int:
    return int(check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name))


def check_float_range(
    arg_value: Any,
    lower_limit: float,
    upper_limit: float,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> float:
    return float(check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name))


def check_is_number(
    arg_value: Any, arg_type: type, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """A value of a type. Raises TypeError."""
    if not isinstance(arg_value, arg_type) or (isinstance(arg_value, bool) and arg_type is not bool):
        who = f"For '{prim_name}', the type of '{arg_name}'" if prim_name else f"The type of '{arg_name}'"
        raise TypeError(f"{who} must be '{arg_type.__name__}', but got '{type(arg_value).__name__}'.")
    return arg_value


def check_is_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    return int(check_is_number(arg_value, int, arg_name, prim_name))


def check_is_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> float:
    return float(check_is_number(arg_value, float, arg_name, prim_name))


def check_positive_int_sequence(
    sequence: Iterable[Any], arg_name: str | None = None, prim_name: str | None = None
) -> Iterable[Any]:
    for index, element in enumerate(sequence):
        check_positive_int(element, f"{arg_name or 'arg_name'}[{index}]", prim_name)
    return sequence


def check_non_negative_int_sequence(
    sequence: Iterable[Any], arg_name: str | None = None, prim_name: str | None = None
) -> Iterable[Any]:
    for index, element in enumerate(sequence):
        check_non_negative_int(element, f"{arg_name or 'arg_name'}[{index}]", prim_name)
    return sequence


def check_positive_float_sequence(
    sequence: Iterable[Any], arg_name: str | None = None, prim_name: str | None = None
) -> Iterable[Any]:
    for index, element in enumerate(sequence):
        check_positive_float(element, f"{arg_name or 'arg_name'}[{index}]", prim_name)
    return sequence


def check_bool(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> bool:
    """A bool. Raises TypeError."""
    if not isinstance(arg_value, bool):
        raise TypeError(f"{_who(arg_name, prim_name)} must be a bool, but got {type(arg_value).__name__}.")
    return arg_value


def check_string(
    arg_value: Any, valid_values: Sequence[str], arg_name: str | None = None, prim_name: str | None = None
) -> str:
    """One of the strings. Raises ValueError."""
    if isinstance(arg_value, str) and arg_value in valid_values:
        return arg_value
    raise ValueError(
        f"{_who(arg_name, prim_name)} must be str and must be in '{valid_values}', but got '{arg_value}'."
    )


def check_str_by_regular(
    target: str, reg: str | None = None, flag: int = re.ASCII, prim_name: str | None = None
) -> bool:
    """A string that matches; by default a word. Raises ValueError."""
    pattern = reg or r"^\w+[0-9a-zA-Z\_\.]*$"
    if re.match(pattern, target, flag) is None:
        who = f"For '{prim_name}', the" if prim_name else "The"
        raise ValueError(f"{who} '{target}' is illegal, it must be match regular'{pattern}'.")
    return True


def check_file_name_by_regular(target: str, reg: str | None = None, prim_name: str | None = None) -> None:
    """A file name of plain characters. Raises ValueError."""
    pattern = reg or r"^[0-9a-zA-Z@\_\-\.\:\/\\]+$"
    if re.match(pattern, target) is None:
        who = f"For '{prim_name}', the" if prim_name else "The"
        raise ValueError(f"{who} '{target}' is illegal, it must be match regular '{pattern}'.")


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None) -> Any:
    """A value of one of the types; a bool passes for an int only where bool is named. Raises TypeError."""
    types = valid_types if isinstance(valid_types, Iterable) else (valid_types,)
    types = tuple(types)
    wrong_bool = isinstance(arg_value, bool) and bool not in types
    if isinstance(arg_value, types) and not wrong_bool:
        return arg_value
    names = [getattr(kind, "__name__", str(kind)) for kind in types]
    expected = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
    who = f"For '{prim_name}', the" if prim_name else "The"
    raise TypeError(
        f"{who} type of '{arg_name}' should be {expected}, but got type '{type(arg_value).__name__}'."
    )


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """A value of one of the classes. Raises ValueError, as MindSpore does."""
    if not isinstance(arg_value, classes):
        raise ValueError(f"The parameter '{arg_name}' must be isinstance of {classes}, but got {arg_value}.")
    return arg_value


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: str | None) -> Any:
    """One of the types or dtypes. Raises TypeError."""
    types = list(valid_types) if isinstance(valid_types, Iterable) else [valid_types]
    if any(arg_type is kind or arg_type == kind for kind in types):
        return arg_type
    expected = f"one of {types}" if len(types) > 1 else f"{types[0]}"
    raise TypeError(f"{_who(arg_name, prim_name)} should be {expected}, but got '{arg_type}'.")


def check_subclass(
    arg_name: str,
    type_: Any,
    template_types: Any,
    prim_name: str | None,
    addition_error_info: str | None = None,
) -> None:
    """A class below one of the classes, or a dtype that is one of the dtypes. Raises TypeError."""
    templates = list(template_types) if isinstance(template_types, Iterable) else [template_types]
    for template in templates:
        if type_ == template:
            return
        if isinstance(type_, type) and isinstance(template, type) and issubclass(type_, template):
            return
    more = f" {addition_error_info}" if addition_error_info else ""
    raise TypeError(
        f"For '{prim_name}', the type of '{arg_name}' should be one of {templates}, but got {type_}.{more}"
    )


def check_element_type_of_iterable(
    arg_name: str, arg_value: Iterable[Any], valid_types: Any, prim_name: str | None = None
) -> None:
    """Elements of one of the types. Raises TypeError."""
    for index, element in enumerate(arg_value):
        check_value_type(f"{arg_name}[{index}]", element, valid_types, prim_name)


def check_element_type_of_dict(
    arg_name: str, arg_value: dict[Any, Any], key_types: Any, value_types: Any, prim_name: str | None = None
) -> None:
    """Keys and values of the types. Raises TypeError."""
    check_value_type(arg_name, arg_value, [dict], prim_name)
    for key, value in arg_value.items():
        check_value_type(f"{arg_name}.keys", key, key_types, prim_name)
        check_value_type(f"{arg_name}[{key}]", value, value_types, prim_name)


def args_type_check(
    *type_args: Any, **type_kwargs: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: arguments are of the given types, or None. Raises TypeError at the call."""

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(func)
        expected = signature.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(func)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in expected and value is not None and not isinstance(value, expected[name]):
                    raise TypeError(f"The parameter '{name}' must be {expected[name]}, but got {type(value)}")
            return func(*args, **kwargs)

        return checked

    return decorate


def once(value: Any) -> Any:
    return value


def twice(value: Any) -> tuple[Any, Any]:
    """(v, v) of one value; a pair as it is."""
    return (value, value) if not isinstance(value, Iterable) else tuple(value)


def triple(value: Any) -> tuple[Any, ...]:
    return (value, value, value) if not isinstance(value, Iterable) else tuple(value)
