"""The template that lets the model load Hugging Face's weights."""

from mindformers.checkpoint.converter.pynative_templates import pynative_template


# ms2torch: wraps PyNativeDeepseekV3ForCausalLM.__init__, written for db6871df8f64
def __init__(self, config, **kwargs):
    """Upstream's model, with a weight template."""
    self._upstream_init(config, **kwargs)
    self.template = pynative_template("deepseek_v3", self.model.config)
