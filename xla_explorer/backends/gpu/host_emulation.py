"""GPU kernels on the host, thread by thread: the same code, with the special registers as parameters and one address
space.

For looking and testing where there is no GPU; it says nothing about speed. Threads run one after the other, in order
or in reverse order: kernels have no barriers, so a result that depends on the order shows a race.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.gpu_program import GpuProgram, Thunk
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.compiler.buffers import Allocation, BufferAssignment, BufferSlice
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.vector_math import vector_math_module
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]
_SPECIAL_REGISTER = re.compile(r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)")


class EmulationError(XlaExplorerError):
    """The program has a step without a kernel; the message is its Reason."""


def host_module(kernels: Iterable[tuple[str, Kernel]]) -> str:
    """LLVM IR with a function per kernel: its pointers, then blocks, threads per block, and whether in reverse order
    (i32 each)."""
    lines: list[str] = []
    declarations: dict[str, None] = {}
    math: dict[str, None] = {}
    constants: dict[str, None] = {}
    for name, kernel in kernels:
        declarations.update(dict.fromkeys([d for d in kernel.declarations if "nvvm.read" not in d]))
        math.update(dict.fromkeys(kernel.math))
        constants.update(dict.fromkeys(kernel.globals))
        pointers = "".join([f"ptr %a{k}, " for k in range(kernel.parameters)])
        lines += [
            f"define internal void @{name}_thread({pointers}i32 %ctaid, i32 %ntid, i32 %tid) {{",
            "entry:",
            *map(_on_the_host, kernel.lines),
            "}",
            "",
            *_all_threads(name, pointers),
        ]
    text = vector_math_module(tuple(math)).splitlines() if math else []
    declarations.update(dict.fromkeys([line for line in text if line.startswith("declare ")]))
    functions = [line for line in text if not line.startswith("declare ")]
    return "\n".join([*map(_on_the_host, constants), *lines, *functions, *declarations, "!0 = !{}", ""])


def _on_the_host(line: str) -> str:
    line = _SPECIAL_REGISTER.sub(lambda found: f"add i32 %{found[1]}, 0", line)
    return line.replace("ptr addrspace(1)", "ptr").replace("addrspace(1) constant", "constant")


def _all_threads(name: str, pointers: str) -> list[str]:
    return [
        f"define void @{name}({pointers}i32 %blocks, i32 %threads, i32 %reverse) {{",
        "entry:",
        "  %count = mul i32 %blocks, %threads",
        "  %backwards = icmp ne i32 %reverse, 0",
        "  br label %next",
        "next:",
        "  %k = phi i32 [ 0, %entry ], [ %k.next, %next ]",
        "  %last = sub i32 %count, 1",
        "  %mirrored = sub i32 %last, %k",
        "  %number = select i1 %backwards, i32 %mirrored, i32 %k",
        "  %block = udiv i32 %number, %threads",
        "  %thread = urem i32 %number, %threads",
        f"  call void @{name}_thread({pointers}i32 %block, i32 %threads, i32 %thread)",
        "  %k.next = add i32 %k, 1",
        "  %more = icmp ult i32 %k.next, %count",
        "  br i1 %more, label %next, label %end",
        "end:",
        "  ret void",
        "}",
        "",
    ]


class EmulatedGpuProgram:
    """A compiled program with its buffers, executed on the host."""

    def __init__(self, program: GpuProgram, assignment: BufferAssignment, effort: str = "fast") -> None:
        self.program, self.assignment = program, assignment
        names = [k.name for k in program.kernels]
        compiled = optimize_and_emit(host_module([(k.name, k.kernel) for k in program.kernels]), effort=effort)
        library = NativeLibrary(compiled.object_bytes, {}, names)
        self._functions = {}
        for k in program.kernels:
            types = [*[ctypes.c_void_p] * k.kernel.parameters, *[ctypes.c_int] * 3]
            self._functions[k.name] = library.bind(k.name, None, types)

    def execute(self, arrays: Sequence[Any], *, reverse: bool = False) -> list[Array]:
        """Parameter leaves in, result leaves out. EmulationError at a step without a kernel. reverse: threads from the
        last to the first."""
        module = self.assignment.module
        leaves = [(p.payload, index, leaf) for p in module.entry.parameters() for index, leaf in p.shape.leaves()]
        given = {(number, index): (array, leaf) for (number, index, leaf), array in zip(leaves, arrays, strict=True)}
        memory: dict[int, Array] = {}
        for allocation in self.assignment.allocations:
            memory[id(allocation)] = self._filled(allocation, given)
        run = _Run(memory, self._functions, reverse)
        run.thunks(self.program.thunks)
        shapes = [leaf for _, leaf in module.entry.root.shape.leaves() if leaf.is_array]
        results = []
        for (_, place), shape in zip(self.assignment.output_slices, shapes, strict=True):
            raw = memory[id(place.allocation)][place.offset : place.offset + shape.byte_size].copy()
            order = tuple(reversed(shape.layout.minor_to_major))
            ordered = raw.view(shape.element_type.dtype).reshape([shape.dimensions[d] for d in order])
            results.append(ordered.transpose(np.argsort(order)) if order else ordered.reshape(()))
        return results

    @staticmethod
    def _filled(allocation: Allocation, given: dict[tuple[int, tuple[int, ...]], tuple[Any, Shape]]) -> Array:
        # What nobody has written is no plausible number.
        memory = np.full(max(allocation.size, 1), 0xA5, np.uint8)
        if allocation.kind == "parameter":
            array, shape = given[allocation.number, allocation.index]
        elif allocation.kind == "constant":
            assert allocation.instruction is not None
            array, shape = allocation.instruction.literal.array, allocation.instruction.shape
        else:
            return memory
        array = np.asarray(array, shape.element_type.dtype).reshape(shape.dimensions)
        raw = (
            np.ascontiguousarray(array.transpose(tuple(reversed(shape.layout.minor_to_major))))
            .reshape(-1)
            .view(np.uint8)
        )
        memory[: raw.size] = raw
        return memory


class _Run:
    """One execution: the memory of each allocation, and the thunks on it."""

    def __init__(self, memory: dict[int, Array], functions: dict[str, Any], reverse: bool) -> None:
        self.memory, self.functions, self.reverse = memory, functions, reverse

    def thunks(self, thunks: Iterable[Thunk]) -> None:
        """Run in order."""
        for thunk in thunks:
            getattr(self, f"_{thunk.kind}")(thunk)

    def _view(self, place: BufferSlice, size: int | None = None) -> Array:
        return self.memory[id(place.allocation)][place.offset : place.offset + (place.size if size is None else size)]

    def _kernel(self, thunk: Thunk) -> None:
        kernel = thunk.kernel
        assert kernel is not None
        addresses = [self.memory[id(place.allocation)].ctypes.data + place.offset for place in thunk.arguments]
        self.functions[kernel.name](
            *addresses, kernel.launch.blocks, kernel.launch.threads_per_block, int(self.reverse)
        )

    def _copy(self, thunk: Thunk) -> None:
        source, target = thunk.arguments
        self._view(target)[:] = self._view(source, target.size).copy()

    def _unsupported(self, thunk: Thunk) -> None:
        raise EmulationError(str(thunk.reason))

    def _hand_over(self, thunk: Thunk, body: int) -> None:
        for source, target in thunk.handed_over[body]:
            self._view(target)[:] = self._view(source, target.size).copy()

    def _while(self, thunk: Thunk) -> None:
        condition, body = thunk.bodies
        while True:
            self.thunks(condition)
            if not self._view(thunk.arguments[0])[0]:
                return
            self.thunks(body)
            self._hand_over(thunk, 1)

    def _conditional(self, thunk: Thunk) -> None:
        selector = thunk.instruction.operands[0]
        if selector.shape.element_type.is_pred:
            taken = 0 if self._view(thunk.arguments[0])[0] else 1
        else:
            index = int(self._view(thunk.arguments[0], 4).view(np.int32)[0])
            taken = index if 0 <= index < len(thunk.bodies) else len(thunk.bodies) - 1
        self.thunks(thunk.bodies[taken])
        self._hand_over(thunk, taken)

    def _call(self, thunk: Thunk) -> None:
        self.thunks(thunk.bodies[0])
        self._hand_over(thunk, 0)
