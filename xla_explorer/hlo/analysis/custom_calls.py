"""What a custom call says of itself."""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction

PAD_TO_STATIC = "PadToStatic"


def custom_call_target(i: HloInstruction) -> str:
    """The target of a custom call, "" of any other instruction."""
    return (
        str(i.attributes.get("custom_call_target", "")).strip('"')
        if i.opcode.name == "custom-call"
        else ""
    )


def is_pad_to_static(i: HloInstruction) -> bool:
    """Return whether an instruction takes a dynamic array apart: `(f32[8], s32[]) custom-call(f32[<=8] x)` with the target PadToStatic."""
    return custom_call_target(i) == PAD_TO_STATIC


def is_padded_parameter(i: HloInstruction) -> bool:
    """Return whether an instruction is a dynamic parameter of the entry which nothing but PadToStatic reads.

    In memory, the sizes of its dimensions follow the array up to its bounds.
    """
    if i.opcode.name != "parameter" or not i.parent.is_entry or i.is_root or not i.users:
        return False
    return (
        i.shape.is_array
        and any(i.shape.dynamic)
        and all(is_pad_to_static(user) for user in i.users)
    )
