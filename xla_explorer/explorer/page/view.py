"""Requests of the script: each is a question of the registry about what a view shows.

`asking.value_of` checks and calls them; `calls.py` writes their names, arguments and Python calls
for the script. A tab's data is the question of its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xla_explorer.explorer.asking.answering import value_of
from xla_explorer.explorer.asking.question import Cost, question
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.json_data import (
    LineData,
    PaneData,
    StepDetail,
    text_lines,
    to_mapping,
)
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.page.step_data import TEXT_APART, pane_data, rewrite_data, step_detail

VIEW = "view"
"""The owner of these questions in the registry."""
_MOST_DRAWN = 1_500


class View:
    """The questions that the script of a view can request.

    live: the notebook's process answers later requests; an exported page has no such process.
    """

    def __init__(self, source: ExplorerSource, *, live: bool = True) -> None:
        self.source, self.reports, self.live = source, source.reports, live

    def _known_step(self, step: int) -> int:
        last = len(self.source.steps()) - 1
        if not 0 <= step <= last:
            raise ValueError(
                f"the compile has no step {step}: 0 is as written, {last} after the last pass"
            )
        return step

    # -- steps -------------------------------------------------------------------------------------
    @question(VIEW, shown_by="session.passes[{step}].text")
    def step(self, step: int) -> StepDetail:
        """Return the picture, the text and the rewrites of a step."""
        is_short = self.source.steps()[self._known_step(step)].instructions_after <= TEXT_APART
        return step_detail(self.source, step, with_text=is_short)

    @question(VIEW, shown_by="session.passes[{step}].text")
    def text(self, step: int) -> list[LineData]:
        """Return the text of a step."""
        return text_lines(self.source.text(self._known_step(step)))

    @question(VIEW, shown_by="session.passes.history({instruction})")
    def history(self, instruction: int) -> list[str]:
        """Return the history of an instruction in sentences."""
        found: list[str] = plain(list(self.source.history(instruction)))
        return found

    @question(VIEW, shown_by="session.explain({instruction})")
    def about(self, instruction: int) -> list[list[Any]]:
        """Return all decisions about an instruction."""
        return [plain(row) for row in self.source.decisions() if instruction in row.subjects]

    @question(VIEW, shown_by="session.passes[{step}].text_diff()")
    def rewrite(self, step: int, number: int) -> dict[str, Any]:
        """Return one rewrite of a step: lines and pictures before and after."""
        return rewrite_data(self.reports.rewrite(step, number))

    @question(VIEW, embed=1, shown_by="session.passes.hot_rules()")
    def rules(self, names: list[str]) -> dict[str, Any]:
        """Return the code of declared rules."""
        found: dict[str, Any] = plain(self.reports.rules([str(name) for name in names]))
        return found

    # -- parts of a large picture ------------------------------------------------------------------
    @question(VIEW, shown_by="session.passes[{step}].graph({instruction})")
    def around(self, step: int, instruction: int, budget: int) -> Any:
        """Return the surroundings of an instruction."""
        most = max(10, min(_MOST_DRAWN, budget))
        return self.reports.picture(step, around=[instruction], budget=most).to_json()

    @question(VIEW, shown_by="session.passes[{step}].graph()")
    def opened(self, step: int, opened: list[str], show: list[int]) -> Any:
        """Return a step with some boxes open."""
        ids = [key for key in show if isinstance(key, int)]
        return self.reports.picture(step, opened=[str(one) for one in opened], show=ids).to_json()

    @question(VIEW, shown_by="session.passes[{step}].graph({first})")
    def between(self, step: int, first: int, second: int) -> Any:
        """Return the paths between two instructions."""
        return self.reports.picture(step, between=(first, second)).to_json()

    # -- tabs --------------------------------------------------------------------------------------
    @question(VIEW, embed=1, shown_by="session.kernels()")
    def kernels(self) -> dict[str, Any]:
        """Return the kernels, their blocks, and those whose LLVM passes can be requested.

        Those of an exported page are in `embedding.py`.
        """
        return {
            "rows": plain(self.reports.kernels()),
            "layers": plain(self.reports.kernel_layers()),
            "llvm": plain(self.reports.llvm_kernels()) if self.live else [],
        }

    @question(VIEW, embed=1, shown_by="session.passes.costs()")
    def pass_costs(self) -> dict[str, Any]:
        """Return the costs of the passes that changed the module."""
        return self.reports.pass_costs(live=self.live)

    @question(VIEW, embed=1, shown_by="session.loops()")
    def loops(self) -> list[list[Any]]:
        """Return the kernels as loop nests."""
        found: list[list[Any]] = plain(self.reports.loops())
        return found

    @question(VIEW, embed=1, shown_by="session.buffers()")
    def buffers(self) -> dict[str, Any] | None:
        """Return the buffer assignment; in a page with reasons of pairs that share no memory."""
        return to_mapping(self.reports.buffers(with_reasons=not self.live))

    @question(VIEW, shown_by="session.buffers()")
    def not_shared(self, first: str, second: str) -> list[Any]:
        """Return why two values do not share memory."""
        found: list[Any] = plain(self.reports.why_not_shared(first, second))
        return found

    @question(VIEW, embed=1, shown_by="session.side_by_side()")
    def side_by_side(self) -> dict[str, Any]:
        """Return the kernels and columns of the tab of code side by side."""
        return self.reports.side_by_side(live=self.live)

    @question(VIEW, shown_by="session.side_by_side()")
    def side_by_side_kernel(self, kernel: int, stages: list[str]) -> dict[str, Any]:
        """Return the rows of one kernel, with the code of some stages."""
        return self.reports.side_by_side_kernel(kernel, [str(s) for s in stages])

    @question(VIEW, embed=1, shown_by="session.explain()")
    def advice(self) -> list[list[Any]]:
        """Return the advice: sentence, upper bound of the gain in us per run, source line."""
        return self.reports.advice()

    @question(VIEW, embed=1)
    def help(self) -> dict[str, str]:
        """Return a sentence for each opcode that occurs."""
        return dict(self.reports.opcode_help())

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
        return self.reports.stage_text(name)

    @question(VIEW, shown_by="session.llvm.control_flow({kernel}, {stage})")
    def blocks(self, kernel: int, stage: str) -> dict[str, Any]:
        """Return the basic blocks of a kernel."""
        return self.reports.blocks(kernel, stage)

    @question(VIEW, cost=Cost.COMPILES, shown_by="session.llvm.passes({kernel})")
    def llvm(self, kernel: str) -> list[list[Any]]:
        """Return the LLVM passes that changed a kernel."""
        found: list[list[Any]] = plain(self.reports.llvm_passes(kernel))
        return found

    @question(VIEW, cost=Cost.COMPILES, shown_by="session.llvm.remarks()")
    def remarks(self) -> list[list[Any]]:
        """Return the remarks of LLVM's vectorisers."""
        found: list[list[Any]] = plain(self.reports.remarks())
        return found

    @question(VIEW, cost=Cost.RUNS, shown_by="session.emulation()")
    def counts(self) -> list[list[Any]]:
        """Return the lines of PTX that ran on the emulator."""
        found: list[list[Any]] = plain(self.reports.ptx_counts())
        return found

    @question(VIEW, cost=Cost.RUNS, shown_by="session.loops({kernel}, {schedule})")
    def loop(self, kernel: int, schedule: str, run: bool = False) -> list[Any]:
        """Return the nest of a kernel by another schedule; run: compiled and timed."""
        found: list[Any] = plain(self.reports.try_loop(kernel, schedule, run=run))
        return found

    @question(VIEW, cost=Cost.COMPILES, shown_by="session.lowering({kernel})")
    def lowering(self, kernel: int) -> list[list[Any]]:
        """Return the steps of a kernel from its nest to LLVM IR."""
        found: list[list[Any]] = plain(self.reports.lowering(kernel))
        return found

    # -- a selection -------------------------------------------------------------------------------
    @question(VIEW, embed=1, shown_by="session.passes.callers('%NAME')")
    def callers(self) -> dict[str, Any]:
        """Return stack frames, and the innermost frame of each instruction."""
        return self.reports.callers()

    @question(VIEW, cost=Cost.COMPILES)
    def flame(self) -> list[Any]:
        """Return the flame graph of the compile, with rules and LLVM's passes timed now."""
        return self.reports.flame(again=True)

    @question(VIEW, cost=Cost.RUNS, shown_by="session.passes.value({instruction}, step={step})")
    def values(self, instruction: int, step: int) -> dict[str, Any]:
        """Return the tensor of an instruction after a step, on random arguments."""
        return self.reports.values(instruction, step)

    # -- the editor --------------------------------------------------------------------------------
    @question(VIEW, shown_by="session.passes[0].text")
    def source_text(self) -> Any:
        """Return the text that the editor opens."""
        return self.reports.source_text()

    @question(VIEW)
    def faults(self, text: str) -> list[dict[str, Any]]:
        """Return the errors of an edited text."""
        return self.reports.faults(text)


def answer_of(source: ExplorerSource, call: str, args: Mapping[str, Any] | None = None) -> Any:
    """Return the answer of a view to a request, such as `kernels`.

    Raises
    ------
    UnknownQuestionError
        No request has this name, or it does not read an argument.
    ValueError
        The source has no answer.
    """
    return value_of({VIEW: View(source)}, f"{VIEW}.{call}", args or {})
