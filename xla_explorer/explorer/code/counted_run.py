"""What a schedule of a GPU's kernel comes to: values, and the emulator's counters beside those of the default kernel."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.explorer.display import Blocks, Code, Report, Sentence, Table
from xla_explorer.explorer.sessions.compilation import Compilation

COUNTERS = ("warp_instructions", "thread_instructions", "sectors", "requests", "divergent_branches")


class CountedRun(Report):
    """A scheduled kernel of a GPU beside the default one.

    Attributes
    ----------
    kernel, schedule : str
        Its name and the text of its directives.
    equal : bool
        Whether the values are the evaluator's (within its tolerance) and, unless a directive reorders sums, the plain nest's bit by bit.
    values : str
        The same in a sentence, with the largest error.
    default, scheduled : dict of int
        Counters of the emulator; `conflicts` are passes beyond the first that accesses to shared memory take.
    findings : list of str
        What the emulator found in the scheduled kernel, races among it.
    nest_diff, ptx_diff : str
        The nest against the plain one; the PTX against the default kernel's.
    """

    def __init__(
        self, kernel: str, schedule: str, equal: bool, values: str, default: dict[str, int], scheduled: dict[str, int],
        findings: Sequence[str], nest_diff: str, ptx_diff: str,
    ) -> None:  # fmt: skip
        self.kernel, self.schedule, self.equal, self.values = kernel, schedule, equal and not findings, values
        self.default, self.scheduled, self.findings = default, scheduled, list(findings)
        self.nest_diff, self.ptx_diff = nest_diff, ptx_diff

    @property
    def ratio(self) -> float:
        """Warp instructions, scheduled / default."""
        return self.scheduled["warp_instructions"] / max(self.default["warp_instructions"], 1)

    def headline(self) -> str:
        """Equal or not, and the work of both."""
        return (
            f"%{self.kernel}: {'equal' if self.equal else 'NOT EQUAL'}, {self.scheduled['warp_instructions']} warp instructions beside "
            f"{self.default['warp_instructions']} by default, ratio {self.ratio:.3f}"
        )

    def blocks(self) -> Blocks:
        """Values, counters, findings, diffs."""
        yield self.records()
        yield Sentence(f"values: {self.values}")
        for finding in self.findings:
            yield Sentence(finding)
        if self.nest_diff:
            yield Code("nest, beside the plain one", self.nest_diff, "diff")
        if self.ptx_diff:
            yield Code("PTX, beside the default one", self.ptx_diff, "diff")

    def records(self) -> Table:
        """A row for each of the two."""
        names = list(self.default)
        rows = [("default", *self.default.values()), (self.schedule or "plain", *self.scheduled.values())]
        return Table(["schedule", *names], rows, note="counted on the emulator")


def counted_beside_default(
    schedule: Schedule, kernel: str, equal: bool, values: str, default: Compilation, scheduled: Compilation, leaves: Sequence[Any]
) -> CountedRun:
    """Both kernels on the emulator, with the same arguments."""
    counted = []
    for one in (default, scheduled):
        executable: Any = one.executable
        found = executable.emulate(list(leaves))
        totals = {name: sum([int(row[name] or 0) for row in found.rows]) for name in COUNTERS}
        totals["conflicts"] = round(sum([(row["requests"] or 0) * ((row["bank_conflict"] or 1) - 1) for row in found.rows]))
        counted.append((totals, [str(finding) for finding in found.findings], one.stage("ptx").text.splitlines()))
    diff = "\n".join(difflib.unified_diff(counted[0][2], counted[1][2], "default", "scheduled", lineterm="", n=2))
    return CountedRun(kernel, str(schedule), equal, values, counted[0][0], counted[1][0], counted[1][1], schedule.diff(), diff)
