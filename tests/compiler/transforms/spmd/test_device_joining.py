"""Manual regions (JAX's `shard_map`): parsed, evaluated, and joined into one program."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.frontends.stablehlo import parse_stablehlo

GROUPS = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
ADD = "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> })"
BODIES = {
    "all-reduce": f'%r = "stablehlo.all_reduce"(%x) <{{{GROUPS}, use_global_device_ids}}> {ADD} : (tensor<2x4xf32>) -> tensor<2x4xf32>',
    "all-gather and its block": f"""
      %g = "stablehlo.all_gather"(%x) <{{all_gather_dim = 1 : i64, {GROUPS}, use_global_device_ids}}> : (tensor<2x4xf32>) -> tensor<2x8xf32>
      %r = "stablehlo.reduce_scatter"(%g) <{{scatter_dimension = 1 : i64, {GROUPS}, use_global_device_ids}}> {ADD}
        : (tensor<2x8xf32>) -> tensor<2x4xf32>""",
    "all-to-all": f"""%r = "stablehlo.all_to_all"(%x) <{{split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 2 : i64,
      {GROUPS}}}> : (tensor<2x4xf32>) -> tensor<2x4xf32>""",
    "a permutation with a hole": """%r = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1,
      type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>""",
    "the number of the device": """%p = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>
      %w = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %r = stablehlo.add %x, %w : tensor<2x4xf32>""",
    "a loop that devices leave at different times": f"""
      %p = stablehlo.partition_id : tensor<ui32>
      %one = stablehlo.constant dense<1> : tensor<ui32>
      %zero = stablehlo.constant dense<0> : tensor<ui32>
      %half = stablehlo.divide %p, %p1 : tensor<ui32>
      %w:2 = stablehlo.while(%k = %zero, %v = %x) : tensor<ui32>, tensor<2x4xf32>
      cond {{
        %c = stablehlo.compare LE, %k, %half : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        %s = "stablehlo.all_reduce"(%v) <{{{GROUPS}, use_global_device_ids}}> {ADD} : (tensor<2x4xf32>) -> tensor<2x4xf32>
        %m = stablehlo.add %k, %one : tensor<ui32>
        stablehlo.return %m, %s : tensor<ui32>, tensor<2x4xf32>
      }}
      %r = stablehlo.add %w#1, %x : tensor<2x4xf32>""".replace(
        "%half =", "%p1 = stablehlo.constant dense<2> : tensor<ui32>\n      %half ="
    ),
    "branches that differ": f"""
      %p = stablehlo.partition_id : tensor<ui32>
      %p1 = stablehlo.constant dense<2> : tensor<ui32>
      %c = stablehlo.compare LT, %p, %p1 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %r = "stablehlo.if"(%c) ({{
        %s = "stablehlo.all_reduce"(%x) <{{{GROUPS}, use_global_device_ids}}> {ADD} : (tensor<2x4xf32>) -> tensor<2x4xf32>
        stablehlo.return %s : tensor<2x4xf32>
      }}, {{
        %m = stablehlo.negate %x : tensor<2x4xf32>
        stablehlo.return %m : tensor<2x4xf32>
      }}) : (tensor<i1>) -> tensor<2x4xf32>""",
}
PROGRAM = """
module @m attributes {{mhlo.num_partitions = 4 : i32}} {{
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {{
    %n = stablehlo.negate %a : tensor<4x8xf32>
    %o = sdy.manual_computation(%n) in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] out_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>]
        manual_axes={{"x", "y"}} (%x: tensor<2x4xf32>) {{
      {body}
      sdy.return %r : tensor<2x4xf32>
    }} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %o : tensor<4x8xf32>
  }}
}}"""
A = np.arange(32, dtype=np.float32).reshape(4, 8)


def by_hand(name: str) -> Any:
    x = -A
    left, right = x[:, :4], x[:, 4:]
    total = np.concatenate([left + right] * 2, 1)
    rows = np.repeat([0, 1], 2)[:, None]
    if name == "all-reduce":
        return total
    if name == "all-gather and its block":
        return 2 * x
    if name == "all-to-all":
        return np.concatenate([x[:, :2], x[:, 4:6], x[:, 2:4], x[:, 6:]], 1)
    if name == "a permutation with a hole":
        return np.block([[x[2:, :4], x[:2, :4]], [x[:2, 4:], np.zeros((2, 4), np.float32)]])
    if name == "the number of the device":
        return x + np.concatenate([2 * rows + 0 * left, 2 * rows + 1 + 0 * left], 1).astype(
            np.float32
        )
    if name == "branches that differ":
        return np.concatenate([total[:2], -x[2:]])
    return np.concatenate([total[:2] + x[:2], 2 * total[2:] + x[2:]])


@pytest.mark.parametrize("name", BODIES)
def test_regions_are_evaluated_and_joined(name: str) -> None:
    module = parse_stablehlo(PROGRAM.format(body=BODIES[name]), "m.mlir")
    np.testing.assert_array_equal(xe.evaluate(module, A), by_hand(name))
    again = xe.parse_hlo(module.to_text())
    np.testing.assert_array_equal(xe.evaluate(again, A), by_hand(name))
    joined = xe.optimize(again, "device-joining").module
    assert "partition-id" not in joined.to_text() and "all-" not in joined.to_text()
    np.testing.assert_array_equal(xe.evaluate(joined, A), by_hand(name))


@pytest.mark.parametrize(
    ("how", "name", "together"),
    [("", "add", np.add), ("max", "maximum", np.maximum), ("min", "minimum", np.minimum)],
)
def test_terms_are_combined_as_their_sharding_says(how: str, name: str, together: Any) -> None:
    """An unreduced value goes into and out of a region as each device's term."""
    groups = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
    text = f"""
module @m attributes {{mhlo.num_partitions = 2 : i32}} {{
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<4x8xf32>) {{
    %o:2 = sdy.manual_computation(%a, %a) in_shardings=[<@mesh, [{{"x"}}, {{}}]>, <@mesh, [{{}}, {{}}], unreduced={how}{{"x"}}>]
        out_shardings=[<@mesh, [{{}}, {{}}], unreduced={how}{{"x"}}>, <@mesh, [{{}}, {{}}]>] manual_axes={{"x"}}
        (%x: tensor<2x8xf32>, %y: tensor<4x8xf32>) {{
      %r = "stablehlo.all_reduce"(%y) <{{{groups}, use_global_device_ids}}> ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.{name} %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      sdy.return %x, %r : tensor<2x8xf32>, tensor<4x8xf32>
    }} : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<4x8xf32>)
    return %o#0, %o#1 : tensor<2x8xf32>, tensor<4x8xf32>
  }}
}}"""
    module = parse_stablehlo(text, "m.mlir")
    for made in (module, xe.optimize(module, "device-joining").module):
        terms, whole = xe.evaluate(made, -A)
        np.testing.assert_array_equal(terms, together(-A[:2], -A[2:]))
        np.testing.assert_array_equal(whole, -A)


def test_tokens_go_through_regions() -> None:
    """A token enters a region on every device and leaves it after all devices' tokens."""
    text = """
module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%t: !stablehlo.token, %a: tensor<4x8xf32>) -> (!stablehlo.token, tensor<4x8xf32>) {
    %o:2 = sdy.manual_computation(%t, %a) in_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>]
        out_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%u: !stablehlo.token, %x: tensor<2x8xf32>) {
      %p = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>
      %v = "stablehlo.outfeed"(%f, %u) <{outfeed_config = ""}> : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
      %n = stablehlo.negate %x : tensor<2x8xf32>
      sdy.return %v, %n : !stablehlo.token, tensor<2x8xf32>
    } : (!stablehlo.token, tensor<4x8xf32>) -> (!stablehlo.token, tensor<4x8xf32>)
    return %o#0, %o#1 : !stablehlo.token, tensor<4x8xf32>
  }
}"""
    module = xe.optimize(parse_stablehlo(text, "m.mlir"), "device-joining").module
    outfeeds = [i for i in module.instructions() if i.opcode.name == "outfeed"]
    assert len(outfeeds) == 2
    (after,) = [i for i in module.instructions() if i.opcode.name == "after-all"]
    assert set(after.operands) == set(outfeeds)
    assert module.entry.root.operands[0] is after


def test_axes_that_stay_free_and_regions_inside_regions() -> None:
    text = """
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %o = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"}
        (%x: tensor<2x8xf32>) {
      %p = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"}
          (%z: tensor<2x4xf32>) {
        %r = "stablehlo.collective_permute"(%z) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
        sdy.return %r : tensor<2x4xf32>
      } : (tensor<2x8xf32>) -> tensor<2x8xf32>
      sdy.return %p : tensor<2x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %o : tensor<4x8xf32>
  }
}"""
    module = parse_stablehlo(text, "m.mlir")
    expected = np.concatenate([A[:, 4:], A[:, :4]], 1)
    np.testing.assert_array_equal(xe.evaluate(module, A), expected)
    np.testing.assert_array_equal(
        xe.evaluate(xe.optimize(module, "device-joining").module, A), expected
    )


@pytest.mark.parametrize("where", ['{"x"}', "{}"])
def test_effects_of_a_region_without_results_happen_once_a_device(where: str) -> None:
    text = """
#l = loc("p.py":3:1)
module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    sdy.manual_computation(%a) in_shardings=[<@mesh, [WHERE]>] out_shardings=[] manual_axes={"x"} (%x: tensor<TYPE>) {
      stablehlo.custom_call @tell(%x) {has_side_effect = true} : (tensor<TYPE>) -> () loc(#l)
      sdy.return loc(#l)
    } : (tensor<8xf32>) -> () loc(#l)
    return %a : tensor<8xf32> loc(#l)
  } loc(#l)
} loc(#l)""".replace("WHERE", where).replace("TYPE", "8xf32" if where == "{}" else "4xf32")
    joined = xe.optimize(parse_stablehlo(text, "m.mlir"), "device-joining").module
    names = sorted([i.opcode.name for i in joined.entry.instructions.values()])
    assert names == ["call"] * 2 + ["parameter"] + ["slice"] * (0 if where == "{}" else 2)


DATA = SHARED / "spmd" / "programs"


@pytest.mark.parametrize("key", ["stablehlo", "hlo_before", "hlo_before_spmd"])
@pytest.mark.parametrize("mode", ["shardy", "gspmd"])
def test_ring_attention_of_jax(mode: str, key: str) -> None:
    if not DATA.exists():
        pytest.skip("needs ../shared/spmd, which is not part of the project")
    record = json.loads(
        gzip.decompress((DATA / f"ring_attention_shard_map.{mode}.json.gz").read_bytes())
    )
    values = np.load(DATA / "ring_attention_shard_map.npz")
    module = (
        parse_stablehlo(record[key], "p.mlir") if key == "stablehlo" else xe.parse_hlo(record[key])
    )
    given = [values[f"in{k}"] for k in range(3)]
    np.testing.assert_allclose(xe.evaluate(module, *given), values["out0"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        xe.evaluate(xe.optimize(module, "device-joining").module, *given),
        values["out0"],
        rtol=1e-5,
        atol=1e-6,
    )
