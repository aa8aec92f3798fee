"""Checkpoints that are written while training goes on."""

from mindformers.pynative import _backend


# ms2torch: replaces AsyncSaveManager.check_async_save_alive, written for fc48c7bb3b90
def check_async_save_alive(self, wait_finish=False):
    """Whether files are still being written; raises what went wrong while they were."""
    if self.async_save is False:
        return False
    if wait_finish:
        _backend.serialization.wait_for_saves()
    _backend.background.raise_failures()
    return _backend.serialization.async_ckpt_thread_status()


# ms2torch: wraps load_checkpoint, written for df7164713994 038bf0b9cd90
def load_checkpoint(checkpoint, network, optimizer=None, *args, balanced_load=False, **kwargs):
    """Upstream's. Its balanced loading leaves the optimizer's states as they were made; they are wanted here, so
    every rank reads its own."""
    if balanced_load and optimizer is not None:
        logger.warning("load_balanced loads no optimizer states; each rank reads its own instead")  # noqa: F821
        balanced_load = False
    return _upstream_load_checkpoint(checkpoint, network, optimizer, *args, balanced_load=balanced_load, **kwargs)  # noqa: F821
