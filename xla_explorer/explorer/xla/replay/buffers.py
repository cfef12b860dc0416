"""XLA:CPU's buffer assignment: the allocation of each value, their number and their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from xla_explorer.compiler.buffers.xla import NotFlatError, assign_as_xla
from xla_explorer.explorer.display.quantities import byte_count
from xla_explorer.explorer.sessions.compilation import Compilation, NotThereError
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.frontends.xla_dump.buffer_assignment import DumpedSlice, parse_buffer_assignment

STAGE: Final = "buffer-assignment"
_ROLES: Final = (
    ("preallocated-temp", "temporary"),
    ("parameter", "parameter"),
    ("constant", "constant"),
    ("thread-local", "thread-local"),
)


class Totals(NamedTuple):
    """Number of allocations, their bytes, and those of the temporary one."""

    allocations: int
    bytes: int
    temporary_bytes: int


class ReplayedBuffers(Replay):
    """The place of each value, by XLA and by our replay.

    Attributes
    ----------
    ours, xla : Totals
        Of both assignments.
    """

    def __init__(self, rows: list[ReplayRow], ours: Totals, xla: Totals) -> None:
        super().__init__("buffers", rows, "buffer assignment", None, "values in buffers")
        self.ours, self.xla = ours, xla

    def headline(self) -> str:
        """Return allocations and bytes of both, and the agreement."""
        return (
            f"{super().headline()}; allocations: XLA {self.xla.allocations}, replayed "
            f"{self.ours.allocations}; bytes: "
            f"{byte_count(self.xla.bytes)} and {byte_count(self.ours.bytes)}, of these temporary "
            f"{byte_count(self.xla.temporary_bytes)} and {byte_count(self.ours.temporary_bytes)}"
        )


class _Placed(NamedTuple):
    """A value in an allocation. role: the purpose of the allocation."""

    value: str
    allocation: int
    role: str
    offset: int
    size: int


def replayed_buffers(session: Compilation) -> ReplayedBuffers:
    """Return each value's place, by XLA's text and by our assignment of the same module.

    Raises
    ------
    NotThereError
        The dump has no buffer assignment, or one of a module with another kind of schedule.
    """
    stages = session.stages()
    if STAGE not in stages or session.module.entry.schedule is None:
        raise NotThereError(
            "XLA's dump has no buffer assignment of a scheduled module",
            "dump with --xla_dump_hlo_as_text",
        )
    slices = parse_buffer_assignment(stages[STAGE].text)
    restored: Mapping[str, str] = getattr(
        session.result.executable if session.result else None, "restored", {}
    )
    theirs = [_dumped(one, restored) for one in slices]
    try:
        assigned = assign_as_xla(session.module)
    except NotFlatError as problem:
        raise NotThereError(
            f"the buffers cannot be replayed: {problem.message}", problem.hint
        ) from None
    ours = [_Placed(name, number, one.kind, offset, one.size)
            for number, one in enumerate(assigned.allocations) for name, offset in one.offsets.items()]  # fmt: skip
    out = {value.name for _, value in assigned.results}
    sizes = {
        restored.get(one.instruction, one.instruction) + one.shape_index: one.size for one in slices
    }
    return ReplayedBuffers(
        _rows(session, _places(ours, out), _places(theirs, out), sizes),
        _totals(ours),
        _totals(theirs),
    )


def _dumped(one: DumpedSlice, restored: Mapping[str, str]) -> _Placed:
    role = next((role for word, role in _ROLES if word in one.role), "result")
    return _Placed(
        restored.get(one.instruction, one.instruction) + one.shape_index,
        one.allocation,
        role,
        one.offset,
        one.allocation_size,
    )


def _totals(placed: Iterable[_Placed]) -> Totals:
    sizes = {one.allocation: (one.size, one.role) for one in placed}
    temporary = sum([size for size, role in sizes.values() if role == "temporary"])
    return Totals(len(sizes), sum([size for size, _ in sizes.values()]), temporary)


def _rows(
    session: Compilation,
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    sizes: Mapping[str, int],
) -> list[ReplayRow]:
    known = {i.name: i.id for i in session.module.instructions()}
    rows = []
    for value, place in theirs.items():
        mine, found = ours.get(value, "no value of its own"), known.get(value.partition("{")[0])
        ids = () if found is None else (found,)
        rows.append(
            ReplayRow(
                value,
                "",
                mine,
                place,
                mine == place,
                "",
                f"%{value} lies in the {place}",
                sizes[value],
                ids,
            )
        )
    return rows


def _places(placed: Iterable[_Placed], out: set[str]) -> dict[str, str]:
    """Return the place of each value in words that both sides share.

    A result's allocation is named by the value that is returned.
    """
    held: dict[int, list[str]] = {}
    for one in placed:
        held.setdefault(one.allocation, []).append(one.value)
    found = {}
    for one in placed:
        place = f"{one.role} allocation"
        if one.role == "temporary":
            place = f"temporary allocation at {one.offset}"
        elif one.role == "result":
            place = (
                "allocation of the result "
                f"%{min([name for name in held[one.allocation] if name in out], default='?')}"
            )
        found[one.value] = place
    return found
