"""Custom calls with XLA FFI handlers: the record through which compiled code calls them.

A record is an array of 64-bit words that compiled code reads. Its first words are the handlers of
the three stages that each run calls. The next ones are the address of the call frame
(`XLA_FFI_CallFrame`), the error that a handler returns, and the addresses of the frame's buffers.
`frontends/foreign_calls` makes the records; kernels that call handlers rely on the layout below.
"""

from __future__ import annotations

from typing import Protocol

from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.evaluator.registry import custom_call_function
from xla_explorer.hlo.instruction import HloInstruction

FOREIGN = "xla_explorer.foreign"
"""Frontend attribute with the shapes that the handler receives: `(operands)->result`."""

# Indices of the words of a record. ANSWER: the error that a handler returned, 0 for success.
FIRST_HANDLER, FRAME, ANSWER, FIRST_BUFFER = 0, 3, 4, 5
STAGES = (1, 2, 3)
"""Stages of a record's first words: prepare, initialize, execute. A word 0 means no handler."""
# Offsets of fields in the structures of XLA's `ffi/api/c_api.h`, in bytes.
FRAME_STAGE, FRAME_FUTURE, BUFFER_DATA = 32, 168, 24


class ForeignRecord(Protocol):
    """A record, which only one run may use at a time. address: of its first word."""

    address: int

    def finish(self) -> None:
        """Raise the error that a handler returned, or run the remaining stages."""


class ForeignFunction(Protocol):
    """The evaluator's function of a custom call whose handler compiled code can call directly."""

    def record(self, i: HloInstruction) -> ForeignRecord:
        """Return a new record for a custom call."""


def foreign_shapes(i: HloInstruction) -> str | None:
    """Return the shapes that the handler of a custom call receives; None without a handler."""
    if i.opcode.name != "custom-call":
        return None
    return frontend_attribute_values(str(i.attributes.get("frontend_attributes") or "")).get(
        FOREIGN
    )


def in_place_operands(i: HloInstruction) -> dict[int, int]:
    """Return {operand number: number of the result that aliases it}."""
    aliases = i.attributes.get("output_to_operand_aliasing") or ()
    return {a.operand_number: a.output_index[0] if a.output_index else 0 for a in aliases}


def foreign_function(i: HloInstruction) -> ForeignFunction | None:
    """Return the function of a custom call with a handler in this process, else None."""
    if foreign_shapes(i) is None:
        return None
    meaning = custom_call_function(custom_call_target(i))
    return meaning if hasattr(meaning, "record") else None
