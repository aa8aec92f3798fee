"""The helper's assertions explain themselves."""

import pytest

pytest.register_assert_rewrite("tests.rules.helper")
