"""One thing that a GPU program does. Source: xla/backends/gpu/runtime/thunk.h."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.backends.gpu.kernel_module import GpuKernel
from xla_explorer.compiler.buffers import BufferSlice
from xla_explorer.compiler.transforms.library_calls.library_call import LibraryCall
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction

CONTROL_FLOW = frozenset({"while", "conditional", "call"})
NO_STEP = CONTROL_FLOW | {"wait"}  # kinds that do nothing themselves: what is inside, or comes after, is shown and timed


class Thunk(NamedTuple):
    """One thing to do.

    kind: `kernel`, `copy` (device to device), `library` (see call), `while` (bodies: condition, body), `conditional` (a body per branch),
    `call` (one body), `wait` (for streams), `evaluator` (there is no kernel: on the host, with buffers copied there and back; see reason).
    arguments: kernels: memory of each parameter, in order. copies: source, target. while and conditional: where the predicate or branch
    index is. library and evaluator: leaves of all operands, then of the result. handed_over: (source, target) slices to copy when a body
    is done, where they differ; one tuple per body. reason: why not something better: a library, or a kernel. stream: that runs it; 0 is
    the main one. waits: streams whose work so far it waits for before.
    """

    kind: str
    instruction: HloInstruction
    kernel: GpuKernel | None = None
    arguments: tuple[BufferSlice, ...] = ()
    bodies: tuple[tuple[Thunk, ...], ...] = ()
    handed_over: tuple[tuple[tuple[BufferSlice, BufferSlice], ...], ...] = ()
    reason: Reason | None = None
    call: LibraryCall | None = None
    stream: int = 0
    waits: tuple[int, ...] = ()
