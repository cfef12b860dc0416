"""What each rewrite rule says about itself: its sentence and the place where it is written."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.foundation.journal import Journal


@cache
def rule_book() -> dict[str, tuple[str, str]]:
    """Rule name -> (its sentence, `folder/file.py:line`)."""
    book = {}
    for name, rule in declared_rules().items():
        code = rule.function.__code__
        path = Path(code.co_filename)
        book[name] = (rule.summary, f"{path.parent.name}/{path.name}:{code.co_firstlineno}")
    return book


def hot_rules(journal: Journal | None) -> Any:
    """A row a rule that fired or was refused: rule, accepted, refused, sentence, place; the most accepted first."""
    book = rule_book()
    counted = journal.hot_rules() if journal is not None else []
    return wide_frame([(*row, *book.get(row[0], ("", ""))) for row in counted], ["rule", "accepted", "refused", "sentence", "place"])
