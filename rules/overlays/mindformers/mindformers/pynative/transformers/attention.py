"""Grouped attention in float32 where the device's attention takes it."""

from mindformers.pynative import _backend


# ms2torch: precedes Attention, written for 203426910f8d 59e7b130b811
def _without_half(cast):
    """A cast that leaves float32 alone when asked for float16."""

    def kept(tensor, dtype):
        asked = str(dtype).rpartition(".")[2], str(tensor.dtype).rpartition(".")[2]
        return tensor if asked == ("float16", "float32") else cast(tensor, dtype)

    return kept


# ms2torch: wraps Attention.__init__, written for 96a8a08e6e2f
def __init__(self, config, *args, **kwargs):
    """Upstream's module. It rounds query, key and value to float16 for Ascend's attention kernel; elsewhere a
    model that computes in float32 does so here, too."""
    self._upstream_init(config, *args, **kwargs)
    wanted = str(config.compute_dtype).rpartition(".")[2].lower()
    if wanted == "float32" and _backend.device.device_type() != "npu":
        self.cast = _without_half(self.cast)
