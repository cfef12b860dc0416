"""`session.devices(...)`: runs of the partitioned program on several virtual devices."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from tests.support.sharded_programs import Program
from xla_explorer.foundation.diagnostic import XlaExplorerError

ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
SHARDED = f"""HloModule m, num_partitions=4
{ADD}ENTRY main {{
  x = f32[10,6] parameter(0), sharding={{devices=[4,1]<=[4]}}
  p = (f32[6,3], f32[3]) parameter(1), sharding={{{{devices=[2,1,2]<=[4] last_tile_dim_replicate}}, {{replicated}}}}
  w = f32[6,3] get-tuple-element(p), index=0
  b = f32[3] get-tuple-element(p), index=1
  d = f32[10,3] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  bs = f32[10,3] broadcast(b), dimensions={{1}}
  y = f32[10,3] add(d, bs), sharding={{devices=[4,1]<=[4]}}
  z = f32[] constant(0)
  s = f32[3] reduce(y, z), dimensions={{0}}, to_apply=add
  ROOT r = (f32[10,3], f32[3]) tuple(y, s)
}}"""
REPLICAS = f"""HloModule m, replica_count=3
{ADD}ENTRY main {{ x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), replica_groups={{{{0,2}},{{1}}}}, to_apply=add }}"""
RANDOM = np.random.default_rng(5)
PROGRAMS = SHARED / "spmd" / "programs"
RECORDS = sorted(PROGRAMS.glob("*.json.gz"))

pytestmark = pytest.mark.usefixtures("runs_here")


def arguments() -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    def f32(*shape: int) -> np.ndarray:
        return RANDOM.standard_normal(shape).astype(np.float32)

    return f32(10, 6), (f32(6, 3), f32(3))


def test_whole_arrays_go_in_and_come_out() -> None:
    session = xe.compile(SHARDED)
    given = arguments()
    for found, wanted in zip(session.devices(*given), session(*given), strict=True):
        np.testing.assert_allclose(found, wanted, 1e-5, 1e-5)
    kinds = {i.opcode.name for i in session.devices.partitioned.instructions()}
    assert "all-reduce" in kinds


def test_each_device_takes_and_returns_its_own() -> None:
    session = xe.compile(REPLICAS)
    found = session.devices.run([[np.float32([k, 1])] for k in range(3)])
    assert [one.tolist() for one in found] == [[2, 2], [1, 1], [2, 2]]
    with pytest.raises(XlaExplorerError, match="runs on 3 devices, got arguments for 2"):
        session.devices.run([[np.zeros(2, np.float32)]] * 2)
    with pytest.raises(XlaExplorerError, match="has replicas") as caught:
        session.devices(np.zeros(2, np.float32))
    assert "devices.run" in caught.value.hint


def test_times_of_each_kernel_and_collective_on_each_device() -> None:
    session = xe.compile(SHARDED)
    frame = session.devices.timings(*arguments())
    assert set(frame["device"]) == {0, 1, 2, 3}
    met = frame[frame["runs_on"] == "exchange"]
    assert len(met) >= 4
    assert (met["total_us"] > 0).all()
    assert (met["calls"] == 1).all()
    assert set(frame["runs_on"]) <= {"exchange", "kernel", "copy", "library"}
    assert (frame[frame["runs_on"] == "kernel"]["waited_us"] == 0).all()


def test_one_device_has_no_runs_and_says_so() -> None:
    session = xe.compile("ENTRY m { ROOT x = f32[4] parameter(0) }")
    with pytest.raises(XlaExplorerError, match="runs on one device"):
        session.devices.run([])


def test_a_deadlock_is_found_before_the_run() -> None:
    text = f"""HloModule m, num_partitions=2
{ADD}yes {{ p = f32[] parameter(0)
  ROOT s = f32[] all-reduce(p), channel_id=1, replica_groups={{}}, to_apply=add }}
no {{ p = f32[] parameter(0) ROOT n = f32[] negate(p) }}
ENTRY main {{ x = f32[] parameter(0) i = u32[] partition-id() z = u32[] constant(0)
  e = pred[] compare(i, z), direction=EQ
  ROOT v = f32[] conditional(e, x, x), true_computation=yes, false_computation=no }}"""
    session = xe.compile(text)
    with pytest.raises(XlaExplorerError, match=r"device 1 .* never arrives"):
        session.devices.run([[np.float32(1)], [np.float32(2)]])
    (row,) = session.devices.deadlocks.to_dict("records")
    assert row["certain"]
    assert row["missing"] == (1,)


def test_programs_for_2_to_8_devices_have_the_values_of_the_whole_program() -> None:
    for seed in range(8):
        count = (2, 3, 4, 6, 8)[seed % 5]
        text, given = Program(seed).build(3, count)
        name = f"HloModule random_{seed}"
        session = xe.compile(text.replace(name, f"{name}, num_partitions={count}", 1))
        wanted, found = session(*given), session.devices(*given)
        for a, b in zip(_leaves(found), _leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, 1e-4, 1e-4)


def _leaves(result: object) -> list[np.ndarray]:
    if isinstance(result, tuple):
        return [leaf for part in result for leaf in _leaves(part)]
    return [np.asarray(result)]


@pytest.mark.long
@pytest.mark.skipif(not RECORDS, reason=f"{PROGRAMS} is absent")
@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_the_sharded_programs_of_jax_have_its_values(path: Path) -> None:
    record = json.loads(gzip.decompress(path.read_bytes()))
    arrays = np.load(path.parent / f"{record['name']}.npz")
    session = xe.compile(record["hlo_before"], cache=False)
    given = [arrays[f"in{k}"] for k in record["kept_inputs"]]
    found = session.devices(*given)
    program = session.devices._compiled.program
    assert [s.opcode for s in program.executable.steps if s.runs_on == "evaluator"] == []
    for k, have in enumerate(_leaves(found)):
        want = arrays[f"right{k}" if f"right{k}" in arrays else f"out{k}"]
        if want.dtype.kind in "fc":
            np.testing.assert_allclose(have, want, 2e-3, 1e-3)
        else:
            np.testing.assert_array_equal(have, want)
