"""Kernel by kernel: the HLO that it is and the code that each stage made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xla_explorer.explorer.code.code_panes import code_panes
from xla_explorer.explorer.display import Blocks, Code, Layout, Report, Sentence, Table, TextLine, escape, pre_html
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps, source_line
from xla_explorer.foundation.diagnostic import XlaExplorerError

if TYPE_CHECKING:
    from xla_explorer.backends.interfaces import ProgramStep

MOST_KERNELS, MOST_LINES = 12, 60
_NO_CODE = "no code of its own: this compiler computes it inside another kernel"


class KernelCode(NamedTuple):
    """One kernel. line: its source line. hlo: its lines. code: stage -> lines."""

    name: str
    line: str
    hlo: list[str]
    code: dict[str, list[str]]


class SideBySide(Report):
    """kernels: a KernelCode each. stages: the stages shown."""

    def __init__(self, kernels: list[KernelCode], stages: Sequence[str]) -> None:
        self.kernels, self.stages = kernels, list(stages)

    def blocks(self) -> Blocks:
        """HLO and code of each kernel in columns."""
        for kernel in self.kernels[:MOST_KERNELS]:
            cells = [("HLO", kernel.hlo), *[(stage, kernel.code.get(stage, [])) for stage in self.stages]]
            yield Layout(_columns(kernel, cells), "\n".join(_summary(kernel, cells)), "\n\n".join(_sections(kernel, cells)))
        if len(self.kernels) > MOST_KERNELS:
            yield Sentence(f"... {len(self.kernels) - MOST_KERNELS} more kernels: .kernels")

    def records(self) -> Table:
        """A row a kernel: its name, its source line, how many lines each stage has."""
        rows = [(k.name, k.line, len(k.hlo), *[len(k.code.get(stage, [])) for stage in self.stages]) for k in self.kernels]
        return Table(["kernel", "line", "HLO", *self.stages], rows)


Cells = list[tuple[str, list[str]]]


def _summary(kernel: KernelCode, cells: Cells) -> Iterator[str]:
    """The HLO, and of each stage the number of lines with the first of them."""
    yield f"%{kernel.name}" + (f"  ({kernel.line})" if kernel.line else "")
    yield from [f"  {line.strip()}" for line in kernel.hlo[:8]]
    for stage, lines in cells[1:]:
        yield f"  {stage}: {len(lines)} lines" + (f", first: {lines[0].strip()}" if lines else "")


def _sections(kernel: KernelCode, cells: Cells) -> list[str]:
    """Markdown: a code block a stage."""
    return [Sentence(f"%{kernel.name}", bold=True).to_markdown(), *[Code(name, "\n".join(lines)).to_markdown() for name, lines in cells]]


def _columns(kernel: KernelCode, cells: Cells) -> str:
    parts = []
    for name, lines in cells:
        note = f"<i>{len(lines) - MOST_LINES} more lines</i>" if len(lines) > MOST_LINES else ""
        shown = [line.replace("\t", " ").strip() for line in lines[:MOST_LINES]]
        body = pre_html("\n".join(shown)) if lines else f"<br><i>{_NO_CODE}</i>"
        parts.append(f'<td style="text-align:left;vertical-align:top;width:{100 // len(cells)}%"><b>{escape(name)}</b>{body}{note}</td>')
    place = f" <i>{escape(kernel.line)}</i>" if kernel.line else ""
    return f'<p><b>%{escape(kernel.name)}</b>{place}</p><table style="width:100%;table-layout:fixed"><tr>{"".join(parts)}</tr></table>'


def side_by_side(session: Compilation, stages: Sequence[str], kernel: str = "") -> SideBySide:
    """See `Session.side_by_side`."""
    wanted_steps = list(program_steps(session))
    if kernel:
        key = session.passes.find(kernel)
        inside = _members(session)
        wanted_steps = [s for s in wanted_steps if key in inside.get(s.instruction, {s.instruction})]
        if not wanted_steps:
            names = ", ".join([f"%{s.name}" for s in program_steps(session)][:12])
            raise XlaExplorerError(f"no kernel computes {kernel}", f"the kernels are {names}")
    wanted = list(stages) or ["llvm-ir-optimized", "ptx"]
    panes = {pane.name: pane.lines for pane in code_panes(session)}
    unknown = [name for name in wanted if name not in panes and name not in session.stages()]
    if unknown and stages:
        raise XlaExplorerError(f"there is no stage {unknown[0]!r}", f"choose from: {', '.join(panes)}")
    wanted = [name for name in wanted if name in panes]
    groups = _members(session)
    kernels = []
    texts = {key: text for text, key in session.passes[-1].lines if key is not None}
    place = {key: number for number, key in enumerate(texts)}
    sharers: dict[str, list[ProgramStep]] = {}
    for step in program_steps(session):
        if step.function:
            sharers.setdefault(step.function, []).append(step)
    for step in wanted_steps:
        members = groups.get(step.instruction, {step.instruction})
        hlo = [texts[key] for key in sorted(members, key=lambda key: (key != step.instruction, place.get(key, 0))) if key in texts]
        code = {name: _code_of(panes[name], step, members, sharers, groups) for name in wanted}
        kernels.append(KernelCode(step.name, source_line(session, step.instruction), hlo, code))
    return SideBySide(kernels, wanted)


def _members(session: Compilation) -> dict[int, set[int]]:
    """Fusion id -> the ids that its kernel computes."""
    found = {}
    for i in session.module.instructions():
        if i.opcode.name == "fusion":
            found[i.id] = {i.id, *i.called[0].instructions}
    return found


def _code_of(
    lines: Sequence[TextLine], step: ProgramStep, members: set[int], sharers: dict[str, list[ProgramStep]], groups: dict[int, set[int]]
) -> list[str]:
    """The lines of a step; where it shares its kernel, which is written once, those of the step that it was written for."""
    alike = sharers.get(step.function, [step])
    if len(alike) < 2:
        return _of_kernel(lines, members)
    counts = Counter([line.instruction for line in lines])
    bodies = [members, *[groups.get(other.instruction, {other.instruction}) for other in alike]]
    return _of_kernel(lines, max(bodies, key=lambda body: sum(counts[key] for key in body)))


def _of_kernel(lines: Sequence[TextLine], members: set[int]) -> list[str]:
    """The lines from the first to the last that come from the kernel, without those of others between."""
    return [line.text for line in lines if line.instruction in members]
