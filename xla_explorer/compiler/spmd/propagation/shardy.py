"""Propagation of shardings, Shardy's way: factors, levels and priorities to a fixed point.

Source: Shardy's sdy/transforms/propagation/basic_propagation.cc, user_priority_propagation.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from xla_explorer.compiler.spmd.propagation.axis_lists import Axis, is_prefix
from xla_explorer.compiler.spmd.propagation.constraints import apply_constraints, name_origins
from xla_explorer.compiler.spmd.propagation.factor_propagation import (
    Direction,
    FactorStep,
    Refused,
)
from xla_explorer.compiler.spmd.propagation.flow_graph import (
    FlowGraph,
    FlowOperation,
    Output,
    Port,
    Value,
)
from xla_explorer.compiler.spmd.propagation.priorities import (
    LEVELS,
    directions_of,
    is_elementwise,
)
from xla_explorer.compiler.spmd.propagation.steps import (
    PropagationRefusal,
    PropagationStep,
    Taken,
    axis_text,
    place_text,
    record,
    taken_axes,
)
from xla_explorer.compiler.spmd.propagation.value_sharding import TensorProjection, ValueSharding
from xla_explorer.compiler.spmd.rules.factor_rule import FactorRule, identity_rule, letter
from xla_explorer.foundation.limits import check_deadline
from xla_explorer.hlo.instruction import HloInstruction

Decide = Callable[[HloInstruction, Sequence[PropagationStep]], bool]


def _take_all(_: HloInstruction, __: Sequence[PropagationStep]) -> bool:
    """Allow each change; a named function, so that a pass with it can be pickled."""
    return True


@dataclass
class ShardyPropagation:
    """Propagates the shardings of one graph in place, and records each step.

    decide: returns False if an instruction must not take axes; called before each change. records:
    False if only the shardings are wanted, not the steps and origins; nothing is decided then.
    """

    graph: FlowGraph
    decide: Decide = _take_all
    records: bool = True
    steps: list[PropagationStep] = field(default_factory=list)
    number: int = 0
    level: int = 0
    priority: int = 0
    _stack: list[FlowOperation] = field(default_factory=list)
    _waiting: set[FlowOperation] = field(default_factory=set)
    _outputs: list[FlowOperation] = field(default_factory=list)

    def run(self) -> ShardyPropagation:
        """Propagate to the fixed point of every priority and level."""
        self.number = apply_constraints(self.graph, self.steps)
        name_origins(self.graph)
        self._share_in_groups()
        self._outputs = [output_edge(output) for output in self.graph.outputs]
        delayed = self._delay_priorities()
        self._levels()
        for priority in sorted(delayed):
            self.priority = priority
            for value, original in delayed[priority]:
                assert value.sharding is not None
                value.sharding = _with_priority(value.sharding, original, priority)
            self._levels()
        self._make_even()
        return self

    # Levels
    def _levels(self) -> None:
        for self.level in range(LEVELS):
            self._propagate_outputs()
            self._fixed_point()
            self._propagate_outputs()

    def _fixed_point(self) -> None:
        self._stack = [one for one in reversed(self.graph.operations) if one.rule is not None]
        self._waiting = set(self._stack)
        while self._stack:
            check_deadline("the propagation of shardings")
            operation = self._stack.pop()
            self._waiting.discard(operation)
            self._step(operation)

    def _propagate_outputs(self) -> None:
        """Pass shardings between each returned value and the sharding of the result."""
        for edge, output in zip(self._outputs, self.graph.outputs, strict=True):
            edge.results[0].value.sharding = output.sharding
            self._stack, self._waiting = [], set()
            self._step(edge)
            output.sharding = edge.results[0].value.sharding

    def _step(self, operation: FlowOperation) -> None:
        ports = operation.tensors
        given = [_seen(operation, k, port.value) for k, port in enumerate(ports)]
        if not any(one is not None and one.axes for one in given):
            return
        if operation.kind == "output":
            assert operation.rule is not None
            directions = [Direction.BOTH] * len(operation.rule.sizes)
        else:
            directions = directions_of(operation, self.level)
        if not any(directions):
            return
        self._apply(operation, given, directions)

    def _apply(
        self,
        operation: FlowOperation,
        given: list[ValueSharding | None],
        directions: list[Direction],
    ) -> None:
        """Run one step of an operation and write the new shardings to its values."""
        rule = operation.rule
        assert rule is not None
        changes = _changes(rule, tuple(given), tuple(directions), is_elementwise(operation))
        updated = False
        for place, new, taken in changes:
            updated |= self._take(operation, place, new, taken)
        self.number += updated

    def _take(
        self, operation: FlowOperation, place: int, new: ValueSharding, taken: Sequence[Taken]
    ) -> bool:
        """Give a value a new sharding, and record the axes; False if a decision forbids it."""
        value, sizes = operation.tensors[place].value, dict(self.graph.mesh.axes)
        if not self.records:
            self._set(operation, value, _stored(operation, place, new))
            return True
        levels = (self.priority, self.level)
        made = [record(self.number, levels, operation, one, sizes) for one in taken]
        if not self.decide(value.instruction, made):
            return False
        self._set(operation, value, _stored(operation, place, new))
        self.steps += made
        for one, step in zip(taken, made, strict=True):
            value.origins.setdefault(one.axis, step.origin)
        return True

    # Changed values
    def _set(self, operation: FlowOperation, value: Value, new: ValueSharding) -> None:
        value.sharding = new
        self._notify(value, operation)
        if value.group is None:
            return
        for other in self.graph.groups.get(value.group, ()):
            if other is not value:
                other.sharding = new
                other.origins |= {k: v for k, v in value.origins.items() if k not in other.origins}
                self._notify(other, operation)

    def _notify(self, value: Value, but: FlowOperation) -> None:
        """Push the operations that read or make a value; readers outside a loop come next."""
        outside = [user for user in value.users if user not in value.inner_users]
        definer = [value.definer] if value.definer is not None else []
        for one in (*reversed(value.inner_users), *definer, *reversed(outside)):
            self._push(one, but)

    def _push(self, operation: FlowOperation, but: FlowOperation) -> None:
        if operation is but or operation.rule is None or operation in self._waiting:
            return
        self._waiting.add(operation)
        self._stack.append(operation)

    # Before and after
    def _share_in_groups(self) -> None:
        """Give all members of a sharding group the sharding of the one that has it."""
        for members in self.graph.groups.values():
            stated = next((one.sharding for one in members if one.sharding is not None), None)
            for member in members:
                if member.sharding is None:
                    member.sharding = stated

    def _delay_priorities(self) -> dict[int, list[tuple[Value | Output, ValueSharding]]]:
        """Empty the dimensions of later priorities; returns the values of each priority."""
        found: dict[int, list[tuple[Value | Output, ValueSharding]]] = {}
        holders: list[Value | Output] = [*self.graph.all_values(), *self.graph.outputs]
        for holder in holders:
            stated = holder.sharding
            if stated is None or not stated.priorities:
                continue
            for priority in sorted(set(stated.priorities) - {0}):
                found.setdefault(priority, []).append((holder, stated))
            later = [k for k, priority in enumerate(stated.priorities) if priority]
            holder.sharding = replace(
                stated,
                dimensions=tuple(
                    [() if k in later else axes for k, axes in enumerate(stated.dimensions)]
                ),
                closed=tuple([k in later or one for k, one in enumerate(stated.closed)]),
                replicated=(
                    *stated.replicated,
                    *[axis for k in later for axis in stated.dimensions[k]],
                ),
                priorities=(),
            )
        return found

    def _make_even(self) -> None:
        """Shorten shardings of arguments and results that do not divide them evenly."""
        mesh = self.graph.mesh
        for value in self.graph.arguments:
            if value.sharding is not None:
                value.sharding = value.sharding.evenly(value.sizes).without_parts(mesh)
        for output in self.graph.outputs:
            if output.sharding is not None:
                even = output.sharding.evenly(output.port.value.sizes)
                output.sharding = even.without_parts(mesh)
        for edge in self.graph.operations:
            held = edge.results[0].value if edge.border is not None else None
            if held is not None and held.sharding is not None:
                held.sharding = held.sharding.evenly(held.sizes)

    def refusals(self) -> list[PropagationRefusal]:
        """Return every axis that a value could have taken at the last level, and why not."""
        found: list[PropagationRefusal] = []
        for operation in self.graph.operations:
            found += _refusals_of(operation, dict(self.graph.mesh.axes))
        return found


Change = tuple[int, ValueSharding, tuple[Taken, ...]]
"""The number of a tensor, its new sharding, and the axes that it took."""


@lru_cache(maxsize=1 << 16)
def _changes(
    rule: FactorRule,
    given: tuple[ValueSharding | None, ...],
    directions: tuple[Direction, ...],
    elementwise: bool,
) -> tuple[Change, ...]:
    """Return the changes of one step; equal operations of many layers are computed once."""
    step = _factor_step(rule, given, directions, elementwise)
    before = [{k: one.axes for k, one in t.factors.items()} for t in step.tensors]
    changed = step.propagate()
    if not changed:
        return ()
    taken: dict[int, list[Taken]] = {}
    for one in taken_axes(before, step.tensors, rule):
        taken.setdefault(one.target, []).append(one)
    found: list[Change] = []
    for place in sorted(changed):
        new = step.tensors[place].sharding(rule.tensors[place], rule.sizes)
        old = given[place]
        if new == old or (old is None and new.is_empty):
            continue
        found.append((place, new, tuple(taken.get(place, []))))
    return tuple(found)


def _factor_step(
    rule: FactorRule,
    given: Sequence[ValueSharding | None],
    directions: Sequence[Direction],
    elementwise: bool,
    report: list[Refused] | None = None,
) -> FactorStep:
    """Return the step of an operation; values without a sharding are open everywhere."""
    tensors = [
        TensorProjection.of(
            one if one is not None else ValueSharding.open_everywhere(len(tensor)), tensor, rule
        )
        for one, tensor in zip(given, rule.tensors, strict=True)
    ]

    def note(refused: Refused) -> None:
        if report is not None:
            report.append(refused)

    return FactorStep(rule, tensors, directions, elementwise, note)


def _seen(operation: FlowOperation, place: int, value: Value) -> ValueSharding | None:
    """Return a value's sharding as the operation sees it: at a border, with its manual axes."""
    border = operation.border
    if border is None or place < len(operation.operands) or value.sharding is None:
        return value.sharding
    if border.inwards:
        return border.outer(value.sharding)
    return value.sharding.without_manual(border.manual)


def _stored(operation: FlowOperation, place: int, new: ValueSharding) -> ValueSharding:
    """Return a new sharding as it is stored in the value; the inverse of `_seen`."""
    border = operation.border
    if border is None or place < len(operation.operands):
        return new
    return new.without_manual(border.manual) if border.inwards else border.outer(new)


def output_edge(output: Output) -> FlowOperation:
    """Return an operation that connects a returned value with the result of the program."""
    value = output.port.value
    result = Value(value.instruction, value.leaf, value.sizes, output.sharding, value.origins)
    rule = identity_rule(value.sizes)
    return FlowOperation(
        "output", value.instruction, rule, [output.port], [Port(result)], leaf=output.number
    )


def _with_priority(current: ValueSharding, original: ValueSharding, priority: int) -> ValueSharding:
    """Return a sharding in which the dimensions of a priority are as stated."""
    now = [k for k, one in enumerate(original.priorities) if one == priority]
    released = {axis for k in now for axis in original.dimensions[k]}
    return replace(
        current,
        dimensions=tuple(
            [
                original.dimensions[k] if k in now else axes
                for k, axes in enumerate(current.dimensions)
            ]
        ),
        closed=tuple(
            [original.closed[k] if k in now else one for k, one in enumerate(current.closed)]
        ),
        replicated=tuple([axis for axis in current.replicated if axis not in released]),
    )


def _refusals_of(operation: FlowOperation, sizes: dict[str, int]) -> Iterable[PropagationRefusal]:
    """Return the refusals of one operation at the fixed point."""
    rule = operation.rule
    if rule is None:
        return []
    given = [_seen(operation, k, port.value) for k, port in enumerate(operation.tensors)]
    if not any(one is not None and one.axes for one in given):
        return []
    report: list[Refused] = []
    directions = directions_of(operation, LEVELS - 1)
    step = _factor_step(rule, given, directions, is_elementwise(operation), report)
    held = [{k: one.axes for k, one in t.factors.items()} for t in step.tensors]
    step.propagate()
    report += _conflicts(held, rule.blocked)
    found: dict[tuple[str, int, int, Axis], PropagationRefusal] = {}
    for one in report:
        key = (one.code, one.tensor, one.factor, one.axis)
        source = next(
            (k for k, axes in enumerate(held) if one.axis in axes.get(one.factor, ())), one.tensor
        )
        count = len(operation.operands)
        holder = "" if one.holder is None else letter(one.holder)
        found.setdefault(
            key,
            PropagationRefusal(
                operation.instruction.name,
                operation.kind,
                str(rule),
                letter(one.factor),
                axis_text(one.axis, sizes),
                place_text(source, count),
                place_text(one.tensor, count),
                repr(operation.tensors[one.tensor].value),
                one.code,
                holder,
            ),
        )
    return found.values()


def _conflicts(
    held: list[dict[int, tuple[Axis, ...]]], blocked: frozenset[int]
) -> Iterable[Refused]:
    """Yield the axes of blocked factors, and those of factors on which tensors disagree."""
    for place, axes in enumerate(held):
        for factor, own in axes.items():
            for other, others in enumerate(held):
                theirs = others.get(factor)
                if theirs is None or other == place or not theirs or own == theirs:
                    continue
                if factor in blocked:
                    yield Refused("blocked-factor", place, factor, theirs[0])
                elif not is_prefix(own, theirs) and not is_prefix(theirs, own):
                    differs = next(
                        (b for a, b in zip(own, theirs, strict=False) if a != b), theirs[-1]
                    )
                    yield Refused("conflict", place, factor, differs)
