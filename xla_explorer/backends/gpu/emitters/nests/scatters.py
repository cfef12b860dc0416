"""The plain nest of a scatter without atomic operations.

Each element of the operand loops over all rows of the indices in order, and combines the updates of
windows that cover it. Source: xla/backends/gpu/codegen/emitters/scatter.cc (ScatterFusion), which
loops over the updates instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.kernels.scatter import atomic_operation, updates_compare_and_swap
from xla_explorer.compiler.codegen.nest.ir import (
    BoundAxis,
    Case,
    Combination,
    Compute,
    Load,
    LoopNest,
    NestArray,
    Origin,
    Reduce,
    SelectRegion,
    Store,
)
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import PlainNest
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import OpenScope
from xla_explorer.compiler.codegen.nest.plain_nests.nest_scopes import NoNestError
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    Axis,
    Guard,
    IndexExpression,
    Place,
    RuntimeValue,
    index,
)
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OpcodeSpec, opcode
from xla_explorer.hlo.primitive_type import PRED, PrimitiveType

_SELECT = opcode("select")


def scatter_nest(i: HloInstruction, slots: Sequence[int]) -> LoopNest | Reason:
    """Return the nest of a scatter outside a fusion, or a refusal.

    Its reduction starts with the operand's element. Rows with other windows give the identity
    element, or keep the previous value.
    """
    distinct, count = list(dict.fromkeys(i.operands)), len(i.operands) // 2
    first, results = dict(zip(distinct, slots, strict=False)), slots[len(distinct) :]
    in_place = [first[o] for o in i.operands[:count]] == list(results)
    if in_place and (atomic_operation(i) is not None or updates_compare_and_swap(i)):
        return refuse(
            "updates-by-atomics",
            f"%{i.name} combines each update into memory on its own, in any order",
        )
    taken = [o.shape.element_type for o in (*i.operands[:count], *i.operands[count + 1 :])]
    if [p.shape.element_type for p in i.to_apply.parameters()] != taken or taken[:count] != taken[
        count:
    ]:
        return refuse(
            "reducer-of-other-types",
            f"%{i.name}: its reducer computes in other types than its operands have",
        )
    try:
        return _Scatter(i).kernel(i, (i,))
    except NoNestError as found:
        return found.reason


class _Scatter(PlainNest):
    def __init__(self, i: HloInstruction) -> None:
        super().__init__(list(dict.fromkeys(i.operands)), None, ())
        count = len(i.operands) // 2
        self.i = i
        self.operands, self.indices, self.updates = (
            i.operands[:count],
            i.operands[count],
            i.operands[count + 1 :],
        )
        self.windows: tuple[int, ...] = i.attribute("update_window_dims")
        self.rows = {
            d: Axis(f"r{d}", n)
            for d, n in enumerate(self.updates[0].shape.dimensions)
            if d not in self.windows
        }

    def stores(self, members: list[tuple[HloInstruction, int, NestArray]], place: Place) -> None:
        """Store the elements after all rows (see `PlainNest`)."""
        values = tuple([self.value(o, place) for o in self.operands])
        if 0 not in self.updates[0].shape.dimensions:
            values = self.reduced(values, place)
        self.scopes[-1].body += [
            Store(o.name, place, values[k], self.origin(self.i, place)) for _, k, o in members
        ]

    def reduced(self, initial: tuple[int, ...], place: Place) -> tuple[int, ...]:
        """Return the elements after all rows."""
        types, root, origin = (
            [o.shape.element_type for o in self.operands],
            self.i.to_apply.root,
            self.origin(self.i, place),
        )
        simple = (
            len(types) == 1
            and not types[0].is_complex
            and set(root.operands) == set(self.i.to_apply.parameters())
        )
        identity = identity_element(root.opcode.name, types[0]) if simple else None
        others = [self.constant(0 if identity is None else identity, t) for t in types]
        combiner: OpcodeSpec | Combination = root.opcode
        covers: list[int] = []
        if identity is None:
            covers, none = [self.constant(True, PRED)], self.constant(False, PRED)
            others, types, initial = [none, *others], [PRED, *types], (none, *initial)
            combiner = self.combination(types[1:])
        depth, values = len(self.scopes) - 1, list[int]()
        with self.scope(depth, list(self.rows.values())) as inner:
            guards, places = self.window(place)
            for number, (t, other) in enumerate(zip(types, others, strict=True), -len(covers)):
                with self.scope(depth + 1) as case:
                    then = (
                        covers[0]
                        if number < 0
                        else self.read(self.updates[number], self.place(places))
                    )
                cases = Case(guards, tuple(case.body), then), Case((), (), other)
                values += self.put(SelectRegion(next(self.numbers), t, cases, origin), depth + 1)
        ids, axes = (
            tuple([next(self.numbers) for _ in types]),
            tuple([BoundAxis(a) for a in self.rows.values()]),
        )
        made = Reduce(
            ids, tuple(types), combiner, initial, axes, tuple(inner.body), tuple(values), (), origin
        )
        return self.put(made, depth)[len(covers) :]

    def read(self, update: HloInstruction, place: Place) -> int:
        """Load an element, only in rows that cover it."""
        made = Load(
            next(self.numbers),
            update.shape.element_type,
            self.arrays[update].name,
            place,
            self.origin(update, place),
        )
        return self.put(made, len(self.scopes) - 1)[0]

    def window(self, place: Place) -> tuple[tuple[Guard, ...], Place]:
        """Return (guards of a row's window, place of its update).

        The guards require that the window fits and covers the element.
        """
        i, rows, dimensions = (
            self.i,
            {d: index(a) for d, a in self.rows.items()},
            self.operands[0].shape.dimensions,
        )
        taken = iter(rows.values())
        at = [
            None if d == i.attribute("index_vector_dim") else next(taken)
            for d in range(self.indices.shape.rank)
        ]
        batching = dict(
            zip(
                i.attribute("input_batching_dims"),
                i.attribute("scatter_indices_batching_dims"),
                strict=True,
            )
        )
        inside = [
            d
            for d in range(len(dimensions))
            if d not in {*i.attribute("inserted_window_dims"), *batching}
        ]
        update_of = dict(zip(inside, self.windows, strict=True))
        sizes = [
            self.updates[0].shape.dimensions[update_of[d]] if d in update_of else 1
            for d in range(len(dimensions))
        ]
        starts: dict[int, IndexExpression] = {
            d: x for d, b in batching.items() if (x := at[b]) is not None
        }
        guards = []
        for component, d in enumerate(i.attribute("scatter_dims_to_operand_dims")):
            where = self.place(tuple([index(component) if x is None else x for x in at]))
            room = max(dimensions[d] - sizes[d], -1)
            starts[d] = index(
                RuntimeValue(f"%{self.value(self.indices, where)}", where, -1, room + 1)
            )
            if sizes[d] > 1:  # else it is at the element
                guards.append(Guard(starts[d], room + 1))
        offsets = [x - starts.get(d, 0) for d, x in enumerate(place)]
        guards += [Guard(x, n) for x, n in zip(offsets, sizes, strict=True)]
        places = {**rows, **{update_of[d]: offsets[d] for d in inside}}
        return tuple([g for g in guards if not g.always_holds]), tuple(
            [places[d] for d in sorted(places)]
        )

    def combination(self, types: Sequence[PrimitiveType]) -> Combination:
        """Return the combination of a covering row, with a flag for any covering row."""
        left, right = [tuple([next(self.numbers) for _ in range(len(types) + 1)]) for _ in range(2)]
        before, self.scopes = self.scopes, [OpenScope()]
        self.depth.update(dict.fromkeys((*left, *right), 0))
        results = [right[0]]
        for t, new, old in zip(
            types, self.inlined(self.i.to_apply, (*left[1:], *right[1:])), left[1:], strict=True
        ):
            results += self.put(
                Compute(
                    next(self.numbers),
                    t,
                    _SELECT,
                    (right[0], new, old),
                    NO_ATTRIBUTES,
                    Origin(self.i.id),
                ),
                0,
            )
        body, self.scopes = tuple(self.scopes[0].body), before
        return Combination(left, right, body, tuple(results))
