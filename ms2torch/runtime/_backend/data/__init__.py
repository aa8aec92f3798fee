"""``mindspore.dataset``: data pipelines in Python and numpy, in MindSpore's orders."""

from collections.abc import Sequence as _Sequence

from . import config as config
from . import indices as indices
from . import samplers as samplers
from . import transforms as transforms
from .batches import Batches as Batches
from .iterators import DictIterator as DictIterator
from .iterators import TupleIterator as TupleIterator
from .operations import ZipDataset as _ZipDataset
from .pipeline import BatchInfo as BatchInfo
from .pipeline import Dataset as Dataset
from .samplers import BuiltinSampler as BuiltinSampler
from .samplers import DistributedSampler as DistributedSampler
from .samplers import IterSampler as IterSampler
from .samplers import RandomSampler as RandomSampler
from .samplers import Sampler as Sampler
from .samplers import SequentialSampler as SequentialSampler
from .samplers import Shuffle as Shuffle
from .samplers import SubsetRandomSampler as SubsetRandomSampler
from .samplers import SubsetSampler as SubsetSampler
from .samplers import WeightedRandomSampler as WeightedRandomSampler
from .sources import GeneratorDataset as GeneratorDataset
from .sources import MindDataset as MindDataset
from .sources import NumpySlicesDataset as NumpySlicesDataset
from .synthetic import SyntheticDataset as SyntheticDataset
from .synthetic import SyntheticTokens as SyntheticTokens


def zip(datasets: _Sequence[Dataset]) -> Dataset:
    """``mindspore.dataset.zip``: rows of several datasets side by side. Raises TypeError, ValueError."""
    if len(datasets) <= 1:
        raise ValueError("Can't zip just one or zero datasets.")
    return _ZipDataset(datasets)
