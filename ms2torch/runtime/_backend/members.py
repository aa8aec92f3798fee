"""Members looked up by name: ``hasattr(x, "asnumpy")`` asks what MindSpore's tensor has, not torch's."""

from __future__ import annotations

from typing import Any

__all__ = ["has_member"]


def has_member(value: Any, name: str, owner: type) -> bool:
    """Whether ``value`` has the member ``name``, as MindSpore would answer.

    ``owner`` is the torch class of the MindSpore class that defines the member (``torch.Tensor`` for
    ``Tensor.asnumpy``): its instances have it through the port's adapters. Others are asked themselves.
    """
    return isinstance(value, owner) or hasattr(value, name)
