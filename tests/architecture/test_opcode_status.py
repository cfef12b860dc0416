"""The status page of the opcodes says what stands."""

from __future__ import annotations

import re

from tests.architecture import opcode_status
from xla_explorer.hlo.opcodes import OPCODES


def test_the_page_is_up_to_date() -> None:
    assert opcode_status.PAGE.read_text() == opcode_status.page(), (
        "run: python tests/architecture/opcode_status.py"
    )


def test_the_page_has_every_opcode_and_no_hole() -> None:
    page = opcode_status.page()
    assert all(f"| `{name}` |" in page for name in OPCODES)
    assert "**hole**" not in page
    assert "Undeclared holes: 0." in page


def test_what_is_recorded_exists() -> None:
    """Each test that is recorded as evaluating an opcode exists, and every opcode has one."""
    evaluated = opcode_status.proofs()["evaluator"]
    assert set(evaluated) == set(OPCODES)
    folder = opcode_status.ROOT / "tests" / "hlo" / "evaluator"
    functions = {
        f"{path.name}::{name}"
        for path in folder.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    assert {test for tests in evaluated.values() for test in tests} <= functions
