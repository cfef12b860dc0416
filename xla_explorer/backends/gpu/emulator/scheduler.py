"""Lock-step execution: groups of lanes by program counter, the lowest first.

Compilers mostly place the join of a branch after both of its sides, so running the lowest counter
first reconverges lanes there. For an instruction of a whole warp (`shfl.sync` ...), lanes wait for
those that can still arrive. Lanes at a barrier wait for all its threads, lanes at an mbarrier for
the end of a phase, warps at `wgmma.fence` for their warpgroup.
"""

from __future__ import annotations

import time
from typing import NoReturn

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, WARPGROUP, Batch, Group, Lanes
from xla_explorer.backends.gpu.emulator.instructions.memory_barriers import Wait
from xla_explorer.backends.gpu.emulator.kernel_code import BarrierUse, BasicBlock
from xla_explorer.backends.gpu.emulator.ptx_text import PtxSyntaxError
from xla_explorer.backends.gpu.emulator.scalar_types import Array
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.limits import deadline, limits

SPIN_LIMIT = 1 << 16
"""Backward jumps after which a group yields to others, for which it may be waiting."""
NUMBERS = 16  # barriers of a block
Pending = dict[int, Lanes]


def join(pending: Pending, pc: int, lanes: Lanes, size: int) -> None:
    """Add lanes to those that wait at an instruction."""
    if pc not in pending:
        pending[pc] = lanes
        return
    other = pending[pc]
    assert other is not None and lanes is not None
    both = np.sort(np.concatenate((other, lanes)))
    pending[pc] = None if len(both) == size else both


def choose(pending: Pending, blocks: dict[int, BasicBlock]) -> int:
    """Return the next instruction: the lowest, unless it must wait for other lanes of a warp."""
    for pc in sorted(pending):
        lanes = pending[pc]
        if not blocks[pc].converges or not split_warps(lanes) or not _elsewhere(pending, pc):
            return pc
    return min(pending)


def split_warps(lanes: Lanes) -> bool:
    """Return whether lanes may be parts of warps."""
    return lanes is not None and (
        len(lanes) % WARP != 0
        or bool((lanes[::WARP] // WARP != lanes[WARP - 1 :: WARP] // WARP).any())
    )


def _elsewhere(pending: Pending, pc: int) -> bool:
    """Return whether other lanes of the warps at an instruction can still move."""
    own = pending[pc]
    assert own is not None
    warps = np.unique(own // WARP)
    return any(
        bool(np.isin(warps, other // WARP).any())
        for at, other in pending.items()
        if at != pc and other is not None
    )


class Barriers:
    """Lanes that wait at block barriers, and the running threads of each block.

    waiting, needed: by number and block: arrived threads, and the required number (0: all running
    ones).
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.threads = self._per_block(batch.start)
        self.live = self.threads.copy()
        self.waiting, self.needed = (np.zeros((NUMBERS, batch.blocks), np.int64) for _ in range(2))
        self.places: dict[tuple[int, int], list[Array]] = {}
        self.uses: dict[int, BarrierUse] = {}

    def _per_block(self, lanes: Lanes) -> Array:
        batch = self.batch
        return np.bincount(
            batch.block_of if lanes is None else batch.block_of[lanes], minlength=batch.blocks
        )

    def leave(self, lanes: Lanes) -> None:
        """Remove ended threads."""
        self.live -= self._per_block(lanes)

    def arrive(self, pc: int, lanes: Array, use: BarrierUse) -> Array | None:
        """Record arrivals at the barrier before instruction `pc`; return lanes that do not wait.

        These execute `bar.arrive`.
        """
        batch = self.batch
        numbers = np.broadcast_to(use.number(batch, lanes), len(lanes)) % NUMBERS
        counts = (
            None if use.threads is None else np.broadcast_to(use.threads(batch, lanes), len(lanes))
        )
        self.uses[pc] = use
        for number in np.unique(numbers).tolist():
            chosen = numbers == number
            some = lanes[chosen]
            self.waiting[number] += self._per_block(some)
            if counts is not None:
                self.needed[number, batch.block_of[some]] = counts[chosen]
            if batch.clocks is not None:
                batch.clocks.come(batch, number, some)
            if use.waits:
                self.places.setdefault((number, pc), []).append(some)
        return None if use.waits else lanes

    def released(self) -> list[tuple[int, Array]]:
        """Release complete barriers and return (next instruction, lanes)."""
        result: list[tuple[int, Array]] = []
        for number in range(NUMBERS):
            waiting, needed = self.waiting[number], self.needed[number]
            done = (waiting > 0) & np.where(needed > 0, waiting >= needed, waiting == self.live)
            if done.any():
                result += self._release(number, done)
        return result

    def _release(self, number: int, done: Array) -> list[tuple[int, Array]]:
        batch = self.batch
        result: list[tuple[int, Array]] = []
        places = np.zeros(batch.blocks, np.int64)
        counted = self.needed[number] > 0
        for (other, pc), parts in list(self.places.items()):
            if other != number:
                continue
            lanes = np.sort(np.concatenate(parts))
            go = done[batch.block_of[lanes]]
            out, stay = lanes[go], lanes[~go]
            places += np.bincount(batch.block_of[out], minlength=batch.blocks) > 0
            if len(out):
                short = ((self.live < self.threads) & ~counted)[batch.block_of[out]]
                if batch.checks and short.any():
                    batch.fault("barrier that threads of the block never reach", pc - 1, out, short)
                finish = self.uses[pc].finish
                if finish is not None:
                    finish(batch, out)
                if batch.clocks is not None:
                    batch.clocks.go(batch, number, out)
                result.append((pc, out))
            if len(stay):
                self.places[number, pc] = [stay]
            else:
                del self.places[number, pc]
        if batch.checks and result:
            if (places > 1).any() and not counted.any():
                batch.findings.note(
                    "threads of a block wait at different barriers",
                    result[0][0] - 1,
                    int((places > 1).sum()),
                )
            many = done & counted & (self.waiting[number] > self.needed[number])
            if many.any():
                batch.findings.note(
                    "more threads at a barrier than it counts", result[0][0] - 1, int(many.sum())
                )
        self.waiting[number, done] = 0
        self.needed[number, done] = 0
        batch.epoch[done] += 1
        if batch.clocks is not None:
            batch.clocks.done(number, np.flatnonzero(done))
        return result

    def note_stuck(self) -> None:
        """Record lanes that wait forever."""
        for (_, pc), parts in self.places.items():
            self.batch.findings.note("barrier that is never complete", pc - 1, sum(map(len, parts)))


class Parked:
    """Lanes that wait for an mbarrier's phase, and warps that wait for their warpgroup."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.waits: dict[int, tuple[Wait, list[Array]]] = {}
        self.warps: dict[int, Array] = {}
        self._seen = 0

    def wait(self, block: BasicBlock, lanes: Array) -> list[tuple[int, Array]]:
        """Park lanes at a wait; return those whose phase is complete."""
        wait = block.wait
        assert wait is not None
        over = wait.ready(self.batch, lanes)
        if not over.all():
            self.waits.setdefault(block.end - 1, (wait, []))[1].append(lanes[~over])
            if not over.any():
                return []
        go = lanes[over]
        wait.finish(self.batch, go, np.ones(len(go), bool))
        return [(block.end, go)]

    def gather(self, block: BasicBlock, lanes: Array) -> list[tuple[int, Array]]:
        """Park warps until their warpgroup is complete; return those of complete ones."""
        waiting = self.warps.pop(block.end, None)
        if waiting is not None:
            lanes = np.sort(np.concatenate((waiting, lanes)))
        _, count = np.unique(lanes // WARPGROUP, return_counts=True)
        whole = np.repeat(count == WARPGROUP, count)
        if not whole.all():
            self.warps[block.end] = lanes[~whole]
        return [(block.end, lanes[whole])] if whole.any() else []

    def woken(self) -> list[tuple[int, Array]]:
        """Return the waits to check again after the end of some phase."""
        barriers = self.batch.memory_barriers
        if barriers is None or barriers.ended == self._seen:
            return []
        self._seen = barriers.ended
        result = [(pc, np.sort(np.concatenate(parts))) for pc, (_, parts) in self.waits.items()]
        self.waits.clear()
        return result

    def note_stuck(self) -> None:
        """Record lanes that wait forever."""
        for pc, (wait, parts) in self.waits.items():
            lanes = np.concatenate(parts)
            self.batch.findings.note(
                "wait for an mbarrier that never ends",
                pc,
                len(lanes),
                wait.stuck(self.batch, lanes),
            )
        for pc, lanes in self.warps.items():
            self.batch.findings.note(
                "warpgroup instruction that a warp never reaches", pc - 1, len(lanes)
            )


STOPS = frozenset({"barrier", "leave", "trap", "wait", "gather"})


def stop(
    batch: Batch, block: BasicBlock, lanes: Lanes, barriers: Barriers, parked: Parked
) -> list[tuple[int, Array]]:
    """Handle a terminator that may block lanes; return (next instruction, lanes) of the others."""
    if block.kind in ("wait", "gather"):
        who = batch.all_lanes if lanes is None else lanes
        return parked.wait(block, who) if block.kind == "wait" else parked.gather(block, who)
    result: list[tuple[int, Array]] = []
    if block.kind == "barrier":
        assert block.barrier is not None
        going = barriers.arrive(
            block.end, batch.all_lanes if lanes is None else lanes, block.barrier
        )
        if going is not None:
            result.append((block.end, going))
    else:
        if block.kind == "trap":
            batch.findings.note("trap", block.end - 1, batch.lanes if lanes is None else len(lanes))
        barriers.leave(lanes)
    return result + barriers.released()


def ways(batch: Batch, block: BasicBlock, group: Group) -> list[tuple[int, Lanes]]:
    """Return the successors of a group at a non-blocking terminator."""
    if block.kind == "fall":
        return [(block.end, group.lanes)]
    if block.kind == "jump":
        return [(block.target, group.lanes)]
    if block.kind == "table":
        return _through_table(batch, block, group)
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


def _through_table(batch: Batch, block: BasicBlock, group: Group) -> list[tuple[int, Lanes]]:
    """Return the successors of a group at `brx.idx`."""
    assert block.condition is not None
    index = np.broadcast_to(block.condition(batch, group.lanes), group.count)
    outside = index >= len(block.table)
    if outside.any():
        batch.fault(
            "branch beyond its table",
            block.end - 1,
            group.lanes,
            outside,
            f"entry {int(index[int(np.argmax(outside))])}",
        )
        index = np.where(outside, 0, index)
    entries = np.unique(index).tolist()
    if len(entries) == 1:
        return [(block.table[entries[0]], group.lanes)]
    lanes = batch.lanes_of(group)
    return [(block.table[entry], lanes[index == entry]) for entry in entries]


class EmulatorLimitError(XlaExplorerError):
    """A kernel exceeded its limit. `kernel`, `line`: its place; the line is of the PTX text."""

    def __init__(self, batch: Batch, pc: int, what: str, hint: str) -> None:
        resources = batch.findings.resources
        i = resources.instructions[min(max(pc, 0), len(resources.instructions) - 1)]
        super().__init__(
            f"kernel {resources.kernel_name} {what}; it was at PTX line {i.line}: {i.text}", hint
        )
        self.kernel, self.line = resources.kernel_name, i.line


class Watch:
    """Counter of a batch's instructions, with a check of the run's deadline."""

    __slots__ = ("batch", "budget", "left", "until")

    def __init__(self, batch: Batch, budget: int) -> None:
        self.batch, self.budget, self.left, self.until = batch, budget, budget, deadline()

    def count(self, instructions: int, pc: int) -> None:
        """Count instructions up to `pc`; EmulatorLimitError beyond the budget."""
        self.left -= instructions
        if self.left < 0:
            hint = (
                "does its loop come to an end? if it does: xe.options.emulated_instructions, or "
                "LaunchOptions(instructions=...)"
            )
            raise EmulatorLimitError(
                self.batch, pc, f"has executed {self.budget:,} instructions and not ended", hint
            )
        if self.until is not None and time.monotonic() > self.until[0]:
            hint = "does its loop come to an end? if it does: xe.options.timeout = None"
            raise EmulatorLimitError(
                self.batch, pc, f"was still running on the emulator after {self.until[1]:g} s", hint
            )


def raise_readable(batch: Batch, pc: int, problem: Exception) -> NoReturn:
    """Raise an instruction's exception as an error with its line.

    Operands in arbitrary PTX text may be of unsupported types.
    """
    if isinstance(problem, XlaExplorerError):
        raise problem
    resources = batch.findings.resources
    i = resources.instructions[pc]
    message = (
        f"kernel {resources.kernel_name}, PTX line {i.line}: {i.text} cannot be executed: "
        f"{type(problem).__name__}: {problem}"
    )
    raise PtxSyntaxError(
        message, "are its operands of the types and sizes that it takes?"
    ) from problem


def _execute(batch: Batch, block: BasicBlock, group: Group) -> None:
    """Run the steps of a block for a group of lanes, and count them."""
    try:
        for step in block.steps:
            step(batch, group)
    except Exception as problem:
        raise_readable(batch, block.numbers[block.steps.index(step)], problem)
    if batch.counters is not None:
        batch.counters.block(batch, block.start, block.end, group)


def run(batch: Batch, blocks: dict[int, BasicBlock], instructions: int | None = None) -> None:
    """Run a batch to its end.

    instructions: limit, each counted once for lanes that execute it together; None: of
    `foundation.limits`. EmulatorLimitError beyond it, and at the deadline of the run.
    """
    watch = Watch(batch, limits.emulated_instructions if instructions is None else instructions)
    pending: Pending = {0: batch.start}
    barriers, parked = Barriers(batch), Parked(batch)
    size, spins = batch.lanes, 0
    while pending:
        pc = choose(pending, blocks)
        if spins > SPIN_LIMIT and len(pending) > 1:
            pc, spins = max(pending), 0
        group = batch.group(pending.pop(pc))
        horizon = min(pending) if pending else None
        while True:
            block = blocks[pc]
            watch.count(max(block.end - block.start, 1), block.end - 1)
            _execute(batch, block, group)
            if (
                group.lanes is None
                and batch.clocks is None
                and block.barrier is not None
                and block.barrier.plain
            ):
                batch.epoch += 1
                pc = block.end
                continue
            for after, lanes in parked.woken():
                join(pending, after, lanes, size)
                horizon = min(pending)
            if block.kind in STOPS:
                for after, lanes in stop(batch, block, group.lanes, barriers, parked):
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
            apart = blocks[after].converges and split_warps(group.lanes)
            if horizon is not None and (after >= horizon or spins > SPIN_LIMIT or apart):
                join(pending, after, group.lanes, size)
                break
            pc = after
    barriers.note_stuck()
    parked.note_stuck()
