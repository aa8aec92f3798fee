# ms2torch: new file
"""Trains from a YAML file on torch: one process without a launcher, or many under torchrun.

    python run_pynative.py --config configs/deepseek3/pretrain_deepseek3_single_card.yaml training.steps=20
    torchrun --nproc_per_node=8 run_pynative.py --config FILE parallelism.tensor_parallel=2
"""

import argparse
import os
import sys


def parse_arguments(argv):
    """The command's arguments; ends with code 2 and one line for wrong ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True, metavar="FILE", help="YAML configuration")
    parser.add_argument(
        "--device", choices=("npu", "cuda", "cpu"), help="default: MF_DEVICE_TYPE, or the best that is there"
    )
    parser.add_argument("overrides", nargs="*", metavar="section.key=value", help="values put over the file's")
    return parser.parse_args(argv)


def fail(message):
    """Ends with code 2 and one line."""
    print(f"run_pynative.py: {message}", file=sys.stderr)
    raise SystemExit(2)


def read_config(path):
    """The file's content as a dictionary."""
    import yaml

    try:
        with open(path, encoding="utf-8") as stream:
            config = yaml.safe_load(stream)
    except OSError as error:
        fail(f"{path}: cannot be read ({error.strerror}); name a YAML file with --config")
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        fail(f"{path}: not YAML: {' '.join(str(error).split())}")
    if not isinstance(config, dict):
        fail(f"{path}: holds no sections; see configs/deepseek3/pretrain_deepseek3_single_card.yaml")
    return config


def override(config, items):
    """Puts `section.key=value` over a configuration; values are read as YAML."""
    import yaml

    for item in items:
        name, sign, text = item.partition("=")
        keys = name.split(".")
        if not sign or not all(keys):
            fail(f"{item!r} is not of the form section.key=value")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            fail(f"{item!r}: the value is not YAML")
        # YAML 1.1 reads 1e-3 as a string.
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                pass
        place = config
        for key in keys[:-1]:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                fail(f"{item!r}: {key} is a value, not a section")
        place[keys[-1]] = value
    return config


def main(argv=None):
    """Runs the training or inference that the configuration asks for."""
    arguments = parse_arguments(argv)
    # Every module asks `_backend` for the device when it is imported.
    if arguments.device:
        os.environ["MF_DEVICE_TYPE"] = arguments.device
    elif "MF_DEVICE_TYPE" not in os.environ:
        os.environ["MF_DEVICE_TYPE"] = best_device()
    config = override(read_config(arguments.config), arguments.overrides)
    from mindformers.pynative.trainer import Trainer

    try:
        trainer = Trainer(config=config)
    except (ValueError, TypeError, FileNotFoundError, NotImplementedError) as error:
        if os.environ.get("MF_TRACEBACK") == "1":
            raise
        fail(f"{arguments.config}: {' '.join(str(error).split())} (MF_TRACEBACK=1 shows where)")
    if getattr(trainer, "is_inference", False):  # MindFormers 2.0.0 only trains
        trainer.inference()
    else:
        trainer.train()


def best_device():
    """npu before cuda before cpu, by what is there."""
    import torch

    try:
        import torch_npu  # noqa: F401  (registers torch.npu)

        if torch.npu.is_available():
            return "npu"
    except ImportError:
        pass
    return "cuda" if torch.cuda.is_available() else "cpu"


if __name__ == "__main__":
    main()
