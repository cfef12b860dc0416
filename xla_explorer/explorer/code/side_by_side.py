"""Kernel by kernel: the HLO and the code of each stage, in columns aligned by HLO line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.explorer.code.stage_column import (
    AFTER_CODE,
    BEFORE_CODE,
    GPU_STAGES,
    Placed,
    stage_column,
    step_members,
)
from xla_explorer.explorer.code.stage_functions import CodeLine
from xla_explorer.explorer.display import Blocks, Code, Layout, Report, Sentence, Table, escape
from xla_explorer.explorer.sessions.compilation import DUMP, Compilation, program_steps, source_line
from xla_explorer.foundation.diagnostic import XlaExplorerError

MOST_KERNELS, MOST_LINES = 12, 400
"""Limits of the HTML form: kernels, and lines of the longest column of each."""
DEFAULT_STAGES = ("llvm-ir-optimized", "ptx")


class AlignedRow(NamedTuple):
    """One HLO line and, for each stage, the code that came from it, in order.

    Code before the first and after the last line of a function (signature, declarations, return)
    has separate rows with an empty hlo.
    """

    hlo: str
    instruction: int | None
    cells: tuple[tuple[CodeLine, ...], ...]


class KernelCode(NamedTuple):
    """One kernel.

    line: its source line. hlo: its lines. code: stage -> lines. rows: the same, aligned. notes,
    times: stage -> notes on the column, and the kernel's time there: measured, emulated
    or estimated, and which.
    """

    name: str
    line: str
    hlo: list[str]
    code: dict[str, list[str]]
    instruction: int
    rows: tuple[AlignedRow, ...]
    notes: dict[str, str]
    times: dict[str, str]


class SideBySide(Report):
    """The code of kernels in columns.

    kernels: KernelCodes. stages: of the columns.
    """

    def __init__(self, kernels: list[KernelCode], stages: Sequence[str]) -> None:
        self.kernels, self.stages = kernels, list(stages)

    def blocks(self) -> Blocks:
        """Yield the HLO and the code of each kernel in columns."""
        for number, kernel in enumerate(self.kernels[:MOST_KERNELS]):
            html = _columns(kernel, self.stages, opened=number == 0)
            yield Layout(html, "\n".join(_summary(kernel)), "\n\n".join(_sections(kernel)))
        if len(self.kernels) > MOST_KERNELS:
            yield Sentence(f"... {len(self.kernels) - MOST_KERNELS} more kernels: .kernels")

    def records(self) -> Table:
        """Return a row per kernel: name, source line, and lines and time of each stage."""
        stages = self.stages
        rows = [
            (
                k.name,
                k.line,
                len(k.hlo),
                *[len(k.code[s]) for s in stages],
                *[k.times[s] for s in stages],
            )
            for k in self.kernels
        ]
        return Table(
            ["kernel", "line", "hlo", *self.stages, *[f"{stage} time" for stage in self.stages]],
            rows,
        )


def _summary(kernel: KernelCode) -> Iterator[str]:
    """Yield the HLO, and for each stage the number of lines, the first one, and the time."""
    yield f"%{kernel.name}" + (f"  ({kernel.line})" if kernel.line else "")
    yield from [f"  {line.strip()}" for line in kernel.hlo[:8]]
    for stage, lines in kernel.code.items():
        first = f", first: {lines[0].strip()}" if lines else ""
        notes = "".join(
            [f"; {text}" for text in (kernel.times[stage], kernel.notes[stage]) if text]
        )
        yield f"  {stage}: {len(lines)} lines{first}{notes}"


def _sections(kernel: KernelCode) -> list[str]:
    """Return Markdown with a code block per stage."""
    cells = [("HLO", kernel.hlo), *kernel.code.items()]
    return [
        Sentence(f"%{kernel.name}", bold=True).to_markdown(),
        *[Code(name, "\n".join(lines)).to_markdown() for name, lines in cells],
    ]


_CELL = (
    "vertical-align:top;text-align:left;padding:1px "
    "6px;white-space:pre-wrap;overflow-wrap:anywhere;font:11px monospace"
)


def _columns(kernel: KernelCode, stages: Sequence[str], *, opened: bool) -> str:
    """Return a table of whole lines; long lines continue in the next row."""
    heads = [
        ("HLO", ""),
        *[
            (stage, " · ".join(filter(None, [kernel.times[stage], kernel.notes[stage]])))
            for stage in stages
        ],
    ]
    style = f"text-align:left;vertical-align:top;width:{100 // len(heads)}%"
    head = "".join(
        [
            f'<th style="{style}">{escape(name)}'
            f'<br><span style="font-weight:normal">{escape(note)}</span></th>'
            for name, note in heads
        ]
    )
    body, room = [], MOST_LINES
    for row in kernel.rows:
        cells = [row.hlo, *["\n".join(_with_gaps(cell[:room])) for cell in row.cells]]
        filled = [f'<td style="{_CELL}">{escape(text)}</td>' for text in cells]
        body.append(f"<tr>{''.join(filled)}</tr>")
        room -= max([len(cell) for cell in row.cells], default=0)
        if room <= 0:
            body.append(
                f'<tr><td colspan="{len(heads)}"><i>cut after {MOST_LINES} lines; .kernels has '
                "all</i></td></tr>"
            )
            break
    place = f" <i>{escape(kernel.line)}</i>" if kernel.line else ""
    table = (
        "<table "
        f'style="width:100%;table-layout:fixed;border-collapse:collapse"><tr>{head}</tr>{"".join(body)}</table>'
    )
    state = " open" if opened else ""
    return (
        f"<details{state}><summary><b>%{escape(kernel.name)}</b>{place}</summary>{table}</details>"
    )


def _with_gaps(lines: Sequence[CodeLine]) -> Iterator[str]:
    """Yield the texts, with a mark for omitted lines."""
    last = None
    for line in lines:
        if last is not None and line.number != last + 1:
            yield "⋮"
        yield line.text.replace("\t", "  ")
        last = line.number


def side_by_side(session: Compilation, stages: Sequence[str], kernel: str = "") -> SideBySide:
    """See `Session.side_by_side`."""
    wanted_steps = list(program_steps(session))
    if kernel:
        key = session.passes.find(kernel)
        wanted_steps = [s for s in wanted_steps if key in {i.id for i in step_members(session, s)}]
        if not wanted_steps:
            names = ", ".join([f"%{s.name}" for s in program_steps(session)][:12])
            raise XlaExplorerError(f"no kernel computes {kernel}", f"the kernels are {names}")
    there = stage_names(session)
    if unknown := [name for name in stages if name not in there]:
        raise XlaExplorerError(
            f"the session has no stage {unknown[0]!r}", f"choose from: {', '.join(there)}"
        )
    wanted = list(stages) or [name for name in DEFAULT_STAGES if name in there]
    return SideBySide(kernels_beside(session, wanted_steps, wanted), wanted)


def stage_names(session: Compilation) -> list[str]:
    """Return the columns that a session can show beside its HLO."""
    own = [name for name, stage in session.stages().items() if stage.is_code]
    has_gpu = session.error is None and session.backend not in (DUMP, "gpu")
    return [*own, *[name for name in GPU_STAGES if has_gpu and name not in own]]


def kernels_beside(
    session: Compilation, steps: Iterable[ProgramStep], stages: Sequence[str]
) -> list[KernelCode]:
    """Return the kernels of some steps, with their code of these stages."""
    texts = {key: text for text, key in session.passes[-1].lines if key is not None}
    place = {key: number for number, key in enumerate(texts)}
    columns = {name: stage_column(session, name) for name in stages}
    found = []
    for step in steps:
        members = step_members(session, step)
        inside = sorted(
            [i.id for i in members if i.id != step.instruction and i.id in texts],
            key=lambda key: place[key],
        )
        keys = [step.instruction, *inside]
        lines = {name: column.lines_of(step, members) for name, column in columns.items()}
        found.append(
            KernelCode(
                step.name,
                source_line(session, step.instruction),
                [texts[key] for key in keys if key in texts],
                {
                    name: [line.text for _, line in sorted(own, key=lambda one: one[0])]
                    for name, own in lines.items()
                },
                step.instruction,
                tuple(_rows(texts, keys, [lines[name] for name in stages])),
                {name: column.note(step, members) for name, column in columns.items()},
                {name: column.time(step, members) for name, column in columns.items()},
            )
        )
    return found


def _rows(
    texts: Mapping[int, str], keys: Sequence[int], columns: Sequence[Placed]
) -> Iterator[AlignedRow]:
    cells: list[dict[int, list[CodeLine]]] = []
    for lines in columns:
        by_key: dict[int, list[CodeLine]] = {}
        for _, line in lines:
            assert line.instruction is not None
            by_key.setdefault(line.instruction, []).append(line)
        cells.append(by_key)
    for key in (BEFORE_CODE, *keys, AFTER_CODE):
        row = tuple([tuple(by_key.get(key, ())) for by_key in cells])
        if key in texts or any(row):
            yield AlignedRow(texts.get(key, ""), key if key in texts else None, row)
