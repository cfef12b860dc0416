"""The frame of a profile, which groups times by source line and by name scope.

It loads pandas, so it is imported when a profile is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from xla_explorer.explorer.display import wide_frame
from xla_explorer.explorer.display.pandas_frame import WideFrame
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM, member_costs
from xla_explorer.explorer.sessions.compilation import Compilation, scope_of, source_line
from xla_explorer.explorer.tables.kernel import PROFILE_COLUMNS, Kernel
from xla_explorer.explorer.tables.rows import SourceLine, SourceScope, columns_of
from xla_explorer.hlo.instruction import HloInstruction


class Part(NamedTuple):
    """A kernel's work for one instruction.

    weight: its share of the kernel, by estimated cost.
    """

    line: str
    scope: str
    weight: float


class ProfileFrame(WideFrame):
    """The rows of a profile; see `Session.profile`."""

    # Attributes that pandas copies to copies, selections of rows and pickles; it must be a list.
    _metadata: ClassVar = ["_parts"]
    _parts: dict[int, tuple[Part, ...]] = {}  # noqa: RUF012  # never changed

    @property
    def _constructor(self) -> type[ProfileFrame]:
        return ProfileFrame

    @property
    def kernels(self) -> ProfileFrame:
        """The rows of kernels alone; sums and groups of them count each time once."""
        found: ProfileFrame = self[self["kernel"] != WHOLE_PROGRAM]
        return found

    @property
    def whole(self) -> ProfileFrame:
        """The row of the whole program alone."""
        found: ProfileFrame = self[self["kernel"] == WHOLE_PROGRAM]
        return found

    @classmethod
    def of(cls, session: Compilation, rows: Sequence[Kernel]) -> ProfileFrame:
        """Return the frame of a session's profile.

        The whole program has neither opcode nor line, so that groups count each time once.
        """
        made = cls([row.cells(PROFILE_COLUMNS) for row in rows], columns=list(PROFILE_COLUMNS))
        whole = made["kernel"] == WHOLE_PROGRAM
        made[["opcode", "line"]] = made[["opcode", "line"]].astype(object).mask(whole, None)
        known = {i.id: i for i in session.module.instructions()}
        made._parts = {
            row.instruction: _parts(session, known[row.instruction], row.opcode)
            for row in rows
            if row.instruction in known
        }
        return made

    def by_line(self) -> WideFrame:
        """Time by source line, the longest first.

        Returns
        -------
        pandas.DataFrame
            median_us: of the kernels that compute the line. estimated_us: the part of it that is
            estimated: the time of a kernel that computes several lines is split by the estimated
            cost of their instructions (operations, and bytes that they make). share: of the time of
            all kernels. kernels: how many compute it.
        """
        return self._grouped("line", lambda part: part.line)

    def by_scope(self) -> WideFrame:
        """Return times by name scope, the longest first, with the columns of `by_line`.

        The scope is the path of `op_name` without its last part.
        """
        return self._grouped("scope", lambda part: part.scope)

    def _grouped(self, column: str, place: Callable[[Part], str]) -> WideFrame:
        found: dict[str, list[float]] = {}  # place -> time, estimated time, kernels
        rows = [
            row
            for row in self.to_dict("records")
            if row["instruction"] == row["instruction"] and row["instruction"] is not None
        ]
        whole = sum([row["median_us"] for row in rows])
        for row in rows:
            shares: dict[str, float] = {}
            for part in self._parts.get(int(row["instruction"]), (Part("", "", 1.0),)):
                name = place(part) or f"(no {column})"
                shares[name] = shares.get(name, 0.0) + part.weight
            for name, share in shares.items():
                sums = found.setdefault(name, [0.0, 0.0, 0.0])
                time = row["median_us"] * share
                sums[0] += time
                sums[1] += time if len(shares) > 1 else 0.0
                sums[2] += 1
        table = [
            [name, time, guess, time / whole if whole else None, int(count)]
            for name, (time, guess, count) in found.items()
        ]
        kind = SourceLine if column == "line" else SourceScope
        return wide_frame(sorted(table, key=lambda row: -row[1]), columns_of(kind))


def _parts(session: Compilation, i: HloInstruction, opcode: str) -> tuple[Part, ...]:
    """Return the instructions of a kernel, each with its share of the cost."""
    own = source_line(session, i.id), "/".join(scope_of(session, i))
    costs = member_costs(session, i, opcode)
    whole = sum([weight for _, weight in costs])
    if not whole:
        return (Part(*own, 1.0),)
    return tuple(
        [
            Part(
                source_line(session, j.id) or own[0],
                "/".join(scope_of(session, j)) or own[1],
                weight / whole,
            )
            for j, weight in costs
        ]
    )
