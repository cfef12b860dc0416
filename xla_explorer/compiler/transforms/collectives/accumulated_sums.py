"""Sums over devices that a loop accumulates: expressions that are linear in collectives.

A tree of additions ends in the old accumulator and in linear expressions of sums over devices. The
sum over devices of the whole accumulation is then the accumulation of the devices' own terms.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xla_explorer.compiler.rewriting.construction import broadcast_scalar, splat_constant
from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.compiler.transforms.loops.loop_state import (
    initial_parts,
    parameter_of,
    readers_of,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT
from xla_explorer.hlo.shape import Shape

_MOVES = frozenset(["reshape", "bitcast", "slice", "transpose", "copy"])
_SHARED_BY_GROUP = frozenset(["all-reduce", "all-gather", "collective-broadcast"])
_KEYS = ("replica_groups", "use_global_device_ids", "constrain_layout")


@dataclass
class Accumulation:
    """One element of a loop's state that accumulates sums over devices.

    number: of the element. old: the reader of the accumulator. sums: the collectives. nodes:
    instructions from the sums to the new accumulator. dimension, count: of reduce-scatters, the
    scattered dimension of the accumulator and the number of parts.
    """

    number: int
    old: HloInstruction
    sums: list[HloInstruction] = field(default_factory=list)
    nodes: list[HloInstruction] = field(default_factory=list)
    dimension: int | None = None
    count: int = 1


class SumsOfLoop:
    """The accumulations of one loop. opcodes: of the collectives that may move."""

    def __init__(self, loop: HloInstruction, opcodes: frozenset[str]) -> None:
        self.loop, self.opcodes = loop, opcodes
        self.condition, self.body = loop.called
        self._uniform: dict[HloInstruction, bool] = {}
        self._after_sums: set[HloInstruction] = set()
        work = self.candidates()
        while work:
            i = work.pop()
            if i not in self._after_sums:
                self._after_sums.add(i)
                work += i.users

    def candidates(self) -> list[HloInstruction]:
        """Return the body's sums over devices."""
        return [i for i in self.body.post_order() if self._is_sum(i)]

    def _is_sum(self, i: HloInstruction) -> bool:
        return (
            i.opcode.name in self.opcodes
            and len(i.operands) == 1
            and reduction_kind(i) == "add"
            and i.shape.element_type.name != "pred"
            and not i.control_predecessors
        )

    def accumulations(self) -> list[Accumulation] | Reason:
        """Return the accumulations whose sums have no other use, or why there is none."""
        found: list[Accumulation] = []
        why: Reason | None = None
        for number in range(len(self.body.root.operands)):
            one = self._accumulation(number)
            if isinstance(one, Reason):
                why = why or one
            elif one is not None:
                found.append(one)
        while True:
            inside = {i for one in found for i in one.nodes} | {self.body.root}
            kept = [
                one
                for one in found
                if all(u in inside for i in (*one.sums, *one.nodes) for u in i.users)
            ]
            if len(kept) == len(found):
                break
            found = kept
            why = refuse("sum-read-in-loop", "the body reads the sum over devices elsewhere, too")
        return found or why or refuse("not-linear", f"%{self.loop.name} accumulates no sum")

    def _accumulation(self, number: int) -> Accumulation | Reason | None:
        """Return an element that accumulates sums; None if it is something else."""
        made = self.body.root.operands[number]
        if made not in self._after_sums or made.opcode.name != "add":
            return None
        if self.body.root.operands.count(made) > 1:
            return None
        readers = readers_of(self.body, number)
        if len(readers) != 1 or len(readers[0].users) != 1:
            return None
        one = Accumulation(number, readers[0])
        reason = self._tree(made, one)
        if reason is not None or not one.sums:
            return reason
        if not set(one.old.users) <= set(one.nodes):
            return None  # the element is replaced, not added to
        if readers_of(self.condition, number):
            return refuse("sum-read-in-loop", f"the condition of %{self.loop.name} reads the sum")
        first = one.sums[0]
        if any(group_key(i) != group_key(first) for i in one.sums):
            return refuse("not-linear", "sums over several kinds of groups are accumulated")
        return one

    def _tree(self, i: HloInstruction, one: Accumulation) -> Reason | None:
        """Visit a tree of additions; every leaf is the accumulator or linear in a sum."""
        if i is one.old:
            return None
        if i.opcode.name == "add" and not self._is_sum(i):
            one.nodes.append(i)
            return self._tree(i.operands[0], one) or self._tree(i.operands[1], one)
        found = self._linear(i, one)
        if isinstance(found, Reason):
            return found
        dimension, count = found
        if one.sums[:-1] and (dimension, count) != (one.dimension, one.count):
            return refuse("not-linear", "sums with other parts are accumulated together")
        one.dimension, one.count = dimension, count
        return None

    def _linear(self, i: HloInstruction, one: Accumulation) -> tuple[int | None, int] | Reason:
        """Follow a linear expression to its sum; return its scattered dimension and the parts."""
        if self._is_sum(i):
            one.sums.append(i)
            if i.opcode.name != "reduce-scatter":
                return None, 1
            dimension = int(i.attributes.value("dimensions")[0])
            return dimension, i.operands[0].shape.dimensions[dimension] // max(
                i.shape.dimensions[dimension], 1
            )
        operand = self.linear_operand(i)
        if operand is None:
            return refuse("not-linear", f"%{i.name} ({i.opcode.name}) is not linear in a sum")
        one.nodes.append(i)
        found = self._linear(i.operands[operand], one)
        if isinstance(found, Reason) or found[0] is None or i.opcode.name not in _MOVES:
            return found
        if i.opcode.name == "transpose":
            return i.attributes.value("dimensions").index(found[0]), found[1]
        return refuse("not-linear", f"%{i.name} moves the parts of a reduce-scatter")

    def linear_operand(self, i: HloInstruction) -> int | None:
        """Return the operand in which an instruction is linear, the others uniform; or None."""
        name = i.opcode.name
        if name in _MOVES:
            return 0
        if name == "convert":
            return 0 if _keeps_sums(i.operands[0].shape, i.shape) else None
        if name == "dynamic-slice":
            return 0 if all(map(self.is_uniform, i.operands[1:])) else None
        if name == "select":
            predicate, *branches = i.operands
            zeros = [_is_zero(b) for b in branches]
            if zeros not in ([True, False], [False, True]) or not self._scales(predicate):
                return None
            return 1 + zeros.index(False)
        if name == "multiply":
            scaled = [k for k in (0, 1) if self._scales(i.operands[1 - k])]
            return scaled[0] if scaled else None
        return None

    def _scales(self, i: HloInstruction) -> bool:
        """Return True for a scalar, or a broadcast of one, that is the same on all devices."""
        scalar = i.operands[0] if i.opcode.name == "broadcast" else i
        return scalar.shape.is_scalar and self.is_uniform(scalar)

    def is_uniform(self, i: HloInstruction) -> bool:
        """Return True if a value of the body is surely the same on the devices of a group.

        It follows from constants, sums over devices, and elements of the state of that kind.
        """
        known = self._uniform.get(i)
        if known is not None:
            return known
        self._uniform[i] = True  # inside a cycle of the state: by induction over iterations
        name = i.opcode.name
        if i.opcode is GET_TUPLE_ELEMENT and i.operands[0] is parameter_of(self.body):
            number = int(i.attributes["index"])
            start = initial_parts(self.loop)[number]
            good = _is_constant(start) and self.is_uniform(self.body.root.operands[number])
        elif name in _SHARED_BY_GROUP:
            good = all(group_key(i) == group_key(s) for s in self.candidates())
        elif name in ("constant", "iota"):
            good = True
        else:
            good = (bool(i.operands) and i.opcode.elementwise) or name in _MOVES | {"broadcast"}
            good = good and not i.called and all(map(self.is_uniform, i.operands))
        if not good:
            self._uniform.clear()  # what was derived from the assumption
        self._uniform[i] = good
        return good


def group_key(i: HloInstruction) -> tuple[object, ...]:
    """Return what decides over which devices a collective works."""
    return (*[str(i.attributes.get(key)) for key in _KEYS], "channel_id" in i.attributes)


def _keeps_sums(source: Shape, target: Shape) -> bool:
    """Return True if the sum of converted terms is the converted sum, up to rounding."""
    a, b = source.element_type, target.element_type
    if a.is_float and b.is_float:
        return True
    integers = all(t.dtype.kind in "iu" for t in (a, b))
    return integers and b.dtype.itemsize <= a.dtype.itemsize


def _is_zero(i: HloInstruction) -> bool:
    constant = i.operands[0] if i.opcode.name == "broadcast" else i
    return constant.opcode.name == "constant" and not constant.literal.array.any()


def _is_constant(i: HloInstruction) -> bool:
    if i.opcode.name == "constant":
        return True
    return i.opcode.name in ("broadcast", "copy", "convert") and _is_constant(i.operands[0])


def wide_shape(shape: Shape, one: Accumulation) -> Shape:
    """Return the shape of an accumulator before its parts are scattered."""
    if one.dimension is None:
        return shape
    sizes = list(shape.dimensions)
    sizes[one.dimension] *= one.count
    return shape.with_dimensions(sizes)


def rebuilt(
    sums: SumsOfLoop, i: HloInstruction, one: Accumulation, old: HloInstruction
) -> HloInstruction:
    """Return an expression with the operands of its sums in place of the sums.

    old: the reader of the accumulator in the changed body.
    """
    if i is one.old:
        return old
    if i in one.sums:
        return i.operands[0]
    body = sums.body
    if i.opcode.name == "add":
        parts = [rebuilt(sums, o, one, old) for o in i.operands]
        return body.add("add", parts[0].shape, parts, metadata=i.metadata)
    number = sums.linear_operand(i)
    assert number is not None
    operand = rebuilt(sums, i.operands[number], one, old)
    if operand.shape.dimensions == i.operands[number].shape.dimensions:
        others = [operand if k == number else o for k, o in enumerate(i.operands)]
        return _like(body, i, i.shape, others)
    shape = _shape_of(i, operand)
    others = [
        operand if k == number else _widened(body, o, shape) for k, o in enumerate(i.operands)
    ]
    return _like(body, i, shape, others)


def _like(
    body: HloComputation, i: HloInstruction, shape: Shape, operands: list[HloInstruction]
) -> HloInstruction:
    return body.add(i.opcode, shape, operands, i.attributes, metadata=i.metadata)


def _shape_of(i: HloInstruction, operand: HloInstruction) -> Shape:
    sizes = list(operand.shape.dimensions)
    if i.opcode.name == "transpose":
        sizes = [sizes[d] for d in i.attributes.value("dimensions")]
    return i.shape.with_dimensions(sizes)


def _widened(body: HloComputation, i: HloInstruction, shape: Shape) -> HloInstruction:
    """Return a scalar's broadcast, or zeros, in another shape."""
    if i.opcode.name == "constant":
        return splat_constant(body, shape.with_element_type(i.shape.element_type), 0)
    scalar = i.operands[0] if i.opcode.name == "broadcast" else i
    return broadcast_scalar(body, scalar, shape)
