"""What a replay answers: row by row our decision by XLA's policy, its reason, what XLA did, and whether they agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.decision import Decision, verdict_of
from xla_explorer.foundation.reason import refuse

BY_POLICY: Final = "by XLA's policy, replayed"
NO: Final = frozenset({"memory", "xla", "copied", "not rewritten", "held"})
"""The words of `ours` and `xla` that mean the same as `refused`."""


class ReplayRow(NamedTuple):
    """One decision.

    Attributes
    ----------
    subject, consumer : str
        The instruction, without %; of an edge also who reads it, else empty.
    ours, xla : str
        What our policy decides, and what XLA did.
    agrees : bool
        Whether both are the same.
    code, message : str
        Our policy's reason where it refused or chose; empty where it had none.
    bytes : int
        What is at stake: of an edge the value that crosses memory where it is not fused.
    ids : tuple of int
        The ids of the instructions in the session.
    said : str
        XLA's own words about it, where its dump has them (XLA:GPU's priority fusion); else empty.
    """

    subject: str
    consumer: str
    ours: str
    xla: str
    agrees: bool
    code: str = ""
    message: str = ""
    bytes: int = 0
    ids: tuple[int, ...] = ()
    said: str = ""

    @property
    def why(self) -> str:
        """The reason of what XLA did: our policy's where it agrees, else in XLA's own words; `unknown` where there are none."""
        if not self.agrees and self.said:
            return f"XLA says: {self.said}"
        if not self.agrees:
            return f"unknown: XLA's policy, as it is replayed, says {self.ours}"
        return self.message


class Replay(Report):
    """XLA's decisions of one kind, beside those of our policy on XLA's own snapshot.

    Attributes
    ----------
    kind : str
        As given to `xe.xla.replay`.
    rows : tuple of ReplayRow
        One a decision; those that differ first.
    step : int or None
        The number of XLA's pass in `session.passes`; None after the last.
    by : str
        The pass of XLA.
    """

    def __init__(
        self, kind: str, rows: Sequence[ReplayRow], by: str, step: int | None, what: str
    ) -> None:
        """what: the rows' name in the plural, for people."""
        self.kind, self.by, self.step = kind, by, step
        self.rows = tuple(sorted(rows, key=lambda row: (row.agrees, -row.bytes)))
        self._what = what

    @property
    def agreement(self) -> float:
        """The share of rows for which both decide the same; 1.0 without rows."""
        return sum([row.agrees for row in self.rows]) / len(self.rows) if self.rows else 1.0

    def disagreements(self) -> list[ReplayRow]:
        """The rows for which they differ."""
        return [row for row in self.rows if not row.agrees]

    def headline(self) -> str:
        """How many decisions there are, and how well the replay agrees."""
        place = f"pass {self.step}, {self.by}" if self.step is not None else self.by
        return f"{len(self.rows)} {self._what} ({place}); our replay of XLA's policy agrees in {self.agreement:.1%}"

    def blocks(self) -> Blocks:
        """What differs, then what was decided and why."""
        different = self.disagreements()
        if different:
            yield Table(ReplayRow._fields, different, "decided otherwise by XLA", printed=20)
        rows = [
            (f"%{r.subject}", f"%{r.consumer}" if r.consumer else "", r.xla, r.code, r.why, r.bytes)
            for r in self.rows
            if r.agrees
        ]
        yield Table(
            ["instruction", "consumer", "XLA", "code", "why", "bytes"],
            rows,
            f"XLA's decisions, {BY_POLICY}",
            printed=20,
        )

    def records(self) -> Table:
        """A row a decision."""
        return Table(ReplayRow._fields, self.rows)

    def decisions(self) -> list[Decision]:
        """XLA's decisions as those of a session: what XLA did, with our policy's reason where the two agree."""
        found = []
        for row in self.rows:
            facts = {"decided": BY_POLICY, "agrees": row.agrees, "bytes": row.bytes, "by": self.by}
            if row.said:
                facts["xla_says"] = row.said
            names = (row.subject, row.consumer) if row.consumer else (row.subject,)
            accepted = row.xla not in NO
            reason = (
                refuse(row.code, row.message)
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
