"""One thing that a GPU program does. Source: xla/backends/gpu/runtime/thunk.h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.kernel_module import GpuKernel
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
}  # kinds that do nothing themselves: what is inside, or comes after, is shown and timed

_RECORDED = (
    MatmulCall,
    FftCall,
    ConvolutionCall,
)  # calls that do nothing but queue work, and can stand in a graph
# Nodes of a graph up to which a loop of a known count is written out, and those of a trip of one that is not: what the device takes for
# the loop itself is little beside them.
WRITTEN_OUT_NODES = 4096
_TRIP_NODES = 256


class Thunk(NamedTuple):
    """One thing to do.

    kind: `kernel`, `copy` (device to device), `library` (see call), `while` (bodies: condition, body), `conditional` (a body per branch),
    `call` (one body), `wait` (for streams), `evaluator` (there is no kernel: on the host, with buffers copied there and back; see reason).
    arguments: kernels: memory of each parameter, in order. copies: source, target. while and conditional: where the predicate or branch
    index is. library and evaluator: leaves of all operands, then of the result. handed_over: (source, target) slices to copy when a body
    is done, where they differ; one tuple per body. reason: why not something better: a library, or a kernel. stream: that runs it; 0 is
    the main one. waits: streams whose work so far it waits for before. trips: of a `while`, how often its body runs, where that is known
    and nobody need ask the condition; its kernel, where it has one, is the whole loop (see `block_loop`), with the predicate and more as
    arguments.
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
    trips: int | None = None

    @property
    def is_recorded(self) -> bool:
        """Whether a CUDA graph can hold it: it queues work and nothing else, and so does what is inside."""
        if self.kind in CONTROL_FLOW:
            return all(thunk.is_recorded for body in self.bodies for thunk in body)
        return self.kind in ("kernel", "copy", "wait") or isinstance(self.call, _RECORDED)


def node_count(thunks: Sequence[Thunk]) -> int:
    """How many nodes a graph has of thunks, at most: loops and branches are nodes with what is inside."""
    count = 0
    for thunk in thunks:
        inside = [
            node_count(body) + len(pairs)
            for body, pairs in zip(thunk.bodies, thunk.handed_over, strict=True)
        ]
        if thunk.kernel is not None:
            count += 1
        elif thunk.kind == "while" and thunk.trips is not None:
            count += min(thunk.trips * inside[1], WRITTEN_OUT_NODES)
        else:
            count += 1 + sum(inside)
    return count


def nesting_depth(thunks: Sequence[Thunk]) -> int:
    """How many loops and branches that the device decides are inside each other in a graph."""
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
    """How often the body of a loop of a known count is written out in a trip of its recorded one; all its trips where it needs none."""
    assert loop.trips is not None
    nodes = max(node_count(loop.bodies[1]) + len(loop.handed_over[1]), 1)
    return (
        loop.trips
        if loop.trips * nodes <= WRITTEN_OUT_NODES
        else min(max(_TRIP_NODES // nodes, 1), loop.trips)
    )
