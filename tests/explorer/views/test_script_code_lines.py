"""Code panes: the parts that fold, the lines that are shown, the lines that a search finds."""

from __future__ import annotations

from tests.explorer.views.asset_script import AssetScript

HLO = """HloModule m
add {
  a = f32[] parameter(0)
  ROOT r = f32[] add(a, a)
}

ENTRY e {
  x = f32[4]{0} parameter(0), metadata={op_name="x"}
  ROOT y = f32[] reduce(x), to_apply=add
}"""
LINES = [[text, None] for text in HLO.splitlines()]


def test_computations_fold_from_their_head_to_their_end() -> None:
    script = AssetScript()
    assert script.call("lines => [...foldsOf(lines)]", LINES) == [[1, 4], [6, 9]]


def test_functions_fold_with_what_is_inside_and_an_end_without_a_head_is_ignored() -> None:
    texts = ["}", "define void @f() {", "entry:", "  switch {", "  case", "  }", "}", "x {", "}"]
    folds = AssetScript().call("lines => [...foldsOf(lines)]", [[t, None] for t in texts])
    assert sorted(folds) == [[1, 6], [3, 5]], "an empty part has nothing to fold"


def test_a_closed_part_shows_its_head_only() -> None:
    script = AssetScript("const folds = new Map([[1, 4], [6, 9]]);")
    shown = "closed => linesShown(10, folds, new Set(closed))"
    assert script.call(shown, []) == list(range(10))
    assert script.call(shown, [1]) == [0, 1, 5, 6, 7, 8, 9]
    assert script.call(shown, [1, 6]) == [0, 1, 5, 6]
    around = "at => closedAround(at, folds, new Set([1]))"
    assert [script.call(around, at) for at in (1, 3, 4, 7)] == [[], [1], [1], []]


def test_a_search_finds_every_line_in_any_case() -> None:
    script = AssetScript()
    assert script.call("(lines, text) => linesWith(lines, text)", LINES, "ROOT") == [3, 8]
    assert script.call("(lines, text) => linesWith(lines, text)", LINES, "f32[4]") == [7]
    assert script.call("(lines, text) => linesWith(lines, text)", LINES, "") == []
