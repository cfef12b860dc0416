"""Random well-formed modules through `HloBuilder`, with arguments; a seed names a module.

Every float has recorded bounds: its magnitude, its fraction bits, and whether every way of
computing it gives the same bits. Discontinuous operations (compare, floor, float to integer, sort)
take only values of the last kind. A difference in rounding therefore never becomes a difference in
value, and integers and predicates can be compared exactly.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.properties.random_families import Families, Known
from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape

FLOATS = ("f32", "f32", "f32", "f64", "bf16", "f16")
INTEGERS = ("s32", "s32", "u8", "s8", "s64", "u32", "u64", "s16", "u16")
INTEGER_EXTREMES = (
    0,
    1,
    -1,
    2,
    7,
    -8,
    31,
    32,
    63,
    127,
    -128,
    255,
    2**31 - 1,
    -(2**31),
    2**63 - 1,
    -(2**63),
)
FLOAT_EXTREMES = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.inf,
    -np.inf,
    np.nan,
    0.5,
    -2.5,
    3e4,
    -1e30,
    1e-30,
    5e-324,
    2.0**31,
    -(2.0**63),
    255.5,
)


class RandomModule(NamedTuple):
    """A module, its arguments, and for each result leaf its bound and its exactness.

    A bound of None: values are not compared. Exact: every computation of the leaf gives the same
    value. extremes: arguments hold NaN, infinities and extreme integers.
    """

    module: HloModule
    arguments: tuple[Any, ...]
    bounds: list[float]
    exact: list[bool]
    extremes: bool


class ModuleWriter:
    """Writes one module.

    choice: a `random.Random` (or what behaves like one). rare: families to take beside the others,
    for the share `rare_share` of all.
    """

    rare_share = 0.4

    def __init__(
        self,
        choice: random.Random,
        size: int = 14,
        *,
        extremes: bool = False,
        rare: tuple[Callable[[Families], Any], ...] = (),
    ) -> None:
        self.choice, self.extremes, self.rare = choice, extremes, rare
        self.size = choice.randint(1, size)
        self.builder = HloBuilder("random", locations=False)
        # A module has few distinct sizes, so that shapes meet.
        self.sizes = [choice.choice((1, 2, 3, 4, 5, 7, 8, 16, 33, 65, 130)) for _ in range(3)]
        self.most = 3000
        if choice.random() < 0.1:
            # Enough for several threads, tiles and vector loops.
            self.sizes = [choice.choice((64, 100, 257, 512)) for _ in range(2)]
            self.most, self.size = 300000, min(self.size, 8)
        if choice.random() < 0.15:
            self.sizes.append(0)
        kinds = [
            choice.choice(FLOATS),
            choice.choice(INTEGERS),
            choice.choice(("pred", "s32", "f32", "s64", "bf16", "c64", "c128", "u8")),
        ]
        self.kinds = kinds

    def shape(self) -> tuple[int, ...]:
        sizes: list[int] = []
        for _ in range(self.choice.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))):
            size = self.choice.choice(self.sizes)
            sizes.append(size if np.prod([*sizes, size]) <= self.most else 1)
        return tuple(sizes)

    def numbers(
        self, kind: str, dimensions: tuple[int, ...], generator: np.random.Generator
    ) -> np.ndarray[Any, Any]:
        t = PRIMITIVE_TYPES[kind]
        if t.is_pred:
            return np.asarray(generator.integers(0, 2, dimensions), dtype=bool)
        with np.errstate(all="ignore"):
            if t.is_integer:
                if not self.extremes:
                    return np.asarray(
                        generator.integers(-4 if t.is_signed else 0, 9, dimensions)
                    ).astype(t.dtype)
                wild = np.asarray(
                    generator.choice(np.array(INTEGER_EXTREMES, np.int64), dimensions)
                )
                tame = np.asarray(generator.integers(-9, 40, dimensions))
                return np.where(generator.random(dimensions) < 0.5, wild, tame).astype(t.dtype)
            values = np.asarray(generator.integers(-16, 17, dimensions)) / 4.0
            if t.is_complex:
                return (
                    values + 1j * np.asarray(generator.integers(-8, 9, dimensions)) / 2.0
                ).astype(t.dtype)
            if self.extremes:
                wild = np.asarray(generator.choice(np.array(FLOAT_EXTREMES), dimensions))
                values = np.where(generator.random(dimensions) < 0.4, wild, values)
            return values.astype(t.dtype)

    def write(self) -> RandomModule:
        generator = np.random.default_rng(self.choice.getrandbits(32))
        choice, b = self.choice, self.builder
        scope = Families(
            b,
            choice,
            self.kinds,
            self.shape,
            extremes=self.extremes,
            numbers=lambda k, d: self.numbers(k, d, generator),
        )
        scope.largest = max(scope.largest, 2 * self.most)
        scope.rare, scope.rare_share = self.rare, self.rare_share
        arguments: list[Any] = []
        for _ in range(choice.randint(1, 4)):
            kind = choice.choice(self.kinds)
            shape = self.parameter_shape(kind)
            parts = [shape]
            if choice.random() < 0.08:
                parts = [shape, self.parameter_shape(choice.choice(self.kinds))]
                value = b.parameter(tuple_shape(parts))
                values = [value[0], value[1]]
            else:
                value = b.parameter(shape)
                values = [value]
            arrays = []
            for part, v in zip(parts, values, strict=True):
                arrays.append(self.numbers(part.element_type.name, part.dimensions, generator))
                scope.add(scope.leaf(v))
            arguments.append(tuple(arrays) if len(parts) > 1 else arrays[0])
        if choice.random() < 0.7:
            v = b.parameter(array_shape("s32", ()))
            arguments.append(self.numbers("s32", (), generator))
            scope.add(scope.leaf(v))
        if choice.random() < 0.2:
            # A parameter without readers.
            shape = array_shape(choice.choice(self.kinds), self.shape())
            b.parameter(shape)
            arguments.append(self.numbers(shape.element_type.name, shape.dimensions, generator))
        scope.grow(self.size, depth=2)
        return self.finish(scope, tuple(arguments))

    def parameter_shape(self, kind: str) -> Shape:
        shape = array_shape(kind, self.shape())
        if shape.rank > 1 and self.choice.random() < 0.2:
            order = list(range(shape.rank))
            self.choice.shuffle(order)
            return shape.with_layout(tuple(order))
        return shape

    def finish(self, scope: Families, arguments: tuple[Any, ...]) -> RandomModule:
        choice = self.choice
        recent = scope.known[-6:]
        if choice.random() < 0.4:
            outputs = [recent[-1]]
            module_root: Any = outputs[0].value
            if choice.random() < 0.1:
                module_root = [module_root]
        else:
            pool: list[Known] = (
                recent + scope.known[:2] + (scope.known if choice.random() < 0.5 else [])
            )
            outputs = [choice.choice(pool) for _ in range(choice.choice((1, 2, 3, 4, 6, 9)))]
            if choice.random() < 0.15:
                outputs.append(scope.constant_of(choice.choice(self.kinds), self.shape()))
            module_root = [o.value for o in outputs]
            if choice.random() < 0.1:
                outputs.append(outputs[0])
                module_root = [scope.b.tuple(*module_root), outputs[0].value]
        module = (
            self.builder.build(module_root)
            if not isinstance(module_root, list)
            else self.builder.build(*_as_tuple(self.builder, module_root))
        )
        if choice.random() < 0.25:
            module.attributes["entry_computation_layout"] = self.other_layout(module)
        return RandomModule(
            module, arguments, [o.bound for o in outputs], [o.exact for o in outputs], self.extremes
        )

    def other_layout(self, module: HloModule) -> str:
        """Return non-default layouts of the result and, in half the modules, of the parameters."""

        def text(shape: Shape) -> str:
            if shape.is_tuple:
                return "(" + ", ".join([text(part) for part in shape.tuple_shapes]) + ")"
            order = list(range(shape.rank))
            self.choice.shuffle(order)
            return shape.with_layout(tuple(order)).text

        with_parameters = self.choice.random() < 0.5
        parameters = ", ".join(
            [text(shape) if with_parameters else shape.text for shape in module.parameter_shapes()]
        )
        return f"{{({parameters})->{text(module.entry.root.shape)}}}"


def _as_tuple(builder: HloBuilder, values: list[HloValue]) -> list[Any]:
    return [values] if len(values) == 1 else values


def random_module(seed: int, size: int = 14, *, extremes: bool | None = None) -> RandomModule:
    """Return the module of a seed; `extremes` None takes extreme arguments in one of four."""
    choice = random.Random(seed)
    return ModuleWriter(
        choice, size, extremes=choice.random() < 0.25 if extremes is None else extremes
    ).write()


Check = Callable[[RandomModule], None]
