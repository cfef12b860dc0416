"""Kernels by name: their own, or that of an instruction inside."""

from __future__ import annotations

from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.instruction import HloInstruction


def kernel_of(session: Compilation, kernel: str | int | HloInstruction) -> HloInstruction:
    """Return the instruction of a kernel, by its name or id or by those of an instruction inside.

    XlaExplorerError if the optimised module has none.
    """
    number = session.passes.find(kernel)
    steps = {step.instruction for step in program_steps(session)}
    made = {
        key: i for c in session.module.computations.values() for key, i in c.instructions.items()
    }
    around = {key: i for i in made.values() for callee in i.called for key in callee.instructions}
    found = made.get(number)
    if found is None:
        raise XlaExplorerError(
            f"{kernel} is not in the optimised module",
            "the kernels are listed by session.kernels()",
        )
    holder: HloInstruction | None = found
    while holder is not None and holder.id not in steps:
        holder = around.get(holder.id)
    return holder or found
