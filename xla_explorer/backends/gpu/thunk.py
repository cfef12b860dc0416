"""A step of a GPU program. Source: xla/backends/gpu/runtime/thunk.h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.compiler.buffers import BufferSlice
from xla_explorer.compiler.transforms.library_calls.library_call import (
    ConvolutionCall,
    FftCall,
    LibraryCall,
    MatmulCall,
)
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction

CONTROL_FLOW = frozenset({"while", "conditional", "call"})
NO_STEP = CONTROL_FLOW | {
    "wait"
}  # kinds without work of their own: their contents or successors are shown and timed

_RECORDED = (
    MatmulCall,
    FftCall,
    ConvolutionCall,
)  # calls that only queue work, and can be part of a graph
# Maximum of graph nodes for full unrolling of a known trip count, and of one iteration of a
# recorded loop. The loop's own overhead is small beside them.
WRITTEN_OUT_NODES = 4096
_TRIP_NODES = 256


class Thunk(NamedTuple):
    """A step of a GPU program.

    kind: `kernel`, `copy` (device to device), `library` (see call), `while` (bodies: condition,
    body), `conditional` (a body per branch), `call` (one body), `wait` (for streams), `evaluator`
    (no kernel: computed on the host with copied buffers; see reason).
    arguments: memory of each kernel parameter; source and target of a copy; the predicate or branch
    index of control flow; leaves of all operands, then of the result, of a library call or the
    evaluator.
    carried_copies: (source, target) slices to copy after a body, if different; a tuple per body.
    reason: against a better strategy: a library, or a kernel.
    stream: of the work; 0 is the main one. waits: streams whose earlier work it waits for.
    trips: of a `while`, its known trip count, if the condition need not run.
    kernel: of a `while`, the whole loop (see `persistent_kernel`), with the predicate and more as
    arguments.
    """

    kind: str
    instruction: HloInstruction
    kernel: GpuKernel | None = None
    arguments: tuple[BufferSlice, ...] = ()
    bodies: tuple[tuple[Thunk, ...], ...] = ()
    carried_copies: tuple[tuple[tuple[BufferSlice, BufferSlice], ...], ...] = ()
    reason: Reason | None = None
    call: LibraryCall | None = None
    stream: int = 0
    waits: tuple[int, ...] = ()
    trips: int | None = None

    @property
    def is_recorded(self) -> bool:
        """True if a CUDA graph can hold it: it only queues work, and so do its bodies."""
        if self.kind in CONTROL_FLOW:
            return all(thunk.is_recorded for body in self.bodies for thunk in body)
        return self.kind in ("kernel", "copy", "wait") or isinstance(self.call, _RECORDED)


def node_count(thunks: Sequence[Thunk]) -> int:
    """Return the maximum number of graph nodes of thunks; bodies of loops and branches included."""
    count = 0
    for thunk in thunks:
        inside = [
            node_count(body) + len(pairs)
            for body, pairs in zip(thunk.bodies, thunk.carried_copies, strict=True)
        ]
        if thunk.kernel is not None:
            count += 1
        elif thunk.kind == "while" and thunk.trips is not None:
            count += min(thunk.trips * inside[1], WRITTEN_OUT_NODES)
        else:
            count += 1 + sum(inside)
    return count


def nesting_depth(thunks: Sequence[Thunk]) -> int:
    """Return the nesting depth of loops and branches that the device decides in a graph."""
    inside = [t for t in thunks if t.bodies and t.kernel is None]
    return max(
        [_decided(thunk) + max([nesting_depth(body) for body in thunk.bodies]) for thunk in inside],
        default=0,
    )


def _decided(thunk: Thunk) -> bool:
    return thunk.kind == "conditional" or (
        thunk.kind == "while" and (thunk.trips is None or trips_at_once(thunk) < thunk.trips)
    )


def trips_at_once(loop: Thunk) -> int:
    """Return the unrolled iterations in one iteration of a recorded loop of a known trip count.

    It is the trip count itself for a fully unrolled loop.
    """
    assert loop.trips is not None
    nodes = max(node_count(loop.bodies[1]) + len(loop.carried_copies[1]), 1)
    return (
        loop.trips
        if loop.trips * nodes <= WRITTEN_OUT_NODES
        else min(max(_TRIP_NODES // nodes, 1), loop.trips)
    )
