"""`session.explain`: one instruction on one page, with its whole life in the compile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.explorer.code.llvm.llvm_kernels import optimized_lines
from xla_explorer.explorer.code.memory_accesses import CodeAccess, accesses
from xla_explorer.explorer.display import (
    Blocks,
    Code,
    Listing,
    Report,
    Sentence,
    Table,
    drawn,
    printed,
)
from xla_explorer.explorer.questions.decisions import decisions_of
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps, source_line
from xla_explorer.foundation.decision import Decision
from xla_explorer.hlo.analysis.indexing import index_map_text
from xla_explorer.hlo.opcodes import OPCODES

MOST_CODE_LINES = 40


class Definition(NamedTuple):
    """An instruction in five texts.

    name: without %. text: its last line of HLO. summary: the meaning of its opcode. line: of the
    source. state: its place in the result, or its end.
    """

    name: str
    text: str
    summary: str
    line: str
    state: str


class Explanation(Report):
    """One instruction, with its life in the compile.

    Attributes
    ----------
    name, definition, summary, line, state : str
        The texts of the instruction's Definition.
    history : list of str
        A sentence per event.
    decisions : list of Decision
        The decisions about it.
    code : dict
        The lines of code that it became, by stage.
    accesses : list of CodeAccess
        The loads and stores among these lines.
    """

    def __init__(
        self,
        definition: Definition,
        history: Sequence[str],
        decisions: Sequence[Decision],
        code: dict[str, list[str]],
        notes: Sequence[str],
    ) -> None:
        self.name, self.definition, self.summary, self.line, self.state = definition
        self.history, self.decisions, self.code, self.notes = (
            list(history),
            list(decisions),
            code,
            list(notes),
        )
        self.accesses = [
            access for stage, lines in code.items() for access in accesses(stage, lines)
        ]

    def blocks(self) -> Blocks:
        """Yield definition, history, decisions and code."""
        place = [f"from {self.line}"] if self.line else []
        yield Listing(self.definition, [self.summary, *place, self.state, *self.notes])
        yield Listing("history", self.history, numbered=True)
        if self.decisions:
            reasons = [
                f"{row.code}: {row.message}" if row.code else row.message for row in self.decisions
            ]
            about = [
                f"{row.verdict}: {row.kind} of {' into '.join(row.about)}" for row in self.decisions
            ]
            sentences = [f"{what}; {why}" for what, why in zip(about, reasons, strict=True)]
            yield printed(Listing("decisions", sentences))
            yield drawn(self.records())
        if self.accesses:
            yield Table(
                CodeAccess._fields,
                self.accesses,
                "loads and stores",
                limit=MOST_CODE_LINES,
                printed=8,
            )
        for stage, lines in self.code.items():
            whole = f".code[{stage!r}]"
            rest = [f"... {len(lines) - 8} more: {whole}"] if len(lines) > 8 else []
            yield printed(Listing(f"{stage} ({len(lines)} lines)", [*lines[:8], *rest]))
            yield drawn(Code(stage, "\n".join(lines[:MOST_CODE_LINES])))
            if len(lines) > MOST_CODE_LINES:
                yield drawn(Sentence(f"{len(lines) - MOST_CODE_LINES} more lines: {whole}"))

    def records(self) -> Table:
        """Return a row per decision."""
        ends = [(*r.about, "", "")[:2] for r in self.decisions]
        rows = [
            (r.verdict, *names, r.code, r.message)
            for r, names in zip(self.decisions, ends, strict=True)
        ]
        return Table(["verdict", "producer", "consumer", "code", "reason"], rows, "Decisions")


def explain(session: Compilation, key: int) -> Explanation:
    """Return the explanation of an instruction id that existed at some step."""
    lineage = session.passes.lineage
    record = lineage.records.get(key)
    module = session.module
    present = next((i for i in module.instructions() if i.id == key), None)
    if present is not None:
        definition, opcode, name = str(present), present.opcode, present.name
        if present.parent is module.entry:
            state = "in the result, in the entry computation"
        else:
            caller = next((i for i in module.instructions() if present.parent in i.called), None)
            inside = (
                f"inside %{caller.name} ({caller.opcode.name})"
                if caller is not None
                else f"in the computation %{present.parent.name}"
            )
            state = f"in the result, {inside}"
    else:
        assert record is not None
        opcode, name = record.opcode, record.name
        operands = ", ".join(
            [f"%{lineage.records[o].name}" for o in record.operands if o in lineage.records]
        )
        definition = f"%{name} = {record.shape.text} {opcode.name}({operands})"
        heirs = [
            lineage.records[k].name for k in lineage.successors(key)[1:] if k in lineage.records
        ]
        state = (
            "gone; in its place: " + " then ".join([f"%{n}" for n in heirs])
            if heirs
            else "gone from the result"
        )
    decisions = [row for row in decisions_of(session.passes.record, lineage) if key in row.subjects]
    notes = [
        f"runs on {s.runs_on}" + (f": {s.reason}" if s.reason else "")
        for s in program_steps(session)
        if s.instruction == key
    ]
    if (
        present is not None
        and not present.opcode.elementwise
        and (map_text := index_map_text(present))
    ):
        notes.append(f"element {map_text}")
    if session.last_profile is not None:
        frame = session.last_profile
        notes += [
            f"{row['median_us']:.4g} us (iqr {row['iqr_us']:.2g}, n {row['n']})"
            for row in frame[frame["instruction"] == key].to_dict("records")
        ]
    code = {}
    for stage_name, stage in session.stages().items():
        if stage.is_code and stage_name not in (
            "llvm-ir",
            "assembly",
            "sass",
        ):  # LLVM's optimised IR and PTX have the same
            if stage_name == "llvm-ir-optimized":
                lines = optimized_lines(session, key)
            else:
                lines = [line for line, origin in stage.lines() if origin == key]
            if lines:
                code[stage_name] = lines
    summary = OPCODES[opcode.name].summary
    return Explanation(
        Definition(name, definition, summary, source_line(session, key), state),
        lineage.sentences(key),
        decisions,
        code,
        notes,
    )
