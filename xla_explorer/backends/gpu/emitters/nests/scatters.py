"""The plain nest of a scatter whose updates need no atomic operations: each element of the operand looks at all rows of the indices, in
order, and takes what a window that covers it has for it.

Source: xla/backends/gpu/codegen/emitters/scatter.cc (ScatterFusion), which turns it round where updates are many.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from xla_explorer.compiler.codegen.kernels.scatter import atomic_operation, updates_take_turns
from xla_explorer.compiler.codegen.nest.hlo_parts import array_names, identifier
from xla_explorer.compiler.codegen.nest.ir import (
    Array,
    Body,
    BoundAxis,
    Case,
    Choose,
    Combination,
    Compute,
    Constant,
    For,
    Load,
    LoopNest,
    Origin,
    Reduce,
    Statement,
    Store,
    ids_of,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, IndexExpression, Place, RuntimeValue, index
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.opcodes import OpcodeSpec, opcode
from xla_explorer.hlo.primitive_type import PRED, PrimitiveType
from xla_explorer.hlo.shape import array_shape

_SELECT = opcode("select")


def scatter_nest(i: HloInstruction, slots: Sequence[int]) -> LoopNest | Reason:
    """The nest of a lone scatter. Its reduction begins with the operand's element; rows whose window lies elsewhere give the identity
    element, or leave what was there."""
    distinct, count = list(dict.fromkeys(i.operands)), len(i.operands) // 2
    first, results = dict(zip(distinct, slots, strict=False)), slots[len(distinct) :]
    in_place = [first[o] for o in i.operands[:count]] == list(results)
    if in_place and (atomic_operation(i) is not None or updates_take_turns(i)):
        return refuse("updates-by-atomics", f"%{i.name} combines each update into memory on its own, in any order")
    taken = [o.shape.element_type for o in (*i.operands[:count], *i.operands[count + 1 :])]
    if [p.shape.element_type for p in i.to_apply.parameters()] != taken or taken[:count] != taken[count:]:
        return refuse("reducer-of-other-types", f"%{i.name}: its reducer computes in other types than its operands have")
    inner = [x for x in i.to_apply.post_order() if x.opcode.name not in ("parameter", "constant", "tuple")]
    bad = next((x for x in inner if not x.opcode.elementwise or x.opcode.name == "map"), None)
    if bad is not None:
        return refuse("reducer-not-elementwise", f"%{bad.name} ({bad.opcode.name}) stands in a computation of scalars")
    return _Nest(i, distinct, count).nest()


class _Nest:
    def __init__(self, i: HloInstruction, distinct: list[HloInstruction], count: int) -> None:
        self.i = i
        self.operands, self.indices, self.updates = i.operands[:count], i.operands[count], i.operands[count + 1 :]
        self.arrays = {o: Array(name, o.shape) for o, name in zip(distinct, array_names(distinct), strict=True)}
        names, used = ["out"] if count == 1 else [f"out{k}" for k in range(count)], {a.name for a in self.arrays.values()}
        leaves = [shape for _, shape in i.shape.leaves()]
        self.results = [Array(f"{n}.result" if n in used else n, shape, True) for n, shape in zip(names, leaves, strict=True)]
        self.numbers = itertools.count(1)
        self.axes = [Axis(f"i{d}", extent) for d, extent in enumerate(self.operands[0].shape.dimensions)]
        self.place = tuple([index(a) for a in self.axes])
        self.windows: tuple[int, ...] = i.attribute("update_window_dims")
        self.rows = {d: Axis(f"r{d}", n) for d, n in enumerate(self.updates[0].shape.dimensions) if d not in self.windows}
        self.origin = Origin(i.id, self.place)

    def nest(self) -> LoopNest:
        """The whole nest."""
        body: list[Statement] = [self.load(o, self.place) for o in self.operands]
        values = tuple([number for s in body for number in ids_of(s)])
        if 0 not in self.updates[0].shape.dimensions:
            values = self.reduced(body, values)
        body += [Store(array.name, self.place, value, self.origin) for array, value in zip(self.results, values, strict=True)]
        loops: Body = () if 0 in self.operands[0].shape.dimensions else tuple(body)
        for d in self.results[0].shape.layout.minor_to_major:
            loops = (For(self.axes[d], loops),) if loops and self.axes[d].extent != 1 else loops
        return LoopNest(identifier(self.i.name), (*self.arrays.values(), *self.results), loops, {self.i.id: identifier(self.i.name)})

    def load(self, o: HloInstruction, place: Place) -> Load:
        """An element of an operand."""
        return Load(next(self.numbers), o.shape.element_type, self.arrays[o].name, place, self.origin)

    def constant(self, value: object, element: PrimitiveType) -> Constant:
        """A number."""
        return Constant(next(self.numbers), literal_from_array(value, array_shape(element, ())), self.origin)

    def reduced(self, body: list[Statement], initial: tuple[int, ...]) -> tuple[int, ...]:
        """The elements after all rows."""
        types, root = [o.shape.element_type for o in self.operands], self.i.to_apply.root
        inner: list[Statement] = []
        guards, places = self.window(inner)
        simple = len(types) == 1 and not types[0].is_complex and set(root.operands) == set(self.i.to_apply.parameters())
        identity = identity_element(root.opcode.name, types[0]) if simple else None
        others = [self.constant(0 if identity is None else identity, t) for t in types]
        loads = [self.load(u, places) for u in self.updates]
        chosen: list[tuple[Load | Constant, Constant]] = list(zip(loads, others, strict=True))
        combiner: OpcodeSpec | Combination = root.opcode
        if identity is None:
            chosen.insert(0, (self.constant(True, PRED), self.constant(False, PRED)))
            none = self.constant(False, PRED)
            body.append(none)
            types, initial, combiner = [PRED, *types], (none.id, *initial), self.combination(types)
        for then, other in chosen:
            cases = Case(guards, (then,), then.id), Case((), (other,), other.id)
            inner.append(Choose(next(self.numbers), then.element, cases, self.origin))
        ids = tuple([next(self.numbers) for _ in types])
        values = tuple([s.id for s in inner if isinstance(s, Choose)])
        axes = tuple([BoundAxis(a) for a in self.rows.values()])
        body.append(Reduce(ids, tuple(types), combiner, initial, axes, tuple(inner), values, (), self.origin))
        return ids[-len(self.operands) :]

    def window(self, body: list[Statement]) -> tuple[tuple[Guard, ...], Place]:
        """(whether the window of a row fits and covers the element, the place of its update). What it needs is written into a body."""
        i, rows, dimensions = self.i, {d: index(a) for d, a in self.rows.items()}, self.operands[0].shape.dimensions
        taken = iter(rows.values())
        at = [None if d == i.attribute("index_vector_dim") else next(taken) for d in range(self.indices.shape.rank)]
        batching = dict(zip(i.attribute("input_batching_dims"), i.attribute("scatter_indices_batching_dims"), strict=True))
        inside = [d for d in range(len(dimensions)) if d not in {*i.attribute("inserted_window_dims"), *batching}]
        update_of = dict(zip(inside, self.windows, strict=True))
        sizes = [self.updates[0].shape.dimensions[update_of[d]] if d in update_of else 1 for d in range(len(dimensions))]
        starts: dict[int, IndexExpression] = {d: x for d, b in batching.items() if (x := at[b]) is not None}
        guards = []
        for component, d in enumerate(i.attribute("scatter_dims_to_operand_dims")):
            found = self.load(self.indices, tuple([index(component) if x is None else x for x in at]))
            body.append(found)
            room = max(dimensions[d] - sizes[d], -1)
            starts[d] = index(RuntimeValue(f"%{found.id}", found.place, -1, room + 1))
            if sizes[d] > 1:  # else it is where the element is
                guards.append(Guard(starts[d], room + 1))
        offsets = [x - starts.get(d, 0) for d, x in enumerate(self.place)]
        guards += [Guard(x, n) for x, n in zip(offsets, sizes, strict=True)]
        places = {**rows, **{update_of[d]: offsets[d] for d in inside}}
        return tuple([g for g in guards if not g.always_holds]), tuple([places[d] for d in sorted(places)])

    def combination(self, types: Sequence[PrimitiveType]) -> Combination:
        """What a row that covers an element makes of it, with whether one did."""
        left, right = [tuple([next(self.numbers) for _ in range(len(types) + 1)]) for _ in range(2)]
        computation = self.i.to_apply
        known = dict(zip(computation.parameters(), (*left[1:], *right[1:]), strict=True))
        body: list[Statement] = []
        for x in computation.post_order():
            if x in known or (x is computation.root and x.shape.is_tuple):
                continue
            element, operands = x.shape.element_type, tuple([known[o] for o in x.operands])
            if x.opcode.name == "constant":
                body.append(self.constant(x.literal.array[()], element))
            else:
                body.append(Compute(next(self.numbers), element, x.opcode, operands, x.attributes, self.origin))
            known[x] = ids_of(body[-1])[0]
        made = [known[x] for x in (computation.root.operands if computation.root.shape.is_tuple else (computation.root,))]
        results = [right[0]]
        for t, new, old in zip(types, made, left[1:], strict=True):
            body.append(Compute(next(self.numbers), t, _SELECT, (right[0], new, old), NO_ATTRIBUTES, self.origin))
            results += ids_of(body[-1])
        return Combination(left, right, tuple(body), tuple(results))
