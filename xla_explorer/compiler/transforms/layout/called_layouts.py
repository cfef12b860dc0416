"""The layouts that custom calls with `operand_layout_constraints` ask for, as XLA's layout assignment hands them on.

Such a call (LAPACK's, of JAX) says in which order each operand and result lies. XLA propagates that before all else, the last call first
and from its last operand to the first: who computes an operand gives it so, and asks the same of its own operands where it cannot change
the order. What a loop carries lies as a call in its body asks; it is copied before the loop.
Source: xla/service/layout_assignment.cc (`RunOnComputation`, `PropagateUseConstraintToDefs`, `PropagateBufferConstraintToOperands`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, PARAMETER, opcode
from xla_explorer.hlo.shape import Shape, parse_shape, tuple_shape

_CUSTOM_CALL, _COPY, _BROADCAST, _WHILE = [
    opcode(name) for name in ("custom-call", "copy", "broadcast", "while")
]
_GIVEN: Final = frozenset([opcode(name) for name in (
    "parameter", "get-tuple-element", "tuple", "custom-call", "while", "conditional", "call", "dot", "convolution",
)])  # fmt: skip
"""Their layouts are given by what calls them or by what they call, or are row-major as their kernels write them."""
_KEEPING: Final = frozenset([opcode(name) for name in (
    "concatenate", "copy", "dynamic-slice", "dynamic-update-slice", "map", "pad", "reduce-window", "reverse", "scatter",
    "select-and-scatter", "slice", "sort", "triangular-solve", "cholesky", "fft", "bitcast-convert", "reduce-precision",
    "set-dimension-size",
)])  # fmt: skip
"""Beside the elementwise ones, what has operands of its rank in the order of its result."""


def operand_constraints(i: HloInstruction) -> tuple[Shape, ...] | None:
    """The operands' shapes in the layouts that a custom call asks for; None where it asks for nothing."""
    text = i.attributes.get("operand_layout_constraints", "") if i.opcode is _CUSTOM_CALL else ""
    if not text:
        return None
    wanted = parse_shape(f"({text.removeprefix('{').removesuffix('}')})").tuple_shapes
    return wanted if len(wanted) == len(i.operands) else None


def copy_aliased_operands(module: HloModule) -> bool:
    """Give each operand in which a constrained call leaves a result a copy of its own; whether there was one."""
    changed = False
    for computation in sequential_computations(module):
        for call in _calls(computation):
            for number in sorted(
                {
                    alias.operand_number
                    for alias in call.attributes.get("output_to_operand_aliasing", ())
                }
            ):
                operand = call.operands[number]
                if operand.opcode is not _COPY or len(operand.users) > 1:
                    copy = computation.add(
                        _COPY, operand.shape, (operand,), metadata=operand.metadata
                    )
                    computation.replace_operand(call, number, copy)
                    changed = True
    return changed


class AskedLayouts(NamedTuple):
    """What constrained calls ask for. results: instruction -> the order of its result, minor to major. states: body or condition of a loop
    -> its state, where a call in the body asks for an element of it."""

    results: dict[HloInstruction, tuple[int, ...]]
    states: dict[HloComputation, Shape]


def layouts_asked_by_calls(module: HloModule) -> AskedLayouts:
    """Of all that constrained calls reach."""
    asked: dict[HloInstruction, tuple[int, ...]] = {}
    elements: dict[tuple[HloComputation, int], tuple[int, ...]] = {}
    for computation in sequential_computations(module):
        for call in reversed(list(_calls(computation))):
            constraints = operand_constraints(call) or ()
            waiting = [
                (o, wanted.layout.minor_to_major)
                for o, wanted in zip(call.operands, constraints, strict=True)
            ]
            while waiting:
                i, order = waiting.pop()
                if (
                    i.opcode is GET_TUPLE_ELEMENT
                    and i.operands[0].opcode is PARAMETER
                    and i.shape.is_array
                ):
                    elements.setdefault((computation, i.attribute("index")), order)
                if i in asked or i.opcode in _GIVEN or not i.shape.is_array or i.shape.rank < 2:
                    continue
                asked[i] = order
                for number, operand in enumerate(i.operands):
                    if (kept := operand_order(i, order, number)) is not None:
                        waiting.append((operand, kept))
    return AskedLayouts(asked, dict(_states(module, elements)) if elements else {})


def _states(
    module: HloModule, elements: Mapping[tuple[HloComputation, int], tuple[int, ...]]
) -> Iterator[tuple[HloComputation, Shape]]:
    """The state of each loop of which a call in the body asks for an element: all of the loop has it so."""
    for loop in module.instructions():
        if loop.opcode is _WHILE and any(body is loop.called[-1] for body, _ in elements):
            body, state = loop.called[-1], loop.shape.base
            parts = [
                part.with_layout(elements[body, k]) if (body, k) in elements else part
                for k, part in enumerate(state.tuple_shapes)
            ]
            for computation in loop.called:
                yield computation, tuple_shape(parts)


def operand_order(i: HloInstruction, order: tuple[int, ...], number: int) -> tuple[int, ...] | None:
    """In which order an instruction reads an operand whose result must lie in `order`; None where any order will do."""
    operand = i.operands[number].shape
    if not operand.is_array or operand.rank < 2:
        return None
    if i.opcode is _BROADCAST:
        place = {dimension: k for k, dimension in enumerate(i.attribute("dimensions"))}
        return tuple([place[d] for d in order if d in place])
    keeps = i.opcode.elementwise or i.opcode in _KEEPING
    return order if keeps and operand.rank == len(order) else None


def _calls(computation: HloComputation) -> Iterator[HloInstruction]:
    return (i for i in list(computation.post_order()) if operand_constraints(i) is not None)
