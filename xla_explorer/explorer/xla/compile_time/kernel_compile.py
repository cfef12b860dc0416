"""One kernel's way to machine code, with its time."""

from __future__ import annotations

from typing import NamedTuple


class KernelCompile(NamedTuple):
    """A kernel's way to machine code.

    Attributes
    ----------
    kernel, opcode : str
        Of XLA's program.
    instructions : int
        That it computes.
    emit_s : float or None
        Measured time of its compile to LLVM IR; None if XLA does not record it, or compiled an
        equal kernel before.
    llvm_s : float
        LLVM's time, which XLA records for all kernels together, divided by instructions: estimated.
    line : str
        The user's source line.
    lines : tuple of (str, int)
        The user's lines of the instructions that a fusion computes, each with their number.
    """

    kernel: str
    opcode: str
    instructions: int
    emit_s: float | None
    llvm_s: float
    line: str
    lines: tuple[tuple[str, int], ...] = ()
