"""Calls between an unreduced argument and a region, or between a region and a result.

Devices may have terms of such a result.
"""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.transforms.inlining.call_inliner import inline_call
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.manual_regions import OUT_OF, is_region
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

LINEAR = frozenset(["copy", "negate", "transpose", "reshape"])
SUMS = frozenset(["add", "subtract"])


def open_calls(module: HloModule) -> None:
    """Inline calls, so that the entry has the operations that make terms."""
    entry = module.entry
    for parameter in entry.parameters():
        while is_unreduced(parameter):
            calls = [user for user in parameter.users if _is_call(user)]
            if not calls:
                break
            inline_call(calls[0])
    while True:
        root = entry.root
        every = is_unreduced(root)
        found = [
            call for call, element in _calls_behind(root) if every or _leads_out(call, element)
        ]
        if not found:
            return
        inline_call(found[0])


def is_unreduced(i: HloInstruction) -> bool:
    """Return True if the sharding of a value, or of an element of it, is unreduced."""
    return "unreduced" in str(i.attributes.get("sharding") or "")


def _is_call(i: HloInstruction) -> bool:
    return i.opcode.name == "call" and not is_region(i) and not i.attributes.get("is_composite")


def _calls_behind(value: HloInstruction, element: int = -1) -> Iterator[tuple[HloInstruction, int]]:
    """Yield the calls whose results a value is, or is linear in, with the element's number.

    The number is -1 for all elements.
    """
    seen: set[tuple[HloInstruction, int]] = set()
    waiting = [(value, element)]
    while waiting:
        i, element = waiting.pop()
        if (i, element) in seen:
            continue
        seen.add((i, element))
        name = i.opcode.name
        if _is_call(i):
            yield i, element
        elif name == "get-tuple-element":
            waiting.append((i.operands[0], int(i.attributes["index"])))
        elif name == "tuple":
            waiting += [(o, -1) for k, o in enumerate(i.operands) if element in (-1, k)]
        elif name in LINEAR | SUMS or custom_call_target(i) == "Sharding":
            waiting += [(o, -1) for o in i.operands]


def _leads_out(call: HloInstruction, element: int) -> bool:
    """Return True if a manual region makes a result of a call."""
    waiting = [(call.called[0].root, element)]
    while waiting:
        i, element = waiting.pop()
        name = i.opcode.name
        if custom_call_target(i) in OUT_OF:
            return True
        if _is_call(i):
            waiting.append((i.called[0].root, element))
        elif name == "get-tuple-element":
            waiting.append((i.operands[0], int(i.attributes["index"])))
        elif name == "tuple":
            waiting += [(o, -1) for k, o in enumerate(i.operands) if element in (-1, k)]
        elif name == "copy" or custom_call_target(i) == "Sharding":
            waiting.append((i.operands[0], -1))
    return False
