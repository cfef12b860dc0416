"""Guards that many rules share: small pure checks that return None or a Reason.

The names of a guard's parameters select its arguments: `instruction` is the matched root, other
names are captures (see `Rule`).
"""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


def about(name: str, check: Callable[..., Reason | None]) -> Predicate:
    """Return the check on another capture, as in `about("y", integral)`.

    The check takes one instruction.
    """
    text = f"lambda {name}: check({name})"
    bound: Predicate = eval(text, {"check": check})
    bound.__name__ = f"{check.__name__}_{name}"
    bound.__dict__["place"] = (check.__code__.co_filename, check.__code__.co_firstlineno)
    return bound


def integral(instruction: HloInstruction) -> Reason | None:
    """Require integers or booleans: no rounding, no NaN, no signed zero."""
    kind = instruction.shape.element_type
    if kind.is_integer or kind.is_pred:
        return None
    return refuse("not-integral", f"{kind.name} rounds and has infinities and NaN", type=kind.name)


def integer(instruction: HloInstruction) -> Reason | None:
    """Require integers, booleans excluded."""
    kind = instruction.shape.element_type
    return (
        None
        if kind.is_integer
        else refuse("not-integer", f"{kind.name} is not an integer type", type=kind.name)
    )


def unsigned(instruction: HloInstruction) -> Reason | None:
    """Require unsigned integers."""
    kind = instruction.shape.element_type
    return (
        None
        if kind.is_unsigned
        else refuse("not-unsigned", f"{kind.name} is not unsigned", type=kind.name)
    )


def signed(instruction: HloInstruction) -> Reason | None:
    """Require signed integers."""
    kind = instruction.shape.element_type
    return (
        None
        if kind.is_signed
        else refuse("not-signed", f"{kind.name} is not a signed integer", type=kind.name)
    )


def inexact_type(instruction: HloInstruction) -> Reason | None:
    """Require floating point or complex."""
    kind = instruction.shape.element_type
    return (
        None
        if kind.is_float or kind.is_complex
        else refuse("not-floating", f"{kind.name} is not a floating-point type", type=kind.name)
    )


def floating(instruction: HloInstruction) -> Reason | None:
    """Require floating point."""
    kind = instruction.shape.element_type
    return (
        None
        if kind.is_float
        else refuse("not-floating", f"{kind.name} is not a floating-point type", type=kind.name)
    )


def real_type(instruction: HloInstruction) -> Reason | None:
    """Require a type that is not complex."""
    kind = instruction.shape.element_type
    return refuse("complex", f"{kind.name} is complex", type=kind.name) if kind.is_complex else None


def negatable(instruction: HloInstruction) -> Reason | None:
    """Require a type with negatives: signed, or wrapping."""
    kind = instruction.shape.element_type
    if kind.has_sign or not kind.is_float:
        return None
    return refuse("no-negative-values", f"{kind.name} has no negative values", type=kind.name)


def boolean(instruction: HloInstruction) -> Reason | None:
    """Require pred."""
    kind = instruction.shape.element_type
    return None if kind.is_pred else refuse("not-pred", f"{kind.name} is not pred", type=kind.name)


def keeps_shape(instruction: HloInstruction, x: HloInstruction) -> Reason | None:
    """Require that x has the shape of the result (layouts aside)."""
    if x.shape.base is instruction.shape.base:
        return None
    return refuse(
        "shape-differs",
        f"the result is {instruction.shape}, %{x.name} is {x.shape}",
        result=instruction.shape.text,
        operand=x.shape.text,
    )


def has_elements(instruction: HloInstruction) -> Reason | None:
    """Require at least one element."""
    return (
        None
        if instruction.shape.element_count
        else refuse("no-elements", f"%{instruction.name} has no elements")
    )


def static(instruction: HloInstruction) -> Reason | None:
    """Require static dimensions in the result and the operands."""
    for i in (instruction, *instruction.operands):
        if any(i.shape.dynamic):
            return refuse("dynamic-shape", f"%{i.name} is {i.shape}, which is dynamic")
    return None
