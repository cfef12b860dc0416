"""Checks of the fusion policies: pure functions of a candidate, named by the condition that holds.

Each has its place in the source, and a measured value if it holds.
"""

from __future__ import annotations

import pathlib
import re

import pytest

import xla_explorer
from xla_explorer.compiler.decisions.kinds import KINDS
from xla_explorer.compiler.pipeline import HloPass, PassContext, make_pass
from xla_explorer.compiler.pipeline.explaining import Explains
from xla_explorer.compiler.transforms.fusion import (
    dot_epilogue_fusion,
    horizontal_policy,
    multi_output_fusion,
    normalization_fusion,
    policy,
    priority_policy,
    xla_policy,
)
from xla_explorer.compiler.transforms.library_calls import library_rewriter, product_epilogue_fusion
from xla_explorer.compiler.transforms.scheduling import latency_hiding_scheduler, stream_assignment
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.reason import Check, Predicate
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.text import parse_hlo

POLICIES = {
    "time": (*policy.LEGALITY, *policy.PROFITABILITY),
    "priority": (*priority_policy.LEGALITY, *priority_policy.PROFITABILITY),
    "xla": (*xla_policy.LEGALITY, *xla_policy.PROFITABILITY),
    "multi-output": (*multi_output_fusion.LEGALITY, *multi_output_fusion.PROFITABILITY),
    "normalization": (*normalization_fusion.LEGALITY, *normalization_fusion.PROFITABILITY),
    "horizontal-loop": (*horizontal_policy.OF_LOOPS, *horizontal_policy.PROFITABILITY),
    "horizontal-input": (*horizontal_policy.OF_REDUCES, *horizontal_policy.PROFITABILITY),
    "dot-epilogue": (*dot_epilogue_fusion.LEGALITY, *dot_epilogue_fusion.PROFITABILITY),
    "product-epilogue": (*product_epilogue_fusion.LEGALITY, *product_epilogue_fusion.PROFITABILITY),
    "library-call": (*library_rewriter.LEGALITY, *library_rewriter.PROFITABILITY),
    "latency-hiding": (latency_hiding_scheduler.work_overlaps,),
    "stream-assignment": (*stream_assignment.LEGALITY, *stream_assignment.PROFITABILITY),
}
PASSES = {
    "time": ("fusion", {}),
    "xla": ("fusion", {"policy": "xla"}),
    "priority": ("priority-fusion", {}),
}
TWO_READERS = """HloModule m
ENTRY e {
  x = f32[64,64] parameter(0)
  a = f32[64,64] exponential(x)
  b = f32[64,64] negate(a)
  c = f32[64,64] add(a, x)
  k = f32[64,64] cholesky(c), lower=true
  ROOT t = (f32[64,64], f32[64,64]) tuple(b, k)
}"""


def asked(fusing: HloPass, producer: HloInstruction, consumer: HloInstruction) -> Decision:
    assert isinstance(fusing, Explains)
    found = fusing.evaluate("fusion", (producer, consumer), PassContext())
    assert found is not None
    return found


def name_of(predicate: Predicate) -> str:
    return predicate.__name__.replace("_", "-")


@pytest.mark.parametrize("name", POLICIES)
def test_checks_are_named_by_what_must_hold(name: str) -> None:
    names = [name_of(predicate) for predicate in POLICIES[name]]
    assert len(set(names)) == len(names)
    codes = {code for row in KINDS.values() for code in row.reasons}
    assert not set(names) & codes, "a check has the name of a refusal"
    assert not [n for n in names if re.search(r"(^|-)(not|too|would|cannot|differs?)(-|$)", n)]


@pytest.mark.parametrize("name", POLICIES)
def test_checks_are_functions_of_one_candidate(name: str) -> None:
    for predicate in POLICIES[name]:
        code = predicate.__code__
        assert (
            code.co_argcount == 1 and not code.co_freevars and not hasattr(predicate, "__self__")
        ), predicate


@pytest.mark.parametrize("name", PASSES)
def test_every_check_says_where_it_is_written_and_what_it_measured(name: str) -> None:
    made, options = PASSES[name]
    module = parse_hlo(TWO_READERS)
    decision = asked(make_pass(made, **options), module.find("a"), module.find("b"))
    found: tuple[Check, ...] = decision.checklist
    assert decision.verdict == ("accepted" if all(check.ok for check in found) else "refused")
    assert [check.name for check in found] == [name_of(predicate) for predicate in POLICIES[name]]
    package = pathlib.Path(xla_explorer.__file__).parent
    for check in found:
        file, line = check.place.rsplit(":", 1)
        (path,) = package.glob(f"**/{file}")
        # The place is that of the function's first decorator.
        lines = path.read_text().splitlines()[int(line) - 1 :]
        first = next(text for text in lines if text.startswith("def "))
        assert first.startswith(f"def {check.name.replace('-', '_')}("), check
    assert all(check.value for check in found), "a check tells no measured value"


@pytest.mark.parametrize("name", PASSES)
def test_asking_twice_gives_the_same_and_changes_nothing(name: str) -> None:
    made, options = PASSES[name]
    module = parse_hlo(TWO_READERS)
    before, fusing = module.to_text(), make_pass(made, **options)
    for producer, consumer in (("a", "b"), ("a", "c"), ("c", "k"), ("x", "a")):
        pair = module.find(producer), module.find(consumer)
        assert asked(fusing, *pair) == asked(fusing, *pair)
    assert module.to_text() == before
