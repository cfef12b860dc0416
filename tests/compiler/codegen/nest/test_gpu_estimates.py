"""Estimates of launches: a GPU's description, sectors of warps, idle multiprocessors."""

from __future__ import annotations

from dataclasses import replace

import xla_explorer as xe
from tests.compiler.codegen.nest.test_directives import plain
from xla_explorer.compiler.codegen.nest.accesses import accesses_of
from xla_explorer.compiler.codegen.nest.estimate import Estimate, estimate
from xla_explorer.compiler.codegen.nest.gpu_estimate import estimate_for, moved_bytes
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.target import HOST_LIKE, NVPTX, GpuUnit
from xla_explorer.explorer.measures.kernel_costs import program_cost

LARGE = "ENTRY e { x = f32[4096,4096] parameter(0) ROOT r = f32[4096,4096] negate(x) }"


def large() -> LoopNest:
    nest = nest_of(xe.parse_hlo(LARGE).entry.root)
    assert isinstance(nest, LoopNest)
    return nest


def launched(text: str, gpu: GpuUnit | None = None) -> Estimate:
    nest = large()
    return estimate_for(
        Schedule(nest, nest).then(text).nest, NVPTX if gpu is None else replace(NVPTX, gpu=gpu)
    )


def test_a_cpus_estimate_stays_that_of_one_core() -> None:
    nest = plain("rows")[0]
    assert estimate_for(nest, HOST_LIKE) == estimate(nest) and estimate(nest).where == "on one core"


def test_lanes_beside_one_another_take_whole_sectors() -> None:
    good, bad = (
        launched("split{j,128},block{i},thread{ji}"),
        launched("reorder{i,j},split{i,128},block{j},thread{ii}"),
    )
    assert good.where == "on the GPU" and good.limit == "memory"
    assert (
        bad.bytes_beyond["L1"] == 8 * good.bytes_beyond["L1"]
        and bad.nanoseconds > 4 * good.nanoseconds
    )
    nest = Schedule(large(), large()).then("split{j,128},block{i},thread{ji}").nest
    assert [moved_bytes(a) for a in accesses_of(nest)] == [4 * 4096 * 4096] * 2


def test_numbers_are_those_of_the_description() -> None:
    text = "split{j,128},block{i},thread{ji}"
    slow = launched(text, GpuUnit(dram_bytes_per_nanosecond=335.0))
    assert 5 < slow.nanoseconds / launched(text).nanoseconds < 10.5
    assert (
        launched("block{i}").nanoseconds > launched(text).nanoseconds
    )  # one thread of each warp has work


def test_predicted_times_of_a_gpus_program_are_not_a_cpus() -> None:
    of_gpu = xe.compile(LARGE, backend="gpu", device="emulator")
    (row,) = of_gpu.loops()
    assert row.estimate is not None and row.estimate.where == "on the GPU"
    assert (
        abs(row.estimate.nanoseconds - 2 * 4 * 4096**2 / 3350) < 5000
    )  # an H100 moves 3350 bytes a nanosecond
    on_gpu, on_cpu = [
        program_cost(of_gpu.module, target).microseconds
        for target in (of_gpu.passes.record.target, None)
    ]
    assert on_gpu * 5 < on_cpu
