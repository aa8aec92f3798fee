"""save_checkpoint, load_checkpoint and load_param_into_net with MindSpore's arguments and file formats.

Source: MindSpore 2.10, mindspore.train.serialization. Files go both ways between a port and MindSpore.
A distributed parameter is saved and loaded as its local part, as each rank of MindSpore does.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from typing import Any

import torch

from . import background
from . import checkpoint_files as files
from .params import Parameter, param_name, write

logger = logging.getLogger(__name__)
_FORMATS = ("ckpt", "safetensors")


def _path(name: Any, file_format: str) -> str:
    if not isinstance(name, str | os.PathLike):
        raise TypeError(f"'ckpt_file_name' must be a path, but got {type(name).__name__}")
    if file_format not in _FORMATS:
        raise ValueError(f"'format' must be 'ckpt' or 'safetensors', but got {file_format!r}")
    text = os.path.realpath(os.fspath(name))
    return text if text.endswith("." + file_format) else f"{text}.{file_format}"


def _members(net: Any) -> dict[str, Any]:
    """MindSpore name to parameter of a network or optimizer; a torch module's saved buffers too."""
    if isinstance(net, torch.nn.Module):
        found: dict[str, Any] = {param_name(p) or path: p for path, p in net.named_parameters()}
        kept = net.state_dict(keep_vars=True)
        for path, value in kept.items():
            if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
                found.setdefault(path, value)
        return found
    if hasattr(net, "parameters_dict"):
        return dict(net.parameters_dict())
    raise TypeError(f"a network or an optimizer is needed, but got {type(net).__name__}")


def _local(value: Any) -> Any:
    return value.to_local() if hasattr(value, "to_local") else value


def _to_save(save_obj: Any) -> dict[str, Any]:
    if isinstance(save_obj, dict):
        return dict(save_obj)
    if isinstance(save_obj, list | tuple):
        return {entry["name"]: entry["data"] for entry in save_obj}
    return _members(save_obj)


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: Any,
    integrated_save: bool = True,
    async_save: Any = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: Any = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], Any] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Save a network, an optimizer, a dict, or a list of ``{"name": …, "data": …}``.

    ``choice_func(name)`` selects (bool) or renames (str). ``append_dict`` adds numbers, strings and
    tensors. ``async_save`` copies the values to the host and writes them in a thread; an error there is
    raised by the next call and by :func:`wait_for_saves`. Encryption is refused. Raises TypeError for an
    object or value that cannot be saved, ValueError for an unknown format.
    """
    if enc_key is not None:
        raise NotImplementedError("save_checkpoint(enc_key=…): encryption is not supported")
    unknown = set(kwargs) - {"incremental", "global_step_num", "remove_redundancy", "map_param_inc"}
    if unknown:
        raise TypeError(f"save_checkpoint has no argument {sorted(unknown)}")
    if kwargs.get("incremental"):
        raise NotImplementedError("save_checkpoint(incremental=True) is not supported")
    path = _path(ckpt_file_name, format)
    values: dict[str, Any] = {}
    for name, value in _to_save(save_obj).items():
        chosen = True if choice_func is None else choice_func(name)
        if isinstance(chosen, str):
            name = chosen
        elif not chosen:
            continue
        values[name] = _local(value)
    for name, value in (append_dict or {}).items():
        values[name] = _scalar(name, value)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    if not async_save:
        _write(path, values, crc_check)
        return
    with torch.no_grad():
        values = {
            name: value.detach().to("cpu", copy=True) if isinstance(value, torch.Tensor) else value
            for name, value in values.items()
        }
    background.submit(path, lambda: _write(path, values, crc_check))


def _write(path: str, values: dict[str, Any], crc_check: bool) -> None:
    if path.endswith(".ckpt"):
        files.write_ckpt(path, values, crc_check)
    else:
        files.write_safetensors(path, values)


def _scalar(name: str, value: Any) -> Any:
    if isinstance(value, torch.Tensor | str):
        return value
    if isinstance(value, bool):
        return torch.tensor(value)
    if isinstance(value, int):
        return torch.tensor(value, dtype=torch.int64)
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float32)
    raise TypeError(
        f"append_dict[{name!r}] must be a number, a str or a tensor, but got {type(value).__name__}"
    )


def _chosen(
    names: Iterable[str], filter_prefix: Any, specify_prefix: Any, choice_func: Callable[[str], Any] | None
) -> set[str]:
    def prefixes(given: Any) -> tuple[str, ...]:
        return () if given is None else (given,) if isinstance(given, str) else tuple(given)

    dropped, kept = prefixes(filter_prefix), prefixes(specify_prefix)
    return {
        name
        for name in names
        if not (dropped and name.startswith(dropped))
        and not (kept and not name.startswith(kept))
        and (choice_func is None or choice_func(name))
    }


def load_checkpoint(
    ckpt_file_name: Any,
    net: Any = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: Any = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], Any] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:
    """Name to Parameter (or str) of a checkpoint file; loaded into ``net`` as well if one is given.

    ``choice_func``, ``filter_prefix`` and ``specify_prefix`` select by name. Raises ValueError for a file
    that does not exist, has another format or is broken, and where nothing is left after the selection.
    """
    if dec_key is not None:
        raise NotImplementedError("load_checkpoint(dec_key=…): encryption is not supported")
    if remove_redundancy:
        raise NotImplementedError("load_checkpoint(remove_redundancy=True) is not supported")
    if format not in _FORMATS:
        raise ValueError(f"'format' must be 'ckpt' or 'safetensors', but got {format!r}")
    path = os.path.realpath(os.fspath(ckpt_file_name))
    if not path.endswith("." + format):
        raise ValueError(f"the file {ckpt_file_name!r} is not of the format {format!r}")
    if not os.path.isfile(path):
        raise ValueError(f"the checkpoint file {path} does not exist")
    if format == "safetensors":

        def wanted(name: str) -> bool:
            return bool(_chosen([name], filter_prefix, specify_prefix, choice_func))

        with torch.device("cpu"):
            values: dict[str, Any] = dict(files.read_safetensors(path, wanted))
    else:
        with torch.device("cpu"):
            values = files.read_ckpt(path, crc_check)
        chosen = _chosen(values, filter_prefix, specify_prefix, choice_func)
        values = {name: value for name, value in values.items() if name in chosen}
    if not values:
        raise ValueError("The loaded parameter dict is empty after filter or specify.")
    made = {
        name: Parameter(value, name=name) if isinstance(value, torch.Tensor) else value
        for name, value in values.items()
    }
    if net is not None:
        load_param_into_net(net, made, strict_load)
    return made


def load_param_into_net(
    net: Any, parameter_dict: dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Write parameters into a network or optimizer by MindSpore name; (names not loaded, entries not used).

    A dtype is converted among floats and among integers, not at all with ``strict_load``. Raises TypeError
    for an entry that is no Parameter, RuntimeError where shape or dtype do not fit.
    """
    if remove_redundancy:
        raise NotImplementedError("load_param_into_net(remove_redundancy=True) is not supported")
    if not isinstance(parameter_dict, dict):
        raise TypeError(f"'parameter_dict' must be a dict, but got {type(parameter_dict).__name__}")
    for key, value in parameter_dict.items():
        if not isinstance(key, str) or not isinstance(value, torch.nn.Parameter | str):
            raise TypeError(
                f"'parameter_dict' must hold Parameters by name, but has {key!r}: {type(value).__name__}"
            )
    members = _members(net)
    missing = []
    used = set()
    for name, target in members.items():
        source = parameter_dict.get(name)
        if not isinstance(source, torch.Tensor):
            missing.append(name)
            continue
        used.add(name)
        _load_one(name, target, source, strict_load)
    if missing and not strict_load:
        missing = _by_other_prefix(members, parameter_dict, missing, used)
    left = [name for name in parameter_dict if name not in used]
    if missing:
        logger.warning("%d parameters are not loaded: %s", len(missing), missing[:20])
    return missing, left


def _by_other_prefix(
    members: dict[str, Any], given: dict[str, Any], missing: list[str], used: set[str]
) -> list[str]:
    """Where all names of one side carry one prefix more than the other's, load by the rest of the name."""
    free = [name for name, value in given.items() if name not in used and isinstance(value, torch.Tensor)]
    first = missing[0]
    for key in free:
        if key.endswith("." + first):
            prefix = key[: -len(first)]
            pairs = [(name, prefix + name) for name in missing]
        elif first.endswith("." + key):
            prefix = first[: -len(key)]
            pairs = [(name, name[len(prefix) :]) for name in missing if name.startswith(prefix)]
        else:
            continue
        if len(pairs) == len(missing) and all(source in given for _, source in pairs):
            logger.warning("The names differ by the prefix %r; loaded by what follows it.", prefix)
            for name, source in pairs:
                _load_one(name, members[name], given[source], False)
            return []
    return missing


def _load_one(name: str, target: torch.Tensor, source: torch.Tensor, strict: bool) -> None:
    shapes = {tuple(target.shape), tuple(_local(target).shape)}
    if tuple(source.shape) not in shapes:
        # MindSpore lets a scalar stand for one element, and the other way round.
        if source.numel() == 1 and target.numel() == 1:
            source = source.detach().reshape(target.shape)
        else:
            raise RuntimeError(
                f"{name} has shape {tuple(target.shape)} in the network, "
                f"but {tuple(source.shape)} in 'parameter_dict'"
            )
    if source.dtype != target.dtype:
        both_float = source.is_floating_point() and target.is_floating_point()
        both_int = not source.is_floating_point() and not target.is_floating_point()
        boolean = torch.bool in (source.dtype, target.dtype)
        if strict or boolean or not (both_float or both_int):
            raise RuntimeError(
                f"{name} has dtype {target.dtype} in the network, but {source.dtype} in 'parameter_dict'"
            )
    write(target, source)


def async_ckpt_thread_status() -> bool:
    """Whether a checkpoint is still being written."""
    return background.busy()


def wait_for_saves() -> None:
    """Waits for files that ``async_save`` still writes; raises what went wrong in that thread."""
    background.wait()


def require_checkpoint(path: str | os.PathLike[str]) -> None:
    """Raises FileNotFoundError, which names the path, where there is no checkpoint file below it.

    A run that is told to begin with a checkpoint must not begin without one.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"the checkpoint {str(path)!r} does not exist; leave the path empty to train anew"
        )
    endings = (".safetensors", ".ckpt")
    if os.path.isdir(path) and not any(
        name.endswith(endings) for _, _, names in os.walk(path) for name in names
    ):
        raise FileNotFoundError(
            f"the folder {str(path)!r} holds no checkpoint (*.safetensors); leave the path empty to "
            "train anew"
        )
