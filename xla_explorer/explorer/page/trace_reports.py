"""Answers about a trace: single rewrites, neighbourhoods, pass costs and help texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from xla_explorer.compiler.decisions.kinds import KINDS, OF_ANY_KIND
from xla_explorer.explorer.code.compile_flame import flame_of_passes
from xla_explorer.explorer.page.questions_data import callers_data, pass_costs, tensor_data
from xla_explorer.explorer.page.reports import Reports
from xla_explorer.explorer.pictures.module_picture import block_groups
from xla_explorer.explorer.pictures.picture import PictureGraph, PictureGroup
from xla_explorer.explorer.questions.rewrite_replay import RewriteReplay, rule_texts
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep, RuleText
from xla_explorer.explorer.questions.rule_times import clock_rules
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses, pass_of_step
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.hlo.opcodes import OPCODES


class TraceReports(Reports):
    """The answers about a trace."""

    def __init__(self, passes: RecordedPasses[RecordedPass]) -> None:
        self.passes = passes

    @cached_property
    def _replay(self) -> RewriteReplay:
        return RewriteReplay(self.passes)

    def rules(self, names: Iterable[str]) -> dict[str, RuleText]:
        """Return the declared rules among `names`, with their code."""
        return rule_texts(names)

    def rewrite(self, step: int, number: int) -> RewriteStep:
        """Repeat one rewrite of a pass. ValueError if there is none of that number."""
        if not 0 < step <= self.passes.last:
            raise ValueError(f"the compile has no pass {step}")
        events = [e for e in self.passes[step].events if e.is_rewrite]
        if not 0 <= number < len(events):
            raise ValueError(f"step {step} has {len(events)} rewrites, not a number {number}")
        with collector_paused():
            return self._replay.step(self.passes[step], events[number])

    def callers(self) -> dict[str, Any]:
        """Return stack frames, and the innermost frame of each instruction."""
        return callers_data(self.passes)

    def values(self, instruction: int, step: int) -> dict[str, Any]:
        """Return the tensor of an instruction after a step, on random arguments."""
        return tensor_data(self.passes, instruction, step)

    def pass_costs(self, *, live: bool = False) -> dict[str, Any]:
        """Return the costs of the passes that changed the module."""
        return pass_costs(self.passes, self.flame(again=False), live=live)

    def flame(self, *, again: bool) -> list[Any]:
        """Return the flame graph of the compile.

        again: with the rules, and LLVM's passes, which takes another run of both.
        """
        return flame_of_passes(self.passes, clock_rules(self.passes) if again else None).data()

    def changes(self, step: int) -> tuple[Iterable[int], Iterable[int]] | None:
        """Return the ids that a pass added and changed; None if unknown."""
        found = pass_of_step(self.passes, step).known_diff
        return None if found is None else (found.added, found.changed)

    def picture(self, step: int, **how: Any) -> PictureGraph:
        """Return a part of a step, by the fields of `Region`."""
        with collector_paused():
            return pass_of_step(self.passes, step).picture(**how)

    def whole_picture(self, step: int) -> PictureGraph | None:
        """Return all instructions of a step; a page draws parts of it as a live view does."""
        most = pass_of_step(
            self.passes, step
        ).instructions  # parts of it are drawn, as the kernel draws them
        return self.picture(step, bare=True, budget=most)

    def whole_blocks(self, step: int) -> tuple[list[PictureGroup], dict[int, int]]:
        """Return the blocks of a step as boxes, and the index of each instruction's block."""
        snapshot = pass_of_step(self.passes, step).snapshot
        with collector_paused():
            return block_groups(
                next(c for c in snapshot.computations if c.id == snapshot.entry), self.passes.drawn
            )

    def reasons(self) -> Mapping[str, str]:
        """Return meaning and remedy of each reason code; those of `fusion` take precedence."""
        tables = [
            *[row.reasons for row in reversed(KINDS.values())],
            OF_ANY_KIND,
        ]  # the meaning for `fusion` takes precedence
        return {
            code: f"{found.sentence}; remedy: {found.remedy}"
            for table in tables
            for code, found in table.items()
        }

    def opcode_help(self) -> Mapping[str, str]:
        """Return a sentence for each opcode of the trace."""
        names = dict.fromkeys([r.opcode.name for r in self.passes.lineage.records.values()])
        return {name: OPCODES[name].summary for name in names if name in OPCODES}
