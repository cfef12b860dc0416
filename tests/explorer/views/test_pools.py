"""Rows of many steps: the script reads them as written; cost is bounded by the module."""

from __future__ import annotations

import base64
import json
import random
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.explorer.views.asset_script import AssetScript
from tests.support.dag import dag_text
from xla_explorer.explorer.page.html_page import export_page
from xla_explorer.explorer.page.payload import build_payload, packed, unpacked
from xla_explorer.explorer.page.pools import Pool, column, node_key


@pytest.fixture(scope="module")
def script() -> AssetScript:
    return AssetScript()


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([5, 5, None, 9, -2], "differences"),
        (["add", "add", "add", "tanh", "add", "add"], "words"),
        ([[], [], [], ["%a", 1], [], []], "words"),
        (["v1", "v2", "v9", "v10", "w", "v0"], "stems"),
        (
            ["%a = add(%b, %c)", "", '%b = tanh(%d.1), metadata={op_name="100% "}', "%% %", "}"],
            "texts",
        ),
        (["%v1 = f(%v0)", "%v2 = f(%v1)", "%v3 = f(%v2, %v0)"], "texts"),
        (["v007", "v08", "v8", "1234567890123456789", "", "a\n", "x\u0663"], "values"),
        ([True, 1, None, "%a", 0.5], "values"),
        ([], "words"),
    ],
)
def test_a_column_of_every_form_is_read_as_it_was(
    script: AssetScript, values: list[Any], form: str
) -> None:
    sent = unpacked(packed(column(values)))
    assert form in sent
    assert script.call("valuesOf", sent) == values


@pytest.mark.parametrize("seed", range(6))
def test_every_step_is_read_as_it_was(script: AssetScript, seed: int) -> None:
    rng = random.Random(seed)
    alive = [[k, f"%v{k} = f(%v{rng.randrange(20)})", rng.choice([None, "g1"])] for k in range(20)]
    steps, pool, sequences = [0, 3, 4, 9, 12], Pool(node_key), []
    written = []
    for step in steps:
        for row in alive:
            if rng.random() < 0.2:
                row[1] += rng.choice("xyz")
        for _ in range(3):
            alive.insert(
                rng.randrange(len(alive)),
                [rng.choice([100 + rng.randrange(40), alive[0][0]]), "new", None],
            )
            alive.pop(rng.randrange(len(alive)))
        rows = [list(row) for row in alive]
        written.append(rows)
        sequences.append([step, pool.sequence(rows, step)])
    sent = unpacked(packed(pool.packed()))
    for k, rows in enumerate(written):
        assert (
            script.call(
                "(pool, given) => atOnce(poolReader({ pool })('pool', given))",
                sent,
                sequences[: k + 1],
            )
            == rows
        )


def test_an_unchanged_step_costs_one_pair_and_a_changed_row_one_version() -> None:
    pool = Pool(node_key)
    rows = [[k, f"%v{k}"] for k in range(100)]
    assert pool.sequence(rows, 0) == [0, -100] and pool.sequence(rows, 1) == [0, 100]
    assert pool.sequence([*rows[:50], [50, "%other"], *rows[51:]], 2) == [0, 100]
    assert pool.packed()["versions"] == [50, 2]


@pytest.mark.long
def test_a_page_grows_as_its_module_does() -> None:
    sizes, whole = [], []
    for count in (6_000, 9_000):
        text = dag_text(count)
        source = xe.optimize(text, "algsimp,cse,dce", verify=False)._explorer_source_()
        payload = build_payload(source, complete=True)
        sizes.append(len(packed(payload)) / len(text))
        whole.append(len(payload["pools"]["whole_nodes"]["versions"]) / count)
    assert sizes[1] < 1.1 * sizes[0], sizes
    # 0.631 since a page has bytes and operations of every step, and for each refusal whether an
    # override can reverse it.
    assert sizes[1] < 0.65, (
        "deflated, several steps of a module take less than its text; was a table sent twice?"
    )
    assert max(whole) < 0.5, (
        "a pass that leaves an instruction as it is makes no version of its row"
    )


def test_names_and_paths_between_percent_signs_are_cut_before_texts_are_taken_apart(
    script: AssetScript, tmp_path: Path
) -> None:
    text = """HloModule m
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] tanh(a), metadata={op_name="x" source_file="/home/al%ice/se%cret/model.py" source_line=1}
  ROOT c = f32[4] negate(b), metadata={op_name="y" source_file="/home/al%ice/se%cret/model.py" source_line=2}
}"""
    page = export_page(xe.optimize(text, "dce")._explorer_source_())
    found = re.search(r'id="data">([^<]*)<', page)
    assert found is not None
    payload = unpacked(base64.b64decode(found.group(1)))
    assert "cret" not in repr(payload) and "/home" not in repr(payload)
    lines = script.call(
        "(pools, given) => atOnce(poolReader(pools)('text', given))",
        payload["pools"],
        [[0, payload["details"]["0"]["text"]]],
    )
    assert any("tanh(%a)" in line[0] and "model.py" in line[0] for line in lines)


def test_long_values_are_lines_of_their_own_which_the_script_reads_when_it_looks_at_them(
    script: AssetScript,
) -> None:
    long = [f"v{k}\n\u202e" for k in range(5_000)]
    data = {
        "a": 1,
        "long": long,
        "none": None,
        "inner": {"short": [1], "long": {"0": long}, "at": {"deep": long}},
        "empty": {},
    }
    sent = packed(data)
    lines = zlib.decompress(sent).decode().split("\n")
    assert (
        json.loads(lines[0]) == [["long"], ["inner", "long"], ["inner", "at"]]
        and len(lines) == 5
        and len(lines[1]) < 100
    )
    found = unpacked(sent)
    assert found["long"][7] == "v7\n\\u202e" and found["inner"]["at"]["deep"] == found["long"]
    assert (
        script.call("jsonOfLines", lines)
        == found
        == script.call("jsonOfLines", [json.dumps(found)])
    )
    looked = "lines => { const d = jsonOfLines(lines); d.long = 3; return [d.long, d.inner.at.deep[0], d.inner.at === d.inner.at, Object.keys(d)]; }"
    assert script.call(looked, lines) == [3, "v0\n\\u202e", True, list(data)]
