"""The result of a replay: our decision by XLA's policy, its reason, and XLA's decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.decision import Decision, verdict_of
from xla_explorer.foundation.reason import refuse

BY_POLICY: Final = "by XLA's policy, replayed"
NO: Final = frozenset({"memory", "xla", "copied", "not rewritten", "held"})
"""Values of `ours` and `xla` that mean `refused`."""


class ReplayRow(NamedTuple):
    """One decision.

    Attributes
    ----------
    subject, consumer : str
        The instruction, without %; of an edge also its user, else empty.
    ours, xla : str
        Our policy's decision, and XLA's.
    agrees : bool
        True if both are the same.
    code, reason : str
        Our policy's reason for a refusal or choice; empty without one.
    bytes : int
        Of an edge the value that is stored if it is not fused.
    ids : tuple of int
        The ids of the instructions in the session.
    xla_reason : str
        XLA's own words about it, if its dump has them (XLA:GPU's priority fusion); else empty.
    """

    subject: str
    consumer: str
    ours: str
    xla: str
    agrees: bool
    code: str = ""
    reason: str = ""
    bytes: int = 0
    ids: tuple[int, ...] = ()
    xla_reason: str = ""

    @property
    def why(self) -> str:
        """The reason of XLA's decision.

        Our policy's reason if it agrees, else XLA's own words, else `unknown`.
        """
        if not self.agrees and self.xla_reason:
            return f"XLA's message: {self.xla_reason}"
        if not self.agrees:
            return f"unknown: our replay of XLA's policy gives {self.ours}"
        return self.reason


class Replay(Report):
    """XLA's decisions of one kind, next to those of our policy on XLA's own snapshot.

    Attributes
    ----------
    kind : str
        As given to `xe.xla.replay`.
    rows : tuple of ReplayRow
        One for each decision; those that differ first.
    step : int or None
        The number of XLA's pass in `session.passes`; None after the last.
    by : str
        The pass of XLA.
    """

    def __init__(
        self, kind: str, rows: Sequence[ReplayRow], by: str, step: int | None, what: str
    ) -> None:
        """Sort the rows. what: the rows' name in the plural, for people."""
        self.kind, self.by, self.step = kind, by, step
        self.rows = tuple(sorted(rows, key=lambda row: (row.agrees, -row.bytes)))
        self._what = what

    @property
    def agreement(self) -> float:
        """The share of rows on which both agree; 1.0 without rows."""
        return sum([row.agrees for row in self.rows]) / len(self.rows) if self.rows else 1.0

    def disagreements(self) -> list[ReplayRow]:
        """Return the rows on which they differ."""
        return [row for row in self.rows if not row.agrees]

    def headline(self) -> str:
        """Return the number of decisions, and the agreement."""
        place = f"pass {self.step}, {self.by}" if self.step is not None else self.by
        return (
            f"{len(self.rows)} {self._what} ({place}); our replay of XLA's policy agrees in "
            f"{self.agreement:.1%}"
        )

    def blocks(self) -> Blocks:
        """Yield the differences, then the decisions with reasons."""
        different = self.disagreements()
        if different:
            yield Table(
                ReplayRow._fields, different, "decisions that differ from XLA's", printed=20
            )
        rows = [
            (f"%{r.subject}", f"%{r.consumer}" if r.consumer else "", r.xla, r.code, r.why, r.bytes)
            for r in self.rows
            if r.agrees
        ]
        yield Table(
            ["instruction", "consumer", "xla", "code", "reason", "bytes"],
            rows,
            f"XLA's decisions, {BY_POLICY}",
            printed=20,
        )

    def records(self) -> Table:
        """Return a row for each decision."""
        return Table(ReplayRow._fields, self.rows)

    def decisions(self) -> list[Decision]:
        """Return XLA's decisions as those of a session, with our reasons if the two agree."""
        found = []
        for row in self.rows:
            facts = {"decided": BY_POLICY, "agrees": row.agrees, "bytes": row.bytes, "by": self.by}
            if row.xla_reason:
                facts["xla_message"] = row.xla_reason
            names = (row.subject, row.consumer) if row.consumer else (row.subject,)
            accepted = row.xla not in NO
            reason = (
                refuse(row.code, row.reason)
                if row.agrees
                else refuse("xla-decides-otherwise", row.why)
            )
            code = "" if accepted else reason.code
            found.append(
                Decision(
                    self.kind,
                    verdict_of(accepted),
                    row.ids,
                    names,
                    code,
                    reason.message,
                    facts,
                    self.step,
                )
            )
        return found
