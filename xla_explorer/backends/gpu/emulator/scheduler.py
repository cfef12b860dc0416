"""Lock-step execution: groups of lanes by program counter, the lowest first.

Compilers lay out code so that the join of a branch comes after both of its sides; running the lowest counter first therefore
makes lanes meet there again. Lanes at a barrier wait until their whole block is there.
"""

from __future__ import annotations

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import Batch, Group, Lanes
from xla_explorer.backends.gpu.emulator.kernel_code import BasicBlock
from xla_explorer.backends.gpu.emulator.scalar_types import Array

SPIN_LIMIT = 1 << 16
"""Backward jumps after which a group lets others go first: it may be waiting for them."""
Pending = dict[int, Lanes]


def join(pending: Pending, pc: int, lanes: Lanes, size: int) -> None:
    """Let lanes wait at an instruction, together with those that wait there already."""
    if pc not in pending:
        pending[pc] = lanes
        return
    other = pending[pc]
    assert other is not None and lanes is not None
    both = np.sort(np.concatenate((other, lanes)))
    pending[pc] = None if len(both) == size else both


class Barriers:
    """Lanes that wait at block barriers, and how many threads of each block are still there."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.threads = self._per_block(batch.start)
        self.live = self.threads.copy()
        self.waiting = np.zeros(batch.blocks, np.int64)
        self.places: dict[int, list[Array]] = {}

    def _per_block(self, lanes: Lanes) -> Array:
        batch = self.batch
        return np.bincount(batch.block_of if lanes is None else batch.block_of[lanes], minlength=batch.blocks)

    def leave(self, lanes: Lanes) -> None:
        """Threads have ended."""
        self.live -= self._per_block(lanes)

    def arrive(self, pc: int, lanes: Array) -> None:
        """Lanes have come to the barrier before instruction `pc`."""
        self.waiting += self._per_block(lanes)
        self.places.setdefault(pc, []).append(lanes)

    def released(self) -> list[tuple[int, Array]]:
        """(next instruction, lanes) of the blocks that are complete; they wait no more."""
        batch = self.batch
        done = (self.waiting == self.live) & (self.waiting > 0)
        if not done.any():
            return []
        result, places = [], np.zeros(batch.blocks, np.int64)
        for pc, parts in list(self.places.items()):
            lanes = np.sort(np.concatenate(parts))
            go = done[batch.block_of[lanes]]
            out, stay = lanes[go], lanes[~go]
            places += np.bincount(batch.block_of[out], minlength=batch.blocks) > 0
            if len(out):
                short = (self.live < self.threads)[batch.block_of[out]]
                if batch.checks and short.any():
                    batch.fault("barrier that threads of the block never reach", pc - 1, out, short)
                result.append((pc, out))
            if len(stay):
                self.places[pc] = [stay]
            else:
                del self.places[pc]
        if batch.checks and (places > 1).any():
            batch.findings.note("threads of a block wait at different barriers", result[0][0] - 1, int((places > 1).sum()))
        self.waiting[done] = 0
        batch.epoch[done] += 1
        return result

    def note_stuck(self) -> None:
        """Nobody can move, and lanes still wait."""
        for pc, parts in self.places.items():
            self.batch.findings.note("barrier that is never complete", pc - 1, sum(map(len, parts)))


def ways(batch: Batch, block: BasicBlock, group: Group) -> list[tuple[int, Lanes]]:
    """Where a group goes from a block that ends in no barrier and does not end the threads."""
    if block.kind == "fall":
        return [(block.end, group.lanes)]
    if block.kind == "jump":
        return [(block.target, group.lanes)]
    assert block.condition is not None
    truth = block.condition(batch, group.lanes)
    if batch.counters is not None:
        batch.counters.branch(batch, block.end - 1, truth, group)
    taken = group.count * bool(truth[0]) if len(truth) == 1 else int(np.count_nonzero(truth))
    if taken == group.count:
        return [(block.target, group.lanes)]
    if not taken:
        return [(block.end, group.lanes)]
    lanes = batch.lanes_of(group)
    return [(block.target, lanes[truth]), (block.end, lanes[~truth])]


def run(batch: Batch, blocks: dict[int, BasicBlock], turns: int = 1 << 24) -> None:
    """Run a batch to its end. turns: basic blocks after which it is stopped, with a finding."""
    pending: Pending = {0: batch.start}
    barriers = Barriers(batch)
    counters, size = batch.counters, batch.lanes
    spins = 0
    while pending:
        pc = min(pending)
        if spins > SPIN_LIMIT and len(pending) > 1:
            pc, spins = max(pending), 0
        group = batch.group(pending.pop(pc))
        horizon = min(pending) if pending else None
        while True:
            turns -= 1
            block = blocks[pc]
            for step in block.steps:
                step(batch, group)
            if counters is not None:
                counters.block(batch, block.start, block.end, group)
            if turns < 0:
                batch.findings.note("stopped after too many instructions", block.end - 1, group.count)
                return
            if block.kind == "barrier" and group.lanes is None:
                batch.epoch += 1
                pc = block.end
                continue
            if block.kind in ("barrier", "leave", "trap"):
                if block.kind == "barrier":
                    barriers.arrive(block.end, batch.lanes_of(group))
                else:
                    if block.kind == "trap":
                        batch.findings.note("trap", block.end - 1, group.count)
                    barriers.leave(group.lanes)
                for after, lanes in barriers.released():
                    join(pending, after, None if len(lanes) == size else lanes, size)
                spins = 0
                break
            following = ways(batch, block, group)
            if len(following) > 1:
                for after, some in following:
                    join(pending, after, some, size)
                spins = 0
                break
            after = following[0][0]
            spins += after <= pc
            if horizon is not None and (after >= horizon or spins > SPIN_LIMIT):
                join(pending, after, group.lanes, size)
                break
            pc = after
    barriers.note_stuck()
