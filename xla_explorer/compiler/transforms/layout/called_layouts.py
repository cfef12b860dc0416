"""Layouts that custom calls require by `operand_layout_constraints`, propagated as in XLA.

Such a call (LAPACK's, of JAX) fixes the layout of each operand and result. XLA propagates them
before all else, from the last call and the last operand to the first. The producer of an operand
gets the required layout, and requires it of its own operands if it cannot change the order. A
loop's state has the layout that a call in its body requires; it is copied before the loop. Source:
xla/service/layout_assignment.cc (`RunOnComputation`, `PropagateUseConstraintToDefs`,
`PropagateBufferConstraintToOperands`).
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
"""Opcodes whose layouts follow from callers or callees, or are row-major as their kernels write."""
_KEEPING: Final = frozenset([opcode(name) for name in (
    "concatenate", "copy", "dynamic-slice", "dynamic-update-slice", "map", "pad", "reduce-window", "reverse", "scatter",
    "select-and-scatter", "slice", "sort", "triangular-solve", "cholesky", "fft", "bitcast-convert", "reduce-precision",
    "set-dimension-size",
)])  # fmt: skip
"""Opcodes, besides elementwise ones, whose operands of equal rank have the result's layout."""


def operand_constraints(i: HloInstruction) -> tuple[Shape, ...] | None:
    """Return the operands' shapes in the layouts that a custom call requires, or None."""
    text = i.attributes.get("operand_layout_constraints", "") if i.opcode is _CUSTOM_CALL else ""
    if not text:
        return None
    wanted = parse_shape(f"({text.removeprefix('{').removesuffix('}')})").tuple_shapes
    return wanted if len(wanted) == len(i.operands) else None


def copy_aliased_operands(module: HloModule) -> bool:
    """Copy each operand that a constrained call overwrites with a result.

    Return True for any copy.
    """
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


class RequestedLayouts(NamedTuple):
    """The layouts that constrained calls require.

    results: instruction -> the order of its result, minor to major. states: body or condition of a
    loop -> its state, if a call in the body requires the layout of an element.
    """

    results: dict[HloInstruction, tuple[int, ...]]
    states: dict[HloComputation, Shape]


def layouts_requested_by_calls(module: HloModule) -> RequestedLayouts:
    """Return the layouts of everything that constrained calls reach."""
    requested: dict[HloInstruction, tuple[int, ...]] = {}
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
                if i in requested or i.opcode in _GIVEN or not i.shape.is_array or i.shape.rank < 2:
                    continue
                requested[i] = order
                for number, operand in enumerate(i.operands):
                    if (kept := operand_order(i, order, number)) is not None:
                        waiting.append((operand, kept))
    return RequestedLayouts(requested, dict(_states(module, elements)) if elements else {})


def _states(
    module: HloModule, elements: Mapping[tuple[HloComputation, int], tuple[int, ...]]
) -> Iterator[tuple[HloComputation, Shape]]:
    """Yield the state of each loop whose body has a call that requires an element's layout.

    The whole loop uses this layout.
    """
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
    """Return the order in which an instruction with result `order` reads an operand.

    None if any order will do.
    """
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
