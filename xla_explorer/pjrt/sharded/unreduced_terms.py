"""The devices' terms of an unreduced result, as one array whose first dimension numbers them.

A sum over a sharded dimension is the sum of the devices' sums. So the terms of a reduce, a dot or a
scatter are the same operation on the parts. Later linear operations are applied to each term. The
terms of another value are its parts, each in its place and padded with zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from xla_explorer.compiler.rewriting.op_expander_pass import builder_at
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.pjrt.sharded.known_shardings import sharding_of
from xla_explorer.pjrt.sharded.opened_calls import LINEAR, SUMS

Box = tuple[slice, ...]
Terms = list[HloInstruction]


class _Unreduced(NamedTuple):
    """An unreduced result.

    devices: the number of all devices. combiner: the opcode that combines its terms.
    """

    sharding: Sharding
    devices: int
    combiner: str

    def number(self, device: int) -> int:
        """Return the number of a device's term."""
        return self.sharding.of_subgroup("unreduced", device)


def terms_of(
    value: HloInstruction,
    sharding: Sharding,
    count: int,
    combiner: str,
    stacked: Callable[[HloInstruction], HloInstruction | None],
) -> HloInstruction | None:
    """Return the terms of a value, the first dimension their number.

    None if the first term is the whole value. stacked: returns the terms of a parameter that has
    them already, else None.
    """
    wanted = _Unreduced(sharding, count, combiner)
    found = _terms(value, wanted, stacked) or _placed(value, wanted)
    if found is None:
        return None
    b = builder_at(value.parent)
    rows = [HloValue(b, term).reshape((1, *term.shape.dimensions)).instruction for term in found]
    return value.parent.add("concatenate", None, rows, attributes_of({"dimensions": (0,)}))


def _terms(
    value: HloInstruction,
    wanted: _Unreduced,
    stacked: Callable[[HloInstruction], HloInstruction | None],
) -> Terms | None:
    name = value.opcode.name
    if custom_call_target(value) == "Sharding":
        if "unreduced" not in value.attributes["sharding"]:
            return None  # the devices have added up
        return _terms(value.operands[0], wanted, stacked) or _placed(value.operands[0], wanted)
    if name == "get-tuple-element" and value.operands[0].opcode.name == "tuple":
        return _terms(value.operands[0].operands[value.attributes["index"]], wanted, stacked)
    if name == "parameter":
        whole = stacked(value)
        return _rows(whole) if whole is not None else None
    if name in LINEAR:
        found = _terms(value.operands[0], wanted, stacked)
        return found and [_again(value, [term]) for term in found]
    if name in SUMS and wanted.combiner == "add":
        sides = [_terms(o, wanted, stacked) for o in value.operands]
        if sides == [None, None]:
            return None
        length = max([len(side) for side in sides if side])
        given = [side or _first(o, length) for side, o in zip(sides, value.operands, strict=True)]
        return [_again(value, list(pair)) for pair in zip(*given, strict=True)]
    rule = _RULES.get(name)
    return rule(value, wanted) if rule is not None else None


def _again(i: HloInstruction, operands: Sequence[HloInstruction]) -> HloInstruction:
    """Return a copy of the instruction with other operands."""
    made = i.parent.add(
        i.opcode,
        i.shape,
        operands,
        attributes_of({k: v for k, v in i.attributes.items() if k != "sharding"}),
        called=i.called,
        metadata=i.metadata,
    )
    made.line = i.line
    return made


def _rows(whole: HloInstruction) -> Terms:
    """Return each element of the first dimension."""
    v = HloValue(builder_at(whole.parent), whole)
    return [v[k].instruction for k in range(whole.shape.dimensions[0])]


def _nothing(value: HloInstruction) -> HloInstruction:
    b = builder_at(value.parent)
    return b.broadcast_to(
        b.constant(0, value.shape.element_type), value.shape.dimensions
    ).instruction


def _first(value: HloInstruction, length: int) -> Terms:
    """Return the terms of a value that only the first term has."""
    return [value, *[_nothing(value)] * (length - 1)]


# -- which elements belong to which term -----------------------------------------------------------
def _boxes(value: HloInstruction, wanted: _Unreduced) -> list[Box] | None:
    """Return, for each term, the elements of a value that its devices have.

    None if they are not a partition of the value.
    """
    lies = sharding_of(value)
    if lies is None or not value.shape.is_array:
        return None
    sizes = value.shape.dimensions
    rows: dict[int, set[tuple[tuple[int, int], ...]]] = {}
    for device in range(wanted.devices):
        part = tuple([(s.start, s.stop) for s in lies.part(sizes, device)])
        rows.setdefault(wanted.number(device), set()).add(part)
    boxes, covered = [], 0
    for number in sorted(rows):
        dimensions = list(zip(*rows[number], strict=True))
        box = [(min(a for a, _ in d), max(b for _, b in d)) for d in dimensions]
        volume = math.prod([b - a for a, b in box])
        if sum([math.prod([b - a for a, b in part]) for part in rows[number]]) != volume:
            return None
        boxes.append(tuple([slice(a, b) for a, b in box]))
        covered += volume
    return boxes if len(boxes) > 1 and covered == math.prod(sizes) else None


def _cut(boxes: Sequence[Box], sizes: Sequence[int]) -> set[int]:
    """Return the dimensions that the terms split."""
    return {
        k
        for box in boxes
        for k, (s, n) in enumerate(zip(box, sizes, strict=True))
        if s != slice(0, n)
    }


def _part(value: HloInstruction, box: Box) -> HloInstruction:
    if not _cut([box], value.shape.dimensions):
        return value
    return HloValue(builder_at(value.parent), value)[box].instruction


def _moved(box: Box, places: dict[int, int], sizes: Sequence[int]) -> Box:
    """Return a box of another array; places: dimension of the box -> dimension of the array."""
    found = [slice(0, n) for n in sizes]
    for source, to in places.items():
        found[to] = box[source]
    return tuple(found)


def _placed(value: HloInstruction, wanted: _Unreduced) -> Terms | None:
    """Return the parts of a value, each padded with zeros."""
    boxes = _boxes(value, wanted) if wanted.combiner == "add" else None
    if boxes is None:
        return None
    b, sizes = builder_at(value.parent), value.shape.dimensions
    return [
        b.pad(
            HloValue(b, _part(value, box)),
            0,
            padding=[(s.start, n - s.stop, 0) for s, n in zip(box, sizes, strict=True)],
        ).instruction
        for box in boxes
    ]


# -- operations that add up ------------------------------------------------------------------------
def _of_reduce(i: HloInstruction, wanted: _Unreduced) -> Terms | None:
    if len(i.operands) != 2 or i.called[0].root.opcode.name != wanted.combiner:
        return None
    x, start = i.operands
    boxes = _boxes(x, wanted)
    if boxes is None or not _cut(boxes, x.shape.dimensions) <= set(
        i.attributes.get("dimensions") or ()
    ):
        return None
    starts = _first(start, len(boxes)) if wanted.combiner == "add" else [start] * len(boxes)
    return [_again(i, [_part(x, box), s]) for box, s in zip(boxes, starts, strict=True)]


def _of_dot(i: HloInstruction, wanted: _Unreduced) -> Terms | None:
    along = [tuple(i.attributes.get(f"{side}_contracting_dims") or ()) for side in ("lhs", "rhs")]
    for side in (0, 1):
        x, other = i.operands[side], i.operands[1 - side]
        boxes = _boxes(x, wanted)
        if boxes is None or not _cut(boxes, x.shape.dimensions) <= set(along[side]):
            continue
        places = dict(zip(along[side], along[1 - side], strict=True))
        found = []
        for box in boxes:
            parts = [_part(x, box), _part(other, _moved(box, places, other.shape.dimensions))]
            found.append(_again(i, parts if side == 0 else parts[::-1]))
        return found
    return None


def _of_scatter(i: HloInstruction, wanted: _Unreduced) -> Terms | None:
    """Return, for each term, its updates; the first term has the operand."""
    if len(i.operands) != 3 or i.called[0].root.opcode.name != "add" or wanted.combiner != "add":
        return None
    base, indices, updates = i.operands
    window, vector = (
        set(i.attributes.get("update_window_dims") or ()),
        i.attributes["index_vector_dim"],
    )
    of_updates = [k for k in range(updates.shape.rank) if k not in window]
    of_indices = [k for k in range(indices.shape.rank) if k != vector]
    for x, other, places in (
        (updates, indices, dict(zip(of_updates, of_indices, strict=True))),
        (indices, updates, dict(zip(of_indices, of_updates, strict=True))),
    ):
        boxes = _boxes(x, wanted)
        if boxes is None or not _cut(boxes, x.shape.dimensions) <= set(places):
            continue
        found = []
        for box, start in zip(boxes, _first(base, len(boxes)), strict=True):
            parts = [_part(x, box), _part(other, _moved(box, places, other.shape.dimensions))]
            found.append(_again(i, [start, *(parts if x is indices else parts[::-1])]))
        return found
    return None


_RULES = {"reduce": _of_reduce, "dot": _of_dot, "scatter": _of_scatter}
