"""Loads, and stores, of neighbouring elements in one block of a kernel's LLVM IR as one access of up to 16 bytes.

LLVM has a pass for it (its load-store vectoriser), but what runs before turns sums in addresses into bit operations where it can, element
by element, and then nobody sees that they are neighbours. Here addresses are still the sums that the emitters wrote: linear forms of
values with constant factors. An address whose factors and constant are multiples of the width is aligned, as arguments are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.llvm_types import type_bits

WIDEST = 16  # bytes
_NARROWEST = 32  # bits: of shorter elements LLVM makes single accesses again, and then joins them itself
_DEFINITION = re.compile(r"^  (%\S+) = (.*)$")
_SUM = re.compile(r"(add|sub|mul|shl) (?:nuw |nsw )*i64 ([^ ,]+), ([^ ,]+)$")
_PURE = re.compile(r"(?:udiv|sdiv|urem|srem|and|or|xor|lshr|ashr|zext|sext|trunc|select|icmp) |call i32 @llvm\.nvvm\.read\.ptx\.sreg\.")
_ADDRESS = re.compile(r"getelementptr inbounds (\w+), ptr addrspace\(1\) (%a\d+), i64 ([^ ,]+)$")
_LOAD = re.compile(r"load (\w+), ptr addrspace\(1\) (%\S+), align \d+, !invariant\.load !0$")
_STORE = re.compile(r"  store (\w+) (\S+), ptr addrspace\(1\) (%\S+), align \d+$")
# What memory may look different to from one side to the other: stores are not moved past it.
_IN_BETWEEN = re.compile(r"atomicrmw|cmpxchg|fence|barrier| asm |@llvm\.nvvm\.(?:shfl|bar|cp|vote|mma|wgmma)|= load .*addrspace\(1\)")
_NAME = re.compile(r"%[\w.]+")


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
    """One access. name: of what is loaded or stored."""

    line: int
    name: str
    address: str


_Elements = dict[int, list[_Element]]  # by the constant of the address
_Groups = dict[tuple[str, str, tuple[tuple[str, int], ...]], _Elements]  # by type, argument, terms of the address
_Change = dict[int, list[str]]  # what a line becomes


class _Values:
    """Linear forms and names for what is the same."""

    def __init__(self) -> None:
        self._forms: dict[str, _Form] = {}
        self._same: dict[str, str] = {}  # name -> the first that was computed alike
        self._computed: dict[str, str] = {}

    def form(self, name: str) -> _Form:
        """Of a name or a number."""
        if name.lstrip("-").isdigit():
            return _Form((), int(name))
        return self._forms.get(name) or _Form(((self._same.get(name, name), 1),), 0)

    def define(self, name: str, text: str) -> None:
        """A line of the kernel."""
        if found := _SUM.match(text):
            operation, left, right = found[1], self.form(found[2]), self.form(found[3])
            if operation in ("add", "sub"):
                self._forms[name] = left.plus(right, 1 if operation == "add" else -1)
                return
            if operation == "mul" and not left.terms:
                left, right = right, left
            if not right.terms and 0 <= right.constant < (63 if operation == "shl" else 1 << 62):
                self._forms[name] = _Form((), 0).plus(left, right.constant if operation == "mul" else 1 << right.constant)
                return
        if found or _PURE.match(text):
            key = _NAME.sub(lambda n: str(self.form(n[0])), text)
            self._same[name] = self._computed.setdefault(key, name)


def with_wide_accesses(kernel: Kernel) -> Kernel:
    """The kernel with loads joined where they read what nobody writes, and stores where nothing else happens in between."""
    values = _Values()
    addresses: dict[str, tuple[str, str, _Form]] = {}
    changes: _Change = {}
    loads: _Groups = {}
    stores: _Groups = {}
    for number, line in enumerate(kernel.lines):
        if not line.startswith("  ") or line.startswith("  br "):
            _join(loads, _join_loads, changes)
            _join(stores, _join_stores, changes)
            continue
        if store := _STORE.match(line):
            _note(stores, addresses, store[3], store[1], _Element(number, store[2], store[3]))
            continue
        found = _DEFINITION.match(line)
        if found is not None and (load := _LOAD.match(found[2])):
            _note(loads, addresses, load[2], load[1], _Element(number, found[1], load[2]))
        elif found is not None and (address := _ADDRESS.match(found[2])):
            addresses[found[1]] = address[1], address[2], values.form(address[3])
        elif _IN_BETWEEN.search(line):
            _join(stores, _join_stores, changes)
        elif found is not None:
            values.define(found[1], found[2])
    _join(loads, _join_loads, changes)
    _join(stores, _join_stores, changes)
    if not changes:
        return kernel
    lines: list[str] = []
    origins: list[int | None] = []
    for number, (line, origin) in enumerate(zip(kernel.lines, kernel.origins, strict=True)):
        new = changes.get(number, [line])
        lines += new
        origins += [origin] * len(new)
    return kernel._replace(lines=tuple(lines), origins=tuple(origins))


def _note(groups: _Groups, addresses: dict[str, tuple[str, str, _Form]], pointer: str, kind: str, element: _Element) -> None:
    known = addresses.get(pointer)
    if known is not None and known[0] == kind and type_bits(kind) >= _NARROWEST:
        groups.setdefault((kind, known[1], known[2].terms), {}).setdefault(known[2].constant, []).append(element)


def _join(groups: _Groups, join: Callable[[str, int, list[list[_Element]], _Change], None], changes: _Change) -> None:
    """What the lines of one block's accesses become. Empties the groups."""
    for (kind, _, terms), elements in groups.items():
        width = WIDEST * 8 // type_bits(kind)
        while width > 1 and len(elements) > 1:
            if all(factor % width == 0 for _, factor in terms):
                for start in [c for c in elements if c % width == 0 and all(c + k in elements for k in range(width))]:
                    join(kind, width, [elements.pop(start + k) for k in range(width)], changes)
            width //= 2
    groups.clear()


def _join_loads(kind: str, width: int, elements: list[list[_Element]], changes: _Change) -> None:
    first = elements[0][0]
    if any(e.line < first.line for element in elements for e in element):
        return  # the address of the first is not known yet where another is loaded
    wide, vector = f"{first.name}.wide", f"<{width} x {kind}>"
    for k, element in enumerate(elements):
        for e in element:
            changes[e.line] = [f"  {e.name} = extractelement {vector} {wide}, i64 {k}"]
    alignment = width * type_bits(kind) // 8
    changes[first.line].insert(0, f"  {wide} = load {vector}, ptr addrspace(1) {first.address}, align {alignment}, !invariant.load !0")


def _join_stores(kind: str, width: int, elements: list[list[_Element]], changes: _Change) -> None:
    if any(len(element) > 1 for element in elements):
        return  # the last of them counts
    vector, known = f"<{width} x {kind}>", "poison"
    last = max([element[0].line for element in elements])
    lines = []
    for k, (element,) in enumerate(elements):
        changes[element.line] = []
        name = f"{elements[0][0].address}.wide{k}"
        lines.append(f"  {name} = insertelement {vector} {known}, {kind} {element.name}, i64 {k}")
        known = name
    alignment = width * type_bits(kind) // 8
    changes[last] = [*lines, f"  store {vector} {known}, ptr addrspace(1) {elements[0][0].address}, align {alignment}"]
