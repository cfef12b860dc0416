"""The nouns: row types with their most important rows first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from xla_explorer.explorer.tables import code_rows, device_rows, rows
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.explorer.tables.rows import columns_of

Record = Mapping[str, Any]


class Noun(NamedTuple):
    """A kind of row.

    Attributes
    ----------
    name : str
        The noun.
    rows : tuple of type
        The row types of its tables; a table may have fewer columns.
    importance : callable
        The sort key of a row, smaller ones first.
    """

    name: str
    rows: tuple[type, ...]
    importance: Callable[[Record], Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its row types."""
        return tuple(dict.fromkeys([name for row in self.rows for name in columns_of(row)]))

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
        "collective",
        (device_rows.CollectiveRow,),
        lambda row: (-_number(row, "exposed_us"), -_number(row, "sent_bytes")),
    ),
    Noun(
        "sharding",
        (device_rows.ValueSharding,),
        lambda row: 0,
    ),
    Noun(
        "link",
        (device_rows.LinkRow,),
        lambda row: -_number(row, "exposed_us", "sent_bytes"),
    ),
    Noun(
        "slot",
        (device_rows.SlotRow,),
        lambda row: -_number(row, "exposed_us"),
    ),
    Noun(
        "propagation step",
        (device_rows.PropagationRow,),
        lambda row: _number(row, "number"),
    ),
    Noun(
        "partition choice",
        (device_rows.PartitionWay,),
        lambda row: (_number(row, "number"), not row.get("chosen")),
    ),
    Noun(
        "kernel",
        (Kernel,),
        lambda row: -_number(row, "median_us", "predicted_us"),
    ),
    Noun("decision", (rows.DecisionRow,), _decision),
    Noun(
        "pass",
        (rows.Pass, rows.PassCost),
        lambda row: (not row.get("error"), -abs(_number(row, "delta_instructions", "rewrites"))),
    ),
    Noun("buffer", (rows.Buffer,), lambda row: -_number(row, "size")),
    Noun(
        "rule",
        (rows.RuleCount, rows.RuleCost),
        lambda row: (-_number(row, "ms"), -_number(row, "accepted")),
    ),
    Noun(
        "certified change",
        (rows.CertificateRow,),
        lambda row: -rows.TIERS.index(row.get("tier", rows.TIERS[0])),
    ),
    Noun("loop", (rows.Loop,), lambda row: -_number(row, "predicted_us")),
    Noun(
        "source line",
        (rows.SourceLine, rows.SourceScope),
        lambda row: -_number(row, "median_us"),
    ),
    Noun("advice", (code_rows.AdviceRow,), lambda row: -_number(row, "gain_us")),
    Noun("risk", (code_rows.Risk,), lambda row: 0),
    Noun("override", (code_rows.OverrideRow,), lambda row: bool(row.get("granted"))),
    Noun("remark", (code_rows.Remark,), lambda row: row.get("kind") != "missed"),
    Noun(
        "llvm pass",
        (code_rows.LlvmPass, code_rows.LlvmPassCost),
        lambda row: (-_number(row, "ms"), -_number(row, "added") - _number(row, "removed")),
    ),
    Noun("machine loop", (code_rows.MachineLoop,), lambda row: -_number(row, "cycles")),
    Noun("origin", (code_rows.Origin,), lambda row: bool(row.get("line"))),
    Noun("found thing", (code_rows.FoundThing,), lambda row: -_number(row, "time")),
)

NOUNS: Final = {one.name: one for one in _NOUNS}
"""The nouns by name."""
