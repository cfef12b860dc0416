"""`session.devices.overlap`: exposed time, the work that could hide it, and what forbids it."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.explorer.devices.devices import Devices


def devices(body: str, shardings: str) -> Devices:
    module = xe.parse_hlo(f"ENTRY main {{\n{body}\n}}")
    return Devices(xe.sharding.annotate(module, "d=8", shardings))


CHAIN = """x = f32[1024,4096] parameter(0)
w = f32[4096,1024] parameter(1)
y = f32[1024,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ROOT t = f32[1024,1024] tanh(y)"""


def test_a_sum_that_everything_waits_for_is_exposed() -> None:
    found = devices(CHAIN, "x=-,d; w=d,-").overlap()
    (row,) = found.rows
    assert row.exposed_us == pytest.approx(row.predicted_us) == pytest.approx(found.exposed_us)
    assert (row.independent_us, row.gain_us, row.hidden_us) == (0, 0, 0)
    assert row.forbids.endswith("every other kernel feeds it or needs it")
    assert "hide at most 0 µs" in found.headline()


def test_independent_products_hide_a_sum() -> None:
    body = (
        CHAIN.replace("ROOT t", "t")
        + """
a = f32[8192,4096] parameter(2)
b = f32[4096,8192] parameter(3)
p = f32[8192,8192] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ROOT r = (f32[1024,1024], f32[8192,8192]) tuple(t, p)"""
    )
    found = devices(body, "x=-,d; w=d,-; a=d,-").overlap()
    (row,) = found.rows
    assert row.hidden_us > 0 and row.independent_us > row.predicted_us
    assert row.exposed_us < row.predicted_us
    assert row.independent.startswith("%dot")


def test_two_sums_on_the_same_links_run_one_after_another() -> None:
    body = """x = f32[1024,4096] parameter(0)
w = f32[4096,1024] parameter(1)
v = f32[4096,1024] parameter(2)
y = f32[1024,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
z = f32[1024,1024] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
s = f32[1024,1024] tanh(y)
t = f32[1024,1024] tanh(z)
ROOT r = (f32[1024,1024], f32[1024,1024]) tuple(s, t)"""
    rows = devices(body, "x=-,d; w=d,-; v=d,-").overlap().rows
    assert [row.exposed_us for row in rows] == sorted([r.exposed_us for r in rows], reverse=True)
    assert sum(["uses the links until it starts" in row.forbids for row in rows]) == 1


BESIDE = (
    CHAIN.replace("ROOT t", "t")
    + """
a = f32[8192,4096] parameter(2)
b = f32[4096,8192] parameter(3)
p = f32[8192,8192] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ROOT r = (f32[1024,1024], f32[8192,8192]) tuple(t, p)"""
)
SPLIT = "async-collective-creator"


def test_a_start_and_its_done_count_as_one_collective() -> None:
    plan = devices(BESIDE, "x=-,d; w=d,-; a=d,-")
    (before,), (after,) = plan.overlap().rows, plan.overlap(SPLIT).rows
    assert after.collective.endswith("-start") and after.opcode == before.opcode
    assert after.predicted_us == before.predicted_us
    assert after.cause == before.cause


def test_the_schedule_of_a_program_with_pairs_is_the_order_of_the_step() -> None:
    plan = devices(BESIDE, "x=-,d; w=d,-; a=d,-")
    hidden = plan.overlap(SPLIT, "latency-hiding-scheduler")
    (row,) = hidden.rows
    assert row.hidden_us == pytest.approx(row.predicted_us) and hidden.exposed_us == 0
    # The memory scheduler puts the done behind its start.
    stopped = plan.overlap(SPLIT, "memory-scheduler")
    assert stopped.exposed_us == pytest.approx(row.predicted_us)
    assert stopped.step_us == pytest.approx(hidden.step_us + row.predicted_us)
