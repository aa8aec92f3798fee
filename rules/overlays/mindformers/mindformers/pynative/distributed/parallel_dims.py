"""The device that meshes are built on is the one that `_backend` runs on."""

from mindformers.pynative import _backend

# ms2torch: replaces device_type, written for 833680043472
device_type = _backend.device.device_type()
