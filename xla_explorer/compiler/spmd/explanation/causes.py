"""Causes of collectives: the reshard or choice, the operation, and the annotations behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from xla_explorer.compiler.spmd.explanation.annotation_places import Annotation, annotation_of
from xla_explorer.compiler.spmd.explanation.mesh_groups import named_tiles
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import RecordedPartitioning
from xla_explorer.compiler.spmd.partitioning.choices import PartitionChoice, WrittenFor
from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.hlo.instruction import HloInstruction

_MOST_VALUES = 500  # that a search for an annotation visits
OWN = "own"  # a collective that the program itself has, such as inside of shard_map
_KINDS = {
    "reshard": "a value is moved to another sharding",
    "partial-results": "partial results of the devices are combined",
    OWN: "the program states the collective itself",
}


@dataclass(frozen=True)
class Cause:
    """Why a collective is there.

    Attributes
    ----------
    kind : str
        `reshard`, `partial-results`, `own`, or the kind of the partitioner's choice.
    operation : str
        The instruction of the global program for which it was written, with %.
    opcode : str
        Its opcode.
    value : str
        Of a reshard, the value that is moved, with %.
    source, target : str
        Of a reshard, the shardings in axis names.
    choice : PartitionChoice or None
        The decision, with its alternatives.
    annotations : tuple of Annotation
        The annotations that brought the axes.
    metadata : str or None
        Of the operation.
    line : int
        Of the operation in the HLO text; 0 if unknown.
    share : float
        The part of the collective's bytes that it has; less than 1 if collectives were combined.
    """

    kind: str
    operation: str
    opcode: str = ""
    value: str = ""
    source: str = ""
    target: str = ""
    choice: PartitionChoice | None = None
    annotations: tuple[Annotation, ...] = ()
    metadata: str | None = None
    line: int = 0
    share: float = 1.0

    @property
    def meaning(self) -> str:
        """The kind in words."""
        return _KINDS.get(self.kind, f"the partitioner's choice of {self.kind.replace('-', ' ')}")

    def with_share(self, share: float) -> Cause:
        """Return the cause with another part of the bytes."""
        return replace(self, share=share)


def cause_of(
    program: RecordedPartitioning, collective: HloInstruction, axes: Sequence[str]
) -> Cause:
    """Return the cause of a collective as the partitioner wrote it. axes: those of its groups."""
    written = program.run.state.causes.get(collective)
    if written is None or written.instruction is None:
        i = collective
        return Cause(OWN, f"%{i.name}", i.opcode.name, metadata=i.metadata, line=i.line or 0)
    i, choice = written.instruction, written.choice
    kind = "reshard" if written.source is not None else choice.kind if choice else "partial-results"
    return Cause(
        kind,
        f"%{i.name}",
        i.opcode.name,
        f"%{written.value.name}" if written.value is not None else "",
        _named(program, written, written.source),
        _named(program, written, written.target),
        choice,
        tuple(_annotations(program, written, axes)),
        i.metadata,
        i.line or 0,
    )


def _named(program: RecordedPartitioning, written: WrittenFor, tiling: Tiling | None) -> str:
    if tiling is None:
        return ""
    tiles = program.run.axes.sharding(tiling)
    return named_tiles(program.mesh, tiles, len(tiling.dims))


def _annotations(
    program: RecordedPartitioning, written: WrittenFor, axes: Sequence[str]
) -> list[Annotation]:
    """Return the annotations that brought axes to the values around an operation.

    Without one there, they are searched backwards from its operands.
    """
    names = {axis.split(":")[0] for axis in axes}
    near = _around(written)
    found = _of_values(program, near, names)
    seen = set(near)
    while not found and near and len(seen) < _MOST_VALUES:
        near = [one for i in near for one in _operands(program, i) if one not in seen]
        seen.update(near)
        found = _of_values(program, near, names)
    return found


def _around(written: WrittenFor) -> list[HloInstruction]:
    """Return the moved value, then the operands of the operation and its result."""
    i = written.instruction
    assert i is not None
    first = [written.value] if written.value is not None else []
    return list(dict.fromkeys([*first, *i.operands, i]))


def _operands(program: RecordedPartitioning, i: HloInstruction) -> Sequence[HloInstruction]:
    """Return the operands of an instruction; of a parameter, those of the call."""
    if i.operands or i.opcode.name != "parameter":
        return i.operands
    caller = program.callers.get(i.parent)
    return caller.operands if caller is not None else ()


def _of_values(
    program: RecordedPartitioning, values: Iterable[HloInstruction], names: set[str]
) -> list[Annotation]:
    found: dict[str, Annotation] = {}
    for i in values:
        for origin in _origins(program, i, names):
            one = annotation_of(program.annotations, origin)
            if one is not None:
                found.setdefault(one.origin, one)
    return list(found.values())


def _origins(program: RecordedPartitioning, i: HloInstruction, names: set[str]) -> Iterator[str]:
    rows = program.report.rows_of(i.name) or (
        program.report.rows_of(i.operands[0].name) if i.operands else []
    )
    for row in rows:
        for axis, origin in row.origins.items():
            if axis.split(":")[0] in names:
                yield origin
