"""A training step of 70 billion parameters on two machines: the figures of the page, recomputed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.compiler.spmd.explanation.device_work import work_of
from xla_explorer.compiler.spmd.propagation.dimension_groups import DimensionGroup
from xla_explorer.compiler.spmd.propagation.graph_builder import graph_of
from xla_explorer.compiler.spmd.propagation.report import inlined
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.devices.sharding_tactics import Tactic, Tactics

pytest.importorskip("jax")
from tests.support.transformer_step import (  # it imports jax
    SEVENTY_BILLION,
    Sizes,
    transformer_step,
)

PAGE = Path(__file__).parents[3] / "notebooks" / "seventy_billion_on_paper.md"


def group_of(tactics: Tactics, argument: str, dimension: int) -> DimensionGroup:
    return next(
        group
        for group in tactics.groups.groups
        for value, d in group.places
        if (value.instruction.name, d) == (argument, dimension)
    )


def used(tactics: Tactics, way: str) -> list[Tactic]:
    """Return the tactics of `axis=fsdp, axis=tensor`: batch and weights at rest, or features."""
    batch = tactics.batch()
    assert batch is not None
    features = tuple(
        [group_of(tactics, *place) for place in (("arg3", 2), ("arg7", 1), ("arg10", 1))]
    )
    return [
        Tactic(axis, (batch,), True) if use == "fsdp" else Tactic(axis, features)
        for axis, use in re.findall(r"(\w+)=(\w+)", way)
    ]


def devices_of(machine: str, mesh: str, way: str, batch: int) -> Devices:
    module = xe.parse_stablehlo(transformer_step(batch))
    placed = inlined(xe.sharding.annotate(module, mesh))
    graph = graph_of(placed.clone())
    names = {p.name for p in placed.entry.parameters()}
    tactics = Tactics(graph, graph.mesh, names)
    return Devices(placed, machine).what_if(tactics.specs(used(tactics, way)))


def scores_us(devices: Devices) -> float:
    """Return the time that kernels spend on moving attention scores through memory."""
    machine, tokens, found = devices.placed.topology.machine, SEVENTY_BILLION.tokens, 0.0
    for slot in devices.placed.schedule.slots:
        i = slot.instruction
        shapes = [one.shape for one in (i, *i.operands) if one.shape.is_array]
        if slot.lane != "compute" or not any(s.dimensions.count(tokens) > 1 for s in shapes):
            continue
        work = work_of(i)
        rate = machine.flops_per_second * 2 / max(work.width, 2)
        products = work.flops / rate * 1e6 if i.opcode.name == "dot" else 0.0
        found += (slot.us - products) * slot.trips
    return found


def row_of(machine: str, mesh: str, way: str, batch: int) -> list[str]:
    """Return the figures of a row of the page."""
    devices = devices_of(machine, mesh, way, batch)
    figures, place = devices.figures(), devices.placed.topology
    scores = scores_us(devices)
    ideal = SEVENTY_BILLION.flops(batch) / place.mesh.count / place.machine.flops_per_second * 1e6
    step = figures["step_us"]
    return [
        f"{step / 1e6:.2f} s",
        f"{figures['exposed_us'] / 1e6:.2f} s",
        f"{figures['sent_bytes'] / 1e9:.0f} GB",
        f"{figures['peak_bytes'] / 2**30:.1f} GiB",
        f"{100 * ideal / step:.1f} %",
        f"{100 * ideal / (step - scores):.1f} %",
    ]


ROWS = [
    ("a100", "data=64", "data=fsdp", 128),
    ("h100", "data=64,model=8", "data=fsdp, model=fsdp", 512),
    ("h100", "data=64,model=8", "data=fsdp, model=tensor", 512),
    ("tpu-v5p", "x=16,y=16,z=16", "x=fsdp, y=fsdp, z=fsdp", 4096),
]


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_the_page_has_the_figures_of_today(row: tuple[str, str, str, int]) -> None:
    machine, mesh, way, batch = row
    line = "| " + " | ".join([machine, mesh, way, str(batch), *row_of(*row)]) + " |"
    assert line in PAGE.read_text(encoding="utf-8"), line


@pytest.mark.long
def test_a_step_of_a_small_model_on_three_axes_is_searched_and_viewed() -> None:
    sizes = Sizes(64, 128, 8, 4, 16, 2, 64, 32)
    module = xe.parse_stablehlo(transformer_step(8, sizes))
    axes = {"x": 2, "y": 2, "z": 2}
    session = xe.compile(module, mesh=axes, shardings={"arg11": ("x", "y")}, backend="interpreter")
    assert len(session.devices.collectives)
    assert len(session.to_html().encode()) < 2_000_000


def test_the_sizes_are_those_of_llama_2_70b() -> None:
    assert SEVENTY_BILLION.parameters == 68_976_640_000
    assert SEVENTY_BILLION.flops(1) == pytest.approx(6 * 69e9 * 4096 * 1.077, rel=0.03)
