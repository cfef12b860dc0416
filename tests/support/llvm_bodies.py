"""Bodies of LLVM functions from text, and as text."""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.llvm_text import body_lines
from xla_explorer.compiler.codegen.ir.records import Body, Instruction, Label, Line


def body_of(text: str) -> Body:
    """Return a body that prints as a text; its operations have nothing else."""
    lines = text.strip("\n").split("\n")
    body = Body(map(_record, lines))
    body.printed = lines
    return body


def _record(line: str) -> Line:
    return Instruction(None, line, (), "", None) if line[0] == " " else Label(line[:-1], None)


def text_of_body(body: Body) -> str:
    """Return a body as text."""
    return "\n".join(body_lines(body))
