"""Shardings as values: lists of devices, iotas and axes of a mesh say the same."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from xla_explorer.hlo.attributes.axis_sharding import AxisSharding, smallest_mesh
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh
from xla_explorer.hlo.attributes.sharding import Sharding

MESHES = {
    "plain": Mesh.read('<["x"=2, "y"=4]>'),
    "with ids": Mesh.read('<["x"=2, "y"=4], device_ids=[0, 2, 1, 3, 7, 5, 6, 4]>'),
}


@pytest.mark.parametrize(
    ("axes", "tiles"),
    [
        ('<@m, [{"x"}, {"y"}]>', "{devices=[2,4]<=[8]}"),
        ('<@m, [{"y"}, {"x"}]>', "{devices=[4,2]<=[2,4]T(1,0)}"),
        ('<@m, [{}, {"x"}]>', "{devices=[1,2,4]<=[8] last_tile_dim_replicate}"),
        ('<@m, [{"y":(2)2}, {"x"}]>', "{devices=[2,2,2]<=[4,2]T(1,0) last_tile_dim_replicate}"),
        (
            '<@m, [{"y":(1)2, "x"}, {?}p1], replicated={"y":(2)2}>',
            "{devices=[4,1,2]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}",
        ),
        ("<@m, [{}, {}]>", "{replicated}"),
        (
            '<@m, [{"y"}, {}], unreduced=max{"x"}>',
            "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={unreduced}}",
        ),
    ],
)
def test_axes_become_tiles(axes: str, tiles: str) -> None:
    (given,) = AxisSharding.read_all(axes)
    assert str(given) == axes
    assert str(given.tiles(MESHES["plain"])) == tiles


def test_terms_become_the_first_dimension() -> None:
    for axes, tiles in (
        ('<@m, [{}, {}], unreduced={"x", "y"}>', "{devices=[8,1,1]<=[8]}"),
        ('<@m, [{"y"}], unreduced=min{"x"}>', "{devices=[2,4]<=[8]}"),
        ('<@m, [{}], unreduced={"x"}>', "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"),
    ):
        (given,) = AxisSharding.read_all(axes)
        assert str(given.tiles(MESHES["plain"]).terms_first(8, len(given.dimensions))) == tiles


def test_a_mesh_with_ids_names_its_devices() -> None:
    (given,) = AxisSharding.read_all('<@m, [{"x"}, {"y"}]>')
    assert str(given.tiles(MESHES["with ids"])) == "{devices=[2,4]0,2,1,3,7,5,6,4}"
    with pytest.raises(ValueError, match="8 places, but 3 devices"):
        Mesh.read('<["x"=2, "y"=4], device_ids=[0, 2, 1]>')


@pytest.mark.parametrize("text", [
    "{replicated}", "{manual}", "{unknown}", "{unreduced}", "{maximal device=3}", "{devices=[2,2]3,1,2,0}", "{devices=[2,1,2]<=[4] shard_as 1}",
    "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}", "{devices=[2,4]<=[4,2]T(1,0)}",
])  # fmt: skip
def test_every_form_prints_as_it_was_read(text: str) -> None:
    assert str(Sharding.read(text)) == text


def test_equal_shardings_are_equal_however_they_are_written() -> None:
    assert Sharding.read("{devices=[2,1,2]1,0,2,3 last_tile_dim_replicate}") == Sharding.read(
        "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"
    )
    assert Sharding.read("{devices=[2,1]<=[2]}") == Sharding.read(
        "{devices=[2,1,1]0,1 last_tile_dim_replicate}"
    )
    assert Sharding.read("{devices=[1,1,2]<=[2] last_tile_dim_replicate}") == Sharding()
    assert Sharding.read("{devices=[2,1]<=[2]}") != Sharding.read("{devices=[1,2]<=[2]}")
    for wrong, words in (
        ("{{replicated}}", "sharding of a tuple"),
        ("{devices=[2,2]0,1}", "4 places for 2 devices"),
        ("{anything}", "expects a sharding"),
    ):
        with pytest.raises(ValueError, match=words):
            Sharding.read(wrong)


def test_the_last_tiles_are_short_or_empty() -> None:
    s = Sharding.read("{devices=[4,2]<=[8]}")
    assert [s.part((10, 3), d) for d in (0, 1, 6, 7)] == [
        (slice(0, 3), slice(0, 2)), (slice(0, 3), slice(2, 3)), (slice(9, 10), slice(0, 2)), (slice(9, 10), slice(2, 3))
    ]  # fmt: skip
    assert s.part((2, 2), 6) == (slice(2, 2), slice(0, 1))


def drawn(rng: random.Random) -> tuple[Mesh, list[list[AxisPart]]]:
    """Draw a mesh, and axes and halves of axes for each dimension of an array."""
    sizes = [rng.choice([2, 2, 3, 4, 6, 8]) for _ in range(rng.randint(1, 3))]
    ids = tuple(rng.sample(range(math.prod(sizes)), math.prod(sizes))) if rng.random() < 0.2 else ()
    mesh, pieces = Mesh(tuple(zip("xyz", sizes, strict=False)), ids), []
    for name, size in mesh.axes:
        divisors = [d for d in range(2, size) if size % d == 0]
        if divisors and rng.random() < 0.4:
            d = rng.choice(divisors)
            pieces += [AxisPart(name, 1, d), AxisPart(name, d, size // d)]
        else:
            pieces.append(AxisPart(name))
    rng.shuffle(pieces)
    dimensions: list[list[AxisPart]] = [[] for _ in range(rng.randint(1, 3))]
    for piece in pieces:
        if rng.random() < 0.7:
            rng.choice(dimensions).append(piece)
    return mesh, dimensions


def drawn_kinds(
    rng: random.Random, mesh: Mesh, dimensions: list[list[AxisPart]]
) -> tuple[list[AxisPart], list[AxisPart]]:
    """Draw manual and unreduced axes among those that split no dimension."""
    used = [part for axes in dimensions for part in axes]
    manual: list[AxisPart] = []
    unreduced: list[AxisPart] = []
    for piece in mesh.parts(used):
        if piece not in used and not any(part.name == piece.name for part in used):
            rng.choice([manual, unreduced, []]).append(piece)
    return manual, unreduced


@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_lists_iotas_and_axes_say_the_same(count: int) -> None:
    rng = random.Random(0)
    for _ in range(count):
        mesh, dimensions = drawn(rng)
        manual, unreduced = drawn_kinds(rng, mesh, dimensions)
        named = AxisSharding("m", tuple(map(tuple, dimensions)), unreduced=tuple(unreduced), manual=tuple(manual))  # fmt: skip
        full = named.tiles(mesh)
        assert AxisSharding.of_tiles(full, mesh, len(dimensions)).tiles(mesh) == full, named
        assert Sharding.read(named.named_text(mesh)) == full, named.named_text(mesh)
        if full.kind == "tiled":
            small = smallest_mesh([full])
            again = AxisSharding.of_tiles(full, small, len(dimensions))
            assert again.tiles(small) == full, (small, full)
            if not mesh.device_ids:
                pieces = mesh.parts([part for axes in dimensions for part in axes])
                assert len(small.axes) <= len(pieces), small
        made = Sharding.of_axes(mesh, dimensions)
        last = " last_tile_dim_replicate" if made.subgroups else ""
        listed = (
            f"{{devices=[{','.join(map(str, made.tiles))}]{','.join(map(str, made.devices))}{last}}}"
            if made.devices
            else "{replicated}"
        )
        assert Sharding.read(str(made)) == made == Sharding.read(listed), (mesh, dimensions)
        if made.kind == "tiled":
            assert Sharding.of_axes(mesh, made.axes(mesh)) == made, (mesh, dimensions)
        # Every device has the part at its coordinates.
        sizes = [3 * math.prod([mesh.size(part) for part in axes]) for axes in dimensions]
        for axes, k in zip(dimensions, range(len(dimensions)), strict=True):
            places = mesh.coordinates(axes)
            assert all(
                made.part(sizes, d)[k].start == 3 * place for d, place in places.items()
            ) or not any(dimensions), np.array(sizes)


@pytest.mark.parametrize(
    ("named", "tiles"),
    [
        ("{mesh['x'=2,'y'=4], [{'x'}, {'y'}]}", "{devices=[2,4]<=[8]}"),
        ("{mesh['x'=2,'y'=4] [{?},{'y', ?}], unreduced={'x'}}",
         "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={unreduced}}"),
        ("{mesh['x'=8], [{'x':(1)2, 'x':(4)2}, {}]}",
         "{devices=[4,1,2]<=[2,2,2]T(0,2,1) last_tile_dim_replicate}"),
        ("{mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)), [{'y'}]}",
         "{devices=[4,2]<=[8] last_tile_dim_replicate}"),
        ("{mesh['x'=2], []}", "{replicated}"),
        ("{mesh['x'=2,'y'=4], replicated}", "{replicated}"),
        ("{mesh['x'=2,'y'=4], [{}], manual={'x', 'y'}}", "{manual}"),
        ("{maximal_mesh[device_id=3]}", "{maximal device=3}"),
    ],
)  # fmt: skip
def test_a_named_sharding_is_read_as_tiles(named: str, tiles: str) -> None:
    assert Sharding.read(named) == Sharding.read(tiles)


def test_several_shardings_share_the_smallest_mesh() -> None:
    mesh = Mesh((("x", 2), ("y", 4)))
    texts = ('<@m, [{"x"}, {"y"}]>', '<@m, [{}, {"y"}]>', '<@m, [{"y", "x"}]>')
    shardings = [AxisSharding.read_all(text)[0].tiles(mesh) for text in texts]
    assert smallest_mesh(shardings) == Mesh((("axis_0", 2), ("axis_1", 4)))
    assert smallest_mesh(shardings[1:2]) == Mesh((("axis_0", 2), ("axis_1", 4)))
    assert smallest_mesh([Sharding.read("{devices=[8]<=[8]}")]) == Mesh((("axis_0", 8),))
    ids = Sharding.read("{devices=[2,2]3,1,2,0}")
    assert smallest_mesh([ids]).device_ids == (3, 1, 2, 0)
    with pytest.raises(ValueError, match="no mesh has axes"):
        smallest_mesh([ids, Sharding.read("{devices=[2,2]0,1,3,2}")])
    with pytest.raises(ValueError, match="2 and of 8"):
        smallest_mesh([shardings[0], Sharding.read("{devices=[2]<=[2]}")])
