"""What each rewrite rule says about itself: its sentence and the place where it is written."""

from __future__ import annotations

import inspect
import sys
from functools import cache
from pathlib import Path
from typing import Any

from xla_explorer.compiler.pipeline import registered_passes
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


def told_rule(rule: str, pass_name: str) -> tuple[str, str]:
    """Return the sentence and the place of a rule; of what a pass does itself, without a rule, those of the pass."""
    return rule_book().get(rule) or _of_pass(pass_name)


@cache
def _passes_by_name() -> dict[str, type]:
    """Passes by the names that they are registered under, and by those that traces show."""
    found = registered_passes()
    return {cls.name: cls for cls in found.values() if hasattr(cls, "name")} | found


def _of_pass(name: str) -> tuple[str, str]:
    """(sentence, place) of a pass."""
    cls = _passes_by_name().get(name)
    if cls is None:
        return "", ""
    lines = inspect.getdoc(cls) or ""
    path = Path(sys.modules[cls.__module__].__file__ or "")
    return lines.partition("\n")[0], f"{path.parent.name}/{path.name}"


def hot_rules(journal: Journal | None) -> Any:
    """A row a rule that fired or was refused: rule, accepted, refused, sentence, place; the most accepted first."""
    counted, acting = [], {}
    if journal is not None:
        spans = {span.id: span.name for span in journal.spans if span.kind == "pass"}
        acting = {
            event.by: spans[event.span]
            for event in journal.events
            if event.is_rewrite and event.span in spans
        }
        counted = journal.hot_rules()
    return wide_frame(
        [(*row, *told_rule(row[0], acting.get(row[0], ""))) for row in counted],
        ["rule", "accepted", "refused", "sentence", "place"],
    )
