"""Kernel by kernel: the HLO that it is and the code that each stage made of it, in columns aligned by HLO line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.compiler.costs.gpu_kernel_costs import finished_kernel_estimate
from xla_explorer.explorer.code.stage_functions import CodeLine, stage_functions
from xla_explorer.explorer.display import (
    Blocks,
    Code,
    Layout,
    Report,
    Sentence,
    Table,
    escape,
    microseconds,
    number_of,
)
from xla_explorer.explorer.measures.kernel_costs import KernelCost
from xla_explorer.explorer.measures.profiling import is_emulated, measured_kernels
from xla_explorer.explorer.sessions.compilation import DUMP, Compilation, program_steps, source_line
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

MOST_KERNELS, MOST_LINES = 12, 400
"""What the HTML form shows: kernels, and of each so many lines in its longest column."""
GPU_STAGES = {
    "ptx": "ptx",
    "sass": "sass",
    "gpu-llvm-ir": "llvm-ir",
    "gpu-llvm-ir-optimized": "llvm-ir-optimized",
}
"""Columns of the same source compiled for the GPU, beside the stages of a session that is for something else."""
DEFAULT_STAGES = ("llvm-ir-optimized", "ptx")


_NO_WORK = ("parameter", "constant", "fusion", "tuple", "broadcast", "bitcast")
_NO_SASS = 'SASS needs ptxas and nvdisasm: pip install "xla-explorer[sass]"; session.gpu().assembly() says which is missing'


class AlignedRow(NamedTuple):
    """One HLO line and, for each stage, the code that came from it, in order. Code before the first and after the last line of a function
    (signature, declarations, return) has rows of its own: hlo is empty there."""

    hlo: str
    instruction: int | None
    cells: tuple[tuple[CodeLine, ...], ...]


class KernelCode(NamedTuple):
    """One kernel. line: its source line. hlo: its lines. code: stage -> lines. rows: the same, aligned. notes, times: stage -> what to know
    of the column, and what the kernel takes there: measured, emulated or estimated, and which."""

    name: str
    line: str
    hlo: list[str]
    code: dict[str, list[str]]
    instruction: int
    rows: tuple[AlignedRow, ...]
    notes: dict[str, str]
    times: dict[str, str]


class SideBySide(Report):
    """kernels: a KernelCode each. stages: the stages shown."""

    def __init__(self, kernels: list[KernelCode], stages: Sequence[str]) -> None:
        self.kernels, self.stages = kernels, list(stages)

    def blocks(self) -> Blocks:
        """HLO and code of each kernel in columns."""
        for number, kernel in enumerate(self.kernels[:MOST_KERNELS]):
            html = _columns(kernel, self.stages, opened=number == 0)
            yield Layout(html, "\n".join(_summary(kernel)), "\n\n".join(_sections(kernel)))
        if len(self.kernels) > MOST_KERNELS:
            yield Sentence(f"... {len(self.kernels) - MOST_KERNELS} more kernels: .kernels")

    def records(self) -> Table:
        """A row a kernel: its name, its source line, how many lines each stage has, and what the kernel takes there."""
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
            ["kernel", "line", "HLO", *self.stages, *[f"{stage} time" for stage in self.stages]],
            rows,
        )


def _summary(kernel: KernelCode) -> Iterator[str]:
    """The HLO, and of each stage the number of lines with the first of them and what the kernel takes."""
    yield f"%{kernel.name}" + (f"  ({kernel.line})" if kernel.line else "")
    yield from [f"  {line.strip()}" for line in kernel.hlo[:8]]
    for stage, lines in kernel.code.items():
        first = f", first: {lines[0].strip()}" if lines else ""
        said = "".join([f"; {text}" for text in (kernel.times[stage], kernel.notes[stage]) if text])
        yield f"  {stage}: {len(lines)} lines{first}{said}"


def _sections(kernel: KernelCode) -> list[str]:
    """Markdown: a code block a stage."""
    cells = [("HLO", kernel.hlo), *kernel.code.items()]
    return [
        Sentence(f"%{kernel.name}", bold=True).to_markdown(),
        *[Code(name, "\n".join(lines)).to_markdown() for name, lines in cells],
    ]


_CELL = "vertical-align:top;text-align:left;padding:1px 6px;white-space:pre-wrap;overflow-wrap:anywhere;font:11px monospace"


def _columns(kernel: KernelCode, stages: Sequence[str], *, opened: bool) -> str:
    """A table: whole lines, which go on in the next row where they are long."""
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
                f'<tr><td colspan="{len(heads)}"><i>cut after {MOST_LINES} lines; .kernels has all</i></td></tr>'
            )
            break
    place = f" <i>{escape(kernel.line)}</i>" if kernel.line else ""
    table = f'<table style="width:100%;table-layout:fixed;border-collapse:collapse"><tr>{head}</tr>{"".join(body)}</table>'
    state = " open" if opened else ""
    return (
        f"<details{state}><summary><b>%{escape(kernel.name)}</b>{place}</summary>{table}</details>"
    )


def _with_gaps(lines: Sequence[CodeLine]) -> Iterator[str]:
    """The texts, with a mark where lines of other rows lie between."""
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
        wanted_steps = [s for s in wanted_steps if key in {i.id for i in _members(session, s)}]
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
    """The columns that a session can show beside its HLO."""
    own = [name for name, stage in session.stages().items() if stage.is_code]
    has_gpu = session.error is None and session.backend not in (DUMP, "gpu")
    return [*own, *[name for name in GPU_STAGES if has_gpu and name not in own]]


def kernels_beside(
    session: Compilation, steps: Iterable[ProgramStep], stages: Sequence[str]
) -> list[KernelCode]:
    """The kernels of some steps, with their code of these stages."""
    texts = {key: text for text, key in session.passes[-1].lines if key is not None}
    place = {key: number for number, key in enumerate(texts)}
    columns = {name: _column(session, name) for name in stages}
    found = []
    for step in steps:
        members = _members(session, step)
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


def _members(session: Compilation, step: ProgramStep) -> list[HloInstruction]:
    """The instruction of a step, then in program order those that its fusion computes."""
    if step.opcode == "entry":
        return list(session.module.entry.instructions.values())
    i = session.module.find(step.instruction)
    return [i, *i.called[0].instructions.values()] if i.opcode.name == "fusion" else [i]


_BEGIN, _END = -1, -2  # rows of what stands before the first and after the last line of code
Placed = list[tuple[tuple[int, int], CodeLine]]
"""(order, line); the line's `instruction` is of the session that is shown, _BEGIN or _END."""


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
    for key in (_BEGIN, *keys, _END):
        row = tuple([tuple(by_key.get(key, ())) for by_key in cells])
        if key in texts or any(row):
            yield AlignedRow(texts.get(key, ""), key if key in texts else None, row)


def _column(session: Compilation, name: str) -> _Column:
    if name in session.stages():
        return _Column(session, session, name)
    try:
        gpu = session.gpu()
        missing = (
            ""
            if GPU_STAGES[name] in gpu.stages()
            else _NO_SASS
            if name == "sass"
            else f"the backend gpu has no stage {name}"
        )
        return _Column(session, gpu, GPU_STAGES[name], missing)
    except XlaExplorerError as problem:
        return _Column(session, None, GPU_STAGES[name], problem.message)


class _Column:
    """One stage of one compile as code by kernel. session: whose kernels are shown. made_by: which compile has the stage, None: none."""

    def __init__(
        self, session: Compilation, made_by: Compilation | None, stage: str, problem: str = ""
    ) -> None:
        self.session, self.made_by, self.stage, self.problem = session, made_by, stage, problem

    @cached_property
    def _functions(self) -> dict[str, list[CodeLine]]:
        if self.made_by is None or self.problem:
            return {}
        try:
            return stage_functions(self.made_by.stage(self.stage))
        except Exception as problem:  # a second backend must never spoil the view of the first
            self.problem = f"{type(problem).__name__}: {problem}"
            return {}

    @cached_property
    def _steps(self) -> dict[str, list[ProgramStep]]:
        """The steps that each function is written for."""
        assert self.made_by is not None
        alike: dict[str, list[ProgramStep]] = {}
        for step in program_steps(self.made_by):
            alike.setdefault(step.function, []).append(step)
        return alike

    def _of_step(self, step: ProgramStep) -> Iterator[tuple[str, dict[int, int]]]:
        """The functions of a step, by name, and what the ids in their lines mean for it: a function that several steps share was written
        for one of them, whose instructions stand for those of the others in their order."""
        assert self.made_by is not None
        members = _members(self.made_by, step)
        ids = {i.id for i in members}
        further = [
            name
            for name in self._functions
            if step.function and name.startswith(step.function) and name not in self._steps
        ]
        for name in [step.function, *further]:
            if name not in self._functions:
                continue
            counts = Counter([line.instruction for line in self._functions[name]])
            if name != step.function and not _mostly(counts, ids):
                continue
            alike = [_members(self.made_by, other) for other in self._steps[step.function]]
            written_for = max(alike, key=lambda those: sum([counts[i.id] for i in those]))
            yield (
                name,
                {theirs.id: mine.id for theirs, mine in zip(written_for, members, strict=False)},
            )

    def _overlapping(
        self, step: ProgramStep, members: Sequence[HloInstruction]
    ) -> list[tuple[ProgramStep, dict[int, int]]]:
        """The steps of `made_by` that compute something of a step of the session, with {id there: id here}."""
        if self.made_by is None or self.problem:
            return []
        if self.made_by is self.session:
            return [(step, {i.id: i.id for i in members})]
        own = self.session.passes.lineage
        here: dict[int, int] = {}
        for i in reversed(members):  # of a fusion and its root, which come from the same, the root
            if i.opcode.name not in ("parameter", "fusion"):
                here.update((origin, i.id) for origin in reversed(own.origins(i.id)))
        found = []
        for other in program_steps(self.made_by):
            places = [
                (key, next((here[o] for o in origins if o in here), None))
                for key, origins in self._origins[other.instruction]
            ]
            same = {key: mine for key, mine in places if mine is not None}
            if same:
                found.append((other, same))
        return found

    @cached_property
    def _origins(self) -> dict[int, list[tuple[int, list[int]]]]:
        """Of each step of another compile its ids, with what they came from in the source that both have."""
        assert self.made_by is not None
        lineage, written = (
            self.made_by.passes.lineage,
            {i.id for i in self.session.source.instructions()},
        )
        found = {}
        for step in program_steps(self.made_by):
            inside = _members(self.made_by, step)
            rooted = [
                (i.id, (i.called[0].root if i.opcode.name == "fusion" else i).id)
                for i in inside
                if i.opcode.name != "parameter"
            ]
            found[step.instruction] = [
                (key, [o for o in lineage.origins(root) if o in written]) for key, root in rooted
            ]
        return found

    def _beyond(self, other: ProgramStep, same: Mapping[int, int]) -> int:
        """How many instructions of a step are not among those that the session's kernel has, too."""
        assert self.made_by is not None
        real = [i.id for i in _members(self.made_by, other) if i.opcode.name not in _NO_WORK]
        return len([key for key in real if key not in same])

    def lines_of(self, step: ProgramStep, members: Sequence[HloInstruction]) -> Placed:
        """The lines of a step in their order. Labels and what else has no instruction go with the line behind them."""
        found: Placed = []
        for number, (other, same) in enumerate(self._overlapping(step, members)):
            whole = self.made_by is self.session or not self._beyond(other, same)
            for name, means in self._of_step(other):
                found += [
                    ((number, line.number), line)
                    for line in _of_function(self._functions[name], means, same, whole=whole)
                ]
        return found

    def note(self, step: ProgramStep, members: Sequence[HloInstruction]) -> str:
        """Which kernels of another compile a column shows, and what else they compute; or why there is nothing."""
        if self.problem:
            return self.problem
        found = self._overlapping(step, members)
        if self.made_by is self.session:
            return (
                ""
                if any(self._of_step(step))
                else "no code of its own: it is computed elsewhere, or by a library"
            )
        said = []
        for other, same in found:
            beyond = self._beyond(other, same)
            said.append(
                f"%{other.name}"
                + (f", which computes {number_of(beyond, 'more instruction')}" if beyond else "")
            )
        return (
            f"in {' and in '.join(said)}"
            if said
            else "no code of its own: this compiler computes it inside another kernel"
        )

    def time(self, step: ProgramStep, members: Sequence[HloInstruction]) -> str:
        """What the kernels of this column take, and how that is known."""
        if self.made_by is None or self.problem:
            return ""
        found = self._overlapping(step, members)
        emulation = self.made_by.last_emulation or (
            self.session.last_emulation if self.made_by.backend == "gpu" else None
        )
        said = column_time(self.made_by, [other for other, _ in found], emulation)
        partly = self.made_by is not self.session and any(
            self._beyond(other, same) for other, same in found
        )
        return f"{said}, all that it computes" if said and partly else said


def _mostly(counts: Mapping[int | None, int], ids: set[int]) -> bool:
    known = sum([n for key, n in counts.items() if key is not None])
    return known > 0 and 2 * sum([counts.get(key, 0) for key in ids]) > known


def _of_function(
    lines: Sequence[CodeLine], means: Mapping[int, int], same: Mapping[int, int], *, whole: bool
) -> Iterator[CodeLine]:
    """The lines that come from the instructions of `same`, whose values they get. whole: all of the function is theirs."""
    first = next((k for k, line in enumerate(lines) if line.instruction is not None), len(lines))
    waiting: list[CodeLine] = []
    fallback = next(iter(same.values()), _BEGIN)
    for k, line in enumerate(lines):
        if line.instruction is None:
            if k < first:
                yield line._replace(instruction=_BEGIN)
            else:
                waiting.append(line)
            continue
        key = same.get(means.get(line.instruction, line.instruction))
        if key is None and whole:
            key = fallback
        if key is not None:
            yield from [one._replace(instruction=key) for one in waiting]
            yield line._replace(instruction=key)
        waiting = []
    if whole:
        yield from [line._replace(instruction=_END) for line in waiting]


def column_time(session: Compilation, steps: Sequence[ProgramStep], emulation: Any = None) -> str:
    """The time of some kernels of a compile as words; empty where nothing is known.

    emulation: of the same program, if there was one. Measured times name the machine. Of an emulated program there is what the emulator
    counted, and the estimate of the device's cost model, never the emulator's time.
    """
    if not steps:
        return ""
    known = measured_kernels(session)
    measured = [known[step.instruction] for step in steps if step.instruction in known]
    if len(measured) == len(steps):
        total, runs = sum([us for us, _ in measured]), min([n for _, n in measured])
        return f"{microseconds(total)} measured on {_machine(session)} (n {runs})"
    said = []
    if is_emulated(session) and (counted := _counted(emulation, steps)):
        said.append(f"{number_of(counted, 'warp instruction')} on the emulator")
    if (guess := estimated_microseconds(session, steps)) is not None:
        where = f"for {_machine(session)}" if session.backend == "gpu" else "on one core"
        said.append(f"~{microseconds(guess)} an execution, estimated {where}")
    return ", ".join(said)


def _machine(session: Compilation) -> str:
    executable: Any = session.result.executable if session.result is not None else None
    facts = getattr(getattr(executable, "executor", None), "facts", None)
    if facts is None or facts.emulated:
        architecture = getattr(getattr(executable, "ptx", None), "architecture", "")
        return (
            f"{architecture or session.backend}"
            if session.backend == "gpu"
            else f"this machine ({session.backend})"
        )
    return str(facts.name)


def _counted(emulation: Any, steps: Sequence[ProgramStep]) -> int:
    if emulation is None:
        return 0
    names = {step.function for step in steps}
    frame = emulation.counters
    return int(frame[frame["kernel"].isin(names)]["warp_instructions"].sum())


def estimated_microseconds(session: Compilation, steps: Sequence[ProgramStep]) -> float | None:
    """By the cost model of the backend; None where it has none."""
    found = [session.module.find(step.instruction) for step in steps if step.opcode != "entry"]
    if not found:
        return None
    if session.backend == "gpu":
        return (
            sum(
                [
                    finished_kernel_estimate(session.passes.record.target, i).nanoseconds
                    for i in found
                ]
            )
            / 1e3
        )
    if session.backend not in ("cpu", "xla"):
        return None
    return sum([KernelCost(i, 1.0, instruction_cost(i)).nanoseconds for i in found]) / 1e3
