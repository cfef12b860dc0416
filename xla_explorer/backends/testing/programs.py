"""A small program for each opcode and element type, which conformance runs on a backend.

Texts have holes: `{t}` is the element type, `{n}` and `{m}` are sizes, so that a failure can be
minimised to smaller sizes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]

FLOAT = ("f16", "bf16", "f32", "f64")
SIGNED = ("s8", "s16", "s32", "s64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGER = SIGNED + UNSIGNED
COMPLEX = ("c64", "c128")
REAL = FLOAT + INTEGER
NUMBER = REAL + COMPLEX
BITS = ("pred", *INTEGER)
ANY = ("pred", *NUMBER)
SMALL = (4, 6)
"""What runs first, for every element type."""
LARGE = (33, 65)
"""Sizes for one element type: several tiles of most devices in each dimension, with a tail."""
SIZES = ((1, 1), (2, 2), (2, 3), SMALL, LARGE)
"""From small to large, for the search for the smallest failure."""


class OpcodeProgram(NamedTuple):
    """A program of one opcode.

    types: supported element types. body: lines of the entry. functions: computations before it.
    values: distribution of its arguments: `any` (both signs), `positive` (0.5 to 2), `unit` (inside
    -1 .. 1), `spd` (symmetric, positive definite), `index` (0 to 9), `small` (shift counts, -3 ..
    3), `special` (NaN, infinities and zeros of both signs among them).
    """

    opcode: str
    types: tuple[str, ...]
    body: str
    functions: str = ""
    values: str = "any"

    def text(self, element_type: str, sizes: tuple[int, int]) -> str:
        """Return the module's text for an element type and sizes."""
        n, m = sizes
        partner = {"c64": "f32", "c128": "f64", "f32": "c64", "f64": "c128"}.get(
            element_type, ""
        )  # real and complex
        holes = {
            "t": element_type,
            "c": partner,
            "n": n,
            "m": m,
            "nn": 2 * n,
            "mm": 2 * m,
            "n2": n + 2,
            "m1": m + 1,
            "h": (n + 1) // 2,
            "e": n * m,
        }
        holes |= (
            {"zero": "(0, 0)", "one": "(1, 0)"}
            if element_type in COMPLEX
            else {"zero": "0", "one": "1"}
        )
        text = self.functions + "ENTRY main {\n" + self.body.strip("\n") + "\n}\n"
        for hole, value in holes.items():
            text = text.replace("{" + hole + "}", str(value))
        return f"HloModule {self.opcode.replace('-', '_')}_{element_type}\n\n" + text


def _unary(names: str, types: tuple[str, ...], values: str = "any") -> list[OpcodeProgram]:
    body = "  x = {t}[{n},{m}] parameter(0)\n  ROOT r = {t}[{n},{m}] %s(x)"
    return [OpcodeProgram(name, types, body % name, "", values) for name in names.split()]


def _binary(names: str, types: tuple[str, ...], values: str = "any") -> list[OpcodeProgram]:
    body = "  x = {t}[{n},{m}] parameter(0)\n  y = {t}[{n},{m}] parameter(1)\n  ROOT r = {t}[{n},{m}] %s(x, y)"
    return [OpcodeProgram(name, types, body % name, "", values) for name in names.split()]


def _fold(opcode: str) -> str:
    return (
        "fold {\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = {t}[] "
        + opcode
        + "(a, b)\n}\n\n"
    )


_X = "  x = {t}[{n},{m}] parameter(0)\n"
_ADD = _fold("add")
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
    *_unary("abs", (*FLOAT, *SIGNED)),
    *_unary("negate sign", NUMBER),
    *_unary("exponential exponential-minus-one sine cosine tanh logistic", (*FLOAT, *COMPLEX), "unit"),
    *_unary("log log-plus-one sqrt rsqrt", (*FLOAT, *COMPLEX), "positive"),
    *_unary("cbrt erf tan", FLOAT, "unit"),
    *_unary("ceil floor round-nearest-afz round-nearest-even", FLOAT),
    *_unary("not", BITS),
    *_unary("popcnt count-leading-zeros", INTEGER),
    *_unary("copy opt-barrier", ANY),
    *_binary("add multiply", ANY),
    *_binary("subtract", NUMBER),
    *_binary("divide", REAL, "positive"),
    *_binary("maximum minimum", ("pred", *REAL)),
    *_binary("maximum minimum add multiply", FLOAT, "special"),
    *_binary("remainder", REAL),
    *_binary("power", FLOAT, "positive"),
    *_binary("atan2", FLOAT),
    *_binary("and or xor", BITS),
    *_binary("shift-left shift-right-arithmetic shift-right-logical", INTEGER, "small"),
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
        "reduce", REAL, _X + "  z = {t}[] parameter(1)\n  ROOT r = {t}[{m}] reduce(x, z), dimensions={0}, to_apply=fold", _fold("maximum")
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


def large_type(program: OpcodeProgram) -> str:
    """Return the element type for which a program runs at its large size, too."""
    return "f32" if "f32" in program.types else program.types[0]


def draw(shape: Shape, values: str, seed: int) -> Array:
    """Draw one argument leaf."""
    generator = np.random.default_rng(seed)
    kind, sizes = shape.element_type, shape.dimensions
    if kind.is_pred:
        return np.asarray(generator.integers(0, 2, sizes), dtype=bool)
    if values == "spd" and len(sizes) == 2 and sizes[0] == sizes[1]:
        root = generator.standard_normal(sizes)
        return np.asarray(root @ root.T + sizes[0] * np.eye(sizes[0])).astype(kind.dtype)
    if kind.is_integer:
        low, high = {"positive": (1, 9), "index": (0, 10), "small": (0, 7)}.get(
            values, (-9 if kind.is_signed else 0, 10)
        )
        return np.asarray(generator.integers(low, high, sizes)).astype(kind.dtype)
    if values == "special":
        drawn = generator.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5], sizes)
    elif values == "positive":
        drawn = generator.uniform(0.5, 2, sizes)
    elif values in ("unit", "index"):
        drawn = generator.uniform(-1, 1, sizes)
    else:
        drawn = np.asarray(generator.standard_normal(sizes)) * 3
    if kind.is_complex:
        drawn = drawn + 1j * generator.uniform(-1, 1, sizes)
    return np.asarray(drawn).astype(kind.dtype)
