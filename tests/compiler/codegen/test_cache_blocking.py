"""Cross-kernel cache blocking: which chains run block by block, and that values do not change."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.cpu.guard_pages import as_if_large, body
from xla_explorer.compiler.codegen.cache_blocking import BlockedKernel, ChainAccess, count_blocks
from xla_explorer.compiler.codegen.dispatch import kernel_writing
from xla_explorer.compiler.target import HOST_LIKE
from xla_explorer.foundation.reason import refuse

REDUCERS = """HloModule chain

largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b)
}

total {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
"""


def softmax(rows: str, columns: int) -> str:
    kept = rows.count(",") + 1
    over, along = kept, ",".join([str(d) for d in range(kept)])
    return (
        REDUCERS
        + f"""
ENTRY e {{
  x = f32[{rows},{columns}] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  top = f32[{rows}] reduce(x, low), dimensions={{{over}}}, to_apply=largest
  tops = f32[{rows},{columns}] broadcast(top), dimensions={{{along}}}
  difference = f32[{rows},{columns}] subtract(x, tops)
  power = f32[{rows},{columns}] exponential(difference)
  sum = f32[{rows}] reduce(power, zero), dimensions={{{over}}}, to_apply=total
  sums = f32[{rows},{columns}] broadcast(sum), dimensions={{{along}}}
  ROOT result = f32[{rows},{columns}] divide(power, sums)
}}
"""
    )


def blocks(session: xe.Session) -> bool:
    return "\nblock." in session.stage("llvm-ir").text


@pytest.mark.parametrize(("rows", "columns"), [("2048", 200), ("2000", 333), ("4,8,64", 192)])
def test_softmax_is_blocked(rows: str, columns: int) -> None:
    session = xe.compile(softmax(rows, columns), backend="cpu", threads=1)
    assert blocks(session)
    assert len(session.decisions("cache-blocking")) >= 2
    x = (
        np.random.default_rng(3)
        .standard_normal([*map(int, rows.split(",")), columns])
        .astype(np.float32)
    )
    power = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    np.testing.assert_allclose(session(x), power / power.sum(-1, keepdims=True), rtol=2e-6)
    threaded = xe.compile(softmax(rows, columns), backend="cpu", threads=2)
    assert (
        "@blocked_chain(" in threaded.stage("llvm-ir").text
        and threaded.decisions("cache-blocking").facts[0]["threads"] == 2
    )
    for _ in range(5):
        assert np.array_equal(session(x), threaded(x))
    assert len(threaded.profile(x)) >= 2  # the instrumented build runs kernel by kernel


def test_small_programs_stay_whole() -> None:
    assert not blocks(xe.compile(softmax("64", 64), backend="cpu", threads=1))
    assert (
        "@blocked_chain("
        not in xe.compile(softmax("64", 64), backend="cpu", threads=2).stage("llvm-ir").text
    )


def test_a_sum_over_rows_breaks_the_chain() -> None:
    """Every block would need the sums of all rows."""
    text = (
        REDUCERS
        + """
ENTRY e {
  x = f32[2048,256] parameter(0)
  zero = f32[] constant(0)
  column = f32[256] reduce(x, zero), dimensions={0}, to_apply=total
  columns = f32[2048,256] broadcast(column), dimensions={1}
  difference = f32[2048,256] subtract(x, columns)
  ROOT sum = f32[2048] reduce(difference, zero), dimensions={1}, to_apply=total
}
"""
    )
    session = xe.compile(text, backend="cpu", threads=1)
    x = np.random.default_rng(5).standard_normal((2048, 256)).astype(np.float32)
    expected = (x - x.sum(0, dtype=np.float64)).sum(1)
    np.testing.assert_allclose(session(x), expected, rtol=1e-4, atol=1e-1)


def test_instrumentation_counts_a_chain_once() -> None:
    session = xe.compile(softmax("2048", 200), backend="cpu", threads=1)
    x = np.ones((2048, 200), np.float32)
    np.testing.assert_allclose(session(x), 1 / 200, rtol=1e-6)
    profile = session.profile(x)
    assert len(profile) >= 4
    assert set(profile["n"]) == {20}


def test_accesses_that_block_by_block_order_keeps() -> None:
    whole, row, other = (0, 0, 4096), (0, 4096, 64), (1, 0, 4096)
    assert ChainAccess(whole, True, True).is_independent_of(ChainAccess(whole, True, False))
    assert not ChainAccess(whole, True, True).is_independent_of(ChainAccess(whole, False, False))
    assert not ChainAccess(whole, True, True).is_independent_of(
        ChainAccess((0, 2048, 4096), True, False)
    )
    assert ChainAccess(whole, False, False).is_independent_of(ChainAccess(whole, True, False))
    assert ChainAccess(whole, True, True).is_independent_of(ChainAccess(row, True, True))
    assert ChainAccess(whole, True, True).is_independent_of(ChainAccess(other, True, True))


def test_the_number_of_blocks_divides_all_outermost_loops() -> None:
    shared = ChainAccess((0, 0, 8 << 20), True, False)
    accesses = [
        shared,
        ChainAccess((1, 0, 4000), True, True),
        shared,
        ChainAccess((2, 0, 8 << 20), True, True),
    ]
    loops = [BlockedKernel(1000, True, (True,)), BlockedKernel(1000, False, (True,))]
    parts = count_blocks(loops, accesses, HOST_LIKE)
    assert parts >= 64 and 1000 % parts == 0
    assert all(kernel.can_be_blocked(parts) for kernel in loops)
    assert count_blocks([loops[0], BlockedKernel(997, False, (True,))], accesses, HOST_LIKE) == 0
    assert count_blocks(loops[:1], accesses, HOST_LIKE) == 0


@pytest.mark.parametrize("in_nests", [True, False])
@pytest.mark.parametrize("n", [33, 63, 65, 500])
def test_a_chain_with_large_results_takes_each_block_after_the_other(
    n: int, in_nests: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_nests:
        monkeypatch.setattr(
            kernel_writing,
            "nest_kernel",
            lambda *given, **named: refuse("no-policy", "for this test"),
        )
    with as_if_large(True):
        session = xe.compile(body("two results", "f64", n), threads=1, cache=False)
    x = np.arange(n, dtype=np.float64)
    a = x + (x + 1)
    for got, wanted in zip(
        session.run_flat([x, x + 1]), [a, a * x, np.maximum(a, a * x)], strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
