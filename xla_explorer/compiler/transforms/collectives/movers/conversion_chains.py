"""Conversions around a collective: to or from a narrow type, with a scale, a clamp and moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.hlo.instruction import HloInstruction

_MOVES = frozenset(["bitcast", "copy", "reshape", "slice"])
_QUANTIZING = _MOVES | {"multiply", "divide", "clamp"}


class ConversionChain(NamedTuple):
    """A conversion with what surrounds it.

    convert: the conversion. binary: the multiplication or division by `scale`, a broadcast scalar.
    clamp: the clamp to broadcast constants, of a quantization. moves: in the order of the data.
    """

    convert: HloInstruction
    moves: tuple[HloInstruction, ...]
    binary: HloInstruction | None = None
    scale: HloInstruction | None = None
    clamp: HloInstruction | None = None


def _bytes(i: HloInstruction) -> int:
    return -(-i.shape.element_type.bits // 8)


def _widens(i: HloInstruction) -> bool:
    return i.opcode.name == "convert" and _bytes(i) > _bytes(i.operands[0])


def _narrows(i: HloInstruction) -> bool:
    return i.opcode.name == "convert" and _bytes(i) < _bytes(i.operands[0])


def _is_scalar_broadcast(i: HloInstruction) -> bool:
    return i.opcode.name == "broadcast" and i.operands[0].shape.is_scalar


def _scale_of(binary: HloInstruction, value: HloInstruction | None) -> HloInstruction | None:
    """Return the broadcast scalar that scales the other operand (`value`, if given)."""
    name = binary.opcode.name
    if name not in ("multiply", "divide"):
        return None
    orders = [(0, 1)] if name == "divide" else [(0, 1), (1, 0)]
    for k, s in orders:
        scaled, scale = binary.operands[k], binary.operands[s]
        if _is_scalar_broadcast(scale) and (value is None or scaled is value):
            return scale
    return None


def _only_moves(found: Sequence[HloInstruction]) -> bool:
    return all(i.opcode.name in _MOVES for i in found)


def _chain_to_widening(
    i: HloInstruction, seen: set[HloInstruction], chain: tuple[HloInstruction, ...]
) -> tuple[HloInstruction, ...]:
    """Return the instructions from `i` up to a widening conversion; empty if none is reached."""
    if i in seen:
        return ()
    seen.add(i)
    chain = (*chain, i)
    if _widens(i):
        return chain
    if len(i.operands) == 1 or i.opcode.name == "divide":
        return _chain_to_widening(i.operands[0], seen, chain)
    if i.opcode.name == "multiply":
        for operand in dict.fromkeys(i.operands):
            found = _chain_to_widening(operand, seen, chain)
            if found:
                return found
    return ()


def dequantization(collective: HloInstruction) -> ConversionChain | None:
    """Return the widening conversion in front of the collective, or None."""
    found = _chain_to_widening(collective.operands[0], set(), ())[::-1]
    if not found:
        return None
    convert = found[0]
    scale = _scale_of(found[1], convert) if len(found) > 1 else None
    moves = found[2:] if scale is not None else found[1:]
    if not _only_moves(moves):
        return None
    return ConversionChain(convert, moves, found[1] if scale is not None else None, scale)


def quantization(collective: HloInstruction) -> ConversionChain | None:
    """Return the narrowing conversion that is the only reader behind the collective, or None."""
    found: list[HloInstruction] = []
    i = collective
    while len(i.users) == 1:
        [i] = i.users
        if _narrows(i):
            found.append(i)
            break
        if i.opcode.name not in _QUANTIZING:
            return None
        found.append(i)
    if not found or not _narrows(found[-1]):
        return None
    convert = found[-1]
    clamp = convert.operands[0]
    if len(found) > 2 and clamp.opcode.name == "clamp" and clamp is found[-2]:
        binary = clamp.operands[1]
        scale = _scale_of(binary, None)
        bounds = (clamp.operands[0], clamp.operands[2])
        constant = all(
            _is_scalar_broadcast(b) and b.operands[0].opcode.name == "constant" for b in bounds
        )
        if scale is not None and constant and binary is found[-3] and _only_moves(found[:-3]):
            return ConversionChain(convert, tuple(found[:-3]), binary, scale, clamp)
        return None
    return ConversionChain(convert, tuple(found[:-1])) if _only_moves(found[:-1]) else None
