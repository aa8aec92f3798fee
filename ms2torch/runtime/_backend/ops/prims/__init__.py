"""Primitive classes of mindspore.ops: callable objects that take their attributes when they are made."""
