"""The loop nest of a kernel, plain or after directives, as text."""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule, parse_directives
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.decisions.kinds import meaning_of
from xla_explorer.explorer.display import CodeText
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason


def loops_of(compilation: Compilation, kernel: str | int, schedule: str) -> CodeText:
    """See `Session.loops`."""
    number = compilation.passes.find(kernel)
    instructions = [i for c in compilation.module.computations.values() for i in c.instructions.values() if i.id == number]
    if not instructions:
        raise XlaExplorerError(f"{kernel} is not in the optimised module", "the kernels are listed by session.kernels()")
    nest = nest_of(instructions[0])
    if isinstance(nest, Reason):
        meaning = meaning_of("loop-nest", nest.code)
        raise XlaExplorerError(f"%{instructions[0].name} has no loop nest: {nest}", meaning.remedy if meaning is not None else "")
    made = Schedule(nest, nest)
    for directive in parse_directives(schedule):
        made = made.then(directive)
    return CodeText(nest_text(made.nest), "text", f"session.loops({kernel!r}, {schedule!r})")
