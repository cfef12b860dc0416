"""Estimates rank schedules as measurements do, and classify accesses to memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

import xla_explorer as xe
from tests.compiler.codegen.nest.test_directives import plain
from xla_explorer.compiler.codegen.nest.accesses import Traffic, accesses_of
from xla_explorer.compiler.codegen.nest.estimate import Estimate, estimate
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.target import HOST_LIKE, Cache


def estimated(nest: LoopNest, text: str = "") -> Estimate:
    return estimate(Schedule(nest, nest).then(text).nest)


def nest_of_text(text: str) -> LoopNest:
    nest = nest_of(xe.parse_hlo(f"HloModule m\n{text}").entry.root)
    assert isinstance(nest, LoopNest)
    return nest


@pytest.mark.parametrize(
    "body",
    [
        "bias",
        "rows",
        "columns",
        "softmax",
        "dot",
        "transpose",
        "argmax",
        "gather",
        "pad",
        "window",
        "all",
    ],
)
def test_every_nest_has_an_estimate(body: str) -> None:
    found = estimated(plain(body)[0])
    assert found.nanoseconds > 0 and found.instructions > 0 and found.limit == "instructions"
    assert set(found.loops) == set(plain(body)[0].axes()) and all(
        0 <= share <= 1 for _, share in found.loops.values()
    )


def test_a_value_that_one_statement_reads_twice_for_the_last_time_is_dead_once() -> None:
    nest = nest_of_text(
        "ENTRY e { x = f32[64] parameter(0) n = f32[64] negate(x) ROOT r = f32[64] multiply(n, n) }"
    )
    square = nest_of_text(
        "f { x = f32[64] parameter(0) n = f32[64] negate(x) ROOT r = f32[64] multiply(n, n) }\n"
        "ENTRY e { x = f32[64] parameter(0) ROOT r = f32[64] fusion(x), kind=kLoop, calls=f }"
    )
    assert estimated(square).registers == estimated(nest).registers


def test_vectors_are_faster_and_several_accumulators_hide_the_latency() -> None:
    nest = nest_of_text(
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] add(a, b) }\n"
        "ENTRY e { x = f32[64,512] parameter(0) z = f32[] constant(0) ROOT r = f32[64] reduce(x, z), dimensions={1}, to_apply=add }"
    )
    texts = ("", "split{j,16},vectorize{ji}", "split{j,64},split{ji,16},unroll{jio},vectorize{jii}")
    one, vector, several = [estimated(nest, text).cycles for text in texts]
    assert vector < one / 8 and several < 0.6 * vector
    assert estimated(nest).loops["j"][0] == 64 * 512 and estimated(nest).loops["i"][0] == 64


def test_interleaving_hides_the_latency_of_a_long_chain() -> None:
    lines = "\n".join([f"v{k} = f32[4096] tanh({f'v{k - 1}' if k else 'x'})" for k in range(30)])
    nest = nest_of_text(
        f"f {{ x = f32[4096] parameter(0)\n{lines}\nROOT r = f32[4096] negate(v29) }}\n"
        "ENTRY e { x = f32[4096] parameter(0) ROOT r = f32[4096] fusion(x), kind=kLoop, calls=f }"
    )
    one, two = [
        estimated(nest, f"split{{i,{lanes}}},vectorize{{ii}}").nanoseconds for lanes in (16, 32)
    ]
    assert two < 0.7 * one


def test_bytes_come_from_behind_a_cache_that_what_loops_touch_does_not_fit() -> None:
    nest = nest_of_text(
        "ENTRY e { x = f32[2048,2048] parameter(0) ROOT r = f32[2048,2048] transpose(x), dimensions={1,0} }"
    )
    load, store = accesses_of(nest)
    assert (load.pattern, store.pattern) == ("every 2048th element", "contiguous")
    assert (load.sectors(), store.sectors()) == (32, 4)
    whole = 4 << 22
    traffic = Traffic([load, store])
    assert traffic.footprint == 2 * whole and traffic.beyond(load, 2 * whole) == 0
    assert traffic.beyond(store, 1 << 20) == 2 * whole and traffic.beyond(load, 1 << 20) == whole
    assert (
        traffic.beyond(load, 1 << 14) == 16 * whole
    )  # a column's lines do not stay until the next column
    tiled = Schedule(nest, nest).then("split{j,16},split{i,16},reorder{ii,jo}").nest
    tiles = accesses_of(tiled)
    assert Traffic(tiles).beyond(tiles[0], 1 << 14) == whole
    small = replace(HOST_LIKE, caches=(Cache(bytes=1 << 14, nanoseconds_per_byte=0.1, refill=4.0),))
    assert (
        estimate(nest, small).limit == "bytes behind L1"
        and estimate(tiled, small).nanoseconds < estimate(nest, small).nanoseconds
    )


def test_lanes_and_unrolled_axes_around_a_reduction_are_contiguous() -> None:
    nest = nest_of_text(
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] add(a, b) }\n"
        "ENTRY e { x = f32[2048,64] parameter(0) z = f32[] parameter(1) ROOT r = f32[64] reduce(x, z), dimensions={0}, to_apply=add }"
    )
    made = Schedule(nest, nest).then("split{i,16},unroll{io},vectorize{ii}").nest
    accesses = accesses_of(made)
    (load,) = [a for a in accesses if a.array.name.startswith("x")]
    assert [b.axis.name for b in load.path] == ["j", "io", "ii"] and Traffic(accesses).beyond(
        load, 1 << 14
    ) == 2048 * 64 * 4


def test_patterns_of_gathers_broadcasts_and_reshapes() -> None:
    by_array = {a.array.name: a.pattern for a in accesses_of(plain("gather")[0])}
    assert by_array["out"] == "contiguous" and "gathered" not in by_array.values()
    scalars = nest_of_text(
        "ENTRY e { x = f32[64] parameter(0) n = s32[9,1] parameter(1) ROOT r = f32[9] gather(x, n), offset_dims={}, "
        "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }"
    )
    assert {a.array.name: a.pattern for a in accesses_of(scalars)} == {
        "n": "contiguous",
        "x": "gathered",
        "out": "contiguous",
    }
    bias = {a.array.name.partition(".")[0]: a for a in accesses_of(plain("bias")[0])}
    assert bias["b"].distinct_bytes([b.axis for b in bias["b"].path]) == 120
