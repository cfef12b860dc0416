"""The nouns: row types with their most important rows first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from xla_explorer.explorer.tables.kernel import Kernel

Record = Mapping[str, Any]


class Noun(NamedTuple):
    """A kind of row.

    Attributes
    ----------
    name : str
        The noun.
    columns : tuple of str
        Columns that a table of it has, in their order; a table may have fewer.
    importance : callable
        The sort key of a row, smaller ones first.
    """

    name: str
    columns: tuple[str, ...]
    importance: Callable[[Record], Any]

    def ordered(self, rows: Iterable[Any]) -> list[Any]:
        """Return the rows, the most important first; equal ones keep their order."""
        return sorted(rows, key=self.importance)


def _number(row: Record, *names: str) -> float:
    """Return the first number among columns, 0 without one."""
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float) and value == value:
            return float(value)
    return 0.0


def _decision(row: Record) -> tuple[bool, float, float]:
    refused = row.get("verdict") != "accepted"
    return not refused, -_number(row, "cost_us"), -_number(row, "cost_bytes")


_NOUNS: Final = (
    Noun(
        "kernel",
        (*Kernel._fields, "cycles", "bytes", "intensity"),
        lambda row: -_number(row, "median_us", "predicted_us"),
    ),
    Noun(
        "decision",
        (
            "verdict", "kind", "producer", "consumer", "code", "cost_us", "cost_bytes", "reason",
            "subjects", "pass", "step", "facts",
        ),
        _decision,
    ),
    Noun(
        "pass",
        (
            "step", "pipeline", "pass", "changed", "seconds", "ms", "instructions",
            "instructions_before", "instructions_after", "delta_instructions", "bytes",
            "delta_bytes", "flops", "delta_flops", "added", "removed", "modified", "rewrites",
            "attempts", "error",
        ),
        lambda row: (not row.get("error"), -abs(_number(row, "delta_instructions", "rewrites"))),
    ),
    Noun(
        "buffer",
        (
            "value", "opcode", "shape", "allocation", "kind", "offset", "size", "start", "end",
            "shared_with",
        ),
        lambda row: -_number(row, "size"),
    ),
    Noun(
        "rule",
        (
            "rule", "pass", "accepted", "refused", "ms", "share", "tried", "fitted", "made",
            "modules", "sentence", "place",
        ),
        lambda row: (-_number(row, "ms"), -_number(row, "accepted")),
    ),
    Noun(
        "loop",
        ("kernel", "family", "form", "made_by", "schedule", "predicted_us", "reason"),
        lambda row: -_number(row, "predicted_us"),
    ),
    Noun(
        "source line",
        ("line", "scope", "median_us", "estimated_us", "share", "kernels"),
        lambda row: -_number(row, "median_us"),
    ),
    Noun(
        "advice",
        ("gain_us", "share", "sentence", "line"),
        lambda row: -_number(row, "gain_us"),
    ),
    Noun(
        "override",
        ("override", "kind", "subjects", "granted", "reason"),
        lambda row: bool(row.get("granted")),
    ),
    Noun(
        "remark",
        ("kind", "pass", "message", "instruction", "line"),
        lambda row: row.get("kind") != "missed",
    ),
    Noun(
        "llvm pass",
        (
            "number", "pass", "function", "level", "lines_before", "lines_after", "added",
            "removed", "diff", "ms", "share", "runs",
        ),
        lambda row: (-_number(row, "ms"), -_number(row, "added") - _number(row, "removed")),
    ),
    Noun(
        "machine loop",
        (
            "kernel", "loop", "instructions", "cycles", "ipc", "block_throughput", "bottleneck",
            "model", "lines",
        ),
        lambda row: -_number(row, "cycles"),
    ),
    Noun(
        "origin",
        ("instruction", "computation", "opcode", "sources", "how", "line", "id"),
        lambda row: bool(row.get("line")),
    ),
    Noun(
        "found thing",
        (
            "what", "name", "op", "shape", "scope", "line", "text", "kind", "verdict", "reason",
            "pass", "bytes", "time", "id", "step",
        ),
        lambda row: -_number(row, "time"),
    ),
)  # fmt: skip

NOUNS: Final = {one.name: one for one in _NOUNS}
"""The nouns by name."""
