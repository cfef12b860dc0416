"""The search language has equal answers in Python and in the explorer's script."""

from __future__ import annotations

from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.explorer.questions.search import KEYS, instruction_item, parsed, searched

TEXT = """HloModule m
ENTRY e {
  x = f32[64,768] parameter(0)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}, metadata={op_name="jit(f)/attn/dot" source_file="/a/model.py" source_line=40}
  s = f32[64,64] sine(d), metadata={op_name="jit(f)/mlp/sin" source_file="/a/model.py" source_line=41}
  t = f32[64,64]{1,0:T(8,128)} tanh(s)
  ROOT a = f32[64,64] add(t, d)
}"""
LINES = [line for line in TEXT.split("\n") if " = " in line]
ITEMS: list[dict[str, Any]] = [
    {**(instruction_item(line, k) or {}), "bytes": 1e4 * k, "time": float(k)}
    for k, line in enumerate(LINES)
]
ITEMS += [
    {
        "what": "decision",
        "id": 9,
        "name": "%s → %a",
        "kind": "fusion",
        "verdict": "refused",
        "reason": "reads-multiply",
        "text": "8 readers",
        "time": 4.0,
    },
    {"what": "pass", "id": 10, "name": "algsimp", "pass": "algsimp", "text": "changed"},
    {"what": "pass", "id": 11, "name": "dce", "pass": "dce", "text": "did nothing"},
]
QUERIES = {
    "op:dot": ["d"],
    "opcode:dot": ["d"],
    "shape:f32[*,768]": ["x"],
    "-shape:768 what:instruction": ["d", "s", "t", "a"],
    "bytes>25k": ["t", "a"],
    "bytes>=20K what:instruction": ["s", "t", "a"],
    "time>35%": ["a", "%s → %a"],
    "time<=1us what:instruction": ["x", "d"],
    "scope:attn": ["d"],
    "line:model.py:40": ["d"],
    "reason:reads-multiply": ["%s → %a"],
    "code:/^reads/ time>3": ["%s → %a"],
    "name:/^[st]$/": ["s", "t"],
    "%tanh": ["t"],
    "algsimp": ["algsimp"],
    "changed": ["algsimp"],
    '"8 readers"': ["%s → %a"],
    "model.py:41": ["s"],
    "op:dot name:x": [],
    "": ["x", "d", "s", "t", "a", "%s → %a", "algsimp", "dce"],
}


@pytest.mark.parametrize("query", QUERIES)
def test_terms_must_all_hold(query: str) -> None:
    assert [item["name"] for item in searched(query, ITEMS)] == QUERIES[query]


@pytest.fixture(scope="module")
def script() -> Any:
    pytest.importorskip(
        "quickjs",
        reason="quickjs-ng (extra `test`) is not installed: the script is NOT tested without a browser",
    )
    from tests.explorer.views.asset_script import AssetScript

    return AssetScript()


def test_the_script_answers_alike(script: Any) -> None:
    for query, names in QUERIES.items():
        if query:
            assert [item["name"] for item in script.call("searchItems", query, ITEMS)] == names, (
                query
            )
    for k, line in enumerate(LINES):
        assert script.call("instructionItem", line, k) == instruction_item(line, k)
    assert script.call("() => SEARCH_KEYS") == list(KEYS)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("size>3", "the search has no key 'size'"),
        ("bytes>much", "'much' must be a number"),
        ("name:/(/", "is not a regular expression"),
    ],
)
def test_what_cannot_be_understood_is_said(script: Any, query: str, message: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match=message):
        parsed(query)
    assert (
        script.call(
            "q => { try { parseQuery(q); return null; } catch (error) { return error.message; } }",
            query,
        )
        is not None
    )


def test_a_session_is_searched() -> None:
    session = xe.compile(TEXT, threads=1)
    assert list(session.passes.search("op:dot", step=0)["name"]) == ["d"] and list(
        session.passes.search("line:model.py:40 what:instruction")["op"]
    ) == ["dot"]
    assert set(session.passes.search("what:decision")["what"]) == {"decision"} and len(
        session.passes.search("what:pass")
    ) == len(session.passes)


def test_a_line_is_found_by_its_stack_frame() -> None:
    """As JAX writes it: the printed line of an instruction has a number of a frame and no place."""
    frames = """
FileNames
1 "/a/model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=40 end_line=40 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
"""
    body = "ENTRY e {\n  x = f32[8] parameter(0)\n  ROOT s = f32[8] sine(x), metadata={stack_frame_id=1}\n}"
    session = xe.compile(f"HloModule m\n{frames}\n{body}", "interpreter")
    assert list(session.passes.search("line:model.py:40 what:instruction", step=0).name) == ["s"]
