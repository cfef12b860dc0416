"""Convolutions by register tiles: padding, stride, dilation, reversal, labels; selection."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.codegen.kernel_runner import run_kernels
from xla_explorer.compiler.codegen.library_calls import convolution_by_library, convolution_in_tiles
from xla_explorer.compiler.codegen.nest.ir import AxisKind, For, Reduce, walk
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.convolutions import convolution_policy
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.compiler.target import HOST_LIKE, cpu_target
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

NHWC = "b01f_01io->b01f"
CASES = {  # name: (input, weights, result, window, labels)
    "few features": (
        "[2,13,11,3]",
        "[5,5,3,20]",
        "[2,7,6,20]",
        "size=5x5 stride=2x2 pad=2_2x2_2",
        NHWC,
    ),
    "many features": ("[1,9,9,17]", "[3,3,17,33]", "[1,9,9,33]", "size=3x3 pad=1_1x1_1", NHWC),
    "no padding": ("[2,8,9,4]", "[3,2,4,7]", "[2,6,8,7]", "size=3x2", NHWC),
    "uneven padding": ("[1,7,8,5]", "[2,3,5,6]", "[1,7,8,6]", "size=2x3 pad=1_0x0_2", NHWC),
    "negative padding": ("[1,9,12,4]", "[2,3,4,6]", "[1,6,9,6]", "size=2x3 pad=-1_-1x-2_1", NHWC),
    "window dilation": ("[1,11,11,3]", "[3,3,3,18]", "[1,7,7,18]", "size=3x3 rhs_dilate=2x2", NHWC),
    "dilation and padding": (
        "[2,7,7,2]",
        "[3,3,2,4]",
        "[2,7,7,4]",
        "size=3x3 pad=2_2x2_2 rhs_dilate=2x2",
        NHWC,
    ),
    "reversal": (
        "[1,8,8,6]",
        "[3,2,6,5]",
        "[1,8,7,5]",
        "size=3x2 pad=1_1x0_0 rhs_reversal=1x1",
        NHWC,
    ),
    "weights transposed": (
        "[2,6,6,5]",
        "[3,3,9,5]",
        "[2,6,6,9]",
        "size=3x3 pad=1_1x1_1 rhs_reversal=1x1",
        "b01f_01oi->b01f",
    ),
    "one by one": ("[2,5,6,12]", "[1,1,12,19]", "[2,5,6,19]", "size=1x1", NHWC),
    "one by one with stride": (
        "[2,5,6,12]",
        "[1,1,12,19]",
        "[2,3,3,19]",
        "size=1x1 stride=2x2",
        NHWC,
    ),
    "features first": (
        "[2,3,8,9]",
        "[3,3,3,10]",
        "[2,8,9,10]",
        "size=3x3 pad=1_1x1_1",
        "bf01_01io->b01f",
    ),
    "gradient of weights": (
        "[6,8,8,4]",
        "[6,8,8,5]",
        "[3,3,4,5]",
        "size=8x8 pad=1_1x1_1",
        "f01b_i01o->01bf",
    ),
    "one dimension": ("[2,20,3]", "[4,3,9]", "[2,10,9]", "size=4 stride=2 pad=1_1", "b0f_0io->b0f"),
    "three dimensions": (
        "[1,4,5,6,2]",
        "[2,3,2,2,4]",
        "[1,4,5,6,4]",
        "size=2x3x2 pad=0_1x1_1x1_0",
        "b012f_012io->b012f",
    ),
    "one position": ("[1,3,3,7]", "[3,3,7,40]", "[1,1,1,40]", "size=3x3", NHWC),
    "input dilated": (
        "[2,5,6,3]",
        "[4,4,3,9]",
        "[2,10,12,9]",
        "size=4x4 pad=2_2x2_2 lhs_dilate=2x2",
        NHWC,
    ),
    "outputs that no tap reaches": (
        "[1,4,3,5]",
        "[1,1,5,6]",
        "[1,8,9,6]",
        "size=1x1 pad=0_1x0_2 lhs_dilate=2x3",
        NHWC,
    ),
    "all dilated": (
        "[1,5,4]",
        "[3,4,7]",
        "[1,16,7]",
        "size=3 pad=4_3 lhs_dilate=3 rhs_dilate=2 rhs_reversal=1",
        "b0f_0io->b0f",
    ),
    "windows that miss the input": (
        "[2,3,2]",
        "[2,2,5]",
        "[2,2,5]",
        "size=2 pad=-3_3",
        "b0f_0io->b0f",
    ),
    "one tap in the padding": ("[1,3,5]", "[1,5,17]", "[1,9,17]", "size=1 pad=3_3", "b0f_0io->b0f"),
    "one output of a dilated row": (
        "[1,7,1,5]",
        "[3,4,2,5]",
        "[1,3,1,4]",
        "size=3x2 stride=2x3 pad=1_2x1_2 lhs_dilate=1x2 rhs_dilate=2x1",
        "b01f_0o1i->b01f",
    ),
    "gradient of padded 1x1 weights": (
        "[6,8,8,4]",
        "[6,10,8,5]",
        "[1,1,4,5]",
        "size=10x8 pad=1_1x0_0",
        "f01b_i01o->01bf",
    ),
    "weights transposed, one by one with stride": (
        "[2,5,6,12]",
        "[1,1,19,12]",
        "[2,3,3,19]",
        "size=1x1 stride=2x2",
        "b01f_01oi->b01f",
    ),
    "fewer taps than remainders": (
        "[2,4,6,5]",
        "[2,2,5,9]",
        "[2,11,5,9]",
        "size=2x2 pad=1_1x0_0 lhs_dilate=3x1",
        NHWC,
    ),
    "window larger than the input": (
        "[1,2,2,3]",
        "[5,5,3,6]",
        "[1,2,2,6]",
        "size=5x5 pad=2_2x2_2",
        NHWC,
    ),
}


def text_of(name, t="f32"):
    x, k, y, window, labels = CASES[name]
    return f"""HloModule convolution
ENTRY main {{
  x = {t}{x} parameter(0)
  k = {t}{k} parameter(1)
  ROOT y = {t}{y} convolution(x, k), window={{{window}}}, dim_labels={labels}
}}"""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("t", ["f32", "f64"])
@pytest.mark.sampled(10)
def test_value(name, t):
    module = parse_hlo(text_of(name, t))
    assert convolution_in_tiles(module.entry.root, HOST_LIKE) is None
    rng = np.random.default_rng(len(name))
    inputs = [
        rng.standard_normal(p.shape.dimensions).astype(p.shape.element_type.dtype)
        for p in module.entry.parameters()
    ]
    (found,) = run_kernels(module, *inputs)
    wanted = np.asarray(evaluate(module, *inputs))
    scale = max(1.0, float(np.abs(wanted).max()))  # a sum's rounding grows with its terms
    np.testing.assert_allclose(found, wanted, rtol=0, atol=(3e-6 if t == "f32" else 1e-13) * scale)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(8)
def test_shares_copy_what_they_read(name):
    module = parse_hlo(text_of(name, "s32"))
    inputs = [
        np.random.default_rng(1).integers(-9, 9, p.shape.dimensions, np.int32)
        for p in module.entry.parameters()
    ]
    for parts in (2, 5):
        made = convolution_policy(nest_of(module.entry.root), Tuning(), parts)
        if isinstance(made, Schedule):
            assert why_not_well_formed(made.nest) == []
            np.testing.assert_array_equal(
                evaluate_nest(made.nest, inputs)[0], evaluate(module, *inputs)
            )


@pytest.mark.parametrize("name", CASES)
def test_sums_are_tiles_under_no_condition(name):
    """A condition would be evaluated for each term."""
    made = convolution_policy(nest_of(root_of(text_of(name))), Tuning())
    assert isinstance(made, Schedule)
    sums = [(s, around) for s, around in walk(made.nest.body) if isinstance(s, Reduce)]
    assert not any(s.guards for s, _ in sums)
    assert any(
        loop.kind is AxisKind.VECTOR
        for _, around in sums
        for loop in around
        if isinstance(loop, For)
    )


def root_of(text):
    return parse_hlo(text).entry.root


def test_the_choice_gives_its_figures():
    reason = convolution_by_library(root_of(text_of("few features")), HOST_LIKE)
    assert reason.code == "register-tile-faster" and reason.facts["calls"] == 2 * 7 * 5 * 5


def test_convolutions_without_a_tile():
    def why(text, target=HOST_LIKE):
        reason = convolution_in_tiles(root_of(text), target)
        return reason.message if reason else ""

    plain = text_of("no padding")
    assert "multiply-adds" in why(plain, cpu_target(bits=512, fma=False)) and not why(plain)
    grouped = plain.replace("[3,2,4,7]", "[3,2,2,8]").replace("[2,6,8,7]", "[2,6,8,8]")
    grouped = grouped.replace("dim_labels", "feature_group_count=2, dim_labels")
    assert "two factors" in why(grouped) and "two factors" in why(text_of("no padding", "bf16"))
    wide = (
        plain.replace("[2,6,8,7]", "[2,38,36,7]")
        .replace("size=3x2", "size=3x2 lhs_dilate=5x5")
        .replace("[2,38,36,7]", "[2,34,40,7]")
    )
    assert "different sets of taps" in why(wide)
    planes = plain.replace("f32[2,6,8,7]", "f32[2,7,6,8]").replace("->b01f", "->bf01")
    assert "contiguous" in why(planes)
    assert "does not fit the cache" in why(
        plain.replace("[2,8,9,4]", "[2,8,9,40000]")
        .replace("[3,2,4,7]", "[3,2,40000,7]")
        .replace("[2,6,8,7]", "[2,7,8,7]")
        .replace("size=3x2", "size=3x2 pad=1_0x0_0")
    )
