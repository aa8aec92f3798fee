"""The template that lets the model load Hugging Face's weights."""

from mindformers.checkpoint.converter.pynative_templates import pynative_template


# ms2torch: wraps PyNativeQwen3ForCausalLM.__init__, written for 559e75ae3b2c
def __init__(self, config):
    """Upstream's model, with a weight template."""
    self._upstream_init(config)
    self.template = pynative_template("qwen3", self.model.config)
