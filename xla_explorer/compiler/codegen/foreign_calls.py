"""Calls of foreign functions by their address.

The addresses of the arrays are stored in a record of the run; a helper calls the handler of each
stage.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction
from xla_explorer.compiler.codegen.ir.types import I8, I32, PTR
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.evaluator.devices.foreign_call import (
    ANSWER,
    BUFFER_DATA,
    FIRST_BUFFER,
    FIRST_HANDLER,
    FRAME,
    FRAME_FUTURE,
    FRAME_STAGE,
    STAGES,
    foreign_function,
    foreign_shapes,
)
from xla_explorer.hlo.instruction import HloInstruction

FOREIGN_CALL = "xe_foreign_call"
_WORD = 8


def is_foreign_call(i: HloInstruction) -> bool:
    """Return True for a call of a foreign function."""
    return foreign_shapes(i) is not None


def foreign_call_is_possible(i: HloInstruction, target: Target) -> Reason | None:
    """Return a refusal unless this process has the function and runs the code."""
    name = custom_call_target(i)
    if not target.abilities.calls_libraries:
        return refuse(
            "no-library",
            f"%{i.name}: code for {target.triple} calls no library",
            opcode=i.opcode.name,
        )
    if foreign_function(i) is None:
        return refuse(
            "custom-call-target",
            f"%{i.name}: this process has no foreign function {name}",
            target=name,
        )
    return None


def why_foreign_call(i: HloInstruction, target: Target) -> Reason:
    """Return the reason to record for a foreign call."""
    name = custom_call_target(i)
    return Reason(
        "foreign-function",
        f"%{i.name} calls {name}, which is registered in this process",
        {"target": name},
    )


def write_foreign_call(
    w: FunctionWriter, record: Value[Pointer], addresses: Sequence[Value[Pointer] | None]
) -> Value[Integer]:
    """Emit a call; return its status, 0 for success.

    addresses: of the operands, then of the results; None for a token.
    """
    for k, address in enumerate(addresses):
        buffer = w.load(_at(w, record, _WORD * (FIRST_BUFFER + k)), PTR)
        w.store(address or w.named("null", PTR), _at(w, buffer, BUFFER_DATA))
    return w.emit("call", I32, (record,), f"i32 @{FOREIGN_CALL}")


def _at(w: FunctionWriter, pointer: Value[Pointer], offset: int) -> Value[Pointer]:
    return w.address(pointer, I8, offset)


def foreign_call_function() -> LlvmFunction:
    """Return the helper, which passes the frame to the handler of each stage.

    The first handler that returns an error or a future ends the call with status 1.
    """
    w = FunctionWriter()
    record, null = w.named("%record", PTR), w.named("null", PTR)
    frame = w.load(_at(w, record, _WORD * FRAME), PTR)
    for k, stage in enumerate(STAGES):
        there, done, answered = [w.fresh_label(stem) for stem in ("there", "done", "answered")]
        handler = w.load(_at(w, record, _WORD * (FIRST_HANDLER + k)), PTR)
        w.branch_if(w.compare("eq", handler, null), done, there)
        w.start_block(there)
        w.store(w.number(stage, I32), _at(w, frame, FRAME_STAGE))
        w.store(null, _at(w, frame, FRAME_FUTURE))
        error = w.emit("call", PTR, (frame,), f"ptr {handler}")
        w.store(error, _at(w, record, _WORD * ANSWER))
        future = w.load(_at(w, frame, FRAME_FUTURE), PTR)
        nothing = [w.compare("eq", answer, null) for answer in (error, future)]
        w.branch_if(w.both(*nothing), done, answered)
        w.start_block(answered)
        w.return_(w.number(1, I32))
        w.start_block(done)
    w.return_(w.number(0, I32))
    return LlvmFunction(
        FOREIGN_CALL,
        ("ptr %record",),
        w.body(),
        result="i32",
        attributes=("noinline",),
    )
