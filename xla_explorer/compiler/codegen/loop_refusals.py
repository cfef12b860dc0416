"""Why a loop is left to LLVM: the closed list of codes, and the exception that carries one of them out of the loop vectoriser."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.decisions.code_reasons import KERNELS_LEFT_TO_LLVM, LOOPS_LEFT_TO_LLVM
from xla_explorer.foundation.reason import Reason, refuse

# What keeps a whole kernel from being tried.
KERNEL_REASONS = {code: row.sentence for code, row in KERNELS_LEFT_TO_LLVM.items()}
# Refusals of one loop, or of a whole kernel for the sake of one.
LOOP_REASONS = {code: row.sentence for code, row in LOOPS_LEFT_TO_LLVM.items()}


class RefusedLoop(Exception):
    """This loop stays as it is. reason: why, with a code of `LOOP_REASONS`."""

    def __init__(self, code: str, detail: str = "", **facts: Any) -> None:
        super().__init__(code)
        self.reason: Reason = refuse(code, LOOP_REASONS[code] + (f": {detail}" if detail else ""), **facts)
