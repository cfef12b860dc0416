"""Loads and stores whose lanes are strided: whole registers are loaded, then shuffled.

Squares: the array is contiguous along an unrolled axis instead of the vector axis; registers are
transposed. Runs: lanes have known distances within two registers, for example every second element.
Packed pairs: two bf16 in a 32-bit word.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.definitions import Metadata
from xla_explorer.compiler.codegen.ir.marks import NONTEMPORAL, metadata_definitions
from xla_explorer.compiler.codegen.ir.types import BF16 as BF16_LANES
from xla_explorer.compiler.codegen.ir.values import Integer, Scalar, Value
from xla_explorer.compiler.codegen.lowering.elements import element_of, parts_of
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.hlo.analysis.indexing import (
    ZERO,
    Axis,
    IndexExpression,
    Substitution,
    index,
)


def unpacked_pairs(b: Builder, words: Value[Integer]) -> list[Value]:
    """Return the even and the odd elements of words.

    A bf16 is the upper half of an f32, so conversion takes a shift or a mask.
    """
    t = BF16_LANES.of_lanes(words.type.lanes)
    return [b.emit("trunc", t, (words,)), b.emit("trunc", t, (words >> 16,))]


def packed_pairs_of(b: Builder, even: Value, odd: Value) -> Value[Integer]:
    """Return words of even and odd elements, the inverse of `unpacked_pairs`."""
    low, high = [b.convert("zext", b.to_bits(x), "i32") for x in (even, odd)]
    return low | (high << 16)


def places_in_run(offset: IndexExpression, vector: Axis, point: Point) -> list[int] | None:
    """Return the distances of lanes from the first if they are known and within two registers."""
    here: Substitution = {axis: index(step) for axis, step in point.items()}
    first = offset.substitute({**here, vector: ZERO})
    places = []
    for lane in range(vector.extent):
        apart = offset.substitute({**here, vector: index(lane)}) - first
        if apart.terms:
            return None
        places.append(apart.constant)
    return places if max(places) - min(places) < 2 * vector.extent else None


def permuted(b: Builder, run: Scalar, places: Sequence[int]) -> Scalar:
    """Return lanes of a run of elements, by number."""
    parts = [part if part.type.lanes > 1 else b.splat(part, 2) for part in parts_of(run)]
    return element_of([b.shuffle(part, part, places) for part in parts])


def transposed(b: Builder, rows: Sequence[Scalar]) -> list[Scalar]:
    """Return the columns of a square of elements, whose rows are registers."""
    parts = [_square(b, list(part)) for part in zip(*[parts_of(x) for x in rows], strict=True)]
    return [element_of(column) for column in zip(*parts, strict=True)]


def _square(b: Builder, rows: list[Value]) -> list[Value]:
    """Exchange blocks off the diagonal, then inside of the blocks, down to single elements."""
    side = len(rows)
    half = side // 2
    while half:
        first = [k if not k & half else side + k - half for k in range(side)]
        second = [k + half if not k & half else side + k for k in range(side)]
        for i in [i for i in range(side) if not i & half]:
            rows[i], rows[i | half] = [
                b.shuffle(rows[i], rows[i | half], lanes) for lanes in (first, second)
            ]
        half //= 2
    return rows


def metadata_of(nest: LoopNest) -> tuple[Metadata, ...]:
    """Return the definitions of metadata that the code of a nest uses."""
    return metadata_definitions([NONTEMPORAL] if any(a.streamed for a in nest.arrays) else [])
