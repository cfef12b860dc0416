"""The proof of a rewrite rule by an SMT solver: every value, not samples."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.claim_check import CounterExample
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.compiler.rewriting.proofs.prover import RuleProof, prove_rule
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.rules.claims import counterexample_row
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.suggestions import nearest


class UnknownRuleError(XlaExplorerError, LookupError):
    """A rule's name that no pass declares."""


class Proof(Report):
    """The result of `xe.prove`.

    Attributes
    ----------
    rule, claim : str
        Names of the rule and its exactness.
    outcome : str
        `proved`, `refuted` or `unknown`.
    types, real_types : tuple[str, ...]
        Element types that are proved for every value, and over the real numbers.
    tried : tuple[str, ...]
        Element types without a proof whose every value was evaluated.
    unknown : dict[str, str]
        A sentence for each other element type.
    shapes : int
        Further shapes that are proved.
    counterexamples : tuple[CounterExample, ...]
        Arguments on which the rule breaks its claim, confirmed by the evaluator.
    """

    __slots__ = (
        "claim",
        "counterexamples",
        "outcome",
        "real_types",
        "rule",
        "shapes",
        "tried",
        "types",
        "unknown",
        "unknown_shapes",
    )

    def __init__(self, found: RuleProof) -> None:
        self.rule, self.claim, self.outcome = found.rule, found.claim, found.outcome
        self.types, self.real_types, self.tried = found.types, found.real_types, found.tried
        self.unknown, self.shapes = found.unknown, found.shapes
        self.unknown_shapes = found.unknown_shapes
        self.counterexamples: tuple[CounterExample, ...] = found.counterexamples

    def blocks(self) -> Blocks:
        """Yield the outcome, what is proved, what is left and why, and the counterexample."""
        yield Sentence(f"{self.rule} claims to be {self.claim}: {self.outcome}")
        rows: list[tuple[str, ...]] = [
            ("every value", ", ".join(self.types)),
            ("over the real numbers", ", ".join(self.real_types)),
            ("every value evaluated", ", ".join(self.tried)),
            ("other shapes", str(self.shapes) if self.shapes else ""),
        ]
        yield Table(["proof", "types"], [row for row in rows if row[1]], "proofs")
        left = [*self.unknown.items(), *(("other shapes", why) for why in self.unknown_shapes)]
        if left:
            yield Table(["types", "reason"], left, "left")
        if self.counterexamples:
            columns = ["parameters", "arguments", "before", "after", "problem"]
            rows = [counterexample_row(one) for one in self.counterexamples]
            yield Table(columns, rows, "counterexamples")


@explains_arguments
def prove(rule: Rule | str) -> Proof:
    """Prove the claim of a rule for every value, with an SMT solver.

    The rule's example is tried with every element type and with up to 60 other shapes; this takes
    up to some seconds for each type that is hard. Integers are bit-vectors, floats IEEE numbers;
    for the claims `real`, `fast` and "approximate" the sides are equal over the real numbers. The
    proof is of the example's form, not of shapes of any size.

    Parameters
    ----------
    rule : Rule or str
        As `xe.rule` makes it, or the name of a rule that a pass declares.

    Returns
    -------
    Proof
        What is proved, what is left and why, and a counterexample if the rule is wrong.

    Raises
    ------
    MissingExtraError
        Without the solver: `pip install "xla-explorer[prove]"`.
    UnknownRuleError
        For a name that no pass declares.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> found = xe.prove("add-zero")  # doctest: +SKIP
    >>> found.outcome, "f64" in found.types  # doctest: +SKIP
    ('proved', True)
    """
    return Proof(prove_rule(rule if isinstance(rule, Rule) else _declared(rule)))


def _declared(name: str) -> Rule:
    rules = declared_rules()
    if name not in rules:
        near = nearest(name, list(rules), 3)
        raise UnknownRuleError(
            f"no pass declares a rule {name!r}" + (f"; near: {', '.join(near)}" if near else ""),
            "`session.passes.rules()` lists the rules of a pipeline",
        )
    return rules[name]
