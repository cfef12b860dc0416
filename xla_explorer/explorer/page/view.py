"""Requests of the script: each is a question of the registry about what a view shows.

`asking.value_of` checks and calls them; `calls.py` writes their names, arguments and Python calls
for the script. A tab's data is the question of its name. `ExplorerSource` is the contract between a
session or a trace and everything that draws it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from xla_explorer.explorer.advice.session_advice import session_advice
from xla_explorer.explorer.asking.answering import value_of
from xla_explorer.explorer.asking.question import Cost, question
from xla_explorer.explorer.code.kernel_rows import kernel_rows, machine_roof
from xla_explorer.explorer.code.loop_text import loop_kernels
from xla_explorer.explorer.code.loop_what_if import loop_try
from xla_explorer.explorer.code.lowering_steps import lowering_rows
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.display.code_pane import CodePane, PrintedLine
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page import side_by_side_data
from xla_explorer.explorer.page.buffer_view import buffer_view, sharing_reason
from xla_explorer.explorer.page.code_rows import (
    hot_llvm_kernels,
    llvm_pass_rows,
    ptx_count_rows,
    remark_rows,
)
from xla_explorer.explorer.page.devices_data import devices_data
from xla_explorer.explorer.page.graph_columns import graph_columns
from xla_explorer.explorer.page.json_data import (
    LineData,
    PaneData,
    StepDetail,
    text_lines,
    to_mapping,
)
from xla_explorer.explorer.page.rows import Column, RewriteRow, StepRow
from xla_explorer.explorer.page.step_data import (
    TEXT_APART,
    changes,
    compile_flame,
    kernel_layers,
    pane_data,
    pass_costs,
    rewrite_data,
    tensor_data,
)
from xla_explorer.explorer.pictures.picture import PictureGraph
from xla_explorer.explorer.questions.rewrite_replay import rule_texts
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.editing import editable_text, faults
from xla_explorer.explorer.sessions.passes import RecordedPasses, pass_of_step
from xla_explorer.explorer.sessions.source_lines import stack_frames
from xla_explorer.explorer.tables.kernel import Kernel, MachineRoof
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.decision import Decision
from xla_explorer.hlo.opcodes import OPCODES

VIEW = "view"
"""The owner of these questions in the registry."""
NO_COMPILE = "this view has no compile: xe.explore(xe.compile(module)) has one"
_MOST_DRAWN = 1_500
_MOST_KERNELS = 2_000


class ExplorerSource(Protocol):
    """The interface of a session or a trace. Every method is a pure query.

    The views call `steps` at once, the others when a reader opens their part.
    """

    @property
    def passes(self) -> RecordedPasses[Any] | None:
        """The passes; None if no module can be drawn in parts."""

    @property
    def session(self) -> Compilation | None:
        """The compile; None for a trace."""

    @property
    def title(self) -> str:
        """The name of the module."""

    def view(self, *, live: bool = True) -> View:
        """Return the questions about it."""

    def summary(self) -> Mapping[str, str | float | int]:
        """Return short keys with plain values for the header.

        It formats these: backend, compiler, device, passes, changed, kernels_before, kernels_after,
        instructions_before, instructions_after, bytes_before, bytes_after, run_us, run_iqr_us,
        runs, run_us_before, compile_seconds. Others are shown unchanged.
        """

    def steps(self) -> Sequence[StepRow]:
        """Return the passes in pipeline order, after the module as written."""

    def rewrites(self, step: int) -> Sequence[RewriteRow]:
        """Return the rules that a step applied or refused."""

    def rewrite(self, step: int, number: int) -> RewriteStep:
        """Return the `number`-th row of `rewrites(step)`, repeated alone."""

    def picture(self, step: int, computation: str | None = None) -> PictureGraph:
        """Return the picture after a step, of the module or of one computation."""

    def text(self, step: int) -> Sequence[PrintedLine]:
        """Return the printed lines of the module after a step."""

    def decisions(self, step: int | None = None) -> Sequence[Decision]:
        """Return the decisions of a step, or of all."""

    def panes(self) -> Sequence[CodePane]:
        """Return the code panes."""

    def timings(self) -> Sequence[Kernel]:
        """Return the measured kernels."""

    def history(self, instruction: int) -> Sequence[str]:
        """Return the history of an instruction in sentences."""


class View:
    """The questions that the script of a view can request.

    live: the notebook's process answers later requests; an exported page has no such process. A
    trace has no answers about code and times, a source without passes none about parts of pictures:
    a table of them is empty, another request raises ValueError with the reason.
    """

    def __init__(self, source: ExplorerSource, *, live: bool = True) -> None:
        self.source, self.session, self.live = source, source.session, live

    @property
    def compiled(self) -> Compilation:
        """The compile. ValueError without one."""
        if self.session is None:
            raise ValueError(NO_COMPILE)
        return self.session

    @property
    def recorded(self) -> RecordedPasses[Any]:
        """The passes. ValueError without modules."""
        if self.source.passes is None:
            raise ValueError("the passes of this view have no modules")
        return self.source.passes

    def _known_step(self, step: int) -> int:
        last = len(self.source.steps()) - 1
        if not 0 <= step <= last:
            raise ValueError(
                f"the compile has no step {step}: 0 is as written, {last} after the last pass"
            )
        return step

    # -- steps -------------------------------------------------------------------------------------
    def detail(self, step: int, *, with_text: bool = True) -> StepDetail:
        """Return the data of a step."""
        return StepDetail(
            picture=self.source.picture(step).to_json(),
            changes=changes(self.source.passes, step),
            text=text_lines(self.source.text(step)) if with_text else None,
            rewrites=[plain(row) for row in self.source.rewrites(step)],
        )

    @question(VIEW, shown_by="session.passes[{step}].text")
    def step(self, step: int) -> StepDetail:
        """Return the picture, the text and the rewrites of a step."""
        short = self.source.steps()[self._known_step(step)].instructions_after <= TEXT_APART
        return self.detail(step, with_text=short)

    @question(VIEW, shown_by="session.passes[{step}].text")
    def text(self, step: int) -> list[LineData]:
        """Return the text of a step."""
        return text_lines(self.source.text(self._known_step(step)))

    @question(VIEW, shown_by="session.passes.history({instruction})")
    def history(self, instruction: int) -> list[str]:
        """Return the history of an instruction in sentences."""
        return list(self.source.history(instruction))

    @question(VIEW, shown_by="session.explain({instruction})")
    def about(self, instruction: int) -> list[Any]:
        """Return all decisions about an instruction."""
        return [plain(row) for row in self.source.decisions() if instruction in row.subjects]

    @question(VIEW, shown_by="session.passes[{step}].text_diff()")
    def rewrite(self, step: int, number: int) -> dict[str, Any]:
        """Return one rewrite of a step: lines and pictures before and after."""
        return rewrite_data(self.source.rewrite(step, number))

    @question(VIEW, embed=1, shown_by="session.passes.hot_rules()")
    def rules(self, names: list[str]) -> Any:
        """Return the code of declared rules."""
        return plain(rule_texts([str(name) for name in names]))

    # -- parts of a large picture ------------------------------------------------------------------
    def part(self, step: int, **how: Any) -> Any:
        """Return a part of the picture of a step, by the fields of `Region`."""
        with collector_paused():
            return pass_of_step(self.recorded, step).picture(**how).to_json()

    @question(VIEW, shown_by="session.passes[{step}].graph({instruction})")
    def around(self, step: int, instruction: int, budget: int) -> Any:
        """Return the surroundings of an instruction."""
        return self.part(step, around=[instruction], budget=max(10, min(_MOST_DRAWN, budget)))

    @question(VIEW, shown_by="session.passes[{step}].graph()")
    def opened(self, step: int, opened: list[str], show: list[int]) -> Any:
        """Return a step with some boxes open."""
        ids = [key for key in show if isinstance(key, int)]
        return self.part(step, opened=[str(one) for one in opened], show=ids)

    @question(VIEW, shown_by="session.passes[{step}].graph({first})")
    def between(self, step: int, first: int, second: int) -> Any:
        """Return the paths between two instructions."""
        return self.part(step, between=(first, second))

    # -- tabs --------------------------------------------------------------------------------------
    def rows(self) -> Sequence[Kernel]:
        """Return the kernels in execution order."""
        return [] if self.session is None else kernel_rows(self.session)[:_MOST_KERNELS]

    def llvm_kernels(self) -> Sequence[str]:
        """Return the kernels with LLVM passes, the most expensive first."""
        return [] if self.session is None else hot_llvm_kernels(self.session, self.rows())

    @question(VIEW, embed=1, shown_by="session.kernels()")
    def kernels(self) -> dict[str, Any]:
        """Return the kernels, their blocks, and those whose LLVM passes can be requested.

        Those of an exported page are in `embedding.py`.
        """
        rows = self.rows()
        return {
            "rows": plain(rows),
            "layers": plain(kernel_layers(self.session)) if self.session else [[] for _ in rows],
            "llvm": self.llvm_kernels() if self.live else [],
        }

    def roof(self) -> MachineRoof | None:
        """Return the limits of the machine of the times."""
        return None if self.session is None else machine_roof(self.session)

    def columns(self) -> Sequence[Column]:
        """Return the numbers by which the graph can be coloured."""
        return [] if self.session is None else graph_columns(self.session)

    @question(VIEW, embed=1, shown_by="session.passes.costs()")
    def pass_costs(self) -> dict[str, Any]:
        """Return the costs of the passes that changed the module."""
        flame = compile_flame(self.recorded, self.session)
        return pass_costs(self.recorded, flame, live=self.live)

    @question(VIEW, embed=1, shown_by="session.loops()")
    def loops(self) -> Any:
        """Return the kernels as loop nests, in execution order."""
        return [] if self.session is None else plain(loop_kernels(self.session))

    @question(VIEW, embed=1, shown_by="session.devices.collectives")
    def devices(self) -> dict[str, Any] | None:
        """Return the program on several devices: mesh, shardings, collectives, step, memory."""
        session = self.session
        return None if session is None else devices_data(session.source)

    @question(VIEW, shown_by="session.devices.what_if({shardings})")
    def devices_what_if(self, shardings: str) -> str:
        """Return what other annotations would change, as text."""
        return str(Devices(self.compiled.source).what_if(shardings).compare())

    @question(VIEW, shown_by="session.devices.compare_partitioning()")
    def devices_beside_xla(self) -> str:
        """Return the partitioning of real XLA beside this one, as text."""
        return str(Devices(self.compiled.source).compare_partitioning())

    @question(VIEW, embed=1, shown_by="session.buffers()")
    def buffers(self) -> dict[str, Any] | None:
        """Return the buffer assignment; in a page with reasons of pairs that share no memory."""
        if self.session is None:
            return None
        return to_mapping(buffer_view(self.session, with_reasons=not self.live))

    @question(VIEW, shown_by="session.buffers()")
    def not_shared(self, first: str, second: str) -> Any:
        """Return why two values do not share memory; the code is empty if they do."""
        return plain(sharing_reason(self.compiled, first, second))

    @question(VIEW, embed=1, shown_by="session.side_by_side()")
    def side_by_side(self) -> dict[str, Any]:
        """Return the kernels and columns of the tab of code side by side."""
        if self.session is None:
            return {"stages": [], "open": [], "kernels": [], "made": {}}
        return side_by_side_data.summary(self.session, self.rows(), live=self.live)

    @question(VIEW, shown_by="session.side_by_side()")
    def side_by_side_kernel(self, kernel: int, stages: list[str]) -> dict[str, Any]:
        """Return the rows of one kernel, with the code of some stages."""
        return side_by_side_data.one_kernel(self.compiled, kernel, [str(s) for s in stages])

    @question(VIEW, embed=1, shown_by="session.explain()")
    def advice(self) -> list[list[Any]]:
        """Return the advice: sentence, upper bound of the gain in us per run, source line."""
        session = self.compiled
        found = session_advice(session).advice if session.error is None else ()
        return [[one.sentence, one.gain_us, one.line] for one in found]

    @question(VIEW, embed=1)
    def help(self) -> dict[str, str]:
        """Return a sentence for each opcode that occurs."""
        if self.source.passes is None:
            return {}
        records = self.source.passes.lineage.records.values()
        names = dict.fromkeys([record.opcode.name for record in records])
        return {name: OPCODES[name].summary for name in names if name in OPCODES}

    # -- code --------------------------------------------------------------------------------------
    @question(VIEW, shown_by="session.llvm_ir()")
    def panes(self) -> list[PaneData]:
        """Return the code panes without their lines."""
        return pane_data(self.source.panes(), with_lines=False)

    @question(VIEW, shown_by="session.llvm_ir()")
    def pane(self, name: str) -> list[LineData]:
        """Return the lines of a code pane."""
        for pane in self.source.panes():
            if pane.name == name:
                return text_lines(pane.lines)
        raise ValueError(f"the code has no pane {name!r}")

    @question(VIEW, shown_by="session.llvm_ir()")
    def stage_text(self, name: str) -> list[str]:
        """Return the whole text of a stage."""
        return side_by_side_data.stage_text(self.compiled, name)

    @question(VIEW, shown_by="session.llvm.control_flow({kernel}, {stage})")
    def blocks(self, kernel: int, stage: str) -> dict[str, Any]:
        """Return the basic blocks of a kernel."""
        return side_by_side_data.blocks_data(self.compiled, kernel, stage)

    @question(VIEW, cost=Cost.COMPILES, shown_by="session.llvm.passes({kernel})")
    def llvm(self, kernel: str) -> Any:
        """Return the LLVM passes that changed a kernel."""
        return plain(llvm_pass_rows(self.compiled, kernel))

    @question(VIEW, cost=Cost.COMPILES, shown_by="session.llvm.remarks()")
    def remarks(self) -> Any:
        """Return the remarks of LLVM's vectorisers; none for other backends than the CPU."""
        return [] if self.session is None else plain(remark_rows(self.session))

    @question(VIEW, cost=Cost.RUNS, shown_by="session.emulation()")
    def counts(self) -> Any:
        """Return the lines of PTX that ran on the emulator, which short programs do now."""
        return plain(ptx_count_rows(self.compiled))

    @question(VIEW, cost=Cost.RUNS, shown_by="session.loops({kernel}, {schedule})")
    def loop(self, kernel: int, schedule: str, run: bool = False) -> Any:
        """Return the nest of a kernel by another schedule; run: compiled and timed."""
        return plain(loop_try(self.compiled, kernel, schedule, run))

    @question(VIEW, cost=Cost.COMPILES, shown_by="session.lowering({kernel})")
    def lowering(self, kernel: int) -> Any:
        """Return the steps of a kernel from its nest to LLVM IR."""
        return plain(lowering_rows(self.compiled, kernel))

    # -- a selection -------------------------------------------------------------------------------
    @question(VIEW, embed=1, shown_by="session.passes.callers('%NAME')")
    def callers(self) -> dict[str, Any]:
        """Return stack frames, and the innermost frame of each instruction."""
        found = self.source.passes
        if found is None:
            return {"frames": [], "of": {}}
        frames, of = stack_frames((found[0].module, found.module))
        return {"frames": frames, "of": of}

    @question(VIEW, cost=Cost.COMPILES)
    def flame(self) -> list[Any]:
        """Return the flame graph of the compile, with rules and LLVM's passes timed now."""
        return compile_flame(self.recorded, self.session, again=True)

    @question(VIEW, cost=Cost.RUNS, shown_by="session.passes.value({instruction}, step={step})")
    def values(self, instruction: int, step: int) -> dict[str, Any]:
        """Return the tensor of an instruction after a step, on random arguments."""
        return tensor_data(self.recorded, instruction, step)

    # -- the editor --------------------------------------------------------------------------------
    @question(VIEW, shown_by="session.passes[0].text")
    def source_text(self) -> str:
        """Return the text that the editor opens."""
        return editable_text(self.compiled)

    @question(VIEW)
    def faults(self, text: str) -> list[dict[str, Any]]:
        """Return the errors of an edited text."""
        return [fault._asdict() for fault in faults(text)]


def answer_of(source: ExplorerSource, call: str, args: Mapping[str, Any] | None = None) -> Any:
    """Return the answer of a view to a request, such as `kernels`.

    Raises
    ------
    UnknownQuestionError
        No request has this name, or it does not read an argument.
    ValueError
        The source has no answer.
    """
    return value_of({VIEW: source.view()}, f"{VIEW}.{call}", args or {})
