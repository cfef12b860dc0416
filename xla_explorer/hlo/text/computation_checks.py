"""Checks of a computation, made while or after its instructions are read.

Each raises TextError with its place.
"""

from __future__ import annotations

import re

from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.lexical import KEYWORDS, PRIVATE_NAME, RESERVED, skip_blank


def refuse_duplicate(text: str, at: int, name: str, first: HloInstruction) -> None:
    """Raise TextError for a second instruction with one name."""
    found = re.compile(r"(?:ROOT\s+)?(%?[^\s=]+)").match(text, skip_blank(text, at))
    place = found.start(1) if found else at
    raise TextError(
        f"instruction already exists: {name}",
        place,
        f"rename one of the two; the first is defined in line {first.line}",
        len(name),
    )


def control_predecessor(
    names: dict[str, HloInstruction], i: HloInstruction, name: str, at: int
) -> HloInstruction:
    """Return the control predecessor with a name; TextError if it is not defined above."""
    found = names.get(name)
    if found is None or found is i:
        raise TextError(
            f"instruction '{name}' is not defined",
            at,
            "control predecessors are defined above, in the same computation",
            len(name),
        )
    return found


def _place(text: str, i: HloInstruction, pattern: str) -> int:
    """Return the offset of a pattern in (or after) the line of an instruction."""
    at = 0
    for _ in range(i.line - 1):
        at = text.find("\n", at) + 1
    found = re.compile(pattern).search(text, at)
    return found.start(1) if found else at


def check_parameters(text: str, parameters: list[HloInstruction]) -> None:
    """Check that the parameter numbers are 0, 1, 2 ..., each once."""
    if [p.payload for p in parameters] == list(range(len(parameters))):
        return
    seen: dict[int, HloInstruction] = {}
    for p in parameters:
        if p.payload in seen:
            raise TextError(
                f"Duplicate parameter number {p.payload}",
                _place(text, p, rf"{re.escape(p.name)}\s*=[^\n]*?parameter\(\s*(\d)"),
                f"{seen[p.payload].name} in line {seen[p.payload].line} has this number; "
                "parameters count 0, 1, 2 ...",
            )
        seen[p.payload] = p
    for number, p in sorted(seen.items()):
        if number >= len(parameters):
            missing = next(k for k in range(number) if k not in seen)
            raise TextError(
                f"parameter {missing} is missing",
                _place(text, p, rf"{re.escape(p.name)}\s*=[^\n]*?parameter\(\s*(\d)"),
                f"parameters count 0, 1, 2 ...: there is parameter {number} but no parameter "
                f"{missing}",
            )


def check_reserved(text: str, names: dict[str, HloInstruction]) -> None:
    """Check that no instruction has a reserved name."""
    for name, i in names.items():
        if PRIVATE_NAME.match(name):
            at = _place(text, i, rf"(%?{re.escape(name)})\s*=")
            hint = f"XLA keeps such names for itself; rename it to a{name[1:]}"
            raise TextError(f"illegal instruction name: {name}", at, hint, len(name))
        if name in RESERVED:
            at = _place(text, i, rf"(%?{re.escape(name)})\s*=")
            if name not in KEYWORDS or not text.startswith("%", at):
                raise TextError(
                    f"{name} is a reserved word, not a name",
                    at,
                    f"rename it, for example to {name}_",
                    len(name),
                )
