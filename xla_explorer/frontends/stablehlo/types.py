"""MLIR types as shapes: `tensor<2x?xf32, #stablehlo.bounds<?, 4>>` is `f32[2,<=4]`.

Source: StableHLO specification, section Types; XLA's translation of element types (i1 is pred, iN
signed).
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from xla_explorer.frontends.stablehlo.reader import INTEGER, WORD, Reader
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.shape import (
    UNBOUNDED,
    Shape,
    ShapeError,
    array_shape,
    token_shape,
    tuple_shape,
)


class FunctionType(NamedTuple):
    """`(inputs) -> results`."""

    inputs: tuple[MlirType, ...]
    results: tuple[MlirType, ...]


class FutureType(NamedTuple):
    """`!stablehlo.future<...>`: the results of an asynchronous operation."""

    parts: tuple[Shape, ...]


class OpaqueType(NamedTuple):
    """A type without values in HLO, which attributes may have."""

    text: str


MlirType: TypeAlias = "Shape | FunctionType | FutureType | OpaqueType"

_SIMPLE = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([A-Za-z]\w*)>")
_DIMENSION = re.compile(r"(\d+|\?)x")
_FLOAT_NAMES = {
    f"{name[:2]}{name[2:].upper()}": name for name in PRIMITIVE_TYPES if re.match(r"f[468]e", name)
}
_ELEMENTS: dict[str, PrimitiveType] = {
    "i1": PRIMITIVE_TYPES["pred"],
    "index": PRIMITIVE_TYPES["s64"],
    **{name: PRIMITIVE_TYPES[name] for name in ("f16", "bf16", "f32", "f64")},
    **{
        f"{mark}i{bits}": PRIMITIVE_TYPES[f"{kind}{bits}"]
        for mark, kind in (("", "s"), ("s", "s"), ("u", "u"))
        for bits in (2, 4, 8, 16, 32, 64)
    },
    **{mlir: PRIMITIVE_TYPES[name] for mlir, name in _FLOAT_NAMES.items()},
}
_KNOWN: dict[str, Shape] = {}
_STARTS = re.compile(
    r"tensor<|tuple<|!|\(|(?:[us]?i\d+|bf16|f\d+\w*|index|none|complex<|vector<|memref<)"
)


def element_type(reader: Reader) -> PrimitiveType:
    """Read the element type at the cursor. Fail, or refuse quantised ones."""
    start = reader.skip()
    if reader.peek("!quant"):
        reader.at += len("!quant")
        reader.take(WORD)
        text = reader.text[start : reader.at] + (reader.balanced() if reader.peek("<") else "")
        reader.at = start
        reader.refuse(
            "quantized-type",
            f"{text} is a quantised type, and HLO has none",
            "dequantise before export (stablehlo-legalize-quant-to-math), or give the integer "
            "tensor and its scale",
            start,
            len(text),
        )
    word = reader.take(re.compile(r"[A-Za-z]\w*"))
    name = word.group() if word else ""
    if name == "complex" and reader.accept("<"):
        part = element_type(reader)
        reader.expect(">", "a complex type")
        if part.name not in ("f32", "f64"):
            reader.refuse(
                "element-type",
                f"HLO has no type complex<{part.name}>",
                "use complex<f32> or complex<f64>",
                start,
                reader.at - start,
            )
        return PRIMITIVE_TYPES["c64" if part.name == "f32" else "c128"]
    found = _ELEMENTS.get(name)
    if found is None:
        reader.at = start
        reader.refuse(
            "element-type",
            f"{name or reader.found()} is not an element type of HLO",
            "HLO has i1, i2 to i64, ui2 to ui64, f16, bf16, f32, f64, complex and "
            f"{', '.join(sorted(_FLOAT_NAMES)[:3])} ...",
            start,
            max(len(name), 1),
        )
    return found


def starts_type(reader: Reader) -> bool:
    """Return True if a type comes next."""
    return _STARTS.match(reader.text, reader.skip()) is not None


def read_type(reader: Reader) -> MlirType:
    """Read the type at the cursor."""
    m = _SIMPLE.match(reader.text, reader.skip())
    if m is not None:
        shape = _KNOWN.get(m.group())
        if shape is None:
            kind = _ELEMENTS.get(m.group(2))
            if kind is None:
                reader.at = m.start(2)
                element_type(reader)  # fails at the place
            assert kind is not None
            sizes = [UNBOUNDED if size == "?" else int(size) for size in m.group(1).split("x")[:-1]]
            shape = _KNOWN[m.group()] = _array(reader, kind, sizes, None)
        reader.at = m.end()
        return shape
    return _other_type(reader)


def _array(
    reader: Reader, kind: PrimitiveType, sizes: list[int], bounds: list[int] | None
) -> Shape:
    dynamic = tuple([size == UNBOUNDED for size in sizes])
    if bounds is not None:
        sizes = [
            bound if size == UNBOUNDED and bound != UNBOUNDED else size
            for size, bound in zip(sizes, bounds, strict=True)
        ]
    try:
        return array_shape(kind, sizes, None, dynamic)
    except ShapeError as problem:
        reader.fail(str(problem), "use smaller dimensions")


def _other_type(reader: Reader) -> MlirType:
    if reader.accept("tensor<"):
        return _tensor(reader, reader.at - len("tensor<"))
    if reader.accept("tuple<"):
        return _tuple(reader)
    if reader.accept("("):
        inputs = type_list(reader, ")")
        reader.expect("->", "a function type")
        return FunctionType(inputs, read_results(reader))
    if reader.peek("!"):
        return _dialect_type(reader)
    word = WORD.match(reader.text, reader.at)
    if word is not None and word.group() in ("memref", "vector", "none"):
        reader.at = word.end()
        return OpaqueType(word.group() + (reader.balanced() if reader.peek("<") else ""))
    if word is None:
        reader.fail(
            f"expected a type, found {reader.found()}", "write a type such as tensor<2x3xf32>"
        )
    return array_shape(element_type(reader), ())


def _tensor(reader: Reader, start: int) -> Shape:
    """Read the rest of a tensor type, which begins at `start`."""
    if reader.accept("*"):
        reader.refuse(
            "unranked",
            "a tensor of unknown rank has no HLO shape",
            "export the program with static shapes",
            start,
            8,
        )
    sizes = []
    while (m := reader.take(_DIMENSION)) is not None:
        sizes.append(UNBOUNDED if m.group(1) == "?" else int(m.group(1)))
    kind = element_type(reader)
    bounds = _bounds(reader, len(sizes)) if reader.accept(",") else None
    reader.expect(">", "a tensor type")
    return _array(reader, kind, sizes, bounds)


def _tuple(reader: Reader) -> Shape:
    parts: list[Shape] = []
    while not reader.accept(">"):
        parts.append(read_shape(reader))
        if not reader.accept(","):
            reader.expect(">", "a tuple type")
            break
    return tuple_shape(parts)


def _dialect_type(reader: Reader) -> MlirType:
    """Read `!dialect.name<...>`, or the alias of a type."""
    start = reader.at
    m = reader.take(re.compile(r"!([A-Za-z_][\w$.\-]*)"))
    name = m.group(1) if m else ""
    if name in ("stablehlo.token", "mhlo.token"):
        return token_shape()
    if name == "stablehlo.future":
        reader.expect("<", "a future type")
        return FutureType(tuple([t for t in type_list(reader, ">") if isinstance(t, Shape)]))
    if name.startswith("mhlo.async_bundle"):
        reader.refuse(
            "mhlo-async",
            "StableHLO has no asynchronous bundles, which are MHLO's",
            "export StableHLO",
            start,
            len(name) + 1,
        )
    if f"!{name}" in reader.aliases:
        return _alias(reader, f"!{name}")
    return OpaqueType(f"!{name}" + (reader.balanced() if reader.peek("<") else ""))


def _alias(reader: Reader, name: str) -> MlirType:
    if name not in reader.known_aliases:
        here, reader.at = reader.at, reader.aliases[name]
        reader.known_aliases[name] = read_type(reader)
        reader.at = here
    found: MlirType = reader.known_aliases[name]
    return found


def _bounds(reader: Reader, rank: int) -> list[int] | None:
    """Read the encoding of a tensor and return the bounds of dynamic dimensions.

    None for an encoding that does not affect the values.
    """
    start = reader.skip()
    m = reader.take(re.compile(r"#([A-Za-z_][\w$.\-]*)"))
    if m is None:
        reader.fail(
            f"expected the encoding of a tensor, found {reader.found()}",
            "write #stablehlo.bounds<?, 4>, or nothing",
        )
    if f"#{m.group(1)}" in reader.aliases:
        here, reader.at = reader.at, reader.aliases[f"#{m.group(1)}"]
        found = _bounds(reader, rank)
        reader.at = here
        return found
    text = reader.balanced() if reader.peek("<") else ""
    if m.group(1) not in (
        "stablehlo.bounds",
        "mhlo.bounds",
        "stablehlo.type_extensions",
        "mhlo.type_extensions",
    ):
        reader.refuse(
            "encoding",
            f"the tensor encoding #{m.group(1)} is unknown",
            "export dense tensors",
            start,
            reader.at - start,
        )
    bounds = [UNBOUNDED if b == "?" else int(b) for b in re.findall(r"\?|\d+", text)]
    if len(bounds) != rank:
        reader.fail(
            f"{len(bounds)} bounds for {rank} dimensions",
            "give one bound, or ?, for each dimension",
            start,
            reader.at - start,
        )
    return bounds


def read_shape(reader: Reader) -> Shape:
    """Read the type at the cursor, which must be the type of a value."""
    start = reader.skip()
    found = read_type(reader)
    if not isinstance(found, Shape):
        reader.refuse(
            "value-type",
            f"{reader.text[start : reader.at]} is not a type of values in HLO",
            "values are tensors, tokens and tuples of them",
            start,
            reader.at - start,
        )
    return found


def type_list(reader: Reader, end: str) -> tuple[MlirType, ...]:
    """Read types up to and including the closing bracket."""
    found: list[MlirType] = []
    while not reader.accept(end):
        found.append(read_type(reader))
        if not reader.accept(","):
            reader.expect(end, "a list of types")
            break
    return tuple(found)


def read_results(reader: Reader) -> tuple[MlirType, ...]:
    """Read the types after an arrow: one, or several in parentheses."""
    if reader.accept("("):
        return type_list(reader, ")")
    return (read_type(reader),)


def integer(reader: Reader, what: str) -> int:
    """Read a whole number."""
    return int(reader.need(INTEGER, what).group())
