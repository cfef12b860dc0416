"""Answers about a session: buffers, kernels, the machine's roof, loops, LLVM, PTX, what-ifs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.code.access_patterns import access_patterns_of
from xla_explorer.explorer.code.compile_flame import flame_of_session
from xla_explorer.explorer.code.kernel_rows import (
    BOUND_KNOWN,
    kernel_rows,
    machine_roof,
)
from xla_explorer.explorer.code.llvm.llvm_kernels import OF_LLVM
from xla_explorer.explorer.code.llvm.llvm_views import llvm_passes, remarks
from xla_explorer.explorer.code.loop_nests import KernelLoops
from xla_explorer.explorer.code.loop_text import folds_of, loop_lines, shown_loops
from xla_explorer.explorer.code.loop_what_if import loop_try
from xla_explorer.explorer.code.lowering_steps import lowering_rows
from xla_explorer.explorer.code.program import kernel_table
from xla_explorer.explorer.comparisons.comparison import compare_sessions
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
)
from xla_explorer.explorer.measures.profiling import (
    measured_kernels,
    profile,
)
from xla_explorer.explorer.page import side_by_side_data
from xla_explorer.explorer.page.buffer_view import buffer_view, sharing_reason
from xla_explorer.explorer.page.comparison_table import comparison_rows
from xla_explorer.explorer.page.questions_data import advice_data
from xla_explorer.explorer.page.reports import (
    BufferView,
    ChangedDecision,
    Column,
    ComparisonTable,
    LlvmPassRow,
    LoopAxis,
    LoopKernel,
    OverrideKey,
    OverrideRow,
    PtxCountRow,
    RemarkRow,
    SharingReason,
)
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.page.trace_reports import TraceReports
from xla_explorer.explorer.pictures.layers import Layer, layers_of
from xla_explorer.explorer.pictures.scopes import scope_boxes
from xla_explorer.explorer.questions.control import overridden
from xla_explorer.explorer.questions.overrides import overrides_of
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import (
    Compilation,
    is_of_xla,
    program_steps,
)
from xla_explorer.explorer.sessions.editing import editable_text, faults
from xla_explorer.explorer.tables.kernel import Kernel, MachineRoof
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.kept import kept

if TYPE_CHECKING:
    from xla_explorer.explorer.xla.replay.replaying import ReplayedRules

MOST_KERNELS = 2_000
MOST_EMULATED, EMULATED_PER_SECOND = 3e7, 8e6
"""Operations and words of memory that a click may emulate, and roughly how many run in a second."""
MEASURED_RUNS = 10
LONGEST_COMPARED = 20_000
"""Instructions; larger modules are compared without a run, since numpy would take minutes."""


class SessionReports(TraceReports):
    """The answers about a session: those about its trace, and about the compiled program."""

    def __init__(self, session: Compilation, source_of: Callable[[Compilation], ExplorerSource],
                 rules_replayed: Callable[[int], ReplayedRules | None] | None = None) -> None:  # fmt: skip
        super().__init__(session.passes)
        self.session, self._source_of, self._rules_replayed = session, source_of, rules_replayed

    def rewrite(self, step: int, number: int) -> RewriteStep:
        """Repeat one rewrite; of real XLA, one of our rules on the module of its simplifier."""
        if self._rules_replayed is None:
            return super().rewrite(step, number)
        if (ours := self._rules_replayed(step) if 0 < step <= self.passes.last else None) is None:
            raise ValueError(
                "XLA dumps no single rewrites; our rules are replayed for its algebraic simplifier"
            )
        return TraceReports(ours.passes).rewrite(1, number)

    def no_decisions(self) -> str:
        """Return why no decision is recorded, and how to get some."""
        if self.session.backend in ("xla", "xla-dump"):
            own = (
                "xe.load(FOLDER).compile()"
                if self.session.backend == "xla-dump"
                else 'xe.compile(module, backend="cpu")'
            )
            return (
                "XLA dumps no decisions, and this dump has none of the passes whose decisions are replayed (xe.xla.replay). "
                f"{own} compiles the same module with our passes, whose decisions have reasons"
            )
        return super().no_decisions()

    def flame(self, *, again: bool) -> list[Any]:
        """Return the flame graph of the compile.

        again: with the rules, and LLVM's passes, which takes another run of both.
        """
        return flame_of_session(self.session, rules=again, llvm=again).data()

    def buffers(self, *, with_reasons: bool = False) -> BufferView | None:
        """Return the buffer assignment, None without one."""
        if assigned_buffers(self.session) is None:
            return None
        return buffer_view(self._report, with_reasons=with_reasons)

    def why_not_shared(self, a: str, b: str) -> SharingReason:
        """Return why two values do not share memory."""
        return sharing_reason(self._report, a, b)

    @cached_property
    def _report(self) -> BufferReport:
        return buffer_report(self.session)

    @property
    def _costs(self) -> list[KernelCost]:
        return costs_of(self.session)

    # -- kernels and the machine -------------------------------------------------------------------
    def kernels(self) -> Sequence[Kernel]:
        """Return the kernels with their measured times, if any."""
        return kernel_rows(self.session)[:MOST_KERNELS]

    @cached_property
    def _layers(self) -> list[tuple[Layer, ...]]:
        blocks, place = self.whole_blocks(self.passes.last)
        paths = [tuple(block.id.removeprefix("s:").split("/")) for block in blocks]
        return [
            layers_of(
                paths[place[row.instruction]]
                if row.instruction in place
                else scope_boxes(tuple(filter(None, row.scope.split("/"))))
            )
            for row in self.kernels()
        ]

    def kernel_layers(self) -> Sequence[Sequence[Layer]]:
        """Return the graph's blocks around each kernel, from the outside in."""
        return self._layers

    @property
    def _measured(self) -> dict[int, float]:
        return {key: us for key, (us, _) in measured_kernels(self.session).items()}

    def measure(self) -> None:
        """Time the kernels on random arguments."""
        session = self.session
        if (
            session.backend not in BOUND_KNOWN
            or session.source.instruction_count() > LONGEST_COMPARED
        ):
            raise ValueError("measuring could take long: run session.profile() in a cell")
        profile(session, (), MEASURED_RUNS)

    @kept
    def loops(self) -> Sequence[LoopKernel]:
        """Return the kernels as loop nests; none for real XLA or after an error."""
        session = self.session
        if session.error is not None or is_of_xla(session) or "llvm-ir" not in session.stages():
            return ()
        kernels = shown_loops(session)
        return [
            _loop_kernel(kernel, first)
            for kernel, first in zip(kernels, loop_lines(kernels)[1], strict=True)
        ]

    def side_by_side(self, *, live: bool) -> dict[str, Any]:
        """Return the kernels and columns of the tab of code side by side."""
        return side_by_side_data.summary(self.session, self.kernels(), live=live)

    def advice(self) -> list[list[Any]]:
        """Return the advice: sentence, upper bound of the gain in us per run, source line."""
        return advice_data(self.session)

    def try_loop(self, kernel: int, schedule: str, *, run: bool) -> Any:
        """Return the nest of a kernel by another schedule; run: compiled and timed."""
        return loop_try(self.session, kernel, schedule, run)

    def lowering(self, kernel: int) -> Any:
        """Return the steps of a kernel from its nest to LLVM IR."""
        return lowering_rows(self.session, kernel)

    def side_by_side_kernel(self, kernel: int, stages: Sequence[str]) -> dict[str, Any]:
        """Return the rows of one kernel, with the code of some stages."""
        return side_by_side_data.one_kernel(self.session, kernel, stages)

    def blocks(self, kernel: int, stage: str) -> dict[str, Any]:
        """Return the basic blocks of a kernel."""
        return side_by_side_data.blocks_data(self.session, kernel, stage)

    def stage_text(self, name: str) -> list[str]:
        """Return all lines of a stage."""
        return side_by_side_data.stage_text(self.session, name)

    def source_text(self) -> str:
        """Return the text that an editor opens."""
        return editable_text(self.session)

    def faults(self, text: str) -> list[dict[str, Any]]:
        """Return the errors of an edited text."""
        return [fault._asdict() for fault in faults(text)]

    def roof(self) -> MachineRoof | None:
        """Return the machine's limits; None without measured times or machine."""
        return machine_roof(self.session)

    def columns(self) -> Sequence[Column]:
        """Return predicted times and bytes, and measured times if there are any."""
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
        """Return the user's numbers as a column.

        `given`: a mapping of names or ids to numbers, a Series with such an index, or a column of
        `session.profile` or `session.kernels()`.
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
        """Return the instructions of the session's table with this number of rows."""
        for frame in (self.session.last_profile, kernel_table(self.session)):
            if frame is not None and len(frame) == count:
                return list(frame["instruction"].tolist())
        raise ValueError(
            f"cannot match {count} numbered rows with instructions: use instruction names as the index of the column"
        )

    # -- LLVM --------------------------------------------------------------------------------------
    def llvm_kernels(self) -> Sequence[str]:
        """Return the kernels that LLVM compiled, the most expensive first."""
        if self.session.backend not in OF_LLVM or "llvm-ir" not in self.session.stages():
            return ()
        compiled = {
            s.instruction for s in program_steps(self.session) if getattr(s, "function", "")
        }
        rows = [row for row in self.kernels() if row.instruction in compiled]
        return [row.kernel for row in sorted(rows, key=lambda row: -row.time_us)]

    def llvm_passes(self, kernel: str) -> Sequence[LlvmPassRow]:
        """Return the LLVM passes that changed a kernel."""
        names = ["pass", "level", "lines_before", "lines_after", "added", "removed", "diff"]
        frame = llvm_passes(self.session, kernel)
        return [LlvmPassRow(*row) for row in frame[names].astype(object).values.tolist()]

    @kept
    def remarks(self) -> Sequence[RemarkRow]:
        """Return the remarks of LLVM's vectorisers; none for other backends than the CPU."""
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
        """Return True if the emulator has run."""
        return self.session.last_emulation is not None

    def ptx_counts(self) -> Sequence[PtxCountRow]:
        """Return the lines of PTX that ran, with counters; emulate a program that is short."""
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
                f"about {seconds:.0f} s on the emulator: run session.emulation() in a cell, then try again here"
            )
        counted = session.last_emulation or emulation(session, ())
        names = ["line", "warp_instructions", "share", "marks", "reason"]
        frame = counted.ptx.lines
        rows = frame[frame["warp_instructions"] > 0][names].astype(object).values.tolist()
        return [
            PtxCountRow(int(line), int(warps), round(float(share), 5), marks.split(", ")[0], why)
            for line, warps, share, marks, why in rows
        ]

    # -- what-ifs ----------------------------------------------------------------------------------
    def variant(
        self, force: Sequence[OverrideKey], forbid: Sequence[OverrideKey]
    ) -> tuple[ExplorerSource, ComparisonTable]:
        """Compile again with overrides, and compare times, costs and decisions."""
        other = overridden(self.session, force=force, forbid=forbid)
        note = ""
        if other.source.instruction_count() > LONGEST_COMPARED:
            comparison = compare_sessions(other, self.session)
            note = "not run: the module is long; .compare() of the new session runs it"
        else:
            try:
                arguments = random_arguments(other.source)
                comparison = compare_sessions(other, self.session, arguments, repeats=10)
                if other.backend in BOUND_KNOWN:  # an emulator takes long
                    profile(other, arguments, MEASURED_RUNS)
            except XlaExplorerError as problem:
                comparison = compare_sessions(other, self.session)
                note = f"not run: {problem.message}"
        requests = [
            (word, *one) for word, some in (("force", force), ("forbid", forbid)) for one in some
        ]
        words = [
            f"{word} {kind} of {' → '.join(['%' + name for name in names])}"
            for word, kind, *names in requests
        ]
        rows = comparison_rows(comparison)
        decisions = tuple([ChangedDecision(*row) for row in comparison.changed_decisions[:200]])
        overrides = tuple(
            [
                OverrideRow(str(w), w.granted)
                for w in overrides_of(other)[len(self.session.requested) :]
            ]
        )
        return self._source_of(other), ComparisonTable(
            ", ".join(words), rows, decisions, note, overrides
        )


def _loop_kernel(kernel: KernelLoops, first: int) -> LoopKernel:
    """Return a kernel as a row. first: the first line of its text."""
    reason, expected = kernel.reason, kernel.estimate
    axes = kernel.nest.axes() if kernel.nest is not None else {}
    run = expected.loops if expected is not None else {}
    return LoopKernel(
        kernel.name,
        kernel.instruction,
        kernel.family,
        first,
        len(kernel.lines),
        reason.code if reason is not None else "",
        reason.message if reason is not None else "",
        kernel.made_by,
        kernel.schedule,
        expected.nanoseconds if expected is not None else None,
        expected.limit if expected is not None else "",
        tuple(
            [
                LoopAxis(name, bound.kind.value, bound.axis.extent, *run.get(name, (0, 0.0)))
                for name, bound in axes.items()
            ]
        ),
        tuple(folds_of(kernel)),
        kernel.steps,
        tuple(access_patterns_of(kernel.name, kernel.nest)) if kernel.nest is not None else (),
        kernel.part,
        *([expected.where] if expected is not None else []),
    )
