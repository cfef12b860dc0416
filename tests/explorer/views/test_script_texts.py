"""Lines and numbers of the script: diff rows, gaps, units."""

from __future__ import annotations

import pytest

from tests.explorer.views.asset_script import AssetScript


@pytest.fixture(scope="module")
def script() -> AssetScript:
    return AssetScript()


def test_a_diff_pairs_the_lines_of_one_instruction(script: AssetScript) -> None:
    before = [["a", 1], ["b = old", 2], ["c", 3], ["d", 4]]
    after = [["a", 1], ["b = new", 2], ["x", 9], ["d", 4]]
    rows = script.call("diffRows", before, after)
    assert [row["kind"] for row in rows] == ["same", "changed", "removed", "added", "same"]
    assert (rows[1]["before"], rows[1]["after"]) == (["b = old", 2], ["b = new", 2])
    assert (rows[-1]["beforeNumber"], rows[-1]["afterNumber"]) == (4, 4)


def test_a_diff_folds_what_is_far_from_a_change(script: AssetScript) -> None:
    before = [[f"line {k}", k] for k in range(50)]
    after = [*before[:25], ["new", None], *before[25:]]
    rows = script.call("diffRows", before, after, 2)
    assert [row["kind"] for row in rows] == ["gap", "same", "same", "added", "same", "same", "gap"]
    assert rows[0]["skipped"] == rows[-1]["skipped"] == 23
    assert "gap" not in [
        row["kind"] for row in script.call("diffRows", before[:3], [*before[:3], ["new", None]], 2)
    ]
    assert [row["kind"] for row in script.call("diffRows", before[:3], before[:3], None)] == [
        "same"
    ] * 3


@pytest.mark.parametrize("seed", range(4))
def test_a_diff_is_both_texts(script: AssetScript, seed: int) -> None:
    """Also where the texts have so little in common that Myers' algorithm gives up."""
    before = [[f"line {(k * 7 + seed) % 90}", None] for k in range(40)]
    after = [[f"line {(k * 11) % 90}{'x' * (seed == 3)}", None] for k in range(60)]
    rows = script.call("diffRows", before, after, None, 50 if seed == 3 else 800)
    assert [row["before"] for row in rows if row["before"]] == before
    assert [row["after"] for row in rows if row["after"]] == after


def test_lines_that_occur_often_are_no_change_where_the_algorithm_gives_up(
    script: AssetScript,
) -> None:
    before = [line for k in range(30) for line in ([f"a{k}", None], ["}", None], ["", None])]
    after = [[f"b{k // 3}", None] if k % 9 == 0 else line for k, line in enumerate(before)]
    rows = script.call("diffRows", before, after, None, 5)
    changed = [(row["before"] or row["after"])[0] for row in rows if row["kind"] != "same"]
    assert changed and not {"}", ""} & set(changed)


def test_numbers_carry_units(script: AssetScript) -> None:
    def shown(function: str, *values: float | None) -> list[str]:
        return [script.call(function, value) for value in values]

    assert shown("showMicroseconds", 61.2, 1250.0, 2.5e6, 0, None) == [
        "61.2 µs",
        "1.25 ms",
        "2.50 s",
        "0 µs",
        "–",
    ]
    assert shown("showBytes", 131072, 12, 3 << 30, None) == ["128 KiB", "12 B", "3.00 GiB", "–"]
    assert shown("showPercent", 0.123, None) == ["12 %", "–"]
    assert (
        script.call("showQuantity", "ms", 1.5) == "1.50 ms"
        and script.call("showQuantity", "s", 2) == "2.00 s"
    )
    assert [script.call("showQuantity", "bytes", v) for v in (2048, "cpu", None)] == [
        "2.00 KiB",
        "cpu",
        "–",
    ]
    assert (
        script.call("showQuantity", "error", 0.000123) == "1.23e-4"
        and script.call("showQuantity", "watt", 3) == "3 watt"
    )
    assert shown("n => numberOf(n, 'kernel')", 1, 2) == ["1 kernel", "2 kernels"]


def test_a_unified_diff_of_llvm_becomes_its_two_texts(script: AssetScript) -> None:
    texts = script.call("textsOfDiff", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old\n+new")
    assert [line for line, _ in texts["before"]] == ["@@ -1,2 +1,2 @@", "same", "old"]
    assert [line for line, _ in texts["after"]] == ["@@ -1,2 +1,2 @@", "same", "new"]


@pytest.mark.parametrize(
    ("now", "before", "less_is_better", "spread", "change"),
    [
        (33, 32, True, None, ["+3.1 %", "worse"]),
        (90, 100, True, None, ["−10 %", "better"]),
        (90, 100, False, None, ["−10 %", "worse"]),
        (5.5, 6.5, True, 2.0, ["within the spread", ""]),
        (1.0001, 1.0, True, None, ["≈ 0", ""]),
        (5, 6, None, None, ["", ""]),
        ("cpu", "gpu", None, None, ["", ""]),
    ],
)
def test_a_change_is_judged_by_the_direction_of_its_row(
    script: AssetScript,
    now: object,
    before: object,
    less_is_better: bool | None,
    spread: float | None,
    change: list[str],
) -> None:
    row = {"now": now, "before": before, "less_is_better": less_is_better, "spread": spread}
    assert script.call("changeOf", row) == change
