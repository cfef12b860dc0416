"""The program of a compile: its kernels, and ptxas' report on those for a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.compiler.codegen.dispatch import choose_strategy
from xla_explorer.compiler.decisions.recorded import code_check, decision
from xla_explorer.explorer.code.kernel_rows import kernel_rows
from xla_explorer.explorer.display import CodeText, wide_frame
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.explorer.tables.kernel import KERNEL_COLUMNS
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import place_of

if TYPE_CHECKING:
    import pandas


NATIVE_CODE = "native-code"


def kernel_table(compilation: Compilation) -> pandas.DataFrame:
    """See `Session.kernels`."""
    rows = kernel_rows(compilation)
    columns = [*KERNEL_COLUMNS, *(["stream"] if any(row.stream for row in rows) else [])]
    return wide_frame([row.cells(columns) for row in rows], columns)


def native_code_decisions(compilation: Compilation) -> list[Decision]:
    """Return steps on the evaluator, and steps that libraries could compute, as decisions.

    Their kind is `native-code`.
    """
    return [
        decision(
            NATIVE_CODE,
            s.runs_on != "evaluator",
            (s.instruction,),
            (s.name,),
            s.reason,
            _strategies(s),
            checklist=code_check(
                NATIVE_CODE,
                s.runs_on != "evaluator",
                s.reason,
                _strategies(s),
                place_of(choose_strategy),
            ),
        )
        for s in program_steps(compilation)
        if s.reason is not None
    ]


def _strategies(step: ProgramStep) -> dict[str, object]:
    """Return the strategy that runs a step, and the refusals of those tried before."""
    refused = [f"{name}: {reason.code}" for name, reason in step.refused]
    return {"runs_on": step.runs_on} | ({"refused": refused} if refused else {})


def stage_code(compilation: Compilation, name: str, language: str, whole: str) -> CodeText:
    """Return the text of a stage, shown as code. whole: the call that returns all of it."""
    return CodeText(compilation.stage(name).text, language, whole)


def sass_code(compilation: Compilation) -> CodeText:
    """Return the SASS of a session of the backend `gpu`."""
    # Start-up time: only machine code of a GPU needs the tools of that backend.
    from xla_explorer.backends.gpu.disassembly import why_no_sass

    if (missing := why_no_sass()) is not None:
        raise XlaExplorerError(
            f"no SASS: {missing.message}",
            "install CUDA's binary utilities, or name the program in that variable",
        )
    return stage_code(compilation, "sass", "sass", "session.gpu().assembly()")


def ptxas_table(compilation: Compilation) -> pandas.DataFrame:
    """See `Session.kernels`."""
    # Start-up time, as above.
    from xla_explorer.backends.gpu.architecture import gpu_architecture
    from xla_explorer.backends.gpu.occupancy import REPORT_COLUMNS, resource_rows
    from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx

    executable: Any = compilation.gpu().executable
    text, name = executable.ptx.text, executable.ptx.architecture
    rows = resource_rows(
        executable.program.kernels, assemble_ptx(text, name), gpu_architecture(name)
    )
    return wide_frame(rows, list(REPORT_COLUMNS))
