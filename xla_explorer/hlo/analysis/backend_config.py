"""What an instruction's `backend_config` says: a JSON object, or the attributes of a typed foreign function call (MLIR's dictionary)."""

from __future__ import annotations

import json
import re
from typing import Any

from xla_explorer.hlo.instruction import HloInstruction

_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(true|false|-?\d+)")


def json_config(i: HloInstruction) -> dict[str, Any]:
    """The object; empty when there is none, or it is not a JSON object."""
    text = i.attributes.get("backend_config")
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def attribute(i: HloInstruction, name: str, default: int = 0) -> int:
    """A number or a truth value (as 0 or 1) of the call's attributes."""
    found = dict(_ATTRIBUTE.findall(str(i.attributes.get("backend_config") or "")))
    text = found.get(name)
    return default if text is None else int(text) if text[-1].isdigit() else int(text == "true")


def letter(i: HloInstruction, name: str, default: str) -> str:
    """An attribute of the call that holds a character code: `uplo = 76 : ui8` is `L`."""
    return chr(attribute(i, name, ord(default)))


def known_trip_count(loop: HloInstruction) -> int | None:
    """The trip count that a loop's object says, None when it says none."""
    try:
        return int(json_config(loop)["known_trip_count"]["n"])
    except (ValueError, KeyError, TypeError):
        return None
