"""The work of collectives in shared memory: the share of each member of a group.

A share reads the operands of all members, and writes results that no other share writes. So shares
may run one after the other, or side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.backends.cpu.devices.combining import Combine
from xla_explorer.hlo.instruction import HloInstruction

Array = np.ndarray[Any, Any]


class Member(NamedTuple):
    """The operands and results of one device in a collective, as views of its memory."""

    operands: tuple[Array, ...]
    results: tuple[Array, ...]


class Work(NamedTuple):
    """A collective of one group. members: in rank order. combiners: one for each operand."""

    instruction: HloInstruction
    members: Sequence[Member]
    combiners: Sequence[Combine]

    @property
    def axis(self) -> int:
        """The dimension along which blocks are exchanged."""
        return int(self.instruction.attributes.value("dimensions")[0])

    def operands(self, k: int) -> list[Array]:
        """Return operand k of all members, in rank order."""
        return [m.operands[k] for m in self.members]


def _block(x: Array, axis: int, number: int, size: int) -> Array:
    return x[(slice(None),) * axis + (slice(number * size, (number + 1) * size),)]


def _rows(x: Array, rank: int, count: int) -> Array | None:
    """Return a member's part of an array along its first dimension; None if it is empty."""
    if x.ndim == 0 or x.shape[0] < count:
        return x if rank == 0 else None
    first, end = rank * x.shape[0] // count, (rank + 1) * x.shape[0] // count
    return x[first:end]


def all_reduce(work: Work, rank: int, count: int) -> None:
    """Combine one part of each operand, and write it to all members."""
    first, *others = work.members
    for k, combine in enumerate(work.combiners):
        out = _rows(first.results[k], rank, count)
        if out is None:
            continue
        parts = [_rows(x, rank, count) for x in work.operands(k)]
        combine([p for p in parts if p is not None], out)
        for member in others:
            target = _rows(member.results[k], rank, count)
            if target is not None:
                target[...] = out


def all_gather(work: Work, rank: int, count: int) -> None:
    """Write the operands of all members to one member."""
    for k, result in enumerate(work.members[rank].results):
        for number, x in enumerate(work.operands(k)):
            _block(result, work.axis, number, x.shape[work.axis])[...] = x


def reduce_scatter(work: Work, rank: int, count: int) -> None:
    """Combine one member's block of each operand."""
    for k, combine in enumerate(work.combiners):
        result = work.members[rank].results[k]
        size = result.shape[work.axis]
        combine([_block(x, work.axis, rank, size) for x in work.operands(k)], result)


def all_to_all(work: Work, rank: int, count: int) -> None:
    """Write one block of every member to one member."""
    results = work.members[rank].results
    if not work.instruction.attributes.get("dimensions"):
        for result, member in zip(results, work.members, strict=True):
            result[...] = member.operands[rank]
        return
    size = results[0].shape[work.axis] // len(work.members)
    for number, x in enumerate(work.operands(0)):
        _block(results[0], work.axis, number, size)[...] = _block(x, work.axis, rank, size)


def collective_broadcast(work: Work, rank: int, count: int) -> None:
    """Write the operands of the first member to one member."""
    for result, x in zip(work.members[rank].results, work.members[0].operands, strict=True):
        result[...] = x


def collective_reduce(work: Work, rank: int, count: int) -> None:
    """Combine the operands for the first member; the others keep their own."""
    for k, combine in enumerate(work.combiners):
        own = work.members[rank]
        combine(work.operands(k) if rank == 0 else [own.operands[k]], own.results[k])


Share = Callable[[Work, int, int], None]
SHARES: Final[dict[str, Share]] = {
    "all-reduce": all_reduce,
    "all-gather": all_gather,
    "reduce-scatter": reduce_scatter,
    "all-to-all": all_to_all,
    "collective-broadcast": collective_broadcast,
    "collective-reduce": collective_reduce,
}
COMBINING: Final = frozenset(["all-reduce", "reduce-scatter", "collective-reduce"])


def whole_work(work: Work) -> None:
    """Do the shares of all members."""
    share = SHARES[work.instruction.opcode.name]
    if share is all_reduce:
        share(work, 0, 1)
        return
    for rank in range(len(work.members)):
        share(work, rank, len(work.members))
