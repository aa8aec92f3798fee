"""Context parallelism of plain causal data: without a compressed mask, and without position ids in the data."""

import torch
from mindformers.tools.logger import logger


# ms2torch: wraps apply_context_parallel_model_io, written for ea368b640f0c 61816d1e0d59
def apply_context_parallel_model_io(
    model, parallel_dims, parallelism, model_config, uses_dsa_cp_kernel=False
):
    """Without a compressed mask each rank builds its own rows of the causal mask; upstream asks for compression.

    The compressed mask needs 2048 tokens or more; rows of the causal mask mean the same at any length.
    """
    compressed = model_config.use_attn_mask_compression or model_config.use_eod_attn_mask_compression
    if not parallel_dims.cp_enabled or uses_dsa_cp_kernel or compressed:
        return _upstream_apply_context_parallel_model_io(  # noqa: F821
            model, parallel_dims, parallelism, model_config, uses_dsa_cp_kernel
        )
    logger.info(
        "context_parallel=%d without use_attn_mask_compression: each rank builds its rows of the causal mask",
        parallel_dims.cp,
    )
    style = ContextParallelModelIOStyle(  # noqa: F821
        parallel_dims.get_mesh("cp"),
        parallelism.context_parallel_method.lower(),
        parallelism.ulysses_degree_in_cp,
        parallelism.context_parallel_mask_type,
        build_attention_mask=True,
    )
    return style._apply(model)


# ms2torch: wraps prepare_context_parallel_input, written for 5625c9ef3542 5b47bb2dc02b
def prepare_context_parallel_input(inputs, *args, **kwargs):
    """Data without position ids gets those that one process counts: 0 to the sequence's length."""
    tokens = inputs.get("input_ids")
    if inputs.get("position_ids") is None and inputs.get("actual_seq_len") is None and tokens is not None:
        positions = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)
        inputs = {**inputs, "position_ids": positions}
    return _upstream_prepare_context_parallel_input(inputs, *args, **kwargs)  # noqa: F821
