"""Elements of data movement: the operand's element at the index map (`hlo/analysis/indexing`).

Out-of-range starts of dynamic slices and gathers are clamped, as HLO defines.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value, from_bits, to_bits
from xla_explorer.compiler.codegen.elemental.emitter import (
    CodegenError,
    IndexTuple,
)
from xla_explorer.compiler.codegen.elemental.registry import (
    Complex,
    ElementContext,
    Scalar,
    emits_indexed,
)
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real, value_type
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import (
    Axis,
    IndexExpression,
    Read,
    Remainder,
    RuntimeValue,
    reads_of,
)
from xla_explorer.hlo.analysis.indexing import index as expression_of
from xla_explorer.hlo.analysis.indexing.expression import Atom
from xla_explorer.hlo.identity_element import simple_combiner
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, S32, S64, PrimitiveType

_MOVED = (
    "broadcast",
    "concatenate",
    "dynamic-slice",
    "dynamic-update-slice",
    "gather",
    "pad",
    "reshape",
    "reverse",
    "slice",
    "transpose",
)


@emits_indexed(*_MOVED)
def moved(e: ElementContext, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Emit the element of the first read whose guards are true, selected by branches."""
    axes = [Axis(f"d{d}", extent) for d, extent in enumerate(i.shape.dimensions)]
    reads = reads_of(i, tuple([expression_of(axis) for axis in axes]))
    if isinstance(reads, Reason):
        raise CodegenError(reads.message)
    if not reads:
        return constant(e.writer, 0, i.shape.element_type)
    return _first_read(
        e,
        i,
        [read for read in reads if not read.addressing],
        IndexLowering(e, dict(zip(axes, index, strict=True))),
    )


class IndexLowering:
    """Lowers index expressions to indices.

    Each atom is emitted once, at its first use, which dominates every branch that depends on it.
    """

    def __init__(self, e: ElementContext, known: dict[Atom, Word]) -> None:
        self.e, self.known = e, known

    def __call__(self, x: IndexExpression) -> Word:
        """Emit an expression: positive terms, the constant, then negative terms."""
        w = self.e.writer
        total: Word = 0
        for atom, factor in x.terms:
            if factor > 0:
                total = w.add(total, w.mul(self._atom(atom), factor))
        total = w.add(total, x.constant)
        for atom, factor in x.terms:
            if factor < 0:
                total = w.sub(total, w.mul(self._atom(atom), -factor))
        return total

    def _atom(self, atom: Atom) -> Word:
        if atom not in self.known:
            self.known[atom] = self._made(atom)
        return self.known[atom]

    def _made(self, atom: Atom) -> Word:
        assert not isinstance(atom, Axis)
        if isinstance(atom, RuntimeValue):
            return clamped_start(
                self.e, atom.source, atom.high, tuple([self(x) for x in atom.place])
            )
        w, n = self.e.writer, atom.divisor
        below = -min(
            atom.dividend.bounds[0] // n, 0
        )  # adds a multiple of the divisor: unsigned division of the sum rounds down
        dividend = self(atom.dividend + below * n)
        return (
            w.mod(dividend, n) if isinstance(atom, Remainder) else w.sub(w.div(dividend, n), below)
        )


def _first_read(
    e: ElementContext, i: HloInstruction, reads: list[Read], indices: IndexLowering
) -> Scalar:
    read, *others = reads
    operand, place = i.operands[read.operand], tuple([indices(x) for x in read.place])
    inside: Condition = None
    for guard in read.guards if others else ():
        x = indices(guard.expression)
        if isinstance(x, int):
            if 0 <= x < guard.bound:
                continue
            return _first_read(e, i, others, indices)
        fits = e.writer.test("ult", x, guard.bound)
        inside = fits if inside is None else e.writer.both(inside, fits)
    if inside is None:
        return e.element(operand, place)
    if not others[0].place:
        e.element(i.operands[others[0].operand], ())  # one padding value for all cases
    return e.choose(
        inside,
        i.shape,
        lambda: e.element(operand, place),
        lambda: _first_read(e, i, others, indices),
    )


@emits_indexed("bitcast")
def bitcast(e: ElementContext, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Emit the element at the same position in memory with the new type, of the same width."""
    value, of = moved(e, i, index), i.operands[0].shape.element_type
    return (
        value
        if of is i.shape.element_type
        else from_bits(e.writer, to_bits(e.writer, value, of), i.shape.element_type)
    )


@emits_indexed("iota")
def iota(e: ElementContext, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Emit the index along one dimension as the element type."""
    return index_value(e.writer, index[i.attribute("iota_dimension")], i.shape.element_type)


def index_value(w: Builder, position: Word, element_type: PrimitiveType) -> Scalar:
    """Convert an i64 index to the element type."""
    if isinstance(position, int):
        return constant(w, position, element_type)
    if (
        element_type.is_float and element_type.bits <= 32
    ):  # the vectoriser converts 32-bit integers, not 64-bit ones
        return convert_value(w, w.convert("trunc", position, "i32"), S32, element_type)
    return convert_value(w, position, S64, element_type)


def clamped_start(e: ElementContext, start: HloInstruction, limit: int, at: IndexTuple) -> Word:
    """Emit a start index as i64, clamped to [0, limit]."""
    if limit <= 0:
        return 0
    element = start.shape.element_type
    return clamped(
        e.writer, as_index(e.writer, real(e.element(start, at)), element), element, 0, limit
    )


def clamped(
    b: Builder, x: Value[Integer], element_type: PrimitiveType, low: int, high: int
) -> Value[Integer]:
    """Clamp an integer between two indices, in its own type and all lanes.

    Unsigned values count as large, not as negative.
    """
    if element_type.is_signed:
        x = b.per_lane("smax", x, b.number(low, x.type))
    if high < (1 << (x.type.bits - element_type.is_signed)) - 1:
        x = b.per_lane("smin" if element_type.is_signed else "umin", x, b.number(high, x.type))
    return x


def as_index(b: Builder, x: Value[Integer], element_type: PrimitiveType) -> Value[Integer]:
    """Convert an integer to i64."""
    return x if x.type == I64 else b.convert("sext" if element_type.is_signed else "zext", x, "i64")


@emits_indexed("map")
def map_(e: ElementContext, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Emit the called computation on the elements at one index."""
    return e.inline_scalar_computation(i.to_apply, [e.element(o, index) for o in i.operands])[0]


@emits_indexed("reduce")
def reduce(e: ElementContext, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Emit a loop over the reduced dimensions for one element.

    For a single operand; reductions at the root have their own kernels.
    """
    w, (operand, initial) = e.writer, i.operands
    element_type = i.shape.element_type
    reduced = i.attribute("dimensions")
    # Small floats are summed in f32, as in their own kernel: with rounding at each step a sum of
    # ones in bf16 would stop at 256.
    operation = (
        simple_combiner(i.to_apply) if element_type.is_float and element_type.bits < 32 else None
    )
    wide = F32 if operation else element_type
    slots = [w.stack_slot(value_type(wide)) for _ in range(2 if element_type.is_complex else 1)]

    def store(value: Scalar) -> None:
        for part, slot in zip(
            value if isinstance(value, Complex) else (value,), slots, strict=True
        ):
            w.store(part, slot)

    def load() -> Scalar:
        values = [w.load(slot, value_type(wide)) for slot in slots]
        return Complex(*values) if element_type.is_complex else values[0]

    store(convert_value(w, e.element(initial, ()), element_type, wide))
    from contextlib import ExitStack

    with ExitStack() as loops:
        loops.enter_context(e.scope())
        kept = iter(index)
        position: list[Word] = [
            loops.enter_context(w.loop(extent, stem="reduce")) if d in reduced else next(kept)
            for d, extent in enumerate(operand.shape.dimensions)
        ]
        value = e.element(operand, tuple(position))
        if operation:
            combined = binary_value(
                w, operation, wide, load(), convert_value(w, value, element_type, wide)
            )
        else:
            (combined,) = e.inline_scalar_computation(i.to_apply, [load(), value])
        store(combined)
    return convert_value(w, load(), wide, element_type)


@emits_indexed("get-dimension-size")
def dimension_size(e: ElementContext, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Emit the size of a dimension as a constant.

    Arrays with dynamic dimensions have no native code.
    """
    (dimension,) = i.attribute("dimensions")
    return constant(e.writer, i.operands[0].shape.dimensions[dimension], i.shape.element_type)
