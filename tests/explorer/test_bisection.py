"""Planted wrong rewrites are found to the rule: algebra, operand order, users, fusion, layout."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline import PassContext, PassPipeline, ValuesDifferError, make_pass
from xla_explorer.compiler.rewriting import Exactness, RuleSet, any_, rewrite_computation, rule
from xla_explorer.compiler.rewriting.operators import divide, multiply, negate, subtract
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule

TEXT = """HloModule m
ENTRY e {
  x = f32[3,4] parameter(0)
  y = f32[3,4] parameter(1)
  two = f32[] constant(2)
  three = f32[] constant(3)
  six = f32[] multiply(two, three)
  nx = f32[3,4] negate(x)
  nnx = f32[3,4] negate(nx)
  p = f32[3,4] subtract(nnx, y)
  q = f32[3,4] divide(p, y)
  s = f32[3,4] broadcast(six), dimensions={}
  t = f32[3,4] multiply(q, s)
  u = f32[3,4] add(t, p)
  ROOT r = f32[3,4] add(u, q)
}
"""
GENERATOR = np.random.default_rng(7)
X, Y = (GENERATOR.uniform(1, 2, (3, 4)).astype(np.float32) for _ in range(2))

_EXAMPLE = "ENTRY e { ROOT x = f32[2] parameter(0) }"


@rule(negate(negate(any_("x"))), exactness=Exactness.NUMERIC, before=_EXAMPLE, after=_EXAMPLE)
def right_negate_twice(computation: HloComputation, x: HloInstruction) -> HloInstruction:
    """-(-x) is x: correct, and in the way of whoever looks for the wrong one."""
    return x


@rule(multiply(any_("x"), any_("y")), exactness=Exactness.NUMERIC, before=_EXAMPLE, after=_EXAMPLE)
def wrong_algebra(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction | None:
    """X * y becomes x + y."""
    return computation.add("add", instruction.shape, (x, y)) if instruction.shape.rank else None


@rule(divide(any_("x"), any_("y")), exactness=Exactness.NUMERIC, before=_EXAMPLE, after=_EXAMPLE)
def wrong_operand_order(
    computation: HloComputation, x: HloInstruction, y: HloInstruction
) -> HloInstruction | None:
    """X / y becomes y / x."""
    if y.opcode.name != "parameter":
        return None
    return computation.add("divide", x.shape, (y, x))


@rule(subtract(any_("x"), any_("y")), exactness=Exactness.NUMERIC, before=_EXAMPLE, after=_EXAMPLE)
def right_subtract(
    computation: HloComputation, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """X - y is x + -y."""
    return computation.add("add", x.shape, (x, computation.add("negate", y.shape, (y,))))


def _rules(name: str, *chosen: Rule) -> type:
    rules = RuleSet(name, (right_negate_twice, *chosen, right_subtract))

    @dataclasses.dataclass(frozen=True)
    class Rewriting:
        def run(self, module: HloModule, context: PassContext) -> bool:
            return rewrite_computation(module.entry, rules, context, revisit=False) > 0

    Rewriting.name = name  # type: ignore[attr-defined]
    return Rewriting


@dataclasses.dataclass(frozen=True)
class DropsUser:
    """A faulty pass that takes two different instructions for equal, without a check."""

    name: ClassVar[str] = "drops-a-user"

    def run(self, module: HloModule, context: PassContext) -> bool:
        negated = module.find("nnx")
        module.entry.replace(negated, negated.operands[0].operands[0])  # right: -(-x) is x
        divided = module.find("q")
        module.entry.replace(divided, divided.operands[0])
        return True


@dataclasses.dataclass(frozen=True)
class FoldsWrongly:
    """2 * 3 is 5."""

    name: ClassVar[str] = "folds-wrongly"

    def run(self, module: HloModule, context: PassContext) -> bool:
        six = module.find("six")
        if context.decide("folding", (), (), six) is not None or not context.may_rewrite(
            "fold-product"
        ):
            return False
        made = module.entry.add_constant(literal_from_array(np.float32(5), six.shape))
        module.entry.replace(six, made)
        context.rewrote("fold-product", six, made, (made.id,))
        return True


@dataclasses.dataclass(frozen=True)
class FusesWrongly:
    """Make two fusions of one instruction each; the second has its operands swapped."""

    name: ClassVar[str] = "fuses-wrongly"

    def run(self, module: HloModule, context: PassContext) -> bool:
        changed = False
        for name in ("u", "p"):
            i = module.find(name)
            if context.decide("planted-fusion", (), (), i.operands[0], i) is not None:
                continue
            body = module.add_computation(f"fused_{name}")
            body.set_root(
                body.add(
                    i.opcode,
                    i.shape,
                    [body.add_parameter(k, o.shape) for k, o in enumerate(i.operands)],
                )
            )
            operands = i.operands[::-1] if name == "p" else i.operands
            kind = module.entry.add(
                "fusion", i.shape, operands, called=(body,)
            ).attributes.with_values(kind="kLoop")
            fusion = list(module.entry.instructions.values())[-1]
            module.entry.set_attributes(fusion, kind)
            module.entry.replace(i, fusion)
            module.entry.remove(i)
            # Callees stand before their callers.
            module.computations = {
                body.name: body,
                **{n: c for n, c in module.computations.items() if c is not body},
            }
            changed = True
        return changed


@dataclasses.dataclass(frozen=True)
class LaysOutWrongly:
    """Reads an array as if it were transposed: a reshape where a transpose belongs."""

    name: ClassVar[str] = "lays-out-wrongly"

    def run(self, module: HloModule, context: PassContext) -> bool:
        i = module.find("t")
        if context.decide("planted-layout", (), (), i) is not None:
            return False
        turned = module.entry.add(
            "transpose", None, (i.operands[0],), i.attributes.with_values(dimensions=(1, 0))
        )
        module.entry.replace_operand(i, 0, module.entry.add("reshape", i.shape, (turned,)))
        return True


def _pipeline(planted: object) -> PassPipeline:
    return PassPipeline("planted", (make_pass("dce"), planted, make_pass("cse"), make_pass("dce")))  # type: ignore[arg-type]


PLANTED = [
    (_rules("algebra", wrong_algebra)(), "wrong-algebra", "t"),
    (_rules("order", wrong_operand_order)(), "wrong-operand-order", "q"),
    (DropsUser(), "drops-a-user", "q"),
    (FoldsWrongly(), "fold-product", "six"),
    (FusesWrongly(), "planted-fusion", "p"),
    (LaysOutWrongly(), "planted-layout", "t"),
]


@pytest.mark.parametrize(
    ("planted", "guilty", "subject"), PLANTED, ids=[guilty for _, guilty, _ in PLANTED]
)
def test_a_planted_error_is_found_to_the_rule(planted: object, guilty: str, subject: str) -> None:
    session = xe.compile(TEXT, backend="interpreter", passes=_pipeline(planted))
    result = session.bisect(X, Y)
    assert result and result.pass_name == planted.name, str(result)  # type: ignore[attr-defined]
    assert result.rule == guilty and result.event is not None and subject in result.event.names, (
        str(result)
    )


@dataclasses.dataclass(frozen=True)
class Repairs:
    """Undoes what `DropsUser` broke, with another error's value in between."""

    name: ClassVar[str] = "repairs"

    def run(self, module: HloModule, context: PassContext) -> bool:
        computation = module.entry
        right = xe.parse_hlo(TEXT)
        made = {}
        for i in right.entry.post_order():
            if i.opcode.name == "parameter":
                made[i] = computation.parameters()[i.parameter_number]
            else:
                made[i] = computation.add(
                    i.opcode,
                    i.shape,
                    [made[o] for o in i.operands],
                    i.attributes,
                    payload=i.payload,
                )
        computation.set_root(made[right.entry.root])
        return True


def test_a_later_pass_that_repairs_the_value_hides_nothing() -> None:
    pipeline = PassPipeline(
        "planted", (make_pass("cse"), DropsUser(), make_pass("dce"), Repairs(), make_pass("dce"))
    )
    session = xe.compile(TEXT, backend="interpreter", passes=pipeline)
    np.testing.assert_allclose(session(X, Y), xe.evaluate(session.source, X, Y), rtol=1e-6)
    result = session.bisect(X, Y)
    assert (
        result.pass_name == "drops-a-user"
        and result.event is not None
        and "q" in result.event.names
    ), str(result)


def test_values_are_checked_after_every_pass_on_request() -> None:
    assert xe.compile(TEXT, backend="interpreter", check_values=(X, Y)).error is None
    with pytest.raises(xe.errors.CompileFailedError) as caught:
        xe.compile(TEXT, backend="interpreter", passes=_pipeline(FoldsWrongly()), check_values=True)
    with pytest.raises(xe.errors.InvalidOptionError, match="True or the arguments, got int"):
        xe.compile(TEXT, backend="interpreter", check_values=3)
    problem = caught.value.session.error
    assert (
        isinstance(problem, ValuesDifferError)
        and problem.pass_name == "folds-wrongly"
        and problem.error > 0.01
    )
    assert [s.name for s in caught.value.session.passes.record.steps][-1] == "folds-wrongly"


def test_a_pass_that_leaves_what_cannot_be_evaluated_is_found() -> None:
    @dataclasses.dataclass(frozen=True)
    class Unshapes:
        name: ClassVar[str] = "unshapes"

        def run(self, module: HloModule, context: PassContext) -> bool:
            i = module.find("s")
            return module.entry.set_shape(i, i.shape.with_dimensions((4, 3))) is None

    result = xe.compile(
        TEXT, backend="interpreter", passes=PassPipeline("p", (Unshapes(),)), keep_errors=True
    ).bisect(X, Y)
    assert result.pass_name == "unshapes" and result.error == float("inf") and result.problem


def test_bisect_without_snapshots_says_so() -> None:
    with pytest.raises(xe.XlaExplorerError, match="no snapshots"):
        xe.compile(TEXT, backend="interpreter", journal="off").bisect(X, Y)


def test_the_error_after_each_pass_and_each_rewrite() -> None:
    session = xe.compile(
        TEXT, backend="interpreter", passes=_pipeline(_rules("algebra", wrong_algebra)())
    )
    result = session.bisect(X, Y)
    frame = session.passes.errors(X, Y, rewrites=True)
    passes = frame[frame["rewrite"].isna()]
    assert passes["step"].tolist() == [p.number for p in session.passes if p.changed and p.number]
    first = passes[~passes["agrees"].astype(bool)].iloc[0]
    assert first["step"] == result.step and first["error"] == pytest.approx(result.error)
    wrong = frame[frame["rewrite"].notna() & ~frame["agrees"].astype(bool)].iloc[0]
    assert wrong["rewrite"] == result.rewrite and wrong["by"].startswith("wrong-algebra on %t")
    before = frame[(frame["step"] == result.step) & (frame["rewrite"] < result.rewrite)]
    assert (
        len(before) == result.rewrite - 1
        and before["agrees"].all()
        and (before["error"] < 1e-5).all()
    )
    assert len(session.passes.errors(X, Y)) == len(passes)
