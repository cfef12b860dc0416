"""A rule's example with other element types and other sizes, as far as they are well formed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from xla_explorer.compiler.rewriting.example import example_module
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes.spec import Family
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.verifier import verify

_TYPES = [name for name, kind in PRIMITIVE_TYPES.items() if kind.is_array_type]
_SHAPE = re.compile(r"\b(" + "|".join(_TYPES) + r")\[([\d,]*)\]")
_SIZES = re.compile(r"(?<=slice_sizes=\{)[\d,]+")
_SMALL_SIZES = (0, 1, 2, 3, 4, 5, 6, 8, 12)
_MOST_SHAPES = 400
"""Largest number of tried assignments of sizes to the sizes of an example."""


class Variant(NamedTuple):
    """An example as text with the element types that replace its own."""

    text: str
    types: tuple[str, ...]

    def module(self) -> HloModule | None:
        """Return the module, or None if it is not well formed."""
        try:
            module = parse_hlo(example_module(self.text))
            verify(module)
        except (XlaExplorerError, ValueError, TypeError, OverflowError):
            return None
        return module


def retyped(rule: Rule) -> Iterator[Variant]:
    """Yield the example with every element type; for two types of a conversion with every pair.

    Otherwise one of several types is replaced at a time. `pred` of a condition stays if there are
    other types.
    The variants are not checked to be well formed.
    """
    own = list(dict.fromkeys([found[0] for found in _SHAPE.findall(rule.before)]))
    replaced = [name for name in own if name != "pred"] or own
    choices: Iterator[tuple[str, ...]] = itertools.product(_TYPES, repeat=len(replaced))
    if len(replaced) > 2 or (len(replaced) == 2 and "convert(" not in rule.before):
        choices = iter(
            [
                (*replaced[:number], name, *replaced[number + 1 :])
                for number in range(len(replaced))
                for name in _TYPES
            ]
        )
    for types in dict.fromkeys(choices):
        names = dict(zip(replaced, types, strict=True))
        yield Variant(_with_types(rule.before, names), types)


def _with_types(text: str, names: dict[str, str]) -> str:
    return _SHAPE.sub(lambda found: f"{names.get(found[1], found[1])}[{found[2]}]", text)


def resized(text: str) -> Iterator[str]:
    """Yield the example with other sizes: empty, one, equal, and others.

    Equal sizes of the example stay equal. The variants are not checked to be well formed.
    """
    sizes = sorted({n for found in _SHAPE.findall(text) for n in found[1].split(",") if n})
    if not sizes:
        return
    total = len(_SMALL_SIZES) ** len(sizes)
    every = max(1, total // _MOST_SHAPES)
    every += every > 1 and every % 3 == 0  # not in step with the number of sizes
    choices = itertools.islice(itertools.product(_SMALL_SIZES, repeat=len(sizes)), 0, None, every)
    for chosen in choices:
        yield with_sizes(text, dict(zip(sizes, map(str, chosen), strict=True)))


def with_sizes(text: str, sizes: dict[str, str]) -> str:
    """Return the text with sizes of shapes and slices replaced."""

    def replaced(numbers: str) -> str:
        return ",".join([sizes.get(n, n) for n in numbers.split(",")])

    text = _SHAPE.sub(lambda found: f"{found[1]}[{replaced(found[2])}]", text)
    return _SIZES.sub(lambda found: replaced(found[0]), text)


def is_elementwise(module: HloModule) -> bool:
    """Return True if element i of the result depends on element i of the parameters only."""
    dimensions = {p.shape.dimensions for p in module.entry.parameters() if p.shape.is_array}
    return (
        len(module.computations) == 1
        and len(dimensions) == 1
        and len(next(iter(dimensions))) == 1
        and all(p.shape.is_array for p in module.entry.parameters())
        and all(
            i.opcode.elementwise
            or i.opcode.name in ("parameter", "constant")
            or (i.opcode.name == "broadcast" and not i.operands[0].shape.dimensions)
            for i in module.entry.instructions.values()
        )
    )


def only_moves(module: HloModule) -> bool:
    """Return True if each element of the result is an element of a parameter or a constant."""
    moving = (Family.DATA_MOVEMENT, Family.STRUCTURAL)
    return len(module.computations) == 1 and all(
        i.opcode.family in moving for i in module.entry.instructions.values()
    )
