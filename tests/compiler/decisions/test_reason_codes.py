"""One registry of reason codes: what the sources refuse with is in it, what is in it is used, and what a compile records is of its kind."""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterator
from functools import cache

import pytest

import xla_explorer
import xla_explorer as xe
from tests.compiler.decisions import reason_page
from tests.compiler.decisions.programs import COMPILES, MANY
from xla_explorer.compiler.decisions import answer_reasons, fusion_reasons, gpu_code_reasons, nest_reasons, pass_reasons
from xla_explorer.compiler.decisions.kinds import FUSION_KINDS, KINDS, KINDS_OF_CODE, OF_ANY_KIND, accepted_sentence, meaning_of, reasons_of
from xla_explorer.compiler.decisions.reason_code import ReasonTable

PACKAGE = pathlib.Path(xla_explorer.__file__).parent
RECORDING = (  # where reasons are made that a journal, an answer or a row of overrides may hold
    "compiler", "backends/gpu/emitters", "backends/gpu/gpu_program.py", "backends/llvm/target_machine.py", "backends/interpreter/whole_module.py",
    "explorer/questions", "hlo/analysis/call_graph_size.py", "hlo/analysis/coalescing.py", "hlo/analysis/elided_constants.py",
    "hlo/analysis/indexing",
)  # fmt: skip
ELSEWHERE = {  # reasons of checks, of tables of buffers and of the verifier, which no decision carries
    "compiler/rewriting/exactness.py", "compiler/buffers/checking.py", "compiler/buffers/assignment.py", "compiler/buffers/donation.py",
    "compiler/codegen/nest/verifier.py",
}  # fmt: skip
NOT_RECORDED = {"cpu-feature-missing", "other-machine", "registers-too-narrow"}  # why code does not run on this machine
MADE_OF_PARTS = {  # codes that are computed or passed on where they are refused
    "gone-before-fusion", "gone-before-the-pass", "library-only", "library-faster", "not-cut", "operands-overlap", "read-only-constant",
    "shared-computation", "tiny-kernel", "too-little-work", "worth-threads",
}  # fmt: skip
FUSION, OTHERS = "compiler/transforms/fusion/", "compiler/transforms/"
CLOSED: dict[tuple[str, ...], ReasonTable] = {  # files of one policy -> its codes, no more and no fewer
    (FUSION + "fusion_wrapper.py",): fusion_reasons.WRAPPER,
    (FUSION + "multi_output_fusion.py", FUSION + "contracted_order.py"): fusion_reasons.MULTI_OUTPUT,
    (FUSION + "horizontal_policy.py", FUSION + "contracted_order.py"): fusion_reasons.HORIZONTAL,
    (FUSION + "row_fusion.py",): fusion_reasons.ROW,
    (FUSION + "dot_epilogue_fusion.py", FUSION + "epilogue_policy.py", OTHERS + "library_calls/product_epilogue_fusion.py"): fusion_reasons.EPILOGUE,
    (FUSION + "policy.py", FUSION + "priority_policy.py", FUSION + "xla_policy.py", FUSION + "updating.py"): fusion_reasons.FUSION,
    (OTHERS + "scheduling/latency_hiding_scheduler.py",): pass_reasons.LATENCY_HIDING,
    (OTHERS + "scheduling/stream_assignment.py",): pass_reasons.STREAMS,
    (OTHERS + "contractions/dot_merger.py",): pass_reasons.DOT_MERGER,
    (OTHERS + "simplifiers/transpose_folding.py",): pass_reasons.TRANSPOSE_FOLDING,
    ("compiler/codegen/nest/directives.py",): nest_reasons.DIRECTIVES,
    ("backends/gpu/emitters/constant_memory.py",): gpu_code_reasons.CONSTANT_MEMORY,
}


@cache
def codes_in(path: pathlib.Path) -> frozenset[str]:
    """Codes of the calls that make reasons, where they are literals."""
    made = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.args]
    made = [n for n in made if n.func.id in ("refuse", "Reason", "RefusedLoop")]  # type: ignore[attr-defined]
    return frozenset([str(n.args[0].value) for n in made if isinstance(n.args[0], ast.Constant)])


def sources() -> Iterator[pathlib.Path]:
    for place in RECORDING:
        path = PACKAGE / place
        found = [path] if path.is_file() else sorted(path.rglob("*.py"))
        yield from [one for one in found if one.relative_to(PACKAGE).as_posix() not in ELSEWHERE]


def registered() -> set[str]:
    return {code for table in (*[row.reasons for row in KINDS.values()], OF_ANY_KIND, answer_reasons.COSTS) for code in table}


def test_no_code_outside_of_the_registry_can_be_recorded() -> None:
    missing = {f"{path.relative_to(PACKAGE)}: {code}" for path in sources() for code in codes_in(path) - registered() - NOT_RECORDED}
    assert not missing, "give it a row in compiler/decisions"


def test_no_code_of_the_registry_is_idle() -> None:
    used = {code for path in sources() for code in codes_in(path)}
    assert registered() - used <= MADE_OF_PARTS
    text = "".join([path.read_text() for path in sources() if "decisions" not in path.parts])
    spelled = {code for code in MADE_OF_PARTS if f'"{code}"' in text or (code == "read-only-constant" and 'f"read-only-{' in text)}
    assert spelled == MADE_OF_PARTS


@pytest.mark.parametrize("files", CLOSED, ids=lambda files: pathlib.Path(files[0]).stem)
def test_the_table_of_a_policy_is_closed(files: tuple[str, ...]) -> None:
    used = set().union(*[codes_in(PACKAGE / file) for file in files])
    assert used - set(answer_reasons.USER) == set(CLOSED[files])


@pytest.mark.parametrize("name", COMPILES)
def test_what_a_compile_records_is_registered_for_its_kind(name: str) -> None:
    session = xe.compile(MANY, **COMPILES[name])
    assert session.passes.journal is not None
    reasons = {(e.by, e.reason.code) for e in session.passes.journal.events if e.reason is not None}
    assert reasons and not {(kind, code) for kind, code in reasons if meaning_of(kind, code) is None}
    decided = {e.by for e in session.passes.journal.events if e.is_decision}
    assert all(kind in KINDS or kind in {step.name for step in session.passes.record.steps} for kind in decided), decided - set(KINDS)


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
    assert FUSION_KINDS[0] == "fusion" and len(FUSION_KINDS) == 6 and "launch" in KINDS_OF_CODE and "fusion" not in KINDS_OF_CODE
    assert reasons_of("add-zero") is KINDS["rule"].reasons


def test_an_answer_quotes_the_registry() -> None:
    session = xe.compile(MANY, threads=1)
    for kind, *names in (("fusion", "%ch", "%neg"), ("stream-assignment", "%y"), ("fusion", "%q", "%c"), ("add-zero", "%y")):
        answer = session.why_not(kind, *names)
        assert answer.refused and answer.meaning is meaning_of(kind, answer.code) is not None, answer
        assert f"in general: {answer.meaning.sentence}" in str(answer) and f"remedy: {answer.meaning.remedy}" in str(answer)


def test_the_page_is_up_to_date() -> None:
    assert reason_page.PAGE.read_text() == reason_page.page(), "run tests/compiler/decisions/reason_page.py"
