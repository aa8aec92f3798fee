"""Ports MindSpore model code to PyTorch."""
