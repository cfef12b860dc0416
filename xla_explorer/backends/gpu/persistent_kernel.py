"""A loop as one persistent, single-block kernel.

If no kernel of the loop needs more threads than a block has, one block runs them in order.
It repeats them for each iteration and evaluates the condition itself. A launch takes longer than
such a kernel, and XLA launches each one (xla/backends/gpu/runtime/while_thunk.cc).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.backends.gpu.kernel_module import CALLED_EMITTERS, function_in_a_block
from xla_explorer.backends.gpu.thunk import Thunk
from xla_explorer.compiler.buffers import BufferSlice
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.definitions import Declaration
from xla_explorer.compiler.codegen.ir.records import Access, Phi
from xla_explorer.compiler.codegen.ir.types import I1, I8, I32, I64, Type
from xla_explorer.compiler.codegen.ir.values import Pointer, Value
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions
from xla_explorer.foundation.reason import Reason, refuse

EMITTER = "persistent-kernel"
_MOST_STEPS = 64
_MOST_THREADS = 512  # each has 128 registers, which many kernels in one need
_COPIED_AT_ONCE = 8  # elements of a thread
_THREAD, _BARRIER = "llvm.nvvm.read.ptx.sreg.tid.x", "llvm.nvvm.barrier0"
_DECLARED = (Declaration(_THREAD, "i32"), Declaration(_BARRIER))
_GLOBAL = Type("ptr", space=1)


class PersistentKernel(NamedTuple):
    """A loop as one persistent kernel.

    places: memory of its parameters; the first is the condition's result. may_overlap: memory of a
    parameter may be written by another thread, or through another parameter.
    """

    kernel: GpuKernel
    places: tuple[BufferSlice, ...]
    may_overlap: bool


def persistent_kernel(loop: Thunk) -> PersistentKernel | Reason:
    """Return the kernel of a `while`, or the reason against one."""
    name = loop.instruction.name
    copies = [Thunk("copy", loop.instruction, arguments=pair) for pair in loop.carried_copies[1]]
    condition = () if loop.trips is not None else loop.bodies[0]
    steps = (*condition, *loop.bodies[1], *copies)
    if not loop.bodies[1] or len(steps) > _MOST_STEPS:
        return refuse(
            "not-one-block",
            f"%{name} has {len(steps)} steps an iteration, a kernel has 1 to {_MOST_STEPS}",
            steps=len(steps),
        )
    for step in steps:
        if not _is_one_block(step) or step.stream or step.waits:
            what = step.kernel.name if step.kernel is not None else step.kind
            text = (
                f"%{name}: {what} (%{step.instruction.name}) needs more than {_MOST_THREADS} "
                "threads, a barrier or another stream"
            )
            return refuse("not-one-block", text, step=what)
    if any(
        target.overlaps(later)
        for k, (_, target) in enumerate(loop.carried_copies[1])
        for later, _ in loop.carried_copies[1][k + 1 :]
    ):
        text = f"%{name} permutes its state: an earlier copy would overwrite what a later one reads"
        return refuse("not-one-block", text)
    block = max([_threads(step.kernel) for step in steps if step.kernel is not None], default=32)
    if any(-(-_units(step)[0] // block) > _COPIED_AT_ONCE for step in steps if step.kind == "copy"):
        return refuse(
            "not-one-block",
            f"%{name} copies more than {_COPIED_AT_ONCE} elements of its state per thread",
        )
    writer = _Writer(loop.instruction.id, block, loop.arguments[0])
    writer.write(condition, (*loop.bodies[1], *copies), loop.trips)
    inside = tuple(dict.fromkeys([step.kernel for step in steps if step.kernel is not None]))
    kernel = writer.kernel()
    why = f"one block runs the {len(steps)} steps of an iteration of %{name} in order"
    overlap = any(
        a.overlaps(b) for k, a in enumerate(writer.places) for b in writer.places[k + 1 :]
    )
    return PersistentKernel(
        GpuKernel(kernel, LaunchDimensions(1, block, block, why), emitter=EMITTER, inside=inside),
        tuple(writer.places),
        block > 1 or overlap,
    )


def _is_one_block(step: Thunk) -> bool:
    kernel = step.kernel
    if kernel is None:
        return step.kind == "copy"
    return (
        _threads(kernel) <= _MOST_THREADS
        and kernel.emitter in CALLED_EMITTERS
        and not (
            kernel.scratch
            or kernel.shared_bytes
            or kernel.dynamic_shared_bytes
            or kernel.tensor_maps
        )
    )


def _threads(kernel: GpuKernel) -> int:
    return kernel.launch.blocks * kernel.launch.threads_per_block


def _units(copy: Thunk) -> tuple[int, int]:
    """Return (count, bytes) of the units that a copy moves."""
    source, target = copy.arguments
    size = 4 if all(n % 4 == 0 for n in (target.size, source.offset, target.offset)) else 1
    return target.size // size, size


class _Writer:
    """Writer of the kernel. places: memory of its parameters."""

    def __init__(self, origin: int, block: int, predicate: BufferSlice) -> None:
        self.w, self.block = FunctionWriter(), block
        self.w.origin = origin
        self.thread = self.w.named("%thread", I32)
        self.places = [predicate]
        self._numbers = {(id(predicate.allocation), predicate.offset): 0}
        self._count = 0

    def kernel(self) -> Kernel:
        """Return the finished kernel."""
        count, body = len(self.places), self.w.body(self.w.origin)
        return Kernel(body, count, tuple(range(count)), _DECLARED, (), (), self.block)

    def write(self, condition: Sequence[Thunk], body: Sequence[Thunk], trips: int | None) -> None:
        """Write the loop.

        The condition's steps and its test, or a counter, then the body's steps.
        """
        w = self.w
        w.define("%thread", "call", I32, (), f"i32 @{_THREAD}")
        w.branch("check")
        w.start_block("check")
        if trips is not None:
            trip, following = w.named("%trip", I64), w.named("%trips", I64)
            start = (w.number(0, I64), "entry")
            w.records.append(Phi(trip, [start, (following, "next")], w.origin))
            more = w.define("%more", "icmp", I1, (trip, w.number(trips, I64)), "ult")
        else:
            self._steps(condition)
            predicate = w.define("%predicate", "load", I8, (self._global("%a0"),), Access(1))
            more = w.define("%more", "icmp", I1, (predicate, w.number(0, I8)), "ne")
        w.branch_if(more, "trip.begin", "done")
        w.start_block("trip.begin")
        self._steps(body)
        w.branch("next")
        w.start_block("next")
        if trips is not None:
            w.define("%trips", "add", I64, (trip, w.number(1, I64)))
        w.branch("check")
        w.start_block("done")
        w.return_()

    def _steps(self, steps: Sequence[Thunk]) -> None:
        for step in steps:
            if step.kernel is not None:
                self._call(step.kernel, [self._parameter(place) for place in step.arguments])
            else:
                self._copy(step)
            if self.block > 1:
                self.w.call(_BARRIER)

    def _call(self, kernel: GpuKernel, arguments: Sequence[Value]) -> None:
        """Call a kernel with its blocks as groups of this block's threads."""
        w, lane, number = self.w, self.thread, self.w.number(0, I32)
        if kernel.launch.blocks > 1:
            n, each = self._number(), w.number(kernel.launch.threads_per_block, I32)
            lane = w.define(f"%lane{n}", "urem", I32, (self.thread, each))
            number = w.define(f"%number{n}", "udiv", I32, (self.thread, each))
        with self._within(_threads(kernel)):
            w.call(function_in_a_block(kernel), *arguments, lane, number)

    def _copy(self, copy: Thunk) -> None:
        w, (count, size) = self.w, _units(copy)
        ends = [self._parameter(place) for place in copy.arguments]
        t, first = Type(f"i{8 * size}"), 0
        while first < count:
            n = self._number()
            with self._within(count - first):
                index = (self.thread, w.number(first, I32))
                at = w.define(f"%index{n}", "add", I32, index)
                source, target = [
                    w.define(f"%{name}{n}", "getelementptr", _GLOBAL, (end, at), f"inbounds {t}")
                    for name, end in zip(("from", "to"), ends, strict=True)
                ]
                value = w.define(f"%value{n}", "load", t, (source,), Access(size))
                w.store(value, target, size)
            first += self.block

    @contextmanager
    def _within(self, threads: int) -> Iterator[None]:
        """Execute the code inside in the first `threads` threads of the block."""
        if threads >= self.block:
            yield
            return
        w, n = self.w, self._number()
        count = (self.thread, w.number(threads, I32))
        w.branch_if(w.define(f"%inside{n}", "icmp", I1, count, "ult"), f"then{n}", f"after{n}")
        w.start_block(f"then{n}")
        yield
        w.branch(f"after{n}")
        w.start_block(f"after{n}")

    def _parameter(self, place: BufferSlice) -> Value[Pointer]:
        number = self._numbers.setdefault((id(place.allocation), place.offset), len(self.places))
        if number == len(self.places):
            self.places.append(place)
        return self._global(f"%a{number}")

    def _global(self, name: str) -> Value[Pointer]:
        return self.w.named(name, _GLOBAL)

    def _number(self) -> int:
        self._count += 1
        return self._count
