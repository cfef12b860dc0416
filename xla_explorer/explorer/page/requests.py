"""What the script asks for beside steps and the tabs' data, by the word of the request: the answer from the reports of a view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.json_data import text_lines
from xla_explorer.explorer.page.reports import Request
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep


def number(message: Mapping[str, Any], key: str) -> int:
    """A whole number that a request must have. ValueError where it has none."""
    value = message.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"a request of the explorer has no {key}: {dict(message)!r}")
    return value


def listed(message: Mapping[str, Any], key: str) -> list[Any]:
    """A list that a request may have."""
    value = message.get(key)
    return value if isinstance(value, list) else []


def words(message: Mapping[str, Any], key: str) -> list[str]:
    """The same, of texts."""
    return [str(word) for word in listed(message, key)]


def rewrite_data(step: RewriteStep) -> dict[str, Any]:
    """One rewrite: lines and pictures before and after."""
    return {
        "before": text_lines(step.before),
        "after": text_lines(step.after),
        "picture_before": step.picture_before.to_json(),
        "picture_after": step.picture_after.to_json(),
        "added": list(step.added),
        "removed": list(step.removed),
        "changed": list(step.changed),
    }


REQUESTS: dict[str, Request] = {
    "remarks": lambda reports, m: plain(reports.remarks()),
    "counts": lambda reports, m: plain(reports.ptx_counts()),
    "help": lambda reports, m: plain(reports.opcode_help()),
    "rules": lambda reports, m: plain(reports.rules(words(m, "names"))),
    "apart": lambda reports, m: plain(reports.why_apart(str(m.get("a")), str(m.get("b")))),
    "llvm": lambda reports, m: plain(reports.llvm_passes(str(m.get("kernel")))),
    "rewrite": lambda reports, m: rewrite_data(
        reports.rewrite(number(m, "step"), number(m, "number"))
    ),
    "around": lambda reports, m: reports.picture(
        number(m, "step"), around=[number(m, "id")], budget=max(10, min(1_500, number(m, "budget")))
    ).to_json(),
    "opened": lambda reports, m: reports.picture(
        number(m, "step"),
        opened=words(m, "opened"),
        show=[k for k in listed(m, "show") if isinstance(k, int)],
    ).to_json(),
    "between": lambda reports, m: reports.picture(
        number(m, "step"), between=(number(m, "id"), number(m, "other"))
    ).to_json(),
}
"""Those that every view may be asked. `Reports.requests` has what only passes or a session answer."""
