"""Elements of any type in any number of lanes: computed, loaded and stored.

The elemental emitters write opcodes, as for other kernels. An element is a value, or a pair of
values for a complex number. An element that is uniform over the lanes is a scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from xla_explorer.compiler.codegen.elemental import ELEMENTWISE_EMITTERS
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.records import Access
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import I32, Type
from xla_explorer.compiler.codegen.ir.values import Complex, Integer, Pointer, Scalar, Value
from xla_explorer.compiler.codegen.llvm_types import stored_type, value_type
from xla_explorer.compiler.codegen.nest.ir import Compute
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape, array_shape


class _ScalarOperand(NamedTuple):
    shape: Shape


class ScalarOperation(NamedTuple):
    """An operation on scalars, with the attributes that elementwise emitters read."""

    opcode: OpcodeSpec
    shape: Shape
    operands: tuple[_ScalarOperand, ...]
    attributes: Attributes

    def attribute(self, name: str) -> Any:
        """Return the value of an attribute, or its default."""
        return self.attributes.value(name)


@cache
def _operand(element: PrimitiveType) -> _ScalarOperand:
    return _ScalarOperand(array_shape(element, ()))


def computing(
    b: Builder, s: Compute, types: Sequence[PrimitiveType]
) -> Callable[[list[Scalar]], Scalar]:
    """Return a function of operands that writes an elementwise opcode.

    All unrolled instances of a value share it. types: of the operands.
    """
    operation = ScalarOperation(
        s.opcode, _operand(s.element).shape, tuple([_operand(t) for t in types]), s.attributes
    )
    write = ELEMENTWISE_EMITTERS[s.opcode.name]

    def computed(operands: list[Scalar]) -> Scalar:
        widths = [x.type.lanes if isinstance(x, Value) else lanes_of(x) for x in operands]
        lanes = max(widths)
        return write(
            b,
            operation,
            operands if min(widths) == lanes else [in_lanes(b, x, lanes) for x in operands],
        )

    return computed


def parts_of(x: Scalar) -> tuple[Value, ...]:
    """Return the value itself, or the two parts of a complex number."""
    return x if isinstance(x, Complex) else (x,)


def element_of(parts: Sequence[Value]) -> Scalar:
    """Return the element of these parts, the inverse of `parts_of`."""
    return Complex(*parts) if len(parts) == 2 else parts[0]


def lanes_of(x: Scalar) -> int:
    """Return the number of lanes of an element."""
    return (
        max(x.real.type.lanes, x.imaginary.type.lanes) if isinstance(x, Complex) else x.type.lanes
    )


def in_lanes(b: Builder, x: Scalar, lanes: int) -> Scalar:
    """Return an element in a number of lanes, broadcast if it is a scalar."""
    if isinstance(x, Complex):
        return Complex(b.splat(x.real, lanes), b.splat(x.imaginary, lanes))
    return x if x.type.lanes == lanes else b.splat(x, lanes)


def one_lane(b: Builder, x: Scalar, lane: int) -> Scalar:
    """Return one lane of an element; every lane of a scalar is the scalar."""
    return element_of(
        [part if part.type.lanes == 1 else b.extract(part, lane) for part in parts_of(x)]
    )


def joined(b: Builder, elements: Sequence[Scalar]) -> Scalar:
    """Return scalars as the lanes of one element."""
    made = []
    for parts in zip(*[parts_of(x) for x in elements], strict=True):
        t = parts[0].type.of_lanes(len(parts))
        if all(part.is_constant for part in parts):
            made.append(
                b.named(f"<{', '.join([f'{part.type} {part.name}' for part in parts])}>", t)
            )
            continue
        whole = b.named("poison", t)
        for lane, part in enumerate(parts):
            whole = b.insert(whole, lane, part)
        made.append(whole)
    return element_of(made)


def chosen(b: Builder, condition: Value[Integer], then: Scalar, otherwise: Scalar) -> Scalar:
    """Return `condition ? then : otherwise`, part by part."""
    return element_of(
        [
            b.select(condition, x, y)
            for x, y in zip(parts_of(then), parts_of(otherwise), strict=True)
        ]
    )


class Memory:
    """The elements of one array in memory.

    written: the nest stores there and loads it again. tail: metadata of loads.
    """

    def __init__(
        self, b: StructuredBuilder, element: PrimitiveType, written: bool = False, tail: str = ""
    ) -> None:
        self.b, self.element, self.written, self.tail = b, element, written, tail
        self.stored, self.held = stored_type(element), value_type(element)
        self.parts = 2 if element.is_complex else 1
        self.alignment = element.bytes // self.parts

    def address(
        self, array: Value[Pointer], offset: Value[Integer], inside: bool = True
    ) -> Value[Pointer]:
        """Return the address of the element at an offset.

        A complex number takes two elements of memory. inside: the element is within the array.
        """
        if self.parts == 2:
            offset = self.b.scale_index(offset, 2)
        return self.b.address(array, self.stored, offset, inside)

    def load(
        self,
        pointer: Value[Pointer],
        lanes: int,
        mask: Value[Integer] | None = None,
        alignment: int = 0,
    ) -> Scalar:
        """Load contiguous elements.

        mask: lanes to load; the others are zero. alignment: see `store`.
        """
        wide = self.stored.of_lanes(lanes * self.parts)
        if mask is None:
            raw = self.b.load(pointer, wide, alignment or self.alignment, self.tail, self.written)
        else:
            operands = pointer, self._of_parts(mask), self.b.number(self.alignment, I32)
            if self.written:
                raw = self.b.emit_here("masked-load", wide, operands)
            else:
                raw = self.b.emit("masked-load", wide, operands, may_trap=True)
        if self.parts == 1:
            return self.held_value(raw)
        if lanes == 1:
            return Complex(self.b.extract(raw, 0), self.b.extract(raw, 1))
        return Complex(*[self.b.shuffle(raw, raw, range(k, 2 * lanes, 2)) for k in (0, 1)])

    def load_backwards(self, pointer: Value[Pointer], lanes: int, mask: Value[Integer]) -> Scalar:
        """Load contiguous elements under a mask, with the last element in the first lane."""
        return self.backwards(
            self.load(pointer, lanes, self.b.shuffle(mask, mask, range(lanes)[::-1]))
        )

    def store_backwards(
        self, x: Scalar, pointer: Value[Pointer], lanes: int, mask: Value[Integer] | None
    ) -> None:
        """Store lanes as contiguous elements, with the first lane in the last element."""
        mask = mask if mask is None else self.b.shuffle(mask, mask, range(lanes)[::-1])
        self.store(self.backwards(in_lanes(self.b, x, lanes)), pointer, lanes, mask)

    def backwards(self, x: Scalar) -> Scalar:
        """Return the lanes in reverse order."""
        return element_of(
            [self.b.shuffle(part, part, range(part.type.lanes)[::-1]) for part in parts_of(x)]
        )

    def load_packed_pairs(self, pointer: Value[Pointer], lanes: int) -> Value[Integer]:
        """Load 32-bit words that pack two elements each."""
        emit = self.b.emit_here if self.written else self.b.emit
        return emit("load", I32.of_lanes(lanes), (pointer,), Access(self.alignment))

    def store(
        self,
        x: Scalar,
        pointer: Value[Pointer],
        lanes: int,
        mask: Value[Integer] | None = None,
        tail: str = "",
        alignment: int = 0,
    ) -> None:
        """Store the lanes of an element as contiguous elements.

        tail: metadata. alignment: of the address, if more than that of an element.

        One lane with a mask of several is one element, stored if any lane of the mask is set. This
        happens for an axis of one step that a directive made longer.
        """
        if mask is not None and lanes < mask.type.lanes:
            lanes = mask.type.lanes
            any_lane = self.b.compare("ne", self.b.emit("bitcast", Type(f"i{lanes}"), (mask,)), 0)
            mask = self.b.insert(self.b.number(0, mask.type), 0, any_lane)
        x = in_lanes(self.b, x, lanes)
        raw = self._interleaved(*x) if isinstance(x, Complex) else self._stored(x)
        if mask is None:
            self.b.store(raw, pointer, alignment or self.alignment, tail)
            return
        operands = raw, pointer, self._of_parts(mask), self.b.number(self.alignment, I32)
        self.b.effect("masked-store", operands)

    def held_value(self, raw: Value) -> Value:
        """Return a loaded value in the type of a register."""
        if self.stored is self.held:
            return raw
        if self.element.is_pred:
            return self.b.compare("ne", raw, 0)
        return self.b.emit("trunc", self.held.of_lanes(raw.type.lanes), (raw,))

    def as_stored(self, x: Scalar) -> Scalar:
        """Return an element in the type of its bytes.

        All lanes are converted at once, because LLVM cannot extract lanes of every vector of narrow
        integers.
        """
        return element_of([self._stored(part) for part in parts_of(x)])

    def _stored(self, x: Value) -> Value:
        if self.stored.scalar in (x.type.scalar, self.held.scalar):
            return x
        return self.b.emit("zext", self.stored.of_lanes(x.type.lanes), (x,))

    def _interleaved(self, first: Value, second: Value) -> Value:
        lanes = first.type.lanes
        if lanes == 1:
            return self.b.insert(
                self.b.insert(self.b.named("poison", first.type.of_lanes(2)), 0, first), 1, second
            )
        return self.b.shuffle(first, second, [k // 2 + lanes * (k % 2) for k in range(2 * lanes)])

    def _of_parts(self, mask: Value[Integer]) -> Value[Integer]:
        return (
            mask
            if self.parts == 1
            else self.b.shuffle(mask, mask, [k // 2 for k in range(2 * mask.type.lanes)])
        )
