"""What an instruction's `backend_config` says where it is JSON."""

from __future__ import annotations

import json
from typing import Any

from xla_explorer.hlo.instruction import HloInstruction


def json_config(i: HloInstruction) -> dict[str, Any]:
    """The object; empty when there is none, or it is not a JSON object."""
    text = i.attributes.get("backend_config")
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
