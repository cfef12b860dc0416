"""Programs as text and as bytes, both ways.

`assemble(disassemble(code)) == code` for every program.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from xla_explorer.plugin import XlaExplorerError
from xla_explorer_npu.instruction_set import (
    OPERATION_NAMES,
    OPERATIONS,
    SPACES,
    SYMBOLS,
    TYPES,
    Address,
    Instruction,
)

MAGIC = b"NPU1"


class AssemblyError(XlaExplorerError, ValueError):
    """An invalid line of assembly. `line` counts from 1."""

    def __init__(self, line: int, problem: str, hint: str = "") -> None:
        super().__init__(f"assembly line {line}: {problem}", hint)
        self.line = line


def encode(program: Sequence[Instruction]) -> bytes:
    """Return the program as bytes: two bytes of operation and type, then the operands."""
    parts = [MAGIC, struct.pack("<I", len(program))]
    for i in program:
        parts.append(
            struct.pack("<BB", OPERATION_NAMES.index(i.operation), TYPES.index(i.element_type))
        )
        for (_, kind), value in zip(OPERATIONS[i.operation].operands, i.operands, strict=True):
            if kind == "address":
                parts.append(
                    struct.pack(
                        "<BHBq", SPACES.index(value.space), value.base, value.register, value.offset
                    )
                )
            elif kind == "ints":
                parts.append(struct.pack(f"<B{len(value)}q", len(value), *value))
            elif kind == "symbol":
                parts.append(struct.pack("<B", SYMBOLS.index(value)))
            else:
                parts.append(struct.pack("<q", value))
    return b"".join(parts)


def decode(code: bytes) -> list[Instruction]:
    """Return the instructions of encoded bytes. ValueError for other bytes."""
    if code[:4] != MAGIC:
        raise ValueError(f"no NPU program: it starts with {code[:4]!r}, not {MAGIC!r}")
    (count,), at = struct.unpack_from("<I", code, 4), 8
    program = []
    for _ in range(count):
        operation, element_type = OPERATION_NAMES[code[at]], TYPES[code[at + 1]]
        at += 2
        operands: list[object] = []
        for _, kind in OPERATIONS[operation].operands:
            if kind == "address":
                space, base, index, offset = struct.unpack_from("<BHBq", code, at)
                operands.append(Address(SPACES[space], offset, base, index))
                at += 12
            elif kind == "ints":
                length = code[at]
                operands.append(struct.unpack_from(f"<{length}q", code, at + 1))
                at += 1 + 8 * length
            elif kind == "symbol":
                operands.append(SYMBOLS[code[at]])
                at += 1
            else:
                operands.append(struct.unpack_from("<q", code, at)[0])
                at += 8
        program.append(Instruction(operation, element_type, tuple(operands)))
    return program


def listing(
    program: Sequence[Instruction], notes: dict[int, str] | None = None
) -> tuple[str, list[int | None]]:
    """Return (assembly text, HLO instruction id of each line).

    notes: comments before an instruction, by its number.
    """
    targets = sorted(
        {
            value
            for i in program
            for (_, kind), value in zip(OPERATIONS[i.operation].operands, i.operands, strict=True)
            if kind == "label"
        }
    )
    labels = {target: f"L{number}" for number, target in enumerate(targets)}
    lines: list[str] = []
    origins: list[int | None] = []
    for number, i in enumerate(program):
        if notes and number in notes:
            lines.append(f"# {notes[number]}")
            origins.append(i.origin)
        if number in labels:
            lines.append(f"{labels[number]}:")
            origins.append(None)
        words = [f"{i.operation}.{i.element_type}" if i.element_type else i.operation]
        for (name, kind), value in zip(OPERATIONS[i.operation].operands, i.operands, strict=True):
            text = (
                "x".join(map(str, value))
                if kind == "ints"
                else labels[value]
                if kind == "label"
                else str(value)
            )
            words.append(f"{name}={text}")
        lines.append("  " + " ".join(words))
        origins.append(i.origin)
    return "\n".join(lines) + "\n", origins


def disassemble(code: bytes) -> str:
    """Return the assembly text of encoded bytes."""
    return listing(decode(code))[0]


_ADDRESS = re.compile(r"(?:d\[r(\d+)\+(-?\d+)|([sa])\[(-?\d+))(?:\+i(\d+))?\]$")


def assemble(text: str) -> bytes:
    """Return encoded bytes of assembly text: an instruction or `label:` a line, `#` comments.

    AssemblyError names line and problem.
    """
    rows: list[tuple[int, str]] = []
    labels: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if line.endswith(":"):
            labels[line[:-1]] = len(rows)
        elif line:
            rows.append((number, line))
    return encode([_instruction(number, line, labels) for number, line in rows])


def _instruction(number: int, line: str, labels: dict[str, int]) -> Instruction:
    head, *words = line.split()
    operation, element_type = (head, "") if head in OPERATIONS else head.rpartition(".")[::2]
    if operation not in OPERATIONS:
        import difflib

        near = difflib.get_close_matches(operation or head, OPERATIONS, 1)
        raise AssemblyError(
            number, f"no operation {head!r}", f"did you mean {near[0]}?" if near else ""
        )
    if element_type not in TYPES:
        raise AssemblyError(
            number, f"no element type {element_type!r}", f"types: {', '.join(TYPES[1:])}"
        )
    given = dict([word.split("=", 1) for word in words if "=" in word])
    row = OPERATIONS[operation].operands
    wanted = [name for name, _ in row]
    if list(given) != wanted:
        raise AssemblyError(
            number,
            f"{operation} takes {' '.join(wanted) or 'no operands'}, got "
            f"{' '.join(given) or 'none'}",
        )
    operands: list[object] = []
    for name, kind in row:
        value = given[name]
        try:
            if kind == "address":
                found = _ADDRESS.match(value)
                if found is None:
                    raise ValueError("is no address such as d[r0+64], s[0], a[0]")
                index = int(found[5]) if found[5] is not None else 255
                operands.append(
                    Address("d", int(found[2]), int(found[1]), index)
                    if found[1] is not None
                    else Address(found[3], int(found[4]), 0, index)
                )
            elif kind == "ints":
                operands.append(tuple([int(part) for part in value.split("x")]) if value else ())
            elif kind == "symbol":
                operands.append(SYMBOLS[SYMBOLS.index(value)])
            elif kind == "label":
                operands.append(labels[value])
            else:
                operands.append(int(value))
        except (ValueError, KeyError) as problem:
            raise AssemblyError(number, f"{name}={value}: {problem}") from None
    return Instruction(operation, element_type, tuple(operands))
