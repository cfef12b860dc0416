"""What a custom call says of itself."""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction


def custom_call_target(i: HloInstruction) -> str:
    """The target of a custom call, "" of any other instruction."""
    return str(i.attributes.get("custom_call_target", "")).strip('"') if i.opcode.name == "custom-call" else ""
