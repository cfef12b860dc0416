"""The data that a page or widget shows of a trace or a session.

`TraceSource` needs only the recorded passes; `SessionSource` adds the code and times of the
compiled program. Texts and pictures of steps are made at their first use. A new answer of a page is
a method of `View`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS
from xla_explorer.explorer.code.code_panes import code_panes, costly, hlo_pane
from xla_explorer.explorer.display.code_pane import CodePane, PrintedLine
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM
from xla_explorer.explorer.measures.profiling import is_emulated
from xla_explorer.explorer.page.rows import RewriteRow, StepRow
from xla_explorer.explorer.page.view import View
from xla_explorer.explorer.pictures.picture import PictureGraph
from xla_explorer.explorer.questions.decisions import decisions_of
from xla_explorer.explorer.questions.rewrite_replay import RewriteReplay
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep
from xla_explorer.explorer.rules.rule_book import rule_book, rule_summary
from xla_explorer.explorer.sessions.compilation import Compilation, is_of_xla, program_steps
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses, pass_of_step
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.decision import Decision, verdict_of
from xla_explorer.foundation.kept import kept
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.module import ModuleSnapshot

if TYPE_CHECKING:
    from xla_explorer.explorer.xla.replay.replaying import ReplayedRules

# By whether XLA changed the instruction too; None for an instruction that an earlier rule made.
_BESIDE_XLA = {
    True: "our rule on XLA's module; XLA rewrote this instruction too",
    False: "our rule on XLA's module; XLA did not change this instruction",
    None: "our rule on XLA's module, on the result of another of our rules",
}
MOST_CHECKLISTS = 300
"""Number of decisions up to which each is stored with the policy's checklist.

`why_not` returns the checklist in any case.
"""


class TraceSource:
    """A trace as an `ExplorerSource`."""

    def __init__(self, passes: RecordedPasses[RecordedPass]) -> None:
        self.passes = passes

    @property
    def session(self) -> Compilation | None:
        """The session; None for a trace."""
        return None

    def view(self, *, live: bool = True) -> View:
        """Return the view that answers the requests of a page or widget."""
        return View(self, live=live)

    @property
    def title(self) -> str:
        """The name of the module."""
        return self.passes.module.name

    def summary(self) -> Mapping[str, str | float | int]:
        """Return the numbers of passes and instructions, and the compile time."""
        passes = self.passes
        return {
            "passes": passes.last,
            "changed": len([p for p in passes if p.changed]),
            "instructions_before": passes[0].instructions,
            "instructions_after": passes.module.instruction_count(),
            **({"compile_seconds": passes.seconds} if passes.seconds else {}),
        }

    @kept
    def steps(self) -> Sequence[StepRow]:
        """Return a row for the module as written, then one for each pass."""
        applied = {
            step: len([e for e in events if e.acted]) for step, events in self._rule_events.items()
        }
        # Build the indexes that all steps share, so that the first step is shown as fast as the
        # others.
        rule_book()
        self.passes.warm()
        return [
            StepRow(
                p.number,
                p.pipeline.split("/")[-1],
                p.name,
                p.changed,
                p.seconds,
                p.instructions_before,
                p.instructions,
                max(p.rewrites, applied.get(p.number, 0)),
                p.error or None,
                entry=_first_of_entry(p.snapshot),
            )
            for p in self.passes
        ]

    @cached_property
    def _rule_events(self) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        for event in self.passes.journal.events if self.passes.journal is not None else ():
            if event.is_rewrite and (step := self.passes.lineage.step_of(event)) is not None:
                found.setdefault(step, []).append(event)
        return found

    def rewrites(self, step: int) -> Sequence[RewriteRow]:
        """Return the rules that a pass applied or refused."""
        rows, by = [], pass_of_step(self.passes, step).name
        for e in self._rule_events.get(step, ()):
            sentence, location = rule_summary(e.by, by)
            made = tuple(dict.fromkeys([*e.subjects[1:], *((e.facts or {}).get("created") or ())]))
            rows.append(
                RewriteRow(
                    e.by,
                    verdict_of(e.acted),
                    e.subjects[0] if e.subjects else None,
                    made,
                    sentence,
                    location,
                    e.names[0] if e.names else "",
                    str(e.reason) if e.reason else "",
                )
            )
        return rows

    def rewrite(self, step: int, number: int) -> RewriteStep:
        """Repeat the rewrite with a number, from 0, in a pass; ValueError if there is none."""
        if not 0 < step <= self.passes.last:
            raise ValueError(f"the compile has no pass {step}")
        events = [e for e in self.passes[step].events if e.is_rewrite]
        if not 0 <= number < len(events):
            raise ValueError(
                f"step {step} has {len(events)} rewrites, so rewrite {number} does not exist"
            )
        with collector_paused():
            return self._replay.step(self.passes[step], events[number])

    @cached_property
    def _replay(self) -> RewriteReplay:
        return RewriteReplay(self.passes)

    def picture(self, step: int, computation: str | None = None) -> PictureGraph:
        """Return the picture of the module after a step."""
        with collector_paused():
            return pass_of_step(self.passes, step).picture(computation=computation)

    def text(self, step: int) -> Sequence[PrintedLine]:
        """Return the lines of the module after a step."""
        return pass_of_step(self.passes, step).lines

    def decisions(self, step: int | None = None) -> Sequence[Decision]:
        """Return the decisions of a step, or of all."""
        return (
            self._decisions
            if step is None
            else [row for row in self._decisions if row.step == step]
        )

    @cached_property
    def _decisions(self) -> list[Decision]:
        with collector_paused():
            return decisions_of(
                self.passes.record, self.passes.lineage, with_checks=MOST_CHECKLISTS
            )

    def panes(self) -> Sequence[CodePane]:
        """Return the final HLO as a code pane."""
        return [hlo_pane(self.passes, "xla_explorer passes")]

    def timings(self) -> Sequence[Kernel]:
        """Return no times: a trace has no program."""
        return []

    def history(self, instruction: int) -> Sequence[str]:
        """Return the history of an instruction in sentences."""
        return self.passes.lineage.sentences(instruction)


class SessionSource(TraceSource):
    """A session as an `ExplorerSource`: its trace, and the program's code, times and answers."""

    def __init__(self, session: Compilation) -> None:
        super().__init__(session.passes)
        self._session = session

    @property
    def session(self) -> Compilation:
        """The session."""
        return self._session

    @property
    def title(self) -> str:
        """The name of the module, and the compiler if it is real XLA."""
        name = self.session.source.name
        return f"{name} · compiled by XLA" if is_of_xla(self.session) else name

    def summary(self) -> Mapping[str, str | float | int]:
        """Return the summary of the trace with the backend, kernels, bytes and measured times."""
        session = self.session
        found: dict[str, str | float | int] = {
            "backend": session.backend,
            **super().summary(),
        }
        if session.seconds:  # a dump has no times
            found["compile_seconds"] = sum(session.seconds.values())
        if program_steps(session):
            found["kernels_after"] = len(program_steps(session))
            slow = len([s for s in program_steps(session) if s.runs_on == "evaluator"])
            if slow and session.backend != "interpreter":
                found["not_compiled"] = f"{number_of(slow, 'kernel')} (on the evaluator)"
        found |= _bytes(session)
        frame = session.last_profile
        if frame is not None and not is_emulated(session):
            whole = frame.iloc[0]
            found.update(
                run_us=float(whole["median_us"]),
                run_iqr_us=float(whole["iqr_us"]),
                runs=int(whole["n"]),
            )
        return found

    def rewrites(self, step: int) -> Sequence[RewriteRow]:
        """Return the rules that a pass applied or refused.

        XLA does not record rules. For its simplifier the rules of this compiler are applied to the
        same module, and each row says whether XLA changed the instruction too.
        """
        if not is_of_xla(self.session):
            return super().rewrites(step)
        with collector_paused():
            ours = self._rules_replayed(step)
            if ours is None:
                return ()
            noted = [
                (row, _BESIDE_XLA[ours.also.get(row.subject_name.lstrip("%"))])
                for row in TraceSource(ours.passes).rewrites(1)
            ]
            # The new instructions of the rules have no ids in XLA's module, so `produced` is empty.
            return [
                row._replace(produced=(), sentence=f"{row.sentence} ({words})")
                for row, words in noted
            ]

    def rewrite(self, step: int, number: int) -> RewriteStep:
        """Repeat one rewrite of a pass.

        For real XLA it is a rewrite by the rules of this compiler on the same module.
        """
        if not is_of_xla(self.session):
            return super().rewrite(step, number)
        if (ours := self._rules_replayed(step) if 0 < step <= self.passes.last else None) is None:
            raise ValueError(
                "XLA dumps no single rewrites; our rules are replayed for its algebraic simplifier"
            )
        return TraceSource(ours.passes).rewrite(1, number)

    def decisions(self, step: int | None = None) -> Sequence[Decision]:
        """Return the decisions of a step, or of all.

        If the session is compared with another program, each fusion decision has a fact that says
        what this program does with the pair.
        """
        beside, rows = (
            self.session.beside,
            [
                *super().decisions(step),
                *[row for row in self._replayed if step in (None, row.step)],
            ],
        )
        if beside is None:
            return rows
        return [
            row._replace(
                facts={**row.facts, beside.name: beside.says(self.passes.lineage, *row.subjects)}
            )
            if row.kind in FUSION_KINDS and len(row.subjects) == 2
            else row
            for row in rows
        ]

    def _rules_replayed(self, step: int) -> ReplayedRules | None:
        found: ReplayedRules | None = _replays().rules_replayed(self.session, step)
        return found

    @cached_property
    def _replayed(self) -> list[Decision]:
        """XLA's decisions, repeated with models of its policies."""
        if not is_of_xla(self.session):
            return []
        with collector_paused():
            found: list[Decision] = _replays().replayed_decisions(self.session, None)
        return found

    def steps(self) -> Sequence[StepRow]:
        """Return the passes, and the backend as a last step if it failed."""
        rows = list(super().steps())
        error = self.session.error
        if error is not None and not any(row.error for row in rows):
            last = rows[-1]
            rows.append(
                StepRow(
                    len(rows),
                    "backend",
                    self.session.backend,
                    False,
                    0.0,
                    last.instructions_after,
                    last.instructions_after,
                    0,
                    f"{type(error).__name__}: {error}",
                )
            )
        return rows

    @cached_property
    def _panes(self) -> list[CodePane]:
        return code_panes(self.session)

    def panes(self) -> Sequence[CodePane]:
        """Return the code panes; a pane that needs another compile is marked as costly."""
        return [pane._replace(costly=costly(self.session, pane)) for pane in self._panes]

    def timings(self) -> Sequence[Kernel]:
        """Return the measured kernels; none on an emulator."""
        frame = self.session.last_profile
        if frame is None or is_emulated(self.session):
            return []
        run, kernels = [float(part["median_us"].sum()) for part in (frame.whole, frame.kernels)]
        # Kernels that overlap can take longer in sum than the whole run.
        total = max(run, kernels) or 1.0
        rows = [Kernel.of(row) for row in frame.to_dict("records")]
        return [
            row if row.kernel == WHOLE_PROGRAM else row._replace(share=row.time_us / total)
            for row in rows
        ]


def no_decisions(session: Compilation | None) -> str:
    """Return why a compile has no recorded decisions, and how to get some."""
    if session is None or session.backend not in ("xla", "xla-dump"):
        return 'no decisions were recorded: compile with journal="decisions"'
    own = (
        "xe.load(FOLDER).compile()"
        if session.backend == "xla-dump"
        else 'xe.compile(module, backend="cpu")'
    )
    return (
        "XLA dumps no decisions, and this dump has none of the passes whose decisions are replayed (xe.xla.replay). "
        f"{own} compiles the same module with our passes, whose decisions have reasons"
    )


@kept
def _bytes(session: Compilation) -> dict[str, float]:
    try:
        return {
            "bytes_before": module_cost(session.source).bytes_accessed,
            "bytes_after": module_cost(session.module).bytes_accessed,
        }
    except (KeyError, ValueError, TypeError, AttributeError):
        return {}


def _replays() -> ModuleType:
    # Start-up time: only a session of real XLA needs the replays.
    from xla_explorer.explorer.xla.replay import replaying

    return replaying


def _first_of_entry(snapshot: ModuleSnapshot) -> int | None:
    entry = next((c for c in snapshot.computations if c.id == snapshot.entry), None)
    return entry.instructions[0].id if entry is not None and entry.instructions else None
