"""Proves a rule: its example with every element type, and with many sizes, before and after.

Each pair of modules is proved for all values of its elements. A counterexample of the solver counts
only if the evaluator confirms it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from xla_explorer.compiler.rewriting.claim_check import CounterExample, apply_alone
from xla_explorer.compiler.rewriting.example_variants import (
    Variant,
    is_elementwise,
    resized,
    retyped,
)
from xla_explorer.compiler.rewriting.proofs.machine_scalars import MachineScalars
from xla_explorer.compiler.rewriting.proofs.models import arguments_of
from xla_explorer.compiler.rewriting.proofs.real_scalars import RealScalars
from xla_explorer.compiler.rewriting.proofs.scalars import Scalars, Term, UnsupportedProofError
from xla_explorer.compiler.rewriting.proofs.solver import decide
from xla_explorer.compiler.rewriting.proofs.symbolic_evaluator import SymbolicEvaluator
from xla_explorer.compiler.rewriting.recorded_claims import recorded_claims
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

PROVED, REFUTED, UNKNOWN = "proved", "refuted", "unknown"
BUDGET = "the solver's budget ended"


@dataclasses.dataclass(frozen=True)
class PairProof:
    """The result for one module before and after the rule.

    outcome: `proved`, `refuted` or `unknown`. reason: a sentence for `unknown`. over_reals: True if
    floats were real numbers. counterexample: for `refuted`.
    """

    outcome: str
    reason: str = ""
    over_reals: bool = False
    counterexample: CounterExample | None = None


@dataclasses.dataclass(frozen=True)
class RuleProof:
    """The result for a rule.

    types: the element types for which it is proved for every value; for two types of a conversion
    `f32 to s8`. real_types: those for which it is proved over the real numbers. tried: types that
    have no proof, but whose values were all tried (`claim_check`). unknown: a sentence for each
    other type that the rule rewrites. shapes: number of further shapes proved; unknown_shapes: a
    sentence for each other reason. counterexamples: at most one.
    """

    rule: str
    claim: str
    types: tuple[str, ...]
    real_types: tuple[str, ...]
    tried: tuple[str, ...]
    unknown: dict[str, str]
    shapes: int
    unknown_shapes: tuple[str, ...]
    counterexamples: tuple[CounterExample, ...]

    @property
    def outcome(self) -> str:
        """`refuted`, `proved` (every type and shape that is left by `tried`), or `unknown`."""
        if self.counterexamples:
            return REFUTED
        complete = not self.unknown and not self.unknown_shapes
        return PROVED if complete and (self.types or self.real_types) else UNKNOWN


def prove_rule(rule: Rule, most_shapes: int = 60) -> RuleProof:
    """Prove a rule for every element type of its example, and for further shapes."""
    types: dict[str, None] = {}
    real_types: dict[str, None] = {}
    unknown: dict[str, str] = {}
    tried: dict[str, None] = {}
    found: list[CounterExample] = []
    text = ""
    recorded = recorded_claims().get(rule.name)
    complete = (
        set(recorded.complete) if recorded and recorded.claim == str(rule.exactness) else set()
    )
    for variant in retyped(rule):
        proof = _variant(rule, variant.text)
        if proof is None:
            continue
        text = text or variant.text
        name = _named(variant)
        if proof.outcome == PROVED:
            (real_types if proof.over_reals else types)[name] = None
        elif proof.outcome == UNKNOWN and _parameter_types(variant) <= complete:
            tried[name] = None
        elif proof.outcome == UNKNOWN:
            unknown[name] = proof.reason
        elif proof.counterexample is not None:
            found.append(proof.counterexample)
            break
    shapes, open_shapes = 0, dict[str, None]()
    for other in _shapes(rule, text, most_shapes) if text and not found else ():
        proof = _variant(rule, other)
        if proof is None:
            continue
        if proof.outcome == PROVED:
            shapes += 1
        elif proof.counterexample is not None:
            found.append(proof.counterexample)
            break
        else:
            open_shapes[proof.reason] = None
            if proof.reason == BUDGET:
                break
    return RuleProof(
        rule.name, str(rule.exactness), tuple(types), tuple(real_types), tuple(tried), unknown, shapes,
        tuple(open_shapes), tuple(found),
    )  # fmt: skip


def _parameter_types(variant: Variant) -> set[str]:
    module = variant.module()
    shapes = module.parameter_shapes() if module is not None else ()
    return {leaf.element_type.name for shape in shapes for leaf in _leaves(shape)}


def _named(variant: Variant) -> str:
    return " to ".join(variant.types)


def _shapes(rule: Rule, text: str, most: int) -> Iterator[str]:
    """Yield the example with other sizes, in its own type if the rule rewrites that."""
    module = Variant(rule.before, ()).module()
    own = module is not None and _applied(rule, module) is not None
    others = list(resized(rule.before if own else text))
    yield from others[:: max(1, len(others) // most)]


def _applied(rule: Rule, module: HloModule) -> HloModule | None:
    try:
        return apply_alone(rule, module)
    except (XlaExplorerError, ValueError, TypeError, ArithmeticError, LookupError):
        return None


def _variant(rule: Rule, text: str) -> PairProof | None:
    """Return the proof of one variant, or None if the rule does not rewrite it."""
    before = Variant(text, ()).module()
    after = None if before is None else _applied(rule, before)
    return None if before is None or after is None else prove_pair(rule, before, after)


def prove_pair(rule: Rule, before: HloModule, after: HloModule) -> PairProof:
    """Prove that `after` keeps the rule's claim about `before`, for all values of parameters."""
    bitwise = _try(rule, before, after, MachineScalars())
    if bitwise.outcome != UNKNOWN:
        return bitwise
    kinds = [leaf.element_type for leaf in _leaves(before.entry.root.shape)]
    floats = any(kind.is_float or kind.is_complex for kind in kinds)
    if floats and rule.exactness.kind in ("real", "fast", "approximate"):
        return _try(rule, before, after, RealScalars())
    return bitwise


def _leaves(shape: Shape) -> list[Shape]:
    return [leaf for _, leaf in shape.leaves() if leaf.is_array]


def _try(rule: Rule, before: HloModule, after: HloModule, scalars: Scalars) -> PairProof:
    over_reals = isinstance(scalars, RealScalars)
    try:
        pairs, symbols = _pairs(before, after, scalars)
    except UnsupportedProofError as problem:
        return PairProof(UNKNOWN, str(problem))
    exact = rule.exactness
    for kind, a, b in pairs:
        if a.eq(b):
            continue
        rounded = exact.kind in ("real", "fast", "approximate") and not (
            kind.is_integer or kind.is_pred
        )
        if rounded and not over_reals:
            return PairProof(UNKNOWN, "roundings differ")
        verdict = decide(scalars.agree(kind, exact, a, b), tuple(scalars.premises))
        if verdict.holds is None:
            return PairProof(UNKNOWN, BUDGET)
        if verdict.holds is False:
            # By the claim `fast`, values that leave the range are no counterexample.
            example = (
                _confirmed(rule, before, after, verdict.model, symbols)
                if exact.kind != "fast"
                else None
            )
            if example is None:
                return PairProof(UNKNOWN, "a type or an opcode has no theory")
            return PairProof(REFUTED, over_reals=over_reals, counterexample=example)
    return PairProof(
        PROVED,
        over_reals=over_reals and any(kind.is_float or kind.is_complex for kind, _, _ in pairs),
    )


def _pairs(
    before: HloModule, after: HloModule, scalars: Scalars
) -> tuple[list[tuple[Any, Term, Term]], dict[str, Term]]:
    """Return the result elements with their types; the first only if each has the same form."""
    symbolic = SymbolicEvaluator(scalars)
    arguments, symbols = symbolic.parameters(before.parameter_shapes())
    values = [symbolic.run(module.entry, arguments) for module in (before, after)]
    leaves = _leaves(before.entry.root.shape)
    expected, actual = [list(flatten_value(value)) for value in values]
    pairs = [
        (leaf.element_type, a, b)
        for leaf, one, other in zip(leaves, expected, actual, strict=True)
        for a, b in zip(one.flat, other.flat, strict=True)
    ]
    if is_elementwise(before) and is_elementwise(after):
        pairs = pairs[:1]
    return list(
        {(kind, a.get_id(), b.get_id()): (kind, a, b) for kind, a, b in pairs}.values()
    ), symbols


def _confirmed(
    rule: Rule, before: HloModule, after: HloModule, model: Any, symbols: dict[str, Term]
) -> CounterExample | None:
    """Return the solver's counterexample if the evaluator finds the difference too."""
    arguments = arguments_of(before.parameter_shapes(), model, symbols)
    if arguments is None:
        return None
    try:
        with np.errstate(all="ignore"):
            expected, actual = [
                [np.asarray(leaf) for leaf in flatten_value(evaluate(module, *arguments))]
                for module in (before, after)
            ]
    except XlaExplorerError:
        return None
    for one, other in zip(expected, actual, strict=True):
        difference = rule.exactness.difference(one, other)
        if difference is not None:
            return CounterExample(before, arguments, one, other, difference.message)
    return None
