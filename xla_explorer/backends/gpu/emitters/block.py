"""A block of threads in code that is written basic block by basic block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.thread_number import launch_number
from xla_explorer.compiler.codegen.lowering.threads.block_of_threads import BlockOfThreads
from xla_explorer.compiler.target import WARP_SIZE


class Block(BlockOfThreads):
    """A block of threads in code that is written basic block by basic block."""

    w: FunctionWriter

    def __init__(self, context: KernelContext, threads: int) -> None:
        self.context, w = context, context.writer
        super().__init__(
            w,
            threads,
            *[launch_number(w, context.target, what) for what in ("thread", "block")],
        )

    def finish(self) -> None:
        """Declare the shared memory."""
        self.declare_shared(self.context)

    @contextmanager
    def only_if(self, condition: Condition) -> Iterator[None]:
        """Execute the code inside if the condition holds; None: always."""
        if condition is None:
            yield
            return
        with self.w.only_if(condition):
            yield

    def shuffle_xor(self, word: Value[Integer], distance: int) -> Value[Integer]:
        """Return the i32 of the lane whose index differs in the bits of `distance`."""
        return self._shuffle(word, "bfly", distance, WARP_SIZE - 1)


def both(w: FunctionWriter, a: Condition, b: Condition) -> Condition:
    """Return the conjunction of two conditions; None is true."""
    return a or b if a is None or b is None else w.both(a, b)


def smaller(w: FunctionWriter, a: Word, b: Word) -> Word:
    """Return the minimum of two unsigned positions.

    LLVM can remove it from the known ranges of thread numbers.
    """
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return w.intrinsic("llvm.umin.i64", I64, w.named(a, I64), w.named(b, I64))
