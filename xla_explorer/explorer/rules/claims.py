"""The claim of a rewrite rule, checked on every value of small types and on edges of all types."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.claim_check import CounterExample
from xla_explorer.compiler.rewriting.claim_check import check_claim as checked
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report


class CheckedClaim(Report):
    """The result of `check_claim`.

    rule, claim: names of the rule and its exactness. tier: `exhaustive` or `sampled`. tried: the
    compared values, in words. points: their number. counterexamples: arguments on which the rule
    breaks its claim, at most one for each element type or shape, with the module and both values.
    """

    __slots__ = ("claim", "counterexamples", "points", "rule", "tier", "tried")

    def __init__(self, rule: Rule) -> None:
        found = checked(rule)
        self.rule, self.claim, self.tier = found.rule, found.claim, found.tier
        self.tried, self.points = found.tried, found.points
        self.counterexamples: tuple[CounterExample, ...] = found.counterexamples

    def blocks(self) -> Blocks:
        """Yield what was tried, and the counterexamples."""
        yield Sentence(f"{self.rule} claims to be {self.claim}; checked on {self.tried}")
        if self.counterexamples:
            columns = ["parameters", "arguments", "before", "after", "problem"]
            yield Table(
                columns,
                [counterexample_row(one) for one in self.counterexamples],
                "counterexamples",
            )


def counterexample_row(example: CounterExample) -> tuple[str, ...]:
    """Return a counterexample as cells of a table."""
    shapes = ", ".join([str(shape) for shape in example.module.parameter_shapes()])
    given = ", ".join([str(argument) for argument in example.arguments])
    return shapes, given, str(example.before), str(example.after), example.problem


def check_claim(rule: Rule) -> CheckedClaim:
    r"""Check the claim of a rule on every value of small types and on edges of all types.

    The rule's example is tried with every element type and with many shapes; this takes seconds.

    Parameters
    ----------
    rule : Rule
        As `xe.rule` makes it.

    Returns
    -------
    CheckedClaim
        What was tried, and the arguments on which the rule breaks its claim.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.plugin import Exactness, any_, check_claim, operator
    >>> negate = operator("negate")
    >>> @xe.rule(
    ...     negate(negate(any_("x"))), exactness=Exactness.BITWISE,
    ...     before="x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT r = f32[4] negate(n)",
    ...     after="ROOT x = f32[4] parameter(0)",
    ... )
    ... def docs_two_signs(x):
    ...     '''--x is x.'''
    ...     return x

    Of all types only the float type without a sign breaks the claim:

    >>> [example] = check_claim(docs_two_signs).counterexamples
    >>> example.problem
    'at [0]: 5.87747e-39 where nan was to be kept (bitwise)'
    """
    return CheckedClaim(rule)
