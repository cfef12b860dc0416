"""The form of a one-hot matrix that compares indices in place of a scatter into zeros."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from xla_explorer.explorer.advice.array_forms import splat, stores_a_constant
from xla_explorer.explorer.xla.forms.changes import Chosen, changed_copy
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, attributes_of
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_DEEPEST: Final = 40  # operations between an index and its constants


def compared_one_hot(module: HloModule, chosen: Chosen = None) -> HloModule | None:
    """Compare the index of each row with a counter, in place of a scatter of a constant."""
    return changed_copy(module, one_hot_scatters(module), _compare, chosen)


def one_hot_scatters(module: HloModule) -> list[HloInstruction]:
    """Return the scatters that a comparison can replace, the largest first."""
    found = [i for i in module.instructions() if _chosen_index(i) is not None]
    return sorted(found, key=lambda i: -i.shape.byte_size)


class _ChosenIndex(NamedTuple):
    """The index of a one-hot scatter: its array, the dimension that it chooses in, and the rest.

    array: of [rows..., 1] or [rows...]. dimension: of the operand. rows: for each dimension of the
    index but the one of its vector, the dimension of the operand that it counts.
    """

    array: HloInstruction
    dimension: int
    rows: tuple[int, ...]


def _chosen_index(scatter: HloInstruction) -> _ChosenIndex | None:
    """Return the index of a scatter that writes one constant to one place of each row.

    Each dimension of the operand but one must be counted: by a column of indices 0, 1, 2, ... or by
    a batching dimension. Then no two indices are equal, and a comparison gives the same values.
    """
    if not stores_a_constant(scatter):
        return None
    into, indices, updates = scatter.operands
    off, on = splat(into), splat(updates)
    if off is None or on is None or indices.shape.element_type.name.startswith("u"):
        return None
    vector = scatter.attribute("index_vector_dim")
    kept = [d for d in range(indices.shape.rank) if d != vector]
    rows = dict(
        zip(
            scatter.attributes.value("scatter_indices_batching_dims") or (),
            scatter.attributes.value("input_batching_dims") or (),
            strict=True,
        )
    )
    index, dimension = None, -1
    columns = _columns(indices, vector)
    places = tuple(scatter.attribute("scatter_dims_to_operand_dims"))
    if columns is None or len(columns) != len(places):
        return None
    for column, place in zip(columns, places, strict=True):
        counted = [d for d in kept if counts_up(column, scatter.shape.dimensions[place], d)]
        if counted and counted[0] not in rows:
            rows[counted[0]] = place
        elif index is None:
            index, dimension = column, place
        else:
            return None
    is_whole = index is not None and sorted([*rows.values(), dimension]) == list(
        range(scatter.shape.rank)
    )
    if index is None or not is_whole or sorted(rows) != kept:
        return None
    sizes = [indices.shape.dimensions[d] == scatter.shape.dimensions[rows[d]] for d in kept]
    return _ChosenIndex(index, dimension, tuple([rows[d] for d in kept])) if all(sizes) else None


def _columns(indices: HloInstruction, vector: int) -> list[HloInstruction] | None:
    """Return the components of an array of indices, each with one element in the vector."""
    if vector >= indices.shape.rank or indices.shape.dimensions[vector] == 1:
        return [indices]
    if indices.opcode.name != "concatenate" or tuple(indices.attribute("dimensions")) != (vector,):
        return None
    return list(indices.operands)


def _compare(scatter: HloInstruction) -> bool:
    """Replace one scatter of a constant into a constant; return False for other scatters."""
    found = _chosen_index(scatter)
    if found is None:
        return False
    on, off = [splat(scatter.operands[k]) for k in (2, 0)]
    assert on is not None and off is not None
    place, numbers = scatter.parent, found.array.shape
    sizes = [scatter.shape.dimensions[d] for d in found.rows]
    flat = place.add("reshape", numbers.with_dimensions(sizes), [found.array], NO_ATTRIBUTES)
    if list(found.rows) != sorted(found.rows):
        order = sorted(range(len(sizes)), key=lambda k: found.rows[k])
        turned = numbers.with_dimensions([sizes[k] for k in order])
        flat = place.add("transpose", turned, [flat], attributes_of({"dimensions": tuple(order)}))
    whole = numbers.with_dimensions(scatter.shape.dimensions)
    rows = attributes_of({"dimensions": tuple(sorted(found.rows))})
    spread = place.add("broadcast", whole, [flat], rows)
    counted = place.add("iota", whole, [], attributes_of({"iota_dimension": found.dimension}))
    equal = place.add("compare", None, [spread, counted], attributes_of({"direction": "EQ"}))
    if (float(on.payload.array), float(off.payload.array)) == (1.0, 0.0):
        made = place.add("convert", scatter.shape, [equal], metadata=scatter.metadata)
    else:
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
