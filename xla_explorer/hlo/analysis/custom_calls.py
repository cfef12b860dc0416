"""Targets of custom calls, and PadToStatic."""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction

PAD_TO_STATIC = "PadToStatic"


def custom_call_target(i: HloInstruction) -> str:
    """Return the target of a custom call, "" for any other instruction."""
    return (
        str(i.attributes.get("custom_call_target", "")).strip('"')
        if i.opcode.name == "custom-call"
        else ""
    )


def is_pad_to_static(i: HloInstruction) -> bool:
    """Return True if an instruction is PadToStatic, which splits a dynamic array.

    `(f32[8], s32[]) custom-call(f32[<=8] x)` returns the padded array and its sizes.
    """
    return custom_call_target(i) == PAD_TO_STATIC


def is_padded_parameter(i: HloInstruction) -> bool:
    """Return True if an instruction is a dynamic entry parameter read only by PadToStatic.

    In memory, the sizes of its dimensions follow the array padded to its bounds.
    """
    if i.opcode.name != "parameter" or not i.parent.is_entry or i.is_root or not i.users:
        return False
    return (
        i.shape.is_array
        and any(i.shape.dynamic)
        and all(is_pad_to_static(user) for user in i.users)
    )
