"""Loads, and stores, of neighbouring elements in one block of a kernel as one access of up to 16 bytes.

LLVM has a pass for it (its load-store vectoriser), but what runs before turns sums in addresses into bit operations where it can, element
by element, and then nobody sees that they are neighbours. Here addresses are still the sums that the emitters wrote: linear forms of
values with constant factors. An address whose factors and constant are multiples of the width is aligned, as arguments are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.in_order_builder import InOrderBuilder
from xla_explorer.compiler.codegen.ir.records import INVARIANT, Instruction, Phi
from xla_explorer.compiler.codegen.ir.types import I64, Type
from xla_explorer.compiler.codegen.ir.values import Value

WIDEST = 16  # bytes
_NARROWEST = 32  # bits: of shorter elements LLVM makes single accesses again, and then joins them itself
_SUMS = frozenset({"add", "sub", "mul", "shl"})
_PURE = frozenset({"udiv", "sdiv", "urem", "srem", "and", "or", "xor", "lshr", "ashr", "zext", "sext", "trunc", "select", "icmp"})


class _Form(NamedTuple):
    """Sum of factor x value, plus a constant. terms: (value, factor), sorted."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    def plus(self, other: _Form, factor: int = 1) -> _Form:
        """self + factor * other."""
        total = dict(self.terms)
        for value, times in other.terms:
            total[value] = total.get(value, 0) + factor * times
        return _Form(tuple(sorted((v, t) for v, t in total.items() if t)), self.constant + factor * other.constant)


class _Element(NamedTuple):
    """One access. value: what is loaded or stored."""

    place: int
    value: Value
    address: Value


_Elements = dict[int, list[_Element]]  # by the constant of the address
_Groups = dict[tuple[Type, str, tuple[tuple[str, int], ...]], _Elements]  # by type, argument, terms of the address
_Change = dict[int, list[Instruction]]  # what a record becomes


class _Values:
    """Linear forms and names for what is the same."""

    def __init__(self) -> None:
        self._forms: dict[str, _Form] = {}
        self._same: dict[str, str] = {}  # name -> the first that was computed alike
        self._computed: dict[tuple[object, ...], str] = {}

    def form(self, value: Value) -> _Form:
        """Of a number, or of what is computed."""
        name = value.name
        if value.is_constant and value.type is I64:
            return _Form((), int(name))
        return self._forms.get(name) or _Form(((self._same.get(name, name), 1),), 0)

    def define(self, result: Value, record: Instruction) -> None:
        """A record of the kernel."""
        op, operands = record.op, record.operands
        linear = op in _SUMS and result.type is I64
        if linear:
            left, right = self.form(operands[0]), self.form(operands[1])
            if op in ("add", "sub"):
                self._forms[result.name] = left.plus(right, 1 if op == "add" else -1)
                return
            if op == "mul" and not left.terms:
                left, right = right, left
            if not right.terms and 0 <= right.constant < (63 if op == "shl" else 1 << 62):
                self._forms[result.name] = _Form((), 0).plus(left, right.constant if op == "mul" else 1 << right.constant)
                return
        if linear or op in _PURE or (op == "call" and not operands):  # such calls read numbers of the launch
            key = (op, result.type, record.detail, *[self.form(o) for o in operands])
            self._same[result.name] = self._computed.setdefault(key, result.name)


def widen_accesses(b: InOrderBuilder) -> None:
    """Join loads where they read what nobody writes, and stores where nothing else happens in between."""
    values = _Values()
    addresses: dict[str, tuple[str, str, _Form]] = {}
    changes: _Change = {}
    loads: _Groups = {}
    stores: _Groups = {}
    for place, record in enumerate(b.records):
        if isinstance(record, str):  # another block begins, or something that no record describes
            _join(loads, _join_loads, changes)
            _join(stores, _join_stores, changes)
        elif isinstance(record, Phi):
            continue
        elif record.op == "store" and "!" not in record.detail:  # no metadata
            _note(stores, addresses, _Element(place, *record.operands))
        elif record.result is None:
            _join(stores, _join_stores, changes)
        elif record.op == "load" and record.operands[0].type.space == 1:
            if record.detail.endswith(INVARIANT):
                _note(loads, addresses, _Element(place, record.result, *record.operands))
            else:
                _join(stores, _join_stores, changes)
        elif record.op == "getelementptr":
            pointer, at = record.operands
            if pointer.type.space == 1 and pointer.name.startswith("%a"):
                addresses[record.result.name] = record.detail, pointer.name, values.form(at)
        else:
            values.define(record.result, record)
    _join(loads, _join_loads, changes)
    _join(stores, _join_stores, changes)
    if changes:
        origins = [[origin] * len(changes.get(place, "1")) for place, origin in enumerate(b.origins)]
        b.origins = list(itertools.chain.from_iterable(origins))
        b.records = [new for place, record in enumerate(b.records) for new in changes.get(place, [record])]


def _alignment(t: Type) -> str:
    return f", align {t.bits // 8 * t.lanes}"


def _note(groups: _Groups, addresses: dict[str, tuple[str, str, _Form]], element: _Element) -> None:
    known, t = addresses.get(element.address.name), element.value.type
    if known is not None and known[0] == t.text and t.lanes == 1 and t.bits >= _NARROWEST:
        groups.setdefault((t, known[1], known[2].terms), {}).setdefault(known[2].constant, []).append(element)


def _join(groups: _Groups, join: Callable[[Type, list[list[_Element]], _Change], None], changes: _Change) -> None:
    """What the records of one block's accesses become. Empties the groups."""
    for (t, _, terms), elements in groups.items():
        width = WIDEST * 8 // t.bits
        while width > 1 and len(elements) > 1:
            if all(factor % width == 0 for _, factor in terms):
                for start in [c for c in elements if c % width == 0 and all(c + k in elements for k in range(width))]:
                    join(t.of_lanes(width), [elements.pop(start + k) for k in range(width)], changes)
            width //= 2
    groups.clear()


def _lane(b: Value, k: int) -> Value:
    return b.builder.number(k, I64)


def _join_loads(t: Type, elements: list[list[_Element]], changes: _Change) -> None:
    first = elements[0][0]
    if any(e.place < first.place for element in elements for e in element):
        return  # the address of the first is not known yet where another is loaded
    wide: Value = Value(first.value.builder, t, f"{first.value.name}.wide")
    for k, element in enumerate(elements):
        for e in element:
            changes[e.place] = [Instruction(e.value, "extractelement", (wide, _lane(wide, k)), "", None)]
    changes[first.place].insert(0, Instruction(wide, "load", (first.address,), _alignment(t) + INVARIANT, None))


def _join_stores(t: Type, elements: list[list[_Element]], changes: _Change) -> None:
    if any(len(element) > 1 for element in elements):
        return  # the last of them counts
    address = elements[0][0].address
    known: Value = Value(address.builder, t, "poison")
    last = max([element[0].place for element in elements])
    made = []
    for k, (element,) in enumerate(elements):
        changes[element.place] = []
        following: Value = Value(address.builder, t, f"{address.name}.wide{k}")
        made.append(Instruction(following, "insertelement", (known, element.value, _lane(known, k)), "", None))
        known = following
    changes[last] = [*made, Instruction(None, "store", (known, address), _alignment(t), None)]
