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
from xla_explorer.compiler.rewriting.proofs.solver import WrittenOut, decide, z3
from xla_explorer.compiler.rewriting.proofs.symbolic_evaluator import SymbolicEvaluator
from xla_explorer.compiler.rewriting.recorded_claims import recorded_claims
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape

_MOST_INSTRUCTIONS = 500
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
        made = _variant(rule, variant.text)
        if made is None:
            continue
        before, proof = made
        text = text or variant.text
        name = _named(variant)
        if proof.outcome == PROVED:
            (real_types if proof.over_reals else types)[name] = None
        elif proof.outcome == UNKNOWN and _parameter_types(before) <= complete:
            tried[name] = None
        elif proof.outcome == UNKNOWN:
            unknown[name] = proof.reason
        elif proof.counterexample is not None:
            found.append(proof.counterexample)
            break
    shapes, open_shapes = 0, dict[str, None]()
    for other in _shapes(rule, text, most_shapes) if text and not found else ():
        made = _variant(rule, other)
        if made is None:
            continue
        _, proof = made
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


def _parameter_types(module: HloModule) -> set[str]:
    shapes = module.parameter_shapes()
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


def _variant(rule: Rule, text: str) -> tuple[HloModule, PairProof] | None:
    """Return one variant and its proof, or None if the rule does not rewrite it."""
    before = Variant(text, ()).module()
    after = None if before is None else _applied(rule, before)
    return None if before is None or after is None else (before, prove_pair(rule, before, after))


def prove_pair(rule: Rule, before: HloModule, after: HloModule) -> PairProof:
    """Prove that `after` keeps the rule's claim about `before`, for all values of parameters."""
    if len(after.entry.instructions) > _MOST_INSTRUCTIONS:
        return PairProof(UNKNOWN, "the result has too many instructions for the solver")
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
    symbolic = SymbolicEvaluator(scalars)
    try:
        arguments, symbols = symbolic.parameters(before.parameter_shapes())
        expected = symbolic.run(before.entry, arguments)
        defined, scalars.conditions = scalars.conditions, []
        actual = symbolic.run(after.entry, arguments)
    except UnsupportedProofError as problem:
        return PairProof(UNKNOWN, str(problem))
    exact, pairs = rule.exactness, _pairs(before, after, expected, actual)
    premises, sizes = [*scalars.laws, *defined], WrittenOut()
    values = [term for _, a, b in pairs for term in (a, b)]
    if any(map(sizes.is_too_large, [*premises, *scalars.conditions, *values])):
        return PairProof(UNKNOWN, "a product is too large for the solver")
    if not decide(z3().And(*scalars.conditions), premises).holds:
        return PairProof(UNKNOWN, "the result is not shown to be defined where the operand is")
    for kind, a, b in pairs:
        if a.eq(b):
            continue
        rounded = exact.kind in ("real", "fast", "approximate") and not (
            kind.is_integer or kind.is_pred
        )
        if rounded and not over_reals:
            return PairProof(UNKNOWN, "roundings differ")
        verdict = decide(scalars.agree(kind, exact, a, b), premises)
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
    before: HloModule, after: HloModule, expected: Any, actual: Any
) -> list[tuple[PrimitiveType, Term, Term]]:
    """Return the result elements with their types; the first only if each has the same form."""
    leaves = zip(
        _leaves(before.entry.root.shape),
        flatten_value(expected),
        flatten_value(actual),
        strict=True,
    )
    pairs = [
        (leaf.element_type, a, b)
        for leaf, one, other in leaves
        for a, b in zip(one.flat, other.flat, strict=True)
    ]
    return pairs[:1] if _is_uniform(before) and _is_uniform(after) else pairs


def _is_uniform(module: HloModule) -> bool:
    """Return True if every element of the result is the same function of the parameters'."""
    return is_elementwise(module) and not any(
        i.opcode.name == "constant" and i.shape.rank for i in module.entry.instructions.values()
    )


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
