"""The texts of a compile as panes: source, HLO and the code of each stage, with instructions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from xla_explorer.explorer.code.hot_kernels import kept_lines
from xla_explorer.explorer.code.loop_text import MOST_SHOWN, loop_lines, shown_loops
from xla_explorer.explorer.code.python_source import python_pane
from xla_explorer.explorer.display import MOST_PANE_LINES, CodePane, LazyLines, TextLine
from xla_explorer.explorer.sessions.compilation import DUMP, Compilation, is_of_xla, program_steps
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses

SMALL_FOR_PTX = 300
"""Modules of more instructions are compiled for a second backend only on request."""
MOST_LLVM_LINES_GENERATED = 20_000
"""Programs with more lines of LLVM IR get optimised IR and machine code only on request."""
_GENERATED = ("llvm-ir-optimized", "assembly")
MOST_PTX_LINES_ASSEMBLED = 2_000
"""XLA's dumps have no machine code of a GPU; it is made of more PTX only on request."""
XLA_LOOPS: Final = (
    "XLA's emitters write LLVM IR directly: a dump of XLA has no loop nests to be shown here.",
    (
        "The pane of LLVM IR has the loops that XLA wrote; xe.compile(session.source).loops() "
        "has those of our compiler."
    ),
)


def code_panes(compilation: Compilation) -> list[CodePane]:
    """Return every text of a compile, in order; lines are made on first use."""
    source = compilation.source
    written = python_pane(source, compilation.source_lines)
    panes = (
        [written]
        if written is not None
        else [_source_pane(compilation)]
        if source.source_text
        else []
    )
    panes.append(hlo_pane(compilation.passes, f"xla_explorer {compilation.backend}"))
    names = [name for name, stage in compilation.stages().items() if stage.is_code]
    if is_of_xla(compilation) and "llvm-ir" in names:
        panes.append(
            CodePane(
                "loops",
                [TextLine(f"// {line}", None) for line in XLA_LOOPS],
                "XLA",
                " ".join(XLA_LOOPS),
            )
        )
    elif "llvm-ir" in names and compilation.error is None:
        count = len({step.instruction for step in program_steps(compilation)})
        note = "opaque kernels in one line"
        if count > MOST_SHOWN:
            note = (
                f"{MOST_SHOWN} of {count} kernels, those that take most time; session.loops() "
                "has all"
            )
        lines = LazyLines("loops", lambda: loop_lines(shown_loops(compilation))[0])
        panes.append(CodePane("loops", lines, "xla_explorer loop nests", note))
    panes += [_stage_pane(compilation, name) for name in names]
    if "ptx" not in names and compilation.error is None and compilation.backend != DUMP:
        note = "made from the same source by the pipeline of the gpu backend; nothing ran on a GPU"
        ptx = LazyLines("ptx", lambda: _ptx_lines(compilation), partial(kept_lines, compilation))
        panes.append(CodePane("ptx", ptx, "xla_explorer gpu", note))
    return panes


def hlo_pane(passes: RecordedPasses[RecordedPass], producer: str) -> CodePane:
    """Return the pane of the HLO after the last pass."""
    return CodePane(
        "hlo",
        LazyLines("hlo", lambda: [TextLine(text, key) for text, key in passes[-1].lines]),
        producer,
    )


def costly(compilation: Compilation, pane: CodePane) -> str:
    """Return how to make the lines of a pane that takes long to make; empty for other panes."""
    stage = compilation.stages().get(pane.name)
    if stage is None and pane.name == "ptx":
        count = compilation.source.instruction_count()
        if count <= SMALL_FOR_PTX or compilation.backend == "gpu" or () in compilation.gpu_sessions:
            return ""
        return (
            f"// not made for this page: the module has {count} instructions, and PTX is a "
            "compile of its own "
            f"(up to {SMALL_FOR_PTX} it is always made). session.ptx() makes it; pages saved "
            "after that have it."
        )
    if pane.name == "sass" and stage is not None and stage.compiler == "xla" and not stage.is_made:
        count = compilation.stage("ptx").text.count("\n")
        if count > MOST_PTX_LINES_ASSEMBLED:
            return (
                f"// not made for this page: ptxas would work on {count} lines of PTX (up to "
                f"{MOST_PTX_LINES_ASSEMBLED} it does). "
                "session.stage('sass').text makes it; pages saved after that have it."
            )
    if (
        pane.name not in _GENERATED
        or stage is None
        or stage.is_made
        or "llvm-ir" not in compilation.stages()
    ):
        return ""
    count = compilation.stage("llvm-ir").text.count("\n")
    if count <= MOST_LLVM_LINES_GENERATED:
        return ""
    return (
        f"; not made for this page: LLVM would work on {count} lines again (up to "
        f"{MOST_LLVM_LINES_GENERATED} it does). "
        f"session.stage({pane.name!r}).text makes it; pages saved after that have it."
    )


def _source_pane(compilation: Compilation) -> CodePane:
    """Return the pane of the HLO text as it was given, each line linked to its instruction."""
    at = {i.line: i.id for i in compilation.source.instructions() if i.line}
    text = compilation.source.source_text or ""
    lines = [TextLine(line, at.get(number)) for number, line in enumerate(text.split("\n"), 1)]
    rest = len(lines) - MOST_PANE_LINES
    note = (
        f"{rest} of {len(lines)} lines left out; session.stage('source').text has all"
        if rest > 0
        else ""
    )
    return CodePane(
        "source",
        kept_lines(compilation, "source", lines),
        compilation.source.filename or "the text given",
        note,
    )


def _stage_pane(compilation: Compilation, name: str) -> CodePane:
    stage = compilation.stage(name)

    def make() -> list[TextLine]:
        return [TextLine(text, key) for text, key in stage.lines()]

    return CodePane(
        name,
        LazyLines(name, make, partial(kept_lines, compilation)),
        stage.compiler or f"xla_explorer {compilation.backend}",
    )


def _ptx_lines(compilation: Compilation) -> list[TextLine]:
    """Return the PTX of the same source; common instructions have the ids of this compile."""
    gpu = compilation.gpu()
    here = _ids_here(compilation, gpu)
    return [TextLine(text, here(key)) for text, key in gpu.stage("ptx").lines()]


def _ids_here(mine: Compilation, other: Compilation) -> Callable[[int | None], int | None]:
    """Return a function from ids of another compile of the same source to ids of this one.

    It returns None without a counterpart. Ids of the source are the same in both, those that passes
    made are not.
    """
    written, result = [
        {i.id for i in module.instructions()} for module in (mine.source, mine.module)
    ]

    def here(key: int | None) -> int | None:
        if key is None:
            return None
        keys = [key]
        record = other.passes.lineage.records.get(key)
        if record is not None and record.opcode.name == "fusion":
            keys = [other.module.find(key).called[0].root.id]
        for candidate in keys:
            for origin in other.passes.lineage.origins(candidate):
                if origin in written:
                    return next(
                        (k for k in mine.passes.lineage.successors(origin) if k in result), origin
                    )
        return None

    return here
