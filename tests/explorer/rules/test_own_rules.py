"""Rules of a user: `try_rule`, `applicable`, and the place of an error in a build function."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.plugin import Exactness, any_, operator

TEXT = "ENTRY e { x = f32[4] parameter(0)  n = f32[4] negate(x)  ROOT r = f32[4] negate(n) }"
EXAMPLE: dict[str, Any] = {
    "exactness": Exactness.BITWISE,
    "before": "x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT r = f32[4] negate(n)", "after": "ROOT x = f32[4] parameter(0)",
}  # fmt: skip
NEGATE = operator("negate")


def test_applicable_knows_a_rule_of_the_users_as_long_as_there_is_one() -> None:
    @xe.rule(NEGATE(NEGATE(any_("x"))), **EXAMPLE)
    def my_negate_twice(x: Any) -> Any:
        """--x is x, said by me."""
        return x

    passes = xe.compile(TEXT, "interpreter", passes="none").passes
    (match,) = passes.try_rule(my_negate_twice).of("rewrites")
    found = {rule.rule: rule for rule in passes.applicable(match.instruction, 0).rules}
    assert (
        found["my-negate-twice"].reason is None
        and found["my-negate-twice"].sentence == "--x is x, said by me."
    )
    del my_negate_twice, found, match
    gc.collect()
    assert "my-negate-twice" not in {rule.rule for rule in passes.applicable("%r", 0).rules}


def test_a_failing_build_function_names_its_line() -> None:
    with pytest.raises(xe.XlaExplorerError, match="ZeroDivisionError") as refused:

        @xe.rule(NEGATE(NEGATE(any_("x"))), **EXAMPLE)
        def divides(x: Any) -> Any:
            """--x is x."""
            return 1 // 0

    assert "test_own_rules.py:" in (refused.value.hint or "") and "1 // 0" in (
        refused.value.hint or ""
    )
