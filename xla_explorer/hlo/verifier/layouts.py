"""Optional checks of one instruction: layouts, memory spaces, unbounded sizes.

Source: hlo_verifier.cc.
"""

from __future__ import annotations

from functools import cache

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes.spec import Constraint
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.verifier.options import VerifierOptions

_HOST = 5  # the memory space of the host, S(5)
# Opcodes whose result may be in host memory although no operand is.
_MAY_ENTER_HOST = frozenset(
    {
        "parameter", "copy", "copy-start", "copy-done", "dynamic-update-slice", "dynamic-slice", "custom-call", "async-start",
        "async-update", "async-done", "while", "conditional", "call", "fusion", "tuple", "get-tuple-element", "opt-barrier", "infeed",
        "recv",
        "recv-done",
    }
)  # fmt: skip


def bounded(i: HloInstruction) -> Reason | None:
    """Require bounded dimensions."""
    if any(-1 in leaf.dimensions for _, leaf in i.shape.leaves()):
        return refuse(
            "unbounded", f"unbounded dynamism is not allowed: {i.shape.text_without_layout}"
        )
    return None


def broadcast_ascends(i: HloInstruction) -> Reason | None:
    """Require ascending dimensions of a broadcast."""
    dimensions = i.attribute("dimensions") if i.opcode.name == "broadcast" else ()
    if list(dimensions) != sorted(dimensions):
        return refuse("dimensions-unordered", f"dimensions={list(dimensions)} must ascend")
    return None


def keeps_its_memory(i: HloInstruction) -> Reason | None:
    """Require a transfer, or an operand in host memory, for results in host memory.

    A dynamic slice must stay in its operand's memory.
    """
    if not _in_host(i.shape):
        return None
    if i.opcode.name == "dynamic-slice" and not _in_host(i.operands[0].shape):
        return refuse("memory-space", "must not bring its operand from device to host memory")
    if i.opcode.name not in _MAY_ENTER_HOST and not any(_in_host(o.shape) for o in i.operands):
        return refuse(
            "memory-space",
            f"must not have a result in host memory, {i.shape}: no operand is in host memory",
        )
    return None


def element_size_is_its_own(i: HloInstruction) -> Reason | None:
    """Allow packing, `E(4)`, only for types of less than a byte."""
    for _, leaf in i.shape.leaves():
        if leaf.is_array and leaf.element_type.bits >= 8 and "E(" in leaf.layout.properties:
            return refuse(
                "element-size",
                f"custom element sizes are for types of less than a byte, not {leaf}",
            )
    return None


def _in_host(shape: Shape) -> bool:
    return shape.is_array and shape.layout.memory_space == _HOST


@cache
def option_checks(options: VerifierOptions) -> tuple[tuple[str, Constraint], ...]:
    """Return (code, check) of the checks that the options enable."""
    found: list[tuple[str, Constraint]] = []
    if not options.allow_unbounded_dynamism:
        found.append(("unbounded-dynamism", bounded))
    if options.ordered_broadcast_dimensions:
        found.append(("broadcast-order", broadcast_ascends))
    if options.layout_sensitive:
        found += [("memory-space", keeps_its_memory), ("element-size", element_size_is_its_own)]
    return tuple(found)
