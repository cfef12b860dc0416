"""The form of a one-hot matrix that compares indices in place of a scatter into zeros."""

from __future__ import annotations

from typing import Final

import numpy as np

from xla_explorer.explorer.advice.array_forms import splat, stores_a_constant
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, attributes_of
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_DEEPEST: Final = 40  # operations between an index and its constants


def compared_one_hot(module: HloModule) -> HloModule | None:
    """Compare the index of each row with a counter, in place of a scatter of a constant."""
    copy, changed = module.clone(), False
    for computation in list(copy.computations.values()):
        for i in list(computation.instructions.values()):
            if i.opcode.name == "scatter" and _compare(i):
                changed = True
    return copy if changed else None


def _compare(scatter: HloInstruction) -> bool:
    """Replace one scatter of a constant into a constant; return False for other scatters."""
    if not stores_a_constant(scatter) or scatter.shape.rank != 2:
        return False
    into, indices, updates = scatter.operands
    off, on = splat(into), splat(updates)
    count = scatter.shape.dimensions[0]
    is_elements = (
        not scatter.attributes.value("input_batching_dims")
        and tuple(scatter.attribute("scatter_dims_to_operand_dims")) == (0, 1)
        and tuple(indices.shape.dimensions) == (count, 2)
        and scatter.attribute("index_vector_dim") == 1
    )
    if off is None or on is None or not is_elements or indices.opcode.name != "concatenate":
        return False
    if len(indices.operands) != 2 or not counts_up(indices.operands[0], count):
        return False
    place, numbers = scatter.parent, indices.operands[1].shape
    flat = place.add(
        "reshape", numbers.with_dimensions([count]), [indices.operands[1]], NO_ATTRIBUTES
    )
    whole = numbers.with_dimensions(scatter.shape.dimensions)
    spread = place.add("broadcast", whole, [flat], attributes_of({"dimensions": (0,)}))
    counted = place.add("iota", whole, [], attributes_of({"iota_dimension": 1}))
    equal = place.add("compare", None, [spread, counted], attributes_of({"direction": "EQ"}))
    if (float(on.payload.array), float(off.payload.array)) == (1.0, 0.0):
        made = place.add("convert", scatter.shape, [equal], metadata=scatter.metadata)
        place.replace(scatter, made)
        place.remove(scatter)
        return True
    sides = [
        place.add("broadcast", scatter.shape, [one], attributes_of({"dimensions": ()}))
        for one in (on, off)
    ]
    made = place.add("select", scatter.shape, [equal, *sides], metadata=scatter.metadata)
    place.replace(scatter, made)
    place.remove(scatter)
    return True


def counts_up(i: HloInstruction, count: int, axis: int = 0) -> bool:
    """Return True if each line of an array along an axis is 0, 1, 2, ..."""
    if not _is_known(i, 0):
        return False
    module = HloModule("known")
    entry = module.add_computation("known", entry=True)
    made: dict[HloInstruction, HloInstruction] = {}

    def copied(one: HloInstruction) -> HloInstruction:
        if one not in made:
            operands = [copied(o) for o in one.operands]
            made[one] = entry.add(
                one.opcode, one.shape, operands, one.attributes, payload=one.payload
            )
        return made[one]

    entry.set_root(copied(i))
    found = np.moveaxis(np.asarray(evaluate(module)), axis, -1)
    return found.shape[-1:] == (count,) and bool(np.all(found == np.arange(count)))


def _is_known(i: HloInstruction, depth: int) -> bool:
    if i.opcode.name in ("constant", "iota"):
        return True
    if i.called:
        return False
    known = bool(i.operands) and depth < _DEEPEST
    return known and all(_is_known(one, depth + 1) for one in i.operands)
