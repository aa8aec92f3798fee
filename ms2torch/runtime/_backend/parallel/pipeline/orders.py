"""Orders in which pipeline ranks compute and communicate.

A schedule says in which order each rank computes; the transfers are put in by running the order of all ranks
against each other. Every transfer is given to its sender and its receiver at the same moment, so any two
ranks have their common transfers in the same order: no deadlock, also where sends block.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["MetaStep", "MetaStepType", "gpipe", "interleaved", "one_f_one_b", "with_transfers"]


class MetaStepType(enum.Enum):
    """What a step does."""

    FWD = 1
    BWD = 2
    FWD_RECV = 3
    FWD_SEND = 4
    BWD_RECV = 5
    BWD_SEND = 6
    OVERLAP_B_F = 7


@dataclass(frozen=True)
class MetaStep:
    """One step of a rank: a micro-batch on a stage."""

    micro_index: int
    type: MetaStepType
    stage_index: int


def _forward(micro: int, stage: int) -> MetaStep:
    return MetaStep(micro, MetaStepType.FWD, stage)


def _backward(micro: int, stage: int) -> MetaStep:
    return MetaStep(micro, MetaStepType.BWD, stage)


def gpipe(ranks: int, micros: int) -> dict[int, list[MetaStep]]:
    """All forwards, then all backwards."""
    return {
        r: [_forward(m, r) for m in range(micros)] + [_backward(m, r) for m in range(micros)]
        for r in range(ranks)
    }


def _alternate(warmup: int, forwards: list[MetaStep], backwards: list[MetaStep]) -> list[MetaStep]:
    warmup = min(warmup, len(forwards))
    order = forwards[:warmup]
    for forward, backward in zip(forwards[warmup:], backwards, strict=False):
        order += [forward, backward]
    return order + backwards[len(forwards) - warmup :]


def one_f_one_b(ranks: int, micros: int) -> dict[int, list[MetaStep]]:
    """As many forwards as stages follow, then one forward and one backward in turn."""
    return {
        r: _alternate(
            ranks - 1 - r, [_forward(m, r) for m in range(micros)], [_backward(m, r) for m in range(micros)]
        )
        for r in range(ranks)
    }


def interleaved(ranks: int, micros: int, chunks: int) -> dict[int, list[MetaStep]]:
    """1F1B with several stages a rank: micro-batches go in rounds of about ``ranks`` through each chunk."""
    rounds, start = [], 0
    count = max(1, micros // ranks)
    for index in range(count):
        size = micros // count + (1 if index < micros % count else 0)
        rounds.append(range(start, start + size))
        start += size
    orders = {}
    for r in range(ranks):
        forwards = [_forward(m, c * ranks + r) for part in rounds for c in range(chunks) for m in part]
        backwards = [
            _backward(m, c * ranks + r) for part in rounds for c in reversed(range(chunks)) for m in part
        ]
        warmup = (chunks - 1) * len(rounds[0]) + 2 * (ranks - 1 - r)
        orders[r] = _alternate(warmup, forwards, backwards)
    return orders


def _needs(step: MetaStep, stages: int) -> list[tuple[int, MetaStepType, int]]:
    if step.type is MetaStepType.FWD:
        return [] if step.stage_index == 0 else [(step.micro_index, MetaStepType.FWD, step.stage_index - 1)]
    needed = [(step.micro_index, MetaStepType.FWD, step.stage_index)]
    if step.stage_index < stages - 1:
        needed.append((step.micro_index, MetaStepType.BWD, step.stage_index + 1))
    return needed


def with_transfers(orders: dict[int, list[MetaStep]], stages: int) -> dict[int, list[MetaStep]]:
    """The orders with sends and receives between ranks; stage ``s`` lives on rank ``s % ranks``.

    ``RuntimeError`` for orders that wait for each other.
    """
    ranks = len(orders)
    done: set[tuple[int, MetaStepType, int]] = set()
    at = dict.fromkeys(orders, 0)
    full: dict[int, list[MetaStep]] = {r: [] for r in orders}
    while any(at[r] < len(orders[r]) for r in orders):
        ready = [(r, orders[r][at[r]]) for r in orders if at[r] < len(orders[r])]
        tick = [(r, step) for r, step in ready if all(n in done for n in _needs(step, stages))]
        if not tick:
            raise RuntimeError("the pipeline order waits for itself")
        for r, step in tick:
            full[r].append(step)
            at[r] += 1
        for r, step in tick:
            done.add((step.micro_index, step.type, step.stage_index))
            forward = step.type is MetaStepType.FWD
            target = step.stage_index + (1 if forward else -1)
            if not 0 <= target < stages or target % ranks == r:
                continue
            send, receive = (
                (MetaStepType.FWD_SEND, MetaStepType.FWD_RECV)
                if forward
                else (MetaStepType.BWD_SEND, MetaStepType.BWD_RECV)
            )
            full[r].append(MetaStep(step.micro_index, send, step.stage_index))
            full[target % ranks].append(MetaStep(step.micro_index, receive, target))
    return full
