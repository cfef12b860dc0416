"""Constraints on the signatures of called computations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.opcodes.shape_rules.agreement import bare
from xla_explorer.hlo.primitive_type import PRED, PrimitiveType
from xla_explorer.hlo.shape import Shape, array_shape

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.instruction import HloInstruction


def _parameters(computation: HloComputation) -> list[Shape]:
    return [parameter.shape for parameter in computation.parameters()]


def _list(shapes: Sequence[Shape]) -> str:
    return "(" + ", ".join([bare(shape) for shape in shapes]) + ")"


def _takes(role: str, computation: HloComputation, wanted: Sequence[Shape]) -> Reason | None:
    found = _parameters(computation)
    if len(found) != len(wanted) or any(
        a.base is not b.base for a, b in zip(found, wanted, strict=True)
    ):
        return refuse(
            "parameters-differ", f"{role} takes {_list(found)}, it is called with {_list(wanted)}"
        )
    return None


def _returns(role: str, computation: HloComputation, wanted: Shape) -> Reason | None:
    found = computation.root.shape
    if found.base is not wanted.base:
        return refuse(
            "result-differs", f"{role} returns {bare(found)}, it must return {bare(wanted)}"
        )
    return None


def _same_up_to_precision(a: PrimitiveType, b: PrimitiveType) -> bool:
    # Reducers may accumulate in another float precision than their inputs.
    return a is b or (a.is_float and b.is_float)


def _takes_scalars(
    role: str, computation: HloComputation, wanted: Sequence[Shape]
) -> Reason | None:
    """Return a refusal unless the parameters are scalars of these types, up to precision."""
    found = _parameters(computation)
    types = [shape.element_type for shape in wanted]
    if len(found) != len(types) or not all(
        p.is_scalar and _same_up_to_precision(p.element_type, t)
        for p, t in zip(found, types, strict=True)
    ):
        scalars = "(" + ", ".join([f"{t}[]" for t in types]) + ")"
        return refuse("parameters-differ", f"{role} takes {_list(found)}, it must take {scalars}")
    return None


def _returns_scalars(
    role: str, computation: HloComputation, wanted: Sequence[Shape]
) -> Reason | None:
    result = computation.root.shape
    parts = result.tuple_shapes if result.is_tuple else (result,)
    if len(parts) != len(wanted) or not all(
        p.is_scalar and _same_up_to_precision(p.element_type, w.element_type)
        for p, w in zip(parts, wanted, strict=True)
    ):
        scalars = ", ".join([f"{w.element_type}[]" for w in wanted])
        return refuse(
            "result-differs",
            f"{role} returns {bare(result)}, it must return "
            f"{scalars if len(wanted) == 1 else f'({scalars})'}",
        )
    return None


def reducer(i: HloInstruction) -> Reason | None:
    """Require 2N scalars (accumulators, elements) to N accumulators (reduce, reduce-window)."""
    inputs = [operand.shape for operand in i.operands[: len(i.operands) // 2]]
    initials = [operand.shape for operand in i.operands[len(i.operands) // 2 :]]
    return _takes_scalars("to_apply", i.called[0], [*initials, *inputs]) or _returns_scalars(
        "to_apply", i.called[0], initials
    )


def scatter_combiner(i: HloInstruction) -> Reason | None:
    """Require 2N scalars (current values, then updates) to N new values (scatter)."""
    inputs = [operand.shape for operand in i.operands[: len(i.operands) // 2]]
    updates = [operand.shape for operand in i.operands[len(i.operands) // 2 + 1 :]]
    return _takes_scalars("to_apply", i.called[0], [*inputs, *updates]) or _returns_scalars(
        "to_apply", i.called[0], inputs
    )


def selector_and_scatterer(i: HloInstruction) -> Reason | None:
    """Require `select` to compare and `scatter` to combine two elements (select-and-scatter)."""
    value = i.operands[0].shape
    select, scatter = i.called
    result = select.root.shape
    if reason := _takes_scalars("select", select, [value, value]):
        return reason
    if not result.is_scalar or result.element_type is not PRED:
        return refuse("result-differs", f"select returns {bare(result)}, it must return pred[]")
    return _takes_scalars("scatter", scatter, [value, value]) or _returns_scalars(
        "scatter", scatter, [value]
    )


def comparator(i: HloInstruction) -> Reason | None:
    """Require two adjacent scalars for each operand to pred[] (sort)."""
    wanted = [operand.shape for operand in i.operands for _ in range(2)]
    result = i.called[0].root.shape
    if reason := _takes_scalars("to_apply", i.called[0], wanted):
        return reason
    if not result.is_scalar or result.element_type is not PRED:
        return refuse("result-differs", f"to_apply returns {bare(result)}, it must return pred[]")
    return None


def mapped(i: HloInstruction) -> Reason | None:
    """Require one scalar for each operand to one scalar (map)."""
    return _takes(
        "to_apply",
        i.called[0],
        [array_shape(operand.shape.element_type, ()) for operand in i.operands],
    )


def combiner(i: HloInstruction) -> Reason | None:
    """Require two scalars to one, all of one type.

    2N to N is accepted (all-reduce, reduce-scatter).
    """
    found = _parameters(i.called[0])
    if len(found) < 2 or len(found) % 2 or not all(p.is_scalar for p in found):
        return refuse(
            "parameters-differ", f"to_apply takes {_list(found)}, it must take two scalars"
        )
    return None


def loop(i: HloInstruction) -> Reason | None:
    """Require `condition` from state to pred[], `body` from state to state (while)."""
    state = i.operands[0].shape
    condition, body = i.called
    result = condition.root.shape
    if reason := _takes("condition", condition, [state]):
        return reason
    if not result.is_scalar or result.element_type is not PRED:
        return refuse("result-differs", f"condition returns {bare(result)}, it must return pred[]")
    return _takes("body", body, [state]) or _returns("body", body, state)


def branches(i: HloInstruction) -> Reason | None:
    """Require branch k to take operand k + 1 and to return the result's shape (conditional)."""
    for number, (branch, operand) in enumerate(zip(i.called, i.operands[1:], strict=False)):
        reason = _takes(f"branch {number}", branch, [operand.shape]) or _returns(
            f"branch {number}", branch, i.shape
        )
        if reason is not None:
            return reason
    return None


def callee(i: HloInstruction) -> Reason | None:
    """Require the parameters' and root's shapes to be the operands' and result's (call, fusion)."""
    role = i.opcode.called[0]
    return _takes(role, i.called[0], [operand.shape for operand in i.operands]) or _returns(
        role, i.called[0], i.shape
    )


def composite_is_named(i: HloInstruction) -> Reason | None:
    """Require `composite.name` in the frontend attributes of a composite call (call)."""
    if i.attribute("is_composite") and "composite.name=" not in str(
        i.attributes.get("frontend_attributes", "")
    ):
        return refuse(
            "composite-unnamed", "is_composite=true needs composite.name in frontend_attributes"
        )
    return None


def step(i: HloInstruction) -> Reason | None:
    """Require a slice or scalar of each input and carried value; carried values last (scan)."""
    body = i.called[0]
    count, along = i.attributes.value("num_carries"), i.attributes.value("dimensions")[0]
    operands = [operand.shape for operand in i.operands]
    inputs, carries = operands[: len(operands) - count], operands[len(operands) - count :]
    slices = [
        array_shape(x.element_type, (*x.dimensions[:along], *x.dimensions[along + 1 :]))
        for x in inputs
    ]
    if all(p.is_scalar for p in _parameters(body)):
        slices, carries = (
            [array_shape(x.element_type, ()) for x in group] for group in (slices, carries)
        )
    if reason := _takes("to_apply", body, [*slices, *carries]):
        return reason
    result = body.root.shape
    parts = result.tuple_shapes if result.is_tuple else (result,)
    for part, carry in zip(parts[len(parts) - count :], carries, strict=True):
        if part.base is not carry.base:
            return refuse(
                "result-differs",
                f"to_apply returns {bare(part)} for a carried {bare(carry)}, it must return the "
                "same shape",
            )
    return None


def asynchronous_start(i: HloInstruction) -> Reason | None:
    """Require ((operands), result of the computation, state...) as the result (async-start)."""
    parts = i.shape.tuple_shapes
    if len(parts) < 2 or not parts[0].is_tuple:
        return refuse(
            "async-result",
            f"the result must be ((operands), result, state...), it is {bare(i.shape)}",
        )
    operands = [operand.shape for operand in i.operands]
    if [a.base for a in parts[0].tuple_shapes] != [b.base for b in operands]:
        return refuse(
            "async-operands",
            f"the result names operands {bare(parts[0])}, they are {_list(operands)}",
        )
    return _takes("calls", i.called[0], operands) or _returns("calls", i.called[0], parts[1])
