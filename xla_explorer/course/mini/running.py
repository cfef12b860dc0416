"""A program that a student's compiler made: LLVM IR, and the memory that it needs."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from xla_explorer.course.native_run import Array, NativeChild


class Program:
    """A compiled program, which runs in a child process.

    Parameters
    ----------
    ir
        LLVM IR text that defines `void @run(ptr %x0, ..., ptr %arena, ptr %out, i64 %n)`: a pointer
        for each parameter, the memory of stored values, the result's memory, and an unused number.
    arena
        The number of floats of the stored values.
    shape
        The result's dimensions.

    Attributes
    ----------
    seconds
        Times of each run of the last call, in seconds, without messages to the child.
    """

    def __init__(self, ir: str, arena: int, shape: tuple[int, ...]) -> None:
        self.ir, self.arena, self.shape = ir, arena, shape
        self.seconds: list[float] = []

    def __call__(self, *arrays: Any, repeats: int = 1) -> Array:
        """Return the result for some arrays.

        Raises
        ------
        KernelCrashedError
            The code ended the child, or did not end.
        """
        with NativeChild() as child:
            return self.run_in(child, *arrays, repeats=repeats)

    def run_in(self, child: NativeChild, *arrays: Any, repeats: int = 1) -> Array:
        """Return the result for some arrays, computed in a child that is kept for many calls."""
        inputs = [np.asarray(x, np.float32).reshape(-1) for x in arrays]
        arena = np.full(self.arena, np.nan, np.float32)
        result = child.run(self.ir, [*inputs, arena], prod(self.shape), prod(self.shape), repeats)
        self.seconds = child.seconds
        return result.reshape(self.shape)
