"""A kernel with its name in a program, and the LLVM functions and modules of such kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xla_explorer.compiler.codegen.ir.llvm_module import (
    ALWAYS_INLINE,
    LlvmFunction,
    LlvmModule,
)
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.hlo.instruction import HloInstruction


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
