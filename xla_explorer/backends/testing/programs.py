"""A small program for each opcode and element type, which conformance runs on a backend."""

from __future__ import annotations

from xla_explorer.backends.testing.edge_programs import EDGES
from xla_explorer.backends.testing.opcode_program import (
    ANY,
    BITS,
    COMPLEX,
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

_X = "  x = {t}[{n},{m}] parameter(0)\n"
_ADD = fold("add")
_STEP = """step {
  p = (s32[], {t}[{n},{m}]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = {t}[{n},{m}] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = {t}[{n},{m}] add(v, v)
  ROOT r = (s32[], {t}[{n},{m}]) tuple(j, w)
}

again {
  p = (s32[], {t}[{n},{m}]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] constant(3)
  ROOT r = pred[] compare(i, k), direction=LT
}

"""
_DOUBLE = """double {
  x = {t}[{n},{m}] parameter(0)
  ROOT r = {t}[{n},{m}] add(x, x)
}

"""
_BRANCHES = (
    """same {
  ROOT x = {t}[{n},{m}] parameter(0)
}

"""
    + _DOUBLE
)

PROGRAMS: tuple[OpcodeProgram, ...] = (
    *unary("abs", (*FLOAT, *SIGNED)),
    *unary("negate sign", NUMBER),
    *unary("exponential exponential-minus-one sine cosine tanh logistic", (*FLOAT, *COMPLEX), "unit"),
    *unary("log log-plus-one sqrt rsqrt", (*FLOAT, *COMPLEX), "positive"),
    *unary("cbrt erf tan", FLOAT, "unit"),
    *unary("ceil floor round-nearest-afz round-nearest-even", FLOAT),
    *unary("not", BITS),
    *unary("popcnt count-leading-zeros", INTEGER),
    *unary("copy opt-barrier", ANY),
    *binary("add multiply", ANY),
    *binary("subtract", NUMBER),
    *binary("divide", REAL, "positive"),
    *binary("maximum minimum", ("pred", *REAL)),
    *binary("maximum minimum add multiply", FLOAT, "special"),
    *binary("remainder", REAL),
    *binary("power", FLOAT, "positive"),
    *binary("atan2", FLOAT),
    *binary("and or xor", BITS),
    *binary("shift-left shift-right-arithmetic shift-right-logical", INTEGER, "small"),
    OpcodeProgram("is-finite", FLOAT, _X + "  ROOT r = pred[{n},{m}] is-finite(x)"),
    *[OpcodeProgram(name, COMPLEX, _X + "  ROOT r = {c}[{n},{m}] " + name + "(x)") for name in ("real", "imag")],
    OpcodeProgram("compare", ANY, _X + "  y = {t}[{n},{m}] parameter(1)\n  ROOT r = pred[{n},{m}] compare(x, y), direction=EQ"),
    OpcodeProgram("compare", ("pred", *REAL), _X + "  y = {t}[{n},{m}] parameter(1)\n  ROOT r = pred[{n},{m}] compare(x, y), direction=LT"),
    OpcodeProgram("convert", ANY[:-2], _X + "  ROOT r = f32[{n},{m}] convert(x)"),
    OpcodeProgram("convert", ("pred", *REAL), _X + "  ROOT r = s32[{n},{m}] convert(x)"),
    OpcodeProgram("bitcast-convert", ("f32", "s32", "u32"), _X + "  ROOT r = u32[{n},{m}] bitcast-convert(x)"),
    OpcodeProgram("reduce-precision", FLOAT, _X + "  ROOT r = {t}[{n},{m}] reduce-precision(x), exponent_bits=5, mantissa_bits=4"),
    OpcodeProgram(
        "select", ANY, "  p = pred[{n},{m}] parameter(0)\n  x = {t}[{n},{m}] parameter(1)\n  y = {t}[{n},{m}] parameter(2)\n"
        "  ROOT r = {t}[{n},{m}] select(p, x, y)"
    ),
    OpcodeProgram(
        "clamp", REAL, "  a = {t}[] constant(0)\n  b = {t}[] constant(1)\n" + _X + "  ROOT r = {t}[{n},{m}] clamp(a, x, b)"
    ),
    OpcodeProgram("constant", ANY, "  c = {t}[] constant({one})\n  ROOT r = {t}[{n},{m}] broadcast(c), dimensions={}"),
    OpcodeProgram("iota", NUMBER, "  ROOT r = {t}[{n},{m}] iota(), iota_dimension=1"),
    OpcodeProgram("broadcast", ANY, "  x = {t}[{m}] parameter(0)\n  ROOT r = {t}[{n},{m}] broadcast(x), dimensions={1}"),
    OpcodeProgram("broadcast", ANY, "  x = {t}[{n}] parameter(0)\n  ROOT r = {t}[{n},{m}] broadcast(x), dimensions={0}"),
    OpcodeProgram("reshape", ANY, _X + "  ROOT r = {t}[{e}] reshape(x)"),
    OpcodeProgram("transpose", ANY, _X + "  ROOT r = {t}[{m},{n}] transpose(x), dimensions={1,0}"),
    OpcodeProgram(
        "transpose", ANY, "  x = {t}[{n},{m},3] parameter(0)\n  ROOT r = {t}[{m},3,{n}] transpose(x), dimensions={1,2,0}"
    ),
    OpcodeProgram("reverse", ANY, _X + "  ROOT r = {t}[{n},{m}] reverse(x), dimensions={1}"),
    OpcodeProgram("slice", ANY, _X + "  ROOT r = {t}[{h},{m}] slice(x), slice={[0:{n}:2], [0:{m}]}"),
    OpcodeProgram(
        "dynamic-slice", ANY, _X + "  i = s32[] parameter(1)\n  ROOT r = {t}[1,{m}] dynamic-slice(x, i, i), dynamic_slice_sizes={1,{m}}",
        values="index",
    ),
    OpcodeProgram(
        "dynamic-update-slice", ANY, _X + "  u = {t}[1,{m}] parameter(1)\n  i = s32[] parameter(2)\n"
        "  ROOT r = {t}[{n},{m}] dynamic-update-slice(x, u, i, i)", values="index",
    ),
    OpcodeProgram("concatenate", ANY, _X + "  y = {t}[{n},{m}] parameter(1)\n  ROOT r = {t}[{n},{mm}] concatenate(x, y), dimensions={1}"),
    OpcodeProgram("pad", ANY, _X + "  z = {t}[] parameter(1)\n  ROOT r = {t}[{n2},{m1}] pad(x, z), padding=1_1x0_1"),
    OpcodeProgram(
        "gather", ANY, _X + "  i = s32[3,1] parameter(1)\n  ROOT r = {t}[3,{m}] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1,{m}}", values="index",
    ),
    OpcodeProgram(
        "scatter", NUMBER, _X + "  i = s32[3,1] parameter(1)\n  u = {t}[3,{m}] parameter(2)\n  ROOT r = {t}[{n},{m}] scatter(x, i, u), "
        "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1, to_apply=fold",
        _ADD, "index",
    ),
    OpcodeProgram(
        "dot", NUMBER, _X + "  y = {t}[{m},{n}] parameter(1)\n"
        "  ROOT r = {t}[{n},{n}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    ),
    OpcodeProgram(
        "dot", FLOAT, "  x = {t}[2,{n},{m}] parameter(0)\n  y = {t}[2,{n},{m}] parameter(1)\n  ROOT r = {t}[2,{n},{n}] dot(x, y), "
        "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}"
    ),
    OpcodeProgram(
        "convolution", FLOAT, "  x = {t}[2,{n},{m},3] parameter(0)\n  k = {t}[3,3,3,4] parameter(1)\n"
        "  ROOT r = {t}[2,{n},{m},4] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"
    ),
    OpcodeProgram("reduce", NUMBER, _X + "  z = {t}[] constant({zero})\n"
                  "  ROOT r = {t}[{n}] reduce(x, z), dimensions={1}, to_apply=fold", _ADD),
    OpcodeProgram(
        "reduce", REAL, _X + "  z = {t}[] parameter(1)\n  ROOT r = {t}[{m}] reduce(x, z), dimensions={0}, to_apply=fold", fold("maximum")
    ),
    OpcodeProgram(
        "reduce-window", REAL, _X + "  z = {t}[] constant(0)\n"
        "  ROOT r = {t}[{n},{m}] reduce-window(x, z), window={size=3x1 pad=1_1x0_0}, to_apply=fold", _ADD,
    ),
    OpcodeProgram(
        "select-and-scatter", FLOAT, "  x = {t}[{nn},{mm}] parameter(0)\n  s = {t}[{n},{m}] parameter(1)\n  z = {t}[] constant(0)\n"
        "  ROOT r = {t}[{nn},{mm}] select-and-scatter(x, s, z), window={size=2x2 stride=2x2}, select=ge, scatter=fold",
        _ADD + "ge {\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=GE\n}\n\n",
    ),
    OpcodeProgram(
        "sort", REAL, _X + "  ROOT r = {t}[{n},{m}] sort(x), dimensions={1}, to_apply=lt",
        "lt {\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=LT\n}\n\n",
    ),
    OpcodeProgram("topk", ("f32", "bf16", "s32"), _X + "  ROOT r = ({t}[{n},1], s32[{n},1]) topk(x), k=1, largest=true"),
    OpcodeProgram("map", NUMBER, _X + "  ROOT r = {t}[{n},{m}] map(x, x), dimensions={0,1}, to_apply=fold", _ADD),
    OpcodeProgram(
        "while", NUMBER, _X + "  z = s32[] constant(0)\n  s = (s32[], {t}[{n},{m}]) tuple(z, x)\n"
        "  w = (s32[], {t}[{n},{m}]) while(s), condition=again, body=step\n  ROOT r = {t}[{n},{m}] get-tuple-element(w), index=1", _STEP,
    ),
    OpcodeProgram(
        "conditional", NUMBER, "  p = pred[] parameter(0)\n  x = {t}[{n},{m}] parameter(1)\n"
        "  ROOT r = {t}[{n},{m}] conditional(p, x, x), true_computation=same, false_computation=double", _BRANCHES,
    ),
    OpcodeProgram("call", NUMBER, _X + "  ROOT r = {t}[{n},{m}] call(x), to_apply=double", _DOUBLE),
    OpcodeProgram("fusion", NUMBER, _X + "  ROOT r = {t}[{n},{m}] fusion(x), kind=kLoop, calls=double", _DOUBLE),
    OpcodeProgram("tuple", ANY, _X + "  ROOT r = ({t}[{n},{m}], {t}[{n},{m}]) tuple(x, x)"),
    OpcodeProgram(
        "get-tuple-element", ANY, "  p = ({t}[{n},{m}], {t}[{m}]) parameter(0)\n  ROOT r = {t}[{m}] get-tuple-element(p), index=1"
    ),
    OpcodeProgram("complex", ("f32", "f64"), _X + "  ROOT r = {c}[{n},{m}] complex(x, x)"),
    OpcodeProgram("fft", ("c64", "c128"), _X + "  ROOT r = {t}[{n},{m}] fft(x), fft_type=FFT, fft_length={{m}}"),
    OpcodeProgram("cholesky", ("f32", "f64"), "  x = {t}[{n},{n}] parameter(0)\n"
                  "  ROOT r = {t}[{n},{n}] cholesky(x), lower=true", values="spd"),
    OpcodeProgram(
        "triangular-solve", ("f32", "f64"), "  x = {t}[{n},{n}] parameter(0)\n  y = {t}[{n},{m}] parameter(1)\n"
        "  ROOT r = {t}[{n},{m}] triangular-solve(x, y), left_side=true, lower=true, transpose_a=NO_TRANSPOSE", values="spd",
    ),
    OpcodeProgram(
        "batch-norm-inference", ("f32", "f64"), _X + "  a = {t}[{m}] parameter(1)\n  b = {t}[{m}] parameter(2)\n"
        "  c = {t}[{m}] parameter(3)\n"
        "  d = {t}[{m}] parameter(4)\n  ROOT r = {t}[{n},{m}] batch-norm-inference(x, a, b, c, d), epsilon=0.001, feature_index=1",
        values="positive",
    ),
    OpcodeProgram("rng-bit-generator", ("u32",), "  s = u64[2] parameter(0)\n"
                  "  ROOT r = (u64[2], {t}[{n},{m}]) rng-bit-generator(s), algorithm=rng_philox", values="index"),
    OpcodeProgram("all-reduce", ("f32", "s32"), _X + "  ROOT r = {t}[{n},{m}] all-reduce(x), replica_groups={{0}}, to_apply=fold", _ADD),
)  # fmt: skip

ALL_PROGRAMS = (*PROGRAMS, *EDGES)
"""The programs of conformance: one for each opcode, and those of the edges of its definition."""
