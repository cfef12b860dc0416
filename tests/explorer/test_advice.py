"""`session.explain()` without an instruction: each rule's finding, advice and largest gain."""

from __future__ import annotations

from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.explorer.advice.rules import KernelFact
from xla_explorer.explorer.advice.session_advice import OWN_RULES, OwnFacts, OwnKernel, own_facts
from xla_explorer.explorer.page.view import answer_of
from xla_explorer.foundation.decision import Decision
from xla_explorer.hlo.text import parse_hlo

TEXT = "HloModule m\nENTRY e { x = f32[64] parameter(0)  n = f32[64] negate(x)  ROOT a = f32[64] abs(n) }"
ROOT = parse_hlo(TEXT).entry.root
RULES = {rule.__name__: rule for rule in OWN_RULES}


def kernels(
    count: int, us: float, bound: str = "memory", least: float | None = None, reason: str = ""
) -> list[OwnKernel]:
    return [
        OwnKernel(KernelFact(ROOT, us, 1, "m.py:2", least), bound, 1, reason) for _ in range(count)
    ]


REFUSED = Decision(
    "fusion",
    "refused",
    (1, 2),
    ("p", "c"),
    "reads-multiply",
    "",
    {"refusal_costs_microseconds": 30.0},
    forceable=True,
)
CASES: list[tuple[str, dict[str, Any], str, float]] = [
    ("leave_the_evaluator", {"kernels": kernels(2, 10, reason="no-kernel: fft of f64")}, "2 steps on the evaluator, %a for one: no-kernel", 20),
    ("use_more_threads", {"kernels": kernels(2, 400), "cores": 4}, 'force=[("parallel", "%a")]', 600),
    ("tune_what_waits", {"kernels": kernels(1, 200, "latency", 20), "measured": True}, 'xe.tune(session, "%a")', 180),
    ("move_fewer_bytes", {"kernels": kernels(3, 100)}, "3 kernels bound by memory", 150),
    ("start_fewer_kernels", {"kernels": kernels(60, 2, "launch")}, "60 kernels shorter than their start", 120),
    ("force_refused_fusions", {"refusals": [REFUSED] * 2},
     'session.override(force=[("fusion", "%p", "%c")])', 60),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "seen", "says", "gain"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_says_what_it_saw_and_what_to_try(
    rule: str, seen: dict[str, Any], says: str, gain: float
) -> None:
    facts = OwnFacts(1000.0, (), (), 1, False)._replace(**seen)
    advice = RULES[rule](facts)
    assert advice is not None and says in advice.sentence and advice.gain_us == pytest.approx(gain)
    quiet = facts._replace(run_us=1e9, kernels=[k for k in facts.kernels if not k.reason])
    assert RULES[rule](quiet) is None, "what is small is not worth a sentence"


def test_what_no_override_can_force_is_not_proposed() -> None:
    facts = OwnFacts(1000.0, (), (), 1, False)
    lawful = [REFUSED._replace(forceable=False, code="producer-has-own-kernel")]
    assert RULES["force_refused_fusions"](facts._replace(refusals=lawful)) is None


def test_the_page_of_advice_has_its_times_from_the_model_then_from_the_profile() -> None:
    assert set(RULES) == {case[0] for case in CASES}
    session = xe.compile(TEXT)
    assert "by the cost model" in session.explain().headline()
    frame = session.profile(repeats=2)
    facts = own_facts(session)
    assert facts.measured and facts.run_us == pytest.approx(frame["median_us"][1:].sum())
    page = session.explain()
    assert "measured" in page.headline() and list(page.to_frame().columns) == [
        "gain_us",
        "share",
        "sentence",
        "line",
    ]
    assert page.to_json() and answer_of(session._explorer_source_(), "advice") == [
        [a.sentence, a.gain_us, a.line] for a in page.advice
    ]
