"""Bodies of LLVM functions from text, and as text."""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.llvm_text import body_lines
from xla_explorer.compiler.codegen.ir.records import Body, Label, RawLine


def body_of(text: str, *origins: int | None) -> Body:
    """Return a body: indented lines are operations, the others labels.

    origins: of the lines; by default of no instruction.
    """
    lines = text.strip("\n").split("\n")
    return Body(
        [
            RawLine(line.strip(), origin) if line.startswith("  ") else Label(line[:-1], origin)
            for line, origin in zip(lines, origins or (None,) * len(lines), strict=True)
        ]
    )


def text_of_body(body: Body) -> str:
    """Return a body as text."""
    return "\n".join(body_lines(body))
