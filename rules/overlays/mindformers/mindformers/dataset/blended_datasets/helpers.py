# ms2torch: new file
"""The functions of helpers.cpp that data sets call, in numpy."""

from mindformers.pynative._backend.data.indices import (
    build_blending_indices,
    build_exhaustive_blending_indices,
    build_sample_idx,
)

__all__ = ["build_blending_indices", "build_exhaustive_blending_indices", "build_sample_idx"]
