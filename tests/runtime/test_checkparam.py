# ruff: noqa: E501  (MindSpore's messages are long)
"""Argument checks: results and messages as MindSpore 2.10 gave them."""

import pytest
import torch

from ms2torch.runtime._backend import checkparam as C

GOOD = [
    (lambda: C.check_positive_int(2, "a", "P"), 2),
    (lambda: C.check_bool(True, "flag"), True),
    (lambda: C.check_value_type("x", 1, [int], "P"), 1),
    (lambda: C.check_value_type("x", True, [bool, int], "P"), True),
    (lambda: C.check_value_type("x", None, (int, type(None))), None),
    (lambda: C.check_type_name("t", torch.float32, [torch.float32], "P"), torch.float32),
    (lambda: C.check("a", 1, "b", [1, 2], C.IN, "P"), 1),
    (lambda: C.check("a", 3, "b", 2, C.GE, "P"), 3),
    (lambda: C.check("a", 2, "b", (1, 2), C.INC_BOTH), 2),
    (lambda: C.check_int_range(0, 0, 3, C.INC_LEFT, "a", "P"), 0),
    (lambda: C.check_string("a", ["a", "b"], "s", "P"), "a"),
    (lambda: C.check_positive_int_sequence([1, 2], "a"), [1, 2]),
    (lambda: C.check_str_by_regular("a_b"), True),
    (lambda: C.check_file_name_by_regular("/a/b.txt"), None),
    (lambda: C.check_subclass("t", bool, [int], "P"), None),
    (lambda: C.check_element_type_of_dict("d", {"k": 1}, [str], [int], "P"), None),
    (lambda: C.twice(3), (3, 3)),
    (lambda: C.triple((1, 2, 3)), (1, 2, 3)),
]
BAD = [
    (lambda: C.check_positive_int(0, "a", "P"), ValueError, "For 'P', the 'a' must be int and must > 0, but got '0' with type 'int'."),
    (lambda: C.check_positive_int(1.0, "a"), TypeError, "The 'a' must be int, but got 'float'"),
    (lambda: C.check_positive_int(True, "a", "P"), TypeError, "For 'P', the 'a' must be int and must > 0, but got 'True' with type 'bool'."),
    (lambda: C.check_positive_int(-1), ValueError, "The input value must be int and must > 0, but got '-1' with type 'int'."),
    (lambda: C.check_bool(1, "flag", "P"), TypeError, "For 'P', the 'flag' must be a bool, but got int."),
    (lambda: C.check_bool(1), TypeError, "The input value must be a bool, but got int."),
    (lambda: C.check_value_type("x", 1, [str], "P"), TypeError, "For 'P', the type of 'x' should be 'str', but got type 'int'."),
    (lambda: C.check_value_type("x", 1, str), TypeError, "The type of 'x' should be 'str', but got type 'int'."),
    (lambda: C.check_value_type("x", True, [int, str], "P"), TypeError, "For 'P', the type of 'x' should be one of '['int', 'str']', but got type 'bool'."),
    (lambda: C.check_type_name("t", torch.int32, [torch.float32, torch.float16], "P"), TypeError, "For 'P', the 't' should be one of [torch.float32, torch.float16], but got 'torch.int32'."),
    (lambda: C.check("a", 1, "b", 2, C.EQ, "P"), ValueError, "For 'P', the 'a' should be = b: 2, but got 1."),
    (lambda: C.check("a", 3, "b", [1, 2], C.IN, "P"), ValueError, "For 'P', the 'a' should be in b: [1, 2], but got 3."),
    (lambda: C.check("a", 3, "b", 2, C.LT, "P", TypeError), TypeError, "For 'P', the 'a' should be < b: 2, but got 3."),
    (lambda: C.check_int(1, 2, C.GE, "a", "P"), ValueError, "For 'P', the 'a' must be int and must >= 2, but got '1' with type 'int'."),
    (lambda: C.check_int("x", 2, C.GE, "a", "P"), TypeError, "For 'P', the 'a' must be int, but got 'str'"),
    (lambda: C.check_int_range(5, 0, 3, C.INC_LEFT, "a", "P"), ValueError, "For 'P', the 'a' must be in range of [0, 3), but got 5 with type 'int'."),
    (lambda: C.check_float_range(1, 0.0, 3.0, C.INC_LEFT, "a", "P"), TypeError, "For 'P', the 'a' must be 'float',  but got 'int'."),
    (lambda: C.check_non_negative_int(-1, "a", "P"), ValueError, "For 'P', the 'a' must be int and must >= 0, but got '-1' with type 'int'."),
    (lambda: C.check_positive_float(-1.0, "a", "P"), ValueError, "For 'P', the 'a' must be float and must > 0, but got '-1.0' with type 'float'."),
    (lambda: C.check_string("x", ["a", "b"], "s", "P"), ValueError, "For 'P', the 's' must be str and must be in '['a', 'b']', but got 'x'."),
    (lambda: C.check_is_int(1.0, "a", "P"), TypeError, "For 'P', the type of 'a' must be 'int', but got 'float'."),
    (lambda: C.check_number("a", 1, 0, C.LT, "P"), ValueError, "For 'P', the argument 'a' must < 0, but got 1."),
    (lambda: C.check_isinstance("a", 1, str), ValueError, "The parameter 'a' must be isinstance of <class 'str'>, but got 1."),
    (lambda: C.check_positive_int_sequence([1, -1], "a", "P"), ValueError, "For 'P', the 'a[1]' must be int and must > 0, but got '-1' with type 'int'."),
    (lambda: C.check_file_name_by_regular("a?b"), ValueError, r"The 'a?b' is illegal, it must be match regular '^[0-9a-zA-Z@\_\-\.\:\/\\]+$'."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "result"), GOOD)
def test_what_passes(call, result):
    assert call() == result


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_what_does_not(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


def test_args_type_check():
    @C.args_type_check(a=int, b=(str, list), c=bool)
    def function(a, b="x", c=True):
        return a, b, c

    assert function.__name__ == "function"
    assert function(1) == (1, "x", True) and function(1, None) == (1, None, True)
    # bool is an int here, as in MindSpore
    assert function(True, ["z"]) == (True, ["z"], True)
    for call, message in (
        (lambda: function("q"), "The parameter 'a' must be <class 'int'>, but got <class 'str'>"),
        (lambda: function(1, c=0), "The parameter 'c' must be <class 'bool'>, but got <class 'int'>"),
        (lambda: function(), "missing a required argument: 'a'"),
    ):
        with pytest.raises(TypeError) as raised:
            call()
        assert str(raised.value) == message

    class Schedule:
        @C.args_type_check(rate=(int, float))
        def __init__(self, rate, **kwargs):
            self.rate = rate

    assert Schedule(1, other="x").rate == 1
    with pytest.raises(TypeError, match="The parameter 'rate'"):
        Schedule("s")
