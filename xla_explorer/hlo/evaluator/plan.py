"""Execution plans: a computation as a flat list of steps, run without a graph walk.

A plan is valid for one state of its computation. `HloComputation.post_order()` returns the same
list object until the next mutation, so the list's identity proves validity.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xla_explorer.hlo.analysis.effects import is_observable
from xla_explorer.hlo.evaluator.excess_precision import in_f32, widened_at_once
from xla_explorer.hlo.evaluator.registry import (
    EVALUATION_FUNCTIONS,
    TOKEN_VALUE,
    EvaluationError,
    EvaluationFunction,
    UnsupportedOpcodeError,
    Value,
)

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.instruction import HloInstruction
    from xla_explorer.hlo.literal import Literal
    from xla_explorer.hlo.shape import Shape


class Step(NamedTuple):
    """One call of a plan.

    operands, result: slots. dead: slots whose last reader is this step. dtype, dimensions: required
    of the result (None for a tuple, a token or a dynamic shape).
    """

    function: EvaluationFunction
    instruction: HloInstruction
    operands: tuple[int, ...]
    result: int
    dead: tuple[int, ...]
    dtype: np.dtype[Any] | None
    dimensions: tuple[int, ...]


class Plan:
    """Steps of one computation.

    frame: initial slots, constants filled in. parameters: (slot, parameter number).
    """

    __slots__ = ("frame", "instructions", "order", "parameter_count", "parameters", "root", "steps")

    def __init__(
        self, computation: HloComputation, max_elements: int, *, excess_precision: bool = False
    ) -> None:
        self.order = computation.post_order()
        # Conversions that read an unrounded value -> the instruction whose operands they read.
        wide = (
            {i: source for i in self.order if (source := widened_at_once(i)) is not None}
            if excess_precision
            else {}
        )
        live = _live_instructions(computation, wide)
        slots: dict[HloInstruction, int] = {}
        last_reader: dict[int, int] = {}
        body: list[HloInstruction] = []
        self.frame: list[Value] = []
        self.parameters: list[tuple[int, int]] = []
        self.instructions: list[HloInstruction] = []
        for i in self.order:
            if i not in live:
                continue
            slot = slots[i] = len(self.frame)
            self.instructions.append(i)
            name = i.opcode.name
            self.frame.append(literal_value(i.literal) if name == "constant" else None)
            if name == "parameter":
                self.parameters.append((slot, int(i.payload)))
            elif name != "constant":
                for operand in wide.get(i, i).operands:
                    last_reader[slots[operand]] = len(body)
                body.append(i)
        self.root = slots[computation.root]
        self.parameter_count = len(computation.parameters())
        last_reader[self.root] = -1
        dying: dict[int, list[int]] = {}
        for slot, reader in last_reader.items():
            dying.setdefault(reader, []).append(slot)
        self.steps: list[Step] = []
        for number, i in enumerate(body):
            check_size(i, max_elements)
            shape = i.shape
            checked = shape.is_array and not any(shape.dynamic)
            source = wide.get(i)
            self.steps.append(
                Step(
                    evaluation_function(i)
                    if source is None
                    else in_f32(source, evaluation_function(source)),
                    i,
                    tuple([slots[o] for o in (source or i).operands]),
                    slots[i],
                    tuple(dying.get(number, ())),
                    shape.element_type.dtype if checked else None,
                    shape.dimensions,
                )
            )


def _live_instructions(
    computation: HloComputation, wide: dict[HloInstruction, HloInstruction]
) -> set[HloInstruction]:
    """Return the instructions that the root depends on, and those with side effects.

    Loops in between are kept, because a loop may be endless.
    """
    known: dict[HloComputation, bool] = {}
    stack = [
        computation.root,
        *[i for i in computation.instructions.values() if is_observable(i, known)],
    ]
    live = set(stack)
    while stack:
        i = stack.pop()
        for before in (*wide.get(i, i).operands, *i.control_predecessors):
            if before not in live:
                live.add(before)
                stack.append(before)
    return live


def evaluation_function(instruction: HloInstruction) -> EvaluationFunction:
    """Return the registered function, or raise UnsupportedOpcodeError."""
    name = instruction.opcode.name
    found = EVALUATION_FUNCTIONS.get(name)
    if found is None:
        raise UnsupportedOpcodeError(
            name, f"the evaluator has no meaning for opcode {name} (%{instruction.name})"
        )
    if (
        instruction.opcode.elementwise
        and len(instruction.operands) > 1
        and any(any(o.shape.dynamic) for o in instruction.operands)
    ):
        return partial(_of_common_size, found)
    return found


def _sizes_of_its_own(i: HloInstruction) -> tuple[bool, ...]:
    """Return the dimensions whose size is set at run time.

    A dynamic dimension that is only stated, as in a broadcast scalar, is at its bound.
    """
    stated = i.opcode.name in ("broadcast", "iota", "constant") and not any(
        any(o.shape.dynamic) for o in i.operands
    )
    return () if stated else i.shape.dynamic


def _of_common_size(
    function: EvaluationFunction,
    instruction: HloInstruction,
    operands: Sequence[Value],
    evaluator: Any,
) -> Value:
    """Apply an elementwise function to operands whose dynamic sizes differ.

    Elements beyond another operand's size are padding. A dynamic size of one is broadcast over
    another dynamic size, as in XLA.
    """
    rank = instruction.shape.rank
    arrays = [k for k, x in enumerate(operands) if x.ndim == rank]
    window = []
    flags = [_sizes_of_its_own(instruction.operands[k]) or (False,) * rank for k in arrays]
    for d in range(rank):
        sizes = [operands[k].shape[d] for k in arrays]
        moving = [size for size, dynamic in zip(sizes, flags, strict=True) if dynamic[d]]
        spread = 1 in moving and any(size != 1 for size in moving)
        window.append(min([size for size in sizes if size != 1 or not spread], default=1))
    common = list(operands)
    for k in arrays:
        cut = operands[k][tuple([slice(0, size) for size in window])]
        common[k] = np.broadcast_to(cut, window)
    return function(instruction, common, evaluator)


def check_size(instruction: HloInstruction, max_elements: int) -> None:
    """Raise EvaluationError if an array of the result has more than `max_elements` elements."""
    for _, leaf in _leaves(instruction.shape):
        if leaf.element_count > max_elements:
            raise EvaluationError(
                f"%{instruction.name} = {leaf.text_without_layout} has {leaf.element_count:,} "
                "elements, more than the "
                f"evaluator's limit of {max_elements:,}",
                "raise max_elements, or evaluate a smaller program",
            )


def _leaves(shape: Shape) -> list[tuple[tuple[int, ...], Shape]]:
    return [((), shape)] if not shape.tuple_shapes else list(shape.leaves())


def literal_value(literal: Literal) -> Value:
    """Return the value of a literal: its array, or the tuple of its parts' values."""
    if literal.shape.is_tuple:
        return tuple([literal_value(part) for part in literal.parts])
    return literal.array if literal.shape.is_array else TOKEN_VALUE
