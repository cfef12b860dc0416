"""Running reductions: values, linear work, coalesced access."""

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check

RANDOM = np.random.default_rng(5)
TYPES = {
    "f32": np.float32,
    "s32": np.int32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "c64": np.complex64,
    "u8": np.uint8,
}


def scan(dimensions, axis, from_end=False, operation="add", kind="f32", initial="0"):
    d, n = ",".join(map(str, dimensions)), dimensions[axis]
    size = "x".join([str(n) if k == axis else "1" for k in range(len(dimensions))])
    pad = "x".join(
        [
            (f"0_{n - 1}" if from_end else f"{n - 1}_0") if k == axis else "0_0"
            for k in range(len(dimensions))
        ]
    )
    return f"""HloModule m
s {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT r = {kind}[] {operation}(a, b) }}
ENTRY e {{ x = {kind}[{d}] parameter(0) z = {kind}[] constant({initial})
  ROOT r = {kind}[{d}] reduce-window(x, z), window={{size={size} pad={pad}}}, to_apply=s }}"""


@pytest.mark.parametrize("from_end", [False, True])
@pytest.mark.parametrize(
    ("dimensions", "axis", "kernels"),
    [((7,), 0, 1), ((1024,), 0, 1), ((1000,), 0, 1), ((12000,), 0, 2), ((2, 20001), 1, 2), ((3, 5000), 1, 1), ((40, 33), 0, 1), ((2, 300, 5), 1, 2),
     ((33, 16), 1, 1), ((5, 9, 1), 1, 1), ((5, 256), 1, 1), ((3, 2, 500), 2, 1)],
)  # fmt: skip
@pytest.mark.sampled(8)
def test_values(dimensions, axis, kernels, from_end):
    x = RANDOM.integers(-3, 4, dimensions).astype(np.float32)
    ran = check(scan(dimensions, axis, from_end, initial="2"), x, assemble=len(dimensions) == 3)
    assert ran.emitted.emitter == "scan" and len(ran.emitted.kernels) == kernels
    if dimensions[0] in (1024, 12000, 40) and not from_end:
        assert ran.sector_use() == 1 and ran.conflicts() == 1


@pytest.mark.parametrize(
    ("kind", "operation", "initial"),
    [("s32", "maximum", "-5"), ("f64", "multiply", "1"), ("bf16", "add", "0"), ("f32", "minimum", "inf"), ("c64", "add", "(1, 2)"), ("u8", "xor", "3")],
)  # fmt: skip
def test_types_and_operations(kind, operation, initial):
    x = RANDOM.integers(1, 4, (3, 50)).astype(TYPES[kind])
    check(
        scan((3, 50), 1, False, operation, kind, initial),
        x,
        relative=2e-2 if kind == "bf16" else 1e-5,
        assemble=False,
    )


def test_work_is_linear():
    text = scan((4096,), 0)
    ran = check(text, RANDOM.integers(-3, 4, 4096).astype(np.float32), assemble=False)
    assert sum([row["thread_instructions"] for row in ran.rows]) < 60 * 4096


def test_producers_are_computed_on_the_way():
    text = """HloModule m
s { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
f { x = f32[4,128] parameter(0) y = f32[4,128] multiply(x, x) z = f32[] constant(0)
  ROOT r = f32[4,128] reduce-window(y, z), window={size=1x128 pad=0_0x127_0}, to_apply=s }
ENTRY e { x = f32[4,128] parameter(0) ROOT r = f32[4,128] fusion(x), kind=kLoop, calls=f }"""
    assert (
        check(text, RANDOM.standard_normal((4, 128)).astype(np.float32)).emitted.emitter == "scan"
    )


def test_other_reducers_have_a_reason():
    text = scan((2, 20), 1).replace(
        "ROOT r = f32[] add(a, b)", "c = f32[] add(a, b) ROOT r = f32[] tanh(c)"
    )
    ran = check(text, RANDOM.standard_normal((2, 20)).astype(np.float32), assemble=False)
    assert ("scan", "reducer-not-known-associative") in [
        (name, reason.code) for name, reason in ran.emitted.refused
    ]


def test_windows_that_only_slide_are_no_scans():
    text = scan((2, 20), 1).replace("size=1x20 pad=0_0x19_0", "size=1x3 pad=0_0x1_1")
    ran = check(text, RANDOM.standard_normal((2, 20)).astype(np.float32), assemble=False)
    assert ran.emitted.emitter != "scan" and "scan" not in [name for name, _ in ran.emitted.refused]
