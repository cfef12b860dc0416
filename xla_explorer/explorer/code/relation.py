"""`session.annotate().relation()`: source line, instruction, kernel and every line of code, as one relation to query over all levels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.explorer.display import wide_frame
from xla_explorer.explorer.measures.kernel_costs import costs_of
from xla_explorer.explorer.questions.provenance import provenance
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.instruction import HloInstruction

if TYPE_CHECKING:
    import pandas


class RelationRow(NamedTuple):
    """One line of code, or an instruction without code of its own (stage and code are empty then, number is 0).

    line: of the source. instruction, opcode: of the result. sources: instructions as written. kernel: the step that computes it. us: what
    that takes in one run, measured where there is a profile, else estimated. bytes: read and written by it in one run (estimate). number:
    of the line in its stage.
    """

    line: str
    instruction: str
    opcode: str
    sources: tuple[str, ...]
    kernel: str
    us: float | None
    bytes: int | None
    stage: str
    number: int
    code: str


def relation(session: Compilation) -> pandas.DataFrame:
    """A RelationRow a row: `frame[frame.line == "model.py:12"]` is all that a line became, down to the assembly."""
    return wide_frame(_rows(session), RelationRow._fields)


def _rows(session: Compilation) -> Iterator[RelationRow]:
    code = _code_of(session)
    kernels = _kernel_of(session)
    for origin in provenance(session.passes, session.source_lines).origins:
        name, us, moved = kernels.get(origin.id, ("", None, None))
        own = (origin.line, f"%{origin.instruction}", origin.opcode, origin.sources, name, us, moved)
        for stage, number, text in code.get(origin.id, [("", 0, "")]):
            yield RelationRow(*own, stage, number, text)


def _code_of(session: Compilation) -> dict[int, list[tuple[str, int, str]]]:
    """Of each instruction its lines in every stage that can be made."""
    found: dict[int, list[tuple[str, int, str]]] = defaultdict(list)
    stages: dict[str, Any] = {name: stage for name, stage in session.stages().items() if stage.is_code}
    for name, stage in stages.items():
        try:
            lines = stage.lines()
        except XlaExplorerError:
            continue  # a stage that cannot be made here has no lines
        for number, (text, key) in enumerate(lines, 1):
            if key is not None:
                found[key].append((name, number, text.strip()))
    return found


def _kernel_of(session: Compilation) -> dict[int, tuple[str, float | None, int | None]]:
    """Of each instruction the kernel that computes it, with its microseconds and bytes in a run."""
    frame = session.last_profile
    measured = {} if frame is None else {str(row["kernel"]): float(row["median_us"]) for row in frame.to_dict("records")}
    found: dict[int, tuple[str, float | None, int | None]] = {}
    for cost in costs_of(session):
        kernel: HloInstruction = cost.instruction
        name = f"%{kernel.name}"
        row = (name, measured.get(name, cost.nanoseconds / 1e3), int(cost.times * cost.cost.bytes_accessed))
        inside = kernel.called[0].instructions if kernel.opcode.name == "fusion" else ()
        found |= dict.fromkeys([kernel.id, *inside], row)
    return found
