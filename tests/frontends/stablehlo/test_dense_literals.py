"""`dense` literals of every element type, size, rank and spelling, beside numpy and jaxlib."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.frontends.stablehlo.types import _ELEMENTS as SIMPLE
from xla_explorer.hlo.analysis.elided_constants import ElidedConstantsWarning
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType

ELEMENTS: dict[str, PrimitiveType] = {
    **SIMPLE,
    "complex<f32>": PRIMITIVE_TYPES["c64"],
    "complex<f64>": PRIMITIVE_TYPES["c128"],
}
SIZES = (0, 1, 7, 8, 9, 100, 101, 1000)
ABORTS_JAXLIB = ("f6E2M3FN", "f6E3M2FN")  # XLA's literals have no such type
ONLY_IN_ATTRIBUTES = ("index",)


def program(literal: str, kind: str) -> str:
    return f"func.func @main() -> {kind} {{\n  %0 = stablehlo.constant {literal} : {kind}\n  return %0 : {kind}\n}}"


def value(module: HloModule) -> np.ndarray[Any, Any]:
    """Return the constant that a module returns, or its one element repeated."""
    (constant,) = [i for i in module.instructions() if i.opcode.name == "constant"]
    return np.broadcast_to(constant.payload.array, module.entry.root.shape.dimensions)


def read(literal: str, kind: str) -> np.ndarray[Any, Any]:
    return value(xe.parse_stablehlo(program(literal, kind)))


def elements(kind: PrimitiveType, count: int) -> np.ndarray[Any, Any]:
    """Elements of any bits: what a file may hold."""
    raw = np.frombuffer(random.Random(count).randbytes(count * kind.dtype.itemsize), np.uint8)
    if kind.is_pred:
        return raw % 2 != 0
    return (
        (raw & ((1 << kind.bits) - 1)).view(kind.dtype) if kind.bits < 8 else raw.view(kind.dtype)
    )


def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", ELEMENTS)
@pytest.mark.parametrize("count", SIZES)
def test_a_buffer_holds_the_elements_in_whole_bytes(kind: str, count: int) -> None:
    wanted = elements(ELEMENTS[kind], count)
    assert same(
        read(f'dense<"0x{wanted.tobytes().hex().upper()}">', f"tensor<{count}x{kind}>"), wanted
    )


@pytest.mark.parametrize("kind", ELEMENTS)
def test_a_buffer_of_one_element_is_a_splat(kind: str) -> None:
    wanted = elements(ELEMENTS[kind], 1)
    found = read(f'dense<"0x{wanted.tobytes().hex()}">', f"tensor<3x5x{kind}>")
    assert same(found, np.full((3, 5), wanted[0], wanted.dtype))


@pytest.mark.parametrize("kind", [k for k, t in ELEMENTS.items() if t.bits < 8])
def test_bits_beside_an_element_mean_nothing(kind: str) -> None:
    bits = ELEMENTS[kind].bits
    raw = np.array([1 << bits, 0xFF, 0, 0xFF ^ ((1 << bits) - 1)], np.uint8)
    clean = (
        raw != 0 if ELEMENTS[kind].is_pred else (raw & ((1 << bits) - 1)).view(ELEMENTS[kind].dtype)
    )
    assert same(read(f'dense<"0x{raw.tobytes().hex()}">', f"tensor<4x{kind}>"), clean)


@pytest.mark.parametrize("count", [9, 101, 1000])
def test_truth_values_that_older_mlir_packed_are_bits(count: int) -> None:
    wanted = elements(ELEMENTS["i1"], count)
    packed = np.packbits(wanted, bitorder="little").tobytes().hex()
    assert same(read(f'dense<"0x{packed}">', f"tensor<{count}xi1>"), wanted)


@pytest.mark.parametrize("literal", ['dense<"0x010101">', 'dense<"0x01010">', 'dense<"0xZZ">', 'dense<"1234">', "dense<[true]>",
                                     "dense<2>", "dense<-8>", "dense<[[true, true]]>"])  # fmt: skip
def test_a_literal_that_does_not_fit_is_refused_with_its_place(literal: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match=r"\^"):
        xe.parse_stablehlo(program(literal, "tensor<2xi1>"))


@pytest.mark.parametrize("kind", ["i1", "i64", "f32", "complex<f64>"])
@pytest.mark.parametrize(
    ("literal", "dimensions"),
    [("dense<>", "0"), ("dense<[]>", "0"), ("dense<[[], []]>", "2x0"), ("dense<>", "2x0x3")],
)
def test_an_empty_literal_has_no_elements(kind: str, literal: str, dimensions: str) -> None:
    assert read(literal, f"tensor<{dimensions}x{kind}>").size == 0


def test_a_splat_takes_no_memory() -> None:
    text = program("dense<304>", "tensor<1000000x1000000xi64>")
    tracemalloc.start()
    module = xe.parse_stablehlo(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    assert [i.opcode.name for i in module.entry.instructions.values()] == ["constant", "broadcast"]


def test_a_large_constant_takes_little_beside_itself() -> None:
    size = 1 << 23
    text = program(f'dense<"0x{bytes(range(256)).hex() * (size // 256)}">', f"tensor<{size}xi8>")
    tracemalloc.start()
    module = xe.parse_stablehlo(text)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert value(module)[:3].tolist() == [0, 1, 2]
    assert kept < 1.1 * size and peak < 3 * size


ELIDED = [
    "dense_resource<__elided__>",
    "dense_resource<weights>",
    "dense<...>",
    'dense<"...">',
    'opaque<"elided_large_const", "0xDEADBEEF">',
]


@pytest.mark.parametrize("literal", ELIDED)
@pytest.mark.parametrize("kind", ["f32", "i1", "i4", "bf16"])
def test_values_that_a_text_leaves_out_are_filled_with_a_warning(literal: str, kind: str) -> None:
    module = xe.parse_stablehlo(program(literal, f"tensor<3x4x{kind}>"))
    assert "constant({...})" in str(module)
    with pytest.warns(ElidedConstantsWarning, match="leaves out the values"):
        xe.evaluate(module)


NUMBERS = ["true", "false", "0", "1", "-1", "3", "7", "-8", "15", "255", "-128", "0xFF", "0x0F", "0x3", "-0x1", "1.0", "-2.5e3", "0.1", "1.e5", "-0.0", "5.9e-39", "9.0e-39",
           "0x7FC00000", "0x7F80", "0x7FC0", "0xFFFFFFFF", "0x7FF0000000000001", "18446744073709551615", "-9223372036854775808", "1.0000000596046449",
           "65519.9999", "65520.0", "0.0000000298", "1.001953126", "464.0001", "61440.0"]  # fmt: skip


@pytest.mark.jax
@pytest.mark.parametrize(
    "kind", [k for k in ELEMENTS if k not in (*ABORTS_JAXLIB, *ONLY_IN_ATTRIBUTES)]
)
def test_literals_are_what_jaxlib_reads(kind: str) -> None:
    """Whatever jaxlib's reader takes has its value here.

    What it refuses may be read: integers where floats are wanted.
    """
    from xla_explorer.frontends.jax_program import module_from_mlir

    element, literals = ELEMENTS[kind], []
    for count in SIZES:
        buffers = [elements(element, count).tobytes(), elements(element, 1).tobytes()]
        literals += [(f'dense<"0x{raw.hex()}">', f"{count}x") for raw in buffers]
    for number in NUMBERS:
        one = f"({number}, 0.5)" if element.is_complex else number
        if element.name == "f8e8m0fnu" and one.startswith("-"):  # it has no negative numbers
            continue
        literals += [
            (f"dense<{one}>", ""),
            (f"dense<{one}>", "2x3x"),
            (f"dense<{one}>", "0x"),
            (f"dense<[[{one}, {one}]]>", "1x2x"),
        ]
    for literal, dimensions in literals:
        text = program(literal, f"tensor<{dimensions}{kind}>")
        try:
            wanted = value(module_from_mlir(text))
        except xe.XlaExplorerError:
            continue
        assert same(value(xe.parse_stablehlo(text)), wanted), (literal, dimensions)
