"""Metadata of checkpoints in MindSpore's spelling, so that files go both ways."""

import dataclasses

from mindformers.pynative import _backend

# MindSpore writes 'Float32' where torch writes 'torch.float32'; both are read.
# ms2torch: precedes load_metadata, written for 1e2eb8f0583c
tensor_to_ms_type = {
    spelling.lower(): dtype
    for dtype in _backend.dtypes.all_types
    for spelling in (str(dtype), _backend.dtypes.dtype_name(dtype))
}


# ms2torch: wraps save_metadata, written for bcf3986e367a e64ee3cac930
def save_metadata(sharded_tensor_metas, param_file_mappings, meta_data_path):
    """Upstream's, with dtypes named as MindSpore names them."""

    def named(tensor):
        if isinstance(tensor, list):
            return [named(one) for one in tensor]
        if isinstance(tensor.dtype, str):  # of another rank: layouts carry the name
            return tensor
        return dataclasses.replace(tensor, dtype=_backend.dtypes.dtype_name(tensor.dtype))

    renamed = {
        rank: {name: named(tensor) for name, tensor in tensors.items()}
        for rank, tensors in sharded_tensor_metas.items()
    }
    return _upstream_save_metadata(renamed, param_file_mappings, meta_data_path)  # noqa: F821
