"""Control-flow graphs of kernels: the basic blocks of LLVM IR, assembly, PTX or SASS."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.explorer.code.named_kernel import kernel_of
from xla_explorer.explorer.code.side_by_side import kernels_beside, stage_names
from xla_explorer.explorer.code.stage_functions import CodeLine
from xla_explorer.explorer.display import Blocks, Code, Report, Table
from xla_explorer.explorer.pictures.graph import Graph
from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGraph, PictureNode
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError

_LABEL = re.compile(r'^\s*"?([$.\w-]+)"?:')
_LLVM_TARGET = re.compile(r'label %"?([\w.$-]+)"?')
_TARGET = re.compile(r"(?:^|[\s`(])(\$?\.?[A-Za-z_$.][\w$.]*)")
_JUMP = {
    "assembly": re.compile(r"^\s*(jmp|j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z|beq|bne|blt|bge)\s+(.*)$"),
    "ptx": re.compile(r"^\s*(@!?%p\d+\s+)?bra(?:\.uni)?\s+(.*?);"),
    "sass": re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(@!?U?P\d+\s+)?BRA(?:\.\w+)*\s+(.*?);"),
}
_END = re.compile(r"^\s*(?:/\*[0-9a-f]+\*/\s+)?(?:ret[lq]?\b|ret;|ud2|EXIT|unreachable)")
_ALWAYS = ("jmp", "b")


class BasicBlock(NamedTuple):
    """A basic block.

    label: of its first line, `entry` for the first block. lines: of the stage's text. goes_to:
    labels, the fall-through first.
    """

    label: str
    lines: tuple[CodeLine, ...]
    goes_to: tuple[str, ...]


class ControlFlow(Report):
    """The basic blocks of a kernel.

    basic_blocks: in the order of the code. graph: their picture; loops are back edges.
    """

    def __init__(self, kernel: str, stage: str, blocks: Sequence[BasicBlock]) -> None:
        self.kernel, self.stage, self.basic_blocks = kernel, stage, list(blocks)

    @property
    def graph(self) -> Graph:
        """The picture: a node a block, with its number of lines."""
        at = {block.label: number for number, block in enumerate(self.basic_blocks)}
        nodes = [
            PictureNode(
                number, block.label, f"{len(block.lines)} lines", "control-flow" if len(block.goes_to) > 1 else "elementwise",
                name=block.label, lines=tuple([line.text.strip() for line in block.lines[:30]]), opcode="block",
            )
            for number, block in enumerate(self.basic_blocks)
        ]  # fmt: skip
        edges = [
            PictureEdge(
                number,
                at[target],
                "control" if at[target] <= number else "data",
                label="back" if at[target] <= number else "",
            )
            for number, block in enumerate(self.basic_blocks)
            for target in block.goes_to
            if target in at
        ]
        return Graph(PictureGraph(nodes, edges, title=f"%{self.kernel}: {self.stage}"))

    def headline(self) -> str:
        """Return the numbers of basic blocks and back edges."""
        at = {block.label: number for number, block in enumerate(self.basic_blocks)}
        back = sum(
            [
                at.get(target, number + 1) <= number
                for number, block in enumerate(self.basic_blocks)
                for target in block.goes_to
            ]
        )
        return (
            f"{self.stage} of %{self.kernel}: {len(self.basic_blocks)} basic blocks, {back} "
            "edges that go back"
        )

    def blocks(self) -> Blocks:
        """Yield the picture, and the successors of each block."""
        yield from self.graph.blocks()
        yield Code(
            "blocks",
            "\n".join(
                [
                    f"{b.label} ({len(b.lines)} lines) -> {', '.join(b.goes_to) or 'end'}"
                    for b in self.basic_blocks
                ]
            ),
        )

    def records(self) -> Table:
        """Return a row per basic block."""
        rows = [
            (b.label, b.lines[0].number, len(b.lines), ", ".join(b.goes_to))
            for b in self.basic_blocks
        ]
        return Table(["block", "first_line", "lines", "goes_to"], rows)


def blocks_of(stage: str, lines: Sequence[CodeLine]) -> list[BasicBlock]:
    """Return the basic blocks of a function."""
    family = stage if stage in _JUMP else "llvm"
    cut: list[tuple[str, list[CodeLine]]] = [("entry", [])]
    for line in lines:
        found = _LABEL.match(line.text)
        if found and not (
            family == "assembly"
            and not found[1].startswith(".")
            and len(cut) == 1
            and not cut[0][1]
        ):
            if cut[-1][1] or cut[-1][0] != "entry":
                cut.append((found[1], []))
            else:
                cut[-1] = (found[1], [])
        cut[-1][1].append(line)
        if family != "llvm" and _JUMP[family].match(line.text) and _conditional(family, line.text):
            cut.append((f"line {line.number + 1}", []))  # the code behind a conditional branch
    cut = [(label, body) for label, body in cut if body]
    blocks = []
    for number, (label, body) in enumerate(cut):
        behind = cut[number + 1][0] if number + 1 < len(cut) else ""
        blocks.append(BasicBlock(label, tuple(body), tuple(_targets(family, body, behind))))
    if family == "llvm" and blocks:
        head = blocks[0]
        if (
            head.label == "entry" and len(blocks) > 1 and not head.goes_to
        ):  # the signature is before the label of the first block
            blocks = [
                BasicBlock(blocks[1].label, (*head.lines, *blocks[1].lines), blocks[1].goes_to),
                *blocks[2:],
            ]
    return blocks


def _conditional(family: str, text: str) -> bool:
    found = _JUMP[family].match(text)
    return found is not None and (
        found[1] not in _ALWAYS if family == "assembly" else bool(found[1])
    )


def _targets(family: str, body: Sequence[CodeLine], behind: str) -> list[str]:
    if family == "llvm":
        found = [target for line in body if re.match(r"\s+(br|switch|indirectbr|label)\b|\s+i\d+ -?\d+, label", line.text)
                 for target in _LLVM_TARGET.findall(line.text)]  # fmt: skip
        return list(dict.fromkeys(found))
    out: list[str] = []
    falls = True
    for line in body:
        if _END.match(line.text):
            falls = False
        jump = _JUMP[family].match(line.text)
        if jump is None:
            continue
        names = _TARGET.findall(" " + jump[2])
        out += names[-1:]
        falls = _conditional(family, line.text)
    return list(dict.fromkeys([*([behind] if falls and behind else []), *out]))


def control_flow(session: Compilation, kernel: str, stage: str) -> ControlFlow:
    """See `Llvm.control_flow`."""
    if stage not in stage_names(session):
        raise XlaExplorerError(
            f"the session has no stage {stage!r}", f"choose from: {', '.join(stage_names(session))}"
        )
    key = kernel_of(session, kernel).id
    steps = [step for step in program_steps(session) if step.instruction == key]
    if not steps:
        names = ", ".join([f"%{s.name}" for s in program_steps(session)][:12])
        raise XlaExplorerError(f"{kernel} is not a kernel", f"the kernels are {names}")
    found = kernels_beside(session, steps[:1], [stage])[0]
    lines = sorted(
        [line for row in found.rows for line in row.cells[0]], key=lambda line: line.number
    )
    if not lines:
        raise XlaExplorerError(
            f"%{found.name} has no code in {stage}", found.notes[stage] or "choose another stage"
        )
    return ControlFlow(found.name, stage, blocks_of(stage, lines))
