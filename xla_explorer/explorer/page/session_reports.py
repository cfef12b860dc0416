"""What a trace and a session know beyond the passes, as the views ask for it: `views.reports.Reports` filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.decisions.kinds import KINDS, OF_ANY_KIND
from xla_explorer.explorer.code.compile_flame import flame_of_passes, flame_of_session
from xla_explorer.explorer.code.llvm_kernels import OF_LLVM
from xla_explorer.explorer.code.llvm_views import llvm_passes, remarks
from xla_explorer.explorer.code.loop_text import loop_lines, shown_loops
from xla_explorer.explorer.code.loop_what_if import loop_try
from xla_explorer.explorer.code.program import kernel_table
from xla_explorer.explorer.comparisons.comparison import compare_sessions
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.measures.buffer_report import (
    BufferReport,
    assigned_buffers,
    buffer_report,
)
from xla_explorer.explorer.measures.emulation import emulation
from xla_explorer.explorer.measures.kernel_costs import (
    WHOLE_PROGRAM,
    KernelCost,
    costs_of,
    measured_bound,
)
from xla_explorer.explorer.measures.kernel_formula import kernel_formula
from xla_explorer.explorer.measures.profiling import (
    kernel_threads,
    limits_here,
    measured_kernels,
    profile,
)
from xla_explorer.explorer.page import beside_data
from xla_explorer.explorer.page.comparison_table import comparison_rows
from xla_explorer.explorer.page.loop_data import loop_kernel
from xla_explorer.explorer.page.questions_data import (
    advice_data,
    callers_data,
    pass_costs,
    tensor_data,
)
from xla_explorer.explorer.page.reports import (
    ApartReason,
    Asked,
    BufferRow,
    BufferView,
    ChangedDecision,
    Column,
    ComparisonTable,
    KernelRow,
    LlvmPassRow,
    LoopKernel,
    MachineRoof,
    OverrideRow,
    PtxCountRow,
    RemarkRow,
    Reports,
    Request,
    ScheduleMoment,
)
from xla_explorer.explorer.page.requests import number, words
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.pictures.layers import layers_of
from xla_explorer.explorer.pictures.module_picture import block_groups
from xla_explorer.explorer.pictures.picture import PictureGraph, PictureGroup
from xla_explorer.explorer.pictures.scopes import scope_boxes
from xla_explorer.explorer.questions.control import overridden
from xla_explorer.explorer.questions.overrides import overrides_of
from xla_explorer.explorer.questions.rewrite_replay import RewriteReplay, rule_texts
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep, RuleText
from xla_explorer.explorer.questions.rule_times import clock_rules
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import (
    Compilation,
    is_of_xla,
    program_steps,
    scope_of,
    source_line,
)
from xla_explorer.explorer.sessions.editing import editable_text, faults
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses, pass_of_step
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.kept import kept
from xla_explorer.hlo.opcodes import OPCODES

if TYPE_CHECKING:
    from xla_explorer.explorer.xla.replay.replaying import ReplayedRules

MOST_BUFFERS = 400
MOST_REASON_BUFFERS = 20
"""Between so many of the largest buffers every pair gets its reason in an exported page."""
MOST_KERNELS = 2_000
MOST_EMULATED, EMULATED_PER_SECOND = 3e7, 8e6
"""Operations and words of memory that the emulator may take on a click, and how many it does in a second, roughly."""
MEASURED_RUNS = 10
_BOUND_KNOWN = ("cpu", "xla")
LONGEST_COMPARED = 20_000
"""Modules of more instructions are compared without running them: the reference in numpy would take minutes."""


TRACE_REQUESTS: dict[str, Request] = {
    "callers": lambda reports, m: callers_data(reports.passes),
    "flame": lambda reports, m: reports.flame(again=True),
    "values": lambda reports, m: tensor_data(reports.passes, number(m, "id"), number(m, "step")),
}
SESSION_REQUESTS: dict[str, Request] = {
    **TRACE_REQUESTS,
    "advice": lambda reports, m: advice_data(reports.session),
    "loop": lambda reports, m: plain(
        loop_try(
            reports.session, number(m, "kernel"), str(m.get("schedule") or ""), bool(m.get("run"))
        )
    ),
    "beside_kernel": lambda reports, m: beside_data.one_kernel(
        reports.session, number(m, "kernel"), words(m, "stages")
    ),
    "blocks": lambda reports, m: beside_data.blocks_data(
        reports.session, number(m, "kernel"), str(m.get("stage"))
    ),
    "stage_text": lambda reports, m: beside_data.stage_text(reports.session, str(m.get("name"))),
    "source_text": lambda reports, m: editable_text(reports.session),
    "faults": lambda reports, m: [fault._asdict() for fault in faults(str(m.get("text") or ""))],
}


class TraceReports(Reports):
    """A trace: rewrites one by one, neighbourhoods, help."""

    requests = TRACE_REQUESTS

    def __init__(self, passes: RecordedPasses[RecordedPass]) -> None:
        self.passes = passes

    @cached_property
    def _replay(self) -> RewriteReplay:
        return RewriteReplay(self.passes)

    def rules(self, names: Iterable[str]) -> dict[str, RuleText]:
        return rule_texts(names)

    def rewrite(self, step: int, number: int) -> RewriteStep:
        if not 0 < step <= self.passes.last:
            raise ValueError(f"the compile has no pass {step}")
        events = [e for e in self.passes[step].events if e.is_rewrite]
        if not 0 <= number < len(events):
            raise ValueError(f"step {step} has {len(events)} rewrites, not a number {number}")
        with collector_paused():
            return self._replay.step(self.passes[step], events[number])

    def pass_costs(self, *, live: bool = False) -> dict[str, Any]:
        return pass_costs(self.passes, self.flame(again=False), live=live)

    def flame(self, *, again: bool) -> list[Any]:
        """Where the compile spent its time.

        again: with the rules, and LLVM's passes, which takes another run of both.
        """
        return flame_of_passes(self.passes, clock_rules(self.passes) if again else None).data()

    def changes(self, step: int) -> tuple[Iterable[int], Iterable[int]] | None:
        found = pass_of_step(self.passes, step).known_diff
        return None if found is None else (found.added, found.changed)

    def picture(self, step: int, **how: Any) -> PictureGraph:
        with collector_paused():
            return pass_of_step(self.passes, step).picture(**how)

    def whole_picture(self, step: int) -> PictureGraph | None:
        most = pass_of_step(
            self.passes, step
        ).instructions  # parts of it are drawn, as the kernel draws them
        return self.picture(step, bare=True, budget=most)

    def whole_blocks(self, step: int) -> tuple[list[PictureGroup], dict[int, int]]:
        snapshot = pass_of_step(self.passes, step).snapshot
        with collector_paused():
            return block_groups(
                next(c for c in snapshot.computations if c.id == snapshot.entry), self.passes.drawn
            )

    def reasons(self) -> Mapping[str, str]:
        tables = [
            *[row.reasons for row in reversed(KINDS.values())],
            OF_ANY_KIND,
        ]  # what a code means for `fusion` counts most
        return {
            code: f"{found.sentence}; remedy: {found.remedy}"
            for table in tables
            for code, found in table.items()
        }

    def opcode_help(self) -> Mapping[str, str]:
        names = dict.fromkeys([r.opcode.name for r in self.passes.lineage.records.values()])
        return {name: OPCODES[name].summary for name in names if name in OPCODES}


class SessionReports(TraceReports):
    """A session: the trace's, and buffers, kernels, the machine, LLVM and what-ifs."""

    requests = SESSION_REQUESTS

    def __init__(self, session: Compilation, source_of: Callable[[Compilation], ExplorerSource],
                 rules_replayed: Callable[[int], ReplayedRules | None] | None = None) -> None:  # fmt: skip
        super().__init__(session.passes)
        self.session, self._source_of, self._rules_replayed = session, source_of, rules_replayed

    def rewrite(self, step: int, number: int) -> RewriteStep:
        if self._rules_replayed is None:
            return super().rewrite(step, number)
        if (ours := self._rules_replayed(step) if 0 < step <= self.passes.last else None) is None:
            raise ValueError(
                "XLA dumps no single rewrites; our rules are replayed for its algebraic simplifier"
            )
        return TraceReports(ours.passes).rewrite(1, number)

    def no_decisions(self) -> str:
        if self.session.backend in ("xla", "xla-dump"):
            own = (
                "xe.load(FOLDER).compile()"
                if self.session.backend == "xla-dump"
                else 'xe.compile(module, backend="cpu")'
            )
            return (
                "XLA dumps no decisions, and this dump has none of the passes whose decisions are replayed (xe.xla.replay). "
                f"{own} takes the same module through our passes, which say what they decide, and why"
            )
        return super().no_decisions()

    def flame(self, *, again: bool) -> list[Any]:
        return flame_of_session(self.session, rules=again, llvm=again).data()

    # -- buffers -----------------------------------------------------------------------------------
    def buffers(self, *, with_reasons: bool = False) -> BufferView | None:
        if assigned_buffers(self.session) is None:
            return None
        report = self._report
        assignment = report.assignment
        memory = assignment.memory_by_position()
        top = max(range(len(memory)), key=lambda k: memory[k][2], default=None)
        peak = assignment.held_at(memory[top][1]) if top is not None else []
        held = {value.name: size for value, size in peak}
        rows = sorted(
            [row for row in assignment.to_rows() if row["size"]],
            key=lambda row: (row["value"] not in held, -row["size"]),
        )
        hidden = max(0, len(rows) - MOST_BUFFERS)
        kept = sorted(rows[:MOST_BUFFERS], key=lambda row: (row["start"], row["offset"]))
        reasons: list[ApartReason] = []
        if with_reasons:
            names = [row["value"] for row in rows if row["kind"] == "arena"][:MOST_REASON_BUFFERS]
            for a, b in combinations(dict.fromkeys(names), 2):
                reason = self.why_apart(a, b)
                if reason.code:
                    reasons.append(reason)
        return BufferView(
            tuple(
                [
                    BufferRow(
                        row["value"],
                        row["id"],
                        row["opcode"],
                        row["shape"],
                        row["kind"],
                        row["allocation"],
                        row["offset"],
                        row["size"],
                        row["start"],
                        row["end"],
                        row["buffer_start"],
                        row["buffer_end"],
                        tuple(row["shared_with"][:20]),
                        held.get(row["value"], 0),
                        report.line_of(row["id"]),
                    )
                    for row in kept
                ]
            ),
            assignment.arena_size,
            assignment.arena_lower_bound,
            tuple(
                [
                    ScheduleMoment(i.id, i.name, position, live, report.line_of(i.id))
                    for i, position, live in memory
                ]
            ),
            top if top is not None and memory[top][2] else None,
            hidden,
            tuple(reasons),
        )

    def why_apart(self, a: str, b: str) -> ApartReason:
        try:
            reason = self._report.why_not_shared(a.split("{")[0], b.split("{")[0])
        except KeyError as problem:
            return ApartReason(
                a,
                b,
                "unknown",
                str(problem.args[0]) if problem.args else "one of them has no buffer of its own",
            )
        return (
            ApartReason(a, b, "", "")
            if reason is None
            else ApartReason(a, b, reason.code, reason.message)
        )

    @cached_property
    def _report(self) -> BufferReport:
        return buffer_report(self.session)

    @property
    def _costs(self) -> list[KernelCost]:
        return costs_of(self.session)

    # -- kernels and the machine -------------------------------------------------------------------
    @cached_property
    def _kernels(self) -> list[KernelRow]:
        """Without times, which a later run changes."""
        session = self.session
        steps = {s.instruction: s for s in program_steps(session)}
        rows = []
        for cost in self._costs[:MOST_KERNELS]:
            i, step = cost.instruction, steps.get(cost.instruction.id)
            reason = step.reason if step is not None else None
            rows.append(
                KernelRow(
                    i.name,
                    i.opcode.name,
                    kernel_formula(i),
                    step.runs_on if step is not None else "",
                    cost.times,
                    int(cost.times * cost.cost.bytes_read),
                    int(cost.times * cost.cost.bytes_written),
                    int(cost.times * (cost.cost.flops + cost.cost.transcendentals)),
                    cost.nanoseconds / 1e3,
                    None,
                    source_line(session, i.id),
                    i.id,
                    str(reason) if reason is not None else "",
                    cost.bound if session.backend in _BOUND_KNOWN else "",
                    layers_of(scope_boxes(scope_of(session, i))),
                )
            )
        blocks, place = self.whole_blocks(self.passes.last)
        paths = [tuple(block.id.removeprefix("s:").split("/")) for block in blocks]
        return [
            row._replace(layers=layers_of(paths[place[row.instruction]]))
            if row.instruction in place
            else row
            for row in rows
        ]

    @property
    def _measured(self) -> dict[int, float]:
        return {key: us for key, (us, _) in measured_kernels(self.session).items()}

    def kernels(self) -> Sequence[KernelRow]:
        measured, roof = self._measured, self.roof()
        found = []
        for row, cost in zip(self._kernels, self._costs, strict=False):
            us, bound = measured.get(cost.instruction.id), row.bound
            if us is not None and roof is not None:
                memory = 1e6 * cost.times * cost.cost.bytes_accessed / roof.bytes_per_second
                arithmetic = (
                    1e6
                    * cost.times
                    * (cost.cost.flops + cost.cost.transcendentals)
                    / roof.flops_per_second
                )
                bound = measured_bound(us, memory, arithmetic, cost.times)
            found.append(row._replace(measured_us=us, bound=bound))
        return found

    def measure(self) -> None:
        session = self.session
        if (
            session.backend not in _BOUND_KNOWN
            or session.source.instruction_count() > LONGEST_COMPARED
        ):
            raise ValueError("session.profile() in a cell measures it: here it could take long")
        profile(session, (), MEASURED_RUNS)

    @kept
    def loops(self) -> Sequence[LoopKernel]:
        session = self.session
        if session.error is not None or is_of_xla(session) or "llvm-ir" not in session.stages():
            return ()
        kernels = shown_loops(session)
        return [
            loop_kernel(kernel, first)
            for kernel, first in zip(kernels, loop_lines(kernels)[1], strict=True)
        ]

    def beside(self, *, live: bool) -> dict[str, Any]:
        return beside_data.summary(self.session, self.kernels(), live=live)

    def roof(self) -> MachineRoof | None:
        if self.session.backend not in ("cpu", "xla") or self.session.last_profile is None:
            return None
        limits = limits_here()
        if limits is None:
            return None
        threads = (
            limits.cores
            if self.session.backend == "xla"
            else max(kernel_threads(self.session).values(), default=1)
        )
        cached = tuple([(int(n), float(v) * threads) for n, v in limits.cached_bandwidth])
        return MachineRoof(
            limits.cpu, limits.flops(threads=threads), limits.bandwidth(threads), cached, threads
        )

    def columns(self) -> Sequence[Column]:
        measured = self._measured
        if not measured:
            return self._predicted
        model = {c.instruction.id: c.nanoseconds / 1e3 for c in self._costs}
        off = {key: us / model[key] for key, us in measured.items() if model.get(key)}
        return [
            Column("measured time", "us", measured),
            *self._predicted,
            Column("measured / predicted", "", off),
        ]

    @cached_property
    def _predicted(self) -> list[Column]:
        if not (costs := self._costs):
            return []
        return [
            Column("predicted time", "us", {c.instruction.id: c.nanoseconds / 1e3 for c in costs}),
            Column(
                "bytes moved",
                "bytes",
                {c.instruction.id: c.times * c.cost.bytes_accessed for c in costs},
            ),
        ]

    def column(self, given: Any) -> Column:
        """`given`: a mapping of names or ids to numbers, a Series with such an index, or a column of `session.profile` or
        `session.kernels()`.
        """
        title = str(getattr(given, "name", None) or "your numbers")
        pairs: Iterable[tuple[Any, Any]]
        if isinstance(given, Mapping):
            pairs = given.items()
        elif hasattr(given, "index") and hasattr(given, "tolist"):
            keys = given.index.tolist()
            if keys == list(range(len(keys))):
                keys = self._row_instructions(len(keys))
            pairs = zip(keys, given.tolist(), strict=True)
        else:
            raise ValueError(
                f"cannot colour by a {type(given).__name__}: give a mapping of instructions to numbers, or a column"
            )
        values = {}
        for key, value in pairs:
            if key is None or key != key or key == WHOLE_PROGRAM or value is None or value != value:
                continue
            values[self.session.passes.find(int(key) if isinstance(key, float) else key)] = float(
                value
            )
        unit = next((word for word in ("us", "bytes") if title.endswith(word)), "")
        return Column(title, unit, values)

    def _row_instructions(self, count: int) -> list[Any]:
        """The instructions of the rows of a table of this session that has so many rows."""
        for frame in (self.session.last_profile, kernel_table(self.session)):
            if frame is not None and len(frame) == count:
                return list(frame["instruction"].tolist())
        raise ValueError(
            f"cannot match {count} numbered rows with instructions: use instruction names as the index of the column"
        )

    # -- LLVM --------------------------------------------------------------------------------------
    def llvm_kernels(self) -> Sequence[str]:
        if self.session.backend not in OF_LLVM or "llvm-ir" not in self.session.stages():
            return ()
        compiled = {
            s.instruction for s in program_steps(self.session) if getattr(s, "function", "")
        }
        rows = [row for row in self.kernels() if row.instruction in compiled]
        return [
            row.name
            for row in sorted(rows, key=lambda row: -(row.measured_us or row.predicted_us or 0.0))
        ]

    def llvm_passes(self, kernel: str) -> Sequence[LlvmPassRow]:
        names = ["pass", "level", "lines_before", "lines_after", "added", "removed", "diff"]
        frame = llvm_passes(self.session, kernel)
        return [LlvmPassRow(*row) for row in frame[names].astype(object).values.tolist()]

    @kept
    def remarks(self) -> Sequence[RemarkRow]:
        session = self.session
        if session.backend != "cpu" or "llvm-ir" not in session.stages():
            return []
        ids = {i.name: i.id for i in session.module.instructions()}
        rows = remarks(session).astype(object).values.tolist()
        return [
            RemarkRow(kind, by, message, name, line, ids.get(name.lstrip("%")))
            for kind, by, message, name, line in rows
        ]

    # -- PTX on the emulator -----------------------------------------------------------------------
    def ptx_counted(self) -> bool:
        return self.session.last_emulation is not None

    def ptx_counts(self) -> Sequence[PtxCountRow]:
        session = self.session
        work = sum(
            [
                c.times * (c.cost.flops + c.cost.transcendentals + c.cost.bytes_accessed / 4)
                for c in self._costs
            ]
        )
        if session.last_emulation is None and work > MOST_EMULATED:
            seconds = work / EMULATED_PER_SECOND
            raise ValueError(
                f"about {seconds:.0f} s on the emulator: run session.emulation() in a cell, then ask here again"
            )
        counted = session.last_emulation or emulation(session, ())
        names = ["line", "warp_instructions", "share", "marks", "why"]
        frame = counted.ptx.lines
        rows = frame[frame["warp_instructions"] > 0][names].astype(object).values.tolist()
        return [
            PtxCountRow(int(line), int(warps), round(float(share), 5), marks.split(", ")[0], why)
            for line, warps, share, marks, why in rows
        ]

    # -- what-ifs ----------------------------------------------------------------------------------
    def variant(
        self, force: Sequence[Asked], forbid: Sequence[Asked]
    ) -> tuple[ExplorerSource, ComparisonTable]:
        other = overridden(self.session, force=force, forbid=forbid)
        note = ""
        if other.source.instruction_count() > LONGEST_COMPARED:
            comparison = compare_sessions(other, self.session)
            note = "not run: the module is long; .compare() of the new session runs it"
        else:
            try:
                arguments = random_arguments(other.source)
                comparison = compare_sessions(other, self.session, arguments, repeats=10)
                if other.backend in _BOUND_KNOWN:  # an emulator takes long
                    profile(other, arguments, MEASURED_RUNS)
            except XlaExplorerError as problem:
                comparison = compare_sessions(other, self.session)
                note = f"not run: {problem.message}"
        asked = [
            (word, *one) for word, some in (("force", force), ("forbid", forbid)) for one in some
        ]
        words = [
            f"{word} {kind} of {' → '.join(['%' + name for name in names])}"
            for word, kind, *names in asked
        ]
        rows = comparison_rows(comparison)
        decisions = tuple([ChangedDecision(*row) for row in comparison.changed_decisions[:200]])
        overrides = tuple(
            [OverrideRow(str(w), w.granted) for w in overrides_of(other)[len(self.session.asked) :]]
        )
        return self._source_of(other), ComparisonTable(
            ", ".join(words), rows, decisions, note, overrides
        )
