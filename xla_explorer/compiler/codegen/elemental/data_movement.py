"""Elements of instructions that move data: the index of the result element becomes the index of an operand element.

Out-of-range starts of dynamic slices and gathers are clamped, as HLO defines. Source: StableHLO specification; XLA
elemental_ir_emitter.cc.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value, from_bits, to_bits
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Complex, Scalar, emits_indexed
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.types import I64, PTR
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real, value_type
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, S32, S64, PrimitiveType
from xla_explorer.hlo.shape import Shape


@emits_indexed("broadcast")
def broadcast(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Operand dimension k is result dimension dimensions[k]."""
    return e.element(i.operands[0], tuple([index[d] for d in i.attribute("dimensions")]))


@emits_indexed("transpose")
def transpose(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Result dimension k is operand dimension permutation[k]."""
    permutation = i.attribute("dimensions")
    source: list[str | int] = [0] * len(permutation)
    for k, d in enumerate(permutation):
        source[d] = index[k]
    return e.element(i.operands[0], tuple(source))


@emits_indexed("reverse")
def reverse(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Counts the listed dimensions from their end."""
    reversed_dimensions = set(i.attribute("dimensions"))
    return e.element(i.operands[0], tuple([e.writer.sub(i.shape.dimensions[d] - 1, x) if d in reversed_dimensions else x
                                           for d, x in enumerate(index)]))


@emits_indexed("slice")
def slice_(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """start + index * stride."""
    w = e.writer
    return e.element(i.operands[0], tuple([w.add(w.mul(x, d.stride), d.start) for x, d in zip(index, i.attribute("slice"), strict=True)]))


def reshape_index(w: FunctionWriter, index: IndexTuple, source: tuple[int, ...], target: tuple[int, ...]) -> IndexTuple:
    """The index in `target` dimensions of the element that has `index` in `source` dimensions (row-major order).

    Works group by group of dimensions with equal products, so that what a reshape leaves alone costs nothing.
    """
    result: list[str | int] = [0] * len(target)
    s = t = 0
    while s < len(source) or t < len(target):
        s_end, t_end = s, t
        a = b = 1
        while True:
            if a == b and (s_end > s or t_end > t) and a != 0:
                break
            if (a <= b or t_end >= len(target)) and s_end < len(source):
                a *= source[s_end]
                s_end += 1
            elif t_end < len(target):
                b *= target[t_end]
                t_end += 1
            else:
                break
        offset = w.linear(index[s:s_end], _row_major_strides(source[s:s_end]))
        inner = math.prod(target[t:t_end])
        outermost = True
        for d in range(t, t_end):
            if target[d] == 1:
                continue
            inner //= target[d]
            quotient = w.div(offset, inner)
            result[d] = quotient if outermost else w.mod(quotient, target[d])
            outermost = False
        s, t = s_end, t_end
    return tuple(result)


def _row_major_strides(dimensions: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [0] * len(dimensions), 1
    for d in range(len(dimensions) - 1, -1, -1):
        strides[d] = step
        step *= dimensions[d]
    return tuple(strides)


@emits_indexed("reshape")
def reshape(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """The same elements in row-major order under other dimensions."""
    operand = i.operands[0]
    return e.element(operand, reshape_index(e.writer, index, i.shape.dimensions, operand.shape.dimensions))


@emits_indexed("bitcast")
def bitcast(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """The element at the same place in memory, its bits as the new type; both types have one width."""
    operand, w = i.operands[0], e.writer
    to, of = [tuple(reversed(shape.layout.minor_to_major)) for shape in (i.shape, operand.shape)]
    place = tuple([index[d] for d in to])
    found = reshape_index(w, place, tuple([i.shape.dimensions[d] for d in to]), tuple([operand.shape.dimensions[d] for d in of]))
    where: list[str | int] = [0] * operand.shape.rank
    for d, position in zip(of, found, strict=True):
        where[d] = position
    value = e.element(operand, tuple(where))
    if operand.shape.element_type is i.shape.element_type:
        return value
    return from_bits(w, to_bits(w, value, operand.shape.element_type), i.shape.element_type)


@emits_indexed("iota")
def iota(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """The index along one dimension, as the element type."""
    return index_value(e.writer, index[i.attribute("iota_dimension")], i.shape.element_type)


def index_value(w: Builder, position: Value | str | int, element_type: PrimitiveType) -> Scalar:
    """An i64 index as a value of the element type."""
    if isinstance(position, int):
        return constant(w, position, element_type)
    if element_type.is_float and element_type.bits <= 32:  # the vectoriser converts 32-bit integers, not 64-bit ones
        return convert_value(w, w.convert("trunc", w.named(position, I64), "i32"), S32, element_type)
    return convert_value(w, w.named(position, I64), S64, element_type)


@emits_indexed("concatenate")
def concatenate(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Which operand holds the element is decided by branches; kernels whose root is a concatenate write piece by piece."""
    (dimension,) = i.attribute("dimensions")
    return _concatenated(e, i, index, dimension, 0, 0)


def _concatenated(e: ElementalEmitter, i: HloInstruction, index: IndexTuple, dimension: int, number: int, start: int) -> Scalar:
    operand, w = i.operands[number], e.writer
    position = index[dimension]
    shifted = (*index[:dimension], w.sub(position, start), *index[dimension + 1 :])
    end = start + operand.shape.dimensions[dimension]
    if number == len(i.operands) - 1:
        return e.element(operand, shifted)
    if isinstance(position, int):
        return e.element(operand, shifted) if position < end else _concatenated(e, i, index, dimension, number + 1, end)
    inside = w.test("slt", position, end)
    return e.choose(inside, i.shape, lambda: e.element(operand, shifted),
                    lambda: _concatenated(e, i, index, dimension, number + 1, end))


@emits_indexed("pad")
def pad(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Operand element where one is, else the padding value; low and high may crop, interior spreads."""
    w, operand = e.writer, i.operands[0]
    conditions: list[str] = []
    source: list[str | int] = []
    for x, rule, size in zip(index, i.attribute("padding"), operand.shape.dimensions, strict=True):
        shifted = w.sub(x, rule.low)
        if rule.low == 0 and rule.high <= 0 and rule.interior == 0:
            source.append(shifted)
            continue
        if isinstance(shifted, int):
            shifted = w.operation("add", shifted, 0)
        spread = rule.interior + 1
        if rule.interior:
            conditions.append(w.test("sge", shifted, 0))
            conditions.append(w.test("eq", w.operation("srem", shifted, spread), 0))
            shifted = w.operation("sdiv", shifted, spread)
        conditions.append(w.test("ult", shifted, size))
        source.append(shifted)
    if not conditions:
        return e.element(operand, tuple(source))
    inside = conditions[0]
    for condition in conditions[1:]:
        inside = w.operation("and", inside, condition, "i1")
    padding = e.element(i.operands[1], ())
    return e.choose(inside, i.shape, lambda: e.element(operand, tuple(source)), lambda: padding)


def clamped_start(e: ElementalEmitter, start: HloInstruction, limit: int, at: IndexTuple = ()) -> str | int:
    """A start index as i64, clamped to [0, limit]."""
    if limit <= 0:
        return 0
    element = start.shape.element_type
    return clamped(e.writer, as_index(e.writer, real(e.element(start, at)), element), element, 0, limit).name


def clamped(b: Builder, x: Value[Integer], element_type: PrimitiveType, low: int, high: int) -> Value[Integer]:
    """An integer between two indices, in its own type and all lanes; unsigned values count as large, not negative."""
    if element_type.is_signed:
        x = b.per_lane("smax", x, b.number(low, x.type))
    if high < (1 << (x.type.bits - element_type.is_signed)) - 1:
        x = b.per_lane("smin" if element_type.is_signed else "umin", x, b.number(high, x.type))
    return x


def as_index(b: Builder, x: Value[Integer], element_type: PrimitiveType) -> Value[Integer]:
    """An integer as i64."""
    return x if x.type == I64 else b.convert("sext" if element_type.is_signed else "zext", x, "i64")


def dynamic_starts(e: ElementalEmitter, starts: tuple[HloInstruction, ...], operand: Shape, sizes: tuple[int, ...]) -> list[str | int]:
    """Clamped starts of a dynamic slice or update; starts are scalars, or one vector."""
    found: list[str | int] = []
    for d, (size, extent) in enumerate(zip(sizes, operand.dimensions, strict=True)):
        if len(starts) == 1 and starts[0].shape.rank == 1:
            found.append(clamped_start(e, starts[0], extent - size, (d,)))
        else:
            found.append(clamped_start(e, starts[d], extent - size))
    return found


@emits_indexed("dynamic-slice")
def dynamic_slice(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Operand element at clamped start + index."""
    operand = i.operands[0]
    starts = dynamic_starts(e, i.operands[1:], operand.shape, i.shape.dimensions)
    return e.element(operand, tuple([e.writer.add(s, x) for s, x in zip(starts, index, strict=True)]))


@emits_indexed("dynamic-update-slice")
def dynamic_update_slice(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """The update where the index falls into its window, else the operand (kernels with it as root update in place)."""
    w, (operand, update) = e.writer, i.operands[:2]
    starts = dynamic_starts(e, i.operands[2:], operand.shape, update.shape.dimensions)
    inside: str | None = None
    position: list[str | int] = []
    for x, start, size, extent in zip(index, starts, update.shape.dimensions, operand.shape.dimensions, strict=True):
        shifted = w.sub(x, start)
        position.append(shifted)
        if size == extent:
            continue
        fits = w.test("ult", shifted, size)
        inside = fits if inside is None else w.operation("and", inside, fits, "i1")
    if inside is None:
        return e.element(update, tuple(position))
    return e.choose(inside, i.shape, lambda: e.element(update, tuple(position)), lambda: e.element(operand, index))


@emits_indexed("gather")
def gather(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """Operand element at clamped gathered start + offset."""
    w = e.writer
    operand, indices = i.operands
    offset_dims = i.attribute("offset_dims")
    collapsed = set(i.attribute("collapsed_slice_dims")) | set(i.attribute("operand_batching_dims"))
    start_map, vector_dim, sizes = i.attribute("start_index_map"), i.attribute("index_vector_dim"), i.attribute("slice_sizes")
    batch = [index[d] for d in range(i.shape.rank) if d not in offset_dims]
    offsets = iter([index[d] for d in offset_dims])
    position: list[str | int] = [0 if d in collapsed else next(offsets) for d in range(operand.shape.rank)]
    batch_of_index: list[str | int] = []
    taken = iter(batch)
    for d in range(indices.shape.rank):
        batch_of_index.append(0 if d == vector_dim else next(taken))
    for d, b in zip(i.attribute("operand_batching_dims"), i.attribute("start_indices_batching_dims"), strict=True):
        position[d] = batch_of_index[b]
    for component, d in enumerate(start_map):
        where = tuple([component if k == vector_dim else x for k, x in enumerate(batch_of_index)])
        start = clamped_start(e, indices, operand.shape.dimensions[d] - sizes[d], where)
        position[d] = w.add(position[d], start)
    return e.element(operand, tuple(position))


@emits_indexed("map")
def map_(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """The called computation on the elements at this index."""
    return e.inline_scalar_computation(i.to_apply, [e.element(o, index) for o in i.operands])[0]


@emits_indexed("reduce")
def reduce(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """A loop over the reduced dimensions for this one element (single operand; roots have kernels of their own)."""
    w, operand = e.writer, i.operands[0]
    element_type = i.shape.element_type
    reduced = i.attribute("dimensions")
    # Small floats are summed in f32, as in a kernel of their own: 256 ones in bf16 are all that rounding at each step would count.
    operation = _one_operation(i.to_apply) if element_type.is_float and element_type.bits < 32 else None
    wide = F32 if operation else element_type
    slots = [w.named(w.stack_slot(value_type(wide).scalar), PTR) for _ in range(2 if element_type.is_complex else 1)]

    def store(value: Scalar) -> None:
        for part, slot in zip(value if isinstance(value, Complex) else (value,), slots, strict=True):
            w.store(part, slot)

    def load() -> Scalar:
        values = [w.load(slot, value_type(wide)) for slot in slots]
        return Complex(*values) if element_type.is_complex else values[0]

    store(convert_value(w, e.element(i.operands[1], ()), element_type, wide))
    from contextlib import ExitStack

    with ExitStack() as loops:
        loops.enter_context(e.scope())
        position: list[str | int] = []
        kept = iter(index)
        for d in range(operand.shape.rank):
            position.append(loops.enter_context(w.loop(operand.shape.dimensions[d], stem="reduce")) if d in reduced else next(kept))
        value = e.element(operand, tuple(position))
        if operation:
            combined = binary_value(w, operation, wide, load(), convert_value(w, value, element_type, wide))
        else:
            (combined,) = e.inline_scalar_computation(i.to_apply, [load(), value])
        store(combined)
    return convert_value(w, load(), wide, element_type)


def _one_operation(reducer: HloComputation) -> str | None:
    """The opcode of a reducer that is one operation on its two parameters."""
    root = reducer.root
    if root.opcode.name not in ("add", "multiply", "maximum", "minimum") or len(reducer.instructions) != 3:
        return None
    return root.opcode.name if root.operands[0] is not root.operands[1] else None


@emits_indexed("get-dimension-size")
def dimension_size(e: ElementalEmitter, i: HloInstruction, index: IndexTuple) -> Scalar:
    """The size of a dimension, which is known: arrays with dynamic dimensions have no native code."""
    (dimension,) = i.attribute("dimensions")
    return constant(e.writer, i.operands[0].shape.dimensions[dimension], i.shape.element_type)
