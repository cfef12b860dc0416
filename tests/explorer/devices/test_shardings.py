"""Sessions answer how values are sharded, and why."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import XlaExplorerError

TEXT = """HloModule m, num_partitions=4
ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[2,2]<=[4]}
  y = f32[4,8] transpose(x), dimensions={1,0}
  k = s32[] constant(0)
  s = f32[1,8] dynamic-slice(y, k, k), dynamic_slice_sizes={1,8}
  ROOT z = f32[8] reshape(s)
}"""


def test_a_session_lists_shardings_and_says_why() -> None:
    devices = xe.compile(TEXT).devices
    assert repr(devices) == '4 values with shardings over <["axis_0"=2, "axis_1"=2]>'
    frame = devices.shardings
    assert list(frame["value"]) == ["x", "y", "s", "z"]
    assert list(frame["local_shape"])[:2] == [(4, 2), (2, 4)]
    assert list(frame["local_bytes"])[:2] == [32, 32]
    (sentence,) = devices.why_sharded("%y", 1)
    assert "%y is split along axis_0 on dimension 1" in sentence and "input: 0" in sentence
    (refusal,) = devices.why_sharded("s", axis="axis_1")
    assert "blocked-factor" in refusal
    with pytest.raises(XlaExplorerError, match="no value %w has a sharding"):
        devices.why_sharded("w")


def test_a_program_of_one_device_has_no_shardings() -> None:
    frame = xe.compile("ENTRY m { ROOT x = f32[4] parameter(0) }").devices.shardings
    assert not len(frame) and "states a sharding" in frame.attrs["note"]


def test_axes_have_the_names_of_the_stablehlo_that_states_them() -> None:
    text = """module @m attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(
      %x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
      %w: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}
  ) -> tensor<16x64xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    return %0 : tensor<16x64xf32>
  }
}"""
    frame = xe.compile(text, backend="interpreter").devices.shardings.set_index("value")
    assert '"data"' in frame.loc["x", "sharding"] and '"model"' in frame.loc["w", "sharding"]


def test_sentences_stand_below_each_other_at_a_prompt() -> None:
    session = xe.compile(
        "ENTRY e { x = f32[8,8] parameter(0) ROOT y = f32[8,8] negate(x) }",
        backend="interpreter", mesh="a=2,b=2", shardings="x=a,b",
    )  # fmt: skip
    why = session.devices.why_sharded("y")
    assert len(why) == 2 and repr(why).split("\n") == why
