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


def _of_pass(name: str) -> tuple[str, str]:
    """(sentence, place) of a pass, for what it does itself without a rule."""
    cls = registered_passes().get(name)
    if cls is None:
        return "", ""
    lines = inspect.getdoc(cls) or ""
    path = Path(sys.modules[cls.__module__].__file__ or "")
    return lines.partition("\n")[0], f"{path.parent.name}/{path.name}"


def hot_rules(journal: Journal | None) -> Any:
    """A row a rule that fired or was refused: rule, accepted, refused, sentence, place; the most accepted first."""
    counted, book = [], rule_book()
    if journal is not None:
        spans = {span.id: span.name for span in journal.spans if span.kind == "pass"}
        acting = {
            event.by: spans[event.span]
            for event in journal.events
            if event.is_rewrite and event.span in spans
        }
        counted, book = (
            journal.hot_rules(),
            {name: _of_pass(by) for name, by in acting.items()} | book,
        )
    return wide_frame(
        [(*row, *book.get(row[0], ("", ""))) for row in counted],
        ["rule", "accepted", "refused", "sentence", "place"],
    )
