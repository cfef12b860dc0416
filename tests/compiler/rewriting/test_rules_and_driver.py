"""Rules as data, the worklist driver, its journal entries, and its limits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.rewriting import (
    Exactness,
    RuleSet,
    any_,
    applicable,
    rewrite_computation,
    rule,
    scalar,
)
from xla_explorer.compiler.rewriting.guards import integral
from xla_explorer.compiler.rewriting.operators import add, negate, subtract
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.text import parse_hlo


@rule(add(any_("x"), scalar(0)), exactness=Exactness.NUMERIC, before="", after="")
def add_nothing(x: HloInstruction) -> HloInstruction:
    """`x + 0` becomes x."""
    return x


@rule(negate(negate(any_("x"))), exactness=Exactness.BITWISE, before="", after="")
def negate_twice(x: HloInstruction) -> HloInstruction:
    """Two signs cancel."""
    return x


@rule(
    subtract(any_("x"), any_("x")),
    exactness=Exactness.BITWISE,
    when=(integral,),
    before="",
    after="",
)
def nothing_left(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """X - x becomes x xor x."""
    return computation.add("xor", instruction.shape, instruction.operands)


RULES = RuleSet("test", [add_nothing, negate_twice, nothing_left])
TEXT = """ENTRY e {
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  b = f32[4] broadcast(z), dimensions={}
  n = f32[4] negate(x)
  a = f32[4] add(n, b), metadata={op_name="here"}
  m = f32[4] negate(a)
  ROOT s = f32[4] subtract(m, m)
}
"""


def test_a_rule_is_data() -> None:
    assert RULES["add-nothing"].summary == "`x + 0` becomes x."
    assert [r.name for r in RULES] == ["add-nothing", "negate-twice", "nothing-left"]
    assert "def match" in add_nothing.source


def test_one_rewrite_opens_the_next_and_the_dead_go() -> None:
    module = parse_hlo(TEXT)
    assert rewrite_computation(module.entry, RULES, PassContext()) == 2
    assert [i.name for i in module.entry.post_order()] == ["x", "s"]


def test_refused_guards_are_recorded_failed_patterns_not() -> None:
    module, journal = parse_hlo(TEXT), Journal("decisions")
    rewrite_computation(module.entry, RULES, PassContext(journal))
    assert [(e.verdict, e.by) for e in journal.events] == [
        ("accepted", "add-nothing"),
        ("accepted", "negate-twice"),
        ("refused", "nothing-left"),
    ]
    assert journal.events[2].reason is not None and journal.events[2].reason.code == "not-integral"


def test_applicable_gives_every_rule_that_fits_with_its_reason() -> None:
    module = parse_hlo(TEXT)
    [(found, reason)] = applicable(RULES, module.find("s"))
    assert found.name == "nothing-left" and reason is not None
    assert applicable(RULES, module.find("a"))[0][1] is None
    assert applicable(RULES, module.find("x")) == []


def test_the_user_skips_rules_and_stops_after_a_number_of_rewrites() -> None:
    module = parse_hlo(TEXT)
    assert (
        rewrite_computation(
            module.entry, RULES, PassContext(None, PassControl(skipped_rules=["add-nothing"]))
        )
        == 0
    )
    assert (
        rewrite_computation(module.entry, RULES, PassContext(None, PassControl(rewrite_limit=1)))
        == 1
    )


def test_new_instructions_inherit_metadata() -> None:
    @rule(add(any_("x"), any_("y")), exactness=Exactness.NUMERIC, before="", after="")
    def swapped(
        computation: HloComputation,
        instruction: HloInstruction,
        x: HloInstruction,
        y: HloInstruction,
    ) -> HloInstruction:
        """X + y becomes x - (-y)."""
        return computation.add(
            "subtract", instruction.shape, (x, computation.add("negate", y.shape, (y,)))
        )

    module = parse_hlo(TEXT)
    rewrite_computation(module.entry, RuleSet("one", [swapped]), PassContext())
    made = [i for i in module.instructions() if i.opcode.name == "subtract" and i.metadata]
    assert made[0].op_metadata.op_name == "here"


def test_another_shape_and_control_edges_are_refused() -> None:
    @rule(negate(any_("x")), exactness=Exactness.BITWISE, before="", after="")
    def other_shape(computation: HloComputation, x: HloInstruction) -> HloInstruction:
        """Return a shape that does not fit."""
        return computation.add("reshape", x.shape.with_dimensions((2, 2)), (x,))

    module, journal = parse_hlo(TEXT), Journal("decisions")
    before = module.instruction_count()
    assert (
        rewrite_computation(module.entry, RuleSet("one", [other_shape]), PassContext(journal)) == 0
    )
    assert {e.reason.code for e in journal.events if e.reason} == {"shape-differs"}
    assert module.instruction_count() == before
    module.entry.set_control_predecessors(module.find("a"), [module.find("x")])
    rewrite_computation(module.entry, RULES, PassContext(journal))
    assert journal.events[-2].reason is not None or journal.events[-1].reason is not None
    assert module.find("a").opcode.name == "add"


def test_a_build_may_refuse_with_a_reason() -> None:
    @rule(negate(any_("x")), exactness=Exactness.BITWISE, before="", after="")
    def never(x: HloInstruction) -> Reason:
        """Never fits after all."""
        return refuse("not-today", "not today")

    journal = Journal("decisions")
    assert (
        rewrite_computation(parse_hlo(TEXT).entry, RuleSet("one", [never]), PassContext(journal))
        == 0
    )
    assert journal.events[0].reason is not None and journal.events[0].reason.code == "not-today"


def test_rules_that_chase_each_other_are_stopped() -> None:
    @rule(negate(any_("x")), exactness=Exactness.BITWISE, before="", after="")
    def again(computation: HloComputation, x: HloInstruction) -> HloInstruction:
        """Make the same again."""
        return computation.add("negate", x.shape, (x,))

    journal = Journal("decisions")
    rewrite_computation(parse_hlo(TEXT).entry, RuleSet("one", [again]), PassContext(journal))
    assert (
        journal.events[-1].reason is not None and journal.events[-1].reason.code == "rewrite-limit"
    )


def test_a_build_that_asks_for_an_unknown_capture_fails_at_declaration() -> None:
    with pytest.raises(
        TypeError,
        match="the parameter 'y', which must be one of instruction, x, computation: the pattern captures x",
    ):

        @rule(negate(any_("x")), exactness=Exactness.BITWISE, before="", after="")
        def wrong(y: HloInstruction) -> HloInstruction:
            """Asks for what is not there."""
            return y


def test_exactness_tells_what_it_claims() -> None:
    zero, minus = np.float32([0.0, np.nan]), np.float32([-0.0, np.nan])
    assert Exactness.NUMERIC.difference(zero, minus) is None
    assert Exactness.BITWISE.difference(zero, minus) is not None
    near = np.nextafter(np.float32([1.0]), np.float32(2))
    assert Exactness.approximate(1).difference(np.float32([1.0]), near) is None
    assert Exactness.NUMERIC.difference(np.float32([1.0]), near) is not None


INF, NAN, LARGEST = np.float32(np.inf), np.float32(np.nan), np.finfo(np.float32).max


@pytest.mark.parametrize(
    ("was", "became", "real", "fast"),
    [
        (1, INF, False, True),
        (INF, 1, False, True),
        (-INF, INF, False, True),
        (1, NAN, False, True),
        (INF, NAN, False, True),
        (NAN, 1, True, True),
        (NAN, INF, True, True),
        (LARGEST, INF, True, True),
        (-INF, -LARGEST, True, True),
        (-LARGEST, INF, False, True),
        (LARGEST / 2, INF, False, True),
        (1, 1 + 1e-6, True, True),
        (1, 1.01, False, False),
        (1, -1, False, False),
    ],
)
def test_a_claim_over_the_reals_keeps_what_is_a_number(
    was: float, became: float, real: bool, fast: bool
) -> None:
    expected, actual = np.float32([was]), np.float32([became])
    assert (Exactness.REAL.difference(expected, actual) is None) is real
    assert (Exactness.FAST.difference(expected, actual) is None) is fast


def test_an_overflow_is_nan_where_a_type_has_no_infinity() -> None:
    largest, nan = (
        np.asarray([448, -448, 2], ml_dtypes.float8_e4m3fn),
        np.asarray([np.nan] * 3, ml_dtypes.float8_e4m3fn),
    )
    assert [
        Exactness.approximate(2).difference(a, b) is None for a, b in zip(largest, nan, strict=True)
    ] == [True, True, False]
