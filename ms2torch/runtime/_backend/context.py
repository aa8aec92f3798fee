"""``mindspore.context`` and the parallel context: settings of a process. Source: MindSpore 2.10, run on CPU.

The mode is PyNative, always. A setting that torch can follow acts (device, determinism, memory cap, precision
of Ascend). The rest steers MindSpore's graph compiler and runtime and changes no result: it is checked for
its name, kept, and read back.
"""

from __future__ import annotations

import logging
from typing import Any

from . import device, distributed, streams

_log = logging.getLogger(__name__)

GRAPH_MODE = 0
PYNATIVE_MODE = 1


class ParallelMode:
    """Names of the ways to spread a graph over devices; kept as settings, see set_auto_parallel_context."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = (STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL)


_CONTEXT_DEFAULTS: dict[str, Any] = {
    "aoe_config": {},
    "aoe_tune_mode": "",
    "ascend_config": {},
    "check_bprop": False,
    "compile_cache_path": "",
    "debug_level": 0,
    "deterministic": "OFF",
    "disable_format_transform": False,
    "enable_compile_cache": None,
    "enable_graph_kernel": False,
    "env_config_path": "",
    "exec_order": "bfs",
    "gpu_config": {},
    "graph_kernel_flags": "",
    "infer_boost": "off",
    "inter_op_parallel_num": 0,
    "jit_config": {},
    "jit_enable_inplace_ops": True,
    "jit_level": "",
    "jit_syntax_level": 2,
    "max_call_depth": 1000,
    "max_device_memory": 1024.0,
    "memory_offload": "OFF",
    "memory_optimize_level": 0,
    "mempool_block_size": 1.0,
    "op_timeout": 900,
    "print_file_path": "",
    "pynative_synchronize": False,
    "reserve_class_name_in_scope": True,
    "runtime_num_threads": 2,
    "save_graphs": 0,
    "save_graphs_path": ".",
    "support_binary": False,
    "variable_memory_max_size": "0",
}
_context = dict(_CONTEXT_DEFAULTS)


def _set_mode(mode: Any) -> None:
    if mode not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(
            "For 'context.set_context', the argument 'mode' should be context.GRAPH_MODE (0) or "
            f"context.PYNATIVE_MODE (1), but got {mode}."
        )
    if mode == GRAPH_MODE:
        _log.info("set_context(mode=GRAPH_MODE): there are no graphs here, the mode stays PyNative")


def _set_ascend_config(config: Any) -> None:
    if not isinstance(config, dict):
        raise TypeError(f"For 'context.set_context', ascend_config must be a dict, but got {config!r}.")
    # the three settings that change results
    for name in ("precision_mode", "matmul_allow_hf32", "conv_allow_hf32"):
        if name in config:
            getattr(device.op_precision, name)(config[name])


def set_context(**kwargs: Any) -> None:
    """``mindspore.set_context``. Raises ValueError for a keyword that MindSpore does not know.

    ``mode`` is checked and stays PyNative; ``device_target`` and ``device_id`` select the device;
    ``deterministic`` and ``max_device_memory`` act; of ``ascend_config`` the precision settings act, or raise
    where the device cannot follow.
    """
    target, index = kwargs.pop("device_target", None), kwargs.pop("device_id", None)
    if target is not None or index is not None:
        device.set_device(target, index)
    for key, value in kwargs.items():
        if key == "mode":
            _set_mode(value)
            continue
        if key not in _context:
            raise ValueError(
                f"For 'context.set_context', the keyword argument {key} is not recognized! For detailed "
                "usage of 'set_context', please refer to the Mindspore official website."
            )
        if key == "deterministic":
            if value not in ("ON", "OFF"):
                raise ValueError(
                    f"For 'context.set_context', deterministic must be 'ON' or 'OFF', not {value!r}."
                )
            device.set_deterministic(value == "ON")
        elif key == "max_device_memory":
            streams.set_memory(max_size=value)
        elif key == "ascend_config":
            _set_ascend_config(value)
        _context[key] = value


def get_context(attr_key: str) -> Any:
    """``mindspore.get_context``; the mode is PYNATIVE_MODE. Raises ValueError for an unknown key."""
    if attr_key == "mode":
        return PYNATIVE_MODE
    if attr_key == "device_target":
        return device.device_target()
    if attr_key == "device_id":
        return device.current_device().index or 0
    if attr_key not in _context:
        raise ValueError(
            f"For 'context.get_context', the argument {attr_key} is not recognized! For detailed usage of "
            "'get_context', please refer to the Mindspore official website."
        )
    return _context[attr_key]


_COMM_FUSION = {
    name: {"mode": "auto", "config": None} for name in ("allreduce", "allgather", "reducescatter")
}
_PARALLEL_DEFAULTS: dict[str, Any] = {
    "all_reduce_fusion_config": [],
    "auto_parallel_search_mode": "recursive_programming",
    "auto_pipeline": False,
    "comm_fusion": {"openstate": True, **_COMM_FUSION},
    "communi_parallel_mode": "all_group_parallel",
    "dataset_strategy": "data_parallel",
    "device_num": None,
    "dump_device_local_norm": False,
    "dump_local_norm": False,
    "dump_local_norm_path": "",
    "enable_alltoall": False,
    "enable_parallel_optimizer": False,
    "force_fp32_communication": False,
    "full_batch": False,
    "full_batch_is_set": False,
    "global_rank": None,
    "grad_accumulation_step": 1,
    "gradient_fp32_sync": True,
    "gradients_mean": False,
    "group_ckpt_save_file": "",
    "loss_repeated_mean": True,
    "optimizer_weight_shard_aggregated_save": False,
    "optimizer_weight_shard_size": -1,
    "parallel_mode": ParallelMode.STAND_ALONE,
    "parallel_optimizer_config": {},
    "parameter_broadcast": False,
    "pipeline_config": {},
    "pipeline_interleave": False,
    "pipeline_result_broadcast": False,
    "pipeline_scheduler": "1f1b",
    "pipeline_stages": 1,
    "search_mode": "recursive_programming",
    "sharding_propagation": False,
    "strategy_ckpt_config": {"load_file": "", "save_file": "", "only_trainable_params": True},
    "strategy_ckpt_load_file": "",
    "strategy_ckpt_save_file": "",
}
# Settings that MindSpore takes but does not give back.
_WRITE_ONLY = frozenset({"group_ckpt_save_file", "parallel_optimizer_config", "pipeline_config"})
_parallel = dict(_PARALLEL_DEFAULTS)


def _check_parallel(key: str, value: Any) -> None:
    if key not in _PARALLEL_DEFAULTS or key == "full_batch_is_set":
        raise ValueError(f"Set context keyword {key} is not recognized!")
    if key in ("device_num", "pipeline_stages", "grad_accumulation_step"):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"The parameter '{key}' must be <class 'int'>, but got {type(value)}")
        if value < 1:
            raise ValueError(
                f"The context configuration parameter '{key}' must be a positive integer, but got the value "
                f"of {key} : {value}."
            )
    if key == "parallel_mode" and value not in ParallelMode.MODE_LIST:
        raise ValueError(
            "The context configuration parameter 'parallel_mode' only support 'stand_alone', "
            f"'data_parallel', 'hybrid_parallel', 'semi_auto_parallel' and 'auto_parallel', but got "
            f"the value : {value}."
        )
    if key == "dataset_strategy" and isinstance(value, str) and value not in ("full_batch", "data_parallel"):
        raise ValueError(
            "For 'set_auto_parallel_context', the argument 'dataset_strategy' must be 'full_batch' or "
            f"'data_parallel', but got "
            f"the value : {value}."
        )
    default = _PARALLEL_DEFAULTS[key]
    if isinstance(default, bool) and not isinstance(value, bool):
        raise TypeError(f"The parameter '{key}' must be <class 'bool'>, but got {type(value)}")


def set_auto_parallel_context(**kwargs: Any) -> None:
    """``mindspore.set_auto_parallel_context``: settings of the graph compiler's parallel modes.

    Nothing in a port is split by a compiler: the settings are checked, kept and read back.
    Raises ValueError for an unknown keyword or value, TypeError for a wrong type.
    """
    for key, value in kwargs.items():
        _check_parallel(key, value)
    for key, value in kwargs.items():
        _parallel[key] = value
        if key == "full_batch":
            _parallel["dataset_strategy"] = "full_batch" if value else "data_parallel"
            _parallel["full_batch_is_set"] = True
        elif key == "dataset_strategy":
            _parallel["full_batch"] = value == "full_batch"
            if not isinstance(value, str):
                _parallel[key] = [list(axes) for axes in value]


def get_auto_parallel_context(attr_key: str) -> Any:
    """A setting of the parallel context; unset ``device_num`` and ``global_rank`` are the job's.

    Raises ValueError for an unknown key.
    """
    if attr_key not in _PARALLEL_DEFAULTS or attr_key in _WRITE_ONLY:
        raise ValueError(f"Get context keyword {attr_key} is not recognized!")
    value = _parallel[attr_key]
    if value is None:
        return distributed.get_world_size() if attr_key == "device_num" else distributed.get_rank()
    return value


def reset_auto_parallel_context() -> None:
    """All settings of the parallel context back to their defaults."""
    _parallel.clear()
    _parallel.update(_PARALLEL_DEFAULTS)


def _get_parallel_mode() -> str:
    return str(_parallel["parallel_mode"])


def _is_sharding_propagation() -> bool:
    return bool(_parallel["search_mode"] == "sharding_propagation")


_ALGO_DEFAULTS: dict[str, Any] = {
    "algo_approxi_epsilon": 0.1,
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "fully_use_devices": True,
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}
_algo = dict(_ALGO_DEFAULTS)


def set_algo_parameters(**kwargs: Any) -> None:
    """Settings of MindSpore's search for parallel strategies, kept. Raises ValueError, TypeError."""
    for key, value in kwargs.items():
        if key not in _ALGO_DEFAULTS:
            raise ValueError(f"Set context keyword {key} is not recognized!")
        kind = type(_ALGO_DEFAULTS[key])
        if type(value) is not kind:
            raise TypeError(f"The parameter '{key}' must be {kind}, but got {type(value)}")
    _algo.update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """A setting of the strategy search. Raises ValueError for an unknown key."""
    if attr_key not in _ALGO_DEFAULTS:
        raise ValueError(f"Get context keyword {attr_key} is not recognized!")
    return _algo[attr_key]


def reset_algo_parameters() -> None:
    _algo.update(_ALGO_DEFAULTS)


def _set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    """A setting of the strategy search; there is no search."""
    if not isinstance(multi_subgraph, bool):
        raise TypeError(
            f"The parameter 'multi_subgraph' must be <class 'bool'>, but got {type(multi_subgraph)}"
        )


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Depth of calls that MindSpore's compiler follows; kept as ``max_call_depth``.

    Raises TypeError, ValueError. Python's own limit is left alone, as in MindSpore.
    """
    if not isinstance(recursion_limit, int):
        raise TypeError(f"The input value must be int, but got '{type(recursion_limit).__name__}'")
    if isinstance(recursion_limit, bool) or recursion_limit <= 0:
        raise ValueError(
            f"The input value must be int and must > 0, but got '{recursion_limit}' with type "
            f"'{type(recursion_limit).__name__}'."
        )
    _context["max_call_depth"] = recursion_limit
