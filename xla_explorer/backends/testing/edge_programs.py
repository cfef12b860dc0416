"""Programs of the edges of each opcode's definition: values, indices and attributes.

Source: HLO's operation semantics. Values: division by zero, shifts beyond the width, NaN, signed
zeros, ties, initial values. Places: indices out of bounds, negative and interior padding,
dilations, groups. Control: loops without an iteration.
"""

from __future__ import annotations

from typing import Final

from xla_explorer.backends.testing.opcode_program import (
    ANY,
    FLOAT,
    INTEGER,
    NUMBER,
    REAL,
    SIGNED,
    OpcodeProgram,
    binary,
    fold,
    unary,
)

_X: Final = "  x = {t}[{n},{m}] parameter(0)\n"
_Y: Final = "  y = {t}[{n},{m}] parameter(1)\n"
_THREE: Final = "  x = {t}[{n},{m},3] parameter(0)\n"
_ADD: Final = fold("add")
_COUNTED: Final = """body {
  p = (s32[], {t}[{n},{m}]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = {t}[{n},{m}] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = {t}[{n},{m}] add(v, v)
  ROOT r = (s32[], {t}[{n},{m}]) tuple(j, w)
}

below {
  p = (s32[], {t}[{n},{m}]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] constant(3)
  ROOT r = pred[] compare(i, k), direction=LT
}

"""
_NEVER: Final = """double {
  x = {t}[{n},{m}] parameter(0)
  ROOT r = {t}[{n},{m}] add(x, x)
}

never {
  x = {t}[{n},{m}] parameter(0)
  ROOT r = pred[] constant(false)
}

"""
_BRANCHES: Final = """same {
  ROOT x = {t}[{n},{m}] parameter(0)
}

double {
  x = {t}[{n},{m}] parameter(0)
  ROOT r = {t}[{n},{m}] add(x, x)
}

square {
  x = {t}[{n},{m}] parameter(0)
  ROOT r = {t}[{n},{m}] multiply(x, x)
}

"""
_ARG_MAX: Final = """largest {
  a = {t}[] parameter(0)
  i = s32[] parameter(1)
  b = {t}[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  same = pred[] compare(a, b), direction=EQ
  first = pred[] compare(i, j), direction=LT
  tie = pred[] and(same, first)
  take = pred[] or(more, tie)
  c = {t}[] select(take, a, b)
  k = s32[] select(take, i, j)
  ROOT r = ({t}[], s32[]) tuple(c, k)
}

"""
_BY_KEY: Final = """below {
  a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}

"""
_WINDOW_3: Final = "window={size=3x3 pad=1_1x1_1"
_CONVOLUTIONS: Final = (
    "ROOT r = {t}[2,{n},{m},4] convolution(x, k), "
    f"{_WINDOW_3} rhs_reversal=1x1}}, dim_labels=b01f_01io->b01f",
    "ROOT r = {t}[2,{h},{hm},4] convolution(x, k), "
    f"{_WINDOW_3} stride=2x2}}, dim_labels=b01f_01io->b01f",
    "ROOT r = {t}[2,{n},{m},4] convolution(x, k), "
    "window={size=3x3 pad=2_2x2_2 rhs_dilate=2x2}, dim_labels=b01f_01io->b01f",
    "ROOT r = {t}[2,{odd_n},{odd_m},4] convolution(x, k), "
    f"{_WINDOW_3} lhs_dilate=2x2}}, dim_labels=b01f_01io->b01f",
)

EDGES: Final[tuple[OpcodeProgram, ...]] = (
    # Elementwise: integers at their ends and zero, special floats, ties, small and huge numbers.
    *unary("abs negate sign", SIGNED, "edges"),
    *unary("popcnt count-leading-zeros not", INTEGER, "edges"),
    *binary("add subtract multiply divide remainder maximum minimum", INTEGER, "edges"),
    *binary("shift-left shift-right-arithmetic shift-right-logical", INTEGER, "edges"),
    *binary("divide remainder", SIGNED, "nonzero"),
    *unary("ceil floor round-nearest-afz round-nearest-even", FLOAT, "ties"),
    *unary("exponential-minus-one log-plus-one tanh sine tan erf", FLOAT, "tiny"),
    *unary("abs negate sign sqrt rsqrt cbrt exponential log", FLOAT, "special"),
    *unary("log-plus-one exponential-minus-one tanh logistic erf", FLOAT, "special"),
    *unary("ceil floor round-nearest-afz round-nearest-even", FLOAT, "special"),
    *binary("subtract divide remainder power atan2", FLOAT, "special"),
    *[
        OpcodeProgram(
            "compare", REAL, f"{_X}{_Y}  ROOT r = pred[{{n}},{{m}}] compare(x, y), direction={way}",
            values="special",
        )
        for way in ("EQ", "NE", "LT", "LE", "GT", "GE")
    ],
    OpcodeProgram(
        "compare", FLOAT,
        f"{_X}{_Y}  ROOT r = pred[{{n}},{{m}}] compare(x, y), direction=LT, type=TOTALORDER",
        values="special",
    ),
    OpcodeProgram("is-finite", FLOAT, _X + "  ROOT r = pred[{n},{m}] is-finite(x)", values="special"),
    OpcodeProgram(
        "clamp", FLOAT, "  a = {t}[] constant(-1)\n  b = {t}[] constant(1)\n" + _X
        + "  ROOT r = {t}[{n},{m}] clamp(a, x, b)", values="special",
    ),
    *[
        OpcodeProgram("convert", FLOAT, f"{_X}  ROOT r = {kind}[{{n}},{{m}}] convert(x)", values="huge")
        for kind in ("s8", "u8", "s32", "s64", "pred", "bf16", "f16")
    ],
    *[
        OpcodeProgram("convert", INTEGER, f"{_X}  ROOT r = {kind}[{{n}},{{m}}] convert(x)", values="edges")
        for kind in ("s8", "u16", "s64", "f32", "pred")
    ],
    OpcodeProgram(
        "reduce-precision", FLOAT,
        _X + "  ROOT r = {t}[{n},{m}] reduce-precision(x), exponent_bits=5, mantissa_bits=2",
        values="special",
    ),
    OpcodeProgram(
        "select", ANY, "  p = pred[] parameter(0)\n  x = {t}[{n},{m}] parameter(1)\n"
        "  y = {t}[{n},{m}] parameter(2)\n  ROOT r = {t}[{n},{m}] select(p, x, y)",
    ),
    # Movement of data: three dimensions, the first and the last, steps, padding of each sign.
    OpcodeProgram("iota", NUMBER, "  ROOT r = {t}[{n},{m},3] iota(), iota_dimension=0"),
    *[
        OpcodeProgram("broadcast", ANY, f"  x = {{t}}[{{n}},3] parameter(0)\n"
                      f"  ROOT r = {{t}}[{shape}] broadcast(x), dimensions={{{dims}}}")
        for shape, dims in (("{n},{m},3", "0,2"), ("{m},{n},3", "1,2"), ("{n},3,{m}", "0,1"))
    ],
    *[
        OpcodeProgram("transpose", ANY, f"{_THREE}  ROOT r = {{t}}[{shape}] transpose(x), "
                      f"dimensions={{{order}}}")
        for shape, order in (("3,{n},{m}", "2,0,1"), ("{m},{n},3", "1,0,2"), ("3,{m},{n}", "2,1,0"))
    ],
    *[
        OpcodeProgram("reverse", ANY, f"{_THREE}  ROOT r = {{t}}[{{n}},{{m}},3] reverse(x), "
                      f"dimensions={{{dims}}}")
        for dims in ("0", "0,2", "2")
    ],
    OpcodeProgram("slice", ANY, _THREE + "  ROOT r = {t}[{h},{m},1] slice(x), "
                  "slice={[0:{n}:2], [0:{m}], [1:3:2]}"),
    OpcodeProgram("concatenate", ANY, _X + "  y = {t}[1,{m}] parameter(1)\n"
                  "  ROOT r = {t}[{double_n1},{m}] concatenate(x, y, x), dimensions={0}"),
    *[
        OpcodeProgram("pad", ANY, _X + f"  z = {{t}}[] parameter(1)\n  ROOT r = {{t}}[{shape}] "
                      f"pad(x, z), padding={config}")
        for shape, config in (
            ("{odd_n},{m}", "0_0_1x0_0"), ("{n2},{odd_m}", "2_0x0_0_1"), ("{n},{m1}", "-1_1x0_1"),
        )
    ],
    # Indices out of bounds, more than one update at an index, several index components.
    OpcodeProgram("dynamic-slice", ANY, _X + "  i = s32[] parameter(1)\n  j = s32[] parameter(2)\n"
                  "  ROOT r = {t}[{h},1] dynamic-slice(x, i, j), dynamic_slice_sizes={{h},1}",
                  values="outside"),
    OpcodeProgram("dynamic-slice", ANY, _X + "  i = s32[] constant(-2)\n  j = s32[] constant(0)\n"
                  "  ROOT r = {t}[{h},{m}] dynamic-slice(x, i, j), dynamic_slice_sizes={{h},{m}}"),
    OpcodeProgram("dynamic-update-slice", ANY, _X + "  u = {t}[{h},1] parameter(1)\n"
                  "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n"
                  "  ROOT r = {t}[{n},{m}] dynamic-update-slice(x, u, i, j)", values="outside"),
    OpcodeProgram(
        "gather", ANY, _X + "  i = s32[9,1] parameter(1)\n  ROOT r = {t}[9,{m}] gather(x, i), "
        "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
        "slice_sizes={1,{m}}", values="outside",
    ),
    OpcodeProgram(
        "gather", ANY, _X + "  i = s32[9,2] parameter(1)\n  ROOT r = {t}[9] gather(x, i), "
        "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=1, "
        "slice_sizes={1,1}", values="outside",
    ),
    *[
        OpcodeProgram(
            "scatter", NUMBER, _X + "  i = s32[{n2},1] parameter(1)\n"
            "  u = {t}[{n2},{m}] parameter(2)\n  ROOT r = {t}[{n},{m}] scatter(x, i, u), "
            "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
            "index_vector_dim=1, to_apply=fold", fold(combiner), values,
        )
        for combiner, values in (("add", "index"), ("add", "outside"), ("multiply", "index"))
    ],
    # Products and convolutions: other dimensions, several of a kind, steps, dilations, groups.
    OpcodeProgram("dot", NUMBER, _X + "  y = {t}[{n},{m}] parameter(1)\n"
                  "  ROOT r = {t}[{m},{m}] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    OpcodeProgram("dot", NUMBER, _X + "  y = {t}[{m}] parameter(1)\n"
                  "  ROOT r = {t}[{n}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    OpcodeProgram("dot", NUMBER, _THREE + "  y = {t}[3,{m},{n}] parameter(1)\n"
                  "  ROOT r = {t}[{n},{n}] dot(x, y), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}"),
    OpcodeProgram("dot", NUMBER, "  x = {t}[{n},3,{m}] parameter(0)\n  y = {t}[3,{m},{n}] parameter(1)\n"
                  "  ROOT r = {t}[3,{n},{n}] dot(x, y), lhs_batch_dims={1}, rhs_batch_dims={0}, "
                  "lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
    *[
        OpcodeProgram("convolution", FLOAT, "  x = {t}[2,{n},{m},3] parameter(0)\n"
                      f"  k = {{t}}[3,3,3,4] parameter(1)\n  {root}")
        for root in _CONVOLUTIONS
    ],
    OpcodeProgram("convolution", FLOAT, "  x = {t}[2,{n},{m},4] parameter(0)\n"
                  "  k = {t}[3,3,2,6] parameter(1)\n  ROOT r = {t}[2,{n},{m},6] convolution(x, k), "
                  f"{_WINDOW_3}}}, dim_labels=b01f_01io->b01f, feature_group_count=2"),
    # Reductions: initial values, several dimensions, several arrays, ties, NaN.
    *[
        OpcodeProgram("reduce", NUMBER, _X + "  z = {t}[] parameter(1)\n"
                      "  ROOT r = {t}[] reduce(x, z), dimensions={0,1}, to_apply=fold", fold(opcode),
                      values)
        for opcode, values in (("add", "any"), ("multiply", "unit"))
    ],
    OpcodeProgram("reduce", NUMBER, _X + "  z = {t}[] parameter(1)\n"
                  "  ROOT r = {t}[{m}] reduce(x, z), dimensions={0}, to_apply=fold", _ADD),
    OpcodeProgram("reduce", FLOAT, _X + "  z = {t}[] parameter(1)\n"
                  "  ROOT r = {t}[{n}] reduce(x, z), dimensions={1}, to_apply=fold", fold("minimum"),
                  "special"),
    OpcodeProgram("reduce", REAL, _X + "  i = s32[{n},{m}] iota(), iota_dimension=1\n"
                  "  z = {t}[] constant(0)\n  k = s32[] constant(0)\n"
                  "  ROOT r = ({t}[{n}], s32[{n}]) reduce(x, i, z, k), dimensions={1}, to_apply=largest",
                  _ARG_MAX, "index"),
    *[
        OpcodeProgram("reduce-window", REAL, _X + "  z = {t}[] parameter(1)\n"
                      f"  ROOT r = {{t}}[{shape}] reduce-window(x, z), window={{{window}}}, "
                      "to_apply=fold", _ADD)
        for shape, window in (
            ("{h},{m}", "size=2x3 stride=2x1 pad=0_1x1_1"),
            ("{n},{m}", "size=1x3 pad=0_0x2_2 rhs_dilate=1x2"),
            ("{odd_n},{m}", "size=1x1 pad=0_0x0_0 lhs_dilate=2x1"),
        )
    ],
    # Sorts: NaN and zeros of both signs, order of ties, the first dimension.
    OpcodeProgram("sort", FLOAT, _X + "  ROOT r = {t}[{n},{m}] sort(x), dimensions={0}, to_apply=below",
                  "below {\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n"
                  "  ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}\n\n", "special"),
    OpcodeProgram("sort", REAL, _X + "  i = s32[{n},{m}] iota(), iota_dimension=1\n"
                  "  ROOT r = ({t}[{n},{m}], s32[{n},{m}]) sort(x, i), dimensions={1}, is_stable=true, "
                  "to_apply=below", _BY_KEY, "index"),
    # Control: no iteration, a branch of each number, results of one shape in their order.
    OpcodeProgram("while", NUMBER, _X + "  ROOT w = {t}[{n},{m}] while(x), condition=never, body=double",
                  _NEVER),
    *[
        OpcodeProgram("while", NUMBER, _X + f"  z = s32[] constant({start})\n"
                      "  s = (s32[], {t}[{n},{m}]) tuple(z, x)\n"
                      "  ROOT w = (s32[], {t}[{n},{m}]) while(s), condition=below, body=body", _COUNTED)
        for start in (7, 3, 2)
    ],
    *[
        OpcodeProgram("conditional", NUMBER, f"  p = s32[] constant({branch})\n{_X}"
                      "  ROOT r = {t}[{n},{m}] conditional(p, x, x, x), "
                      "branch_computations={same, double, square}", _BRANCHES)
        for branch in (-1, 1, 5)
    ],
    OpcodeProgram("tuple", ANY, f"{_X}{_Y}  ROOT r = ({{t}}[{{n}},{{m}}], {{t}}[{{n}},{{m}}]) tuple(y, x)"),
)  # fmt: skip
