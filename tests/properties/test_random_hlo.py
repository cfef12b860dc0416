"""Modules of every opcode: built, verified, printed, read back, evaluated to equal values.

No passes and no native code here; those have `test_random_modules.py`.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_explorer as xe
from tests.properties.module_checks import check_text, evaluate_leaves
from tests.properties.random_modules import ModuleWriter, RandomModule
from tests.properties.random_rare import RARE
from tests.support.drawn import DRAWN
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.verifier import verify

# A custom call needs a registered target, a transfer needs a host. Both have their own tests.
NOT_WRITTEN = {"custom-call", "infeed", "recv", "recv-done"}


def check_hlo(case: RandomModule) -> None:
    verify(case.module)
    check_text(case)
    clone = case.module.clone()
    verify(clone)
    first = evaluate_leaves(case.module, case.arguments)
    again = evaluate_leaves(xe.parse_hlo(case.module.to_text()), case.arguments)
    for shape, one, two in zip(
        [leaf for _, leaf in case.module.result_shape().leaves()], first, again, strict=True
    ):
        assert one.dtype == shape.element_type.dtype and one.shape == shape.dimensions
        assert one.tobytes() == two.tobytes()


def rare_module(seed: int, size: int = 20) -> RandomModule:
    choice = random.Random(seed)
    return ModuleWriter(choice, size, extremes=choice.random() < 0.2, rare=RARE).write()


@pytest.mark.long
@settings(DRAWN, max_examples=80)
@given(st.randoms(use_true_random=False), st.booleans())
def test_text_verifier_and_evaluator_agree_on_any_module(
    choice: random.Random, extremes: bool
) -> None:
    check_hlo(ModuleWriter(choice, 10, extremes=extremes, rare=RARE).write())


@pytest.mark.long
def test_the_modules_hold_every_opcode() -> None:
    missing = set(OPCODES)
    for seed in range(600):
        missing -= {i.opcode.name for i in rare_module(seed).module.instructions()}
        if missing <= NOT_WRITTEN:
            break
    assert missing == NOT_WRITTEN


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(0, 4000, 500))
def test_many_modules(first: int) -> None:
    problems = []
    for seed in range(first, first + 500):
        try:
            check_hlo(rare_module(seed))
        except Exception as problem:  # collected with its seed
            problems.append(f"seed {seed}: {type(problem).__name__}: {str(problem)[:300]}")
    assert not problems, "\n".join(problems[:20])
