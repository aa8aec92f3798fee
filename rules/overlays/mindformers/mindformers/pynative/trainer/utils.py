"""Data sets of ours beside upstream's: synthetic tokens, for trials without data."""

from mindformers.pynative import _backend


# ms2torch: wraps _build_dataset, written for 91432854023f a034cd33b19a 9a9164abde92
def _build_dataset(config, *args, **kwargs):
    """Builds synthetic tokens for the types SyntheticDataset and RandomDataset; upstream builds every other."""
    loader = config.dataloader.to_dict()
    if loader.get("type") not in ("SyntheticDataset", "RandomDataset"):
        return _upstream_build_dataset(config, *args, **kwargs)  # noqa: F821
    if isinstance(args[0], int):  # 2.0.0: the batch of all ranks and micro-batches, then the parallelism
        parallelism = args[1]
        batch_size = args[0] // parallelism.data_parallel
    else:
        parallelism, batch_size = args[0], kwargs["local_batch_size"]
    shards = parallelism.data_parallel
    replicas = parallelism.tensor_parallel * parallelism.context_parallel
    domain = _backend.get_world_size() // parallelism.pipeline_parallel
    shard = _backend.get_rank() % domain // replicas
    # The columns are always input_ids and labels, and nothing is computed in Python workers.
    options = {k: v for k, v in loader.items() if k not in ("type", "column_names", "python_multiprocessing")}
    dataset = _backend.data.SyntheticDataset(num_shards=shards, shard_id=shard, **options)
    return dataset.batch(batch_size=batch_size, drop_remainder=config.drop_remainder)
