"""Custom calls of foreign functions in this process, as native code calls them.

A record is a row of words for compiled code: the handlers of the stages of each run, the call frame
(`XLA_FFI_CallFrame`), a word for a handler's returned error, and the frame's buffers.
"""

from __future__ import annotations

from typing import Protocol

from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.evaluator.registry import custom_call_function
from xla_explorer.hlo.instruction import HloInstruction

FOREIGN = "xla_explorer.foreign"
"""Frontend attribute of a foreign call: shapes passed to the function, `(operands)->result`."""

# Words of a record.
FIRST_HANDLER, FRAME, ANSWER, FIRST_BUFFER = 0, 3, 4, 5
STAGES = (1, 2, 3)
"""Numbers of the stages with handlers in a record: prepare, initialize, execute; 0 for no handler.
"""
# Offsets in the structures of XLA's `c_api.h`, in bytes.
FRAME_STAGE, FRAME_FUTURE, BUFFER_DATA = 32, 168, 24


class ForeignRecord(Protocol):
    """A record that one run at a time uses. address: of its words."""

    address: int

    def finish(self) -> None:
        """Raise the error that a handler returned; else run the remaining stages."""


class ForeignFunction(Protocol):
    """The meaning of a custom call (see `evaluates_custom_call`) that native code can call."""

    def record(self, i: HloInstruction) -> ForeignRecord:
        """Return a new record of a call."""


def foreign_shapes(i: HloInstruction) -> str | None:
    """Return the shapes passed to a foreign function; None for any other instruction."""
    if i.opcode.name != "custom-call":
        return None
    return frontend_attribute_values(str(i.attributes.get("frontend_attributes") or "")).get(
        FOREIGN
    )


def in_place_operands(i: HloInstruction) -> dict[int, int]:
    """Return the operand number -> the number of the result that aliases it."""
    aliases = i.attributes.get("output_to_operand_aliasing") or ()
    return {a.operand_number: a.output_index[0] if a.output_index else 0 for a in aliases}


def foreign_function(i: HloInstruction) -> ForeignFunction | None:
    """Return the foreign function of a call in this process, else None."""
    if foreign_shapes(i) is None:
        return None
    meaning = custom_call_function(custom_call_target(i))
    return meaning if hasattr(meaning, "record") else None
