"""Scans as loop nests: proofs, refusals, policies, and long rows in tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.nest.test_directives import plain, schedule
from tests.compiler.codegen.nest.test_lowering import native
from tests.compiler.codegen.test_scan import scan
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.codegen.lowering.lower import LoweredNest, lower
from xla_explorer.compiler.codegen.nest.estimate import estimate
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.parser import parse_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_facts import sums_out_of_order
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.compiler.codegen.nest_kernels import NestCode, nest_code


def running(
    kind: str, dimensions: tuple[int, ...], along: int, combiner: str, from_end: bool = False
) -> LoopNest:
    """Return the plain nest of running values from 0."""
    found = nest_of(xe.parse_hlo(scan(kind, dimensions, along, combiner, 0, from_end)).entry.root)
    assert isinstance(found, LoopNest)
    return found


def values(made: Schedule, x: Any) -> list[Any]:
    """Return the values of a schedule in numpy and natively, starting from 0."""
    given = x, np.asarray(0, x.dtype)
    return [evaluate_nest(made.nest, given)[0], native(made.nest, given)[0]]


def test_a_scan_says_what_it_stores_at_each_step() -> None:
    text = nest_text(running("f32", (2, 3), 1, "add"))
    assert (
        "%3 = scan add from %1 over j in 3 @serial : f32 {" in text
        and "} each %4 {" in text
        and "store %4, %out[i, j]" in text
    )
    assert nest_text(parse_nest(text)) == text


@pytest.mark.parametrize(
    ("kinds", "code"),
    [
        (("unrolled", "serial"), "scan-out-of-order"),
        (("vector", "unrolled"), "scan-out-of-order"),
        (("serial", "vector"), ""),
        (("unrolled", "vector"), ""),
        (("thread", "serial"), "scan-out-of-order"),
    ],
)
def test_the_points_of_a_scan_come_in_order(kinds: tuple[str, str], code: str) -> None:
    made = Schedule(nest := running("f32", (8, 32), 1, "add"), nest).then("split{j,4}")
    text = (
        nest_text(made.nest)
        .replace("jo in 8 @serial", f"jo in 8 @{kinds[0]}")
        .replace("ji in 4 @serial", f"ji in 4 @{kinds[1]}")
    )
    assert code in [reason.code for reason in why_not_well_formed(parse_nest(text))] or not code
    assert bool(code) == bool(why_not_well_formed(parse_nest(text)))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("reorder{jo,ji}", "order-must-be-kept"),
        ("unroll{jo}", "order-must-be-kept"),
        ("vectorize{jo}", "order-must-be-kept"),
        ("split-by-residue{jo,2}", "order-must-be-kept"),
        ("cut{ji,2}", "order-must-be-kept"),
        ("rfactor{jo}", "order-must-be-kept"),
        ("interchange-reduction{ji,i}", "order-must-be-kept"),
        ("parallel{jo,2}", "order-must-be-kept"),
        ("chunk-scan{ji}", "only-axis"),
        ("chunk-scan{jo}", "not-outermost"),
        ("thread{ji}", "order-must-be-kept"),
        ("interchange-reduction{jo,i},split-by-residue{jo,2}", "ordered-steps"),
    ],
)
def test_what_would_change_the_order_is_refused(text: str, code: str) -> None:
    made = Schedule(nest := running("f32", (8, 32), 1, "add"), nest).then("split{j,4}")
    with pytest.raises(ScheduleError) as refused:
        made.then(text)
    assert refused.value.reason is not None and refused.value.reason.code == code


def test_lanes_of_several_operations_are_refused() -> None:
    with pytest.raises(ScheduleError, match="every running value along ii"):
        schedule("running-furthest").then("split{i,8},vectorize{ii}")


@pytest.mark.parametrize("from_end", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "split{j,8},vectorize{ji,strided}",
        "split{j,16},split{ji,4},vectorize{jii,strided},unroll{jio}",
        "cut{j,24},split{jm,8},vectorize{jmi,strided},split{jr,16},vectorize{jri,strided}",
        "interchange-reduction{j,i},unroll{it}",
        "cut{j,36},split{jm,4},interchange-reduction{jmo,i},unroll{jmi}",
        "split{i,2},unroll{ii}",
    ],
)
def test_schedules_of_a_scan_give_its_values(text: str, from_end: bool) -> None:
    made = Schedule(nest := running("s32", (6, 37), 1, "add", from_end), nest).then(text)
    x = np.random.default_rng(0).integers(-99, 99, (6, 37)).astype(np.int32)
    wanted = np.flip(np.cumsum(np.flip(x, 1), 1), 1) if from_end else np.cumsum(x, 1)
    for got in values(made, x):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("from_end", [False, True])
def test_threads_take_chunks_of_a_row(from_end: bool) -> None:
    plain_nest = running("s32", (1003,), 0, "add", from_end)
    made = Schedule(plain_nest, plain_nest).then(
        "cut{i,992},split{im,248},chunk-scan{imo},parallel{imo,4},parallel{imop,4}"
    )
    lowered = lower(made.nest)
    assert isinstance(lowered, LoweredNest) and lowered.phases == (4, 4)
    x = np.random.default_rng(0).integers(-99, 99, 1003).astype(np.int32)
    for got in values(made, x):
        np.testing.assert_array_equal(
            got, np.flip(np.cumsum(np.flip(x))) if from_end else np.cumsum(x)
        )


@pytest.mark.parametrize(
    ("dimensions", "along", "tasks", "wanted"),
    [
        ((100, 512), 1, 1, ("vectorize",)),
        ((512, 100), 0, 1, ("unroll", "vectorize")),
        ((512, 4096), 0, 1, ("interchange-reduction", "vectorize")),
        ((8, 512), 1, 2, ("vectorize", "parallel")),
        ((100_000,), 0, 2, ("chunk-scan", "vectorize", "parallel")),
        ((512, 4096), 0, 2, ("interchange-reduction", "parallel")),
        ((2, 64, 256), 1, 4, ("reorder", "vectorize", "parallel")),
        ((100, 20), 1, 1, ()),
    ],
)
def test_a_policy_schedules_rows_columns_and_chunks(
    dimensions: tuple[int, ...], along: int, tasks: int, wanted: tuple[str, ...]
) -> None:
    i = xe.parse_hlo(scan("f32", dimensions, along, "add")).entry.root
    made = nest_code(i, described_cpu(), argument_slots(i), (tasks,))
    assert isinstance(made, NestCode)
    assert set(wanted) <= {d.name for d in made.schedule.directives} and bool(wanted) == bool(
        made.schedule.directives
    ), str(made.schedule)
    assert made.tasks == tasks


def test_what_is_out_of_order_in_a_scan_of_floats_is_said() -> None:
    made = schedule("running-rows")
    assert not sums_out_of_order(made.nest)
    assert sums_out_of_order(made.then("split{j,8},vectorize{ji}").nest)
    assert not sums_out_of_order(made.then("split{i,2},unroll{ii}").nest)


def test_lanes_are_estimated_to_pay() -> None:
    made = Schedule(nest := running("f32", (64, 1024), 1, "add"), nest)
    assert estimate(made.then("split{j,16},vectorize{ji}").nest).cycles < estimate(made.nest).cycles


def test_equal_bits_however_much_is_unrolled() -> None:
    nest, operands, wanted = plain("running-furthest")
    for text in ("split{j,8},vectorize{ji}", "split{j,4},unroll{ji}", "interchange-reduction{i,j}"):
        made = Schedule(nest, nest).then(text)
        np.testing.assert_array_equal(native(made.nest, operands)[0], wanted[0])


def test_masked_lanes_before_an_array_have_no_inbounds_address() -> None:
    """The last lanes of a reversed row may be before the array.

    LLVM must not assume that their address is inside of it.
    """
    nest = running("f32", (4, 1003), 1, "add", True)
    lowered = lower(Schedule(nest, nest).then("split{j,8},vectorize{ji,strided}").nest)
    assert isinstance(lowered, LoweredNest)
    lines = lowered.text.splitlines()
    addresses = {line.split()[0]: line for line in lines if "getelementptr" in line}
    masked = [line for line in lines if "call" in line and "@llvm.masked" in line]
    assert masked
    for line in masked:
        (address,) = [addresses[name] for name in addresses if f"ptr {name}," in line]
        assert "inbounds" not in address, line
