"""Every rewrite rule that the passes declare."""

from __future__ import annotations

import sys
from functools import cache
from weakref import WeakValueDictionary

from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.compiler.rewriting.rule import Rule, RuleSet

_TRANSFORMS = "xla_explorer.compiler.transforms"
_OWN: WeakValueDictionary[str, Rule] = WeakValueDictionary()
"""User rules from `xe.rule`, while the user holds them; the last of each name."""


@cache
def declared_rules() -> dict[str, Rule]:
    """Return the rules of all passes by name; this loads every pass."""
    registered_passes()
    found: dict[str, Rule] = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith(_TRANSFORMS) and module is not None:
            for value in vars(module).values():
                for rule in (
                    (value,)
                    if isinstance(value, Rule)
                    else value.rules
                    if isinstance(value, RuleSet)
                    else ()
                ):
                    found.setdefault(rule.name, rule)
    return found


def remember(rule: Rule) -> None:
    """Register a user's rule for questions about rules."""
    _OWN[rule.name] = rule


def known_rules() -> dict[str, Rule]:
    """Return the rules of the passes and of the user."""
    return {**declared_rules(), **_OWN}
