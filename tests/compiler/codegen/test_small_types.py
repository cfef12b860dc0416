"""Types of up to eight bits: conversions, arithmetic as in ml_dtypes, numpy's memory form."""

import ml_dtypes
import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import compile_for_cpu, opcodes_on_evaluator
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

FLOATS = {
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
}
INTEGERS = {
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "s2": ml_dtypes.int2,
    "u2": ml_dtypes.uint2,
    "s1": ml_dtypes.int1,
    "u1": ml_dtypes.uint1,
}


def run(text, *inputs):
    executable = compile_for_cpu(text)
    assert not opcodes_on_evaluator(executable)
    return executable.execute(list(inputs))[0]


def codes(name):
    return np.arange(16 if name.startswith("f4") else 256, dtype=np.uint8).view(FLOATS[name])


@pytest.mark.parametrize("name", FLOATS)
def test_every_value_widens_and_comes_back(name):
    x = codes(name)
    wide = run(
        f"HloModule m\nENTRY e {{ x = {name}[{len(x)}] parameter(0)\n ROOT r = f32[{len(x)}] convert(x) }}",
        x,
    )
    np.testing.assert_array_equal(wide, x.astype(np.float32))
    back = run(
        f"HloModule m\nENTRY e {{ x = f32[{len(x)}] parameter(0)\n ROOT r = {name}[{len(x)}] convert(x) }}",
        wide,
    )
    good = ~np.isnan(wide)
    np.testing.assert_array_equal(back.view(np.uint8)[good], x.view(np.uint8)[good])
    assert np.isnan(back.astype(np.float32)[~good]).all()


@pytest.mark.parametrize("name", FLOATS)
def test_rounding_is_that_of_the_reference(name):
    random = np.random.default_rng(5)
    table = codes(name).astype(np.float32)
    table = np.sort(table[np.isfinite(table)])
    with np.errstate(over="ignore"):
        middle = (table[1:] + table[:-1]) / 2
        near = np.concatenate(
            [
                middle,
                np.nextafter(middle, np.float32(np.inf)),
                np.nextafter(middle, np.float32(-np.inf)),
            ]
        )
        spread = (random.standard_normal(2000) * 2.0 ** random.integers(-40, 40, 2000)).astype(
            np.float32
        )
        special = np.array(
            [0.0, -0.0, np.inf, -np.inf, np.nan, 1e38, -1e38, 1e-45, -1e-45], np.float32
        )
        x = np.concatenate([near, spread, special, table * 1.01]).astype(np.float32)
        wanted = x.astype(FLOATS[name])
    found = run(
        f"HloModule m\nENTRY e {{ x = f32[{len(x)}] parameter(0)\n ROOT r = {name}[{len(x)}] convert(x) }}",
        x,
    )
    nan = np.isnan(wanted.astype(np.float32))
    assert (np.isnan(found.astype(np.float32)) == nan).all()
    wrong = np.flatnonzero((found.view(np.uint8) != wanted.view(np.uint8)) & ~nan)
    assert not len(wrong), [(x[k], found[k], wanted[k]) for k in wrong[:5]]


@pytest.mark.parametrize("name", [name for name in FLOATS if name != "f8e8m0fnu"])
def test_f64_is_rounded_once(name):
    table = codes(name).astype(np.float64)
    table = np.sort(table[np.isfinite(table)])
    middle = (table[1:] + table[:-1]) / 2
    x = np.concatenate([middle * (1 + 2.0**-40), middle * (1 - 2.0**-40)])
    found = run(
        f"HloModule m\nENTRY e {{ x = f64[{len(x)}] parameter(0)\n ROOT r = {name}[{len(x)}] convert(x) }}",
        x,
    )
    error = np.abs(found.astype(np.float64) - x)
    nearest = np.abs(table[None, :] - x[:, None]).min(axis=1)
    np.testing.assert_array_equal(error, nearest)


@pytest.mark.parametrize("name", ["f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f4e2m1fn"])
@pytest.mark.parametrize("opcode", ["add", "multiply", "maximum", "subtract"])
def test_arithmetic_rounds_after_each_operation(name, opcode):
    x = codes(name)
    a, b = [v.reshape(-1) for v in np.meshgrid(x, x)]
    found = run(
        f"HloModule m\nENTRY e {{ x = {name}[{len(a)}] parameter(0)\n y = {name}[{len(a)}] parameter(1)\n "
        f"ROOT r = {name}[{len(a)}] {opcode}(x, y) }}",
        a,
        b,
    )
    with np.errstate(all="ignore"):
        wide = getattr(np, opcode)(a.astype(np.float32), b.astype(np.float32))
        wanted = wide.astype(FLOATS[name])
    same = (
        (found == wanted)
        | (np.isnan(found.astype(np.float32)) & np.isnan(wanted.astype(np.float32)))
        | np.isnan(wide)
    )
    assert same.all()


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize(
    "opcode", ["add", "subtract", "multiply", "divide", "maximum", "and", "shift-left"]
)
def test_integers_wrap_at_their_width(name, opcode):
    bits = int(name[1:])
    values = np.arange(1 << bits) - (1 << (bits - 1) if name[0] == "s" else 0)
    a, b = [v.reshape(-1) for v in np.meshgrid(values, values)]
    x, y = a.astype(INTEGERS[name]), b.astype(INTEGERS[name])
    found = run(
        f"HloModule m\nENTRY e {{ x = {name}[{len(a)}] parameter(0)\n y = {name}[{len(a)}] parameter(1)\n "
        f"ROOT r = {name}[{len(a)}] {opcode}(x, y) }}",
        x,
        y,
    )
    safe = np.where(b == 0, 1, b)
    quotient = np.sign(a) * np.sign(safe) * (np.abs(a) // np.abs(safe))
    amount = b & ((1 << bits) - 1)
    wanted = {
        "add": a + b,
        "subtract": a - b,
        "multiply": a * b,
        "divide": np.where(b == 0, -1, quotient),
        "maximum": np.maximum(a, b),
        "and": a & b,
        "shift-left": np.where(amount < bits, a << amount, 0),
    }[opcode]
    wrapped = wanted & ((1 << bits) - 1)
    np.testing.assert_array_equal(found.view(np.uint8) & ((1 << bits) - 1), wrapped)
    np.testing.assert_array_equal(
        found.astype(np.int32),
        wrapped.astype(np.uint8).astype(INTEGERS[name]).astype(np.int32)
        if name[0] == "u"
        else np.where(wrapped >> (bits - 1), wrapped - (1 << bits), wrapped),
    )


def test_small_types_in_reductions_dots_and_sorts():
    text = """HloModule m
add { a = s4[] parameter(0)
 b = s4[] parameter(1)
 ROOT c = s4[] add(a, b) }
less { a = u2[] parameter(0)
 b = u2[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e { x = s4[6,50] parameter(0)
 y = u2[300] parameter(1)
 z = s4[] constant(-1)
 f = f8e4m3fn[6,50] parameter(2)
 r = s4[6] reduce(x, z), dimensions={1}, to_apply=add
 s = u2[300] sort(y), dimensions={0}, to_apply=less
 d = f32[6,6] dot(f, f), lhs_contracting_dims={1}, rhs_contracting_dims={1}
 ROOT t = (s4[6], u2[300], f32[6,6]) tuple(r, s, d) }"""
    random = np.random.default_rng(7)
    a = random.integers(-8, 8, (6, 50))
    b = random.integers(0, 4, 300)
    f = random.standard_normal((6, 50)).astype(ml_dtypes.float8_e4m3fn)
    executable = compile_for_cpu(text)
    assert not opcodes_on_evaluator(executable)
    r, s, d = executable.execute([a.astype(ml_dtypes.int4), b.astype(ml_dtypes.uint2), f])
    np.testing.assert_array_equal(r.astype(int), (a.sum(axis=1) - 1 + 8) % 16 - 8)
    np.testing.assert_array_equal(s.astype(int), np.sort(b))
    wide = f.astype(np.float64)
    np.testing.assert_allclose(d, wide @ wide.T, rtol=1e-5, atol=1e-5)


BINARY_BF16 = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
UNARY_BF16 = ("sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even", "negate", "abs")


def test_every_bf16_with_denormals_infinities_and_nans_in_each_operation():
    """All 65536 bf16 numbers, each with a special and a random one, in each operation.

    NaNs stay NaNs; all else has the reference's bits.
    """
    everything = np.arange(1 << 16, dtype=np.uint16)
    special = np.array(
        [
            0,
            0x8000,
            1,
            0x8001,
            0x7F,
            0x80,
            0x3F80,
            0xBF80,
            0x7F7F,
            0xFF7F,
            0x7F80,
            0xFF80,
            0x7FC0,
            0x7FFF,
            0x7F81,
            0xFFFF,
        ],
        np.uint16,
    )
    x = np.concatenate([everything] * 2).view(ml_dtypes.bfloat16)
    other = np.random.default_rng(3).integers(0, 1 << 16, 1 << 16).astype(np.uint16)
    y = np.concatenate([np.tile(special, 4096), other]).view(ml_dtypes.bfloat16)
    shape = f"bf16[{len(x)}]"
    lines = [f"  o{k} = {shape} {name}(x, y)\n" for k, name in enumerate(BINARY_BF16)]
    lines += [f"  v{k} = {shape} {name}(x)\n" for k, name in enumerate(UNARY_BF16)]
    names = [f"o{k}" for k in range(len(BINARY_BF16))] + [f"v{k}" for k in range(len(UNARY_BF16))]
    text = (
        f"HloModule m\nENTRY e {{\n  x = {shape} parameter(0)\n  y = {shape} parameter(1)\n{''.join(lines)}"
        f"  ROOT t = tuple({', '.join(names)})\n}}\n"
    )
    executable = compile_for_cpu(text)
    assert not opcodes_on_evaluator(executable)
    found = executable.execute([x, y])
    wanted = evaluate(parse_hlo(text), x, y)
    for name, ours, right in zip([*BINARY_BF16, *UNARY_BF16], found, wanted, strict=True):
        right = np.asarray(right)
        none = np.isnan(right.astype(np.float32))
        np.testing.assert_array_equal(np.isnan(ours.astype(np.float32)), none, err_msg=name)
        np.testing.assert_array_equal(
            ours.view(np.uint16)[~none], right.view(np.uint16)[~none], err_msg=name
        )


def test_a_nan_of_arithmetic_keeps_its_place_in_a_chain_of_bf16():
    """Inf - inf, 0 / 0, 0 * inf and NaNs with every payload, rounded between two operations."""
    x = np.arange(0x7F80, 0x8000, dtype=np.uint16).view(ml_dtypes.bfloat16)
    out = run(
        "HloModule m\nENTRY e {\n  x = bf16[128] parameter(0)\n  c = bf16[] constant(inf)\n  i = bf16[128] broadcast(c), dimensions={}\n"
        "  s = bf16[128] subtract(x, i)\n  t = bf16[128] multiply(s, s)\n  ROOT r = bf16[128] add(t, x)\n}\n",
        x,
    )
    assert np.isnan(out.astype(np.float32)).all()


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("name", ["s2", "u2", "s4", "u4", "f4e2m1fn", "s8", "pred"])
@pytest.mark.sampled(7)
def test_topk_by_a_list_behind_a_limit_and_by_sorting(name, largest):
    dtype = {**FLOATS, **INTEGERS, "s8": np.int8, "pred": np.bool_}[name]
    for shape, k in (((8,), 4), ((3, 200), 5), ((2, 300), 100), ((13000,), 70)):
        dims, out = ",".join(map(str, shape)), ",".join(map(str, (*shape[:-1], k)))
        text = f"HloModule m\nENTRY e {{ x = {name}[{dims}] parameter(0)\n ROOT t = ({name}[{out}], s32[{out}]) topk(x), k={k}, largest={largest} }}"
        x = np.random.default_rng(k).integers(0, 4, shape).astype(dtype)
        executable = compile_for_cpu(text)
        assert not opcodes_on_evaluator(executable)
        for found, wanted in zip(
            executable.execute([x]), evaluate(parse_hlo(text), x), strict=True
        ):
            np.testing.assert_array_equal(found, wanted, err_msg=f"{shape} {k}")


ARGMAX = """HloModule m
larger { a = T[] parameter(0)
 i = s32[] parameter(1)
 b = T[] parameter(2)
 j = s32[] parameter(3)
 above = pred[] compare(a, b), direction=GT
 equal = pred[] compare(a, b), direction=EQ
 first = pred[] compare(i, j), direction=LT
 tie = pred[] and(equal, first)
 keep = pred[] or(above, tie)
 v = T[] select(keep, a, b)
 k = s32[] select(keep, i, j)
 ROOT r = (T[], s32[]) tuple(v, k) }
ENTRY e { x = T[2,N] parameter(0)
 i = s32[2,N] iota(), iota_dimension=1
 z = T[] constant(0)
 n = s32[] constant(0)
 ROOT r = (T[2], s32[2]) reduce(x, i, z, n), dimensions={1}, to_apply=larger }"""


@pytest.mark.parametrize("name", ["s2", "u2", "s4", "u4", "s8", "u8", "s16", "u32", "s64"])
@pytest.mark.sampled(4)
def test_argmax_of_integers(name):
    dtype = INTEGERS.get(name) or np.dtype(name.replace("s", "int").replace("u", "uint"))
    for length in (1, 31, 32, 33, 64, 100):
        x = (
            np.random.default_rng(length)
            .integers(0, 2 if name == "s2" else 4, (2, length))
            .astype(dtype)
        )
        executable = compile_for_cpu(ARGMAX.replace("T[", f"{name}[").replace("N]", f"{length}]"))
        assert not opcodes_on_evaluator(executable)
        value, place = executable.execute([x])
        np.testing.assert_array_equal(place, np.argmax(x.astype(int), axis=1), err_msg=str(length))
        np.testing.assert_array_equal(value.astype(int), x.astype(int).max(axis=1))


@pytest.mark.parametrize("passes", ["default", "none"])
@pytest.mark.parametrize(("source", "target"), [
    ("s4[17,2]{1,0:E(4)}", "s8[17]{0}"), ("s8[17]{0}", "s4[17,2]{1,0}"), ("u2[3,4]{1,0}", "u8[3]{0}"), ("u2[6]{0}", "u4[3]{0}"),
    ("s4[5,4]{0,1}", "s16[5]{0}"), ("f4e2m1fn[4,3]{0,1}", "u8[3,2]{1,0}"),
])  # fmt: skip
def test_a_bitcast_to_another_width_is_of_packed_elements(source, target, passes):
    text = f"""HloModule m
ENTRY e {{ a = {source} parameter(0)
 b = {target} bitcast(a)
 ROOT c = {target} copy(b) }}"""
    name, sizes = (
        source.split("[")[0],
        [int(n) for n in source.split("[")[1].split("]")[0].split(",")],
    )
    dtype = FLOATS.get(name) or INTEGERS.get(name) or np.dtype("int8")
    x = (
        np.random.default_rng(0)
        .integers(0, 4 if name == "u2" else 8, sizes)
        .astype(np.int8)
        .astype(dtype)
    )
    want = evaluate(parse_hlo(text), x)
    for program in (text, text.replace("ROOT ", "").replace("b =", "ROOT b =")):
        made = compile_for_cpu(program, passes=passes).execute([x])[0]
        assert made.dtype == want.dtype
        np.testing.assert_array_equal(made.astype(int), want.astype(int))
    if source.startswith("s4[17"):  # the first element is in the low bits
        np.testing.assert_array_equal(
            want, (x[:, 0].astype(int) & 15 | x[:, 1].astype(int) << 4).astype(np.int8)
        )


@pytest.mark.parametrize(
    "name", sorted({*FLOATS, "bf16", "f16"} - {"f8e8m0fnu"})
)  # which has no zero
@pytest.mark.parametrize("window", ["1x16", "3x1", "2x5"])
@pytest.mark.sampled(6)
def test_windows_round_each_step(name, window):
    kind = FLOATS.get(name) or {"bf16": ml_dtypes.bfloat16, "f16": np.float16}[name]
    rows, columns = [int(n) for n in window.split("x")]
    for opcode, start in (("add", 0), ("multiply", 1)):
        text = f"""HloModule m
combine {{ a = {name}[] parameter(0)
 b = {name}[] parameter(1)
 ROOT c = {name}[] {opcode}(a, b) }}
ENTRY e {{ x = {name}[4,64] parameter(0)
 z = {name}[] constant({start})
 ROOT r = {name}[{5 - rows},{65 - columns}] reduce-window(x, z), window={{size={window}}}, to_apply=combine }}"""
        x = np.random.default_rng(7).standard_normal((4, 64)).astype(kind)
        np.testing.assert_array_equal(
            run(text, x).astype(float), evaluate(parse_hlo(text), x).astype(float)
        )


@pytest.mark.parametrize("order", ["", ", type=TOTALORDER"])
def test_an_exponent_alone_has_no_sign_to_sort_by(order):
    x = (
        np.random.default_rng(0)
        .permutation(np.arange(255, dtype=np.uint8))[None]
        .view(ml_dtypes.float8_e8m0fnu)
    )
    for k in (2, 100, 255):
        for largest in ("true", "false"):
            text = f"ENTRY e {{ a = f8e8m0fnu[1,255] parameter(0)\n ROOT t = (f8e8m0fnu[1,{k}], s32[1,{k}]) topk(a), k={k}, largest={largest} }}"
            made = compile_for_cpu(text).execute([x])
            for one, other in zip(made, evaluate(parse_hlo(text), x), strict=True):
                np.testing.assert_array_equal(one.astype(float), np.asarray(other).astype(float))
    for direction in ("LT", "GT"):
        text = f"""HloModule m
c {{ l = f8e8m0fnu[] parameter(0)
 r = f8e8m0fnu[] parameter(1)
 ROOT z = pred[] compare(l, r), direction={direction}{order} }}
ENTRY e {{ a = f8e8m0fnu[1,255] parameter(0)
 ROOT t = f8e8m0fnu[1,255] sort(a), dimensions={{1}}, to_apply=c }}"""
        made = compile_for_cpu(text).execute([x])[0]
        wanted = np.sort(x.astype(float))
        np.testing.assert_array_equal(
            made.astype(float), wanted if direction == "LT" else wanted[:, ::-1]
        )


def test_a_long_sort_of_exponents_alone():
    """By digits, which short ones are not; numpy sorts their bits, as all are positive."""
    x = np.random.default_rng(0).integers(0, 255, (3, 20_000)).astype(np.uint8)
    text = """c { l = f8e8m0fnu[] parameter(0)
 r = f8e8m0fnu[] parameter(1)
 ROOT z = pred[] compare(l, r), direction=LT }
ENTRY e { a = f8e8m0fnu[3,20000] parameter(0)
 ROOT t = f8e8m0fnu[3,20000] sort(a), dimensions={1}, to_apply=c }"""
    made = compile_for_cpu(text).execute([x.view(ml_dtypes.float8_e8m0fnu)])[0]
    np.testing.assert_array_equal(np.asarray(made).view(np.uint8), np.sort(x, axis=1))


def test_logistic_of_a_narrow_type_is_rounded_once():
    # As XLA:CPU's, where the type is normalised before the operation is expanded.
    x = np.arange(256, dtype=np.uint8).view(FLOATS["f8e5m2"])
    found = run(
        "HloModule m\nENTRY e { x = f8e5m2[256] parameter(0)\n ROOT r = f8e5m2[256] logistic(x) }",
        x,
    )
    with np.errstate(over="ignore"):
        wanted = (1 / (1 + np.exp(-x.astype(np.float32)))).astype(FLOATS["f8e5m2"])
    good = ~np.isnan(x.astype(np.float32))
    np.testing.assert_array_equal(found.view(np.uint8)[good], wanted.view(np.uint8)[good])


@pytest.mark.parametrize("name", ["f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz"])
def test_the_nan_in_place_of_minus_zero_is_the_smallest(name):
    # As in XLA and on the evaluator: it has the sign, and no value is below it.
    text = f"""HloModule m
lt {{ a = {name}[] parameter(0)
 b = {name}[] parameter(1)
 ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }}
ENTRY e {{ x = {name}[256] parameter(0)
 ROOT s = {name}[256] sort(x), dimensions={{0}}, to_apply=lt }}"""
    x = np.random.default_rng(0).permutation(256).astype(np.uint8).view(FLOATS[name])
    found = run(text, x).view(np.uint8)
    assert found.tolist() == [128, *range(255, 128, -1), *range(128)]
    np.testing.assert_array_equal(found, np.asarray(evaluate(parse_hlo(text), x)).view(np.uint8))
