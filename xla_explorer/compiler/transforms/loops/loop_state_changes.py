"""Reductions of a loop's state: merged equal elements, flattened tuples, one counter.

Source: xla/service/while_loop_simplifier.cc (TryRemoveRepeatedWhileTupleIndices,
TryFlattenNestedTuples, TryMergeInductionVariables).
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import scalar_constant
from xla_explorer.compiler.rewriting.removal import remove_if_dead, replace_root
from xla_explorer.compiler.transforms.loops.loop_state import (
    element,
    initial_parts,
    may_be_reshaped,
    own_computations,
    parameter_of,
    passed_on,
    readers_of,
    replace_loop,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT, GET_TUPLE_ELEMENT, PARAMETER, TUPLE
from xla_explorer.hlo.shape import Shape, tuple_shape


def first_of_equal_elements(loop: HloInstruction) -> dict[int, int]:
    """Return a map from elements to the earlier element that always has the same value."""
    start = loop.operands[0]
    if start.opcode is not TUPLE or any(
        i.opcode.name == "domain" for c in loop.called for i in c.instructions.values()
    ):
        return {}
    first: dict[HloInstruction, int] = {}
    found = {}
    for number in sorted(passed_on(loop.called[1])):
        value = start.operands[number]
        if value in first:
            found[number] = first[value]
        else:
            first[value] = number
    return found


def _leaf_shapes(shape: Shape) -> list[Shape]:
    return (
        [leaf for part in shape.tuple_shapes for leaf in _leaf_shapes(part)]
        if shape.is_tuple
        else [shape]
    )


def _leaves(computation: HloComputation, value: HloInstruction) -> list[HloInstruction]:
    """Return the arrays of a tuple, in order."""
    if not value.shape.is_tuple:
        return [value]
    count = len(value.shape.tuple_shapes)
    parts = (
        value.operands
        if value.opcode is TUPLE
        else [element(computation, value, k) for k in range(count)]
    )
    return [leaf for part in parts for leaf in _leaves(computation, part)]


def _nested(
    computation: HloComputation, shape: Shape, leaves: list[HloInstruction]
) -> HloInstruction:
    """Return a tuple of the shape from the first arrays of the list, which are removed."""
    if not shape.is_tuple:
        return leaves.pop(0)
    return computation.add(
        TUPLE, shape, [_nested(computation, part, leaves) for part in shape.tuple_shapes]
    )


def flatten_state(loop: HloInstruction) -> HloInstruction | Reason:
    """Carry the arrays of nested tuples instead of the tuples; return the new loop."""
    if not any(part.is_tuple for part in loop.shape.tuple_shapes or ()):
        return refuse("state-flat", f"no element of %{loop.name} is a tuple")
    reason = may_be_reshaped(loop)
    if reason is not None:
        return reason
    own_computations(loop)
    flat = tuple_shape(_leaf_shapes(loop.shape))
    for called in loop.called:
        parameter, old = parameter_of(called), loop.shape
        readers = list(parameter.users)
        called.set_shape(parameter, flat)
        arrays = [element(called, parameter, k) for k in range(len(flat.tuple_shapes))]
        for number, part in enumerate(old.tuple_shapes):
            whole = _nested(called, part, arrays)
            for reader in [r for r in readers if r.attributes["index"] == number]:
                called.replace(reader, whole)
                called.remove(reader)
    body, root = loop.called[1], loop.called[1].root
    replace_root(body, body.add(TUPLE, flat, _leaves(body, root), name=root.name))
    for called in loop.called:
        remove_dead_instructions(called)
    starts: list[int] = []
    at = 0
    for part in loop.shape.tuple_shapes:
        starts.append(at)
        at += len(_leaf_shapes(part))

    def after(made: HloInstruction, old: int) -> HloInstruction:
        shape = loop.shape.tuple_shapes[old]
        arrays = [
            element(loop.parent, made, starts[old] + k) for k in range(len(_leaf_shapes(shape)))
        ]
        return _nested(loop.parent, shape, arrays)

    return replace_loop(
        loop, [leaf for part in initial_parts(loop) for leaf in _leaves(loop.parent, part)], after
    )


_COUNTED = ("s8", "u8", "s32", "u32", "s64", "u64")


def _step(body: HloComputation, number: int) -> HloInstruction | None:
    """Return the scalar constant that the body adds to element `number`, or None."""
    given = body.root.operands[number]
    if given.opcode.name != "add" or not given.shape.is_scalar:
        return None
    for mine, other in (given.operands, given.operands[::-1]):
        own = (
            mine.opcode is GET_TUPLE_ELEMENT
            and mine.operands[0].opcode is PARAMETER
            and mine.attributes["index"] == number
        )
        if own and other.opcode is CONSTANT:
            return other
    return None


def _value(i: HloInstruction) -> int | None:
    return int(i.literal.scalar) if i.opcode is CONSTANT and i.shape.is_scalar else None


def merge_induction_variables(loop: HloInstruction) -> HloInstruction | Reason:
    """Compute all induction variables from one that starts at zero and moves by one.

    It is added if there is none. Returns the new loop. Arithmetic is modulo the type: the sums are
    the same on overflow.
    """
    reason = may_be_reshaped(loop)
    if reason is not None:
        return reason
    made: HloInstruction | None = None
    for kind in _COUNTED:
        if (result := _merged(made or loop, kind)) is not None:
            made = result
    return made or refuse(
        "nothing-to-merge", f"no two elements of %{loop.name} are induction variables"
    )


def _merged(loop: HloInstruction, kind: str) -> HloInstruction | None:
    computation, body = loop.parent, loop.called[1]
    steps = {
        number: step
        for number, shape in enumerate(loop.shape.tuple_shapes)
        if shape.is_array
        and shape.element_type.name == kind
        and (step := _step(body, number)) is not None
    }
    if len(steps) < 2:
        return None
    parts = initial_parts(loop)
    counter = next(
        (n for n, step in steps.items() if _value(step) == 1 and _value(parts[n]) == 0), None
    )
    own_computations(loop)
    body = loop.called[1]
    literals = {number: step.literal for number, step in steps.items() if number != counter}
    shape, scalar = loop.shape, body.root.operands[next(iter(steps))].shape
    added = counter is None
    if counter is None:
        counter = len(parts)
        parts.append(scalar_constant(computation, scalar, 0))
        shape = tuple_shape([*shape.tuple_shapes, scalar])

    def counted(where: HloComputation, state: HloInstruction, number: int) -> HloInstruction:
        way = where.add(
            "multiply",
            scalar,
            (element(where, state, counter), where.add_constant(literals[number])),
        )
        return where.add("add", scalar, (element(where, state, number), way))

    for called in loop.called:
        parameter = parameter_of(called)
        called.set_shape(parameter, shape)
        for number in literals:
            readers = readers_of(called, number)
            if not readers:
                continue
            value = counted(called, parameter, number)
            for reader in readers:
                called.replace(reader, value)
                remove_if_dead(called, reader)
    root, parameter = body.root, parameter_of(body)
    after_step = [
        element(body, parameter, k) if k in literals else o for k, o in enumerate(root.operands)
    ]
    if added:
        after_step.append(
            body.add(
                "add", scalar, (element(body, parameter, counter), scalar_constant(body, scalar, 1))
            )
        )
    replace_root(body, body.add(TUPLE, shape, after_step, name=root.name))
    remove_dead_instructions(body)
    return replace_loop(
        loop,
        parts,
        lambda made, old: (
            counted(computation, made, old) if old in literals else element(computation, made, old)
        ),
    )
