# ms2torch: new file
"""A layout that does not divide is refused before any process group is made."""


def check_layout(config, world):
    """Raises ValueError, with the numbers, for degrees that do not divide what they are to divide.

    Upstream finds most of these later, on meshes or shards, and rounds a data_parallel_shard that does not
    divide the data parallel size.
    """
    parallelism, model, training = config.parallelism, config.model, config.training

    def setting(*names):
        return next((value for value in (getattr(model, name, None) for name in names) if value), None)

    def divide(what, whole, by, parts):
        if whole and parts > 1 and whole % parts:
            raise ValueError(f"{what} ({whole}) cannot be divided by {by} ({parts})")

    tp, pp = parallelism.tensor_parallel, parallelism.pipeline_parallel
    cp, ep = parallelism.context_parallel, parallelism.expert_parallel
    product = tp * pp * cp
    if world % product:
        raise ValueError(
            f"world size ({world}) is no multiple of tensor_parallel ({tp}) * pipeline_parallel ({pp}) * "
            f"context_parallel ({cp}) = {product}"
        )
    dp = world // product
    shard = dp
    if parallelism.data_parallel_shard > 0:
        shard = parallelism.data_parallel_shard
        divide("the data parallel size", dp, "data_parallel_shard", shard)
    divide(
        f"data_parallel_shard ({shard}) * context_parallel ({cp}) * tensor_parallel ({tp})",
        shard * cp * tp,
        "expert_parallel",
        ep,
    )
    heads = setting("num_attention_heads", "num_heads", "n_head")
    divide("num_attention_heads", heads, "tensor_parallel", tp)
    method = (parallelism.context_parallel_method or "colossal").lower()
    if cp > 1 and heads and method != "colossal":
        degree = parallelism.ulysses_degree_in_cp or cp
        divide(f"num_attention_heads ({heads}) / tensor_parallel ({tp})", heads // tp, f"the {method} degree", degree)
    experts = setting("n_routed_experts", "num_experts", "num_moe_experts", "expert_num")
    divide("the number of experts", experts, "expert_parallel", ep)
    divide("seq_length", setting("seq_length"), "tensor_parallel * context_parallel", tp * cp)
    stages = pp * parallelism.pipeline_parallel_interleave_num
    if pp > 1 and parallelism.pipeline_parallel_layers_per_stage == "auto":
        layers = setting("num_hidden_layers", "num_layers", "n_layer")
        divide("the number of layers", layers, "pipeline_parallel * pipeline_parallel_interleave_num", stages)
    batch = dp * training.local_batch_size
    divide("global_batch_size", training.global_batch_size, f"data parallel size ({dp}) * local_batch_size", batch)
