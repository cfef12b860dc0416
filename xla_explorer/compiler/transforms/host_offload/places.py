"""Places of a value: an instruction and an index into its shape, before and behind others.

Source: xla/hlo/utils/hlo_... host_offload_utils.cc (GetSuccessors, GetPredecessors).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from xla_explorer.hlo.analysis.call_graph import call_sites
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.shape import Shape, tuple_shape

HOST: Final = 5
"""The memory space of the host."""
MOVE_TO_HOST: Final = "MoveToHost"
MOVE_TO_DEVICE: Final = "MoveToDevice"
ALLOCATE: Final = "AllocateBuffer"
_SPACE = re.compile(r"S\(\d+\)")
_PURE = frozenset(
    [
        "bitcast",
        "get-tuple-element",
        "tuple",
        "call",
        "while",
        "parameter",
        "opt-barrier",
        "async-start",
        "async-done",
    ]
)


class Place(NamedTuple):
    """A part of the value of an instruction."""

    instruction: HloInstruction
    path: tuple[int, ...] = ()


def is_call_of(i: HloInstruction, target: str) -> bool:
    """Return True for a custom call of the target."""
    return i.opcode.name == "custom-call" and custom_call_target(i) == target


def moves_only(i: HloInstruction) -> bool:
    """Return True if the instruction passes on a value without computing."""
    return i.opcode.name in _PURE or is_call_of(i, ALLOCATE)


def is_reshaping(i: HloInstruction) -> bool:
    """Return True for copies, bitcasts and reshapes."""
    return i.opcode.name in ("bitcast", "copy", "reshape")


def with_space(shape: Shape, index: tuple[int, ...], space: int) -> Shape:
    """Return the shape with a part in another memory space."""
    if index:
        parts = list(shape.tuple_shapes)
        parts[index[0]] = with_space(parts[index[0]], index[1:], space)
        return tuple_shape(parts)
    if shape.is_tuple:
        return tuple_shape([with_space(part, (), space) for part in shape.tuple_shapes])
    if not shape.is_array:
        return shape
    kept = _SPACE.sub("", shape.layout.properties)
    text = kept + (f"S({space})" if space else "")
    return shape.with_layout(layout(shape.layout.minor_to_major, text))


def set_space(place: Place, space: int) -> bool:
    """Move a part of an instruction's value to a memory space; return True if it was elsewhere."""
    i = place.instruction
    made = with_space(i.shape, place.path, space)
    if made is i.shape:
        return False
    i.parent.set_shape(i, made)
    return True


def _from_user(user: HloInstruction, place: Place) -> list[Place]:
    """Return where the value goes on in one of its users."""
    i, index = place
    numbers = [k for k, o in enumerate(user.operands) if o is i]
    name = user.opcode.name
    if name == "tuple":
        return [Place(user, (k, *index)) for k in numbers]
    if name == "get-tuple-element":
        mine = bool(index) and user.attributes["index"] == index[0]
        return [Place(user, index[1:])] if mine else []
    if name in ("call", "async-start"):
        inside = user.called[0].parameters()
        start = [Place(user, (0, k, *index)) for k in numbers] if name == "async-start" else []
        return [*[Place(inside[k], index) for k in numbers], *start]
    if name == "while":
        return [Place(c.parameters()[0], index) for c in reversed(user.called)]
    if name == "conditional":
        return [Place(user.called[k - 1].parameters()[0], index) for k in numbers if k]
    if name == "async-done":
        return []  # its value comes from the root of the computation
    return [Place(user, index if name in ("opt-barrier", "domain", "bitcast") else ())]


def successors(place: Place) -> list[Place]:
    """Return the next places of a value: in its users, and in callers of its computation."""
    i, index = place
    found = [next_ for user in i.users for next_ in _from_user(user, place)]
    if i.is_root and not i.parent.is_entry:
        for caller in call_sites(i.parent.module).get(i.parent, ()):
            if caller.opcode.name == "while":
                if caller.called[1] is i.parent:
                    found.append(Place(caller, index))
            elif caller.opcode.name == "async-start":
                found.append(Place(caller, (1, *index)))
                found += [Place(u, index) for u in caller.users if u.opcode.name == "async-done"]
            elif caller.opcode.name in ("call", "conditional"):
                found.append(Place(caller, index))
    return list(dict.fromkeys(found))


def predecessors(place: Place) -> list[Place]:
    """Return the places that the value comes from."""
    i, index = place
    name = i.opcode.name
    if name == "get-tuple-element":
        return [Place(i.operands[0], (int(i.attributes["index"]), *index))]
    if name == "tuple" and index:
        return [Place(i.operands[index[0]], index[1:])]
    if name == "call":
        return [Place(i.called[0].root, index)]
    if name == "while":
        return [Place(i.called[1].root, index)]
    if name == "parameter":
        found = []
        for caller in call_sites(i.parent.module).get(i.parent, ()):
            number = 0 if caller.opcode.name == "while" else i.parameter_number
            if number < len(caller.operands):
                found.append(Place(caller.operands[number], index))
        return found
    return [Place(i.operands[0], index if name == "opt-barrier" else ())] if i.operands else []
