"""Modules that are copied into a port; they import torch, never ms2torch."""
