"""Why a loop is left to LLVM: the closed list of codes, and the exception that carries one of them out of the loop vectoriser."""

from __future__ import annotations

from typing import Any

from xla_explorer.foundation.reason import Reason, refuse

# Refusals of one loop, or of a whole kernel for the sake of one.
LOOP_REASONS: dict[str, str] = {
    "not-counted": "it is no single block that counts up by one",
    "writer-says-no": "the writer of the kernel has other plans for it",
    "unknown-iterations": "how often it runs is not known before the program runs",
    "few-iterations": "it runs less often than a vector has elements",
    "nothing-varies": "nothing in it differs from one iteration to the next",
    "unknown-place": "it reads or writes at an address that may lie anywhere",
    "not-consecutive": "neighbouring iterations do not read or write neighbouring elements",
    "iterations-meet": "an iteration may read or write what another one writes",
    "uniform-conditions": "several choices hold for the whole loop; LLVM makes loops without them, which are faster",
    "not-a-reduction": "a variable that lives across iterations is not one associative combination",
    "order-of-additions": "its sum must be added in the order of the program",
    "index-as-value": "it computes with the number of the iteration in a type that is kept as a scalar",
    "no-vector-form": "an instruction of it has no vector form here",
    "function-has-branches": "a function that it calls has branches or tables",
    "branches": "the kernel has branches that close no loop",
    "choice-in-a-loop": "an innermost loop of the kernel holds a choice, out of which LLVM may take it",
    "uncounted-loop": "the kernel has a loop that does not count",
    "no-loop": "the kernel has no loop that counts up by one",
}
# What keeps a whole kernel from being tried.
KERNEL_REASONS: dict[str, str] = {
    "target-is-llvms": "the width of a vector on this target is LLVM's to choose",
    "operands-overlap": "its arrays share memory",
    "tiny-kernel": "it becomes part of the code that calls it",
    "little-code": "the program's loops are so short that LLVM's own vectoriser costs nothing",
}


class RefusedLoop(Exception):
    """This loop stays as it is. reason: why, with a code of `LOOP_REASONS`."""

    def __init__(self, code: str, detail: str = "", **facts: Any) -> None:
        super().__init__(code)
        self.reason: Reason = refuse(code, LOOP_REASONS[code] + (f": {detail}" if detail else ""), **facts)
