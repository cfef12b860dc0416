"""A program of one opcode as a text with holes, and how its arguments are drawn.

Texts have holes: `{t}` is the element type, `{n}` and `{m}` are sizes, so that a failure can be
minimised to smaller sizes.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]

FLOAT = ("f16", "bf16", "f32", "f64")
SIGNED = ("s8", "s16", "s32", "s64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGER = SIGNED + UNSIGNED
COMPLEX = ("c64", "c128")
REAL = FLOAT + INTEGER
NUMBER = REAL + COMPLEX
BITS = ("pred", *INTEGER)
ANY = ("pred", *NUMBER)
SMALL = (4, 6)
"""What runs first, for every element type."""
LARGE = (33, 65)
"""Sizes for one element type: several tiles of most devices in each dimension, with a tail."""
SIZES = ((1, 1), (2, 2), (2, 3), SMALL, LARGE)
"""From small to large, for the search for the smallest failure."""


class OpcodeProgram(NamedTuple):
    """A program of one opcode.

    types: supported element types. body: lines of the entry. functions: computations before it.
    values: distribution of its arguments.

    - `any`: both signs. `positive`: 0.5 to 2. `unit`: inside -1 .. 1. `ties`: halves.
    - `tiny`: around 1e-5. `huge`: to beyond every integer type.
    - `special`: NaN, infinities and zeros of both signs among them.
    - `spd`: symmetric, positive definite.
    - `index`: 0 to 9. `outside`: -3 to 40, so that indices are out of bounds.
    - `small`: shift counts, -3 .. 3. `nonzero`: -9 to 9.
    - `edges`: of integers the ends of the type, -1, 0, its width.
    """

    opcode: str
    types: tuple[str, ...]
    body: str
    functions: str = ""
    values: str = "any"

    def text(self, element_type: str, sizes: tuple[int, int]) -> str:
        """Return the module's text for an element type and sizes."""
        n, m = sizes
        partner = {"c64": "f32", "c128": "f64", "f32": "c64", "f64": "c128"}.get(
            element_type, ""
        )  # real and complex
        holes = {
            "t": element_type,
            "c": partner,
            "n": n,
            "m": m,
            "nn": 2 * n,
            "mm": 2 * m,
            "n2": n + 2,
            "m1": m + 1,
            "h": (n + 1) // 2,
            "e": n * m,
            "hm": (m + 1) // 2,
            "odd_n": 2 * n - 1,
            "odd_m": 2 * m - 1,
            "double_n1": 2 * n + 1,
        }
        holes |= (
            {"zero": "(0, 0)", "one": "(1, 0)"}
            if element_type in COMPLEX
            else {"zero": "0", "one": "1"}
        )
        text = self.functions + "ENTRY main {\n" + self.body.strip("\n") + "\n}\n"
        for hole, value in holes.items():
            text = text.replace("{" + hole + "}", str(value))
        return f"HloModule {self.opcode.replace('-', '_')}_{element_type}\n\n" + text


def unary(names: str, types: tuple[str, ...], values: str = "any") -> list[OpcodeProgram]:
    """Return a program for each of some opcodes of one operand."""
    body = "  x = {t}[{n},{m}] parameter(0)\n  ROOT r = {t}[{n},{m}] %s(x)"
    return [OpcodeProgram(name, types, body % name, "", values) for name in names.split()]


def binary(names: str, types: tuple[str, ...], values: str = "any") -> list[OpcodeProgram]:
    """Return a program for each of some opcodes of two operands."""
    body = "  x = {t}[{n},{m}] parameter(0)\n  y = {t}[{n},{m}] parameter(1)\n  ROOT r = {t}[{n},{m}] %s(x, y)"
    return [OpcodeProgram(name, types, body % name, "", values) for name in names.split()]


def fold(opcode: str) -> str:
    """Return the text of a computation of two scalars, called `fold`."""
    return (
        "fold {\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = {t}[] "
        + opcode
        + "(a, b)\n}\n\n"
    )


def large_type(program: OpcodeProgram) -> str:
    """Return the element type for which a program runs at its large size, too."""
    return "f32" if "f32" in program.types else program.types[0]


def draw(shape: Shape, values: str, seed: int) -> Array:
    """Draw one argument leaf."""
    generator = np.random.default_rng(seed)
    kind, sizes = shape.element_type, shape.dimensions
    if kind.is_pred:
        return np.asarray(generator.integers(0, 2, sizes), dtype=bool)
    if values == "spd" and len(sizes) == 2 and sizes[0] == sizes[1]:
        root = generator.standard_normal(sizes)
        return np.asarray(root @ root.T + sizes[0] * np.eye(sizes[0])).astype(kind.dtype)
    if kind.is_integer:
        return _integers(generator, kind, values, sizes).astype(kind.dtype)
    drawn = _floats(generator, values, sizes)
    if kind.is_complex:
        drawn = drawn + 1j * generator.uniform(-1, 1, sizes)
    with np.errstate(over="ignore"):  # huge numbers are infinite in narrow types
        return np.asarray(drawn).astype(kind.dtype)


# From this integer to below that one; the first of a signed type is below zero if `any`.
_RANGES: Final = {
    "positive": (1, 9), "index": (0, 10), "small": (0, 7), "outside": (-3, 40), "nonzero": (1, 10),
}  # fmt: skip
_CHOICES: Final[dict[str, tuple[float, ...]]] = {
    "special": (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5),
    "huge": (3e38, -3e38, 3e9, -3e9, 300.7, -300.7, 2.5, -0.0, np.nan, np.inf, -np.inf),
    "ties": tuple([k + 0.5 for k in range(-9, 10)]),
}
_UNIFORM: Final = {"positive": (0.5, 2.0), "unit": (-1.0, 1.0), "index": (-1.0, 1.0)}


def _integers(
    generator: np.random.Generator, kind: PrimitiveType, values: str, sizes: tuple[int, ...]
) -> Array:
    if values == "edges":
        ends, width = np.iinfo(kind.dtype), kind.dtype.itemsize * 8
        some = [ends.min, ends.max, 0, 1, 3, 7, width - 1, width, width + 1, ends.max - 1]
        some += [-1, -3, -7, ends.min + 1] if kind.is_signed else []
        return np.asarray(generator.choice(np.array(some, kind.dtype), sizes))
    low, high = _RANGES.get(values, (-9, 10))
    drawn = np.asarray(generator.integers(low if kind.is_signed else max(low, 0), high, sizes))
    is_both = values == "nonzero" and kind.is_signed
    return drawn * generator.choice([-1, 1], sizes) if is_both else drawn


def _floats(generator: np.random.Generator, values: str, sizes: tuple[int, ...]) -> Array:
    if values in _CHOICES:
        return np.asarray(generator.choice(_CHOICES[values], sizes))
    if values in _UNIFORM:
        return np.asarray(generator.uniform(*_UNIFORM[values], sizes))
    return np.asarray(generator.standard_normal(sizes)) * (1e-5 if values == "tiny" else 3)
