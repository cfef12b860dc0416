"""Questions that users of several devices ask in public threads, and the numbers of the answers.

Each name has the number of the question in the design and the thread.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.explorer.devices.devices import Devices

PROGRAMS = SHARED / "spmd" / "programs"
needs_programs = pytest.mark.skipif(not PROGRAMS.exists(), reason=f"{PROGRAMS} is absent")


def record_of(name: str, mode: str = "shardy") -> dict[str, Any]:
    path = PROGRAMS / f"{name}.{mode}.json.gz"
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def of(name: str, mode: str = "shardy") -> Devices:
    return Devices(xe.parse_hlo(record_of(name, mode)["hlo_before"]))


def written(body: str, mesh: str, shardings: str, head: str = "") -> Devices:
    module = xe.parse_hlo(f"HloModule m\n{head}ENTRY main {{\n{body}\n}}")
    return Devices(xe.sharding.annotate(module, mesh, shardings))


@needs_programs
def test_1_no_all_gather_to_shuffle_rows() -> None:  # jax-ml/jax#20381
    devices = of("issue_row_shuffle")
    assert devices.figures()["sent_bytes"] == 0
    ways = devices.choices("gather-method")
    assert ways[ways["chosen"]]["sent_bytes"].tolist() == [0]
    assert ways["sent_bytes"].max() > 0


@needs_programs
def test_2_a_cheaper_path_than_full_rematerialization() -> None:  # openxla/xla#15207
    devices = of("issue_full_rematerialisation")
    assert devices.figures()["sent_bytes"] == 2560
    ways = devices.choices("reshard").groupby("way")["sent_bytes"].max()
    assert ways["all-to-all, all-to-all"] == 2560
    assert ways["all-gather, all-gather, slice"] == 14336
    why = devices.why("%all-to-all")
    assert "is moved from P('y', None, 'x') to P(None, ('x', 'y'), None)" in str(why)


@needs_programs
def test_3_the_strategies_of_a_dot() -> None:  # openxla/xla#4062
    ways = of("matmul_2d").choices("dot-strategy")
    chosen = ways[ways["chosen"]].iloc[0]
    assert chosen["sent_bytes"] == 1152 == ways[ways["reason"] == ""]["sent_bytes"].min()
    assert len(ways) >= 4 and "more work on a device" in set(ways["reason"])


@needs_programs
def test_4_which_index_expressions_become_all_gathers() -> None:  # jax-ml/jax#23052
    devices = of("issue_sliced_update")
    (row,) = devices.collectives.to_dict("records")
    assert (row["opcode"], row["sent_bytes"]) == ("all-gather", 448)
    assert row["cause"].startswith("%scatter") and "%x" in row["annotation"]
    assert list(devices.choices("scatter-method")["way"]) == ["replicated"]


@needs_programs
def test_5_a_grouped_convolution_keeps_its_batch() -> None:  # openxla/xla#47945
    devices = of("issue_grouped_convolution")
    assert devices.figures()["sent_bytes"] == 0
    ways = devices.choices("convolution-strategy")
    assert ways[ways["chosen"]]["sent_bytes"].tolist() == [0] and len(ways) > 1


def test_6_an_fft_along_a_whole_axis_is_local() -> None:  # jax-ml/jax#15680
    body = """x = c64[16,32] parameter(0)
    ROOT y = c64[16,32] fft(x), fft_type=FFT, fft_length={32}"""
    assert written(body, "d=8", "x=d,-").figures()["sent_bytes"] == 0
    assert written(body, "d=8", "x=-,d").figures()["sent_bytes"] > 0


def test_7_a_constraint_that_does_not_divide_is_named() -> None:  # jax-ml/jax#26946
    body = "x = f32[15,4] parameter(0)\nROOT y = f32[15,4] negate(x)"
    (sentence,) = written(body, "d=8", "x=d,-").dropped()
    assert "15 elements for 8 devices" in sentence and "bytes more" in sentence


@needs_programs
def test_8_shardings_have_the_users_axis_names() -> None:  # jax-ml/jax#17422
    frame = of("matmul_2d").shardings.set_index("value")
    assert frame.loc["a.1", "sharding"] == '<@mesh, [{"x"}, {"y"}]>'
    assert set(of("matmul_2d").collectives["axes"]) == {"x", "y"}


@needs_programs
def test_9_collectives_of_a_manual_region_are_the_programs_own() -> None:  # jax-ml/jax#19657
    frame = of("ring_attention_shard_map").collectives
    assert set(frame["opcode"]) == {"collective-permute"} and set(frame["trips"]) == {8}
    assert set(frame["cause"]) == {"the program states it"}
    assert frame["sent_bytes"].sum() == 2 * 8 * 64


@needs_programs
def test_10_collectives_of_a_loop_have_trips() -> None:  # jax-ml/jax#20968
    row = of("scan_fsdp_forward").collectives.iloc[0]
    assert row["trips"] == 4
    assert row["predicted_us"] == pytest.approx(4 * 8.0, rel=0.01)


@needs_programs
def test_11_exposed_gradients_and_the_work_that_could_hide_them() -> None:  # openxla/xla#1539
    devices = of("dp_mlp_train")
    row = devices.collectives.iloc[0]
    assert row["opcode"] == "all-reduce" and 0 < row["exposed_us"] <= row["predicted_us"]
    why = devices.why(row["collective"])
    assert any("independent work could hide it" in line for line in why.hiding)


ACCUMULATION = """add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
condition { s = (s32[], f32[16,8], f32[64,16], f32[64,8]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  n = s32[] constant(6)
  ROOT less = pred[] compare(k, n), direction=LT }
body { s = (s32[], f32[16,8], f32[64,16], f32[64,8]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(k, one)
  total = f32[16,8] get-tuple-element(s), index=1
  x = f32[64,16] get-tuple-element(s), index=2
  y = f32[64,8] get-tuple-element(s), index=3
  g = f32[16,8] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  sum = f32[16,8] add(total, g)
  ROOT t = (s32[], f32[16,8], f32[64,16], f32[64,8]) tuple(next, sum, x, y) }
"""


def test_12_gradient_accumulation_reduces_in_every_iteration() -> None:  # openxla/xla#6750
    body = """x = f32[64,16] parameter(0)
    y = f32[64,8] parameter(1)
    zero = f32[] constant(0)
    zeros = f32[16,8] broadcast(zero), dimensions={}
    first = s32[] constant(0)
    s = (s32[], f32[16,8], f32[64,16], f32[64,8]) tuple(first, zeros, x, y)
    loop = (s32[], f32[16,8], f32[64,16], f32[64,8]) while(s), condition=condition, body=body
    ROOT g = f32[16,8] get-tuple-element(loop), index=1"""
    devices = written(body, "data=8", "x=data,-; y=data,-", ACCUMULATION)
    once = 2 * 16 * 8 * 4 * 7 / 8
    (row,) = devices.collectives.to_dict("records")
    assert (row["opcode"], row["trips"], row["sent_bytes"]) == ("all-reduce", 6, 6 * once)
    (moved,) = devices.collectives_after("while-loop-all-reduce-code-motion").to_dict("records")
    assert (moved["opcode"], moved["trips"], moved["sent_bytes"]) == ("all-reduce", 1, once)
    assert moved["cause"].startswith("%g")


@needs_programs
def test_13_gathered_weights_in_memory() -> None:  # pytorch/xla#6379
    devices = of("fsdp_mlp_train")
    memory = devices.memory_per_device()
    gathered = {row.value: row.size for row in memory.rows if row.kind == "gathered"}
    assert gathered["%all-gather"] == 32 * 64 * 4
    assert 0 < memory.gathered_bytes <= memory.peak_bytes


@needs_programs
def test_14_gather_weights_once_or_in_every_iteration() -> None:  # maxtext PR 1228
    devices = of("scan_fsdp_forward", "gspmd")
    changed = devices.what_if({"w": (None, None, None)}).compare()
    assert changed.figure("sent_bytes").before > changed.figure("sent_bytes").after
    assert changed.figure("peak_bytes").after > changed.figure("peak_bytes").before


@needs_programs
def test_15_the_sharding_of_a_reshape_and_its_bytes() -> None:  # openxla/xla#13306
    devices = of("reshapes")
    ways = devices.choices("reshape-sharding")
    assert ways[ways["chosen"]]["sent_bytes"].tolist() == [576]
    assert devices.figures()["sent_bytes"] == 576


@needs_programs
def test_16_the_steps_of_a_value_in_order() -> None:  # openxla/xla#15048
    devices = of("embedding_gather")
    steps = devices.steps()
    assert list(steps["number"]) == sorted(steps["number"])
    last = steps.iloc[-1]
    assert any(last["axes"] in line for line in devices.why_sharded(last["value"]))


@needs_programs
def test_17_the_first_wrong_value_and_device_of_a_partitioned_program() -> None:
    # jax-ml/jax#21403, openxla/xla#42481: real XLA partitions cumsum and cummax wrongly
    record = record_of("windows_and_scans")
    given = np.load(PROGRAMS / "windows_and_scans.npz")
    arrays = [given[f"in{k}"] for k in range(len(record["kept_inputs"]))]
    devices = Devices(xe.parse_hlo(record["hlo_before"]))
    assert devices.bisect(*arrays).first is None
    wrong = devices.bisect(*arrays, partitioned=record["hlo_after_spmd"]).first
    assert wrong is not None and wrong.operands_right
    assert (wrong.opcode, wrong.device, wrong.devices) == ("reduce-window", 0, 1)
    assert wrong.error == pytest.approx(0.583, abs=1e-3)


def test_17_a_lost_sum_over_devices_is_found() -> None:  # openxla/xla#42481
    body = """x = f32[16,64] parameter(0)
    w = f32[64,8] parameter(1)
    n = f32[16,64] negate(x)
    ROOT y = f32[16,8] dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
    devices = written(body, "d=4", "x=-,d; w=d,-")
    text = str(devices.partitioned)
    (line,) = [line for line in text.splitlines() if " all-reduce(" in line]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(16, 64)).astype("f4"), rng.normal(size=(64, 8)).astype("f4")]
    assert devices.bisect(*arrays).compared == 4 and devices.bisect(*arrays).first is None
    lost = text.replace(line, line.split(" all-reduce(")[0] + " copy(%dot)")
    with pytest.raises(xe.errors.XlaExplorerError, match="corresponds"):
        devices.bisect(*arrays, partitioned=lost)  # no op_name


def test_18_replicated_values_come_first_in_memory() -> None:  # marin issue 1903
    body = """x = f32[64,128] parameter(0)
    w = f32[128,4096] parameter(1)
    ROOT y = f32[64,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
    devices = written(body, "data=8", "x=data,-")
    memory = devices.memory_per_device()
    assert (memory.rows[0].value, memory.rows[0].replicas) == ("%w", 8)
    saved = 128 * 4096 * 4 * 7 // 8
    assert memory.replicated_bytes == saved
    changed = devices.what_if("w=data,-").compare()
    assert changed.figure("sent_bytes").after > 0


@needs_programs
def test_19_shardings_of_arguments_and_results() -> None:  # google/flax#5172
    frame = of("fsdp_mlp_train").shardings.set_index("value")
    assert frame.loc["w1.1", "sharding"] == frame.loc["sub.6", "sharding"]
    assert frame.loc["w1.1", "local_bytes"] == 32 * 64 * 4 // 8


def test_20_a_custom_call_without_a_rule() -> None:  # marin issue 6470
    body = """x = f32[64,128] parameter(0)
    n = f32[64,128] negate(x)
    ROOT y = f32[64,128] custom-call(n), custom_call_target="mine" """
    devices = written(body, "d=8", "x=d,-")
    (row,) = devices.collectives.to_dict("records")
    assert (row["opcode"], row["sent_bytes"]) == ("all-gather", 8 * 128 * 4 * 7)
    assert row["cause"].startswith("%y needs")


def test_21_what_the_search_covers() -> None:  # openxla/xla#19103
    body = """x = f32[4096,512] parameter(0)
    w = f32[512,512] parameter(1)
    ROOT y = f32[4096,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
    found = written(body, "d=8", "x=-,-").search(most=12)
    text = str(found)
    assert (
        "not searched: pipelines over layers" in text
        and f"{found.tried} annotations costed" in text
    )
    given = next(row for row in found.rows if row.name == "as given")
    assert found.rows[0].step_us < given.step_us and found.specs()["x"] == ("d", None)


DIVERGENT = """HloModule m, num_partitions=4
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
yes { p = f32[] parameter(0)
  ROOT s = f32[] all-reduce(p), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, to_apply=add }
no { p = f32[] parameter(0)
  ROOT n = f32[] negate(p) }
ENTRY main { x = f32[] parameter(0)
  i = u32[] partition-id()
  two = u32[] constant(2)
  e = pred[] compare(i, two), direction=LT
  ROOT v = f32[] conditional(e, x, x), true_computation=yes, false_computation=no }"""


def test_22_a_divergent_collective_is_found_before_the_run() -> None:  # jax-ml/jax#38503
    session = xe.compile(DIVERGENT, backend="cpu")
    (row,) = session.devices.deadlocks.to_dict("records")
    assert row["instruction"] == "s" and row["certain"] and tuple(row["missing"]) == (2, 3)
    assert "device 2 (replica 0, partition 2) never arrives" in row["message"] and row["hint"]
    with pytest.raises(xe.errors.XlaExplorerError, match="never arrives"):
        session.devices.run([[np.float32(1)]] * 4)


def test_23_shardings_without_editing_the_code() -> None:  # jax-ml/jax#23936
    body = "x = f32[64,128] parameter(0)\nROOT n = f32[64,128] negate(x)"
    frame = written(body, "d=4", "x=-,d").shardings
    assert frame["local_shape"].tolist() == [(64, 32), (64, 32)]
