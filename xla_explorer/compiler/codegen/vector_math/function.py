"""Scalar math functions in LLVM IR, and the recipes that emit them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from xla_explorer.compiler.codegen.ir.definitions import Declaration
from xla_explorer.compiler.codegen.ir.in_order_builder import InOrderBuilder
from xla_explorer.compiler.codegen.ir.llvm_module import ALWAYS_INLINE, LlvmFunction
from xla_explorer.compiler.codegen.ir.llvm_text import function_text
from xla_explorer.compiler.codegen.ir.records import Body, Return
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math.math_builder import FORMATS, MathBuilder

ELEMENT_TYPES: Final = ("f32", "f64")
Change = Callable[[InOrderBuilder], None]
# Maximum additional error of separately rounded products on targets without fma.
UNFUSED_ULPS: Final = 1.0


@dataclass(frozen=True)
class VectorMathFunction:
    """A transcendental function of LLVM IR: one straight-line scalar function, inlined later.

    `max_ulps` bounds the error in units in the last place of a normal result; `source` names the
    algorithm.
    """

    definition: LlvmFunction
    max_ulps: float
    source: str

    @property
    def name(self) -> str:
        """Its name without '@'."""
        return self.definition.name

    @property
    def text(self) -> str:
        """Its definition as text."""
        return function_text(self.definition)

    @property
    def dependencies(self) -> tuple[str, ...]:
        """Names of the vector-math functions that it calls."""
        return self.definition.callees

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """Declarations of its LLVM intrinsics."""
        return self.definition.declarations


@dataclass(frozen=True)
class Recipe:
    """The emitter of one opcode's function, for the element types of `max_ulps`.

    parameters: names of the arguments.
    """

    opcode: str
    emit: Callable[[MathBuilder], Value]
    max_ulps: Mapping[str, float]
    source: str
    parameters: tuple[str, ...] = ("x",)

    def build(
        self,
        element_type: str,
        fused_multiply_add: bool = True,
        suffix: str = "",
        change: Change | None = None,
    ) -> VectorMathFunction:
        """Return the function for an element type."""
        name = function_name(self.opcode, element_type) + suffix
        definition = written_function(
            name,
            self.emit,
            element_type,
            self.parameters,
            fused_multiply_add,
            suffix=suffix,
            change=change,
        )
        max_ulps = self.max_ulps[element_type] + (0.0 if fused_multiply_add else UNFUSED_ULPS)
        return VectorMathFunction(definition, max_ulps, self.source)


B = TypeVar("B", bound=MathBuilder)


def written_function(
    name: str,
    emit: Callable[[B], Value],
    element_type: str,
    parameters: tuple[str, ...] = ("x",),
    fused: bool = True,
    kind: type[B] = MathBuilder,  # type: ignore[assignment]  # B is MathBuilder unless `kind` is given
    suffix: str = "",
    change: Change | None = None,
) -> LlvmFunction:
    """Return a scalar function.

    suffix: of the names of the callees. change: applied to the finished records.
    """
    body, t = InOrderBuilder(), Type(FORMATS[element_type].llvm_type)
    called: dict[str, None] = {}

    def call(function: str, operands: tuple[Value, ...]) -> Value:
        called[function + suffix] = None
        return body.emit("call", t, operands, f"{t} @{function}{suffix}")

    arguments = tuple([body.named(f"%{parameter}", t) for parameter in parameters])
    result = emit(kind(body, arguments, call, fused))
    if change is not None:
        change(body)
    return LlvmFunction(
        name,
        tuple([f"{t} {x}" for x in arguments]),
        Body([*body.records, Return(result, None)]),
        result=str(t),
        attributes=(ALWAYS_INLINE, "nounwind", "willreturn", "memory(none)"),
        declarations=tuple(body.declarations),
        callees=tuple(called),
    )


def function_name(opcode: str, element_type: str) -> str:
    """Return the LLVM name; without "." and "-", which ptxas rejects in names."""
    return f"xe_{opcode.replace('-', '_')}_{element_type}"
