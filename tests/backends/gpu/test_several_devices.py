"""GPU programs on several emulated devices, through the public API, beside the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator.devices.world import RendezvousError

ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
STEP = """ENTRY step {
  x = f32[16,8] parameter(0)
  w = f32[8,4] parameter(1)
  h = f32[16,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[16,4] tanh(h)
  ROOT g = f32[8,4] dot(x, t), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}"""
ALL = "channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}"
PARTITIONED = {
    "all-gather": f"""ENTRY e {{ x = f32[3,5] parameter(0) y = f32[3,5] exponential(x)
      g = f32[12,5] all-gather(y), dimensions={{0}}, {ALL}
      ROOT r = f32[12,5] negate(g) }}""",
    "reduce-scatter": f"""{ADD}ENTRY e {{ x = f32[8,5] parameter(0) y = f32[8,5] multiply(x, x)
      ROOT r = f32[2,5] reduce-scatter(y), dimensions={{0}}, {ALL}, to_apply=add }}""",
    "collective-permute": """ENTRY e { x = f32[3,5] parameter(0) y = f32[3,5] add(x, x)
      p = f32[3,5] collective-permute(y), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3}}
      ROOT r = f32[3,5] subtract(p, x) }""",
    "all-to-all of halves": """ENTRY e { x = f32[4,6] parameter(0)
      a = f32[4,6] all-to-all(x), channel_id=1, replica_groups={{0,2},{1,3}}, dimensions={0}
      ROOT r = f32[4,6] sine(a) }""",
    "partition-id": """ENTRY e { x = f32[4] parameter(0) i = u32[] partition-id()
      f = f32[] convert(i) b = f32[4] broadcast(f), dimensions={} ROOT r = f32[4] add(x, b) }""",
    "loop": f"""{ADD}
      body {{ s = (s32[], f32[4]) parameter(0) k = s32[] get-tuple-element(s), index=0
        one = s32[] constant(1) n = s32[] add(k, one) v = f32[4] get-tuple-element(s), index=1
        r = f32[4] all-reduce(v), {ALL}, to_apply=add q = f32[] constant(0.25)
        b = f32[4] broadcast(q), dimensions={{}} m = f32[4] multiply(r, b)
        ROOT t = (s32[], f32[4]) tuple(n, m) }}
      more {{ s = (s32[], f32[4]) parameter(0) k = s32[] get-tuple-element(s), index=0
        e = s32[] constant(3) ROOT c = pred[] compare(k, e), direction=LT }}
      ENTRY e {{ x = f32[4] parameter(0) z = s32[] constant(0) s = (s32[], f32[4]) tuple(z, x)
        w = (s32[], f32[4]) while(s), condition=more, body=body
        ROOT r = f32[4] get-tuple-element(w), index=1 }}""",
    "asynchronous": f"""{ADD}ENTRY e {{ x = f32[4,4] parameter(0)
      s = f32[4,4] all-reduce-start(x), {ALL}, to_apply=add y = f32[4,4] exponential(x)
      d = f32[4,4] all-reduce-done(s) ROOT r = f32[4,4] add(d, y) }}""",
}


def on_gpu(text: str, **options: Any) -> xe.Session:
    return xe.compile(text, backend="gpu", device="emulator", **options)


def drawn(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("shardings", "collectives"),
    [
        ({"x": ("d", None)}, ["all-reduce"]),  # data parallel
        ({"w": (None, "d")}, []),
    ],
)
def test_a_sharded_program_has_the_whole_result(shardings: Any, collectives: list[str]) -> None:
    session = on_gpu(STEP, mesh={"d": 4}, shardings=shardings)
    x, w = drawn(16, 8), drawn(8, 4)
    assert list(session.devices.collectives["opcode"]) == collectives
    wanted = xe.evaluate(xe.parse_hlo(STEP), x, w)
    np.testing.assert_allclose(session.devices(x, w), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", PARTITIONED)
def test_a_partitioned_program_equals_the_evaluator(name: str) -> None:
    text = f"HloModule m, num_partitions=4\n{PARTITIONED[name]}"
    shape = xe.parse_hlo(text).entry.parameters()[0].shape.dimensions
    given = [[drawn(*shape) + device] for device in range(4)]
    found = on_gpu(text).devices.run(given)
    wanted = xe.hlo.evaluate_replicated(xe.parse_hlo(text), given)
    for device, (one, other) in enumerate(zip(found, wanted, strict=True)):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6, err_msg=f"device {device}")


def test_replicas_run_too() -> None:
    text = f"""HloModule m, replica_count=3
{ADD}ENTRY e {{ x = f32[5] parameter(0) y = f32[5] negate(x)
  ROOT r = f32[5] all-reduce(y), replica_groups={{}}, to_apply=add }}"""
    given = [[np.full(5, float(k + 1), np.float32)] for k in range(3)]
    for one in on_gpu(text).devices.run(given):
        assert one.tolist() == [-6.0] * 5


def test_the_steps_of_each_device_are_timed() -> None:
    session = on_gpu(STEP, mesh={"d": 4}, shardings={"x": ("d", None)})
    frame = session.devices.timings(drawn(16, 8), drawn(8, 4))
    exchanges = frame[frame["runs_on"] == "exchange"]
    assert list(exchanges["device"]) == [0, 1, 2, 3] and all(exchanges["waited_us"] > 0)
    assert all(exchanges["waited_us"] <= exchanges["total_us"])
    assert (frame["runs_on"] == "kernel").sum() == len(frame) - 4


def test_a_device_that_is_missing_from_a_collective_is_named() -> None:
    text = f"""HloModule m, num_partitions=4
{ADD}yes {{ x = f32[4] parameter(0) ROOT r = f32[4] all-reduce(x), {ALL}, to_apply=add }}
no {{ ROOT x = f32[4] parameter(0) }}
ENTRY e {{ x = f32[4] parameter(0) p = pred[] parameter(1)
  ROOT r = f32[4] conditional(p, x, x), true_computation=yes, false_computation=no }}"""
    given = [[drawn(4), np.bool_(device != 2)] for device in range(4)]
    with pytest.raises(RendezvousError) as caught:
        on_gpu(text).devices.run(given, timeout=20)
    assert caught.value.missing == (2,) and "device 2" in str(caught.value)


def test_a_backend_of_one_device_refuses() -> None:
    session = xe.compile(STEP, backend="interpreter", mesh={"d": 4}, shardings={"x": ("d", None)})
    with pytest.raises(XlaExplorerError, match="interpreter runs programs of one device") as caught:
        session.devices(drawn(16, 8), drawn(8, 4))
    assert "backend='cpu'" in caught.value.hint
