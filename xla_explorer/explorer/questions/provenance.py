"""The origin of each instruction of the result: source instructions and the user's lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

if TYPE_CHECKING:
    from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
    from xla_explorer.explorer.sessions.source_lines import SourceLines

# The link of an instruction to the source, the surest first.
SAME, REWRITTEN, CLONED, METADATA, FORWARDED, NONE = (
    "same",
    "rewritten",
    "cloned",
    "metadata",
    "forwarded",
    "none",
)


class Origin(NamedTuple):
    """The origin of one instruction of the result.

    Attributes
    ----------
    sources : tuple of str
        Names in the source module.
    line : str
        `file:line`, of the user's file if the metadata has it, else of the HLO text.
    how : str
        `same` (it is in the source), `rewritten` (by rules), `cloned` (by a pass), `metadata`
        (known from its metadata alone), `forwarded` (a pass made it to pass on its operand or to
        serve its user), `none`.
    """

    instruction: str
    computation: str
    opcode: str
    sources: tuple[str, ...]
    how: str
    line: str
    id: int


class Provenance(Report):
    """The origins of the instructions of the result.

    Attributes
    ----------
    origins : list of Origin
        One for each instruction.
    coverage, line_coverage : float
        Percent of the instructions with a source instruction, and with a line.
    """

    def __init__(self, origins: Sequence[Origin]) -> None:
        self.origins = tuple(origins)

    @property
    def coverage(self) -> float:
        """Percent of the result's instructions that have an instruction of the source."""
        return self._percent(len([o for o in self.origins if o.sources]))

    @property
    def line_coverage(self) -> float:
        """Percent that have a line of a file or of the HLO text."""
        return self._percent(len([o for o in self.origins if o.line]))

    def _percent(self, count: int) -> float:
        return 100.0 * count / len(self.origins) if self.origins else 100.0

    def of(self, name_or_id: str | int) -> Origin:
        """Return the origin of one instruction of the result; KeyError if the result lacks it."""
        wanted = name_or_id.lstrip("%") if isinstance(name_or_id, str) else name_or_id
        for origin in self.origins:
            if wanted in (origin.instruction, origin.id):
                return origin
        raise KeyError(f"{name_or_id} is not in the result")

    def records(self) -> Table:
        """Return a row per instruction with the fields of Origin."""
        return Table(Origin._fields, self.origins)

    def headline(self) -> str:
        """Return the number of instructions of each kind of origin."""
        kinds = ", ".join(
            [
                f"{count} {how}"
                for how, count in Counter([o.how for o in self.origins]).most_common()
            ]
        )
        return (
            f"Provenance of {len(self.origins)} instructions: {self.coverage:.1f} % have a source instruction, {self.line_coverage:.1f} % "
            f"a line; {kinds}"
        )

    def blocks(self) -> Blocks:
        """Yield a table with a row for each instruction."""
        rows = [
            (f"%{o.instruction}", o.opcode, ", ".join([f"%{s}" for s in o.sources]), o.how, o.line)
            for o in self.origins
        ]
        yield Table(["instruction", "opcode", "sources", "how", "line"], rows, printed=60)


class _Tracer:
    def __init__(self, trace: RecordedPasses[RecordedPass], lines: SourceLines) -> None:
        self.lineage, self.lines = trace.lineage, lines
        source = trace[0].snapshot
        self.names = {r.id: r.name for c in source.computations for r in c.instructions}
        self.by_line = {line: key for key in self.names if (line := lines.hlo_line(key))}
        module = trace.module
        self.callers: dict[HloComputation, HloInstruction] = {}
        for i in module.instructions():
            for computation in i.called:
                self.callers.setdefault(computation, i)
        self.found: dict[HloInstruction, tuple[tuple[int, ...], str]] = {}

    def sources(self, i: HloInstruction) -> tuple[tuple[int, ...], str]:
        """Return the ids in the source, and the kind of link.

        Iterative along forwarders, since chains of them may be long.
        """
        path: dict[HloInstruction, None] = {}
        here: HloInstruction | None = i
        answer: tuple[tuple[int, ...], str] = ((), NONE)
        while here is not None and here not in path:
            if here in self.found:
                answer = self.found[here]
                break
            known = self._direct(here)
            if known is not None:
                answer = self.found[here] = known
                break
            path[here] = None
            here = self._handed_on(here)
        for forwarder in path:
            self.found[forwarder] = (answer[0], FORWARDED if answer[0] else NONE)
        return self.found[i]

    def _direct(self, i: HloInstruction) -> tuple[tuple[int, ...], str] | None:
        if i.id in self.names:
            return (i.id,), SAME
        chain = self.lineage.origins(i.id)
        if chain[-1] in self.names:
            return (chain[-1],), REWRITTEN
        for key in (
            i.line and self.by_line.get(i.line),
            *[self.by_line.get(self.lines.hlo_line(k)) for k in chain],
        ):
            if key:
                return (key,), CLONED
        if i.opcode.name == "fusion" or (i.called and i.opcode.name == "call"):
            inside = [
                key
                for member in i.called[0].post_order()
                if member.opcode.name != "parameter"
                for key in self.sources(member)[0]
            ]
            if inside:
                return tuple(dict.fromkeys(inside)), CLONED
        return None

    def _handed_on(self, i: HloInstruction) -> HloInstruction | None:
        """Return the operand that an instruction without a source passes on.

        It is the first operand; for a parameter, the operand of the caller.
        """
        if i.opcode.name == "parameter":
            caller = self.callers.get(i.parent)
            if caller is None or i.parameter_number >= len(caller.operands):
                return caller.operands[0] if caller is not None and caller.operands else None
            return caller.operands[i.parameter_number]
        return i.operands[0] if i.operands else next(iter(i.users), None)


def provenance(trace: RecordedPasses[RecordedPass], lines: SourceLines) -> Provenance:
    """Return the origin of every instruction of a trace's result."""
    tracer = _Tracer(trace, lines)
    origins = []
    for computation in trace.module.computations.values():
        for i in computation.post_order():
            keys, how = tracer.sources(i)
            line = lines.metadata_place(i.metadata)
            for key in keys if not line else ():
                record = trace.lineage.records.get(key)
                line = lines.place(key, record.metadata if record is not None else None)
                if line:
                    break
            if not keys and line:
                how = METADATA
            sources = tuple([tracer.names[k] for k in keys])
            origins.append(
                Origin(i.name, computation.name, i.opcode.name, sources, how, line, i.id)
            )
    return Provenance(origins)
