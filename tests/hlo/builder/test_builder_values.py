"""Builder values: implicit constants and broadcasts, errors and places in the user's source."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.builder import HloBuilder, HloBuilderError, HloValue
from xla_explorer.hlo.primitive_type import BF16, F32, PRED, S8, S32, U8
from xla_explorer.hlo.shape import ShapeError


def test_numbers_take_the_type_of_their_partner() -> None:
    b = HloBuilder("m")
    for kind in (F32, BF16, S32, U8):
        assert (b.parameter(kind[4]) + 1).dtype is kind
    assert (b.parameter(F32[4]) * np.float64(2)).dtype is F32
    assert (b.parameter(F32[4]) + np.arange(4)).shape is F32[4]
    assert (b.parameter(PRED[4]) & True).dtype is PRED


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (F32[2, 3], F32[4, 3], r"f32\[2,3\] vs f32\[4,3\]: dimension -2 is 2 vs 4"),
        (F32[2], S32[2], r"f32\[2\] vs s32\[2\]"),
    ],
)
def test_wrong_operands_name_both_sides(left: object, right: object, message: str) -> None:
    b = HloBuilder("m")
    x, y = b.parameter(left), b.parameter(right)
    with pytest.raises(HloBuilderError, match=message) as caught:
        x + y
    assert caught.value.hint
    assert isinstance(caught.value, XlaExplorerError) and isinstance(caught.value, ShapeError)


def test_numbers_that_do_not_fit() -> None:
    b = HloBuilder("m")
    with pytest.raises(HloBuilderError, match=r"2\.5 does not fit an operand of type s32"):
        b.parameter(S32[2]) + 2.5
    with pytest.raises(HloBuilderError, match="out of range for s8"):
        b.parameter(S8[2]) * 300
    with pytest.raises(HloBuilderError, match="no value of the builder"):
        b.parameter(S8[2]) * "x"


def test_matmul_errors() -> None:
    b = HloBuilder("m")
    with pytest.raises(HloBuilderError, match=r"f32\[2,3\] @ f32\[4,5\]: .* 3, .* 4"):
        b.parameter(F32[2, 3]) @ b.parameter(F32[4, 5])
    with pytest.raises(HloBuilderError, match="scalar"):
        b.parameter(F32) @ b.parameter(F32[4])


def test_values_have_no_truth() -> None:
    b = HloBuilder("m")
    x = b.parameter(F32)
    with pytest.raises(HloBuilderError, match="truth value") as caught:
        if x > 0:
            pass
    assert "b.cond" in caught.value.hint


def test_captured_values_are_refused() -> None:
    b = HloBuilder("m")
    x, y = b.parameter(F32[4]), b.parameter(F32)
    with pytest.raises(HloBuilderError, match="pass the value as one"):
        b.map(lambda v: v * y, x)
    other = HloBuilder("other").parameter(F32[4])
    with pytest.raises(HloBuilderError, match="builder of module other"):
        x + other


def test_failed_regions_leave_nothing_behind() -> None:
    b = HloBuilder("m")
    x = b.parameter(F32[4])
    with pytest.raises(ZeroDivisionError):
        b.map(lambda v: 1 / 0, x)
    with pytest.raises(HloBuilderError, match="returns nothing"):
        b.map(lambda v: None, x)
    assert list(b.module.computations) == ["main"]


def test_places_in_the_source() -> None:
    b = HloBuilder("m")
    x = b.parameter(F32[4])
    y = x.reduce(lambda p, q: p + q, init=0, axes=0)
    module = b.build(y)
    for i in module.instructions():
        assert i.op_metadata.source_file == __file__ and i.op_metadata.source_line > 0
    quiet = HloBuilder("m", locations=False)
    assert quiet.build(quiet.parameter(F32) + 1).entry.root.metadata is None


def test_build_once() -> None:
    b = HloBuilder("m")
    x = b.parameter(F32[4], "x")
    module = b.build(x, x + 1)
    assert module.result_shape().text_without_layout == "(f32[4], f32[4])"
    assert module.entry.parameters()[0].name == "x" and list(module.computations)[-1] == "main"
    with pytest.raises(HloBuilderError, match="already"):
        b.build(x)
    with pytest.raises(HloBuilderError, match="needs the value"):
        HloBuilder("m").build()


def test_questions() -> None:
    b = HloBuilder("m")
    x = b.parameter("f32[2,3]", "x")
    assert (x.ndim, x.size, len(x), x.dtype, repr(x)) == (2, 6, 2, F32, "%x: f32[2,3]")
    assert x.named("y").name == "y"
    t = b.tuple(x, x)
    first, second = t
    assert len(t) == 2 and isinstance(first, HloValue) and second.shape is x.shape
    with pytest.raises(IndexError):
        t[2]
    with pytest.raises(IndexError):
        x[2]
    with pytest.raises(HloBuilderError, match="out of range"):
        x.sum(axis=2)
    with pytest.raises(HloBuilderError, match="not float"):
        b.parameter(S32[4]).mean()
    with pytest.raises(HloBuilderError, match="does not broadcast"):
        x.broadcast_to(3, 3)
    with pytest.raises(HloBuilderError, match="expected a shape"):
        b.parameter(17)


def test_unknown_names_have_neighbours() -> None:
    b = HloBuilder("m")
    with pytest.raises(AttributeError, match="exponential"):
        b.exponental(b.parameter(F32))
    assert not hasattr(b, "_repr_html_")


def test_lists_are_single_precision() -> None:
    b = HloBuilder("m")
    assert (
        b.constant([1.5, 2]).dtype is F32
        and b.constant([[1, 2]]).dtype is S32
        and b.constant([True]).dtype is PRED
    )


def test_every_opcode_with_operands_is_a_method_of_values() -> None:
    b = HloBuilder("m")
    x = b.parameter(F32[4, 6], "x")
    assert (
        x.reduce_window(lambda p, q: p + q, b.constant(0, F32), window="{size=1x3}").shape
        == F32[4, 4]
    )
    assert x.reverse(dimensions=[1]).instruction.opcode.name == "reverse"
    assert (x > 0).and_(x < 1).instruction.opcode.name == "and"
    assert {"reduce_window", "all_reduce", "and_", "reverse"} <= set(dir(x)) and "iota" not in dir(
        x
    )


def test_a_name_that_values_lack_is_told_with_near_ones() -> None:
    x = HloBuilder("m").parameter(F32[4], "x")
    with pytest.raises(AttributeError, match="has no transposee; near: transpose"):
        _ = x.transposee
    assert not hasattr(x, "__float__") and not hasattr(x, "iota")


def test_a_function_traced_by_a_compile_has_places_of_the_program() -> None:
    @xe.hlo
    def centred(x: xe.f32[4, 8]):
        return x - x.mean(axis=-1, keepdims=True)

    session = xe.compile(centred)
    places = {i.op_metadata.source_file for i in session.passes[0].module.instructions()}
    assert places - {""} == {__file__}
