"""Checkpoints with the random state beside them, and with failures that are heard of."""

import os

from mindformers.pynative import _backend


# ms2torch: precedes CheckpointCallback, written for 767ccb7dc34f f138670cf543 495e0a94b7a4
def save_checkpoint(iteration, save_checkpoint_path, **kwargs):
    """Upstream's `save_checkpoint`, and each rank's random state beside it.

    The callback logs RuntimeError, ValueError and FileNotFoundError and trains on; a SaveFailed ends the run.
    Adapters alone (`save_trainable_only`) take the experts' biases with them, which training moves too.
    """
    from mindformers import checkpoint

    chosen = kwargs.get("model_choice_func")
    if chosen is not None:
        kwargs["model_choice_func"] = lambda name: chosen(name) or name.endswith("expert_bias")

    try:
        checkpoint.save_checkpoint(iteration=iteration, save_checkpoint_path=save_checkpoint_path, **kwargs)
        folder = get_checkpoint_iter_dir(os.path.realpath(save_checkpoint_path), iteration)  # noqa: F821
        _backend.random_state.save(folder)
    except (RuntimeError, ValueError, OSError) as error:
        raise _backend.background.SaveFailed(
            f"the checkpoint of step {iteration} was not saved in {save_checkpoint_path}: {error}"
        ) from error


# ms2torch: wraps CheckpointCallback.on_step_end, written for 9485b507d2f0 63aced2452a6
def on_step_end(self, args, state, **kwargs):
    """Upstream's; files that were written meanwhile become the latest checkpoint at the next step."""
    if self.async_save_manager is not None and not self.async_save_manager.is_finalized:
        self.async_save_manager.maybe_finalize()
    self._upstream_on_step_end(args, state, **kwargs)


# ms2torch: wraps CheckpointCallback.on_train_end, written for 374920709728
def on_train_end(self, args, state, **kwargs):
    """Upstream's; waits for files that are still being written. Upstream never names the last one the latest."""
    self._upstream_on_train_end(args, state, **kwargs)
    if self.async_save_manager is not None:
        self.async_save_manager.maybe_finalize(wait_finish=True)
