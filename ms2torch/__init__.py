"""Ports MindSpore model code to PyTorch."""

__version__ = "0.1.0"
