"""One random instruction of each opcode family, on the values of a scope."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.hlo.builder import HloBuilder, HloBuilderError, HloValue
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.shape import array_shape

# Largest numerator over the common denominator up to which arithmetic is exact, whatever its order.
_EXACT = {
    "f64": 2.0**50,
    "f32": 2.0**22,
    "c64": 2.0**22,
    "c128": 2.0**50,
    "f16": 2.0**9,
    "bf16": 2.0**6,
}
_LARGEST = 512.0  # floats stay below this; rounding errors stay small beside it

_FLOAT_UNARY_EXACT = (
    "abs",
    "negate",
    "sign",
    "floor",
    "ceil",
    "round_nearest_even",
    "round_nearest_afz",
)
_BOUNDED = {"tanh": 1.0, "logistic": 1.0, "sine": 1.0, "cosine": 1.0, "erf": 1.0}


class Known(NamedTuple):
    """bound: of the magnitude.

    denominator: values are integers over it. exact: every way of computing gives the same value.
    """

    value: HloValue
    bound: float = 0.0
    denominator: float = 1.0
    exact: bool = True

    @property
    def kind(self) -> str:
        return self.value.dtype.name

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.value.shape.dimensions

    @property
    def rank(self) -> int:
        return self.value.ndim


class Families:
    """The values of one computation and the ways to make more of them."""

    def __init__(
        self,
        b: HloBuilder,
        choice: random.Random,
        kinds: list[str],
        shape: Callable[[], tuple[int, ...]],
        *,
        extremes: bool,
        numbers: Callable[[str, tuple[int, ...]], Any],
    ) -> None:
        self.b, self.choice, self.kinds, self.shape, self.extremes, self.numbers = (
            b,
            choice,
            kinds,
            shape,
            extremes,
            numbers,
        )
        self.known: list[Known] = []
        # The main parts of a module: elementwise, movement, reductions, special, control.
        self.weights = choice.choice(
            ((5, 4, 2, 2, 1), (5, 4, 2, 2, 1), (2, 3, 1, 1, 5), (1, 8, 2, 1, 1), (2, 2, 7, 3, 1))
        )
        self.largest = 20000
        self.rare: tuple[Callable[[Families], Any], ...] = ()
        self.rare_share = 0.4

    # -- what is known -----------------------------------------------------------------------------
    def add(self, known: Known | None) -> None:
        if known is not None and known.value.size <= self.largest:
            self.known.append(known)

    def leaf(self, value: HloValue, exact: bool = True) -> Known:
        t = value.dtype
        if t.is_float or t.is_complex:
            return Known(value, 8.0, 4.0, exact)
        return Known(value)

    def made(self, value: HloValue, bound: float, denominator: float, exact: bool) -> Known:
        """Return a float with these facts, scaled down if it is too large."""
        t = value.dtype
        if not (t.is_float or t.is_complex):
            return Known(value)
        if self.extremes:
            return Known(value, 0.0, 1.0, exact)
        if bound > _LARGEST:
            if t.is_complex:
                return Known(
                    value.multiply(2.0 ** -int(np.ceil(np.log2(bound))))
                    if hasattr(value, "multiply")
                    else value * 2.0 ** -int(np.ceil(np.log2(bound))),
                    1.0,
                    1.0,
                    False,
                )
            if self.choice.random() < 0.5 or bound == np.inf:
                return Known(
                    self.b.clamp(-4.0, value, 4.0),
                    4.0,
                    denominator,
                    exact and bound * denominator <= _EXACT.get(t.name, 4.0),
                )
            return Known(self.b.tanh(value), 1.0, 1.0, False)
        return Known(
            value, bound, denominator, exact and bound * denominator <= _EXACT.get(t.name, 4.0)
        )

    def inexact(self, value: HloValue, bound: float) -> Known:
        return self.made(value, bound, 1.0, False)

    def same(self, value: HloValue, *sources: Known) -> Known:
        """Return a moved value with the facts of its sources."""
        return Known(
            value,
            max([s.bound for s in sources]),
            max([s.denominator for s in sources]),
            all(s.exact for s in sources),
        )

    # -- picks -------------------------------------------------------------------------------------
    def pick(self, test: Callable[[Known], bool] = lambda k: True) -> Known | None:
        fitting = [k for k in self.known if test(k)]
        if not fitting:
            return None
        # Mostly recent values, so that chains grow deep.
        return self.choice.choice(fitting[-3:] if self.choice.random() < 0.6 else fitting)

    def array(
        self, minimum_rank: int = 1, test: Callable[[Known], bool] = lambda k: True
    ) -> Known | None:
        return self.pick(lambda k: k.rank >= minimum_rank and test(k))

    def like(self, k: Known, exact: bool = False, kind: str | None = None) -> Known:
        """Return another value of a shape: known, a broadcast scalar, an iota or a constant."""
        kind = kind or k.kind
        fitting = [
            o
            for o in self.known
            if o.kind == kind and o.dimensions == k.dimensions and (o.exact or not exact)
        ]
        if fitting and self.choice.random() < 0.7:
            return self.choice.choice(fitting)
        scalars = [
            o
            for o in self.known
            if o.kind == kind
            and o.rank < k.rank
            and (o.exact or not exact)
            and o.dimensions == k.dimensions[k.rank - o.rank :]
        ]
        if scalars and self.choice.random() < 0.5:
            o = self.choice.choice(scalars)
            return self.same(self.b.broadcast(o.value, k.dimensions), o)
        return self.constant_of(kind, k.dimensions)

    def constant_of(self, kind: str, dimensions: tuple[int, ...]) -> Known:
        c, t = self.choice.random(), PRIMITIVE_TYPES[kind]
        if (
            c < 0.2
            and dimensions
            and not t.is_pred
            and max(dimensions) < 100
            and (not self.extremes or t.is_integer)
        ):
            d = self.choice.randrange(len(dimensions))
            return Known(
                self.b.iota(array_shape(kind, dimensions), d),
                float(max(dimensions)),
                1.0,
                float(max(dimensions)) <= _EXACT.get(kind, 2.0**60),
            )
        if c < 0.8 or int(np.prod(dimensions)) > 300:
            numbers = self.numbers(kind, ())
            if c < 0.5:
                numbers = np.asarray(
                    self.choice.choice((0, 1, -1, 2))
                    if (not t.is_pred and t.is_signed) or t.is_float
                    else 1,
                    t.dtype,
                )
            scalar = self.b.constant(numbers, t)
            return self.leaf(self.b.broadcast(scalar, dimensions, []) if dimensions else scalar)
        return self.leaf(self.b.constant(self.numbers(kind, dimensions), t))

    def scalar(self, kind: str = "s32") -> Known:
        return self.pick(lambda k: k.kind == kind and k.rank == 0 and k.exact) or self.constant_of(
            kind, ()
        )

    def index(self) -> Known:
        found = self.pick(lambda k: k.kind in ("s32", "s64") and k.rank == 0)
        if found is not None and self.choice.random() < 0.7:
            return found
        return Known(self.b.constant(self.choice.randint(-2, 6)))

    # -- growing -----------------------------------------------------------------------------------
    def grow(self, count: int, depth: int) -> None:
        from tests.properties.random_control import CONTROL
        from tests.properties.random_movement import MOVEMENT
        from tests.properties.random_reductions import REDUCTIONS
        from tests.properties.random_special import SPECIAL

        for _ in range(count):
            groups = (ELEMENTWISE, MOVEMENT, REDUCTIONS, SPECIAL, CONTROL)[: 5 if depth else 4]
            family = self.choice.choice(self.choice.choices(groups, self.weights[: len(groups)])[0])
            if self.rare and self.choice.random() < self.rare_share:
                family = self.choice.choice(self.rare)
            try:
                made = family(self, depth) if family in CONTROL else family(self)
            except HloBuilderError as error:
                raise AssertionError(f"{family.__name__}: {error}") from error
            for known in made if isinstance(made, list) else [made]:
                self.add(known)


# -- elementwise -----------------------------------------------------------------------------------
def unary(s: Families) -> Known | None:
    k = s.pick()
    if k is None:
        return None
    b, t, v = s.b, k.value.dtype, k.value
    if t.is_pred:
        return Known(b.not_(v))
    if t.is_integer:
        names = ["not_", "negate", "popcnt", "count_leading_zeros"] + (
            ["abs", "sign"] if t.is_signed else []
        )
        return Known(getattr(b, s.choice.choice(names))(v))
    if t.is_complex:
        name = s.choice.choice(("negate", "real", "imag", "abs"))
        made = getattr(b, name)(v)
        return (
            s.inexact(made, k.bound * 2)
            if name == "abs"
            else s.made(made, k.bound, k.denominator, k.exact)
        )
    if s.choice.random() < 0.5:
        name = s.choice.choice(_FLOAT_UNARY_EXACT if k.exact else ("abs", "negate"))
        return s.made(getattr(b, name)(v), k.bound + 1, k.denominator, k.exact)
    if s.extremes:
        return s.inexact(
            getattr(
                b,
                s.choice.choice(
                    (
                        *_BOUNDED,
                        "exponential",
                        "log",
                        "sqrt",
                        "rsqrt",
                        "cbrt",
                        "log_plus_one",
                        "exponential_minus_one",
                    )
                ),
            )(v),
            1.0,
        )
    name = s.choice.choice((*_BOUNDED, "exp", "log", "sqrt", "rsqrt", "cbrt", "log1p", "expm1"))
    if name in _BOUNDED:
        return s.inexact(getattr(b, name)(v), 1.0)
    if name in ("exp", "expm1"):
        return s.inexact(
            getattr(b, "exponential" if name == "exp" else "exponential_minus_one")(
                b.clamp(-3.0, v, 3.0)
            ),
            21.0,
        )
    positive = b.abs(v) + 1.0
    return s.inexact(
        {"log": b.log, "sqrt": b.sqrt, "rsqrt": b.rsqrt, "cbrt": b.cbrt, "log1p": b.log_plus_one}[
            name
        ](positive),
        max(k.bound, 1.0),
    )


def binary(s: Families) -> Known | None:
    k = s.pick()
    if k is None:
        return None
    o, b, t = s.like(k), s.b, k.value.dtype
    left, right = (k, o) if s.choice.random() < 0.5 else (o, k)
    x, y = left.value, right.value
    exact, denominator = k.exact and o.exact, max(k.denominator, o.denominator)
    if t.is_pred:
        return Known(
            getattr(b, s.choice.choice(("and_", "or_", "xor", "maximum", "minimum")))(x, y)
        )
    if t.is_integer:
        return Known(
            getattr(
                b,
                s.choice.choice(
                    (
                        "add",
                        "subtract",
                        "multiply",
                        "divide",
                        "remainder",
                        "maximum",
                        "minimum",
                        "and_",
                        "or_",
                        "xor",
                        "shift_left",
                        "shift_right_logical",
                        "shift_right_arithmetic",
                    )
                ),
            )(x, y)
        )
    names = ["add", "subtract", "multiply"]
    if not t.is_complex:
        names += [
            "maximum",
            "minimum",
            "divide",
            *(["remainder"] if exact and not s.extremes else []),
        ]
    name = s.choice.choice(names)
    if name in ("maximum", "minimum"):
        return s.same(getattr(b, name)(x, y), k, o)
    if name in ("add", "subtract"):
        return s.made(getattr(b, name)(x, y), k.bound + o.bound, denominator, exact)
    if name == "multiply":
        return s.made(
            b.multiply(x, y),
            k.bound * o.bound * (2 if t.is_complex else 1),
            k.denominator * o.denominator,
            exact and not s.extremes,
        )
    if name == "remainder":
        return s.made(b.remainder(x, b.abs(y) + 1.0), k.bound + 1, denominator, exact)
    return s.inexact(b.divide(x, y if s.extremes else b.abs(y) + 1.0), k.bound)


def compare(s: Families) -> Known | None:
    k = s.pick(lambda k: k.exact)
    if k is None:
        return None
    o = s.like(k, exact=True)
    direction = s.choice.choice(
        ("EQ", "NE") if k.value.dtype.is_complex else ("EQ", "NE", "LT", "LE", "GT", "GE")
    )
    order = (
        "TOTALORDER" if k.value.dtype.is_float and s.extremes and s.choice.random() < 0.3 else None
    )
    return Known(s.b.compare(k.value, o.value, direction, order))


def select(s: Families) -> Known | None:
    k = s.pick()
    if k is None:
        return None
    o = s.like(k)
    if s.choice.random() < 0.25:
        return s.same(s.b.select(s.scalar("pred").value, k.value, o.value), k, o)
    return s.same(s.b.select(s.like(k, kind="pred").value, k.value, o.value), k, o)


def clamp(s: Families) -> Known | None:
    k = s.pick(lambda k: not k.value.dtype.is_complex and not k.value.dtype.is_pred)
    if k is None:
        return None
    if s.choice.random() < 0.5:
        low, high = s.like(k), s.like(k)
    else:
        low, high = s.constant_of(k.kind, ()), s.constant_of(k.kind, ())
    return s.same(s.b.clamp(low.value, k.value, high.value), k, low, high)


def convert(s: Families) -> Known | None:
    k = s.pick(lambda k: k.exact and not k.value.dtype.is_complex)
    if k is None:
        return None
    kind = s.choice.choice([*s.kinds, "f32", "s32", "pred", "u8", "s8"])
    if kind == k.kind:
        return None
    t = PRIMITIVE_TYPES[kind]
    made = s.b.convert(k.value, t)
    if not (t.is_float or t.is_complex):
        return Known(made)
    if k.value.dtype.is_float:
        return s.made(made, k.bound, k.denominator, not s.extremes or kind in ("f32", "f64"))
    if k.value.dtype.is_pred:
        return s.made(made, 1.0, 1.0, True)
    if s.extremes:
        return s.made(made, 0.0, 1.0, kind in ("f32", "f64"))
    # Integers may be anything by now: bring them into range first.
    small = s.b.remainder(k.value, s.b.broadcast_to(s.b.constant(16, k.value.dtype), k.dimensions))
    return s.made(s.b.convert(small, t), 16.0, 1.0, True)


def bits(s: Families) -> Known | None:
    k = s.pick(lambda k: k.exact and k.kind in ("f32", "s32", "f64", "s64", "bf16", "u32"))
    if k is None or (k.value.dtype.is_float and not s.extremes):
        return None
    kind = {
        "f32": "s32",
        "f64": "s64",
        "bf16": "u16",
        "s32": "u32",
        "u32": "s32",
        "s64": "f64" if s.extremes else "u64",
    }[k.kind]
    if k.value.dtype.is_float or kind == "f64":
        return None  # the bits of a NaN, and the sign of a zero, are free
    return Known(s.b.bitcast_convert(k.value, kind))


def mapped(s: Families) -> Known | None:
    k = s.pick(lambda k: not k.value.dtype.is_complex)
    if k is None:
        return None
    o = s.like(k)
    if k.value.dtype.is_pred:
        return Known(
            s.b.map(k.value, o.value, dimensions=tuple(range(k.rank)), to_apply=lambda x, y: x & ~y)
        )
    made = s.b.map(
        k.value,
        o.value,
        dimensions=tuple(range(k.rank)),
        to_apply=lambda x, y: s.choice.choice(
            (lambda: x - y, lambda: x.maximum(y) + y, lambda: x.builder.select(x < y, y, x) - x)
        )(),
    )
    return s.made(
        made, 2 * (k.bound + o.bound), max(k.denominator, o.denominator), k.exact and o.exact
    )


def complex_pair(s: Families) -> Known | None:
    k = s.pick(lambda k: k.kind == "f32")
    if k is None or s.extremes:
        return None
    o = s.like(k)
    return s.made(
        s.b.complex(k.value, o.value),
        2 * (k.bound + o.bound),
        max(k.denominator, o.denominator),
        k.exact and o.exact,
    )


def chain(s: Families) -> Known | None:
    """Many elementwise steps in a row, shared sub-expressions among them."""
    k = s.pick(lambda k: not k.value.dtype.is_complex)
    if k is None:
        return None
    for _ in range(s.choice.randint(3, 25)):
        s.known.append(k)
        made = s.choice.choice((binary, binary, unary, select))(s)
        if made is not None:
            k = made
    return k


ELEMENTWISE = (
    unary,
    unary,
    binary,
    binary,
    binary,
    compare,
    select,
    clamp,
    convert,
    bits,
    mapped,
    complex_pair,
    chain,
)
