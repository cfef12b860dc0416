"""Epilogues that a library fuses into a product: a bias, then ReLU or the approximate GELU.

Activations are recognised by their value: the instructions are a polynomial in x and tanh(u), where
u is one in x, so that the order of factors and terms is free. Source:
xla/service/gpu/transforms/gemm_rewriter.cc (FuseVectorBiasAdd, FuseReluActivation,
FuseGeluActivation).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.hlo.instruction import HloInstruction

_SERVED = frozenset({"f16", "bf16", "f32"})
_LONGEST = 16  # instructions of an activation
_HIGHEST_POWER = 8
# u of gelu(x) = x (1 + tanh(u)) / 2: sqrt(2 / pi) (x + 0.044715 x^3)
_GELU = {(1, 0): math.sqrt(2 / math.pi), (3, 0): math.sqrt(2 / math.pi) * 0.044715}
_GELU_RESULT = {(1, 0): 0.5, (1, 1): 0.5}
Polynomial = dict[tuple[int, int], float]  # powers of x and of tanh(u) -> coefficient


class Epilogue(NamedTuple):
    """An epilogue of a product.

    name: as `MatmulCall.epilogue`. root: the instruction whose value the call writes. members: root
    first, users before producers, the dot among them. bias: the vector, or None.
    """

    name: str
    root: HloInstruction
    members: tuple[HloInstruction, ...]
    bias: HloInstruction | None


def epilogue_of(dot: HloInstruction) -> Epilogue:
    """Return the longest epilogue that the library supports, with the name `none` if empty."""
    members: list[HloInstruction] = [dot]
    bias, here = None, dot
    if dot.shape.element_type.name not in _SERVED or not fusible.has_default_layout(dot):
        return Epilogue("none", dot, (dot,), None)
    found = _bias_of(here)
    if found is not None:
        here, broadcast = found
        bias = broadcast.operands[0]
        members = [here, broadcast, *members]
    activation = _activation_of(here)
    name = "bias" if bias is not None else "none"
    if activation is not None:
        kind, inside = activation
        name = f"{kind}_bias" if bias is not None else kind
        members = [*inside, *members]
        here = inside[0]
    return Epilogue(name, here, tuple(dict.fromkeys(members)), bias)


def _bias_of(i: HloInstruction) -> tuple[HloInstruction, HloInstruction] | None:
    """Return (add, broadcast of a minor-dimension vector) of a value's only use, or None."""
    if i.is_root or len(i.users) != 1:
        return None
    add = next(iter(i.users))
    others = [o for o in add.operands if o is not i]
    if add.opcode.name != "add" or len(others) != 1 or others[0].opcode is not fusible.BROADCAST:
        return None
    broadcast = others[0]
    vector = broadcast.operands[0]
    if (
        vector.shape.rank != 1
        or broadcast.attribute("dimensions") != (i.shape.rank - 1,)
        or add.control_predecessors
    ):
        return None
    return (
        (add, broadcast)
        if vector.opcode is not fusible.CONSTANT or vector.shape.element_count > 1
        else None
    )


def _activation_of(x: HloInstruction) -> tuple[str, list[HloInstruction]] | None:
    """Return (relu or gelu, its instructions, last first) of a value's only use, or None."""
    inside: dict[HloInstruction, None] = {}
    while len(inside) < _LONGEST:
        known = dict.fromkeys((x, *inside))  # in discovery order, which decides between readers
        if any(i.is_root for i in known):
            return None
        readers = list(
            dict.fromkeys([user for i in known for user in i.users if user not in known])
        )
        ready = [
            r for r in readers if all(o in known or _constant(o) is not None for o in r.operands)
        ]
        if not ready or ready[0].control_predecessors or not ready[0].opcode.elementwise:
            return None
        inside[ready[0]] = None
        if len(readers) == 1:  # everything passes through this reader
            end = ready[0]
            if (
                end.opcode.name == "maximum"
                and x in end.operands
                and [_constant(o) for o in end.operands if o is not x] == [0.0]
            ):
                return "relu", _with_constants(inside)
            if _is(_polynomial(end, x), _GELU_RESULT):
                return "gelu", _with_constants(inside)
    return None


def _with_constants(inside: dict[HloInstruction, None]) -> list[HloInstruction]:
    """Return the instructions, users first, then broadcasts of constants and the constants."""
    found = dict.fromkeys(reversed(inside))
    for i in list(found):
        for o in i.operands:
            if _constant(o) is not None:
                found[o] = None
                if o.opcode is fusible.BROADCAST:
                    found[o.operands[0]] = None
    return list(found)


def _constant(i: HloInstruction) -> float | None:
    """Return the value of a constant of one element, broadcast or not, or None."""
    if i.opcode is fusible.BROADCAST:
        i = i.operands[0]
    if not fusible.is_small_constant(i) or i.shape.element_type.is_complex:
        return None
    return float(i.literal.array.reshape(-1)[0])


def _polynomial(i: HloInstruction, x: HloInstruction) -> Polynomial | None:
    if i is x:
        return {(1, 0): 1.0}
    value = _constant(i)
    if value is not None:
        return {(0, 0): value}
    parts = [_polynomial(o, x) for o in i.operands]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts) or not known or i.opcode.name not in _ARITHMETIC:
        return None
    return _ARITHMETIC[i.opcode.name](*known)


def _tanh(a: Polynomial) -> Polynomial | None:
    """Return tanh of GELU's argument as an unknown, None for other arguments."""
    return {(0, 1): 1.0} if _is(a, _GELU) else None


def _scaled(a: Polynomial, factor: float) -> Polynomial:
    return {power: factor * c for power, c in a.items()}


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for power, c in b.items():
        total[power] = total.get(power, 0.0) + c
    return total


def _quotient(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """Return the quotient by a constant, else None."""
    constant = b.get((0, 0), 0.0)
    if set(b) != {(0, 0)} or not constant:
        return None
    return {power: c / constant for power, c in a.items()}


def _power(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """Return a power with an exponent from 1 to 4, else None."""
    exponent = b.get((0, 0), 0.0)
    if set(b) != {(0, 0)} or exponent not in (1.0, 2.0, 3.0, 4.0):
        return None
    result: Polynomial | None = a
    for _ in range(int(exponent) - 1):
        result = None if result is None else _product(result, a)
    return result


def _product(a: Polynomial, b: Polynomial) -> Polynomial | None:
    product: Polynomial = {}
    for (xa, ta), ca in a.items():
        for (xb, tb), cb in b.items():
            if xa + xb > _HIGHEST_POWER or ta + tb > 1:
                return None
            product[xa + xb, ta + tb] = product.get((xa + xb, ta + tb), 0.0) + ca * cb
    return product


_ARITHMETIC: dict[str, Callable[..., Polynomial | None]] = {
    "tanh": _tanh,
    "negate": lambda a: _scaled(a, -1.0),
    "add": _sum,
    "subtract": lambda a, b: _sum(a, _scaled(b, -1.0)),
    "multiply": _product,
    "divide": _quotient,
    "power": _power,
}


def _is(found: Polynomial | None, wanted: Polynomial) -> bool:
    """Return True if all coefficients agree within the rounding of bf16 constants."""
    if found is None:
        return False
    powers = set(found) | set(wanted)
    return all(
        abs(found.get(p, 0.0) - wanted.get(p, 0.0)) <= 4e-3 * max(abs(wanted.get(p, 0.0)), 1e-6)
        for p in powers
    )
