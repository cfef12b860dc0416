"""The summary of each rewrite rule, and the place where it is written."""

from __future__ import annotations

import inspect
import sys
from functools import cache
from pathlib import Path
from typing import Any

from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.tables.rows import RuleCount, columns_of
from xla_explorer.foundation.journal import Journal


@cache
def rule_book() -> dict[str, tuple[str, str]]:
    """Return rule name -> (summary, `folder/file.py:line`)."""
    book = {}
    for name, rule in declared_rules().items():
        code = rule.function.__code__
        path = Path(code.co_filename)
        book[name] = (rule.summary, f"{path.parent.name}/{path.name}:{code.co_firstlineno}")
    return book


def rule_summary(rule: str, pass_name: str) -> tuple[str, str]:
    """Return the summary and the place of a rule, or of the pass that acts without a rule."""
    return rule_book().get(rule) or _summary_of_pass(pass_name)


@cache
def _passes_by_name() -> dict[str, type]:
    """Return the passes by the names of the registry and by those in traces."""
    found = registered_passes()
    return {cls.name: cls for cls in found.values() if hasattr(cls, "name")} | found


def _summary_of_pass(name: str) -> tuple[str, str]:
    """Return the summary and the place of a pass."""
    cls = _passes_by_name().get(name)
    if cls is None:
        return "", ""
    lines = inspect.getdoc(cls) or ""
    path = Path(sys.modules[cls.__module__].__file__ or "")
    return lines.partition("\n")[0], f"{path.parent.name}/{path.name}"


def hot_rules(journal: Journal | None) -> Any:
    """Return a row for each rule that was applied or refused, the most accepted first.

    Columns: rule, accepted, refused, sentence, place.
    """
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
        [(*row, *rule_summary(row[0], acting.get(row[0], ""))) for row in counted],
        columns_of(RuleCount),
    )
