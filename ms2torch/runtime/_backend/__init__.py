"""The one place of a port that knows device, vendor library and torch version.

It imports torch and the standard library only, so that any module may import it first.
"""

from . import augmented as augmented
from . import checkparam as checkparam
from . import comm_prims as comm_prims
from . import communication as communication
from . import compat as compat
from . import context as context
from . import data as data
from . import device as device
from . import distributed as distributed
from . import dtypes as dtypes
from . import guard as guard
from . import layout as layout
from . import log as log
from . import management as management
from . import members as members
from . import misc as misc
from . import profiler as profiler
from . import streams as streams
from .compat import DeviceMesh as DeviceMesh
from .compat import param_name as param_name
from .compat import rms_norm as rms_norm
from .device import backend_name as backend_name
from .device import current_device as current_device
from .device import device_type as device_type
from .device import manual_seed as manual_seed
from .device import set_device as set_device
from .device import set_seed as set_seed
from .distributed import ReduceOp as ReduceOp
from .distributed import all_gather_into_tensor as all_gather_into_tensor
from .distributed import all_reduce as all_reduce
from .distributed import all_to_all_single as all_to_all_single
from .distributed import barrier as barrier
from .distributed import broadcast as broadcast
from .distributed import broadcast_object_list as broadcast_object_list
from .distributed import destroy_process_group as destroy_process_group
from .distributed import get_rank as get_rank
from .distributed import get_world_size as get_world_size
from .distributed import init_device_mesh as init_device_mesh
from .distributed import init_process_group as init_process_group
from .distributed import is_initialized as is_initialized
from .distributed import new_group as new_group
from .distributed import reduce_scatter_tensor as reduce_scatter_tensor
from .guard import HAS_MINDSPORE as HAS_MINDSPORE
from .guard import MindSporeRequired as MindSporeRequired
from .guard import unavailable as unavailable
from .guard import unavailable_module as unavailable_module
