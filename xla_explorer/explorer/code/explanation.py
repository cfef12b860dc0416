"""`session.explain`: everything known about one instruction, on one page."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.explorer.code.llvm_kernels import optimized_lines
from xla_explorer.explorer.display.display import pre_html, table_html
from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.questions.decision_row import DecisionRow
from xla_explorer.explorer.questions.decisions import decision_rows
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.opcodes import OPCODES

MOST_CODE_LINES = 40


class Explanation:
    """One instruction.

    name; definition: its line of HLO as it was last; summary: what its opcode does; line: where it came from; state: where it is in the
    result; history: its life, a sentence a line; decisions: those that it took part in; code: stage -> the lines made from it.
    """

    def __init__(
        self,
        name: str,
        definition: str,
        summary: str,
        line: str,
        state: str,
        history: Sequence[str],
        decisions: Sequence[DecisionRow],
        code: dict[str, list[str]],
        notes: Sequence[str],
    ) -> None:
        self.name, self.definition, self.summary, self.line, self.state = name, definition, summary, line, state
        self.history, self.decisions, self.code, self.notes = list(history), list(decisions), code, list(notes)

    @cleaned
    def __str__(self) -> str:
        out = [self.definition, f"  {self.summary}"]
        if self.line:
            out.append(f"  from {self.line}")
        out.append(f"  {self.state}")
        out += [f"  {note}" for note in self.notes]
        out += ["history", *[f"  {sentence}" for sentence in self.history]]
        if self.decisions:
            out.append("decisions")
            for row in self.decisions:
                reason = f" {row.code}: {row.message}" if row.code else f" {row.message}"
                out.append(f"  {row.verdict}: {row.kind} of {_subjects(row, 'into')};{reason}")
        for stage, lines in self.code.items():
            out.append(f"{stage} ({len(lines)} lines)")
            out += [f"  {line}" for line in lines[:8]]
            if len(lines) > 8:
                out.append(f"  ... {len(lines) - 8} more: .code[{stage!r}]")
        return "\n".join(out)

    __repr__ = __str__

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        html = [
            f"<p><code>{escape(self.definition)}</code><br>{escape(self.summary)}<br>{escape(self.state)}"
            + (f"<br>from {escape(self.line)}" if self.line else "")
            + "".join([f"<br>{escape(note)}" for note in self.notes])
            + "</p>",
            "<ol>" + "".join([f"<li>{escape(sentence)}</li>" for sentence in self.history]) + "</ol>",
        ]
        if self.decisions:
            rows = [(r.verdict, _subjects(r, "→"), r.code, r.message) for r in self.decisions]
            html.append(table_html("Decisions", ["verdict", "producer → consumer", "code", "why"], rows))
        for stage, lines in self.code.items():
            html.append(f"<b>{escape(stage)}</b>" + pre_html("\n".join(lines[:MOST_CODE_LINES])))
            if len(lines) > MOST_CODE_LINES:
                html.append(f"<i>{len(lines) - MOST_CODE_LINES} more lines: .code[{escape(repr(stage))}]</i>")
        return {"text/plain": str(self), "text/html": "".join(html)}


def _subjects(row: DecisionRow, between: str) -> str:
    """The instructions of a decision; one, where it is about one."""
    return f"%{row.producer_name}" + (f" {between} %{row.consumer_name}" if row.consumer_name else "")


def explain(session: Compilation, key: int) -> Explanation:
    """Gather it. key: an instruction id that was there at some step."""
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
            inside = f"inside %{caller.name} ({caller.opcode.name})" if caller is not None else f"in the computation %{present.parent.name}"
            state = f"in the result, {inside}"
    else:
        assert record is not None
        opcode, name = record.opcode, record.name
        operands = ", ".join([f"%{lineage.records[o].name}" for o in record.operands if o in lineage.records])
        definition = f"%{name} = {record.shape.text} {opcode.name}({operands})"
        heirs = [lineage.records[k].name for k in lineage.successors(key)[1:] if k in lineage.records]
        state = "gone; in its place: " + " then ".join([f"%{n}" for n in heirs]) if heirs else "gone from the result"
    decisions = [row for row in decision_rows(session.passes.record, lineage) if key in (row.producer, row.consumer)]
    notes = [f"runs on {s.runs_on}" + (f": {s.reason}" if s.reason else "") for s in session.program_steps if s.instruction == key]
    if session.last_profile is not None:
        frame = session.last_profile
        for row in frame[frame["instruction"] == key].to_dict("records"):
            notes.append(f"{row['median_us']:.4g} us (iqr {row['iqr_us']:.2g}, n {row['n']})")
    code = {}
    for stage_name, stage in session.stages.items():
        if stage.is_code and stage_name not in ("llvm-ir", "assembly", "sass"):  # what LLVM's optimised IR and PTX say already
            if stage_name == "llvm-ir-optimized":
                lines = optimized_lines(session, key)
            else:
                lines = [line for line, origin in stage.lines() if origin == key]
            if lines:
                code[stage_name] = lines
    return Explanation(
        name, definition, OPCODES[opcode.name].summary, session.source_line(key), state, lineage.sentences(key), decisions, code, notes
    )
