"""Blocks of large modules: found without names, drawn as one node, opened on request.

The page and the kernel draw the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

import xla_explorer as xe
from tests.explorer.views.asset_script import AssetScript
from tests.support.dag import dag_text
from tests.support.pace import processor_seconds
from xla_explorer.explorer.pictures.blocks import (
    LARGEST_LEAF,
    repeated_layers,
    sort_in_program_order,
)
from xla_explorer.explorer.pictures.drawing import NO_DECISIONS, REMOVED_BY_FOLDING, Drawing
from xla_explorer.explorer.pictures.drawn_records import DrawnRecords
from xla_explorer.explorer.pictures.layers import scope_key
from xla_explorer.explorer.pictures.module_picture import (
    WHOLE,
    block_groups,
    snapshot_picture,
    sole_blocks,
)
from xla_explorer.explorer.pictures.picture import PictureGraph
from xla_explorer.explorer.pictures.region import Region
from xla_explorer.explorer.pictures.scopes import scope_paths
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.module import ModuleSnapshot

UNARY = ("tanh", "negate", "exponential", "abs", "cosine", "floor", "ceil", "sine")


def chain(layers: Sequence[tuple[int, int]], named: str = "") -> ModuleSnapshot:
    """Return a chain with, for each (count, length), `count` layers of `length` instructions.

    The instructions of a layer differ. named: the scope of a layer.
    """
    lines, last, at = ["x = f32[8] parameter(0)"], "x", 0
    for kind, (count, length) in enumerate(layers):
        for layer in range(count):
            for k in range(length):
                code = (kind + 1) * 7919 * (k + 1)
                where = named.format(layer=layer, kind=kind)
                told = f', metadata={{op_name="jit(f)/{where}/op"}}' if named else ""
                lines.append(
                    f"v{at} = f32[8] {UNARY[code % 8 if k % 2 else code // 8 % 8]}({last}){told}"
                )
                last, at = f"v{at}", at + 1
    return xe.parse_hlo(
        "HloModule chain\nENTRY e {\n"
        + "\n".join(lines)
        + f"\nROOT r = f32[8] multiply({last}, {last})\n}}"
    ).snapshot()


def _top(snapshot: ModuleSnapshot) -> Sequence[InstructionRecord]:
    return next(c for c in snapshot.computations if c.id == snapshot.entry).instructions


def test_several_repeats_are_told_apart_and_what_is_between_is_a_part() -> None:
    found = repeated_layers(_top(chain([(1, 90), (12, 40), (1, 61), (5, 30)])))
    outer = list(dict.fromkeys(path[0] for path in found.values()))
    assert (
        outer[:1] == ["layer A × 12"]
        and "layer B × 5" in outer
        and len([name for name in outer if name.startswith("part")]) == 2
    )
    assert len([path for path in found.values() if path[0] == "layer A × 12"]) >= 12 * 40


@pytest.mark.long
def test_repeats_are_found_in_a_hundred_thousand_instructions() -> None:
    records = _top(chain([(100, 1_000)]))
    started = time.process_time()
    paths = scope_paths(records)
    assert time.process_time() - started < processor_seconds(4)
    assert {path[0] for path in paths.values()} == {"layer × 100"}
    leaves: dict[Any, int] = {}
    for path in paths.values():
        leaves[path] = leaves.get(path, 0) + 1
    assert max(leaves.values()) <= LARGEST_LEAF + 2, "a parameter or constant may join a full leaf"


def test_scopes_that_differ_in_a_number_are_one_box_and_the_derivative_has_its_own() -> None:
    paths = set(scope_paths(_top(chain([(4, 9)], named="h_{layer}"))).values())
    assert {path[0] for path in paths} == {"h_* × 4"} and len(paths) >= 4
    both = _top(xe.parse_hlo(
        'HloModule b\nENTRY e {\n x = f32[4] parameter(0)\n a = f32[4] tanh(x), metadata={op_name="jit(f)/jvp(m)/h_0/tanh"}\n'
        ' b = f32[4] negate(a), metadata={op_name="jit(f)/h_1/neg"}\n ROOT c = f32[4] abs(b), metadata={op_name="jit(f)/transpose(jvp(m))/h_0/abs"}\n}'
    ).snapshot())  # fmt: skip
    assert [scope_paths(both).get(r.id) for r in both][1:] == [
        ("h_0",),
        ("h_1",),
        ("h_0, backward",),
    ]


def test_an_order_that_is_none_is_mended() -> None:
    records = list(_top(chain([(2, 9)])))
    mended = sort_in_program_order(list(reversed(records)))
    place = {r.id: k for k, r in enumerate(mended)}
    assert len(mended) == len(records) and all(
        place[o] < place[r.id] for r in mended for o in r.operands
    )


def _has_cycle(picture: PictureGraph) -> bool:
    users: dict[int, list[int]] = {}
    missing = {n.id: 0 for n in picture.nodes}
    for e in picture.edges:
        if e.source in missing and e.target in missing:
            users.setdefault(e.source, []).append(e.target)
            missing[e.target] += 1
    ready = [key for key, count in missing.items() if not count]
    for key in ready:
        for user in users.get(key, ()):
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return len(ready) < len(missing)


@pytest.fixture(scope="module")
def large() -> ModuleSnapshot:
    snapshot = xe.parse_hlo(dag_text(WHOLE + 400)).snapshot()
    assert snapshot.instruction_count() > WHOLE
    return snapshot


def test_a_large_module_is_its_blocks_until_they_are_opened(large: ModuleSnapshot) -> None:
    closed = snapshot_picture(large)
    assert len(closed.nodes) < 40 and not _has_cycle(closed)
    assert closed.hidden + len(closed.nodes) + len(closed.aliases) >= large.instruction_count()
    assert all(
        g.hidden and g.detail.startswith(str(g.hidden)) for g in closed.groups if g.kind == "scope"
    )
    wanted = _top(large)[1_000].id
    shown = snapshot_picture(large, Region(show=[wanted]))
    assert (
        wanted in {n.id for n in shown.nodes} and not _has_cycle(shown) and len(shown.nodes) < 400
    )
    touched = [r.id for r in _top(large)[100:105]]
    assert sum(g.touched for g in snapshot_picture(large, touched=touched).groups) == 5


PAGE = """
const outlined = (whole, blocks, homes, opened, show) => {
  const picture = closedOutline(withBlocks(pictureOf(whole), { blocks, homes: { values: homes } }), opened, show, null);
  return { nodes: picture.nodes.map(n => n.id), groups: picture.groups.map(g => [g.id, g.hidden > 0]), edges: picture.edges.map(e => [e.source, e.target]) };
};
"""


def test_the_page_opens_blocks_as_the_kernel_does(large: ModuleSnapshot) -> None:
    script = AssetScript(PAGE)
    top = next(c for c in large.computations if c.id == large.entry)
    whole = snapshot_picture(large, Region(budget=large.instruction_count()), bare=True)
    blocks, place = block_groups(top, DrawnRecords())
    outside = [n.id for n in whole.nodes if n.group is None] + [
        g.instruction for g in whole.groups if g.parent is None
    ]
    first = next(g.id for g in blocks if g.parent is None)
    for opened, show in (([], []), ([first], []), ([], [whole.nodes[len(whole.nodes) // 2].id])):
        theirs = snapshot_picture(large, Region(opened=opened, show=show))
        homes = [None if key is None else place.get(key) for key in outside]
        ours = script.call(
            "outlined", whole.to_json(), [list(g) for g in blocks], homes, opened, show
        )
        assert set(ours["nodes"]) == {n.id for n in theirs.nodes}
        assert {(key, hidden) for key, hidden in ours["groups"]} == {
            (g.id, g.hidden > 0) for g in theirs.groups
        }
        assert set(map(tuple, ours["edges"])) == {(e.source, e.target) for e in theirs.edges}


def _training_step(layers: int) -> str:
    """Return a program with a training step's scopes: layers forward, backward, an update.

    The update has no scope.
    """
    lines, last = ["x = f32[8] parameter(0)"], "x"

    def add(name: str, scope: str, *operands: str) -> str:
        told = f', metadata={{op_name="jit(step)/{scope}op"}}' if scope else ""
        opcode = "tanh" if len(operands) == 1 else "add"
        lines.append(f"{name} = f32[8] {opcode}({', '.join(operands)}){told}")
        return name

    last = add("e", "jvp(embed)/", last)
    for k in range(layers):
        for n in range(4):
            last = add(f"f{k}.{n}", f"jvp(GPT)/block_{k}/{'attn' if n < 2 else 'mlp'}/", last)
        last = add(f"between{k}", "", last)
    for k in reversed(range(layers)):
        for n in range(4):
            last = add(f"b{k}.{n}", f"transpose(jvp(GPT))/block_{k}/mlp/", last, f"f{k}.{n}")
    add("half", "", "x")  # of the update, which the program has early
    add("wide", "", "half")
    lines[-1] = "wide = f32[8] reshape(half)"
    for n in range(20):
        last = add(f"late{n}", "", last, "wide")
    return f"HloModule step\nENTRY e {{\n{chr(10).join(lines)}\n ROOT r = f32[8] tanh({last})\n}}"


def test_a_training_step_is_forward_then_backward_then_what_has_no_scope() -> None:
    top = _top(xe.parse_hlo(_training_step(9)).snapshot())
    paths = scope_paths(top)
    by_name = {r.name: paths.get(r.id) for r in top}
    assert by_name["half"] == by_name["wide"] == by_name["late3"]
    assert list(dict.fromkeys(paths[r.id][0] for r in top if r.id in paths)) == [
        "embed",
        "block_* × 9",
        "block_* × 9, backward",
        "after, no scope",
    ]
    assert by_name["f3.1"] == ("block_* × 9", "block_3", "attn")
    assert by_name["between3"] == ("block_* × 9", "block_3", "mlp"), (
        "between scopes: where it reads"
    )
    assert by_name["b3.1"] == ("block_* × 9, backward", "block_3, backward", "mlp")
    order = list(dict.fromkeys(path[0] for r in top if (path := paths.get(r.id))))
    for r in top:  # no box reads one that comes after it
        for o in r.operands:
            if o in paths and r.id in paths:
                assert order.index(paths[o][0]) <= order.index(paths[r.id][0])


def test_a_block_that_holds_the_whole_program_is_open(large: ModuleSnapshot) -> None:
    top = next(c for c in large.computations if c.id == large.entry)
    drawing = Drawing(large, NO_DECISIONS, False, DrawnRecords())
    nodes = [r.id for r in top.instructions if r.opcode.name not in REMOVED_BY_FOLDING]
    drawing.scopes = dict.fromkeys(nodes, ("layer × 48", "layers 1 to 24"))
    drawing.scopes |= dict.fromkeys(nodes[: len(nodes) // 2], ("layer × 48", "layers 25 to 48"))
    assert sole_blocks(top, drawing) == [scope_key(("layer × 48",))]
    del drawing.scopes[nodes[0]]
    assert sole_blocks(top, drawing) == []
