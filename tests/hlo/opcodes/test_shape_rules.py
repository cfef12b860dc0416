"""Each shape rule on operands that fit and on operands that do not; a refusal names both sides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from xla_explorer.hlo.attributes import CODECS, attributes_of
from xla_explorer.hlo.computation import infer_shape
from xla_explorer.hlo.opcodes import OPCODES, opcode
from xla_explorer.hlo.shape import Shape, ShapeError, parse_shape


def infer(name: str, operands: str, attributes: str = "", called: str = "") -> Shape:
    """Infer from operands `a;b`, attributes `name=text;...` and callees' root shapes."""
    values = {}
    for part in filter(None, attributes.split(";")):
        key, _, text = part.partition("=")
        values[key] = CODECS[key].read(text)
    stubs: Any = tuple(
        [
            SimpleNamespace(root=SimpleNamespace(shape=parse_shape(s)))
            for s in filter(None, called.split(";"))
        ]
    )
    return infer_shape(
        opcode(name),
        tuple([parse_shape(s) for s in filter(None, operands.split(";"))]),
        attributes_of(values),
        stubs,
    )


GATHER = "offset_dims={1};collapsed_slice_dims={0};start_index_map={0};index_vector_dim=1;slice_sizes={1,5}"
SCATTER = "update_window_dims={1};inserted_window_dims={0};scatter_dims_to_operand_dims={0};index_vector_dim=1"
DOT = "lhs_contracting_dims={1};rhs_contracting_dims={0}"

GOOD = [
    ("abs", "c64[3]", "", "", "f32[3]"),
    ("negate", "s32[2,3]{0,1}", "", "", "s32[2,3]"),
    ("not", "pred[2]", "", "", "pred[2]"),
    ("popcnt", "u8[4]", "", "", "u8[4]"),
    ("ceil", "bf16[4]", "", "", "bf16[4]"),
    ("tanh", "c128[2]", "", "", "c128[2]"),
    ("is-finite", "f16[4,4]", "", "", "pred[4,4]"),
    ("real", "c128[2]", "", "", "f64[2]"),
    ("imag", "f32[2]", "", "", "f32[2]"),
    ("reduce-precision", "f32[2]", "exponent_bits=5;mantissa_bits=10", "", "f32[2]"),
    ("add", "f32[4]{0};f32[4]", "", "", "f32[4]"),
    ("add", "f32[<=4];f32[4]", "", "", "f32[<=4]"),
    ("add", "pred[4];pred[4]", "", "", "pred[4]"),
    ("power", "s32[];s32[]", "", "", "s32[]"),
    ("atan2", "f32[2];f32[2]", "", "", "f32[2]"),
    ("xor", "pred[2];pred[2]", "", "", "pred[2]"),
    ("shift-left", "u8[2];u8[2]", "", "", "u8[2]"),
    ("complex", "f64[2];f64[2]", "", "", "c128[2]"),
    ("compare", "f32[2,3]{0,1};f32[2,3]", "direction=LT;type=TOTALORDER", "", "pred[2,3]"),
    ("compare", "c64[2];c64[2]", "direction=EQ", "", "pred[2]"),
    ("select", "pred[];f32[4];f32[4]", "", "", "f32[4]"),
    ("select", "pred[4];f32[4];f32[4]", "", "", "f32[4]"),
    ("clamp", "f32[];f32[2,2];f32[2,2]", "", "", "f32[2,2]"),
    ("tuple", "f32[2]{0};s32[]", "", "", "(f32[2], s32[])"),
    ("tuple", "", "", "", "()"),
    ("get-tuple-element", "(f32[2], (s32[], pred[3]))", "index=1", "", "(s32[], pred[3])"),
    ("after-all", "token[];token[]", "", "", "token[]"),
    ("add-dependency", "f32[2];token[]", "", "", "f32[2]"),
    ("opt-barrier", "(f32[2], s32[])", "", "", "(f32[2], s32[])"),
    ("copy", "f32[2,3]{0,1}", "", "", "f32[2,3]{0,1}"),
    ("copy-start", "f32[2]", "", "", "(f32[2], f32[2], u32[])"),
    ("copy-done", "(f32[2], f32[2], u32[])", "", "", "f32[2]"),
    ("transpose", "f32[2,3,4]", "dimensions={2,0,1}", "", "f32[4,2,3]"),
    ("reverse", "f32[2,3]", "dimensions={1}", "", "f32[2,3]"),
    ("slice", "f32[8,4]", "slice={[1:8:3], [0:4]}", "", "f32[3,4]"),
    ("dynamic-slice", "f32[8,4];s32[];s32[]", "dynamic_slice_sizes={2,4}", "", "f32[2,4]"),
    ("dynamic-slice", "f32[8,4];s32[2]", "dynamic_slice_sizes={2,4}", "", "f32[2,4]"),
    ("dynamic-update-slice", "f32[8,4];f32[2,4];s32[];s32[]", "", "", "f32[8,4]"),
    ("concatenate", "f32[2,3];f32[5,3]", "dimensions={0}", "", "f32[7,3]"),
    ("pad", "f32[3,2];f32[]", "padding=1_2_1x-1_0", "", "f32[8,1]"),
    ("gather", "f32[9,5];s32[7,1]", GATHER, "", "f32[7,5]"),
    ("gather", "f32[9,5];s32[7]", GATHER, "", "f32[7,5]"),
    ("scatter", "f32[9,5];s32[7,1];f32[7,5]", SCATTER, "f32[]", "f32[9,5]"),
    (
        "scatter",
        "f32[9,5];s32[9,5];s32[7,1];f32[7,5];s32[7,5]",
        SCATTER,
        "(f32[], s32[])",
        "(f32[9,5], s32[9,5])",
    ),
    ("get-dimension-size", "f32[2,<=3]", "dimensions={1}", "", "s32[]"),
    ("set-dimension-size", "f32[2,3];s32[]", "dimensions={1}", "", "f32[2,<=3]"),
    ("dot", "f32[2,3];f32[3,4]", DOT, "", "f32[2,4]"),
    (
        "dot",
        "f32[7,2,3];f32[7,4,3]",
        "lhs_batch_dims={0};rhs_batch_dims={0};lhs_contracting_dims={2};rhs_contracting_dims={2}",
        "",
        "f32[7,2,4]",
    ),
    ("dot", "bf16[3];f32[3]", "lhs_contracting_dims={0};rhs_contracting_dims={0}", "", "f32[]"),
    (
        "ragged-dot",
        "f32[11,5];f32[3,5,7];s32[3]",
        "lhs_contracting_dims={1};rhs_contracting_dims={1};lhs_ragged_dims={0};rhs_group_dims={0}",
        "",
        "f32[11,7]",
    ),
    (
        "ragged-dot",
        "f32[11,5];f32[5,7];s32[3]",
        "lhs_contracting_dims={1};rhs_contracting_dims={0};lhs_ragged_dims={1}",
        "",
        "f32[3,11,7]",
    ),
    (
        "convolution",
        "f32[1,28,28,3];f32[5,5,3,8]",
        "window={size=5x5 stride=2x2 pad=2_2x2_2};dim_labels=b01f_01io->b01f",
        "",
        "f32[1,14,14,8]",
    ),
    ("convolution", "f32[4,6];f32[6,2]", "dim_labels=bf_io->bf", "", "f32[4,2]"),
    (
        "convolution",
        "f32[2,9,4];f32[3,1,4]",
        "window={size=3};dim_labels=b0f_0io->b0f;feature_group_count=4",
        "",
        "f32[2,7,4]",
    ),
    ("fft", "f32[2,8]", "fft_type=RFFT;fft_length={8}", "", "c64[2,5]"),
    ("fft", "c64[2,5]", "fft_type=IRFFT;fft_length={8}", "", "f32[2,8]"),
    ("fft", "c64[2,0]", "fft_type=IRFFT;fft_length={0}", "", "f32[2,0]"),
    ("fft", "f32[2,0]", "fft_type=RFFT;fft_length={0}", "", "c64[2,0]"),
    ("fft", "f32[2,1]", "fft_type=RFFT;fft_length={1}", "", "c64[2,1]"),
    ("fft", "c128[4,8]", "fft_type=FFT;fft_length={4,8}", "", "c128[4,8]"),
    ("cholesky", "f32[2,4,4]", "lower=true", "", "f32[2,4,4]"),
    ("triangular-solve", "f32[4,4];f32[4,2]", "left_side=true", "", "f32[4,2]"),
    ("reduce", "f32[2,3,4];f32[]", "dimensions={0,2}", "f32[]", "f32[3]"),
    (
        "reduce",
        "f32[2,3];s32[2,3];f32[];s32[]",
        "dimensions={1}",
        "(f32[], s32[])",
        "(f32[2], s32[2])",
    ),
    (
        "reduce-window",
        "f32[4,8];f32[]",
        "window={size=1x3 stride=1x2 pad=0_0x1_1}",
        "f32[]",
        "f32[4,4]",
    ),
    ("reduce-window", "f32[4];f32[]", "window={size=2}", "(f32[])", "(f32[3])"),
    (
        "select-and-scatter",
        "f32[4];f32[2];f32[]",
        "window={size=2 stride=2}",
        "pred[];f32[]",
        "f32[4]",
    ),
    ("map", "f32[2,3];s32[2,3]", "dimensions={0,1}", "pred[]", "pred[2,3]"),
    (
        "scan",
        "f32[5,2];f32[2]",
        "dimensions={0};num_carries=1",
        "(f32[2], f32[2])",
        "(f32[5,2], f32[2])",
    ),
    ("sort", "f32[4];s32[4]", "dimensions={0}", "pred[]", "(f32[4], s32[4])"),
    ("topk", "f32[2,9]", "k=3", "", "(f32[2,3], s32[2,3])"),
    (
        "batch-norm-training",
        "f32[2,3,4];f32[3];f32[3]",
        "epsilon=0.001;feature_index=1",
        "",
        "(f32[2,3,4], f32[3], f32[3])",
    ),
    (
        "batch-norm-inference",
        "f32[2,3];f32[3];f32[3];f32[3];f32[3]",
        "epsilon=0.001;feature_index=1",
        "",
        "f32[2,3]",
    ),
    (
        "batch-norm-grad",
        "f32[2,3];f32[3];f32[3];f32[3];f32[2,3]",
        "epsilon=0.001;feature_index=1",
        "",
        "(f32[2,3], f32[3], f32[3])",
    ),
    ("while", "(s32[], f32[2])", "", "pred[];(s32[], f32[2])", "(s32[], f32[2])"),
    ("conditional", "pred[];f32[];s32[]", "", "f32[2];f32[2]", "f32[2]"),
    ("conditional", "s32[];f32[];f32[];f32[]", "", "f32[2];f32[2];f32[2]", "f32[2]"),
    ("call", "f32[3]", "", "f32[7]", "f32[7]"),
    ("async-update", "((f32[2]), f32[2], s32[])", "", "", "((f32[2]), f32[2], s32[])"),
    ("async-done", "((f32[2]), f32[3], s32[])", "", "", "f32[3]"),
    ("all-reduce", "f32[2];s32[3]", "", "f32[]", "(f32[2], s32[3])"),
    ("all-to-all", "f32[4,2]", "dimensions={0};replica_groups={{0,1}}", "", "f32[4,2]"),
    ("all-to-all", "f32[4];f32[4]", "replica_groups={{0,1}}", "", "(f32[4], f32[4])"),
    ("ragged-all-to-all", "f32[8];f32[16];s32[2];s32[2];s32[2];s32[2]", "", "", "f32[16]"),
    ("collective-permute", "f32[4]", "source_target_pairs={{0,1}}", "", "f32[4]"),
    ("all-gather-done", "(f32[4], f32[8])", "", "", "f32[8]"),
    ("replica-id", "", "", "", "u32[]"),
    ("send", "f32[4];token[]", "", "", "(f32[4], u32[], token[])"),
    ("recv-done", "(f32[4], u32[], token[])", "", "", "(f32[4], token[])"),
    ("send-done", "(f32[4], u32[], token[])", "", "", "token[]"),
    ("outfeed", "f32[4];token[]", "", "", "token[]"),
]

BAD = [
    ("add", "f32[4];f32[8]", "", "", r"add: operands differ: f32\[4\] vs f32\[8\]"),
    ("add", "f32[4];s32[4]", "", "", r"operands differ: f32\[4\] vs s32\[4\]"),
    ("add", "f32[4]", "", "", "takes 2 operands, got 1"),
    ("add", "(f32[4]);(f32[4])", "", "", "must be arrays"),
    ("abs", "u8[4]", "", "", "signed, float or complex"),
    ("not", "f32[4]", "", "", "integer or pred"),
    ("popcnt", "f32[4]", "", "", "integer"),
    ("tanh", "s32[4]", "", "", "float or complex"),
    ("erf", "c64[4]", "", "", "float"),
    ("subtract", "pred[4];pred[4]", "", "", "integer, float or complex"),
    ("and", "f32[4];f32[4]", "", "", "integer or pred"),
    ("complex", "f16[4];f16[4]", "", "", "f32 or f64"),
    ("compare", "f32[4];f32[4]", "", "", "direction"),
    ("compare", "c64[4];c64[4]", "direction=LT", "", "ordered"),
    ("compare", "s32[4];s32[4]", "direction=LT;type=UNSIGNED", "", "must be SIGNED, got UNSIGNED"),
    ("select", "s32[4];f32[4];f32[4]", "", "", "must be pred"),
    ("select", "pred[3];f32[4];f32[4]", "", "", r"pred\[3\] vs f32\[4\]"),
    ("select", "pred[];f32[4];f32[3]", "", "", r"f32\[4\] vs f32\[3\]"),
    ("clamp", "f32[2];f32[4];f32[]", "", "", "lower bound"),
    ("clamp", "f32[];f32[4];s32[]", "", "", "upper bound"),
    ("get-tuple-element", "f32[4]", "index=0", "", "must be a tuple"),
    ("get-tuple-element", "(f32[4])", "index=1", "", "out of range"),
    ("after-all", "f32[]", "", "", "must be a token"),
    ("add-dependency", "f32[];f32[]", "", "", "must be a token"),
    ("copy-done", "f32[4]", "", "", "context"),
    ("transpose", "f32[2,3]", "dimensions={0,0}", "", "must be a permutation"),
    ("reverse", "f32[2,3]", "dimensions={2}", "", "out of range"),
    ("slice", "f32[4]", "slice={[0:9]}", "", r"\[0:9\]"),
    ("slice", "f32[4]", "slice={[0:4:0]}", "", "stride"),
    ("slice", "f32[4,4]", "slice={[0:4]}", "", "1 ranges"),
    ("dynamic-slice", "f32[4]", "dynamic_slice_sizes={2}", "", "one start index"),
    ("dynamic-slice", "f32[4];f32[]", "dynamic_slice_sizes={2}", "", "integer scalar"),
    ("dynamic-slice", "f32[4];s32[]", "dynamic_slice_sizes={5}", "", "does not fit"),
    ("dynamic-update-slice", "f32[4];f32[5];s32[]", "", "", "does not fit"),
    ("dynamic-update-slice", "f32[4];s32[2];s32[]", "", "", "element type"),
    ("concatenate", "f32[2,3];f32[2,4]", "dimensions={0}", "", r"differ in dimension 1"),
    ("concatenate", "f32[2];s32[2]", "dimensions={0}", "", r"f32\[2\] vs s32\[2\]"),
    ("pad", "f32[4];f32[4]", "padding=0_0", "", "scalar"),
    ("pad", "f32[4];f32[]", "padding=-3_-3", "", "leaves -2"),
    ("pad", "f32[4];f32[]", "padding=0_0x0_0", "", "2 entries"),
    ("gather", "f32[9,5];f32[7,1]", GATHER, "", "must be integers"),
    ("gather", "f32[9,5];s32[7,2]", GATHER, "", "components"),
    ("gather", "f32[9,4];s32[7,1]", GATHER, "", "does not fit"),
    ("scatter", "f32[9,5];s32[7,1];f32[6,5]", SCATTER, "f32[]", "must be 7"),
    ("scatter", "f32[9,5];s32[7,1]", SCATTER, "f32[]", "at least 3"),
    ("dot", "f32[2,3];f32[4,5]", DOT, "", "3 vs 4"),
    (
        "dot",
        "f32[2,2];f32[2,2]",
        "lhs_contracting_dims={5};rhs_contracting_dims={0}",
        "",
        "out of range",
    ),
    ("dot", "f32[2,3];f32[3,4]", "lhs_contracting_dims={1}", "", "go with"),
    (
        "convolution",
        "f32[1,28,28,3];f32[5,5,4,8]",
        "window={size=5x5};dim_labels=b01f_01io->b01f",
        "",
        "input features",
    ),
    (
        "convolution",
        "f32[1,28,28,3];f32[5,5,3,8]",
        "window={size=3x3};dim_labels=b01f_01io->b01f",
        "",
        "window size 3",
    ),
    ("fft", "s32[8]", "fft_type=FFT;fft_length={8}", "", "complex"),
    ("fft", "f32[8]", "fft_type=RFFT;fft_length={7}", "", "fft_length"),
    ("cholesky", "f32[4,3]", "", "", "square"),
    ("triangular-solve", "f32[4,4];f32[3,2]", "left_side=true", "", "does not fit left"),
    ("reduce", "f32[2,3];f32[]", "dimensions={2}", "f32[]", "out of range"),
    ("reduce", "f32[2,3];f32[1]", "dimensions={1}", "f32[]", "scalar"),
    ("reduce", "f32[2,3];s32[]", "dimensions={1}", "f32[]", r"f32\[2,3\] vs s32\[\]"),
    ("reduce", "f32[2,3]", "dimensions={1}", "f32[]", "at least 2"),
    ("reduce-window", "f32[4,8];f32[]", "window={size=3}", "f32[]", "1 dimensions"),
    (
        "select-and-scatter",
        "f32[4];f32[3];f32[]",
        "window={size=2 stride=2}",
        "pred[];f32[]",
        "positions",
    ),
    ("map", "f32[2];f32[3]", "dimensions={0}", "f32[]", r"f32\[2\] vs f32\[3\]"),
    ("sort", "f32[4];s32[5]", "dimensions={0}", "pred[]", r"f32\[4\] vs s32\[5\]"),
    ("topk", "f32[4]", "k=5", "", "does not fit"),
    (
        "batch-norm-training",
        "f32[2,3];f32[2];f32[3]",
        "epsilon=0;feature_index=1",
        "",
        "3 features",
    ),
    ("conditional", "s64[];f32[]", "", "f32[]", "pred or s32"),
    ("conditional", "pred[];f32[];f32[]", "", "f32[2];f32[3]", r"f32\[2\] vs f32\[3\]"),
    ("conditional", "pred[];f32[]", "", "f32[2];f32[2]", "2 branches"),
    ("async-done", "f32[4]", "", "", "operands"),
    ("all-to-all", "f32[3]", "dimensions={0};replica_groups={{0,1}}", "", "does not split"),
    ("send", "f32[4];f32[]", "", "", "token"),
    ("recv-done", "f32[4]", "", "", "token"),
    ("send-done", "(f32[4], token[])", "", "", r"must be \(data, u32\[\], token\[\]\)"),
    ("convert", "f32[4]", "", "", "cannot infer shape for opcode: convert"),
]


@pytest.mark.parametrize(("name", "operands", "attributes", "called", "expected"), GOOD)
def test_infers(name: str, operands: str, attributes: str, called: str, expected: str) -> None:
    assert infer(name, operands, attributes, called) is parse_shape(expected) or (
        infer(name, operands, attributes, called).text == parse_shape(expected).text
    )


@pytest.mark.parametrize(("name", "operands", "attributes", "called", "message"), BAD)
def test_refuses(name: str, operands: str, attributes: str, called: str, message: str) -> None:
    with pytest.raises(ShapeError, match=message) as caught:
        infer(name, operands, attributes, called)
    assert name in str(caught.value)


def test_every_rule_is_exercised() -> None:
    rules = {row.shape_rule for row in OPCODES.values() if row.shape_rule is not None}
    assert (
        not rules
        - {opcode(case[0]).shape_rule for case in GOOD}
        - {opcode("reduce-precision").shape_rule}
    )
