"""Literals of every element type survive the way to text and back, bit for bit."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.drawn import DRAWN
from xla_explorer.hlo.literal import Literal, literal_from_array
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.shape import array_shape, parse_shape
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.literal_text import read_array, read_literal, write_literal

ARRAY_TYPES = [t for t in PRIMITIVE_TYPES.values() if t.is_array_type]


def all_bit_patterns(element_type: PrimitiveType) -> np.ndarray:
    """Return all values of a small type, else a sample with infinities, NaNs and subnormals."""
    generator = np.random.default_rng(7)
    if element_type.is_pred:
        return np.array([True, False])
    if element_type.is_complex:
        part = all_bit_patterns(element_type.component)[:64]
        made = np.empty(part.size, element_type.dtype)
        made.real, made.imag = part, part[::-1]
        return made
    if element_type.bits < 8 and element_type.is_integer:
        low = -(1 << (element_type.bits - 1)) if element_type.is_signed else 0
        return np.arange(low, low + (1 << element_type.bits)).astype(element_type.dtype)
    size = element_type.dtype.itemsize * 8
    count = 1 << min(element_type.bits, 16)
    raw = (
        np.arange(count, dtype=np.uint64)
        if size <= 16
        else generator.integers(0, 1 << 63, 2000, dtype=np.uint64) * np.uint64(2)
    )
    if size > 16:
        special = (
            np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 1e-310, 0.1, 1 / 3, 100, 1e10])
            if element_type.is_float
            else None
        )
        values = (raw >> np.uint64(64 - size)).astype(f"uint{size}").view(element_type.dtype)
        return (
            np.concatenate([values, special.astype(element_type.dtype)])
            if special is not None
            else values
        )
    return raw.astype(f"uint{size}").view(element_type.dtype)


@pytest.mark.parametrize("element_type", ARRAY_TYPES, ids=str)
def test_all_values_round_trip(element_type: PrimitiveType) -> None:
    values = all_bit_patterns(element_type)
    shape = array_shape(element_type, values.shape)
    with np.errstate(all="ignore"):
        text = write_literal(Literal(shape, values))
        back = read_array(shape, text)
    if element_type.is_float and element_type.name not in (
        "f16",
        "bf16",
        "f32",
        "f64",
        "f8e5m2",
        "f8e4m3",
        "f8e3m4",
    ):
        nan = np.isnan(values.astype(np.float32))  # these have no NaN payloads in text
        assert np.array_equal(np.isnan(back.astype(np.float32)), nan)
        values, back = values[~nan], back[~nan]
    assert back.tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("shape", "text", "printed"),
    [
        ("f32[2]", "{1, -2.5}", "{1, -2.5}"),
        ("f32[2,2]", "{{1,2},{3,4}}", "{ { 1, 2 }, { 3, 4 } }"),
        ("f32[3]", "{nan, -nan, nan(0x7fc)}", None),
        ("pred[3]", "{1, 0, true}", "{1, 0, 1}"),
        ("pred[]", "1", "true"),
        ("c64[2]", "{(1, 2), (-1.5, inf)}", None),
        ("c128[]", "(1, -2)", None),
        ("s4[3]", "{-8, 7, 0}", None),
        ("u64[1]", "{18446744073709551615}", None),
        ("bf16[2]", "{1.0, 3.140625}", "{1, 3.141}"),
        ("f16[2]", "{65504, 1e-3}", "{65504, 0.0010004}"),
        ("f64[1]", "{1e300}", "{1e+300}"),
        ("f32[0]", "{}", None),
        ("f32[2,0]", "{{},{}}", "{ {}, {} }"),
        ("f32[0,2]", "{}", None),
        ("f32[]", "1e2", "100"),
        ("f32[]", "0.70710678118", "0.707106769"),
        ("(f32[],s32[2])", "(1, {2, 3})", None),
        ("((f32[]),pred[])", "((1), true)", "((1), true)"),
        ("s32[2]", "{ /*i0=0*/ 1, /*i0=1*/ 2 }", "{1, 2}"),
        ("f32[2]", "7", "{7, 0}"),
        ("u64[]", "-1", "18446744073709551615"),
        ("f16[1]", "{65510}", "{65504}"),
        ("f32[1,1,2]", "{{{1,2}}}", "{ { { 1, 2 } } }"),
        ("f32[1]", "{-.5}", "{-0.5}"),
        ("()", "()", "()"),
    ],
)
def test_spellings(shape: str, text: str, printed: str | None) -> None:
    assert write_literal(read_literal(parse_shape(shape), text)) == (printed or text)


@pytest.mark.parametrize(
    ("shape", "text", "message"),
    [
        ("f32[2]", "{1,2,3}", "sees more"),
        ("f32[2]", "{1}", "sees 1"),
        ("s32[1]", "{1.5}", "expects integer"),
        ("s8[1]", "{128}", "out of range"),
        ("u8[1]", "{-1}", "out of range"),
        ("f32[]", "{1}", "rank 0"),
        ("c64[]", "1", "pairs"),
        ("f16[1]", "{70000}", "out of range"),
        ("f32[1]", "{1e40}", "out of range"),
        ("f64[1]", "{1e400}", "out of range"),
        ("token[]", "", "no literals"),
        ("s32[1]", "{1_0}", "expects integer"),
        ("f32[1]", "{infinity}", "expects a number"),
        ("f32[1]", "{1_0}", "expects a number"),
        ("f32[2,2]", "{{1,2},{3}}", "sees 1"),
        ("f32[2]", "{{1},{2}}", "larger"),
        ("s32[]", "", "expects integer"),
        ("f32[]", "", "expects a number"),
        ("(f32[])", "(1, 2)", "1 tuple"),
        ("(f32[],f32[])", "(1)", "2 tuple"),
        ("f8e4m3fn[]", "nan(0x1)", "payload"),
        ("f16[]", "nan(0xffff)", "payload"),
        ("pred[]", "maybe", "true, false"),
        ("f32[0]", "{1}", "sees more|no elements|shape"),
        ("f32[2]", "{1 2 3}", "sees|shape"),
        ("f32[1]", "{.5}", "expects a number"),
        ("s4[2,2]", "{0{,1},{2,3}}", "nested"),
    ],
)
def test_refusals(shape: str, text: str, message: str) -> None:
    with pytest.raises(TextError, match=message) as caught:
        read_literal(parse_shape(shape), text)
    assert caught.value.hint


def test_placeholder_stays_one_until_asked() -> None:
    literal = read_literal(parse_shape("f32[3]"), "{...}")
    assert literal.array.view(np.uint32).tolist() == [0, 1, 2]
    with pytest.raises(TextError):
        read_literal(parse_shape("f32[1099511627776]"), "{...}")


@DRAWN
@given(st.lists(st.floats(width=32), max_size=20))
def test_any_f32_list(values: list[float]) -> None:
    literal = literal_from_array(np.array(values, np.float32))
    again = read_literal(literal.shape, write_literal(literal))
    nan = np.isnan(literal.array)
    assert literal.array[~nan].tobytes() == again.array[~nan].tobytes()
    assert literal == again


@DRAWN
@given(st.sampled_from(ARRAY_TYPES), st.text("{}(),.0123456789einfa-x+ _/*", max_size=30))
def test_no_text_makes_another_error(element_type: PrimitiveType, text: str) -> None:
    for dimensions in ((), (2,), (1, 2)):
        try:
            read_literal(array_shape(element_type, dimensions), text)
        except TextError as problem:
            assert problem.hint and problem.at >= 0


@pytest.mark.parametrize("text", [None, "f32[65536]", "s8[65536]"])
def test_a_literal_of_an_array_is_one_copy(text: str | None) -> None:
    array = np.arange(65536, dtype=np.float32)
    shape = None if text is None else parse_shape(text)
    tracemalloc.start()
    literal = literal_from_array(array, shape)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * literal.array.nbytes + 4096
    assert literal.array is not array and not literal.array.flags.writeable
    transposed = literal_from_array(array.reshape(2, -1).T).array
    assert transposed.flags.c_contiguous and transposed[1, 0] == 1
