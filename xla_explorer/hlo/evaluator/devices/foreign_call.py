"""Custom calls whose meaning is a foreign function in this process: how native code calls it, without the evaluator.

A record is a row of words by which compiled code finds what it needs: the handlers of the stages that come with each run, the frame that
they are given (`XLA_FFI_CallFrame`), a place for what a handler returned, and the frame's buffers.
"""

from __future__ import annotations

from typing import Protocol

from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.evaluator.registry import custom_call_function
from xla_explorer.hlo.instruction import HloInstruction

FOREIGN = "xla_explorer.foreign"
"""The frontend attribute of a call of a foreign function: the shapes that the function is told, `(operands)->result`."""

# Words of a record.
FIRST_HANDLER, FRAME, ANSWER, FIRST_BUFFER = 0, 3, 4, 5
STAGES = (1, 2, 3)
"""Numbers of the stages whose handlers stand in a record: prepare, initialize, execute. The word of a stage without a handler is 0."""
# Offsets in the structures of XLA's `c_api.h`, in bytes.
FRAME_STAGE, FRAME_FUTURE, BUFFER_DATA = 32, 168, 24


class ForeignRecord(Protocol):
    """A record that one run at a time uses. address: of its words."""

    address: int

    def finish(self) -> None:
        """Called where a handler returned something: raise its error; else run the stages that are left."""


class ForeignFunction(Protocol):
    """A meaning of a custom call (see `evaluates_custom_call`) that native code can call."""

    def record(self, i: HloInstruction) -> ForeignRecord:
        """A new record of a call."""


def foreign_shapes(i: HloInstruction) -> str | None:
    """The shapes that a foreign function is told; None where the instruction calls none."""
    if i.opcode.name != "custom-call":
        return None
    return frontend_attribute_values(str(i.attributes.get("frontend_attributes") or "")).get(
        FOREIGN
    )


def in_place_operands(i: HloInstruction) -> dict[int, int]:
    """Number of an operand -> number of the result that has its memory."""
    aliases = i.attributes.get("output_to_operand_aliasing") or ()
    return {a.operand_number: a.output_index[0] if a.output_index else 0 for a in aliases}


def foreign_function(i: HloInstruction) -> ForeignFunction | None:
    """The function that a call of a foreign function finds in this process; None where there is none, or the call is of another kind."""
    if foreign_shapes(i) is None:
        return None
    meaning = custom_call_function(custom_call_target(i))
    return meaning if hasattr(meaning, "record") else None
