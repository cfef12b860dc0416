"""The HLO as it was written, each line with its code and its time; `%%hlo --annotate` shows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.explorer.code.code_panes import code_panes
from xla_explorer.explorer.display import (
    Blocks,
    Layout,
    Report,
    Table,
    escape,
    fenced,
    microseconds,
    number_of,
    percent,
    wide_frame,
)
from xla_explorer.explorer.display.highlighting import highlighted
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM, costs_of, member_costs
from xla_explorer.explorer.measures.profiling import profile
from xla_explorer.explorer.questions.provenance import provenance
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction

if TYPE_CHECKING:
    import pandas

STAGES = {"llvm-ir-optimized": "LLVM IR, optimised", "ptx": "PTX", "assembly": "assembly"}
MOST_LINES = 60  # of one stage under one line
MOST_CHARACTERS = 250_000  # of the HTML; lines beyond it cannot be unfolded, and a note counts them
_LANGUAGES = {"llvm-ir-optimized": "llvm", "ptx": "ptx", "assembly": "asm"}


class AnnotatedLine(NamedTuple):
    """A line of the source text with its time and its code.

    number: from 1. kernels: names of the steps that compute the line. time_us: the line's part of
    their medians, None without a profile. share: of the time of all kernels. lines: the number of
    lines that these steps compute; the time of several lines is split by the estimated cost of the
    instructions. code: stage -> lines.
    """

    number: int
    text: str
    kernels: tuple[str, ...]
    time_us: float | None
    share: float | None
    lines: int
    code: dict[str, list[str]]

    @property
    def time_text(self) -> str:
        """`12.3 us · 40 %`, with a ~ and the number of lines for a kernel of several."""
        if self.time_us is None:
            return ""
        several = f", of {self.lines} lines in {number_of(len(self.kernels), 'kernel')}"
        text = f"{microseconds(self.time_us)} · {percent(self.share)}"
        return f"~{text}{several}" if self.lines > 1 else text


class AnnotatedSource(Report):
    """The source of a session, line by line.

    lines: AnnotatedLines. missing: the Reason of each stage that is not shown. session: the
    compile.
    """

    def __init__(
        self, lines: Sequence[AnnotatedLine], missing: dict[str, Reason], session: Compilation
    ) -> None:
        self.lines, self.missing, self.session = list(lines), missing, session

    def relation(self) -> pandas.DataFrame:
        """Return a row per line of code of any level.

        Columns: source line, instruction, its sources as written, kernel, us, bytes, stage, number,
        code.
        """
        return relation(self.session)

    def blocks(self) -> Blocks:
        """Yield the lines with their times and the sizes of their code."""
        out = []
        for line in self.lines:
            time = line.time_text.split(",")[0]
            sizes = ", ".join([f"{len(code)} {stage}" for stage, code in line.code.items()])
            out.append(
                f"{line.number:4d} {time:>16} | {line.text.rstrip()}"
                + (f"   [{sizes}]" if sizes else "")
            )
        text = "\n".join(out)
        yield Layout(self._folded(), text, fenced(text))

    def records(self) -> Table:
        """Return the fields of AnnotatedLine as rows."""
        return Table(AnnotatedLine._fields, self.lines)

    def _folded(self) -> str:
        """Return each line as a <details> without script; darker is slower."""
        parts, used, cut = [], 0, 0
        for line in self.lines:
            body = _code_html(line)
            if used + len(body) > MOST_CHARACTERS:
                body, cut = "", cut + bool(line.code)
            used += len(body)
            parts.append(_line_html(line, body))
        notes = [f"{name} is not shown: {reason.message}" for name, reason in self.missing.items()]
        if any(line.time_us is not None for line in self.lines):
            notes.append(
                "~ marks an estimate: the time of a kernel that computes several lines is split "
                "by the cost of their instructions"
            )
        if cut:
            notes.append(f"the code of {cut} lines is left out for size: .lines[k].code")
        tail = f"<p><i>{escape('; '.join(notes))}</i></p>" if notes else ""
        style = "font:12px/1.45 monospace;text-align:left;overflow-x:auto"
        return f'<div class="xla-explorer-annotated" style="{style}">{"".join(parts)}</div>{tail}'


def _line_html(line: AnnotatedLine, body: str) -> str:
    share = line.share or 0.0
    shade = f"background:rgba(230,159,0,{0.08 + 0.6 * min(share, 1.0):.2f});" if line.share else ""
    time = line.time_text
    text = f'<span style="white-space:pre">{highlighted(line.text, "hlo")}</span>'
    head = (
        "<span "
        f'style="display:inline-block;width:3em;text-align:right;color:#858585">{line.number}</span> '
    )
    place = f'<span style="float:right;color:#858585">{escape(time)}</span>' if time else ""
    if not body:
        return f'<div style="{shade}padding-left:14px">{place}{head}{text}</div>'
    return (
        f'<details style="{shade}"><summary '
        f'style="cursor:pointer">{place}{head}{text}</summary>{body}</details>'
    )


def _code_html(line: AnnotatedLine) -> str:
    if not line.code:
        return ""
    parts = []
    kernels = ", ".join([f"%{name}" for name in line.kernels])
    for stage, code in line.code.items():
        more = f" <i>{len(code) - MOST_LINES} more lines</i>" if len(code) > MOST_LINES else ""
        shown = highlighted("\n".join(code[:MOST_LINES]), _LANGUAGES[stage])
        block = (
            '<pre style="font-family:ui-monospace,monospace;margin:0 0 '
            f'6px;font-size:11px">{shown}</pre>'
        )
        parts.append(f'<div style="margin-left:4em"><b>{STAGES[stage]}</b>{more}{block}</div>')
    where = (
        f'<div style="margin-left:4em;color:#858585">computed in {escape(kernels)}</div>'
        if kernels
        else ""
    )
    return where + "".join(parts)


def annotated_source(
    session: Compilation, arrays: Sequence[Any] | None = None, repeats: int = 20
) -> AnnotatedSource:
    """See `Session.annotate`."""
    runnable = (
        session.error is None
        and session.result is not None
        and session.result.executable is not None
    )
    if runnable and arrays is not None:
        profile(session, arrays, repeats)
    sources = _sources(session)
    code, missing = _code(session, sources)
    times = _times(session)
    total = sum(times.values())
    steps: dict[int, dict[str, None]] = defaultdict(
        dict
    )  # source instruction -> steps that compute it
    members = {
        i.id: {
            i.id,
            *[
                inner.id
                for inner in i.called[0].instructions.values()
                if inner.opcode.name != "parameter"
            ],
        }  # ids that the fusion computes
        for i in session.module.instructions()
        if i.opcode.name == "fusion"
    }
    for step in program_steps(session):
        for member in members.get(step.instruction, {step.instruction}):
            for origin in sources.get(member, ()):
                steps[origin][step.name] = None
    line_times = _line_times(session, sources, times)
    lines = []
    for number, text, key in _source_lines(session):
        names = tuple(steps.get(key, ())) if key is not None else ()
        beside = {origin for origin, found in steps.items() if not found.keys().isdisjoint(names)}
        time = line_times.get(key) if key is not None else None
        share = time / total if time is not None and total else None
        found = (
            {stage: by_key[key] for stage, by_key in code.items() if key in by_key}
            if key is not None
            else {}
        )
        lines.append(AnnotatedLine(number, text, names, time, share, len(beside), found))
    return AnnotatedSource(lines, missing, session)


def _source_lines(session: Compilation) -> list[tuple[int, str, int | None]]:
    """Return (number, text, id) of the text as it was given, else as it prints.

    The empty line in place of a magic is left out.
    """
    source = session.source
    if not source.source_text:
        return [
            (number, text, key) for number, (text, key) in enumerate(session.passes[0].lines, 1)
        ]
    at = {i.line: i.id for i in source.instructions() if i.line}
    texts = source.source_text.rstrip("\n").split("\n")
    return [(n, text, at.get(n)) for n, text in enumerate(texts, 1) if n > 1 or text.strip()]


def _sources(session: Compilation) -> dict[int, tuple[int, ...]]:
    """Return the source instructions of each instruction of the result."""
    ids: dict[str, list[int]] = defaultdict(list)
    for i in session.source.instructions():
        ids[i.name].append(i.id)
    own = {key for keys in ids.values() for key in keys}
    found = {}
    for origin in provenance(session.passes, session.source_lines).origins:
        surest = next((k for k in session.passes.lineage.origins(origin.id) if k in own), None)
        found[origin.id] = (
            (surest,)
            if surest is not None
            else tuple([k for name in origin.sources for k in ids.get(name, ())])
        )
    return found


def _code(
    session: Compilation, sources: dict[int, tuple[int, ...]]
) -> tuple[dict[str, dict[int, list[str]]], dict[str, Reason]]:
    """Return lines by stage and source instruction, and the stages that failed."""
    code: dict[str, dict[int, list[str]]] = {}
    missing: dict[str, Reason] = {}
    for pane in code_panes(session):
        if pane.name not in STAGES or (pane.name == "assembly" and "llvm-ir-optimized" in code):
            continue
        by_key: dict[int, list[str]] = defaultdict(list)
        try:
            lines = list(pane.lines)
        except XlaExplorerError as problem:
            missing[STAGES[pane.name]] = Reason("cannot-be-made", problem.message)
            continue
        for line in lines:
            if line.instruction is not None:
                for key in sources.get(line.instruction, (line.instruction,)):
                    by_key[key].append(line.text)
        code[pane.name] = dict(by_key)
    return code, missing


def _line_times(
    session: Compilation, sources: dict[int, tuple[int, ...]], times: dict[str, float]
) -> dict[int, float]:
    """Return each source instruction's part of the times of its kernels.

    The parts of a kernel add up to its time.
    """
    found: dict[int, float] = defaultdict(float)
    known = {i.id: i for i in session.module.instructions()}
    for step in program_steps(session):
        kernel, time = known.get(step.instruction), times.get(f"%{step.name}")
        if kernel is None or time is None:
            continue
        weights: dict[int, float] = defaultdict(float)
        for member, weight in member_costs(session, kernel, step.opcode) or [(kernel, 1.0)]:
            origins = sources.get(member.id, ())
            for origin in origins:
                weights[origin] += weight / len(origins)
        whole = sum(weights.values())
        for origin, weight in weights.items():
            found[origin] += time * (weight / whole if whole else 1 / len(weights))
    return found


def _times(session: Compilation) -> dict[str, float]:
    """Return the median microseconds of the last profile by kernel."""
    frame = session.last_profile
    if frame is None:
        return {}
    return {
        str(r["kernel"]): float(r["median_us"])
        for r in frame.to_dict("records")
        if r["kernel"] != WHOLE_PROGRAM
    }


class RelationRow(NamedTuple):
    """One line of code, or an instruction without code of its own.

    Such an instruction has an empty stage and code, and the number 0. line: of the source.
    instruction, opcode: of the result. sources: instructions as written. kernel: the step that
    computes it. time_us: of one run, measured by a profile, else estimated. bytes: its reads
    and writes in one run (estimate). number: of the line in its stage.
    """

    line: str
    instruction: str
    opcode: str
    sources: tuple[str, ...]
    kernel: str
    time_us: float | None
    bytes: int | None
    stage: str
    number: int
    code: str


def relation(session: Compilation) -> pandas.DataFrame:
    """Return a RelationRow per line of code.

    `frame[frame.line == "model.py:12"]` has the code of one source line, down to the assembly.
    """
    return wide_frame(_rows(session), RelationRow._fields)


def _rows(session: Compilation) -> Iterator[RelationRow]:
    code = _code_of(session)
    kernels = _kernel_of(session)
    for origin in provenance(session.passes, session.source_lines).origins:
        name, us, moved = kernels.get(origin.id, ("", None, None))
        own = (
            origin.line,
            f"%{origin.instruction}",
            origin.opcode,
            origin.sources,
            name,
            us,
            moved,
        )
        for stage, number, text in code.get(origin.id, [("", 0, "")]):
            yield RelationRow(*own, stage, number, text)


def _code_of(session: Compilation) -> dict[int, list[tuple[str, int, str]]]:
    """Return the lines of each instruction in every possible stage."""
    found: dict[int, list[tuple[str, int, str]]] = defaultdict(list)
    stages: dict[str, Any] = {
        name: stage for name, stage in session.stages().items() if stage.is_code
    }
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
    """Return the kernel of each instruction, with microseconds and bytes per run."""
    frame = session.last_profile
    measured = (
        {}
        if frame is None
        else {str(row["kernel"]): float(row["median_us"]) for row in frame.to_dict("records")}
    )
    found: dict[int, tuple[str, float | None, int | None]] = {}
    for cost in costs_of(session):
        kernel: HloInstruction = cost.instruction
        name = f"%{kernel.name}"
        row = (
            name,
            measured.get(name, cost.nanoseconds / 1e3),
            int(cost.times * cost.cost.bytes_accessed),
        )
        inside = kernel.called[0].instructions if kernel.opcode.name == "fusion" else ()
        found |= dict.fromkeys([kernel.id, *inside], row)
    return found
