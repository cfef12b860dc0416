"""Reports as JSON data: answers to a live view, and those that an exported page carries.

A page carries buffers, kernels, the roof, remarks and the rules' code. It has LLVM's passes of the
most expensive kernel, and the first rewrites one by one. In place of anything left out is the call
that shows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.requests import REQUESTS, rewrite_data
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.page.tabs import TABS

MOST_REWRITES = 30
"""Rewrites that an exported page shows one by one; each is two runs of its pass."""
REWRITE_SECONDS = 1.0
"""Processor time for the rewrites of a page; the rest is replaced by a message."""
MOST_REWRITE_INSTRUCTIONS = 1_500
MOST_LLVM_LINES = 4_000
"""Lines of LLVM IR up to which a page has LLVM's passes and remarks: LLVM runs again for them."""
LLVM_KERNELS = 1
BLOCKS_KERNELS = 1
LOWERED_KERNELS = 2


def answer_report(source: ExplorerSource, message: Mapping[str, Any]) -> Any:
    """Return the data for one request about a report.

    `method` is the name of a tab with data, or one of the reports' requests.

    Raises
    ------
    ValueError
        The request is none of these, or the source has no answer.
    """
    method = str(message.get("method"))
    for tab in TABS:
        if method == tab.name and tab.data is not None:
            return tab.data(source, True)
    for requests in (REQUESTS, source.reports.requests):
        if method in requests:
            return requests[method](source.reports, message)
    raise ValueError(f"not a request of this view: {dict(message)!r}")


def embedded_reports(source: ExplorerSource) -> dict[str, Any]:
    """Return the answers that an exported page carries, by request; {"error": why} if one fails."""
    answers = _Answers(source)
    answers.add_tabs()
    answers.add_basic_blocks()
    answers.add_llvm()
    answers.add_lowering()
    answers.add_rewrites()
    return answers.found


class _Answers:
    """The answers of a page, collected by request."""

    def __init__(self, source: ExplorerSource) -> None:
        self.source, self.reports = source, source.reports
        self.found: dict[str, Any] = {}

    def keep(self, key: str, make: Callable[[], Any]) -> None:
        """Add an answer, or its error: one report that fails must not spoil the page."""
        try:
            self.found[key] = make()
        except Exception as problem:
            self.found[key] = {"error": f"{type(problem).__name__}: {problem}"}

    def add_tabs(self) -> None:
        """Add the data of the tabs, the callers, the advice, the opcodes' help and PTX counters."""
        reports = self.reports
        for tab in TABS:
            if tab.data is not None:
                self.keep(tab.name, partial(tab.data, self.source, False))
        callers = reports.requests.get("callers")
        if callers is not None and (frames := callers(reports, {}))["of"]:
            self.found["callers"] = frames
        if "advice" in reports.requests:
            self.keep("advice", lambda: reports.requests["advice"](reports, {}))
        self.keep("help", lambda: plain(reports.opcode_help()))
        if reports.ptx_counted():
            self.keep("counts", lambda: plain(reports.ptx_counts()))

    def add_basic_blocks(self) -> None:
        """Add the control flow of the first kernels of the tab of code side by side."""
        shown = self.found.get("side_by_side") or {}
        for kernel in list(shown.get("made", ()))[:BLOCKS_KERNELS]:
            for stage in shown["stages"]:
                message = {"kernel": int(kernel), "stage": stage}
                blocks = self.reports.requests["blocks"]
                self.keep(f"blocks {kernel} {stage}", partial(blocks, self.reports, message))

    def add_llvm(self) -> None:
        """Add LLVM's remarks and the passes of the most expensive kernels."""
        reports, panes = self.reports, self.source.panes()
        lines = next((len(pane.lines) for pane in panes if pane.name == "llvm-ir"), 0)
        if not 0 < lines <= MOST_LLVM_LINES:
            return
        self.keep("remarks", lambda: plain(reports.remarks()))
        for kernel in list(reports.llvm_kernels())[:LLVM_KERNELS]:
            self.keep(f"llvm {kernel}", lambda kernel=kernel: plain(reports.llvm_passes(kernel)))  # type: ignore[misc]
            kernels = self.found["kernels"]
            has_passes = isinstance(self.found[f"llvm {kernel}"], list)
            if isinstance(kernels, dict) and "llvm" in kernels and has_passes:
                kernels["llvm"].append(kernel)

    def add_lowering(self) -> None:
        """Add the lowering steps of the first kernels with a loop nest."""
        lowering = self.reports.requests.get("lowering")
        if lowering is None:
            return
        for kernel in [k for k in self.reports.loops() if not k.code][:LOWERED_KERNELS]:
            message = {"kernel": kernel.instruction}
            self.keep(f"lowering {kernel.instruction}", partial(lowering, self.reports, message))

    def add_rewrites(self) -> None:
        """Add the first rewrites one by one, and the code of all rules that acted."""
        names: dict[str, None] = {}
        shown, until = 0, time.process_time() + REWRITE_SECONDS
        for step in self.source.steps():
            if not step.rewrites or step.level != "hlo":
                continue
            is_small = step.instructions_before <= MOST_REWRITE_INSTRUCTIONS
            for number, row in enumerate(self.source.rewrites(step.index)):
                names[row.rule] = None
                if row.verdict != "accepted" or shown >= MOST_REWRITES or not is_small:
                    continue
                if time.process_time() > until:
                    continue
                shown += 1
                self.keep(
                    f"rewrite {step.index} {number}", partial(self._rewrite, step.index, number)
                )
        self.keep("rules", lambda: plain(self.reports.rules(names)))

    def _rewrite(self, step: int, number: int) -> Any:
        return rewrite_data(self.reports.rewrite(step, number))
