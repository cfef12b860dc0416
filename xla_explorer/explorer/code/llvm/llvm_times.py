"""Times of LLVM's passes, by LLVM's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.explorer.code.llvm.llvm_kernels import function_of, kernel_ir, llvm_setting
from xla_explorer.explorer.display import wide_frame
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.tables.code_rows import LlvmPassCost
from xla_explorer.explorer.tables.rows import columns_of

if TYPE_CHECKING:
    from xla_explorer.explorer.display.pandas_frame import WideFrame


def pass_times(session: Compilation, kernel: str = "") -> WideFrame:
    """Return one row per LLVM pass, the longest first.

    Columns: pass, level (`ir` or `machine`), ms of processor time by LLVM's own clock, share, runs.
    kernel: only of this kernel. A child process compiles a second time, with one thread and nothing
    else running.
    """
    # Start-up time: LLVM.
    from xla_explorer.backends.llvm.llvm_passes import llvm_pass_times

    target, options, _ = llvm_setting(session)
    rows = llvm_pass_times(
        kernel_ir(session, function_of(session, kernel) if kernel else None), target, options
    )
    whole = sum([row.seconds for row in rows]) or 1.0
    return wide_frame(
        [LlvmPassCost(r.name, r.level, r.seconds * 1e3, r.seconds / whole, r.runs) for r in rows],
        columns_of(LlvmPassCost),
    )
