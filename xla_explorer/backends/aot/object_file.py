"""Contents of an object file: sizes of its sections, and its undefined symbols.

Source: System V ABI, chapter "Object Files" (ELF); WebAssembly specification 2.0, section 5.5
(binary format of modules).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from xla_explorer.backends.llvm.target_machine import llvm

_ELF, _WASM = b"\x7fELF", b"\0asm"
_SYMBOL_TABLE, _NO_BITS, _NOTE = 2, 8, 7
_ALLOCATED, _EXECUTABLE = 2, 4
_WASM_IMPORTS, _WASM_CODE, _WASM_DATA = 2, 10, 11
_WASM_FUNCTION, _WASM_TABLE, _WASM_GLOBAL = 0, 1, 3


class SectionSize(NamedTuple):
    """Size of a section. kind: `text` (code), `data` (constants) or `bss` (zeroed memory)."""

    name: str
    kind: str
    bytes: int


def section_sizes(data: bytes) -> list[SectionSize]:
    """Return the sections that are in memory at run time.

    Symbol tables, relocations and notes are not.
    """
    if data[:4] == _ELF:
        return list(_elf_sizes(data))
    if data[:4] == _WASM:
        kinds = {_WASM_CODE: ("CODE", "text"), _WASM_DATA: ("DATA", "data")}
        return [
            SectionSize(*kinds[section], size)
            for section, _, size in _wasm_sections(data)
            if section in kinds
        ]
    return list(_other_sizes(data))


def all_sections(data: bytes) -> dict[str, int]:
    """Return the name and the size in bytes of every section, as LLVM reads them."""
    sections = llvm(all_targets=True).ObjectFileRef.from_data(data).sections()
    return {
        name.decode("ascii", "replace"): section.size()
        for section in sections
        if (name := section.name())
    }


def undefined_symbols(data: bytes) -> list[str]:
    """Return the undefined functions and data of an object, sorted.

    ELF and wasm; [] for other formats, whose linkers report undefined symbols.
    """
    if data[:4] == _ELF:
        return sorted(_undefined_in_elf(data))
    if data[:4] == _WASM:
        return sorted(_imported_by_wasm(data))
    return []


class _ElfSection(NamedTuple):
    """The fields of a section header, in their order."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


def _text_at(data: bytes, start: int) -> str:
    return data[start : data.index(0, start)].decode()


def _elf_sections(data: bytes) -> tuple[list[_ElfSection], int]:
    """Return (section headers, number of the section of their names) of an ELF file.

    The file is little-endian, of 32 or 64 bits.
    """
    wide = data[4] == 2
    table = struct.unpack_from("<Q" if wide else "<I", data, 40 if wide else 32)[0]
    entry_size, count, names = struct.unpack_from("<HHH", data, 58 if wide else 46)
    header = "<IIQQQQIIQQ" if wide else "<10I"
    return [
        _ElfSection(*struct.unpack_from(header, data, table + k * entry_size)) for k in range(count)
    ], names


def _elf_sizes(data: bytes) -> Iterator[SectionSize]:
    sections, names = _elf_sections(data)
    for section in sections:
        if section.flags & _ALLOCATED and section.size and section.kind != _NOTE:
            kind = (
                "bss"
                if section.kind == _NO_BITS
                else "text"
                if section.flags & _EXECUTABLE
                else "data"
            )
            yield SectionSize(
                _text_at(data, sections[names].offset + section.name), kind, section.size
            )


def _undefined_in_elf(data: bytes) -> set[str]:
    sections, _ = _elf_sections(data)
    place_of_section = 6 if data[4] == 2 else 14  # in a symbol
    found: set[str] = set()
    for table in sections:
        if table.kind != _SYMBOL_TABLE:
            continue
        for at in range(table.offset, table.offset + table.size, table.entry_size):
            name, defined_in = (
                struct.unpack_from("<I", data, at)[0],
                struct.unpack_from("<H", data, at + place_of_section)[0],
            )
            if defined_in == 0 and name:
                found.add(_text_at(data, sections[table.link].offset + name))
    return found - {"_GLOBAL_OFFSET_TABLE_", ".TOC."}  # the linker makes these


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return an unsigned LEB128 number, and the position after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def _wasm_sections(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield (number, position, size) of each section."""
    at = 8
    while at < len(data):
        section, at = _number(data, at)
        size, at = _number(data, at)
        yield section, at, size
        at += size


def _imported_by_wasm(data: bytes) -> set[str]:
    """List the functions in the import section; every object imports memory and table."""
    found: set[str] = set()
    for section, at, _ in _wasm_sections(data):
        if section != _WASM_IMPORTS:
            continue
        count, at = _number(data, at)
        for _ in range(count):
            length, at = _number(data, at)  # of the module's name
            length, at = _number(data, at + length)
            name, at = data[at : at + length].decode(), at + length
            kind, at = data[at], at + 1
            if kind == _WASM_FUNCTION:
                found.add(name)
                _, at = _number(data, at)
            elif kind == _WASM_GLOBAL:  # type and mutability
                at += 2
            else:  # a table's element type; then limits, with or without an upper one
                limits, at = _number(data, at + (kind == _WASM_TABLE))
                for _ in range(1 + (limits & 1)):
                    _, at = _number(data, at)
    return found


def _other_sizes(data: bytes) -> Iterator[SectionSize]:
    """Return the sections of Mach-O and COFF, by LLVM's flag of code and by common names."""
    for section in llvm(all_targets=True).ObjectFileRef.from_data(data).sections():
        name = (section.name() or b"").decode("ascii", "replace")
        is_data = any(part in name for part in ("const", "data", "cstring", "literal"))
        kind = (
            "text" if section.is_text() else "bss" if "bss" in name else "data" if is_data else ""
        )
        if kind and section.size():
            yield SectionSize(name, kind, section.size())
