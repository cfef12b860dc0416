"""Rows of many steps, each stored once: a slot has a version for each change of its row.

A slot is an instruction's line, a node or an edge, with the identity that it keeps over the passes.
It has a row, and further rows with the steps at which they begin. A step is a sequence of slots,
written as a difference to the sequence of the step before (`SlotSequence`). A pass that changes the
rows of many slots leaves the sequence as it is. Rows travel by columns: numbers as differences,
frequent words as indices into a table. The script has the inverses, in `assets/core/pools.js`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Listed
from itertools import zip_longest
from typing import Any, TypedDict

SlotSequence = list[int]
"""Pairs (distance, count). count > 0: copied slots of the sequence before, beginning `distance`
behind the end of the last such pair. count < 0: new slots of the pool, beginning `distance`
behind the end of the last such pair."""


def identity(value: Any) -> Any:
    """Return the value."""
    return value


_SLICE = 24


def _sequence_difference(slots: list[int], before: list[int]) -> SlotSequence:
    """Return a sequence of slots as a difference to the one before."""
    if slots == before:
        return [0, len(slots)] if slots else []
    places = dict(zip(before, range(len(before)), strict=True))
    out: SlotSequence = []
    old_end = new_end = k = 0
    while k < len(slots):
        first, place = k, places.get(slots[k])
        if place is None:
            k += 1
            while k < len(slots) and slots[k] == slots[k - 1] + 1 and slots[k] not in places:
                k += 1
            out += [slots[first] - new_end, first - k]
            new_end = slots[first] + k - first
        else:
            count = _common_length(slots, k, before, place)
            k += count
            out += [place - old_end, count]
            old_end = place + count
    return out


def _common_length(a: list[int], i: int, b: list[int], j: int) -> int:
    """Return how many elements from `a[i]` and from `b[j]` on are equal, comparing whole slices."""
    count, length, most = 0, _SLICE, min(len(a) - i, len(b) - j)
    while count < most and a[i + count : i + count + length] == b[j + count : j + count + length]:
        count, length = count + length, 2 * length
    while count < most and a[i + count : i + count + _SLICE] == b[j + count : j + count + _SLICE]:
        count += _SLICE
    while count < most and a[i + count] == b[j + count]:
        count += 1
    return min(count, most)


class PackedColumn(TypedDict, total=False):
    """One field of many rows, in one of five forms.

    - `differences` of numbers, each from the one before; null stays null.
    - `at`: indices into `words`.
    - `stems` with the `numbers` behind them, each as the difference from the last number of its
      stem.
    - `texts` with a % for every name of `names`. `uses` are the indices of the names: a text's
      first
      one relative to that of the text before, its others relative to its first.
    - `values`.
    """

    differences: list[int | None]
    words: list[Any]
    at: list[int]
    stems: PackedColumn
    numbers: list[int | None]
    texts: PackedColumn
    names: PackedColumn
    uses: list[int]
    values: list[Any]


class PackedPool(TypedDict):
    """The slots of a pool.

    versions: pairs (distance to the slot of the last pair, step) for every row but the first of a
    slot; the rows of a slot are adjacent. columns: a column for each field of the rows.
    """

    slots: int
    versions: list[int]
    columns: list[PackedColumn]


class Pool:
    """Slots in the order in which they were first seen.

    key: the identity of a row over the steps; steps come in rising order.
    """

    def __init__(self, key: Callable[[Any], Any]) -> None:
        self.slots: list[list[Any]] = []
        """[row, step, row, step, row ...]: the first row, then the steps at which others replace
        it."""
        self._key = key
        self._at: dict[Any, int] = {}
        self._taken: set[int] = set()
        """The slots that rows of this step have."""
        self._same: dict[int, int] = {}
        """The slot of each current row by its Python id; most rows stay the same object over the
        steps."""
        self._before: list[int] = []
        self._rows: Listed[Any] = ()

    def sequence(self, rows: Listed[Any], step: int) -> SlotSequence:
        """Return the slots of the rows of `step`."""
        if rows is self._rows:
            return [0, len(rows)] if rows else []
        self._rows = rows
        found: list[Any] = list(map(self._same.get, map(id, rows)))
        if None in found:
            self._taken = set(found)
            for k in [k for k, at in enumerate(found) if at is None]:
                found[k] = at = self._slot(rows[k], step)
                self._taken.add(at)
        out = _sequence_difference(found, self._before)
        self._before = found
        return out

    def _slot(self, row: Any, step: int) -> int:
        """Return the slot of a row without one: that of an equal row, a version, or a new one."""
        key, slots = self._key(row), self.slots
        at = self._at.get(key)
        while at is not None and slots[at][-1] != row:
            if at not in self._taken:
                del self._same[id(slots[at][-1])]
                slots[at] += [step, row]
                break
            key = (key,)  # two rows of one step have the same key
            at = self._at.get(key)
        if at is None:
            at = self._at[key] = len(slots)
            slots.append([row])
        self._same[id(slots[at][-1])] = at
        return at

    def packed(self, clean: Callable[[Any], Any] = identity) -> PackedPool:
        """Return all slots, by columns."""
        rows: list[Any] = []
        versions: list[int] = []
        last = 0
        for number, slot in enumerate(self.slots):
            if len(slot) == 1:
                rows.append(slot[0])
                continue
            rows += slot[::2]
            for step in slot[1::2]:
                versions += [number - last, step]
                last = number
        columns = [column(list(values), clean) for values in zip_longest(*rows)]
        return PackedPool(slots=len(self.slots), versions=versions, columns=columns)


def column(values: Listed[Any], clean: Callable[[Any], Any] = identity) -> PackedColumn:
    """Return the values of one field of many rows in the shortest of the simple forms.

    clean: applied to every value, before texts are split.
    """
    kinds = set(map(type, values))
    if int in kinds and kinds <= {int, type(None)}:
        return PackedColumn(differences=_differences(values))
    if not kinds <= {str, type(None)}:
        return _table(list(map(clean, values)), list(map(repr, values)))
    if clean is not identity:
        cleaned = {value: clean(value) for value in set(values)}
        values = list(map(cleaned.__getitem__, values))
    found = _table(values, values)
    if "words" in found or kinds != {str}:
        return found
    text = "\n".join(values)
    if "%" in text and text.count("\n") == len(values) - 1:
        return _sentences(values, text)
    parts = [_stem_and_number(value) for value in values]
    stems = _table(words := [stem for stem, _ in parts], words)
    if "words" not in stems:
        return found
    last: dict[str, int] = {}
    numbers: list[int | None] = []
    for stem, number in parts:
        numbers.append(None if number is None else number - last.get(stem, 0))
        if number is not None:
            last[stem] = number
    return PackedColumn(stems=stems, numbers=numbers)


def _stem_and_number(text: str) -> tuple[str, int | None]:
    """Split `add.12` into (`add.`, 12), whose number is exact in Python and JavaScript."""
    stem = text.rstrip("0123456789")
    digits = text[len(stem) :][-_MOST_DIGITS:].lstrip("0") or text[len(stem) :][-1:]
    return (text[: len(text) - len(digits)], int(digits)) if digits else (text, None)


def _table(values: Listed[Any], keys: Listed[Any]) -> PackedColumn:
    """Return `words` if they are few, else the values. keys: identify the values."""
    words = dict(zip(keys, values, strict=True))
    if len(words) * 3 > len(values):
        return PackedColumn(values=list(values))
    number = {key: k for k, key in enumerate(words)}
    return PackedColumn(words=list(words.values()), at=[number[key] for key in keys])


_MOST_DIGITS = 15
_NAME = re.compile(r"%([\w.-]*)", re.ASCII)  # `split` keeps the names


def _sentences(values: Listed[str], text: str) -> PackedColumn:
    """Return lines with instruction names as lines without names, and names stored once."""
    parts = _NAME.split(text)
    lines, used = "%".join(parts[::2]).split("\n"), parts[1::2]
    names = {name: number for number, name in enumerate(dict.fromkeys(used))}
    uses: list[int] = []
    first = end = 0
    for value in values:
        begin, end = end, end + value.count("%")
        if begin < end:
            before, first = first, names[used[begin]]
            uses.append(first - before)
            uses += [first - names[name] for name in used[begin + 1 : end]]
    return PackedColumn(texts=_table(lines, lines), names=column(list(names)), uses=uses)


def _differences(values: Iterable[int | None]) -> list[int | None]:
    found: list[int | None] = []
    last = 0
    for value in values:
        found.append(None if value is None else value - last)
        last = last if value is None else value
    return found


def node_key(row: Any) -> Any:
    """Return the identity of a node, a group, or an alias: its first field."""
    return row[0]


def edge_key(row: Any) -> Any:
    """Return the identity of an edge: its ends and its kind."""
    return row[1], row[0], row[2]


def line_key(row: Any) -> Any:
    """Return the identity of a printed line: its instruction, else its text."""
    return row[0] if row[1] is None else row[1]


PICTURE_KEYS: dict[str, Callable[[Any], Any]] = {
    "nodes": node_key,
    "edges": edge_key,
    "groups": node_key,
    "aliases": node_key,
}
