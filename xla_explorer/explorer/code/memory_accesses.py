"""Loads and stores in the code of LLVM IR, PTX, and the assembly of x86 and Arm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_LLVM = re.compile(
    r"^(?:%\S+ = )?(?:tail )?(load|store|call \S+.* @llvm\.masked\.(?:load|store|gather|scatter))\b"
)
_PTX = re.compile(r"^(?:@!?%\w+ )?(ld|st|atom|red|cp\.async)\.(?!param)")
_X86_NO_ACCESS = ("lea", "nop", "prefetch", "jmp", "call")
_ARM = re.compile(r"^(ld|st)[rpn1-4]\w*\s")


class CodeAccess(NamedTuple):
    """A line of code that reads or writes memory.

    stage: of the line. what: `load`, `store`, or `load and store` of an instruction that does both.
    """

    stage: str
    what: str
    line: str


def accesses(stage: str, lines: Iterable[str]) -> Iterator[CodeAccess]:
    """Yield the lines of a stage that read or write memory, in their order."""
    for line in lines:
        text = line.strip()
        what = (
            _of_llvm(text)
            if "llvm-ir" in stage
            else _of_ptx(text)
            if stage == "ptx"
            else _of_assembly(text)
        )
        if what:
            yield CodeAccess(stage, what, text)


def _of_llvm(text: str) -> str:
    found = _LLVM.match(text)
    return (
        "" if found is None else "store" if "store" in found[1] or "scatter" in found[1] else "load"
    )


def _of_ptx(text: str) -> str:
    found = _PTX.match(text)
    return (
        ""
        if found is None
        else {"ld": "load", "st": "store", "red": "store"}.get(found[1], "load and store")
    )


def _of_assembly(text: str) -> str:
    if found := _ARM.match(text):
        return "load" if found[1] == "ld" else "store"
    opcode, _, operands = text.partition("\t") if "\t" in text else text.partition(" ")
    operands = operands.strip()
    if "(" not in operands or opcode.startswith(_X86_NO_ACCESS):
        return ""
    if not operands.endswith(")"):  # of AT&T's order the last operand is written
        return "load"
    if (
        opcode.startswith(("cmp", "test", "vucomi", "ucomi"))
        or "," not in operands.rpartition("(")[0]
    ):
        return "load"
    return "store" if "mov" in opcode or "extract" in opcode else "load and store"
