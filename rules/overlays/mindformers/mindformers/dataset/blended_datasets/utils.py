"""Indices of Megatron data sets without a compiler."""


# ms2torch: replaces compile_helpers, written for aac57e8e3d89 ef2714a5a47e
def compile_helpers():
    """Nothing to compile: helpers.py computes the same with numpy. An extension module `helpers` that was built
    by hand (`make` in this folder) is imported before it."""
