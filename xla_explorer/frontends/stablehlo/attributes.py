"""MLIR attributes as Python values.

Integers, floats, truth values and strings are themselves; lists and `array<...>` are tuples;
dictionaries keep their text; `dense<...>` is a Literal; `@name` a Symbol; an enumeration such as
`#stablehlo<precision HIGH>` a Keyword; `#stablehlo.gather<...>` a Dictionary of its fields; types
are themselves; unknown attributes are Opaque. Source: StableHLO specification; StablehloAttrs.td
for the fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.frontends.stablehlo.dense import (
    decode_bytes,
    decode_dense,
    elided_literal,
    read_dense,
)
from xla_explorer.frontends.stablehlo.reader import IDENTIFIER, STRING, WORD, Reader
from xla_explorer.frontends.stablehlo.types import read_shape, read_type, starts_type
from xla_explorer.hlo.attributes import ConvolutionDimensionNumbers
from xla_explorer.hlo.literal import Literal


class Symbol(str):
    """The name of a function or mesh."""


class Keyword(str):
    """A bare word: a value of an enumeration."""


class Opaque(NamedTuple):
    """An attribute that is kept as it was written."""

    text: str


class Dictionary(dict[str, Any]):
    """Named attributes; `text` is how they were written."""

    text: str = ""


NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w.])")
_SCALAR_FOLLOWS = re.compile(r":\s*(?=[us]?i\d|bf16|f\d|index)")
_DIALECT = re.compile(r"#([A-Za-z_][\w$.\-]*)")
_OWN = ("stablehlo", "mhlo", "chlo")
_PLUS = re.compile(r"[A-Za-z_0-9]+")


def read_attribute(reader: Reader) -> Any:
    """Read the attribute at the cursor."""
    start = reader.skip()
    by_character = _BY_CHARACTER.get(reader.text[start : start + 1])
    if by_character is not None:
        return by_character(reader)
    number = reader.take(NUMBER)
    if number is not None:
        return _number(reader, number.group())
    word = WORD.match(reader.text, start)
    name = word.group() if word else ""
    by_word = _BY_WORD.get(name)
    if by_word is not None:
        reader.at = start + len(name)
        return by_word(reader, start)
    if starts_type(reader):
        return read_type(reader)
    if name:
        reader.at = start + len(name)
        if reader.text.startswith("<", reader.at):
            return Opaque(name + reader.balanced())
        return Keyword(name)
    reader.fail(
        f"expected an attribute, found {reader.found()}",
        "write a number, a string, a list, dense<...> or #dialect.name<...>",
    )


def _symbol(reader: Reader) -> Symbol:
    name = reader.symbol()
    while reader.accept("::"):
        name += "::" + reader.symbol()
    return Symbol(name)


def _dense(reader: Reader, _: int) -> Literal:
    written = read_dense(reader)
    reader.expect(":", "a dense literal")
    return decode_dense(reader, read_shape(reader), written)


def _opaque(reader: Reader, start: int) -> Literal | Opaque:
    """Read `opaque<...> : type`, in which older MLIR elides values, or another opaque attribute."""
    text = reader.balanced()
    if reader.accept(":"):
        return elided_literal(reader, read_shape(reader), start)
    return Opaque("opaque" + text)


def _number(reader: Reader, text: str) -> int | float:
    integral = re.fullmatch(r"-?(\d+|0x[0-9A-Fa-f]+)", text) is not None
    shape = (
        read_shape(reader) if reader.take(_SCALAR_FOLLOWS) is not None else None
    )  # not the type of an operation
    if shape is not None and shape.element_type.is_float:
        if "0x" in text:
            size = shape.element_type.dtype.itemsize
            if "-" in text or int(text, 16) >> 8 * size:
                reader.fail(
                    f"{text[:40]} is not the bits of a {shape.element_type}",
                    f"write {2 * size} hexadecimal digits at most",
                )
            return float(
                np.frombuffer(int(text, 16).to_bytes(size, "little"), shape.element_type.dtype)[0]
            )
        return float(text)
    return int(text, 0 if "0x" in text else 10) if integral else float(text)


def read_list(reader: Reader) -> tuple[Any, ...]:
    """Read `[a, b]`."""
    reader.expect("[", "a list")
    found = []
    while not reader.accept("]"):
        found.append(read_attribute(reader))
        if not reader.accept(","):
            reader.expect("]", "a list")
            break
    return tuple(found)


def read_dictionary(reader: Reader, opening: str = "{", closing: str = "}") -> Dictionary:
    """Read `{name = value, flag}`."""
    start = reader.skip()
    reader.expect(opening, "a dictionary")
    found = Dictionary()
    while not reader.accept(closing):
        word = reader.take(IDENTIFIER)
        name = word.group() if word else reader.string()
        found[name] = read_attribute(reader) if reader.accept("=") else True
        if not reader.accept(","):
            reader.expect(closing, "a dictionary")
            break
    found.text = reader.text[start : reader.at]
    return found


def _array(reader: Reader, _: int) -> tuple[Any, ...]:
    """Read `array<i64: 1, 2>`."""
    reader.expect("<", "an array")
    read_type(reader)
    found: list[Any] = []
    if reader.accept(":"):
        while not reader.peek(">"):
            found.append(read_attribute(reader))
            if not reader.accept(","):
                break
    reader.expect(">", "an array")
    return tuple(found)


def _resource(reader: Reader, start: int) -> Literal:
    """Read `dense_resource<name> : type`.

    Some printers elide the values; then the resource section does not hold the name.
    """
    reader.expect("<", "a resource")
    m = reader.take(STRING) or reader.need(WORD, "the name of a resource")
    reader.expect(">", "a resource")
    reader.expect(":", "a resource")
    shape = read_shape(reader)
    raw = reader.resource(m.group().strip('"'))
    return (
        elided_literal(reader, shape, start)
        if raw is None
        else decode_bytes(reader, shape, raw, start)
    )


def _hash(reader: Reader) -> Any:
    start = reader.at
    m = reader.need(_DIALECT, "an attribute")
    name = m.group(1)
    if f"#{name}" in reader.aliases:
        if f"#{name}" not in reader.known_aliases:
            here, reader.at = reader.at, reader.aliases[f"#{name}"]
            reader.known_aliases[f"#{name}"] = read_attribute(reader)
            reader.at = here
        return reader.known_aliases[f"#{name}"]
    dialect, _, kind = name.partition(".")
    if dialect not in _OWN:
        if reader.text.startswith("<", reader.at):
            reader.balanced()
        return Opaque(reader.text[start : reader.at])
    if kind == "conv":
        reader.expect("<", "dimension numbers")
        numbers = (
            _raw_convolution(reader) if reader.peek("raw") else read_convolution_numbers(reader)
        )
        reader.expect(">", "dimension numbers")
        return numbers
    if not kind:  # `#stablehlo<precision HIGH>`, or the long form `#stablehlo<gather<...>>`
        reader.expect("<", "an enumeration")
        kind = reader.need(WORD, "the name of an enumeration").group()
        if not reader.peek("<"):
            word = reader.need(_PLUS, "a value of the enumeration").group()
            reader.expect(">", "an enumeration")
            return Keyword(word)
        found = read_fields(reader, f"#{dialect}<{kind}>")
        reader.expect(">", "an attribute")
        return found
    return read_fields(reader, f"#{name}") if reader.peek("<") else Keyword(kind)


def read_fields(reader: Reader, what: str) -> Any:
    """Read `<name = value, ...>` as a Dictionary, `<WORD>` as a Keyword, other text as Opaque."""
    start = reader.skip()
    reader.expect("<", what)
    if re.compile(r"\s*[A-Za-z_]\w*\s*=").match(reader.text, reader.at) or reader.peek(">"):
        reader.at = start
        return read_dictionary(reader, "<", ">")
    word = re.compile(r"\s*([A-Za-z_0-9]+)\s*>").match(reader.text, reader.at)
    if word is not None:
        reader.at = word.end()
        return Keyword(word.group(1))
    reader.at = start
    return Opaque(what + reader.balanced())


_SIDE = re.compile(r"\[([^\]]*)\]")


def read_convolution_numbers(reader: Reader) -> ConvolutionDimensionNumbers:
    """Read `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`."""
    sides = []
    for before, letters in (("", "bf"), ("x", "io"), ("->", "bf")):
        if before:
            reader.expect(before, "dimension numbers")
        at = reader.skip()
        labels = [
            label.strip()
            for label in reader.need(_SIDE, "dimension labels such as [b, 0, 1, f]")
            .group(1)
            .split(",")
        ]
        spatial = sorted(label for label in labels if label.isdecimal())
        if sorted(labels) != sorted([*letters, *map(str, range(len(spatial)))]):
            reader.fail(
                f"the labels {', '.join(labels)} must be {letters[0]}, {letters[1]} and spatial "
                "numbers from 0, each once",
                "write for example [b, 0, 1, f]",
                at,
            )
        sides.append(labels)
    if len({len(labels) for labels in sides}) != 1:
        reader.fail(
            "the sides differ in their number of dimensions",
            "give every side the same number of labels",
            at,
        )
    return _numbers_of(sides)


def _numbers_of(sides: list[list[str]]) -> ConvolutionDimensionNumbers:
    lhs, rhs, out = sides
    spatial = [str(k) for k in range(len(lhs) - 2)]
    text = f"{''.join(lhs)}_{''.join(rhs)}->{''.join(out)}"
    return ConvolutionDimensionNumbers(
        lhs.index("b"),
        lhs.index("f"),
        tuple(map(lhs.index, spatial)),
        rhs.index("i"),
        rhs.index("o"),
        tuple(map(rhs.index, spatial)),
        out.index("b"),
        out.index("f"),
        tuple(map(out.index, spatial)),
        text,
    )


def _raw_convolution(reader: Reader) -> ConvolutionDimensionNumbers:
    """Read the long form, `raw input_batch_dimension = 0, ...`."""
    start = reader.at
    reader.keyword("raw")
    fields: dict[str, Any] = {}
    while not reader.peek(">"):
        name = reader.need(WORD, "a field of dimension numbers").group()
        reader.expect("=", "dimension numbers")
        fields[name] = read_attribute(reader)
        if not reader.accept(","):
            break

    def side(prefix: str, letters: tuple[tuple[str, str], ...]) -> list[str]:
        spatial = integers(fields.get(f"{prefix}_spatial_dimensions", ()))
        places = {fields[f"{prefix}_{name}_dimension"]: letter for letter, name in letters}
        places.update({place: str(number) for number, place in enumerate(spatial)})
        return [places[k] for k in range(len(places))]

    try:
        batch = (("b", "batch"), ("f", "feature"))
        return _numbers_of(
            [
                side("input", batch),
                side("kernel", (("i", "input_feature"), ("o", "output_feature"))),
                side("output", batch),
            ]
        )
    except (KeyError, ValueError) as problem:
        reader.fail(
            f"the dimension numbers are not complete: {problem}",
            "write #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>",
            start,
            3,
        )


LONGEST = 1 << 20  # most elements of a constant of sizes, groups or indices


def integers(value: Any) -> tuple[int, ...]:
    """Return a list of integers in any spelling: `array<i64: ...>`, `[...]`, `dense<...>`."""
    if (
        isinstance(value, Literal)
        and value.shape.element_count <= LONGEST
        and not value.shape.element_type.is_float
    ):
        return tuple(map(int, value.array.reshape(-1)))
    if isinstance(value, tuple) and all(isinstance(one, int) for one in value):
        return tuple(map(int, value))
    raise ValueError(f"expected a list of integers, got {value!r}")


_BY_CHARACTER: dict[str, Callable[[Reader], Any]] = {
    '"': Reader.string,
    "[": read_list,
    "{": read_dictionary,
    "@": _symbol,
    "#": _hash,
}
# A reader gets the offset of its word, and begins after it.
_BY_WORD: dict[str, Callable[[Reader, int], Any]] = {
    "true": lambda reader, _: True,
    "false": lambda reader, _: False,
    "unit": lambda reader, _: True,
    "dense": _dense,
    "dense_resource": _resource,
    "opaque": _opaque,
    "array": _array,
    "loc": lambda reader, _: Opaque("loc" + reader.balanced()),
}
