"""The surroundings of an instruction or between two, read from the page's whole module."""

from __future__ import annotations

from typing import Any

import pytest

from tests.explorer.views.asset_script import AssetScript
from tests.support.explorer_fakes import SoftmaxSource
from xla_explorer.explorer.pictures.picture import (
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)

CODE = """
const asList = set => set && [...set];
const pathsOf = (picture, a, b) => asList(between(linksOf(pictureOf(picture)), a, b));
const nearestOf = (picture, start, budget) => asList(around(pictureOf(picture), start, budget));
const cutOut = (picture, ids) => { const part = partOf(pictureOf(picture), new Set(ids)); return { ...part, nodes: part.nodes.map(n => n.id) }; };
const seen = (small, big) => {
  const step = stepOf({ picture: small, text: [], rewrites: [] });
  readPicture(step, pictureOf(big));
  return { nodes: step.picture.nodes.map(n => n.id), names: [...step.names], opcodes: [...step.picture.opcodes], users: [...step.users] };
};
"""


@pytest.fixture(scope="module")
def script() -> AssetScript:
    return AssetScript(CODE)


def _chain(count: int) -> PictureGraph:
    """0 -> 1 -> 2 ..., and every node k > 0 also read by 1000 + k."""
    nodes = [
        PictureNode(k, "add", name=f"v{k}", opcode="add")
        for k in [*range(count), *range(1001, 1000 + count)]
    ]
    edges = [
        *[PictureEdge(k, k + 1) for k in range(count - 1)],
        *[PictureEdge(k, 1000 + k) for k in range(1, count)],
    ]
    return PictureGraph(nodes, edges, title="chain", hidden=0)


def _box() -> Any:
    """1 -> [fusion 9: 2 -> 3] -> 4, and 5 beside it."""
    nodes = [
        PictureNode(k, "add", group="g9" if k in (2, 3) else None, opcode="add")
        for k in (1, 2, 3, 4, 5)
    ]
    edges = [
        PictureEdge(1, 2),
        PictureEdge(2, 3),
        PictureEdge(9, 4),
        PictureEdge(1, 5),
        PictureEdge(4, 5, "fusion-refused", 0, "no"),
    ]
    return PictureGraph(
        nodes, edges, [PictureGroup("g9", "add", instruction=9, opcode="fusion")]
    ).to_json()


def test_paths_go_both_ways_and_through_boxes(script: AssetScript) -> None:
    assert (
        sorted(script.call("pathsOf", _box(), 1, 4))
        == sorted(script.call("pathsOf", _box(), 4, 1))
        == [1, 2, 3, 4]
    )
    assert sorted(script.call("pathsOf", _box(), 2, 4)) == [2, 3, 4]
    assert script.call("pathsOf", _box(), 4, 5) is None, "a refused fusion is no path"


def test_the_nearest_come_first_and_the_budget_holds(script: AssetScript) -> None:
    chain = _chain(50).to_json()
    assert script.call("nearestOf", chain, 10, 4) == [10, 9, 11, 1010]
    assert len(script.call("nearestOf", chain, 10, 30)) == 30
    assert set(script.call("nearestOf", chain, 10, 1000)) == {row[0] for row in chain["nodes"]}


def test_users_of_what_has_many_are_not_all_followed(script: AssetScript) -> None:
    star = PictureGraph(
        [PictureNode(k, "add") for k in range(100)], [PictureEdge(0, k) for k in range(1, 100)]
    )
    assert len(script.call("nearestOf", star.to_json(), 0, 90)) == 17


def test_a_box_costs_what_is_inside_it(script: AssetScript) -> None:
    picture = _box()
    assert 9 not in script.call("nearestOf", picture, 4, 2) and 9 in script.call(
        "nearestOf", picture, 4, 3
    )


def test_a_part_has_the_insides_of_its_boxes_and_the_boxes_of_its_insides(
    script: AssetScript,
) -> None:
    part = script.call("cutOut", _box(), [9, 4])
    assert part["nodes"] == [2, 3, 4] and [g["instruction"] for g in part["groups"]] == [9]
    assert [(e["source"], e["target"]) for e in part["edges"]] == [(2, 3), (9, 4)]
    assert [g["id"] for g in script.call("cutOut", _box(), [2])["groups"]] == ["g9"]
    assert script.call("cutOut", _box(), [1, 5])["groups"] == []


def test_a_picture_beside_that_of_the_step_tells_names_opcodes_and_readers(
    script: AssetScript,
) -> None:
    whole = SoftmaxSource().picture(0)
    small = PictureGraph(
        whole.nodes[:3],
        [e for e in whole.edges if {e.source, e.target} <= {n.id for n in whole.nodes[:3]}],
        hidden=11,
    )
    step = script.call("seen", small.to_json(), whole.to_json())
    assert step["nodes"] == [n.id for n in whole.nodes[:3]]
    assert (
        dict(map(tuple, step["names"]))[9] == "exp.9"
        and dict(map(tuple, step["opcodes"]))[9] == "exponential"
    )
    users = {key: sorted(found) for key, found in step["users"]}
    assert users[8] == [9, 10] and users[9] == [12]
