"""One card is the special case world size 1 of many; options and checkpoints are looked at before anything is built;
what a resumed run goes on with; and MF_TRACE records a step for `ms2torch compare`."""

from mindformers.pynative import _backend
from mindformers.pynative.distributed.divisible import check_layout
from mindformers.pynative.trainer.options import prepare, settle


# ms2torch: precedes Trainer.__init__, written for 53275bea4570 a0d15036ba49 215d90219659
enable_parallel = property(lambda self: True, lambda self, value: None, doc="Always: also for a world of one.")


# ms2torch: follows Trainer.__init__, written for 53275bea4570 a0d15036ba49 215d90219659
def _traced(self, upstream_step, *args, **kwargs):
    """Runs one training step; records it where MF_TRACE asks for that."""
    self._trace = _backend.trace.from_environment(self.model, self.state.global_step + 1)
    if self._trace is None:
        return upstream_step(*args, **kwargs)
    with self._trace:
        loss, norm = upstream_step(*args, **kwargs)
        self._trace.finish(loss=loss, norm=norm)
    return loss, norm


# ms2torch: wraps Trainer.training_step, written for 874f75acb33a b1a94f7cbe32 566d99f67d5e
def training_step(self, *args, **kwargs):
    """Upstream's step, recorded on demand."""
    return self._traced(self._upstream_training_step, *args, **kwargs)


# ms2torch: wraps Trainer.training_pp_step, written for 9034ca7c3086 f2d829b620bf
def training_pp_step(self, *args, **kwargs):
    """Upstream's pipeline step, recorded on demand."""
    return self._traced(self._upstream_training_pp_step, *args, **kwargs)


# ms2torch: wraps Trainer._optimizer_update, written for 49ad11c32972 90999df9f408
def _optimizer_update(self, *args, **kwargs):
    """Upstream's update; a recorded step keeps the gradients that it takes."""
    if getattr(self, "_trace", None) is not None:
        self._trace.gradients()
    return self._upstream_optimizer_update(*args, **kwargs)


# ms2torch: wraps Trainer._init_config, written for f86f9a285505 cd1ee1b59021
@staticmethod
def _init_config(config, *args, **kwargs):
    """Upstream's; options, layouts that do not divide, checkpoints that are not there: told before anything is built."""
    config = prepare(config)
    made = settle(Trainer._upstream_init_config(config, *args, **kwargs), config)  # noqa: F821
    check_layout(made, _backend.get_world_size())
    if made.checkpoint.load_path:
        _backend.serialization.require_checkpoint(made.checkpoint.load_path)
    return made


# ms2torch: wraps Trainer._create_dataset, written for 8cbb397ca895 402904dd091e d081aaadf044
def _create_dataset(self, dataset, *args, **kwargs):
    """Upstream's, which takes datasets with MindSpore's methods; any iterable of dicts is given those here."""
    if dataset is not None and not hasattr(dataset, "create_dict_iterator"):
        dataset = _backend.data.Batches(dataset, batch_size=self.config.training.local_batch_size)
    return self._upstream_create_dataset(dataset, *args, **kwargs)


# ms2torch: wraps Trainer._create_dataset_iterator, written for d06425be1211
def _create_dataset_iterator(self, dataset):
    """Upstream's. The iterator after an epoch's end begins at the first batch also in a resumed run, where
    upstream's begins at the resumed position again; random numbers go on from the checkpoint's."""
    before = getattr(self, "_dataset_iter", None)
    if before is not None and isinstance(dataset, _backend.data.Batches):
        return before  # it goes on with the next epoch
    if before is not None and getattr(self, "_balance_source", None) is None:
        if hasattr(dataset, "set_init_step"):
            dataset.set_init_step(0)
    made = self._upstream_create_dataset_iterator(dataset)
    state = self.__dict__.pop("_random_state", None)
    if state is not None:
        _backend.random_state.apply(state)
    return made


# ms2torch: wraps Trainer._load_checkpoint, written for 785445788634 e36f7c5bd44c 8cefdc755c20
def _load_checkpoint(self, checkpoint_path, *args, **kwargs):
    """Upstream's. A resumed run begins inside the epoch, as each epoch of an unbroken run begins with the
    first batch, and with the random state of the checkpoint."""
    self._upstream_load_checkpoint(checkpoint_path, *args, **kwargs)
    if self.config.checkpoint.no_load_optim or is_hf_checkpoint(checkpoint_path):  # noqa: F821
        return
    self._dataset_iter = None
    done = getattr(self, "_consumed_samples", 0) // (getattr(self, "_base_units", 0) or 1)
    if done >= self.train_epoch_step and not isinstance(self.train_dataset, _backend.data.Batches):
        if getattr(self, "_balance_source", None) is None:
            self.train_dataset.set_init_step(done % self.train_epoch_step)
    folder = get_checkpoint_path(checkpoint_path)  # noqa: F821
    self._random_state = _backend.random_state.load(folder)
    if self._random_state is None:
        logger.warning(  # noqa: F821
            "%s is not there: dropout and other random draws begin anew with training.seed",
            _backend.random_state.file_name(folder),
        )
