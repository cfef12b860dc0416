"""The times of collectives follow the published formulas to the digit."""

from __future__ import annotations

import math

import pytest

from xla_explorer.compiler.costs import collective_times as times
from xla_explorer.compiler.costs import xla_collective_models as xla
from xla_explorer.compiler.costs.collective_times import CollectiveStage
from xla_explorer.compiler.costs.machines import MACHINES, UnknownMachineError, machine_of
from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.target.units import Source
from xla_explorer.hlo.attributes.mesh import Mesh

SWITCH = CollectiveStage("NVLink", 8, 2.0, 1000.0)
RING = CollectiveStage("ICI", 8, 2.0, 1000.0, ring=True)


def test_all_gather_and_reduce_scatter() -> None:
    expected = 7 * 2.0 + 7 / 8 * 8000 / 1000
    assert times.all_gather(SWITCH, 8000).us == expected == 21.0
    assert times.reduce_scatter(RING, 8000).us == expected
    assert times.all_gather(SWITCH, 8000).formula == "7 a + 7/8 x 8,000 B / 1 GB/s"


def test_all_reduce_takes_a_ring_or_a_tree() -> None:
    assert times.ring_all_reduce(SWITCH, 8000).us == 42.0
    assert times.tree_all_reduce(SWITCH, 8000).us == 2 * 3 * 2.0 + 2 * 8000 / 1000 == 28.0
    assert times.all_reduce(SWITCH, 8000).us == 28.0
    assert times.all_reduce(RING, 8000).us == 42.0
    large = 1e9
    assert times.all_reduce(SWITCH, large).us == times.ring_all_reduce(SWITCH, large).us


def test_all_to_all_on_a_switch_and_on_a_ring() -> None:
    assert times.all_to_all(SWITCH, 1000).us == 14.0 + 7 / 8 * 1000 / 1000
    gather = times.all_gather(RING, 8000).us - 14.0
    assert times.all_to_all(RING, 1000).us == 14.0 + gather / 4


def test_permute_counts_hops() -> None:
    assert times.permute(RING, 1000, hops=3).us == 2.0 + 1000 / 1000 * 3


def test_nodes_of_devices_add_their_terms() -> None:
    inner, outer = SWITCH, CollectiveStage("InfiniBand", 4, 5.0, 100.0)
    size = 8000.0
    scattered = times.reduce_scatter(inner, size).us
    between = times.all_reduce(outer, size / 8).us
    got = times.hierarchical("all-reduce", inner, outer, size)
    assert got.us == scattered + between + times.all_gather(inner, size).us
    gathered = times.hierarchical("all-gather", inner, outer, size).us
    assert gathered == 3 * 5.0 + 3 / 4 * 1000 / 100 + times.all_gather(inner, size).us
    alone = CollectiveStage("InfiniBand", 1, 5.0, 100.0)
    assert times.hierarchical("all-reduce", inner, alone, size).us == 28.0


def test_bandwidth_bound_times_do_not_depend_on_the_number_of_devices() -> None:
    large = 1e12
    few, many = [times.all_gather(CollectiveStage("x", n, 0.0, 1e3), large).us for n in (64, 4096)]
    assert math.isclose(few, many, rel_tol=0.02)


def test_models_of_xla() -> None:
    assert xla.partitioner_bytes("all-reduce", 800, 8) == 1600
    assert xla.partitioner_bytes("all-gather", 800, 8) == 700
    assert xla.partitioner_bytes("collective-permute", 100, 8) == 100
    assert xla.partitioner_bytes("reduce-scatter", 100, 8) == 0
    assert xla.auto_sharding_cost("all-gather", 800, 8, 1, 2) == 1 + 2 * 7 / 8 * 800 + 0.1
    assert xla.auto_sharding_cost("all-reduce", 800, 8, 1, 2) == 1 + 2 * 2 * 7 / 8 * 800 + 0.01
    assert xla.auto_sharding_cost("reduce-scatter", 800, 8, 1, 2) == 1401.001
    assert xla.auto_sharding_cost("all-to-all", 800, 8, 1, 2) == 1 + 2 * 7 / 64 * 800 * 4 + 0.001
    size = 16 * (4 << 20)
    got = xla.between_nodes_us("h100", 16, size, 8, rounds=2)
    nic, trip, chunk, launch = 55560 * 0.45, 68.89 * 0.45, 13.34 * 0.45, 45.0
    assert got == pytest.approx(2 * 15 / 8 * ((4 << 20) / nic * 1.025 + chunk + trip) + launch)


def test_axes_of_a_mesh_use_the_links_of_their_devices() -> None:
    topology = Topology.named(Mesh((("data", 4), ("model", 8))), "h100")
    links = topology.axis_links()
    assert [(one.axis, one.link, one.gb_per_s) for one in links] == [
        ("data", "InfiniBand", 50.0), ("model", "NVLink", 450.0),
    ]  # fmt: skip
    assert topology.nodes == 4
    assert topology.axis_time("all-gather", 450e6, "model").us == 7 + 7 / 8 * 1000
    between = topology.axis_time("all-gather", 50e6, "data").us
    assert between == 3 * 5.0 + 3 / 4 * 1000


def test_an_axis_over_several_nodes_is_hierarchical() -> None:
    topology = Topology.named(Mesh((("data", 16),)), "a100")
    inner, outer = topology.stages(range(16))
    assert (inner.n, outer.n, inner.w, outer.w) == (8, 2, 300e3, 25e3)


def test_closed_axes_of_a_torus_send_both_ways_and_axes_add_up() -> None:
    topology = Topology.named(Mesh((("x", 4), ("y", 2))), "tpu-v4")
    by_axis = {one.axis: (one.gb_per_s, one.wraps) for one in topology.axis_links()}
    assert by_axis == {"x": (90.0, True), "y": (45.0, False)}
    assert topology.stages(range(8))[0].w == 135e3
    assert not any(one.wraps for one in Topology.named(topology.mesh, "v5e").axis_links())


def test_a_permute_on_a_torus_counts_the_shorter_way() -> None:
    topology = Topology.named(Mesh((("x", 8),)), "v5p")
    near = topology.permute_time(90e3, [(0, 1), (7, 0)]).us
    far = topology.permute_time(90e3, [(0, 4)]).us
    assert (near, far) == (1.0 + 1.0, 1.0 + 4.0)


@pytest.mark.parametrize("name", MACHINES)
def test_each_number_has_a_source(name: str) -> None:
    machine = MACHINES[name]
    known = {Source.DATA_SHEET, Source.DEFAULT}
    for unit in (machine, machine.inner, machine.outer):
        assert unit.cited
        assert {source for _, _, source in unit.rows()} <= known
        if unit is not machine:
            assert unit.source("bytes_per_nanosecond") is Source.DATA_SHEET
    assert machine.source("flops_per_second") is Source.DATA_SHEET


def test_this_cpu_is_measured_and_unknown_machines_have_near_names() -> None:
    link = machine_of("cpu").inner
    assert link.source("bytes_per_nanosecond") is Source.MEASURED
    assert link.bytes_per_us > 0 < link.step_us
    with pytest.raises(UnknownMachineError, match="near: h100"):
        machine_of("h10")


def test_rings_along_the_axes_of_a_torus_run_one_after_another() -> None:
    place = Topology.named(Mesh((("x", 16), ("y", 16), ("z", 16))), "tpu-v5p")
    one, three = (place.time("all-gather", 4096.0, [group]) for group in _two_groups(place))
    assert one.formula.startswith("15 a + ") and three.formula.startswith("45 a + ")


def _two_groups(place: Topology) -> tuple[range, range]:
    return range(16), range(place.mesh.count)
