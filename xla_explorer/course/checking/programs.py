"""Small random programs for the checks, arguments for them, and the comparison of values.

The same seed gives the same program.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from xla_explorer.course.checking.result import Failure, value_text
from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.evaluator import Evaluator, evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, array_shape

Array = np.ndarray[Any, Any]
FLOAT_EXTREMES = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 3.0, -2.5, 1e30, -1e-30)
INTEGER_EXTREMES = (0, 1, -1, 2, 3, 7, -8, 100, 2**31 - 1, -(2**31))
_FAR_APART = 1_000_003  # between the seeds of two variants
_BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "divide")
_UNARY = ("negate", "abs", "exponential", "tanh")


_variant: ContextVar[int] = ContextVar("variant", default=0)


@contextmanager
def variant_of_programs(number: int) -> Iterator[None]:
    """Use other random programs and arguments in the checks within; 0 is the default course."""
    token = _variant.set(number)
    try:
        yield
    finally:
        _variant.reset(token)


def seeded(seed: int) -> random.Random:
    """Return a random generator for a seed, different in each variant of the course."""
    return random.Random(seed + _FAR_APART * _variant.get())


def random_program(
    seed: int,
    size: int = 10,
    *,
    duplicates: float = 0.0,
    constants: float = 0.1,
    identities: bool = False,
) -> HloModule:
    """Return a program of up to `size` operations on f32 and s32 arrays; several are dead.

    duplicates: probability of a repeated operation. constants: probability of a constant operand.
    identities: use the constants 0, -0, 1, and write double negations and double transposes.
    """
    choice = seeded(seed)
    b = HloBuilder("program", locations=False)
    rows, columns = choice.choice((1, 2, 3)), choice.choice((2, 3, 4))
    known: list[HloValue] = [
        b.parameter(
            array_shape("s32" if choice.random() < 0.25 else "f32", (rows, columns)), f"p{number}"
        )
        for number in range(choice.randint(1, 3))
    ]
    written: list[tuple[str, tuple[HloValue, ...]]] = []
    for _ in range(choice.randint(2, size)):
        if written and choice.random() < duplicates:
            name, operands = choice.choice(written)
            known.append(_write(b, name, operands))
            continue
        x = choice.choice(known[-6:])
        name, operands = _operation(b, choice, x, known, constants, identities)
        written.append((name, operands))
        known.append(_write(b, name, operands))
        if identities and name in ("negate", "transpose") and choice.random() < 0.6:
            known.append(_write(b, name, (known[-1],)))
    if choice.random() < 0.3:
        return b.build(*[choice.choice(known[-5:]) for _ in range(choice.randint(2, 3))])
    return b.build(known[-1] if choice.random() < 0.5 else choice.choice(known[-4:]))


def _operation(
    b: HloBuilder,
    choice: random.Random,
    x: HloValue,
    known: list[HloValue],
    constants: float,
    identities: bool,
) -> tuple[str, tuple[HloValue, ...]]:
    integer = x.dtype.is_integer
    kind = choice.random()
    if kind < 0.15 and x.ndim == 2:
        return "transpose", (x,)
    if kind < 0.25 and x.ndim == 2:
        return "reduce", (x,)
    if kind < 0.45:
        return choice.choice(_UNARY[:2] if integer or identities else _UNARY), (x,)
    peers = [v for v in known if v.shape is x.shape]
    y = choice.choice(peers)
    if choice.random() < constants:
        numbers = (
            (0, 1, 2) if integer else ((0.0, -0.0, 1.0, 2.0) if identities else (0.5, 2.0, 3.0))
        )
        constant = b.constant(choice.choice(numbers), x.dtype)
        y = b.broadcast(constant, x.shape.dimensions, ()) if x.ndim else constant
    name = choice.choice(_BINARY[:-1] if integer else _BINARY)
    return name, (y, x) if choice.random() < 0.3 else (x, y)


def _write(b: HloBuilder, name: str, operands: tuple[HloValue, ...]) -> HloValue:
    x = operands[0]
    if name == "transpose":
        return b.transpose(x, dimensions=(1, 0))
    if name == "reduce":
        return x.sum(axis=0)
    made: HloValue = getattr(b, name)(*operands)
    return made


def arguments_of(module: HloModule, sets: int = 3) -> Iterator[tuple[Any, ...]]:
    """Yield argument lists for a module: first of ordinary values, then with extreme values.

    These are NaN, infinities, negative zero and extreme integers.
    """
    for number in range(sets):
        generator = np.random.default_rng(number + _FAR_APART * _variant.get())
        yield tuple([_argument(p.shape, number, generator) for p in module.entry.parameters()])


def _argument(shape: Shape, number: int, generator: np.random.Generator) -> Any:
    if shape.is_tuple:
        return tuple([_argument(part, number, generator) for part in shape.tuple_shapes])
    dtype = shape.element_type.dtype
    if shape.element_type.is_pred:
        return np.asarray(generator.integers(0, 2, shape.dimensions), bool)
    ordinary = np.asarray(
        generator.integers(-6, 7, shape.dimensions) / (1 if shape.element_type.is_integer else 2)
    )
    if not number:
        return ordinary.astype(dtype)
    pool = np.array(INTEGER_EXTREMES if shape.element_type.is_integer else FLOAT_EXTREMES)
    with np.errstate(all="ignore"):
        return np.asarray(generator.choice(pool, shape.dimensions)).astype(dtype)


def leaves_of(module: HloModule, arguments: tuple[Any, ...]) -> list[Array]:
    """Return the evaluator's value of a module, as a list of arrays (tokens left out)."""
    with np.errstate(all="ignore"):
        return [
            leaf
            for leaf in flatten_value(evaluate(module, *arguments))
            if isinstance(leaf, np.ndarray)
        ]


def values_of(module: HloModule, *arguments: Any) -> dict[str, Array]:
    """Return the value of each instruction of the entry that the result needs, by name."""
    evaluator = Evaluator(record=True)
    evaluate(module, *arguments, evaluator=evaluator)
    values = {i.name: evaluator.values.get(i.id) for i in module.entry.post_order()}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def same_bits(a: Array, b: Array) -> bool:
    """Return True for equal shape, type and bits; NaNs are equal, -0 and +0 are not."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fcV":
        return bool((a == b).all())
    nan = np.isnan(a) & np.isnan(b)
    return bool((nan | ((a == b) & (np.signbit(a.real) == np.signbit(b.real)))).all())


def value_difference(
    before: HloModule, after: HloModule, sets: int = 3, hint: str = ""
) -> Failure | None:
    """Return the failure for the first arguments on which two programs differ in a bit, or None."""
    for arguments in arguments_of(before, sets):
        expected, got = leaves_of(before, arguments), leaves_of(after, arguments)
        if len(expected) != len(got) or not all(
            same_bits(a, b) for a, b in zip(expected, got, strict=True)
        ):
            return Failure(
                "value-changed",
                "The program computes something else than before.",
                expected="\n".join(map(value_text, expected)),
                got="\n".join(map(value_text, got)),
                module=before,
                arguments=arguments,
                hint=hint,
            )
    return None
