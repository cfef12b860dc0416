"""Large results with non-temporal stores: which ones, and values for any extent."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.llvm.target_machine import host_target
from xla_explorer.compiler.codegen.nest import tuning
from xla_explorer.explorer.measures.profiling import streaming_kernels

pytestmark = pytest.mark.skipif(
    host_target().architecture != "x86_64", reason="streaming stores are written for x86-64 only"
)
LONG = "HloModule m\nENTRY e { x = f32[10007] parameter(0)\n y = f32[10007] parameter(1)\n ROOT r = f32[10007] add(x, y) }"
ROWS = (
    "HloModule m\nENTRY e { x = f64[13,1200] parameter(0)\n y = f64[13] parameter(1)\n b = f64[13,1200] broadcast(y), dimensions={0}\n"
    " ROOT r = f64[13,1200] multiply(x, b) }"
)
BROKEN_ROWS = ROWS.replace("1200", "1203")  # rows that do not begin with a cache line
TWO = (
    "HloModule m\nENTRY e { x = f32[10007] parameter(0)\n a = f32[10007] exponential(x)\n b = f32[10007] negate(x)\n"
    " ROOT t = (f32[10007], f32[10007]) tuple(a, b) }"
)
TURNED = "HloModule m\nENTRY e { x = f32[64,112] parameter(0)\n ROOT r = f32[112,64] transpose(x), dimensions={1,0} }"
TURNED_EDGE = TURNED.replace("112", "113")
TURNED_ROWS = TURNED.replace("64", "65")  # rows of the result that do not begin with a cache line
GATHERED = (
    "HloModule m\nENTRY e { x = f32[300,64] parameter(0)\n y = s32[500] iota(), iota_dimension=0\n"
    " ROOT r = f32[500,64] gather(x, y), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,"
    " slice_sizes={1,64} }"
)
GATHERED_BETWEEN = GATHERED.replace("64", "66")  # rows that do not begin with a cache line
IN_A_LOOP = """HloModule m
more { s = (s32[], f32[64,64], f32[64,64]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(3)
 ROOT r = pred[] compare(i, n), direction=LT }
turn { s = (s32[], f32[64,64], f32[64,64]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 one = s32[] constant(1)
 j = s32[] add(i, one)
 x = f32[64,64] get-tuple-element(s), index=1
 t = f32[64,64] transpose(x), dimensions={1,0}
 ROOT r = (s32[], f32[64,64], f32[64,64]) tuple(j, x, t) }
ENTRY e { x = f32[64,64] parameter(0)
 z = s32[] constant(0)
 s = (s32[], f32[64,64], f32[64,64]) tuple(z, x, x)
 w = (s32[], f32[64,64], f32[64,64]) while(s), condition=more, body=turn
 ROOT r = f32[64,64] get-tuple-element(w), index=2 }"""
READ_AGAIN = (
    "HloModule m\nENTRY e { x = f32[64,64] parameter(0)\n a = f32[64,64] exponential(x)\n"
    " ROOT d = f32[64,64] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"
)


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "STREAMED", 0)
    monkeypatch.setattr(tuning, "STREAMED_TRANSPOSE", 0)


def inputs_of(session: xe.Session) -> list[np.ndarray]:
    random = np.random.default_rng(2)
    return [
        random.standard_normal(p.shape.dimensions).astype(p.shape.element_type.dtype)
        for p in session.module.entry.parameters()
    ]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("text", "streamed"),
    [
        (LONG, True),
        (ROWS, True),
        (BROKEN_ROWS, False),
        (TWO, True),
        (READ_AGAIN, False),
        (TURNED, True),
        (TURNED_EDGE, True),
        (TURNED_ROWS, False),
        (GATHERED, True),
        (GATHERED_BETWEEN, False),
        (IN_A_LOOP, False),
    ],
)
@pytest.mark.usefixtures("everything_is_large")
def test_what_is_streamed_has_the_right_values(text: str, streamed: bool, threads: int) -> None:
    session = xe.compile(text, backend="cpu", threads=threads, cache=False)
    assert ("!nontemporal" in session.stage("llvm-ir").text) == streamed
    assert (
        streaming_kernels(session) & {step.function for step in session.executable.steps} != set()
    ) == streamed
    arrays = inputs_of(session)
    wanted = xe.compile(text, backend="interpreter").run_flat(arrays)
    for got, value in zip(session.run_flat(arrays), wanted, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("everything_is_large")
def test_a_result_in_memory_that_begins_inside_a_line() -> None:
    """The memory of an argument that was given away: its addresses are the caller's."""
    text = LONG.replace("add(x, y)", "multiply(y, y)")
    session = xe.compile(text, backend="cpu", threads=1, cache=False, donate=True)
    memory = np.zeros(10007 + 64, np.float32)
    for shift in (1, 4, 16):
        x, y = memory[shift : shift + 10007], np.full(10007, 3.0, np.float32)
        np.testing.assert_array_equal(session.run_flat([x, y])[0], 9.0)


def test_small_results_stay_in_the_cache() -> None:
    assert "!nontemporal" not in xe.compile(LONG, backend="cpu", threads=1).stage("llvm-ir").text


@pytest.mark.usefixtures("everything_is_large")
def test_a_scalar_has_no_loop() -> None:
    session = xe.compile(
        "HloModule m\nENTRY e { x = f32[] parameter(0)\n ROOT r = f32[] add(x, x) }",
        backend="cpu",
        cache=False,
    )
    assert session(np.float32(2)) == 4
