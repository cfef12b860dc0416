"""Checks of an operation's indices: out of range, dropped updates, updates of one element.

A check takes an instruction, its operands and its value. A new check is one more function in
`INDEX_CHECKS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from xla_explorer.explorer.xla.number_risks import Array, Check, Finding
from xla_explorer.hlo.instruction import HloInstruction

_INDEXED: Final = frozenset({"gather", "dynamic-slice", "dynamic-update-slice", "scatter"})
_DEEPEST: Final = 6  # operations between a clamp and the gather that it is for
_CLAMPED_FIX: Final = "make the array longer (jnp.pad), or correct the index"


def indexed_sizes(i: HloInstruction) -> list[int]:
    """Return the sizes of the dimensions that an instruction indexes with values."""
    name = i.opcode.name
    if name not in _INDEXED:
        return []
    whole = i.operands[0].shape.dimensions
    if name == "gather":
        return [whole[d] for d in i.attribute("start_index_map")]
    if name == "scatter":
        return [whole[d] for d in i.attribute("scatter_dims_to_operand_dims")]
    part = (i if name == "dynamic-slice" else i.operands[1]).shape.dimensions
    return [n for n, size in zip(whole, part, strict=True) if size < n]


def slice_starts(i: HloInstruction, operands: Sequence[Array], value: Array) -> Finding | None:
    """Return the starts of a dynamic slice that XLA moves into the array."""
    name = i.opcode.name
    if name not in ("dynamic-slice", "dynamic-update-slice"):
        return None
    first = 1 if name == "dynamic-slice" else 2
    sizes = i.shape.dimensions if first == 1 else i.operands[1].shape.dimensions
    whole = i.operands[0].shape.dimensions
    starts = [int(one) for one in operands[first:]]
    moved = [
        (start, n - size, n)
        for start, size, n in zip(starts, sizes, whole, strict=True)
        if not 0 <= start <= n - size
    ]
    if not moved:
        return None
    start, most, n = moved[0]
    reason = f"start {start} of a dimension of {n} is moved to {min(max(start, 0), most)}"
    return Finding("index-out-of-range", reason, _CLAMPED_FIX, 1.0)


def gathered_places(i: HloInstruction, operands: Sequence[Array], value: Array) -> Finding | None:
    """Return the indices of a gather that XLA moves into the array."""
    if i.opcode.name != "gather":
        return None
    sizes = i.attribute("slice_sizes")
    limits = [
        (d, i.operands[0].shape.dimensions[d] - sizes[d]) for d in i.attribute("start_index_map")
    ]
    rows = _index_rows(operands[1], int(i.attribute("index_vector_dim")), len(limits))
    return _out_of_range(rows, [most for _, most in limits], "are moved to the border")


def _index_rows(indices: Array, vector: int, count: int) -> Array:
    """Return the index vectors as rows."""
    if vector == indices.ndim:
        return indices.reshape(-1, 1).astype(np.int64)
    return np.moveaxis(indices, vector, -1).reshape(-1, count).astype(np.int64)


def _out_of_range(rows: Array, most: Sequence[int], result: str) -> Finding | None:
    outside = (rows < 0) | (rows > np.asarray(most))
    if not outside.any():
        return None
    place = tuple(np.argwhere(outside)[0])
    number = int(outside.any(-1).sum())
    reason = (
        f"{number} of {len(rows)} indices are out of range and {result}, such as "
        f"{int(rows[place])} beyond {most[int(place[1])]}"
    )
    return Finding("index-out-of-range", reason, _CLAMPED_FIX, float(number))


def clamped_indices(i: HloInstruction, operands: Sequence[Array], value: Array) -> Finding | None:
    """Return the indices that a program itself moves into the range (`mode="clip"`)."""
    if value.dtype.kind not in "iu" or i.opcode.name not in ("clamp", "minimum"):
        return None
    before = operands[1] if i.opcode.name == "clamp" else operands[0]
    if before.shape != value.shape:
        return None
    moved = before.astype(np.int64) != value.astype(np.int64)
    if not moved.any() or not _is_index(i):
        return None
    index = tuple(np.argwhere(moved)[0]) if value.ndim else ()
    reason = (
        f"{int(moved.sum())} of {moved.size} indices are out of range and clamped, such as "
        f"{int(before[index])} to {int(value[index])}"
    )
    return Finding("index-out-of-range", reason, _CLAMPED_FIX, float(moved.sum()))


def _is_index(i: HloInstruction, depth: int = 0) -> bool:
    """Return True if a value is an index of a gather, a scatter or a slice."""
    if depth > _DEEPEST:
        return False
    return any(
        i in user.operands[1:]
        if user.opcode.name in _INDEXED
        else user.opcode.name not in ("while", "call", "conditional") and _is_index(user, depth + 1)
        for user in i.users
        if user.shape.is_array
    )


def scattered_updates(i: HloInstruction, operands: Sequence[Array], value: Array) -> Finding | None:
    """Return updates that are dropped, or overwritten by another of the same place."""
    if i.opcode.name != "scatter" or len(operands) != 3:
        return None
    indexed = i.attribute("scatter_dims_to_operand_dims")
    inserted, window = i.attribute("inserted_window_dims"), i.attribute("update_window_dims")
    dimensions = i.operands[0].shape.dimensions
    kept = [d for d in range(len(dimensions)) if d not in inserted]
    sizes = dict.fromkeys(range(len(dimensions)), 1)
    sizes |= {
        d: operands[2].shape[w]
        for d, w in zip(kept, window, strict=False)
        if len(kept) == len(window)
    }
    most = [dimensions[d] - sizes[d] for d in indexed]
    rows = _index_rows(operands[1], int(i.attribute("index_vector_dim")), len(indexed))
    outside = ((rows < 0) | (rows > np.asarray(most))).any(-1)
    if outside.any():
        first = rows[int(np.argmax(outside))].tolist()
        reason = (
            f"{int(outside.sum())} of {len(rows)} updates are out of range and dropped, such as "
            f"of index {first} in {i.operands[0].shape.text_without_layout}"
        )
        fix = "make the array longer (jnp.concatenate, jnp.pad), or correct the index"
        return Finding("dropped-update", reason, fix, float(outside.sum()))
    if i.to_apply.root.opcode.name != "parameter":
        return None
    twice = len(rows) - len(np.unique(rows, axis=0))
    if not twice:
        return None
    reason = f"{twice} of {len(rows)} updates are overwritten by others of the same index"
    return Finding("overwritten-update", reason, "if a sum is meant, .at[i].add(u)", float(twice))


INDEX_CHECKS: Final[tuple[Check, ...]] = (
    slice_starts,
    gathered_places,
    clamped_indices,
    scattered_updates,
)
