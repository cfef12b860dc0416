"""Dots of several bf16 products, as the products that their algorithms name.

Source: xla/backends/gpu/transforms/dot_algorithm_rewriter.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
dot_bf16_bf16_f32 of f32 operands               operands are converted
dot_bf16_bf16_f32_x3, _x6, _x9                  operands are split into 2 or 3 bf16 parts, and
                                                3, 6 or 9 products are summed, small ones first
infinities and NaN of the small products        replaced by zero before the largest is added
f32 dots without an algorithm, by a flag        default_to_bf16
other types and algorithms                      unchanged
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import ClassVar

import numpy as np

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import broadcast_scalar, scalar_constant
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import BF16, F32, PRED, U32

_PLAIN = "dot_bf16_bf16_f32"
_HIGH_BITS = 0xFFFF0000
# The pairs of parts that are multiplied, part 0 being the highest; the largest product last.
_PRODUCTS = {
    f"{_PLAIN}_x3": ((1, 0), (0, 1), (0, 0)),
    f"{_PLAIN}_x6": ((1, 1), (0, 2), (2, 0), (0, 1), (1, 0), (0, 0)),
    f"{_PLAIN}_x9": (
        *((2, 2), (1, 2), (2, 1)),
        *((1, 1), (0, 2), (2, 0), (0, 1), (1, 0), (0, 0)),
    ),
}


def bf16_parts(computation: HloComputation, x: HloInstruction, count: int) -> list[HloInstruction]:
    """Return bf16 arrays whose sum is nearly the f32 array, the highest first."""
    bits = x.shape.with_element_type(U32)
    narrow = x.shape.with_element_type(BF16)
    parts = []
    for _ in range(count - 1):
        raw = computation.add("bitcast-convert", bits, (x,))
        mask = scalar_constant(computation, bits, np.uint32(_HIGH_BITS))
        kept = computation.add("and", bits, (raw, broadcast_scalar(computation, mask, bits)))
        high = computation.add("bitcast-convert", x.shape, (kept,))
        parts.append(computation.add("convert", narrow, (high,)))
        x = computation.add("subtract", x.shape, (x, high))
    return [*parts, computation.add("convert", narrow, (x,))]


def finite_or_zero(computation: HloComputation, x: HloInstruction) -> HloInstruction:
    """Return zero where the value is NaN, which the products of infinite operands give."""
    shape = x.shape
    limit = scalar_constant(computation, shape, np.float32(np.inf))
    size = computation.add("abs", shape, (x,))
    number = computation.add(
        "compare",
        shape.with_element_type(PRED),
        (broadcast_scalar(computation, limit, shape), size),
        attributes_of({"direction": "GE"}),
    )
    zero = broadcast_scalar(computation, scalar_constant(computation, shape, 0), shape)
    return computation.add("select", shape, (number, x, zero))


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotAlgorithmRewriter(OpExpanderPass):
    """Multiply in bf16 and sum in f32, as often as the algorithm says.

    default_to_bf16: take the plain algorithm for f32 dots that name none.
    """

    name: ClassVar[str] = "dot-algorithm-rewriter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])
    default_to_bf16: bool = False

    def matches(self, i: HloInstruction) -> bool:
        """Return True for f32 operands and results, and an algorithm of bf16 products."""
        algorithm = self._algorithm(i)
        kinds = {i.shape.element_type, *[o.shape.element_type for o in i.operands[:2]]}
        return kinds == {F32} and (algorithm == _PLAIN or algorithm in _PRODUCTS)

    def _algorithm(self, i: HloInstruction) -> str | None:
        stated = i.attributes.get("algorithm")
        return str(stated) if stated else _PLAIN if self.default_to_bf16 else None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a dot, or the sum of several."""
        computation = b.computation
        attributes = i.attributes.with_values(algorithm=_PLAIN)
        pairs = _PRODUCTS.get(self._algorithm(i) or "", ((0, 0),))
        count = 1 + max(itertools.chain.from_iterable(pairs))
        left, right = [bf16_parts(computation, x, count) for x in i.operands]
        total: HloInstruction | None = None
        for k, m in pairs:
            if total is not None and (k, m) == (0, 0):
                total = finite_or_zero(computation, total)
            product = computation.add(
                i.opcode, i.shape, (left[k], right[m]), attributes, metadata=i.metadata
            )
            total = product if total is None else computation.add("add", i.shape, (total, product))
        assert total is not None
        return HloValue(b, total)
