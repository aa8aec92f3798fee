"""Runs in a port: the learning rates of a JSON list of schedules, at steps 0 to 13, as JSON on the standard output."""

import json
import sys

import mindformers.core.lr.lr_schedule as schedules
import torch
from mindformers.tools.register import MindFormerModuleType, MindFormerRegister


def main():
    made = []
    with open(sys.argv[1]) as stream:
        cases = json.load(stream)
    for case in cases:
        schedule = MindFormerRegister.get_instance_from_cfg(
            {"type": case["class"], **case["arguments"]}, MindFormerModuleType.LR
        )
        assert isinstance(schedule, getattr(schedules, case["class"]))
        rates = [schedule(torch.tensor([step], dtype=torch.int32)) for step in range(14)]
        made.append([float(torch.as_tensor(rate).reshape(-1)[0]) for rate in rates])
    print(json.dumps(made))


if __name__ == "__main__":
    main()
