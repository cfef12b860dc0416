"""The body of a kernel as basic blocks, and the steps that change it.

Steps before `write-blocks` change the nest instead (see `nest_step`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from xla_explorer.compiler.codegen.ir.definitions import Declaration
from xla_explorer.compiler.codegen.ir.llvm_text import Lines, flattened, record_line
from xla_explorer.compiler.codegen.ir.records import Instruction, Line
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures


@dataclass(frozen=True, slots=True)
class KernelBody:
    """The body of a kernel: basic blocks, each a label and its records.

    declarations: of the intrinsics that the records call.
    """

    records: list[Line]
    declarations: dict[Declaration, None] = field(default_factory=dict)

    def math_functions(self) -> tuple[str, ...]:
        """Return the names of the mathematical functions that the body calls."""
        return tuple(
            dict.fromkeys(
                [
                    str(r.detail)
                    for r in self.records
                    if isinstance(r, Instruction) and r.op == "math"
                ]
            )
        )

    def lines(self) -> Lines:
        """Return the body as text, and the HLO instruction of each line."""
        return body_lines(self.records)


def body_lines(records: Iterable[Line]) -> Lines:
    """Return records in blocks as text, and the HLO instruction of each."""
    return [(record_line(record), record.origin) for record in records]


class BodyStep(Protocol):
    """A step of the lowering that changes the body of a kernel."""

    @property
    def name(self) -> str:
        """The name of the step."""

    @property
    def sentence(self) -> str:
        """The change that the step makes, as a sentence."""

    def run(self, body: KernelBody, features: CodeFeatures) -> KernelBody:
        """Return the changed body; the same body if nothing changes."""


def body_in_blocks(b: StructuredBuilder) -> KernelBody:
    """Return the records of a builder, whose loops and branches become blocks."""
    return KernelBody(flattened(b.records), dict(b.declarations))
