"""Small programs whose compiled values once differed from the evaluator's, on every backend."""

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES


def values(text, backend, *inputs):
    """Return the leaves of the evaluator's result, or of a backend's."""
    if backend is None:
        found = xe.evaluate(xe.parse_hlo(text), *inputs)
        return list(found) if isinstance(found, tuple) else [found]
    options = {"device": "emulator"} if backend == "gpu" else {}
    return xe.compile(text, backend=backend, **options).run_flat(list(inputs))


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_bf16_variance_is_not_a_difference_of_rounded_sums(backend):
    text = """HloModule m
ENTRY e { x = bf16[300,2] parameter(0) s = bf16[2] parameter(1) o = bf16[2] parameter(2)
  ROOT r = (bf16[300,2], bf16[2], bf16[2]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1 }"""
    x = (np.random.default_rng(0).standard_normal((300, 2)) * 0.1 + 3).astype(ml_dtypes.bfloat16)
    one = np.ones(2, ml_dtypes.bfloat16)
    for want, got in zip(
        values(text, None, x, one, one), values(text, backend, x, one, one), strict=True
    ):
        np.testing.assert_allclose(
            np.asarray(got, "f4"), np.asarray(want, "f4"), rtol=0.01, atol=0.02
        )


@pytest.mark.parametrize("backend", [None, "cpu", "gpu"])
def test_epsilon_of_batch_normalisation_is_a_float(backend):
    text = """HloModule m
ENTRY e { x = f64[2,1] parameter(0) s = f64[1] parameter(1)
  c = f64[] constant(0) z = f64[1] broadcast(c), dimensions={}
  ROOT r = f64[2,1] batch-norm-inference(x, s, z, z, z), epsilon=0.1, feature_index=1 }"""
    (found,) = values(text, backend, np.ones((2, 1)), np.ones(1))
    np.testing.assert_allclose(found, 1 / np.sqrt(np.float64(np.float32(0.1))), rtol=1e-14)


@pytest.mark.parametrize("backend", [None, "cpu", "gpu"])
def test_a_complex_factor_that_does_not_exist_is_a_real_nan(backend):
    text = "HloModule m\nENTRY e { a = c64[2,2] parameter(0) ROOT r = c64[2,2] cholesky(a), lower=true }"
    (found,) = values(text, backend, -np.eye(2, dtype=np.complex64))
    assert np.isnan(found.real).all()
    assert not np.asarray(found.imag).any()


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_three_bytes_of_another_kernel(backend):
    text = """HloModule m
before { a = u8[] parameter(0) b = u8[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }
sum { a = u8[] parameter(0) b = u8[] parameter(1) ROOT r = u8[] add(a, b) }
ENTRY e { p = u8[3] parameter(0) s = u8[3] sort(p), dimensions={0}, to_apply=before z = u8[] constant(0)
  r = u8[] reduce(s, z), dimensions={0}, to_apply=sum ROOT b = u8[3,2] broadcast(r), dimensions={} }"""
    (found,) = values(text, backend, np.array([3, 1, 2], np.uint8))
    assert (found == 6).all()


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
@pytest.mark.parametrize(
    "comparator",
    ["ROOT r = pred[] compare(a, b), direction=LT", "ROOT r = pred[] compare(b, a), direction=LT",
     "l = pred[] compare(a, b), direction=LT e = pred[] compare(a, b), direction=EQ g = pred[] compare(i, j), direction=GT "
     "n = pred[] and(e, g) ROOT r = pred[] or(l, n)"],
    ids=["ascending", "descending", "two keys"])  # fmt: skip
def test_sorting_keeps_all_records_though_some_are_nan(backend, comparator):
    text = f"""HloModule m
c {{ a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) {comparator} }}
ENTRY e {{ x = f32[300] parameter(0) y = s32[300] parameter(1)
  ROOT s = (f32[300], s32[300]) sort(x, y), dimensions={{0}}, is_stable=true, to_apply=c }}"""
    random = np.random.default_rng(3)
    x, numbers = random.integers(-9, 9, 300).astype(np.float32), np.arange(300, dtype=np.int32)
    x[random.integers(0, 300, 40)] = np.nan
    keys, found = values(text, backend, x, numbers)
    assert sorted(found) == list(range(300))
    np.testing.assert_array_equal(keys, x[found])


@pytest.mark.parametrize("backend", [None, "cpu", "gpu"])
def test_a_product_sums_in_the_wider_type_of_its_operands(backend):
    """256 ones wrap to 0 in 8 bits before they become a pred; floats are cut after their sum."""
    rows = [("s8", "s8", "pred", 0), ("s8", "pred", "pred", 0), ("pred", "u8", "pred", 0), ("pred", "pred", "pred", 1), ("u8", "s8", "pred", 0),
            ("s8", "s16", "pred", 1), ("s4", "pred", "pred", 0), ("f32", "f32", "pred", 1), ("f32", "half", "s8", 127), ("half", "half", "s16", 64)]  # fmt: skip
    ones = {"s8": np.int8(1), "u8": np.uint8(1), "s16": np.int16(1), "s4": np.array(1, ml_dtypes.int4), "pred": np.True_, "f32": np.float32(1), "half": np.float32(0.5)}  # fmt: skip
    lines = []
    for number, name in enumerate(ones):
        kind = "f32" if name == "half" else name
        lines.append(
            f"  one.{name} = {kind}[] parameter({number}) all.{name} = {kind}[4,256] broadcast(one.{name}), dimensions={{}}"
        )
    for number, (left, right, result, _) in enumerate(rows):
        lines.append(
            f"  d{number} = {result}[4,4] dot(all.{left}, all.{right}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}"
        )
    lines.append(
        "  x = s8[1,64,4] broadcast(one.s8), dimensions={}  k = s8[64,4,2] broadcast(one.s8), dimensions={}"
    )
    lines.append("  c = pred[1,1,2] convolution(x, k), window={size=64}, dim_labels=b0f_0io->b0f")
    shapes, roots = (
        [f"{result}[4,4]" for _, _, result, _ in rows],
        [f"d{number}" for number in range(len(rows))],
    )
    text = (
        "HloModule m\nENTRY e {\n"
        + "\n".join(lines)
        + f"\n  ROOT t = ({', '.join(shapes)}, pred[1,1,2]) tuple({', '.join(roots)}, c)\n}}"
    )
    found = values(text, backend, *map(np.asarray, ones.values()))
    assert [np.unique(np.asarray(x)).astype(int).tolist() for x in found] == [
        [expected] for *_, expected in rows
    ] + [[0]]


# types of operands and result, operands [2], what real XLA computes
_ROUNDED = [
    ("f16 f16 s32", (300, 0), (300, 0), 2**31 - 1),  # infinite in f16
    ("f16 f16 s64", (-300, 0), (300, 0), -(2**63)),
    ("f16 f16 s16", (64, 1), (64, 1), 4096),
    ("bf16 bf16 s32", (16, 1), (16, 1), 256),
    ("f16 bf16 s32", (257, 0), (1, 0), 256),
    ("f8e5m2 f8e5m2 s32", (4, 1), (4, 1), 16),
    ("f8e4m3fn f8e4m3fn s32", (16, 0), (32, 0), 0),  # NaN beyond 448
    ("f32 f32 s64", (4097, 0), (4097, 0), 4097**2 - 1),
    ("f16 s32 s32", (1, 0), (2049, 0), 2048),
    ("bf16 bf16 f16", (16, 1), (16, 1), 256),
    ("f16 f16 bf16", (257, 0), (257, 0), 65536),
    ("f16 f16 f32", (64, 1), (64, 1), 4097),
    ("s32 s32 s8", (100, 28), (100, 1), 44),
]


@pytest.mark.parametrize("backend", [None, "cpu", "gpu"])
@pytest.mark.parametrize("opcode", ["dot", "convolution"])
def test_a_product_is_rounded_to_the_wider_type_of_operands_and_result(backend, opcode):
    lines, roots, shapes, arguments, expected = [], [], [], [], []
    for number, (kinds, left, right, value) in enumerate(_ROUNDED):
        a, b, result = kinds.split()
        for name, kind, values_ in (("x", a, left), ("y", b, right)):
            lines.append(f"  {name}{number} = {kind}[2] parameter({len(arguments)})")
            arguments.append(np.asarray(values_, PRIMITIVE_TYPES[kind].dtype))
        if opcode == "dot":
            lines.append(
                f"  r{number} = {result}[] dot(x{number}, y{number}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}"
            )
        else:
            lines.append(
                f"  i{number} = {a}[1,2,1] reshape(x{number})  k{number} = {b}[2,1,1] reshape(y{number})"
            )
            lines.append(
                f"  c{number} = {result}[1,1,1] convolution(i{number}, k{number}), window={{size=2}}, dim_labels=b0f_0io->b0f"
            )
            lines.append(f"  r{number} = {result}[] reshape(c{number})")
        roots.append(f"r{number}")
        shapes.append(f"{result}[]")
        expected.append(value)
    text = (
        "HloModule m\nENTRY e {\n"
        + "\n".join(lines)
        + f"\n  ROOT t = ({', '.join(shapes)}) tuple({', '.join(roots)})\n}}"
    )
    found = values(text, backend, *arguments)
    assert [int(np.asarray(x).item()) for x in found] == expected


@pytest.mark.parametrize("backend", [None, "cpu", "gpu"])
@pytest.mark.parametrize("passes", ["default", "none"])
@pytest.mark.parametrize(("left", "right"), [((3, 2, 0), (2, 0, 4)), ((3, 0, 2), (0, 2, 4))])
def test_a_product_over_two_dimensions_without_a_term_is_zero(left, right, passes, backend):
    dims = "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}"
    text = f"HloModule m ENTRY e {{ x = f32{list(left)} parameter(0) y = f32{list(right)} parameter(1) ROOT d = f32[3,4] dot(x, y), {dims} }}"
    options = {
        "backend": backend,
        "passes": passes,
        **({"device": "emulator"} if backend == "gpu" else {}),
    }
    arguments = np.zeros(left, "f4"), np.zeros(right, "f4")
    found = (
        xe.evaluate(text, *arguments)
        if backend is None
        else xe.compile(text, **options)(*arguments)
    )
    np.testing.assert_array_equal(found, np.zeros((3, 4), "f4"))
