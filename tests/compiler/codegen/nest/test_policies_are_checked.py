"""Directives of policies are checked like a user's: an illegal one is refused and never runs."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.nest.test_directives import plain
from xla_explorer.compiler.codegen import nest_kernels
from xla_explorer.compiler.codegen.nest.directives import (
    Directive,
    DirectiveRefusedError,
    Parallel,
    Reorder,
    Split,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.plan import Plan
from xla_explorer.compiler.codegen.nest.tuning import Tuning

ROWS = """HloModule rows

ENTRY e {
  x = f32[24,10] parameter(0)
  y = f32[24,10] negate(x)
  ROOT r = f32[24,10] tanh(y)
}
"""


@pytest.mark.parametrize(("directive", "code"), [
    (Vectorize("j"), "not-a-vector"), (Split("q", 4), "no-such-axis"), (Reorder("j", "i"), "not-perfectly-nested"),
    (Parallel("j", 2), "not-outermost"),
])  # fmt: skip
def test_a_plan_refuses_what_is_not_legal(directive: Directive, code: str) -> None:
    nest, _, _ = plain("rows")
    plan = Plan(nest, Tuning())
    with pytest.raises(DirectiveRefusedError) as found:
        plan.do(directive)
    assert found.value.reason.code == code
    assert plan.nest is nest and not plan.directives


def test_a_kernel_whose_policy_is_wrong_keeps_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def wrong(nest, tuning, tasks=1, by_rows=False):
        plan = Plan(nest, tuning)
        done.append(nest.name)
        plan.do(Vectorize(next(iter(nest.axes()))))
        return plan.schedule()

    monkeypatch.setattr(nest_kernels, "elementwise_policy", wrong)
    x = np.linspace(-3, 3, 240, dtype=np.float32).reshape(24, 10)
    np.testing.assert_allclose(
        xe.compile(ROWS, backend="cpu", cache=False)(x), np.tanh(-x), rtol=1e-6
    )
    assert done
