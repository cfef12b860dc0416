"""A loop as one persistent, single-block kernel.

If no kernel of the loop needs more threads than a block has, one block runs them in order.
It repeats them for each iteration and evaluates the condition itself. A launch takes longer than
such a kernel, and XLA launches each one (xla/backends/gpu/runtime/while_thunk.cc).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.backends.gpu.kernel_module import CALLED_EMITTERS, function_in_a_block
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.backends.gpu.thunk import Thunk
from xla_explorer.compiler.buffers import BufferSlice
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.foundation.reason import Reason, refuse

EMITTER = "persistent-kernel"
_MOST_STEPS = 64
_MOST_THREADS = 512  # each has 128 registers, which many kernels in one need
_COPIED_AT_ONCE = 8  # elements of a thread
_THREAD, _BARRIER = "i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "void @llvm.nvvm.barrier0()"


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
            text = f"%{name}: {what} (%{step.instruction.name}) needs more than {_MOST_THREADS} threads, a barrier or another stream"
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
    lines = tuple(writer.lines)
    declarations = tuple([f"declare {intrinsic}" for intrinsic in (_THREAD, _BARRIER)])
    count = len(writer.places)
    kernel = Kernel(
        lines,
        (loop.instruction.id,) * len(lines),
        count,
        tuple(range(count)),
        declarations,
        (),
        (),
        block,
    )
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
    """Writer of the kernel's lines. places: memory of its parameters."""

    def __init__(self, origin: int, block: int, predicate: BufferSlice) -> None:
        self.origin, self.block = origin, block
        self.lines: list[str] = []
        self.places = [predicate]
        self._numbers = {(id(predicate.allocation), predicate.offset): 0}
        self._count = 0

    def write(self, condition: Sequence[Thunk], body: Sequence[Thunk], trips: int | None) -> None:
        """Write the loop.

        The condition's steps and its test, or a counter, then the body's steps.
        """
        self._line(f"%thread = call {_THREAD}")
        self._line("br label %check")
        self.lines.append("check:")
        if trips is not None:
            self._line("%trip = phi i64 [ 0, %entry ], [ %trips, %next ]")
            self._line(f"%more = icmp ult i64 %trip, {trips}")
        else:
            self._steps(condition)
            self._line("%predicate = load i8, ptr addrspace(1) %a0, align 1")
            self._line("%more = icmp ne i8 %predicate, 0")
        self._line("br i1 %more, label %trip.begin, label %done")
        self.lines.append("trip.begin:")
        self._steps(body)
        self._line("br label %next")
        self.lines.append("next:")
        if trips is not None:
            self._line("%trips = add i64 %trip, 1")
        self._line("br label %check")
        self.lines.append("done:")
        self._line("ret void")

    def _steps(self, steps: Sequence[Thunk]) -> None:
        for step in steps:
            if step.kernel is not None:
                self._call(
                    step.kernel,
                    [f"ptr addrspace(1) {self._parameter(place)}" for place in step.arguments],
                )
            else:
                self._copy(step)
            if self.block > 1:
                self._line(f"call {_BARRIER}")

    def _call(self, kernel: GpuKernel, arguments: Sequence[str]) -> None:
        """Call a kernel with its blocks as groups of this block's threads."""
        lane, number, each = "%thread", "0", kernel.launch.threads_per_block
        if kernel.launch.blocks > 1:
            n = self._number()
            lane, number = f"%lane{n}", f"%number{n}"
            self._line(f"{lane} = urem i32 %thread, {each}", f"{number} = udiv i32 %thread, {each}")
        given = ", ".join([*arguments, f"i32 {lane}", f"i32 {number}"])
        self._within(_threads(kernel), f"call void @{function_in_a_block(kernel)}({given})")

    def _copy(self, copy: Thunk) -> None:
        (count, size), (source, target) = _units(copy), map(self._parameter, copy.arguments)
        kind, first = f"i{8 * size}", 0
        while first < count:
            n = self._number()
            self._within(
                count - first,
                f"%index{n} = add i32 %thread, {first}",
                f"%from{n} = getelementptr inbounds {kind}, ptr addrspace(1) {source}, i32 %index{n}",
                f"%to{n} = getelementptr inbounds {kind}, ptr addrspace(1) {target}, i32 %index{n}",
                f"%value{n} = load {kind}, ptr addrspace(1) %from{n}, align {size}",
                f"store {kind} %value{n}, ptr addrspace(1) %to{n}, align {size}",
            )
            first += self.block

    def _within(self, threads: int, *lines: str) -> None:
        """Write lines for the first `threads` threads of the block."""
        if threads >= self.block:
            self._line(*lines)
            return
        n = self._number()
        self._line(
            f"%inside{n} = icmp ult i32 %thread, {threads}",
            f"br i1 %inside{n}, label %then{n}, label %after{n}",
        )
        self.lines.append(f"then{n}:")
        self._line(*lines, f"br label %after{n}")
        self.lines.append(f"after{n}:")

    def _parameter(self, place: BufferSlice) -> str:
        number = self._numbers.setdefault((id(place.allocation), place.offset), len(self.places))
        if number == len(self.places):
            self.places.append(place)
        return f"%a{number}"

    def _line(self, *lines: str) -> None:
        self.lines += [f"  {line}" for line in lines]

    def _number(self) -> int:
        self._count += 1
        return self._count
