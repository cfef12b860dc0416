"""The lists of reason codes are closed: what the sources refuse with is documented, and what is documented is used."""

from __future__ import annotations

import ast
import pathlib

import pytest

import xla_explorer.compiler.transforms.fusion as fusion
import xla_explorer.compiler.transforms.scheduling as scheduling
from tests.compiler.transforms.fusion import reason_page
from xla_explorer.compiler.transforms.fusion import (
    EPILOGUE_REASONS,
    FUSION_REASONS,
    HORIZONTAL_REASONS,
    MULTI_OUTPUT_REASONS,
    REASONS_BY_KIND,
)
from xla_explorer.compiler.transforms.fusion.reasons import ROW_REASONS, WRAPPER_REASONS
from xla_explorer.compiler.transforms.fusion.xla_policy import XLA_FUSION_REASONS
from xla_explorer.compiler.transforms.scheduling import LATENCY_HIDING_REASONS, STREAM_REASONS

FUSION = pathlib.Path(fusion.__file__).parent
SCHEDULING = pathlib.Path(scheduling.__file__).parent
WISHES = {"forbidden-by-user"}
SOURCES = {  # files of one policy -> the codes that it may use
    (FUSION / "policy.py", FUSION / "priority_fusion.py", FUSION / "priority_policy.py"): FUSION_REASONS,
    (FUSION / "xla_policy.py", FUSION / "xla_planning.py"): XLA_FUSION_REASONS,
    (FUSION / "fusion_wrapper.py",): WRAPPER_REASONS,
    (FUSION / "multi_output_fusion.py", FUSION / "contracted_order.py"): MULTI_OUTPUT_REASONS,
    (FUSION / "horizontal_fusion.py", FUSION / "contracted_order.py"): HORIZONTAL_REASONS,
    (FUSION / "row_fusion.py",): ROW_REASONS,
    (FUSION / "dot_epilogue_fusion.py", FUSION.parent / "library_calls" / "product_epilogue_fusion.py"): EPILOGUE_REASONS,
    (SCHEDULING / "latency_hiding_scheduler.py",): LATENCY_HIDING_REASONS,
    (SCHEDULING / "stream_assignment.py",): STREAM_REASONS,
}


def codes_in(path: pathlib.Path) -> set[str]:
    """Codes of the calls of `refuse`; one that is no literal is an error."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("refuse", "Reason"):
            assert isinstance(node.args[0], ast.Constant), f"{path.name}:{node.lineno}: a code must be a literal"
            found.add(str(node.args[0].value))
    return found


@pytest.mark.parametrize("files", SOURCES, ids=lambda files: files[0].stem)
def test_every_code_is_documented_and_every_documented_code_is_used(files: tuple[pathlib.Path, ...]) -> None:
    used = set.union(*[codes_in(path) for path in files])
    assert used | WISHES >= set(SOURCES[files]), "documented, never used"
    assert used <= set(SOURCES[files]), "used, not documented"


def test_no_file_that_refuses_is_left_out() -> None:
    known = {path for files in SOURCES for path in files} | {FUSION / "wishes.py"}
    others = [path for folder in (FUSION, SCHEDULING) for path in folder.glob("*.py") if path not in known]
    assert not [path.name for path in others if codes_in(path)]


def test_codes_are_kebab_case_and_sentences_are_short() -> None:
    for table in REASONS_BY_KIND.values():
        for code, text in table.items():
            assert code == code.lower() and " " not in code and "unknown" not in code
            assert 15 < len(text) < 140 and not text.endswith(".")


def test_the_page_is_up_to_date() -> None:
    assert reason_page.PAGE.read_text() == reason_page.page(), "run tests/compiler/transforms/fusion/reason_page.py"
