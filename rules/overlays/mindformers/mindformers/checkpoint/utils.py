"""A checkpoint that is named and is not there is an error."""

from mindformers.pynative import _backend


# ms2torch: replaces is_checkpoint_path_valid, written for 30342c7765a8 absent
def is_checkpoint_path_valid(checkpoint_path):
    """False where no path is given. Upstream trains from scratch where the folder is missing or empty; that
    raises FileNotFoundError here."""
    if not checkpoint_path:
        return False
    _backend.serialization.require_checkpoint(checkpoint_path)
    return True
