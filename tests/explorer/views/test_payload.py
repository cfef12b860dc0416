"""The payload: complete or light, rows stored once, answers to the widget's requests."""

from __future__ import annotations

import json
import math

import pytest

from tests.explorer.views.asset_script import AssetScript
from tests.support.explorer_fakes import GeneratedSource, HostileSource, SoftmaxSource
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.payload import (
    MOST_DECISIONS,
    build_payload,
    is_small,
    packed,
    unpacked,
)
from xla_explorer.explorer.page.view import answer_of
from xla_explorer.foundation.decision import Decision

_ROWS = """
(payload, id, pool, part) => {
  const steps = Object.keys(payload.details).map(Number).filter(step => step <= id);
  return atOnce(poolReader(payload.pools)(pool, steps.map(step => [step, part === "text" ? payload.details[step].text : payload.details[step][part][pool]])));
}
"""


def test_pooled_steps_decode_to_what_the_source_says() -> None:
    source, script = SoftmaxSource(), AssetScript()
    payload = unpacked(packed(build_payload(source)))
    assert payload["complete"] and set(payload["details"]) == {"0", "3", "4", "7"}
    assert payload["same"] == [0, 0, 0, 3, 4, 4, 4, 7, 7, 7]
    for step in (0, 3, 4, 7):
        expected = json.loads(json.dumps(source.view().detail(step)))
        for key in ("nodes", "edges", "groups", "aliases"):
            assert script.call(_ROWS, payload, step, key, "picture") == expected["picture"][key]
        assert script.call(_ROWS, payload, step, "text", "text") == expected["text"]
    sentences = script.call("valuesOf", payload["sentences"])
    assert [sentences[k] for k in payload["histories"]["9"]] == list(source.history(9))


def test_lineage_links_subjects_to_what_was_produced() -> None:
    assert build_payload(SoftmaxSource())["lineage"] == [[4, 1], [10, 9]]


def test_steps_share_their_rows() -> None:
    source = GeneratedSource()
    together = len(packed(build_payload(source, complete=True)))
    apart = sum(len(packed(source.view().detail(k))) for k in range(7))
    assert together < apart * 0.75


def test_big_modules_send_a_light_payload() -> None:
    source = GeneratedSource()
    assert not is_small(source.steps())
    payload = build_payload(source)
    assert not payload["complete"] and not payload["details"] and not payload["panes"]
    assert len(packed(payload)) < 3000


def test_answers() -> None:
    source = GeneratedSource()
    assert len(answer_of(source, "step", {"step": 2})["picture"]["nodes"]) == len(
        source.picture(2).nodes
    )
    assert [pane["name"] for pane in answer_of(source, "panes")] == ["hlo", "llvm-ir"]
    assert answer_of(SoftmaxSource(), "history", {"instruction": 9})[0] == "step 0: %exp.9 written"
    for call, args, words in (
        ("step", {"step": 99}, "no step 99"),
        ("step", {"step": True}, "must be an integer"),
        ("step", {}, "needs step"),
        ("step", {"step": 1, "path": "/etc"}, "no argument 'path'"),
        ("files", {}, "no question"),
        ("__init__", {}, "no question"),
        ("", {}, "no question"),
    ):
        with pytest.raises(ValueError, match=words):
            answer_of(source, call, args)


def test_too_many_decisions_are_cut_and_counted() -> None:
    class Many(SoftmaxSource):
        def decisions(self, step: int | None = None) -> list[Decision]:
            rows = [
                Decision("fusion", "refused", (k, k + 1), code="no")
                for k in range(MOST_DECISIONS + 1000)
            ]
            return [*rows, Decision("fusion", "accepted", (1, 2), code="yes")]

    payload = build_payload(Many())
    assert len(payload["decisions"]) == MOST_DECISIONS and payload["decisions_hidden"] == 1001
    assert payload["decisions"][-1][1] == "accepted"


def test_plain_takes_numpy_and_what_json_cannot_hold() -> None:
    numpy = pytest.importorskip("numpy")
    value = plain(
        {
            "a": numpy.float32(1.5),
            "b": numpy.int64(3),
            "c": math.inf,
            "d": numpy.array([1, 2]),
            5: (None, True),
        }
    )
    assert value == {"a": 1.5, "b": 3, "c": "inf", "d": "[1 2]", "5": [None, True]}


def test_hostile_text_travels() -> None:
    assert unpacked(packed(build_payload(HostileSource())))["decisions"][0][5].startswith("<img")


def test_many_accepted_decisions_about_one_instruction_leave_room_for_refusals() -> None:
    class Folded(SoftmaxSource):
        def decisions(self, step: int | None = None) -> list[Decision]:
            folded = [Decision("constant-folding", "accepted", (k,)) for k in range(MOST_DECISIONS)]
            fused = [Decision("fusion", "accepted", (k, k + 1)) for k in range(3)]
            costs = [{"refusal_costs_microseconds": float(k)} for k in range(MOST_DECISIONS)]
            return [
                *folded,
                *fused,
                *[Decision("fusion", "refused", (1, 2), code="no", facts=cost) for cost in costs],
            ]

    payload = build_payload(Folded())
    kept = [Decision(*row) for row in payload["decisions"]]
    assert len(kept) == MOST_DECISIONS and payload["decisions_hidden"] == MOST_DECISIONS + 3
    assert [
        row.subjects[0] for row in kept if row.kind == "fusion" and row.verdict == "accepted"
    ] == [0, 1, 2]
    costs = [row.facts["refusal_costs_microseconds"] for row in kept if row.verdict == "refused"]
    assert costs == [float(k) for k in range(MOST_DECISIONS // 2, MOST_DECISIONS)]


def test_bounds_of_costs_leave_room_for_costs() -> None:
    class Bounded(SoftmaxSource):
        def decisions(self, step: int | None = None) -> list[Decision]:
            bound, cost = (
                {"refusal_costs_at_most_microseconds": 9.0},
                {"refusal_costs_microseconds": 0.1},
            )
            bounded = [
                Decision("multi-output-fusion", "refused", (1, 2), code="no", facts=bound)
            ] * MOST_DECISIONS
            return [
                *bounded,
                Decision("fusion", "refused", (3, 4), code="no"),
                Decision("fusion", "refused", (1, 2), code="no", facts=cost),
            ]

    payload = build_payload(Bounded())
    assert payload["decisions_hidden"] == 2
    assert [row[0] for row in payload["decisions"]].count("fusion") == 1 and payload["decisions"][
        -1
    ][0] == "fusion"
