"""Rows about generated code for the views: LLVM's passes and remarks, and PTX on the emulator."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.explorer.code.llvm.llvm_kernels import OF_LLVM
from xla_explorer.explorer.code.llvm.llvm_views import llvm_passes, remarks
from xla_explorer.explorer.measures.emulation import emulation
from xla_explorer.explorer.measures.kernel_costs import costs_of
from xla_explorer.explorer.page.rows import LlvmPassRow, PtxCountRow, RemarkRow
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.foundation.kept import kept

MOST_EMULATED, EMULATED_PER_SECOND = 3e7, 8e6
"""Operations and words of memory that a click may emulate, and roughly how many run in a second."""


def hot_llvm_kernels(session: Compilation, rows: Sequence[Kernel]) -> list[str]:
    """Return the kernels that LLVM compiled, the most expensive first."""
    if session.backend not in OF_LLVM or "llvm-ir" not in session.stages():
        return []
    compiled = {s.instruction for s in program_steps(session) if getattr(s, "function", "")}
    ours = [row for row in rows if row.instruction in compiled]
    return [row.kernel for row in sorted(ours, key=lambda row: -row.time_us)]


def llvm_pass_rows(session: Compilation, kernel: str) -> list[LlvmPassRow]:
    """Return the LLVM passes that changed a kernel."""
    names = ["pass", "level", "lines_before", "lines_after", "added", "removed", "diff"]
    frame = llvm_passes(session, kernel)[names]
    return [LlvmPassRow(*row) for row in frame.astype(object).values.tolist()]


@kept
def remark_rows(session: Compilation) -> tuple[RemarkRow, ...]:
    """Return the remarks of LLVM's vectorisers; none for other backends than the CPU."""
    if session.backend != "cpu" or "llvm-ir" not in session.stages():
        return ()
    ids = {i.name: i.id for i in session.module.instructions()}
    rows = remarks(session).astype(object).values.tolist()
    return tuple(
        [
            RemarkRow(kind, by, message, name, line, ids.get(name.lstrip("%")))
            for kind, by, message, name, line in rows
        ]
    )


def ptx_count_rows(session: Compilation) -> list[PtxCountRow]:
    """Return the lines of PTX that ran, with counters; a short program is emulated now.

    ValueError if that would take long.
    """
    costs = [(c.times, c.cost) for c in costs_of(session)]
    work = sum([n * (c.flops + c.transcendentals + c.bytes_accessed / 4) for n, c in costs])
    if session.last_emulation is None and work > MOST_EMULATED:
        seconds = work / EMULATED_PER_SECOND
        raise ValueError(
            f"about {seconds:.0f} s on the emulator: run session.emulation() in a cell, then try again here"
        )
    counted = session.last_emulation or emulation(session, ())
    names = ["line", "warp_instructions", "share", "marks", "reason"]
    frame = counted.ptx.lines
    rows = frame[frame["warp_instructions"] > 0][names].astype(object).values.tolist()
    return [
        PtxCountRow(int(line), int(warps), round(float(share), 5), marks.split(", ")[0], why)
        for line, warps, share, marks, why in rows
    ]
