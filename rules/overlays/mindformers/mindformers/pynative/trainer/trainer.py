"""One card is the special case world size 1 of many; and MF_TRACE records a step for `ms2torch compare`."""

from mindformers.pynative import _backend

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
