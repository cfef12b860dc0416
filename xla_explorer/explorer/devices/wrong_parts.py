"""`session.devices.bisect`: the first part on a device that differs from the whole program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.compiler.spmd.explanation.array_shards import shard_of
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import RecordedPartitioning
from xla_explorer.compiler.spmd.propagation.report import inlined
from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.evaluator import evaluate, evaluate_replicated
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape
from xla_explorer.hlo.text.parser import parse_hlo

Array = np.ndarray[Any, Any]
ALL_REDUCE = "all-reduce"
_ROUNDING = 1e-3  # relative to the largest element; sums over devices have another order


class WrongPart(NamedTuple):
    """A value whose part on some device differs from the whole program's.

    Attributes
    ----------
    value, opcode : str
        Of the whole program, with %.
    local : str
        The instruction of the program of one device, with %.
    device : int
        The first device that differs.
    devices : int
        How many differ.
    error : float
        The largest difference, relative to the largest element.
    operands_right : bool
        True if every compared operand is right: the error begins here.
    """

    value: str
    opcode: str
    local: str
    device: int
    devices: int
    error: float
    operands_right: bool


class PartitionBisection(Report):
    """The values of a partitioned program beside those of the whole program.

    Attributes
    ----------
    rows : list of WrongPart
        Values that differ, in program order.
    compared : int
        Values that were compared on every device.
    """

    def __init__(self, rows: list[WrongPart], compared: int) -> None:
        self.rows, self.compared = rows, compared

    @property
    def first(self) -> WrongPart | None:
        """The first value that differs although its operands are right, or None."""
        return next((row for row in self.rows if row.operands_right), None)

    def headline(self) -> str:
        """Return the first wrong value and device."""
        compared = number_of(self.compared, "value")
        if self.first is None:
            return f"every device has its part of each of {compared}"
        one = self.first
        return (
            f"{one.value} ({one.opcode}) is the first of {compared} that differs:"
            f" {one.local} on device {one.device} is off by {one.error:.3g};"
            f" {number_of(one.devices, 'device')} in all"
        )

    def blocks(self) -> Blocks:
        """Yield the values that differ."""
        if self.rows:
            yield Table(WrongPart._fields, self.rows)


def bisection(
    program: RecordedPartitioning, arrays: Sequence[Array], partitioned: HloModule | str | None
) -> PartitionBisection:
    """Compare each value of the entry on each device with the whole program's.

    partitioned: by another partitioner; its values correspond by opcode, op_name and shape of the
    part. By default the program's own.
    """
    whole = inlined(program.source)
    if isinstance(partitioned, str):
        partitioned = parse_hlo(partitioned)
    if partitioned is None:
        pairs = list(_own_pairs(program, whole))
        local = program.module
    else:
        pairs = list(_matched_pairs(program, whole, partitioned))
        local = partitioned
    if not pairs:
        raise XlaExplorerError(
            "no value of the partitioned program corresponds to one of the whole program",
            "give the text after spmd-partitioning, with its metadata",
        )
    wanted = list(evaluate(_returning(whole, [i.name for i, _, _ in pairs]), *arrays))
    given = _shards(program, whole, arrays)
    module = _returning(local, [part.name for _, part, _ in pairs])
    found = evaluate_replicated(module, given, partitions=program.devices, replicas=1)
    wrong: dict[str, WrongPart] = {}
    seen = {i.name for i, _, _ in pairs}
    for k, (i, part, sharding) in enumerate(pairs):
        errors = [
            _error(found[d][k], np.asarray(wanted[k]), sharding, d) for d in range(program.devices)
        ]
        bad = [d for d, error in enumerate(errors) if error]
        if bad:
            right = not any(name in wrong for name in _sources(i, seen))
            wrong[i.name] = WrongPart(
                f"%{i.name}", i.opcode.name, f"%{part.name}", bad[0], len(bad), max(errors), right
            )
    return PartitionBisection(list(wrong.values()), len(pairs))


Pair = tuple[HloInstruction, HloInstruction, Sharding]
"""A value of the whole program, its part, and its sharding."""


def _own_pairs(program: RecordedPartitioning, whole: HloModule) -> Iterator[Pair]:
    for i in whole.entry.post_order():
        part = program.run.parts.get(i.name)
        if part is not None and not part.tiling.manual and part.local.shape.is_array:
            yield i, part.local, program.run.axes.sharding(part.tiling)


def _matched_pairs(
    program: RecordedPartitioning, whole: HloModule, partitioned: HloModule
) -> Iterator[Pair]:
    """Yield values and parts of equal opcode, op_name and size, in order."""
    left: dict[tuple[object, ...], list[HloInstruction]] = defaultdict(list)
    for part in partitioned.entry.post_order():
        if part.shape.is_array:
            left[_key(part, part.shape.dimensions)].append(part)
    for i in whole.entry.post_order():
        rows = program.report.rows_of(i.name)
        if not rows or not i.shape.is_array or not parse_metadata(i.metadata).op_name:
            continue
        parts = left.get(_key(i, rows[0].local_dimensions))
        if parts:
            yield i, _combined(parts.pop(0)), Sharding.read_all(rows[0].tiles)[0]


def _combined(part: HloInstruction) -> HloInstruction:
    """Return the sum over devices of partial results, or the part itself."""
    while len(users := list(dict.fromkeys(part.users))) == 1 and users[0].opcode.name == ALL_REDUCE:
        (part,) = users
    return part


def _key(i: HloInstruction, sizes: tuple[int, ...]) -> tuple[object, ...]:
    return i.opcode.name, parse_metadata(i.metadata).op_name, sizes


def _returning(module: HloModule, names: Sequence[str]) -> HloModule:
    """Return a copy of a module that returns instructions of its entry."""
    copy = module.clone()
    named = {i.name: i for i in copy.entry.instructions.values()}
    values = [named[name] for name in names]
    shape = tuple_shape([value.shape for value in values])
    copy.entry.set_root(copy.entry.add("tuple", shape, values))
    copy.attributes.pop("entry_computation_layout", None)
    return copy


def _shards(
    program: RecordedPartitioning, whole: HloModule, arrays: Sequence[Array]
) -> list[list[Array]]:
    """Return the parts of the arguments for each device."""
    shardings = []
    for p in whole.entry.parameters():
        rows = program.report.rows_of(p.name)
        shardings.append(Sharding.read_all(rows[0].tiles)[0] if rows else Sharding())
    return [
        [shard_of(np.asarray(a), s, device) for a, s in zip(arrays, shardings, strict=True)]
        for device in range(program.devices)
    ]


def _error(part: Array, whole: Array, sharding: Sharding, device: int) -> float:
    """Return the largest relative difference of a part; 0 if rounding explains it."""
    own = whole[sharding.part(whole.shape, device)]
    have = np.asarray(part)[tuple([slice(0, n) for n in own.shape])]
    if own.dtype.kind not in "fcV":
        return float(not np.array_equal(have, own))
    have, own = have.astype(np.complex128), own.astype(np.complex128)
    scale = float(np.max(np.abs(own), initial=0.0, where=np.isfinite(own))) or 1.0
    same = (have == own) | (np.isnan(have) & np.isnan(own))
    with np.errstate(invalid="ignore"):  # infinities of one side
        off = np.where(same, 0.0, np.abs(have - own)) / scale
    error = float(np.max(np.where(np.isnan(off), np.inf, off), initial=0.0))
    return error if error > _ROUNDING else 0.0


def _sources(i: HloInstruction, seen: set[str]) -> set[str]:
    """Return the nearest values before an instruction that were compared."""
    found, pending, visited = set[str](), list(i.operands), set[HloInstruction]()
    while pending:
        one = pending.pop()
        if one in visited:
            continue
        visited.add(one)
        if one.name in seen:
            found.add(one.name)
        else:
            pending += one.operands
    return found
