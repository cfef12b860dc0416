"""Rows of many steps, each stored once: what changes from step to step is a version of a slot, what stays is not repeated.

A slot is what keeps its identity over the passes: an instruction's line, a node, an edge. It has a
row, and from which step on another row stands for it. A step is a sequence of slots, written as
what it takes over from the sequence of the step before, and what is new (`SlotSequence`); a pass
that changes the rows of many slots leaves the sequence as it is. Rows travel by columns: numbers as
differences, words that occur often as indices into a table. The script has the inverses, in
`assets/pools.js`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Listed
from itertools import zip_longest
from typing import Any, TypedDict

SlotSequence = list[int]
"""Pairs (distance, count). count > 0: so many slots of the sequence before, beginning `distance` behind where the last such pair ended.
count < 0: so many slots of the pool, beginning `distance` behind where the last such pair ended."""


def as_it_is(value: Any) -> Any:
    """The value."""
    return value


_STRETCH = 24


def _taken_over(slots: list[int], before: list[int]) -> SlotSequence:
    """A sequence of slots as what it takes over from the one before and what is new."""
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
            count = _as_long_as_equal(slots, k, before, place)
            k += count
            out += [place - old_end, count]
            old_end = place + count
    return out


def _as_long_as_equal(a: list[int], i: int, b: list[int], j: int) -> int:
    """How many elements from `a[i]` and from `b[j]` on are equal; whole stretches are compared at once."""
    count, stretch, most = 0, _STRETCH, min(len(a) - i, len(b) - j)
    while count < most and a[i + count : i + count + stretch] == b[j + count : j + count + stretch]:
        count, stretch = count + stretch, 2 * stretch
    while (
        count < most and a[i + count : i + count + _STRETCH] == b[j + count : j + count + _STRETCH]
    ):
        count += _STRETCH
    while count < most and a[i + count] == b[j + count]:
        count += 1
    return min(count, most)


class PackedColumn(TypedDict, total=False):
    """One field of many rows, in one of five forms.

    `differences` of numbers, each from the one before, null where there is none. `at`: indices into
    `words`. `stems` and the `numbers` behind them, each as the difference from the number that its
    stem had before. `texts` with a % for every name of `names`; `uses` are the indices of these: of
    a text's first name from that of the text before, of its others from its first. Else the
    `values`.
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
    slot; the rows of a slot stand side by side. columns: a column for each field of the rows.
    """

    slots: int
    versions: list[int]
    columns: list[PackedColumn]


class Pool:
    """Slots in the order in which they were first seen.

    key: what a row keeps over the steps; steps come in rising order.
    """

    def __init__(self, key: Callable[[Any], Any]) -> None:
        self.slots: list[list[Any]] = []
        """[row, step, row, step, row ...]: the first row, and from which step on another one stands for it"""
        self._key = key
        self._at: dict[Any, int] = {}
        self._taken: set[int] = set()
        """The slots that rows of this step have."""
        self._same: dict[int, int] = {}
        """By its Python id the slot of the row that it has now: rows that stay the same object over the steps, as most do, are not looked
        at."""
        self._before: list[int] = []
        self._rows: Listed[Any] = ()

    def sequence(self, rows: Listed[Any], step: int) -> SlotSequence:
        """The slots of `rows`, which are those of `step`."""
        if rows is self._rows:
            return [0, len(rows)] if rows else []
        self._rows = rows
        found: list[Any] = list(map(self._same.get, map(id, rows)))
        if None in found:
            self._taken = set(found)
            for k in [k for k, at in enumerate(found) if at is None]:
                found[k] = at = self._slot(rows[k], step)
                self._taken.add(at)
        out = _taken_over(found, self._before)
        self._before = found
        return out

    def _slot(self, row: Any, step: int) -> int:
        """The slot of a row that no slot has now: where an equal one is, another version of it, or a new slot."""
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

    def packed(self, clean: Callable[[Any], Any] = as_it_is) -> PackedPool:
        """All slots, by columns."""
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


def column(values: Listed[Any], clean: Callable[[Any], Any] = as_it_is) -> PackedColumn:
    """The values of one field of many rows, as short as is simple.

    clean: applied to every value, before texts are taken apart.
    """
    kinds = set(map(type, values))
    if int in kinds and kinds <= {int, type(None)}:
        return PackedColumn(differences=_differences(values))
    if not kinds <= {str, type(None)}:
        return _table(list(map(clean, values)), list(map(repr, values)))
    if clean is not as_it_is:
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
    """`add.12` is (`add.`, 12): a number is written as Python and JavaScript write it, and is exact in both."""
    stem = text.rstrip("0123456789")
    digits = text[len(stem) :][-_MOST_DIGITS:].lstrip("0") or text[len(stem) :][-1:]
    return (text[: len(text) - len(digits)], int(digits)) if digits else (text, None)


def _table(values: Listed[Any], keys: Listed[Any]) -> PackedColumn:
    """`words` where they are few, else the values. keys: what tells the values apart."""
    words = dict(zip(keys, values, strict=True))
    if len(words) * 3 > len(values):
        return PackedColumn(values=list(values))
    number = {key: k for k, key in enumerate(words)}
    return PackedColumn(words=list(words.values()), at=[number[key] for key in keys])


_MOST_DIGITS = 15
_NAME = re.compile(r"%([\w.-]*)", re.ASCII)  # of which `split` keeps the names


def _sentences(values: Listed[str], text: str) -> PackedColumn:
    """Lines with names of instructions in them: the lines without the names, and the names, each of which is written once."""
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


def by_id(row: Any) -> Any:
    """A node, a group, or an alias: its first field."""
    return row[0]


def by_ends(row: Any) -> Any:
    """An edge: its ends and its kind."""
    return row[1], row[0], row[2]


def by_instruction(row: Any) -> Any:
    """A printed line: the instruction that it prints, else its text."""
    return row[0] if row[1] is None else row[1]


PICTURE_KEYS: dict[str, Callable[[Any], Any]] = {
    "nodes": by_id,
    "edges": by_ends,
    "groups": by_id,
    "aliases": by_id,
}
