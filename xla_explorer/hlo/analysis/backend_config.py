"""`backend_config` of an instruction: a JSON object, or the MLIR attributes of a typed FFI call."""

from __future__ import annotations

import json
import re
from typing import Any

from xla_explorer.hlo.instruction import HloInstruction

_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(true|false|-?\d+)")


def json_config(i: HloInstruction) -> dict[str, Any]:
    """Return the JSON object; empty if there is none."""
    text = i.attributes.get("backend_config")
    try:
        found = json.loads(text) if isinstance(text, str) else {}
        if isinstance(found, str):  # older texts have the object in a string
            found = json.loads(found)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def attribute(i: HloInstruction, name: str, default: int = 0) -> int:
    """Return an integer or boolean (as 0 or 1) attribute of the call."""
    found = dict(_ATTRIBUTE.findall(str(i.attributes.get("backend_config") or "")))
    text = found.get(name)
    return default if text is None else int(text) if text[-1].isdigit() else int(text == "true")


def letter(i: HloInstruction, name: str, default: str) -> str:
    """Return an attribute that holds a character code: `uplo = 76 : ui8` is `L`."""
    return chr(attribute(i, name, ord(default)))


def known_trip_count(loop: HloInstruction) -> int | None:
    """Return the trip count in a loop's JSON object, or None."""
    try:
        return int(json_config(loop)["known_trip_count"]["n"])
    except (ValueError, KeyError, TypeError):
        return None
