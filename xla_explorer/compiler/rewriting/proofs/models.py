"""Arrays from a model of the solver: the arguments of a counterexample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.compiler.rewriting.proofs.machine_scalars import is_ieee
from xla_explorer.compiler.rewriting.proofs.scalars import Term, UnsupportedProofError
from xla_explorer.compiler.rewriting.proofs.solver import z3
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape


def arguments_of(
    shapes: Sequence[Shape], model: Any, symbols: dict[str, Term]
) -> tuple[Any, ...] | None:
    """Return the arguments, or None if a type has no values in the model."""
    try:
        return tuple([_array(shape, f"p{k}", model, symbols) for k, shape in enumerate(shapes)])
    except UnsupportedProofError:
        return None


def _array(shape: Shape, name: str, model: Any, symbols: dict[str, Term]) -> Any:
    if shape.is_tuple:
        return tuple(
            [
                _array(part, f"{name}.{k}", model, symbols)
                for k, part in enumerate(shape.tuple_shapes)
            ]
        )
    made = np.zeros(shape.dimensions, shape.element_type.dtype)
    for place in np.ndindex(*shape.dimensions):
        value = model.eval(symbols[f"{name}{list(place)}"], model_completion=True)
        made[place] = _scalar(shape.element_type, value)
    return made


def _scalar(kind: PrimitiveType, value: Any) -> Any:
    if kind.is_pred:
        return np.bool_(z3().is_true(value))
    if kind.is_integer:
        number = value.as_signed_long() if kind.is_signed else value.as_long()
        return np.asarray(number).astype(kind.dtype)[()]
    if z3().is_fp(value) and is_ieee(kind):
        if z3().is_true(z3().simplify(z3().fpIsNaN(value))):
            return kind.dtype.type(np.nan)
        bits = z3().simplify(z3().fpToIEEEBV(value)).as_long()
        return np.frombuffer(bits.to_bytes(kind.bytes, "little"), kind.dtype)[0]
    if kind.is_float and z3().is_rational_value(value):
        return kind.dtype.type(value.numerator_as_long() / value.denominator_as_long())
    raise UnsupportedProofError(f"{kind.name} has no values in a model")
