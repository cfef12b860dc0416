"""Registry of emitters by opcode.

An elementwise emitter receives the operand values at the same index. An indexed emitter receives
the index of the result element and reads operand elements through the `ElementalEmitter`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.values import Complex, Integer, Scalar, Value
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.shape import Shape

__all__ = [
    "ELEMENTWISE_EMITTERS",
    "INDEXED_EMITTERS",
    "Complex",
    "ElementContext",
    "ElementalOperation",
    "Scalar",
    "elemental_opcodes",
    "emits_elementwise",
    "emits_indexed",
]


class _Shaped(Protocol):
    @property
    def shape(self) -> Shape: ...


class ElementalOperation(Protocol):
    """The interface of an elementwise emitter to an HLO instruction or a loop nest operation."""

    @property
    def opcode(self) -> OpcodeSpec:
        """The HLO opcode."""
        ...

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        ...

    @property
    def operands(self) -> Sequence[_Shaped]:
        """The operands; emitters read only their shapes."""
        ...

    def attribute(self, name: str) -> Any:
        """Return an attribute, or its default."""
        ...


class ElementContext(Protocol):
    """The computation whose elements are emitted; see `ElementalEmitter`."""

    @property
    def writer(self) -> FunctionWriter:
        """The writer of the kernel's function."""
        ...

    def scope(self) -> AbstractContextManager[None]:
        """Forget the values emitted inside: their block does not dominate later code."""
        ...

    def element(self, i: HloInstruction, index: tuple[Word, ...]) -> Scalar:
        """Return the value of element `index` of instruction `i`."""
        ...

    def inline_scalar_computation(
        self, computation: HloComputation, arguments: Sequence[Scalar]
    ) -> list[Scalar]:
        """Inline a computation over scalars; return one result per element of the root tuple."""
        ...

    def choose(
        self,
        condition: Value[Integer],
        shape: Shape,
        then: Callable[[], Scalar],
        otherwise: Callable[[], Scalar],
    ) -> Scalar:
        """Emit `condition ? then() : otherwise()` with branches."""
        ...


ElementwiseEmitter = Callable[[Builder, ElementalOperation, list[Scalar]], Scalar]
IndexedEmitter = Callable[[ElementContext, HloInstruction, tuple[Word, ...]], Scalar]

ELEMENTWISE_EMITTERS: dict[str, ElementwiseEmitter] = {}
INDEXED_EMITTERS: dict[str, IndexedEmitter] = {}


def emits_elementwise(*opcodes: str) -> Callable[[ElementwiseEmitter], ElementwiseEmitter]:
    """Register the emitter of elementwise opcodes."""

    def declare(function: ElementwiseEmitter) -> ElementwiseEmitter:
        for name in opcodes:
            ELEMENTWISE_EMITTERS[name] = function
        return function

    return declare


def emits_indexed(*opcodes: str) -> Callable[[IndexedEmitter], IndexedEmitter]:
    """Register the emitter of opcodes that move or combine elements."""

    def declare(function: IndexedEmitter) -> IndexedEmitter:
        for name in opcodes:
            INDEXED_EMITTERS[name] = function
        return function

    return declare


def elemental_opcodes() -> frozenset[str]:
    """Return every opcode that may occur inside a fusion."""
    return frozenset(ELEMENTWISE_EMITTERS) | frozenset(INDEXED_EMITTERS)
