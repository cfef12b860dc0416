"""Kernels that are not loop nests: the arrays that they read and write are declared."""

from __future__ import annotations

from dataclasses import dataclass

from xla_explorer.compiler.codegen.nest.ir import NestArray
from xla_explorer.compiler.codegen.nest.text import array_text
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


@dataclass(frozen=True, eq=False)
class Opaque:
    """A kernel as one statement.

    reads, writes: the arrays that it accesses as a whole. reason: why the kernel is not a nest.
    """

    name: str
    opcode: str
    reads: tuple[NestArray, ...]
    writes: tuple[NestArray, ...]
    reason: Reason

    @property
    def arrays(self) -> tuple[NestArray, ...]:
        """All arrays, operands first."""
        return (*self.reads, *self.writes)

    def __str__(self) -> str:
        return (
            f"opaque @{self.name}({', '.join([array_text(a) for a in self.arrays])}): "
            f"{self.opcode}  # {self.reason}"
        )


def opaque_of(i: HloInstruction, reason: Reason) -> Opaque:
    """Return an instruction as an opaque kernel."""
    reads = tuple(
        [NestArray(o.name if len(leaves) == 1 else f"{o.name}.{k}", leaf) for o in dict.fromkeys(i.operands)
         for leaves in [[leaf for _, leaf in o.shape.leaves() if leaf.is_array]] for k, leaf in enumerate(leaves)]
    )  # fmt: skip
    results = [leaf for _, leaf in i.shape.leaves() if leaf.is_array]
    writes = tuple(
        [
            NestArray("out" if len(results) == 1 else f"out{k}", leaf, True)
            for k, leaf in enumerate(results)
        ]
    )
    return Opaque(i.name, family_of(i), reads, writes, reason)


def family_of(i: HloInstruction) -> str:
    """Return the family of a kernel: the opcode that shapes the loops of a fusion, else its own."""
    if i.opcode.name != "fusion":
        return "elementwise" if i.opcode.elementwise else i.opcode.name
    names = [o.opcode.name for o in i.called[0].instructions.values()]
    shaping = ("dot", "convolution", "sort", "scatter", "select-and-scatter", "reduce-window", "reduce", "gather", "dynamic-update-slice",
               "dynamic-slice", "concatenate", "pad", "transpose")  # fmt: skip
    return next((name for name in shaping if name in names), "elementwise")
