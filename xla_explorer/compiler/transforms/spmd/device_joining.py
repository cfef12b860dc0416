"""Joining of a program for several devices into one program that computes every device's values.

Whole arrays stay unchanged. Inside a manual region (JAX's `shard_map`) each value becomes one value
per device, and values equal on all devices are computed once. Collectives become slices,
concatenations and combinations of the devices' values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import builder_at
from xla_explorer.compiler.rewriting.removal import order_callees_first
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.compiler.transforms.spmd.joined_collectives import (
    JOINED,
    NotJoinedError,
    combined,
    joined_collective,
    put_together,
    zeros_like,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.effects import is_observable
from xla_explorer.hlo.analysis.manual_regions import INTO, OUT_OF, border, device_count, is_region
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, GET_TUPLE_ELEMENT, opcode
from xla_explorer.hlo.primitive_type import TOKEN
from xla_explorer.hlo.shape import tuple_shape

TUPLE = opcode("tuple")
_NUMBERS = ("partition-id", "replica-id")
Values = list[HloInstruction]  # one per device; the same object if devices agree


@register_pass()
@dataclasses.dataclass(frozen=True)
class DeviceJoining:
    """Compute the values of all devices of a program with manual regions, on one device."""

    name: ClassVar[str] = "device-joining"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Join the devices of a module with manual regions; skip a module that cannot be joined."""
        count = device_count(module)
        if count < 2:
            return False
        reason = self._obstacle(module)
        if reason is not None:
            context.refused(self.name, module.entry.root, reason)
            return False
        entry = module.entry
        joiner = _Joiner(module, count)
        values = {p: [p] * count for p in entry.parameters()}
        root = joiner.walk(entry, entry, values, in_place=True)[0]
        if root is not entry.root:
            entry.set_root(root)
        # Including those with effects, which dead code elimination keeps: each device's copy has
        # them.
        for old in reversed([i for i, made in values.items() if i not in made]):
            entry.remove(old)
        module.attributes.pop("num_partitions", None)
        DeadCodeElimination().run(module, context)
        order_callees_first(module)
        return True

    @staticmethod
    def _obstacle(module: HloModule) -> Reason | None:
        """Return why the module has no joined form, or None."""
        for i in module.instructions():
            if _is_exchange(i) and i.opcode.name not in JOINED:
                return refuse(
                    "not-joined", f"%{i.name} ({i.opcode.name}) has no form on joined devices"
                )
            if i.opcode.name in ("fusion", "async-start") and _Dependence().of(i.called[0]):
                return refuse(
                    "not-joined",
                    f"%{i.name} hides exchanges between devices in a computation of its own",
                )
            if custom_call_target(i) in INTO | OUT_OF:
                try:
                    border(i)
                except ValueError as problem:
                    return refuse(
                        "not-joined",
                        f"%{i.name} does not say which part each device has: {problem}",
                    )
        return None


def _is_exchange(i: HloInstruction) -> bool:
    return "replica_groups" in i.opcode.attributes or "source_target_pairs" in i.opcode.attributes


class _Dependence:
    """The computations that depend on the device number or exchange values."""

    def __init__(self) -> None:
        self._known: dict[HloComputation, bool] = {}

    def of(self, computation: HloComputation) -> bool:
        found = self._known.get(computation)
        if found is None:
            found = self._known[computation] = any(
                map(self.of_instruction, computation.instructions.values())
            )
        return found

    def of_instruction(self, i: HloInstruction) -> bool:
        name = i.opcode.name
        return (
            _is_exchange(i)
            or name in _NUMBERS
            or custom_call_target(i) in INTO | OUT_OF
            or any(map(self.of, i.called))
        )


def _agree(values: Iterable[HloInstruction]) -> bool:
    first, *rest = values
    return all(v is first for v in rest)


def _elements(value: HloInstruction) -> Values:
    """Return the elements of a tuple, or the array itself."""
    if not value.shape.is_tuple:
        return [value]
    if value.opcode is TUPLE:
        return list(value.operands)
    shapes = value.shape.tuple_shapes
    return [
        value.parent.add(GET_TUPLE_ELEMENT, shape, [value], attributes_of({"index": k}))
        for k, shape in enumerate(shapes)
    ]


def _packed(computation: HloComputation, parts: Values, is_tuple: bool) -> HloInstruction:
    return (
        computation.add(TUPLE, tuple_shape([p.shape for p in parts]), parts)
        if is_tuple
        else parts[0]
    )


class _Joiner:
    def __init__(self, module: HloModule, count: int) -> None:
        self.module, self.count = module, count
        self.dependence = _Dependence()

    def walk(
        self,
        source: HloComputation,
        target: HloComputation,
        values: dict[HloInstruction, Values],
        in_place: bool = False,
    ) -> Values:
        """Write the source's computation for every device into `target`; return the root's values.

        values: of the parameters. in_place: source and target are the same, and instructions equal
        on all devices stay in place.
        """
        for i in list(source.post_order()):
            if i not in values:
                values[i] = self._joined(i, [values[o] for o in i.operands], target, in_place)
        return values[source.root]

    def _joined(
        self, i: HloInstruction, operands: list[Values], target: HloComputation, in_place: bool
    ) -> Values:
        name, devices = i.opcode.name, range(self.count)
        if name in _NUMBERS:
            numbers = devices if name == "partition-id" else [0] * self.count
            made = {
                n: target.add(
                    CONSTANT,
                    i.shape,
                    payload=literal_from_array(i.shape.element_type.dtype.type(n)),
                )
                for n in numbers
            }
            return [made[n] for n in numbers]
        if custom_call_target(i) in INTO | OUT_OF:
            return self._border(i, operands, target)
        if _is_exchange(i):
            return joined_collective(i, operands, target, self.count)
        if any(map(self.dependence.of, i.called)):
            if name == "call":
                return self.walk(
                    i.called[0], target, dict(zip(i.called[0].parameters(), operands, strict=True))
                )
            if name == "while":
                return self._while(i, operands[0], target)
            if name == "conditional":
                return self._conditional(i, operands, target)
            raise NotJoinedError(i)
        if i.opcode is GET_TUPLE_ELEMENT:
            found = [
                v.operands[i.attributes["index"]] if v.opcode is TUPLE else None
                for v in operands[0]
            ]
            if all(f is not None for f in found):
                return [f for f in found if f is not None]
        return self._copies(i, operands, target, in_place)

    def _copies(
        self, i: HloInstruction, operands: list[Values], target: HloComputation, in_place: bool
    ) -> Values:
        """Return the instruction for each distinct combination of operands.

        An instruction with effects, inside a region, is repeated for each device.
        """
        apart = (not in_place or is_region(i)) and is_observable(i)
        if in_place and not apart and all(map(_agree, operands)):
            for k, (old, new) in enumerate(zip(i.operands, operands, strict=True)):
                if old is not new[0]:
                    target.replace_operand(i, k, new[0])
            return [i] * self.count
        made: dict[tuple[int, ...], HloInstruction] = {}
        found = []
        for device in range(self.count):
            given = [values[device] for values in operands]
            key = (*[v.id for v in given], device if apart else -1)
            if key not in made:
                made[key] = target.add(
                    i.opcode,
                    i.shape,
                    given,
                    i.attributes,
                    called=i.called,
                    payload=i.payload,
                    name=i.name,
                    metadata=i.metadata,
                )
                made[key].line = i.line
            found.append(made[key])
        return found

    def _border(self, i: HloInstruction, operands: list[Values], target: HloComputation) -> Values:
        found = border(i)
        assert found is not None
        results: list[Values] = []
        for values, parts, terms, combiner in zip(
            operands, found.parts, found.terms, found.combiners, strict=True
        ):
            made: dict[object, HloInstruction] = {}
            row = []
            for device in range(self.count):
                group = [device] if found.into else found.groups[device]
                places = [(parts[d], values[d]) for d in group]
                key = (
                    *[(tuple([(s.start, s.stop) for s in part]), v.id) for part, v in places],
                    found.into and terms[device] > 0,
                )
                if key not in made:
                    if values[device].shape.element_type is TOKEN:
                        made[key] = self._joined_token([v for _, v in places], target)
                    elif found.into:
                        ((part, value),) = places
                        whole = all(
                            s.stop - s.start == n
                            for s, n in zip(part, value.shape.dimensions, strict=True)
                        )
                        made[key] = (
                            value
                            if whole
                            else HloValue(builder_at(target), value)[part].instruction
                        )
                        if terms[device]:
                            made[key] = zeros_like(target, made[key])
                    else:
                        numbers = sorted({terms[d] for d in group})
                        joined = [
                            put_together(
                                target,
                                [p for p, d in zip(places, group, strict=True) if terms[d] == n],
                            )
                            for n in numbers
                        ]
                        made[key] = combined(target, joined, combiner)
                row.append(made[key])
            results.append(row)
        return self._rows(i, results, target)

    def _joined_token(self, tokens: Values, target: HloComputation) -> HloInstruction:
        """Return a token after all of these."""
        different = list(dict.fromkeys(tokens))
        return different[0] if len(different) == 1 else target.add("after-all", None, different)

    def _rows(self, i: HloInstruction, results: list[Values], target: HloComputation) -> Values:
        """Return the instruction's value per device, from each result's values per device."""
        return rows_of_devices(i.shape.is_tuple, results, target, self.count)

    def _while(self, i: HloInstruction, states: Values, target: HloComputation) -> Values:
        """Return one loop over the states of all devices; equal elements are carried once."""
        initial = [_elements(state) for state in (states if not _agree(states) else states[:1])]
        initial = initial if len(initial) == self.count else initial * self.count
        shared = [_agree(column) for column in zip(*initial, strict=True)]
        is_tuple = i.shape.is_tuple
        while True:
            columns = [
                column[:1] if same else column
                for same, column in zip(shared, zip(*initial, strict=True), strict=True)
            ]
            state_shape = tuple_shape([v.shape for column in columns for v in column])
            condition = self.module.add_computation(f"{i.called[0].name}.joined")
            holds = self._turn(i.called[0], condition, state_shape, shared, is_tuple)[1]
            condition.set_root(holds[0] if _agree(holds) else combined(condition, holds, "or"))
            body = self.module.add_computation(f"{i.called[1].name}.joined")
            old, new = self._turn(i.called[1], body, state_shape, shared, is_tuple)
            after = [_elements(value) for value in (new if not _agree(new) else new[:1])]
            after = after if len(after) == self.count else after * self.count
            if not _agree(holds):  # a device that has left the loop keeps its state
                before = [_elements(value) for value in old]
                inside = self.walk(i.called[0], body, {i.called[0].parameters()[0]: old})
                after = [
                    [self._chosen(body, go_on, a, b) for a, b in zip(row, kept, strict=True)]
                    for go_on, row, kept in zip(inside, after, before, strict=True)
                ]
            stays = [
                same and _agree(column)
                for same, column in zip(shared, zip(*after, strict=True), strict=True)
            ]
            if stays == shared:
                break
            shared = stays
            self.module.remove_computation(condition)
            self.module.remove_computation(body)
        flat = [
            v
            for same, column in zip(shared, zip(*after, strict=True), strict=True)
            for v in (column[:1] if same else column)
        ]
        body.set_root(body.add(TUPLE, state_shape, flat))
        start = target.add(TUPLE, state_shape, [v for column in columns for v in column])
        loop = target.add(
            i.opcode,
            state_shape,
            [start],
            i.attributes,
            called=(condition, body),
            name=i.name,
            metadata=i.metadata,
        )
        loop.line = i.line
        return self._states(loop, shared, is_tuple, target)

    def _turn(
        self,
        source: HloComputation,
        target: HloComputation,
        shape: object,
        shared: Sequence[bool],
        is_tuple: bool,
    ) -> tuple[Values, Values]:
        """Return (the states, the computed values) of all devices, in a new computation."""
        parameter = target.add_parameter(0, shape)  # type: ignore[arg-type]
        states = self._states(parameter, shared, is_tuple, target)
        return states, self.walk(source, target, {source.parameters()[0]: states})

    def _states(
        self, joined: HloInstruction, shared: Sequence[bool], is_tuple: bool, target: HloComputation
    ) -> Values:
        """Return the devices' states from the joined state."""
        parts = iter(_elements(joined))
        columns = [
            [next(parts)] * self.count if same else [next(parts) for _ in range(self.count)]
            for same in shared
        ]
        return rows_of_devices(is_tuple, columns, target, self.count)

    @staticmethod
    def _chosen(
        target: HloComputation, predicate: HloInstruction, a: HloInstruction, b: HloInstruction
    ) -> HloInstruction:
        """Return a `select` of arrays; tokens need none."""
        if a is b or not a.shape.is_array:
            return a
        b_ = builder_at(target)
        return b_.select(HloValue(b_, predicate), HloValue(b_, a), HloValue(b_, b)).instruction

    def _conditional(
        self, i: HloInstruction, operands: list[Values], target: HloComputation
    ) -> Values:
        """Return one conditional if all devices take the same branch.

        Else every branch is computed, and each device selects its own.
        """
        choice, given = operands[0], operands[1:]
        if _agree(choice):
            branches, handed = [], []
            for computation, values in zip(i.called, given, strict=True):
                made = self.module.add_computation(f"{computation.name}.joined")
                distinct = list(dict.fromkeys(values))
                parameter = made.add_parameter(0, tuple_shape([v.shape for v in distinct]))
                inside = dict(zip(distinct, _elements(parameter), strict=True))
                results = self.walk(
                    computation, made, {computation.parameters()[0]: [inside[v] for v in values]}
                )
                made.set_root(made.add(TUPLE, tuple_shape([r.shape for r in results]), results))
                branches.append(made)
                handed.append(target.add(TUPLE, parameter.shape, distinct))
            joined = target.add(
                i.opcode,
                branches[0].root.shape,
                [choice[0], *handed],
                i.attributes,
                called=tuple(branches),
                name=i.name,
            )
            joined.line = i.line
            return _elements(joined)
        every = [
            self.walk(c, target, {c.parameters()[0]: values})
            for c, values in zip(i.called, given, strict=True)
        ]
        found = []
        for device in range(self.count):
            rows = [_elements(values[device]) for values in every]
            chosen = [
                self._taken(target, choice[device], options) for options in zip(*rows, strict=True)
            ]
            found.append(_packed(target, chosen, i.shape.is_tuple))
        return found

    def _taken(
        self, target: HloComputation, choice: HloInstruction, options: Sequence[HloInstruction]
    ) -> HloInstruction:
        if choice.shape.element_type.name == "pred":
            return self._chosen(target, choice, options[0], options[1])
        taken = options[-1]
        for number, option in enumerate(options[:-1]):
            b = builder_at(target)
            taken = self._chosen(target, (HloValue(b, choice) == number).instruction, option, taken)
        return taken


def rows_of_devices(
    is_tuple: bool, columns: list[Values], target: HloComputation, count: int
) -> Values:
    """Return one value per device, a tuple if `is_tuple`, from each element's values per device."""
    made: dict[tuple[int, ...], HloInstruction] = {}
    found = []
    for device in range(count):
        parts = [column[device] for column in columns]
        key = tuple([p.id for p in parts])
        if key not in made:
            made[key] = _packed(target, parts, is_tuple)
        found.append(made[key])
    return found
