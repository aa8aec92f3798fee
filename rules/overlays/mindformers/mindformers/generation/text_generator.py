"""Graph-mode generation builds MindSpore primitives in every model; PyNative models generate by the trainer."""

from mindformers.pynative import _backend


# ms2torch: replaces GenerationMixin, written for 66db11e53a50
class GenerationMixin:
    """Stands among the bases of every model; text generation on torch is `Trainer.inference`."""

    def generate(self, *args, **kwargs):
        """Raises MindSporeRequired: run `Trainer.inference` with `run_mode: predict` instead."""
        raise _backend.MindSporeRequired(
            f"{type(self).__name__}.generate runs MindSpore's graph mode; use Trainer.inference (run_mode: predict)"
        )

    chat = infer = generate

    def prepare_inputs_for_generation(self, input_ids, **kwargs):
        """What the base class gives a model that does not say otherwise: the ids alone."""
        return {"input_ids": input_ids}

    def slice_incremental_inputs(self, model_inputs, current_index, need_flatten=False):
        """Raises MindSporeRequired, as `generate` does."""
        return self.generate(model_inputs, current_index, need_flatten)
