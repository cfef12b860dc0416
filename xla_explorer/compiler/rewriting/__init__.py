"""Patterns, rules, rule sets and the worklist driver."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.driver import applicable, rewrite_computation
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.patterns import (
    Pattern,
    any_,
    constant,
    one_of,
    operator,
    scalar,
    splat,
)
from xla_explorer.compiler.rewriting.rule import Rule, RuleSet, rule

__all__ = [
    "Exactness",
    "Pattern",
    "Rule",
    "RuleSet",
    "any_",
    "applicable",
    "constant",
    "one_of",
    "operator",
    "rewrite_computation",
    "rule",
    "scalar",
    "splat",
]
