"""Proofs of rules: wrong rules are refuted with confirmed arguments, true ones proved."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.rewriting.record_proofs import row_of
from tests.compiler.rewriting.test_claim_check import PLANTED, X, Y, wrong_rule
from xla_explorer.compiler.rewriting import Exactness, any_, operator
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.compiler.rewriting.patterns import constant as constant_pattern
from xla_explorer.compiler.rewriting.proofs import solver
from xla_explorer.compiler.rewriting.proofs.prover import BUDGET, prove_rule
from xla_explorer.compiler.rewriting.recorded_claims import recorded_claims
from xla_explorer.compiler.rewriting.recorded_proofs import recorded_proofs
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.foundation.optional import MissingExtraError
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.instruction import HloInstruction

needs_solver = pytest.mark.skipif(
    importlib.util.find_spec("z3") is None,
    reason='the solver is not installed: pip install "xla-explorer[prove]"',
)


@needs_solver
@pytest.mark.parametrize("kind", PLANTED)
def test_a_wrong_rule_is_refuted_or_left_open_but_never_proved(kind: str) -> None:
    found = prove_rule(PLANTED[kind])
    assert found.outcome != "proved", found
    for example in found.counterexamples:
        value = np.asarray(evaluate(example.module, *example.arguments))
        assert value.tobytes() == np.asarray(example.before).tobytes() and example.problem


@needs_solver
def test_most_wrong_rules_are_refuted() -> None:
    refuted = [kind for kind in PLANTED if prove_rule(PLANTED[kind]).outcome == "refuted"]
    assert len(refuted) >= 0.6 * len(PLANTED), sorted(PLANTED.keys() - set(refuted))


@needs_solver
@pytest.mark.parametrize(
    ("name", "among"),
    [
        ("add-zero", "f64"),
        ("abs-of-abs", "f32"),
        ("add-of-constants", "s64"),
        ("negate-negate", "s64"),
        ("remainder-twice", "u8"),
        ("reduce-single-elements", "f32"),
        ("dynamic-slice-index-to-zero", "c128 to s32"),
    ],
)
def test_a_true_rule_is_proved_for_every_value_of_wide_types(name: str, among: str) -> None:
    found = prove_rule(declared_rules()[name], most_shapes=6)
    assert found.outcome != "refuted", found.counterexamples
    assert among in found.types, found


@needs_solver
@pytest.mark.parametrize(
    "name", ["reduce-of-transpose", "multiply-exponentials", "divide-quotients", "sqrt-of-square"]
)
def test_a_claim_of_real_numbers_is_proved_over_them(name: str) -> None:
    found = prove_rule(declared_rules()[name], most_shapes=6)
    assert "f32" in found.real_types and "f32" not in found.types, found


@needs_solver
def test_a_rule_of_a_user_has_a_readable_proof_or_a_counterexample() -> None:
    proof = xe.prove("add-zero")
    assert proof.outcome == "proved" and "every value" in str(proof) and "f64" in str(proof)
    wrong = xe.prove(PLANTED["reversed dimension"])
    assert wrong.outcome == "refuted" and "was to be kept" in str(wrong)
    with pytest.raises(LookupError, match="add-zero"):
        xe.prove("add-zeros")


def test_every_rule_has_a_recorded_proof_of_its_claim_or_the_reason_why_not() -> None:
    rows = recorded_proofs()
    assert {name: str(rule.exactness) for name, rule in declared_rules().items()} == {
        name: row.claim for name, row in rows.items()
    }
    for name, row in rows.items():
        assert row.outcome == "proved" or row.why_unknown, name
    discharged = [
        name
        for name, row in rows.items()
        if row.outcome == "proved" or recorded_claims()[name].tier == "exhaustive"
    ]
    assert len(discharged) >= 200, len(discharged)
    assert "proved" in declared_rules()["add-zero"].tried


@needs_solver
@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", sorted(declared_rules()))
def test_the_table_says_what_the_prover_finds(name: str) -> None:
    found = prove_rule(declared_rules()[name])
    assert not found.counterexamples, found.counterexamples
    recorded = recorded_proofs()[name]
    # What the budget ends depends on the questions that the solver had before.
    if BUDGET not in (*recorded.why_unknown, *found.unknown.values(), *found.unknown_shapes):
        assert row_of(found)[:2] == [recorded.claim, recorded.outcome]


def test_without_the_solver_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    solver.z3.cache_clear()
    try:
        with pytest.raises(MissingExtraError, match="prove"):
            xe.prove("add-zero")
    finally:
        monkeypatch.undo()
        solver.z3.cache_clear()


def _with_a_new_divisor(computation: HloComputation, i: HloInstruction) -> HloInstruction:
    """Return (x * y + s * y) / y for x + s, where s is y or -y."""
    x, y = i.operands
    second = y if i.opcode.name == "add" else computation.add("negate", i.shape, (y,))
    products = [computation.add("multiply", i.shape, (one, y)) for one in (x, second)]
    total = computation.add("add", i.shape, products)
    return computation.add("divide", i.shape, (total, y))


def _planted(opcode: str) -> Rule:
    return wrong_rule(
        operator(opcode)(any_("x"), any_("y")),
        X + Y + f"ROOT r = f32[4] {opcode}(x, y)",
        _with_a_new_divisor,
        Exactness.FAST,
    )


@needs_solver
def test_a_result_must_be_defined_where_the_operand_is() -> None:
    proof = prove_rule(_planted("subtract"), most_shapes=1)
    assert proof.outcome == "unknown" and "defined" in proof.unknown["f32"]


@needs_solver
def test_a_rule_that_rewrites_its_own_result_ends_no_process() -> None:
    proof = prove_rule(_planted("add"), most_shapes=1)
    assert proof.outcome == "unknown" and "too many instructions" in proof.unknown["f32"]


@needs_solver
def test_powers_and_products_of_sums_are_measured_as_the_solver_writes_them_out() -> None:
    z3 = solver.z3()
    x, y = z3.BitVec("x", 32), z3.BitVec("y", 32)
    power, product, chain = x, x + y, x
    for _ in range(30):
        power, product, chain = power * power, product * (x + y), chain + y
    sizes = solver.WrittenOut()
    assert sizes.is_too_large(power) and sizes.is_too_large(z3.If(x == y, product, x))
    assert not sizes.is_too_large(chain)


@needs_solver
def test_every_element_of_a_constant_counts() -> None:
    def first_alone(_: HloComputation, i: HloInstruction) -> HloInstruction:
        return i.operands[0]

    rule = wrong_rule(
        operator("add")(any_("x"), constant_pattern("c")),
        "x = s32[4] parameter(0)\nc = s32[4] constant({0, 1, 2, 3})\nROOT r = s32[4] add(x, c)",
        first_alone,
    )
    assert prove_rule(rule, most_shapes=1).outcome == "refuted"
