"""Requests of the script other than steps and the tabs' data: the answers by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.json_data import text_lines
from xla_explorer.explorer.page.reports import Request
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep


def number(message: Mapping[str, Any], key: str) -> int:
    """Return a whole number of a request. ValueError if it is missing."""
    value = message.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"a request of the explorer has no {key}: {dict(message)!r}")
    return value


def listed(message: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list of a request, empty if it is missing."""
    value = message.get(key)
    return value if isinstance(value, list) else []


def words(message: Mapping[str, Any], key: str) -> list[str]:
    """Return a list of texts of a request, empty if it is missing."""
    return [str(word) for word in listed(message, key)]


def rewrite_data(step: RewriteStep) -> dict[str, Any]:
    """Return one rewrite: lines and pictures before and after."""
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
    "not_shared": lambda reports, m: plain(
        reports.why_not_shared(str(m.get("a")), str(m.get("b")))
    ),
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
"""Requests that every view answers; `Reports.requests` has those of passes or a session alone."""
