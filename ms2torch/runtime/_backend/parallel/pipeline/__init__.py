"""Pipeline parallelism: stages, schedules, and the hooks of overlapping ones."""

from .hooks import CommComputeOverlap as CommComputeOverlap
from .hooks import HookCoordinator as HookCoordinator
from .hooks import HookRole as HookRole
from .orders import MetaStep as MetaStep
from .orders import MetaStepType as MetaStepType
from .schedule import MicroBatch as MicroBatch
from .schedule import Schedule1F1B as Schedule1F1B
from .schedule import ScheduleGPipe as ScheduleGPipe
from .schedule import ScheduleInterleaved1F1B as ScheduleInterleaved1F1B
from .stage import PipelineStage as PipelineStage
