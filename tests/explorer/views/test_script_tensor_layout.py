"""Places of elements in memory, as drawn beside an instruction, against numpy and tiles by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.explorer.views.asset_script import AssetScript


@pytest.fixture(scope="module")
def js() -> AssetScript:
    return AssetScript()


def _places(js: AssetScript, shape: str, sizes: tuple[int, ...]) -> Any:
    indices = list(itertools.product(*map(range, sizes)))
    places = js.call(
        "(line, indices) => { const [one] = layoutsOf(line); return indices.map(index => placeInMemory(one, index)); }",
        f"  %x = {shape} add(%a, %b)",
        indices,
    )
    return np.array(places).reshape(sizes)


@pytest.mark.parametrize("minor_to_major", list(itertools.permutations(range(3))))
def test_places_are_those_of_numpy(js: AssetScript, minor_to_major: tuple[int, ...]) -> None:
    sizes, major = (2, 3, 4), minor_to_major[::-1]
    memory = np.arange(24).reshape([sizes[d] for d in major])  # each element is its place
    assert (
        _places(js, f"f32[2,3,4]{{{','.join(map(str, minor_to_major))}}}", sizes)
        == memory.transpose(np.argsort(major))
    ).all()


def test_without_a_layout_an_array_is_row_major(js: AssetScript) -> None:
    assert (_places(js, "bf16[3,5]", (3, 5)) == np.arange(15).reshape(3, 5)).all()


@pytest.mark.parametrize("minor_to_major", ["1,0", "0,1"])
def test_tiles_lie_one_after_another_and_are_padded(js: AssetScript, minor_to_major: str) -> None:
    sizes, tile = (3, 5), (2, 4)
    rows, columns = sizes if minor_to_major == "1,0" else sizes[::-1]
    wanted = np.zeros((rows, columns), int)
    for r, c in itertools.product(range(rows), range(columns)):
        tiles_before = r // 2 * -(-columns // 4) + c // 4
        wanted[r, c] = tiles_before * 8 + r % 2 * 4 + c % 4
    found = _places(js, f"f32[3,5]{{{minor_to_major}:T({tile[0]},{tile[1]})}}", sizes)
    assert (found == (wanted if minor_to_major == "1,0" else wanted.T)).all()


def test_a_tile_within_a_tile(js: AssetScript) -> None:
    """XLA's `T(4,2)(2,1)`: pairs of rows are interleaved in each tile, for 16-bit processors."""
    found = _places(js, "bf16[4,2]{1,0:T(4,2)(2,1)}", (4, 2))
    assert found.tolist() == [[0, 2], [1, 3], [4, 6], [5, 7]]


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        (
            "ROOT %t = (f32[2,3]{1,0}, (s32[], pred[4]{0})) tuple(%a, f32[9,9] %b)",
            ["f32[2,3]{1,0}", "s32[]", "pred[4]{0}"],
        ),
        ("  %r = f32[<=8,3]{0,1:T(8,128)S(1)} reshape(%a)", ["f32[<=8,3]{0,1:T(8,128)S(1)}"]),
        ("  %k = token[] after-all()", ["token[]"]),
    ],
)
def test_the_arrays_of_a_line_are_those_of_its_result(
    js: AssetScript, line: str, texts: list[str]
) -> None:
    found = js.call("line => layoutsOf(line)", line)
    assert [array["text"] for array in found] == texts
    assert all(sorted(array["minor"]) == list(range(len(array["sizes"]))) for array in found)
