"""Virtual devices: collectives, host transfers, device numbers, async operations, shardings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.frontends.stablehlo import StablehloError, parse_stablehlo
from xla_explorer.hlo.evaluator import Evaluator, Host, evaluate

X = [np.arange(4, dtype=np.float32).reshape(2, 2) + 10 * device for device in range(2)]
GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
ADDS = """({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    })"""
MATRIX = "tensor<2x2xf32>"
# operation -> (text behind `%0 = `, type of the result, values on both devices)
COLLECTIVES: dict[str, tuple[str, str, list[Any]]] = {
    "all_gather": (
        f'"stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64, {GROUPS}}}> : ({MATRIX}) -> tensor<2x4xf32>',
        "tensor<2x4xf32>",
        [np.concatenate(X, 1)] * 2,
    ),
    "all_reduce": (
        f'"stablehlo.all_reduce"(%a) <{{{GROUPS}}}> {ADDS} : ({MATRIX}) -> {MATRIX}',
        MATRIX,
        [X[0] + X[1]] * 2,
    ),
    "cross-replica-sum": (
        f'"stablehlo.cross-replica-sum"(%a) <{{{GROUPS}}}> : ({MATRIX}) -> {MATRIX}',
        MATRIX,
        [X[0] + X[1]] * 2,
    ),
    "all_to_all": (
        f'"stablehlo.all_to_all"(%a) <{{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, {GROUPS}}}> : ({MATRIX}) -> tensor<1x4xf32>',
        "tensor<1x4xf32>",
        [np.concatenate([X[0][k : k + 1], X[1][k : k + 1]], 1) for k in range(2)],
    ),
    "collective_broadcast": (
        f'"stablehlo.collective_broadcast"(%a) <{{{GROUPS}}}> : ({MATRIX}) -> {MATRIX}',
        MATRIX,
        [X[0]] * 2,
    ),
    "collective_permute": (
        f'"stablehlo.collective_permute"(%a) <{{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}}> : ({MATRIX}) -> {MATRIX}',
        MATRIX,
        [X[0] * 0, X[0]],
    ),
    "reduce_scatter": (
        f'"stablehlo.reduce_scatter"(%a) <{{scatter_dimension = 0 : i64, {GROUPS}}}> {ADDS} : ({MATRIX}) -> tensor<1x2xf32>',
        "tensor<1x2xf32>",
        [(X[0] + X[1])[k : k + 1] for k in range(2)],
    ),
    "replica_id": (
        "stablehlo.replica_id : tensor<ui32>",
        "tensor<ui32>",
        [np.uint32(0), np.uint32(1)],
    ),
}


def module_of(operation: str, result: str, header: str = "") -> xe.HloModule:
    return xe.parse_stablehlo(
        f"module @m {header}{{ func.func @main(%a: {MATRIX}) -> {result} {{\n    %0 = {operation}\n    return %0 : {result}\n  }} }}"
    )


@pytest.mark.parametrize("name", COLLECTIVES)
def test_two_replicas(name: str) -> None:
    operation, result, want = COLLECTIVES[name]
    got = xe.hlo.evaluate_replicated(
        module_of(operation, result, "attributes {mhlo.num_replicas = 2 : i32} "),
        [[x] for x in X],
        timeout=20,
    )
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


def test_two_partitions_over_a_channel() -> None:
    operation = COLLECTIVES["all_reduce"][0].replace(
        GROUPS,
        f"channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, {GROUPS}, use_global_device_ids",
    )
    module = module_of(operation, MATRIX, "attributes {mhlo.num_partitions = 2 : i32} ")
    assert module.attributes["num_partitions"] == "2"
    assert "channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true" in module.to_text()
    for got in xe.hlo.evaluate_replicated(module, [[x] for x in X], timeout=20):
        np.testing.assert_array_equal(got, X[0] + X[1])
    number = module_of(
        "stablehlo.partition_id : tensor<ui32>",
        "tensor<ui32>",
        "attributes {mhlo.num_partitions = 2 : i32} ",
    )
    assert [int(n) for n in xe.hlo.evaluate_replicated(number, [[x] for x in X], timeout=20)] == [
        0,
        1,
    ]


def test_all_to_all_joined_before_and_behind_the_split_dimension() -> None:
    x = [np.arange(16, dtype=np.float32).reshape(2, 4, 2) + 100 * device for device in range(2)]
    for split, joined, type_ in (
        (1, 0, "4x2x2"),
        (1, 2, "2x2x4"),
        (0, 2, "1x4x4"),
        (2, 1, "2x8x1"),
    ):
        text = f"""func.func @main(%a: tensor<2x4x2xf32>) -> tensor<{type_}xf32> {{
  %0 = "stablehlo.all_to_all"(%a) <{{split_dimension = {split} : i64, concat_dimension = {joined} : i64, split_count = 2 : i64, {GROUPS}}}> : (tensor<2x4x2xf32>) -> tensor<{type_}xf32>
  return %0 : tensor<{type_}xf32>
}}"""
        got = xe.hlo.evaluate_replicated(
            xe.parse_stablehlo(text), [[a] for a in x], replicas=2, timeout=20
        )
        for device in range(2):
            np.testing.assert_array_equal(
                got[device], np.concatenate([np.split(a, 2, split)[device] for a in x], joined)
            )


def test_the_host_feeds_and_is_fed() -> None:
    text = f"""func.func @main(%t: !stablehlo.token) -> ({MATRIX}, tensor<3xf32>) {{
  %f:3 = "stablehlo.infeed"(%t) <{{infeed_config = "x", layout = [[1, 0], [0]]}}> : (!stablehlo.token) -> ({MATRIX}, tensor<3xf32>, !stablehlo.token)
  %o = "stablehlo.outfeed"(%f#0, %f#2) <{{outfeed_config = ""}}> : ({MATRIX}, !stablehlo.token) -> !stablehlo.token
  %s = "stablehlo.send"(%f#1, %o) <{{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}}> : (tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
  %r:2 = "stablehlo.recv"(%s) <{{channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true}}> : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
  return %f#0, %r#0 : {MATRIX}, tensor<3xf32>
}}"""
    module = xe.parse_stablehlo(text)
    vector = np.float32([1, 2, 3])
    host = Host([(X[0], vector)], on_receive=lambda channel, shape: vector * channel)
    got = evaluate(module, None, evaluator=Evaluator(host=host))
    np.testing.assert_array_equal(got[0], X[0])
    np.testing.assert_array_equal(got[1], vector * 6)
    np.testing.assert_array_equal(
        host.outfeed[0][0] if isinstance(host.outfeed[0], tuple) else host.outfeed[0], X[0]
    )
    np.testing.assert_array_equal(host.sent[5][0], vector)


def test_an_asynchronous_all_reduce() -> None:
    text = f"""func.func @main(%a: {MATRIX}) -> {MATRIX} {{
  %0 = "stablehlo.async_start"(%a) ({{
    ^bb0(%b: {MATRIX}):
      %1 = "stablehlo.all_reduce"(%b) <{{{GROUPS}}}> {ADDS} : ({MATRIX}) -> {MATRIX}
      stablehlo.return %1 : {MATRIX}
  }}) : ({MATRIX}) -> !stablehlo.future<{MATRIX}>
  %r = "stablehlo.async_done"(%0) : (!stablehlo.future<{MATRIX}>) -> {MATRIX}
  return %r : {MATRIX}
}}"""
    module = xe.parse_stablehlo(text)
    assert [i.opcode.name for i in module.entry.post_order()] == [
        "parameter",
        "async-start",
        "async-done",
    ]
    for got in xe.hlo.evaluate_replicated(module, [[x] for x in X], replicas=2, timeout=20):
        np.testing.assert_array_equal(got, X[0] + X[1])


@pytest.mark.parametrize(
    ("sharding", "want"),
    [
        ('[{"x"}, {}]', "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"),
        ('[{}, {"x"}]', "{devices=[1,2,2]<=[4] last_tile_dim_replicate}"),
        ('[{"x"}, {"y"}]', "{devices=[2,2]<=[4]}"),
        ('[{"y"}, {"x"}]', "{devices=[2,2]<=[2,2]T(1,0)}"),
        ('[{"x", "y"}, {}]', "{devices=[4,1]<=[4]}"),
        ("[{}, {}]", "{replicated}"),
    ],
)
def test_axes_of_a_mesh_become_a_sharding_of_hlo(sharding: str, want: str) -> None:
    text = f"""module @m attributes {{mhlo.num_partitions = 4 : i32}} {{
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: {MATRIX} {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) -> {MATRIX} {{
    %0 = sdy.sharding_constraint %a <@mesh, {sharding}> : {MATRIX}
    return %0 : {MATRIX}
  }}
}}"""
    module = xe.parse_stablehlo(text)
    assert module.entry.parameters()[0].attributes["sharding"] == want
    assert (
        module.entry.root.attributes["sharding"] == want
        and module.entry.root.attributes["custom_call_target"] == '"Sharding"'
    )
    np.testing.assert_array_equal(xe.evaluate(module, X[0]), X[0])


def _reduced_along(mesh: str, axes: str) -> str:
    groups = f"replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [{axes}]>"
    return f"""module attributes {{mhlo.num_partitions = 8 : i32}} {{
      sdy.mesh @m = {mesh}
      func.func public @main(%a: {MATRIX}) -> {MATRIX} {{
        %0 = "stablehlo.all_reduce"(%a) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, {groups}, use_global_device_ids}}> {ADDS}
          : ({MATRIX}) -> {MATRIX}
        return %0 : {MATRIX}
      }}
    }}"""


def _axis(name: str, part: str = "") -> str:
    return f'#stablehlo.axis_ref<name = "{name}"{part}>'


HALF = ", sub_axis_info = #stablehlo.sub_axis_info<pre_size = 2, size = 2>"


@pytest.mark.parametrize(("mesh", "axes", "groups"), [
    ('<["x"=2, "y"=4]>', _axis("x"), "{0,4},{1,5},{2,6},{3,7}"),
    ('<["x"=2, "y"=4]>', _axis("y"), "{0,1,2,3},{4,5,6,7}"),
    ('<["x"=2, "y"=4]>', _axis("y") + ", " + _axis("x"), "{0,4,1,5,2,6,3,7}"),
    ('<["x"=2, "y"=4]>', _axis("y", HALF), "{0,1},{2,3},{4,5},{6,7}"),
    ('<["x"=2, "y"=2, "z"=2]>', _axis("z") + ", " + _axis("x"), "{0,4,1,5},{2,6,3,7}"),
    ('<["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>', _axis("x"), "{7,3},{6,2},{5,1},{4,0}"),
    ('<["x"=8]>', _axis("x"), "{0,1,2,3,4,5,6,7}"),
])  # fmt: skip
def test_groups_along_the_axes_of_a_mesh(mesh: str, axes: str, groups: str) -> None:
    """As JAX 0.11 writes every collective of `shard_map`."""
    assert f"replica_groups={{{groups}}}" in parse_stablehlo(_reduced_along(mesh, axes)).to_text()


@pytest.mark.parametrize(
    "axes", [_axis("z"), '"x"', _axis("y", HALF.replace("size = 2>", "size = 3>"))]
)
def test_axes_that_the_mesh_has_not_are_refused(axes: str) -> None:
    with pytest.raises(StablehloError, match="mesh"):
        parse_stablehlo(_reduced_along('<["x"=2, "y"=4]>', axes))
