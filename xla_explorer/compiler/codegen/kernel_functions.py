"""LLVM functions of kernels: the kernel with its name, one task of it, a block of a chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xla_explorer.compiler.codegen.ir.in_order_builder import InOrderBuilder
from xla_explorer.compiler.codegen.ir.llvm_module import (
    ALWAYS_INLINE,
    LlvmFunction,
    LlvmModule,
)
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.ir.records import Access
from xla_explorer.compiler.codegen.ir.types import I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.hlo.instruction import HloInstruction


def scratch_of_task(kernel: Kernel) -> int:
    """Return the distance between the scratch memories of two tasks in bytes.

    It avoids shared cache lines and cache-set conflicts.
    """
    return (
        kernel.scratch_bytes
        if kernel.tasks == 1 or kernel.phases
        else -(-kernel.scratch_bytes // 4096) * 4096 + 192
    )


def scratch_of_kernel(kernel: Kernel, threaded: bool) -> int:
    """Return the bytes of scratch memory of all concurrent tasks.

    threaded: the thread pool runs the tasks.
    """
    return scratch_of_task(kernel) * (kernel.tasks if threaded and not kernel.phases else 1)


def task_function(function: str, kernel: Kernel, origin: int) -> LlvmFunction:
    """Return the function that the pool calls for one task of a kernel.

    It loads the kernel's pointers from memory and adds the task's offset in scratch memory. In a
    kernel with phases, a number after the pointers is the first task of the phase.
    """
    b = InOrderBuilder()
    b.origin = origin
    count = kernel.parameters + len(kernel.constant_data) + (kernel.scratch_bytes > 0)
    pointers = [_loaded(b, "%p", k, PTR) for k in range(count)]
    task = b.named("%task", I64)
    if kernel.phases:
        first = _loaded(b, "%first", count, I64)
        task = b.define("%number", "add", I64, (task, first))
    elif kernel.scratch_bytes:
        offset = b.define("%offset", "mul", I64, (task, b.named(scratch_of_task(kernel), I64)))
        pointers[-1] = b.define("%own", "getelementptr", PTR, (pointers[-1], offset), "inbounds i8")
    b.call(function, *pointers, task)
    return _called_by_the_pool(task_name(function), b, [function])


def task_name(function: str) -> str:
    """Return the name of the function of one task of a kernel."""
    return f"{function}_task"


def chain_function(name: str, calls: Sequence[tuple[str, Sequence[int]]]) -> LlvmFunction:
    """Return the function that the pool calls for one block of a chain of kernels.

    calls: (kernel, the numbers of its pointers in the context).
    """
    b = InOrderBuilder()
    task = b.named("%task", I64)
    used = sorted({k for _, numbers in calls for k in numbers})
    pointers = {k: _loaded(b, "%p", k, PTR) for k in used}
    for function, numbers in calls:
        b.call(function, *[pointers[k] for k in numbers], task)
    return _called_by_the_pool(name, b, [function for function, _ in calls])


def _loaded(b: InOrderBuilder, name: str, k: int, t: Type) -> Value:
    """Load element k of the context; a pointer has its number in its name."""
    context, at = b.named("%context", PTR), b.named(k, I64)
    address = b.define(f"%at{k}", "getelementptr", PTR, (context, at), "inbounds ptr")
    return b.define(f"{name}{k}" if t is PTR else name, "load", t, (address,), Access(8))


def _called_by_the_pool(name: str, b: InOrderBuilder, callees: Sequence[str]) -> LlvmFunction:
    b.return_()
    return LlvmFunction(
        name,
        ("ptr %context", "i64 %task"),
        b.body(b.origin),
        b.origin,
        optimization_level=OptimizationLevel.FINAL,
        callees=tuple(callees),
    )


@dataclass(slots=True)
class NamedKernel:
    """A kernel of the program's text.

    overlap: some of its arrays share memory. tiny: a call would take longer than the kernel's work.
    """

    function: str
    made: Kernel
    instruction: HloInstruction
    overlap: bool
    tiny: bool

    def optimization_level(self, inlined: bool) -> OptimizationLevel:
        """Return the optimisation level of the function.

        inlined: into its callers; a loop nest then has the callers' level.
        """
        return (
            OptimizationLevel.DEFAULT
            if inlined and isinstance(self.made.nest, Schedule)
            else self.made.optimization_level
        )

    def definition(self, linkage: str = "internal", inlined: bool = False) -> LlvmFunction:
        """Return the function. inlined: into its callers."""
        made, instruction = self.made, self.instruction.id
        kind = "ptr" if self.overlap else "ptr noalias"
        parameters = [f"{kind} %a{k}" for k in range(made.parameters)]
        parameters += [f"ptr noalias %data{k}" for k in range(len(made.constant_data))]
        parameters += ["ptr noalias %scratch"] if made.scratch_bytes else []
        parameters += ["i64 %task"] if made.tasks > 1 else []
        return LlvmFunction(
            self.function,
            tuple(parameters),
            made.body,
            instruction,
            linkage=linkage,
            attributes=(ALWAYS_INLINE if inlined else "noinline", "nounwind"),
            optimization_level=self.optimization_level(inlined),
            globals=made.globals,
            declarations=made.declarations,
            callees=made.math,
            has_loop=made.has_loop,
        )


def module_of(kernels: Sequence[NamedKernel]) -> LlvmModule:
    """Return a module of kernels that others may call by name."""
    return LlvmModule(
        tuple([kernel.definition("hidden") for kernel in kernels]),
        globals=tuple(dict.fromkeys([g for kernel in kernels for g in kernel.made.globals])),
        declarations=tuple(
            dict.fromkeys([d for kernel in kernels for d in kernel.made.declarations])
        ),
    )
