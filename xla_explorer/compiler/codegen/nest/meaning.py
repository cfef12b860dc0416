"""The reference meaning of a loop nest in numpy.

Each statement is evaluated for all points of the axes around it at once, in the order of the text.
Steps that depend on one another, or a wrong index, therefore give other values than sequential
steps. Kinds of axes have no effect, as every schedule must keep the meaning. Operations are those
of the HLO evaluator. Ordered loops, and loops with very many points, run step by step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Barrier,
    BoundAxis,
    Combination,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    Store,
    axes_of,
    walk,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.indexing import (
    Axis,
    Guard,
    IndexExpression,
    Place,
    RuntimeValue,
    index,
)
from xla_explorer.hlo.evaluator import Evaluator
from xla_explorer.hlo.evaluator.combiner import accumulation_dtype, combiner_named
from xla_explorer.hlo.evaluator.conversion import convert, narrow, type_of, widen
from xla_explorer.hlo.evaluator.plan import evaluation_function
from xla_explorer.hlo.evaluator.reduction import reduce_known
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import new_instruction
from xla_explorer.hlo.opcodes import PARAMETER
from xla_explorer.hlo.shape import array_shape

Numbers: TypeAlias = np.ndarray[Any, Any]
MOST_POINTS = 1 << 22


class MeaningError(XlaExplorerError):
    """A nest that reads an undefined element, or leaves an element of a result without a value."""


def evaluate_nest(nest: LoopNest, operands: Sequence[Any]) -> list[Numbers]:
    """Return the results of a nest for its operands, in order."""
    machine = _Machine(nest, [np.asarray(x) for x in operands])
    with np.errstate(all="ignore"):
        machine.run(nest.body)
    for a in nest.arrays:
        if a.written and not machine.stored[a.name].all():
            at = np.argwhere(~machine.stored[a.name])[0].tolist()
            raise MeaningError(f"the element {at} of %{a.name} is never stored")
    return [machine.memory[a.name] for a in nest.arrays if a.written]


class _Machine:
    """The state of an evaluation.

    axes: the open axes that run at once, each along its own array dimension. now: the steps of open
    axes that run step by step.
    """

    def __init__(self, nest: LoopNest, operands: list[Numbers]) -> None:
        inputs = [a for a in nest.arrays if not a.written]
        if [x.shape for x in operands] != [a.shape.dimensions for a in inputs]:
            raise MeaningError(
                f"@{nest.name} takes {[a.shape.text for a in inputs]}, got arrays of "
                f"{[x.shape for x in operands]}"
            )
        outputs = [a for a in nest.arrays if a.written]
        self.memory = {a.name: x for a, x in zip(inputs, operands, strict=True)}
        self.memory |= {
            a.name: np.zeros(a.shape.dimensions, a.shape.element_type.dtype) for a in outputs
        }
        self.memory |= {a.name: np.array(self.memory[a.aliases]) for a in outputs if a.aliases}
        self.stored = {a.name: np.full(a.shape.dimensions, bool(a.aliases)) for a in outputs}
        self.values: dict[int, Numbers] = {}
        self.owners: dict[
            str, tuple[Axis, ...]
        ] = {}  # of an allocated array: the axes at whose points each has one
        self.axes: list[Axis] = []
        self.now: dict[Axis, int] = {}
        self.masks: list[Numbers] = []
        self.evaluator = Evaluator()

    # -- points ------------------------------------------------------------------------------------
    def shape(self) -> tuple[int, ...]:
        return tuple([a.extent for a in self.axes])

    def index(self, x: IndexExpression) -> Numbers:
        count = len(self.axes)
        grid: dict[Axis, Any] = dict(self.now)
        for k, axis in enumerate(self.axes):
            grid[axis] = np.arange(axis.extent).reshape([-1 if k == j else 1 for j in range(count)])
        return np.asarray(x.evaluate(grid, self.runtime))

    def runtime(self, x: RuntimeValue) -> Numbers:
        return self.value(int(x.source[1:]))

    def value(self, number: int) -> Numbers:
        """Return a value, with dimensions of extent 1 for the axes opened since."""
        return self.along(self.values[number])

    def along(self, x: Numbers) -> Numbers:
        return x.reshape(x.shape + (1,) * (len(self.axes) - x.ndim)) if x.ndim else x

    def holds(self, guards: tuple[Guard, ...]) -> Numbers:
        found = np.asarray(True)
        for g in guards:
            x = self.index(g.expression)
            found = found & (x >= 0) & (x < g.bound)
        return found

    def mask(self) -> Numbers:
        found = np.asarray(True)
        for mask in self.masks:
            found = found & self.along(mask)
        return found

    def element_at(self, name: str, place: Place) -> tuple[tuple[Numbers, ...], Numbers]:
        """Return the indices of an access for all points, and a mask of the points that access.

        Raises
        ------
        MeaningError
            If an index is outside of the array.
        """
        place = (*[index(axis) for axis in self.owners.get(name, ())], *place)
        dimensions = self.memory[name].shape
        *indices, mask = np.broadcast_arrays(*[self.index(x) for x in place], self.mask())
        for x, extent, text in zip(indices, dimensions, place, strict=True):
            outside = mask & ((x < 0) | (x >= extent))
            if outside.any():
                raise MeaningError(
                    f"%{name}: the index {text} is {x[outside].flat[0]} somewhere, the dimension "
                    f"has {extent}"
                )
        return tuple([np.where(mask, x, 0) for x in indices]), mask

    # -- statements --------------------------------------------------------------------------------
    def run(self, body: Sequence[Statement]) -> None:
        for s in body:
            if isinstance(s, For):
                self.loop(s)
            elif isinstance(s, Store):
                self.store(s)
            elif isinstance(s, Allocate):
                self.allocate(s)
            elif isinstance(s, Reduce):
                self.reduce(s)
            elif not isinstance(s, Barrier):  # statements run one after the other for all threads
                self.values[s.id] = self.computed(s)

    def computed(self, s: Load | Constant | Iota | Compute | SelectRegion) -> Numbers:
        if isinstance(s, Load):
            where, mask = self.element_at(s.array, s.place)
            data = self.memory[s.array]
            if s.array in self.stored and (mask & ~self.stored[s.array][where]).any():
                raise MeaningError(
                    f"%{s.id} reads an element of %{s.array} that nothing has been stored to"
                )
            return np.asarray(data[where]) if mask.any() else np.zeros(mask.shape, data.dtype)
        if isinstance(s, Constant):
            return s.literal.array
        if isinstance(s, Iota):
            return convert(self.index(s.index), s.element)
        if isinstance(s, SelectRegion):
            return self.select_region(s)
        return _operation(s, [self.value(o) for o in s.operands], self.evaluator)

    def store(self, s: Store) -> None:
        where, mask = self.element_at(s.array, s.place)
        *where_, value, mask = np.broadcast_arrays(*where, self.value(s.value), mask)
        at = tuple([x[mask] for x in where_])
        if not where_:
            at = ()
            value, mask = value.reshape(-1)[:1], mask.reshape(-1)[:1]
        if mask.any():
            self.memory[s.array][at] = value[mask] if where_ else value[0]
            self.stored[s.array][at] = True

    def allocate(self, s: Allocate) -> None:
        """Allocate an array for each point of the open axes."""
        shape = (*self.shape(), *s.array.shape.dimensions)
        self.owners[s.array.name] = tuple(self.axes)
        self.memory[s.array.name] = np.zeros(shape, s.array.shape.element_type.dtype)
        self.stored[s.array.name] = np.zeros(shape, bool)

    def loop(self, s: For) -> None:
        if not s.ordered and self.points((BoundAxis(s.axis),), s.body) <= MOST_POINTS:
            self.axes.append(s.axis)
            self.guarded(s.guards, s.body)
            self.axes.pop()
            return
        for step in range(s.axis.extent):
            self.now[s.axis] = step
            self.guarded(s.guards, s.body)
        self.now.pop(s.axis, None)

    def points(self, axes: tuple[BoundAxis, ...], body: Sequence[Statement]) -> int:
        """Return the most points at which a statement of the body would run at once."""
        inner = [
            math.prod([b.axis.extent for x in (*around, s) for b in axes_of(x)])
            for s, around in walk(tuple(body))
        ]
        return (
            math.prod(self.shape())
            * math.prod([b.axis.extent for b in axes])
            * max(inner, default=1)
        )

    def guarded(self, guards: tuple[Guard, ...], body: Sequence[Statement]) -> None:
        self.masks.append(self.holds(guards))
        self.run(body)
        self.masks.pop()

    def select_region(self, s: SelectRegion) -> Numbers:
        rest = np.asarray(True)
        found: Numbers | None = None
        for case in s.cases:
            here = rest & self.holds(case.guards)
            rest = rest & ~here
            self.masks.append(here)
            self.run(case.body)
            self.masks.pop()
            value = self.value(case.value)
            found = value if found is None else np.where(here, value, found)
        assert found is not None
        return found

    def reduce(self, s: Reduce) -> None:
        initial = [self.value(number) for number in s.initial]
        outer = self.shape()
        self.axes += [b.axis for b in s.axes]
        self.masks.append(self.holds(s.guards))
        self.run(s.body)
        shape, mask = self.shape(), self.mask()
        taken = [np.broadcast_to(self.value(number), shape) for number in s.values]
        mask = np.broadcast_to(mask, shape)
        here = self.masks.pop()
        del self.axes[len(outer) :]
        along = tuple(range(len(outer), len(shape)))
        flat = (*outer, math.prod(shape[len(outer) :]))
        if s.each:
            states = self.states(
                s,
                [np.broadcast_to(x, outer) for x in initial],
                [x.reshape(flat) for x in taken],
                mask.reshape(flat),
            )
            self.values.update(zip(s.ids, [x[..., -1] for x in states], strict=True))
            self.values.update(
                zip(s.running, [x[..., 1:].reshape(shape) for x in states], strict=True)
            )
            self.axes += [b.axis for b in s.axes]
            self.masks.append(here)
            self.run(s.each)
            self.masks.pop()
            del self.axes[len(outer) :]
            return
        if isinstance(s.combiner, Combination):
            *_, results = self.folded(
                s.combiner, initial, [x.reshape(flat) for x in taken], mask.reshape(flat)
            )
        else:
            combiner = combiner_named(s.combiner.name)
            assert combiner is not None, s.combiner
            results = [
                np.asarray(
                    reduce_known(combiner, _kept(s, taken[0], mask), np.asarray(initial[0]), along)
                )
            ]
        self.values.update(zip(s.ids, results, strict=True))

    def states(
        self, s: Reduce, initial: list[Numbers], values: list[Numbers], mask: Numbers
    ) -> list[Numbers]:
        """Return the running values along the last dimension, beginning with the initial one."""
        if isinstance(s.combiner, Combination):
            return [
                np.stack(x, -1)
                for x in zip(*self.folded(s.combiner, initial, values, mask), strict=True)
            ]
        combiner, dtype = combiner_named(s.combiner.name), values[0].dtype
        assert combiner is not None, s.combiner
        every = widen(np.concatenate([initial[0][..., None], _kept(s, values[0], mask)], -1))
        wide = accumulation_dtype(dtype, combiner.name)
        return [narrow(combiner.ufunc.accumulate(every, axis=-1, dtype=wide), dtype)]

    def folded(
        self, c: Combination, left: list[Numbers], values: list[Numbers], mask: Numbers
    ) -> Iterator[list[Numbers]]:
        """Yield the combined values before the first point and after each."""
        yield left
        for k in range(mask.shape[-1]):
            here = mask[..., k]
            if here.any():
                self.values.update(zip(c.left, left, strict=True))
                self.values.update(zip(c.right, [x[..., k] for x in values], strict=True))
                self.run(c.body)
                combined = [self.value(number) for number in c.results]
                left = [
                    np.where(here, new, old).astype(old.dtype, copy=False)
                    for new, old in zip(combined, left, strict=True)
                ]
            yield left


def _kept(s: Reduce, values: Numbers, mask: Numbers) -> Numbers:
    """Return the values, with the identity element where a mask is False."""
    assert not isinstance(s.combiner, Combination)
    if mask.all():
        return values
    return np.where(
        mask,
        values,
        np.asarray(identity_element(s.combiner.name, s.elements[0])).astype(values.dtype),
    )


def _operation(s: Compute, operands: list[Numbers], evaluator: Evaluator) -> Numbers:
    """Return the result of an elementwise opcode, from the evaluator.

    The evaluator's functions read types and attributes only, so the operands can have any
    dimensions.
    """
    made = [
        new_instruction(k + 1, "x", PARAMETER, array_shape(type_of(x.dtype), ()), ())
        for k, x in enumerate(operands)
    ]
    i = new_instruction(
        0, "result", s.opcode, array_shape(s.element, ()), tuple(made), s.attributes
    )
    return np.asarray(evaluation_function(i)(i, operands, evaluator))
