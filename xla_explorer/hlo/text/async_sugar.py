"""Short form of asynchronous operations: `negate-start(p)` for `async-start(p), calls=`.

The called computation holds one negate. Source: hlo_parser.cc (async wrapped opcodes),
hlo_instructions.cc HloAsyncInstruction printing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from xla_explorer.hlo.attributes import NO_ATTRIBUTES, attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction, new_instruction
from xla_explorer.hlo.opcodes import OPCODES, PARAMETER, OpcodeSpec
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.attributes.attribute_list import (
    COMMON,
    AttributeText,
    DecodedAttributes,
    FindComputation,
    decode_attributes,
)
from xla_explorer.hlo.text.errors import TextError

if TYPE_CHECKING:
    from xla_explorer.hlo.module import HloModule

_SUFFIX = ".async_computation"
_MADE_HERE = re.compile(
    re.escape(_SUFFIX) + r"(\.\d+)*$"
)  # with a number where two instructions of the text have one name
_OUTER = frozenset({*COMMON, "async_execution_thread"})


def sugared(opcode_name: str) -> tuple[str, str] | None:
    """Return (wrapped opcode, `start`, `update` or `done`) of a short opcode name, or None."""
    stem, _, step = opcode_name.rpartition("-")
    if step not in ("start", "update", "done") or stem not in OPCODES or f"{stem}-start" in OPCODES:
        return None
    if step != "start" and f"{stem}-done" in OPCODES:
        return None  # send and recv have a done of their own
    return stem, step


def begin_async(
    find: FindComputation,
    module: HloModule,
    wrapped: OpcodeSpec,
    shape: Shape | None,
    operands: tuple[HloInstruction, ...],
    items: list[AttributeText],
    opcode_at: int,
) -> tuple[OpcodeSpec, DecodedAttributes]:
    """Make the wrapped computation of `X-start`, without names.

    Return the row of async-start and its attributes.
    """
    spec = OPCODES["async-start"]
    if shape is None or not shape.is_tuple or len(shape.tuple_shapes) < 2:
        raise TextError(
            f"{wrapped.name}-start needs the shape ((operands), result, context...)",
            opcode_at,
            f"write for example: s = ((f32[4]), f32[4], s32[]) {wrapped.name}-start(p)",
            len(wrapped.name) + 6,
        )
    outer = [item for item in items if item.name in _OUTER]
    inner = [item for item in items if item.name not in _OUTER]
    try:
        decoded = decode_attributes(wrapped, inner, find)
        own = decode_attributes(OPCODES["async-update"], outer, find)
    except TextError as problem:
        if problem.at < 0:
            problem.at = opcode_at
        raise
    if wrapped.arity is not None and wrapped.arity != len(operands):
        raise TextError(
            f"{wrapped.name} expects {wrapped.arity} operands, but has {len(operands)}",
            opcode_at,
            f"{wrapped.name}: {wrapped.summary}",
            len(wrapped.name) + 6,
        )
    computation = HloComputation("", module)
    module.computations[f" {computation.id}"] = computation  # no text can refer to this name

    def add(spec: OpcodeSpec, shape: Shape, *more: Any) -> HloInstruction:
        return computation.insert(
            new_instruction(module.take_instruction_id(), "", spec, shape, *more)
        )

    parameters = tuple(
        [
            add(PARAMETER, operand.shape, (), NO_ATTRIBUTES, (), number)
            for number, operand in enumerate(operands)
        ]
    )
    computation.root = add(
        wrapped, shape.tuple_shapes[1], parameters, decoded.attributes, decoded.called
    )
    return spec, DecodedAttributes(
        attributes_of(own.attributes), (computation,), own.metadata, own.control_predecessors
    )


def name_wrapped(module: HloModule) -> None:
    """Name the computations of `begin_async` after the instructions that start them.

    The names of these instructions are final then. The short form prints no other name.
    """
    found = list(module.computations.values())
    if all(c.name for c in found):
        return
    starts = {
        i.called[0]: i.name
        for i in module.instructions()
        if i.opcode.name == "async-start" and not i.called[0].name
    }
    taken = {c.name for c in found}
    module.computations.clear()
    for computation in found:
        if computation in starts:
            stem, number = starts[computation] + _SUFFIX, 0
            while (name := f"{stem}.{number}" if number else stem) in taken:
                number += 1
            taken.add(name)
            computation.name = name
            for i in computation.instructions.values():
                what = f"param_{i.payload}" if i.opcode is PARAMETER else i.opcode.name
                i.name = module.names.unique(f"{name}.{what}")
        module.computations[computation.name] = computation


def run_on_thread(computation: HloComputation, thread: str) -> None:
    """Put a computation and what it calls on a thread, asynchronous calls apart.

    Source: hlo_instructions.cc SetThreadName.
    """
    waiting = [computation]
    while waiting:
        one = waiting.pop()
        one.execution_thread = thread
        waiting += [
            c for i in one.instructions.values() if not i.opcode.asynchronous for c in i.called
        ]


def wrapped_instruction(i: HloInstruction) -> HloInstruction | None:
    """Return the operation of an asynchronous instruction in the short form; None for others."""
    if i.opcode.name not in ("async-start", "async-update", "async-done"):
        return None
    start, steps = i, 0
    while start.opcode.name != "async-start":
        if not start.operands or steps > 1_000_000:
            return None
        start, steps = start.operands[0], steps + 1
    if not start.called or not _MADE_HERE.search(start.called[0].name):
        return None
    computation = start.called[0]
    root = computation.root
    trivial = (
        len(computation.instructions) == len(root.operands) + 1
        and root.opcode is not PARAMETER
        and [o.payload for o in root.operands] == list(range(len(root.operands)))
    )
    return root if trivial else None


def check_same_step(step: tuple[str, str], operands: tuple[HloInstruction, ...], at: int) -> None:
    """Check that `add-done` ends what `add-start` began."""
    start = operands[0] if operands else None
    while start is not None and start.opcode.name != "async-start":
        start = start.operands[0] if start.operands else None
    if start is None or not start.called:
        return  # reported by another check
    wrapped = start.called[0].root.opcode.name
    if wrapped != step[0]:
        raise TextError(
            f"Expect async wrapped opcode to be {wrapped}, but got {step[0]}",
            at,
            f"write {wrapped}-{step[1]}",
            len("-".join(step)),
        )
