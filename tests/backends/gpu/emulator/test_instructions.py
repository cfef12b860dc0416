"""Single instructions against Python and numpy, with edge values; ptxas accepts the texts."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.emulator.ptx_kernels import (
    COLLATZ,
    DOUBLE,
    HEAD,
    ROW_SUM,
    TRANSPOSE,
    launch,
    one_instruction,
)
from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    GlobalMemory,
    UnsupportedPtxError,
    parse_ptx,
)
from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx, find_ptxas, why_no_ptxas

RNG = np.random.default_rng(3)
COUNT = 256


def integers(bits, signed):
    kind = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
    limits = np.iinfo(kind)
    edges = [0, 1, 2, 7, limits.max, limits.min, limits.max - 1, limits.max // 2]
    return np.concatenate(
        [
            np.array(edges, kind),
            RNG.integers(limits.min, limits.max, COUNT - len(edges), kind, endpoint=True),
        ]
    )


def floats(kind):
    finite = np.finfo(kind)
    edges = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        finite.max,
        finite.tiny,
        finite.smallest_subnormal,
        1.0,
        -1.5,
        0.5,
        2.5,
        -2.5,
        1e10,
    ]
    with np.errstate(over="ignore"):
        random = (
            RNG.standard_normal(COUNT - len(edges))
            * 2.0 ** RNG.integers(-20, 20, COUNT - len(edges))
        ).astype(kind)
        return RNG.permutation(np.concatenate([np.array(edges).astype(kind), random]))


def compute(body, arrays, kinds, result, registers=()):
    """Return a body's results on arrays, one thread an element; ptxas must accept the text too."""
    out = np.zeros(len(arrays[0]), result)
    text = one_instruction(body, registers, kinds, out.dtype.itemsize * 8, len(out))
    if find_ptxas() is not None:
        assemble_ptx(text, "sm_80")
    found, _ = launch(text, 1, len(out), [*arrays, out])
    assert found.findings == []
    return out


def wrapped(value, bits, signed):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else -1


INTEGER = {
    "add": (("s32", "s64", "u16"), lambda a, b, n: a + b),
    "sub": (("s32", "u64"), lambda a, b, n: a - b),
    "mul.lo": (("s32", "s64", "u16"), lambda a, b, n: a * b),
    "mul.hi": (("s32", "u32", "s64", "u64", "u16"), lambda a, b, n: (a * b) >> n),
    "div": (("s32", "u32", "s64", "u64"), lambda a, b, n: quotient(a, b)),
    "rem": (("s32", "u64"), lambda a, b, n: a - b * quotient(a, b) if b else a),
    "min": (("s32", "u64", "s16"), lambda a, b, n: min(a, b)),
    "max": (("u32", "s64"), lambda a, b, n: max(a, b)),
    "and": (("b32", "b64"), lambda a, b, n: a & b),
    "xor": (("b16", "b64"), lambda a, b, n: a ^ b),
}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, (kinds, _) in INTEGER.items() for kind in kinds]
)
def test_integer(name, kind):
    bits, signed = int(kind[1:]), kind[0] == "s"
    a, b = integers(bits, signed), RNG.permutation(integers(bits, signed))
    if name in ("div", "rem"):
        b = np.where(b == 0, 3, b).astype(b.dtype)
    got = compute(f"{name}.{kind} %d, %a0, %a1;", [a, b], [kind, kind], a.dtype)
    want = [
        wrapped(INTEGER[name][1](int(x), int(y), bits), bits, signed)
        for x, y in zip(a, b, strict=True)
    ]
    assert got.tolist() == want


@pytest.mark.parametrize("kind", ["b32", "b64", "b16"])
@pytest.mark.parametrize("name", ["shl", "shr.u", "shr.s"])
def test_shifts_clamp(name, kind):
    bits, signed = int(kind[1:]), name == "shr.s"
    a = integers(bits, signed)
    count = np.concatenate(
        [
            np.array([0, 1, bits - 1, bits, bits + 1, 2**32 - 1], np.uint32),
            RNG.integers(0, 70, COUNT - 6, np.uint32),
        ]
    )
    opcode = f"shl.{kind}" if name == "shl" else f"{name}{bits}"
    got = compute(f"{opcode} %d, %a0, %a1;", [a, count], [kind, "b32"], a.dtype)
    want = [
        wrapped(int(x) << int(n) if name == "shl" else int(x) >> int(n), bits, signed)
        if n < 200
        else (-1 if signed and x < 0 else 0)
        for x, n in zip(a, count, strict=True)
    ]
    assert got.tolist() == want


def test_bits():
    a = integers(32, False)
    assert compute("popc.b32 %d, %a0;", [a], ["b32"], np.uint32).tolist() == [
        int(x).bit_count() for x in a
    ]
    assert compute("clz.b32 %d, %a0;", [a], ["b32"], np.uint32).tolist() == [
        32 - int(x).bit_length() for x in a
    ]
    assert compute("brev.b32 %d, %a0;", [a], ["b32"], np.uint32).tolist() == [
        int(f"{int(x):032b}"[::-1], 2) for x in a
    ]
    assert compute("bfe.u32 %d, %a0, 5, 11;", [a], ["b32"], np.uint32).tolist() == [
        (int(x) >> 5) & 0x7FF for x in a
    ]
    b = RNG.permutation(a)
    want = [(int(x) & ~(0xFF << 8)) | ((int(y) & 0xFF) << 8) for x, y in zip(a, b, strict=True)]
    assert (
        compute("bfi.b32 %d, %a1, %a0, 8, 8;", [a, b], ["b32", "b32"], np.uint32).tolist() == want
    )
    want = [
        (int(x) >> 8) & 0xFFFF | (int(y) & 0xFF) << 16 | (int(y) >> 24) << 24
        for x, y in zip(a, b, strict=True)
    ]
    assert (
        compute("prmt.b32 %d, %a0, %a1, 0x7421;", [a, b], ["b32", "b32"], np.uint32).tolist()
        == want
    )
    want = [((int(y) << 32 | int(x)) << 7 >> 32) & 0xFFFFFFFF for x, y in zip(a, b, strict=True)]
    assert (
        compute("shf.l.wrap.b32 %d, %a0, %a1, 7;", [a, b], ["b32", "b32"], np.uint32).tolist()
        == want
    )
    want = [(int(x) & int(y)) ^ 0xFFFFFFFF for x, y in zip(a, b, strict=True)]
    assert (
        compute("lop3.b32 %d, %a0, %a1, %a1, 0x3f;", [a, b], ["b32", "b32"], np.uint32).tolist()
        == want
    )


def same(got, want):
    """Equal bit for bit, but that every NaN is like the other."""
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    number = ~np.isnan(want)
    np.testing.assert_array_equal(
        got[number].view(f"u{got.dtype.itemsize}"), want[number].view(f"u{got.dtype.itemsize}")
    )


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_floats(kind):
    dtype = np.dtype(f"f{int(kind[1:]) // 8}")
    a, b = floats(dtype), floats(dtype)
    with np.errstate(all="ignore"):
        wanted = {
            f"add.rn.{kind}": a + b,
            f"sub.{kind}": a - b,
            f"mul.rn.{kind}": a * b,
            f"div.rn.{kind}": a / b,
            f"min.{kind}": np.fmin(a, b),
            f"max.{kind}": np.fmax(a, b),
        }
    for opcode, want in wanted.items():
        got = compute(f"{opcode} %d, %a0, %a1;", [a, b], [kind, kind], dtype)
        zeros = (a == 0) & (b == 0)
        if opcode.startswith(("min", "max")):
            # -0 is less than +0.
            signs = (
                np.signbit(a) | np.signbit(b)
                if opcode.startswith("min")
                else np.signbit(a) & np.signbit(b)
            )
            want = np.where(zeros, np.where(signs, dtype.type(-0.0), dtype.type(0.0)), want)
        same(got, want)
    with np.errstate(all="ignore"):
        same(compute(f"sqrt.rn.{kind} %d, %a0;", [a], [kind], dtype), np.sqrt(a))
        if kind == "f32":
            same(
                compute("max.NaN.f32 %d, %a0, %a1;", [a, b], [kind, kind], dtype), np.maximum(a, b)
            )


def exactly(a, b, c, dtype):
    """Return a * b + c rounded once, by rational numbers; None if one of the four is not finite."""
    if not all(np.isfinite([float(a), float(b), float(c)])):
        return None
    value = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if (
        not value
        or abs(value) > Fraction(float(np.finfo(dtype).max))
        or abs(value) < Fraction(float(np.finfo(dtype).tiny))
    ):
        return None
    if dtype == np.float64:
        return float(value)
    # Fractions convert to doubles with one rounding; to f32 by hand.
    near = np.float32(float(value))
    candidates = [
        near,
        np.nextafter(near, np.float32(np.inf)),
        np.nextafter(near, np.float32(-np.inf)),
    ]
    best = min(abs(Fraction(float(x)) - value) for x in candidates)
    ties = [x for x in candidates if abs(Fraction(float(x)) - value) == best]
    return next((x for x in ties if not int(x.view(np.uint32)) & 1), ties[0])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma_rounds_once(kind):
    dtype = np.dtype(f"f{int(kind[1:]) // 8}").type
    a, b = RNG.standard_normal(COUNT).astype(dtype), RNG.standard_normal(COUNT).astype(dtype)
    # Sums that nearly cancel, and ones where the product only decides a tie.
    c = np.where(
        RNG.random(COUNT) < 0.5,
        -a * b,
        RNG.standard_normal(COUNT) * dtype(2) ** RNG.integers(-40, 40, COUNT),
    ).astype(dtype)
    if kind == "f64":
        # Far from one: where the product alone would overflow, or its error vanish.
        a[:64] *= 2.0**1000
        b[:32] *= 2.0 ** RNG.integers(-1000, 0, 32)
        b[32:64] *= 2.0**-990
        c[48:64] = -a[48:64] * b[48:64]
    got = compute(f"fma.rn.{kind} %d, %a0, %a1, %a2;", [a, b, c], [kind] * 3, dtype)
    for x, y, z, r in zip(a, b, c, got, strict=True):
        want = exactly(x, y, z, dtype)
        assert want is None or want == r, (x, y, z)


CONVERSIONS = [
    ("cvt.rzi.s32.f32", "f32", np.float32, np.int32, np.trunc),
    ("cvt.rni.s32.f32", "f32", np.float32, np.int32, np.rint),
    ("cvt.rmi.s64.f64", "f64", np.float64, np.int64, np.floor),
    ("cvt.rpi.u32.f64", "f64", np.float64, np.uint32, np.ceil),
    ("cvt.rzi.u16.f32", "f32", np.float32, np.uint16, np.trunc),
]


@pytest.mark.parametrize(("opcode", "kind", "dtype", "result", "rounding"), CONVERSIONS)
def test_floats_to_integers_clamp(opcode, kind, dtype, result, rounding):
    a = floats(dtype)
    got = compute(f"{opcode} %d, %a0;", [a], [kind], result)
    low, high = np.iinfo(result).min, np.iinfo(result).max
    for x, r in zip(a, got, strict=True):
        want = (
            0
            if np.isnan(x)
            else low
            if x == -np.inf
            else high
            if x == np.inf
            else min(max(int(rounding(x)), low), high)
        )
        assert int(r) == want, x


def test_small_floats():
    a = floats(np.float32)
    with np.errstate(all="ignore"):
        same(compute("cvt.rn.f16.f32 %d, %a0;", [a], ["f32"], np.float16), a.astype(np.float16))
        got = compute("cvt.rn.bf16.f32 %d, %a0;", [a], ["f32"], np.uint16).view(ml_dtypes.bfloat16)
        same(got.astype(np.float32), a.astype(ml_dtypes.bfloat16).astype(np.float32))
        wide = floats(np.float64)
        same(
            compute("cvt.rn.f32.f64 %d, %a0;", [wide], ["f64"], np.float32), wide.astype(np.float32)
        )
    h = floats(np.float16)
    same(compute("cvt.f32.f16 %d, %a0;", [h], ["f16"], np.float32), h.astype(np.float32))
    with np.errstate(all="ignore"):
        same(compute("add.rn.f16 %d, %a0, %a0;", [h], ["f16"], np.float16), h + h)


@pytest.mark.parametrize(("mode", "way"), [("rz", 0), ("rm", -1), ("rp", 1)])
def test_directed_rounding(mode, way):
    a, b = (
        RNG.standard_normal(COUNT).astype(np.float32),
        RNG.standard_normal(COUNT).astype(np.float32),
    )
    got = compute(f"add.{mode}.f32 %d, %a0, %a1;", [a, b], ["f32", "f32"], np.float32)
    for x, y, r in zip(a, b, got, strict=True):
        exact, found = Fraction(float(x)) + Fraction(float(y)), Fraction(float(r))
        side = way or (-1 if exact > 0 else 1)
        assert (found - exact) * side >= 0
        beyond = Fraction(float(np.nextafter(r, np.float32(-np.inf * side))))
        assert found == exact or (beyond - exact) * side < 0


COMPARE = {"eq": np.equal, "lt": np.less, "ge": np.greater_equal}


@pytest.mark.parametrize("operator", ["eq", "lt", "ge", "ne", "neu", "ltu", "num", "nan"])
def test_comparisons(operator):
    a, b = floats(np.float32), floats(np.float32)
    nan = np.isnan(a) | np.isnan(b)
    want = {
        "ne": (a != b) & ~nan,
        "neu": (a != b) | nan,
        "ltu": (a < b) | nan,
        "num": ~nan,
        "nan": nan,
    }.get(operator)
    want = COMPARE[operator](a, b) if want is None else want
    got = compute(
        f"setp.{operator}.f32 %p1, %a0, %a1;\nselp.b32 %d, 1, 0, %p1;",
        [a, b],
        ["f32", "f32"],
        np.uint32,
    )
    np.testing.assert_array_equal(got.astype(bool), want)


SHUFFLES = {
    "up": lambda lane: lane - 3 if lane >= 3 else lane,
    "down": lambda lane: lane + 3 if lane + 3 < 32 else lane,
    "bfly": lambda lane: lane ^ 3,
    "idx": lambda lane: 3,
}


@pytest.mark.parametrize("mode", SHUFFLES)
def test_shuffles(mode):
    a = np.arange(64, dtype=np.uint32)
    clamp = 0 if mode == "up" else 31
    got = compute(f"shfl.sync.{mode}.b32 %d, %a0, 3, {clamp}, 0xffffffff;", [a], ["b32"], np.uint32)
    assert got.tolist() == [warp + SHUFFLES[mode](lane) for warp in (0, 32) for lane in range(32)]


def test_votes():
    a = RNG.integers(0, 2, 64).astype(np.uint32)
    got = compute(
        "setp.ne.u32 %p1, %a0, 0;\nvote.sync.ballot.b32 %d, %p1, 0xffffffff;",
        [a],
        ["b32"],
        np.uint32,
    )
    want = [sum(int(x) << k for k, x in enumerate(a[w : w + 32])) for w in (0, 32)]
    assert got.tolist() == [want[0]] * 32 + [want[1]] * 32
    got = compute("redux.sync.add.u32 %d, %a0, 0xffffffff;", [a], ["b32"], np.uint32)
    assert got.tolist() == [int(a[:32].sum())] * 32 + [int(a[32:].sum())] * 32


ATOMICS = {
    "add": lambda v: sum(v),
    "min": min,
    "max": max,
    "or": lambda v: int(np.bitwise_or.reduce(v)),
}


@pytest.mark.parametrize("name", ATOMICS)
def test_atomics(name):
    a = RNG.integers(1, 1000, 128).astype(np.uint32)
    kind = "b32" if name == "or" else "u32"
    start = 500 if name == "min" else 0
    text = one_instruction(
        f"ld.param.u64 %q30, [p1];\natom.global.{name}.{kind} %d, [%q30], %a0;",
        [],
        ["b32", "u32"],
        32,
        128,
    )
    total, old = np.full(128, start, np.uint32), np.zeros(128, np.uint32)
    launch(text, 1, 128, [a, total, old])
    assert total[0] == ATOMICS[name]([start, *[int(x) for x in a]])
    if name == "add":
        # Each lane saw what those before it had added.
        assert sorted(old.tolist()) == np.concatenate([[0], np.cumsum(a)[:-1]]).tolist()


def test_a_loop_of_compare_and_swap():
    body = """ld.param.u64 %q30, [p1];
AGAIN: ld.global.u32 %r1, [%q30];
add.s32 %r2, %r1, %a0;
atom.global.cas.b32 %r3, [%q30], %r1, %r2;
setp.ne.s32 %p1, %r3, %r1;
@%p1 bra AGAIN;
mov.b32 %d, %r2;"""
    a, total, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    from xla_explorer.backends.gpu.emulator import LaunchOptions

    result, _ = launch(
        one_instruction(body, [".reg .b32 %r<4>;"], ["b32", "b32"], 32, 64),
        1,
        64,
        [a, total, out],
        LaunchOptions(),
    )
    assert total[0] == a.sum() and result.findings == []


def fragments(matrix, rows, pack):
    """Return (32, registers) of packed elements of an m16n8k16 matrix of a warp.

    Source: PTX ISA, matrix fragments.
    """
    lane = np.arange(32)
    group, member = lane >> 2, lane & 3
    parts = []
    for register in range(matrix.size // 32 // pack):
        row = group + (8 * (register & 1) if rows == 16 else 0)
        column = member * pack + 4 * pack * ((register >> 1) if rows == 16 else register)
        parts.append(np.stack([matrix[row, column + e] for e in range(pack)], -1))
    return parts


@pytest.mark.parametrize("kind", ["bf16", "f16", "tf32"])
def test_matrix_multiply(kind):
    depth, pack = (8, 1) if kind == "tf32" else (16, 2)
    dtype = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "tf32": np.float32}[kind]
    a, b = (
        RNG.integers(-8, 9, (16, depth)).astype(dtype),
        RNG.integers(-8, 9, (depth, 8)).astype(dtype),
    )
    words_a = [np.ascontiguousarray(p).view(np.uint32).reshape(-1) for p in fragments(a, 16, pack)]
    words_b = [
        np.ascontiguousarray(p).view(np.uint32).reshape(-1)
        for p in fragments(np.ascontiguousarray(b.T), 8, pack)
    ]
    names = [f"%a{k}" for k in range(len(words_a) + len(words_b))]
    left, right = ", ".join(names[: len(words_a)]), ", ".join(names[len(words_a) :])
    got = []
    for result in range(4):
        body = f"mov.f32 %z, 0f00000000;\nmma.sync.aligned.m16n8k{depth}.row.col.f32.{kind}.{kind}.f32 "
        body += f"{{%f0, %f1, %f2, %f3}}, {{{left}}}, {{{right}}}, {{%z, %z, %z, %z}};\nmov.b32 %d, %f{result};"
        registers = [".reg .f32 %f<4>;", ".reg .f32 %z;"]
        got.append(compute(body, [*words_a, *words_b], ["b32"] * len(names), np.float32, registers))
    lane = np.arange(32)
    want = a.astype(np.float64) @ b.astype(np.float64)
    for result, values in enumerate(got):
        np.testing.assert_array_equal(
            values, want[(lane >> 2) + 8 * (result >> 1), 2 * (lane & 3) + (result & 1)]
        )


def test_whole_kernels():
    x = RNG.standard_normal((5, 700)).astype(np.float32)
    out = np.zeros(5, np.float32)
    result, _ = launch(ROW_SUM, 5, 256, [x, out, 700])
    assert result.findings == []
    np.testing.assert_allclose(out, x.sum(1), rtol=1e-5, atol=1e-4)
    square = RNG.standard_normal((96, 96)).astype(np.float32)
    turned = np.zeros_like(square)
    result, _ = launch(TRANSPOSE.replace("PITCH", "33"), (3, 3), (32, 8), [square, turned, 96])
    assert result.findings == []
    np.testing.assert_array_equal(turned, square.T)
    starts, steps = np.arange(1, 65, dtype=np.uint32), np.zeros(64, np.uint32)
    result, _ = launch(COLLATZ, 1, 64, [starts, steps])

    def length(n):
        return 0 if n == 1 else 1 + length(n // 2 if n % 2 == 0 else 3 * n + 1)

    assert steps.tolist() == [length(int(n)) for n in starts] and result.findings == []


@pytest.mark.skipif(find_ptxas() is None, reason=str(why_no_ptxas()))
@pytest.mark.parametrize(
    "text", [ROW_SUM, TRANSPOSE.replace("PITCH", "33"), COLLATZ, DOUBLE.replace("STRIDE", "1")]
)
def test_ptxas_takes_the_kernels(text):
    assert assemble_ptx(text.replace(".loc", "//"), "sm_80").cubin


def test_what_is_not_there_is_an_error_before_anything_runs():
    text = (
        HEAD
        + ".visible .entry k() { .reg .b32 %r<3>; tex.1d.v4.f32.s32 {%r1, %r1, %r1, %r1}, [t, {%r2}]; ret; }"
    )
    module = parse_ptx(text)
    with pytest.raises(UnsupportedPtxError, match=r"tex\.1d"):
        EmulatedKernel(module, module.kernels["k"], GlobalMemory())


def test_a_parameter_chosen_at_run_time():
    """LLVM's code for a pointer that is one argument or another."""
    text = (
        HEAD
        + """.visible .entry choose(.param .u64 a, .param .u64 b, .param .u64 out)
{
 .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<9>;
 mov.u32 %r1, %tid.x;
 setp.lt.u32 %p1, %r1, 2;
 mov.b64 %rd1, a;
 mov.b64 %rd2, b;
 selp.b64 %rd3, %rd1, %rd2, %p1;
 ld.param.b64 %rd4, [%rd3];
 mul.wide.u32 %rd5, %r1, 4;
 add.s64 %rd6, %rd4, %rd5;
 ld.global.b32 %r2, [%rd6];
 ld.param.b64 %rd7, [out];
 add.s64 %rd8, %rd7, %rd5;
 st.global.b32 [%rd8], %r2;
 ret;
}
"""
    )
    first, second, out = (
        np.arange(8, dtype=np.int32),
        np.arange(8, dtype=np.int32) * -1,
        np.zeros(8, np.int32),
    )
    found, _ = launch(text, 1, 8, [first, second, out])
    assert found.findings == [] and out.tolist() == [0, 1, -2, -3, -4, -5, -6, -7]
