"""One registry of reason codes: every code is registered, used, and of its decision's kind."""

from __future__ import annotations

import pathlib
import re

import pytest

import xla_explorer as xe
from tests.architecture.test_reason_codes import PACKAGE, codes_in
from tests.compiler.decisions import reason_page
from tests.compiler.decisions.programs import COMPILES, MANY
from xla_explorer.compiler.codegen.nest.schedule_text import DIRECTIVES
from xla_explorer.compiler.decisions import (
    answer_reasons,
    fusion_reasons,
    gpu_code_reasons,
    nest_reasons,
    pass_reasons,
)
from xla_explorer.compiler.decisions.kinds import (
    FUSION_KINDS,
    KINDS,
    KINDS_OF_CODE,
    LOOP_KINDS,
    OF_ANY_KIND,
    accepted_sentence,
    meaning_of,
    reasons_of,
)
from xla_explorer.compiler.decisions.reason_code import ReasonTable

ORDER = "hlo/analysis/contracted_order.py"
FUSION, OTHERS, NEST = (
    "compiler/transforms/fusion/",
    "compiler/transforms/",
    "compiler/codegen/nest/",
)
CLOSED: dict[
    tuple[str, ...], ReasonTable
] = {  # files of one policy -> its codes, no more and no fewer
    (FUSION + "fusion_wrapper.py",): fusion_reasons.WRAPPER,
    (FUSION + "multi_output_fusion.py", ORDER): fusion_reasons.MULTI_OUTPUT,
    (FUSION + "horizontal_policy.py", ORDER): fusion_reasons.HORIZONTAL,
    (FUSION + "normalization_fusion.py",): fusion_reasons.NORMALIZATION,
    (
        FUSION + "dot_epilogue_fusion.py",
        FUSION + "epilogue_policy.py",
        OTHERS + "library_calls/product_epilogue_fusion.py",
    ): fusion_reasons.EPILOGUE,
    (
        FUSION + "policy.py",
        FUSION + "priority_policy.py",
        FUSION + "xla_policy.py",
        FUSION + "updating.py",
    ): fusion_reasons.FUSION,
    (OTHERS + "scheduling/latency_hiding_scheduler.py",): pass_reasons.LATENCY_HIDING,
    (OTHERS + "scheduling/stream_assignment.py",): pass_reasons.STREAMS,
    (OTHERS + "contractions/dot_merger.py",): pass_reasons.DOT_MERGER,
    (OTHERS + "simplifiers/transpose_folding.py",): pass_reasons.TRANSPOSE_FOLDING,
    (
        *[
            path.relative_to(PACKAGE).as_posix()
            for path in sorted((PACKAGE / NEST / "directives").glob("*.py"))
        ],
        NEST + "independence.py",
    ): nest_reasons.DIRECTIVES,
    ("backends/gpu/emitters/constant_memory.py",): gpu_code_reasons.CONSTANT_MEMORY,
}


@pytest.mark.parametrize("files", CLOSED, ids=lambda files: pathlib.Path(files[0]).stem)
def test_the_table_of_a_policy_is_closed(files: tuple[str, ...]) -> None:
    used = set().union(*[codes_in(PACKAGE / file) for file in files])
    assert used - set(answer_reasons.USER) == set(CLOSED[files])


@pytest.mark.parametrize("name", COMPILES)
def test_what_a_compile_records_is_registered_for_its_kind(name: str) -> None:
    session = xe.compile(MANY, **COMPILES[name])
    assert session.passes.journal is not None
    reasons = {(e.by, e.reason.code) for e in session.passes.journal.events if e.reason is not None}
    assert reasons and not {
        (kind, code) for kind, code in reasons if meaning_of(kind, code) is None
    }
    decided = {e.by for e in session.passes.journal.events if e.is_decision}
    assert all(
        kind in KINDS or kind in {step.name for step in session.passes.record.steps}
        for kind in decided
    ), decided - set(KINDS)


def test_every_code_has_a_sentence_an_example_and_a_remedy() -> None:
    for table in (*[row.reasons for row in KINDS.values()], OF_ANY_KIND, answer_reasons.COSTS):
        for code, row in table.items():
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code) and "unknown-reason" not in code
            assert 10 < len(row.sentence) < 160 and not row.sentence.endswith("."), code
            assert len(row.example) > 5 and len(row.remedy) > 5, code


def test_kinds_say_what_they_ask_and_what_a_yes_says() -> None:
    for kind, row in KINDS.items():
        assert row.question.endswith("?"), kind
        names = ("a", "b") if row.accepted_pair else ("a",)
        assert "%a" in accepted_sentence(kind, names, {})
    assert (
        FUSION_KINDS[0] == "fusion"
        and len(FUSION_KINDS) == 6
        and "launch" in KINDS_OF_CODE
        and "fusion" not in KINDS_OF_CODE
    )
    assert reasons_of("add-zero") is KINDS["rule"].reasons


def test_each_directive_of_a_schedule_has_a_kind_of_decision() -> None:
    assert {f"loop-{name}" for name in DIRECTIVES} == LOOP_KINDS


def test_an_answer_quotes_the_registry() -> None:
    session = xe.compile(MANY, threads=1)
    for kind, *names in (
        ("fusion", "%ch", "%neg"),
        ("stream-assignment", "%y"),
        ("fusion", "%q", "%c"),
        ("add-zero", "%y"),
    ):
        answer = session.why_not(kind, *names)
        assert answer.refused and answer.meaning is meaning_of(kind, answer.code) is not None, (
            answer
        )
        assert f"in general: {answer.meaning.sentence}" in str(
            answer
        ) and f"remedy: {answer.meaning.remedy}" in str(answer)
        place, section = str(answer).split("all codes: ")[1].split()[0].split("#")
        assert reason_page.PAGE.as_posix().endswith(place), place
        rows = (
            reason_page.page()
            .split(f"## {section.replace('any-decision', 'any decision')}\n")[1]
            .split("\n## ")[0]
        )
        assert f"| `{answer.code}` |" in rows, (section, answer.code)


def test_the_page_is_up_to_date() -> None:
    assert reason_page.PAGE.read_text() == reason_page.page(), (
        "run tests/compiler/decisions/reason_page.py"
    )
