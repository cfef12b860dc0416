"""Products as loops over the devices: values, transfers, decisions, and hidden time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import xla_explorer as xe
from tests.support import sharded_runs
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.spmd.partitioning.choices import PartitionChoice
from xla_explorer.compiler.spmd.partitioning.spmd_partitioning import (
    SpmdPartitioning,
    WindowedEinsum,
    partition_module,
)
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify

ROWS, COLUMNS, WHOLE = "{devices=[4,1]<=[4]}", "{devices=[1,4]<=[4]}", "{replicated}"
SOME_ROWS = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"
BOTH = "{devices=[2,2]<=[4]}"
PRODUCT = """ENTRY e {
  x = f32[8,12] parameter(0), sharding=X
  y = f32[12,9] parameter(1), sharding=Y
  ROOT d = f32[8,9] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding=D
}"""
KINDS = {
    "a gathered free dimension": (ROWS, COLUMNS, ROWS),
    "a gathered contracted dimension": (ROWS, ROWS, ROWS),
    "a scattered sum": (COLUMNS, ROWS, COLUMNS),
}


def written(x: str, y: str, d: str) -> str:
    return PRODUCT.replace("=X", f"={x}").replace("=Y", f"={y}").replace("=D", f"={d}")


def compared(text: str, policy: str, unroll: bool, monkeypatch: pytest.MonkeyPatch) -> HloModule:
    def partitioned(module: HloModule, count: int, policy: str) -> HloModule:
        SpmdPartitioning(count, policy, 0, unroll).run(module, PassContext())
        verify(module)
        return module

    monkeypatch.setattr(sharded_runs, "partitioned_module", partitioned)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-4, 5, n).astype(np.float32) for n in ((8, 12), (12, 9))]
    return sharded_runs.compare(text, 4, arrays, policy)


def opcodes(module: HloModule) -> list[str]:
    return [i.opcode.name for i in module.instructions()]


@pytest.mark.parametrize(
    ("kind", "policy"),
    # An all-to-all of the left operand sends less than a gather along the contracted dimension.
    [(k, p) for k in KINDS for p in ("cost", "xla") if p == "xla" or "contracted" not in k],
)
def test_a_loop_of_products_has_permutes_only(
    kind: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = compared(written(*KINDS[kind]), policy, False, monkeypatch)
    found = opcodes(module)
    assert "while" in found and found.count("collective-permute") == 1
    assert not {"all-gather", "all-reduce", "reduce-scatter", "all-to-all"} & set(found)
    assert ("conditional" in found) == (policy == "xla")


def test_unrolled_loops_send_twice_in_each_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    text = written(*KINDS["a gathered free dimension"])
    found = opcodes(compared(text, "xla", True, monkeypatch))
    assert found.count("collective-permute") == found.count("dot") == 2
    assert "conditional" not in found


@pytest.mark.long
@pytest.mark.parametrize("policy", ["cost", "xla"])
def test_every_combination_of_shardings(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loops = 0
    shardings = [ROWS, COLUMNS, WHOLE, SOME_ROWS, BOTH]
    for x, y, d in itertools.product(shardings, repeat=3):
        loops += "while" in opcodes(compared(written(x, y, d), policy, False, monkeypatch))
    assert loops > 15


def choice(mib: int) -> PartitionChoice:
    module = parse_hlo(written(*KINDS["a gathered free dimension"]))
    choices = partition_module(module, 4, "cost", WindowedEinsum(mib)).choices
    (found,) = [one for one in choices if one.kind == "windowed-einsum"]
    return found


def test_the_decision_has_both_ways_and_its_numbers() -> None:
    small, off, loop = choice(1), choice(-1), choice(0)
    assert loop.chosen == "loop of products" and small.chosen == "all-gather and product"
    gathered, parts = small.alternatives
    assert gathered.sent == parts.sent and gathered.peak == 2 * parts.peak
    assert parts.refusal == f"{gathered.peak} bytes are below the threshold of {1 << 20}"
    assert "turned off" in off.alternatives[1].refusal


def test_a_simulated_step_hides_the_transfers() -> None:
    text = """ENTRY main {
      x = f32[4096,4096] parameter(0)
      w = f32[4096,4096] parameter(1)
      ROOT y = f32[4096,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    plan = Devices(xe.sharding.annotate(xe.parse_hlo(text), "d=8", "x=d,-; w=-,d; y=d,-"))
    before, after = plan.overlap(), plan.on(windowed_einsum_mib=0).overlap()
    assert before.exposed_us > 0
    assert after.exposed_us < 0.7 * before.exposed_us
    assert {row.opcode for row in after.rows} == {"collective-permute"}
    assert all("dot" in row.cause or row.cause == "%y" for row in after.rows)
