"""The answers that an exported page carries.

A page carries buffers, kernels, the roof, remarks and the rules' code. It has LLVM's passes of the
most expensive kernel, and the first rewrites one by one. In place of anything left out is the call
that shows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from xla_explorer.explorer.asking.answering import called
from xla_explorer.explorer.asking.question import questions
from xla_explorer.explorer.code.loop_text import loop_kernels
from xla_explorer.explorer.page.view import VIEW, ExplorerSource

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


def embedded_reports(source: ExplorerSource) -> dict[str, Any]:
    """Return the answers that an exported page carries, by request; {"error": why} if one fails."""
    answers = _Answers(source)
    answers.add_whole_answers()
    answers.add_basic_blocks()
    answers.add_llvm()
    answers.add_lowering()
    answers.add_rewrites()
    return answers.found


class _Answers:
    """The answers of a page, collected by request."""

    def __init__(self, source: ExplorerSource) -> None:
        self.source, self.view = source, source.view(live=False)
        self.found: dict[str, Any] = {}

    def keep(self, key: str, make: Callable[[], Any]) -> None:
        """Add an answer, or its error: one report that fails must not spoil the page."""
        try:
            self.found[key] = make()
        except Exception as problem:
            self.found[key] = {"error": f"{type(problem).__name__}: {problem}"}

    def add_whole_answers(self) -> None:
        """Add the answers without arguments that a page has, such as the data of the tabs."""
        session = self.source.session
        for name, asked in questions(of_views=True).items():
            if asked.owner == VIEW and asked.embed and not asked.arguments:
                if name == f"{VIEW}.advice" and session is None:
                    continue
                self.keep(name.removeprefix(f"{VIEW}."), partial(called, asked, self.view, {}))
        if not self.found["callers"].get("of"):
            del self.found["callers"]
        if session is not None and session.last_emulation is not None:
            self.keep("counts", self.view.counts)

    def add_basic_blocks(self) -> None:
        """Add the control flow of the first kernels of the tab of code side by side."""
        shown = self.found.get("side_by_side") or {}
        for kernel in list(shown.get("made", ()))[:BLOCKS_KERNELS]:
            for stage in shown["stages"]:
                self.keep(f"blocks {kernel} {stage}", partial(self.view.blocks, int(kernel), stage))

    def add_llvm(self) -> None:
        """Add LLVM's remarks and the passes of the most expensive kernels."""
        panes = self.source.panes()
        lines = next((len(pane.lines) for pane in panes if pane.name == "llvm-ir"), 0)
        if not 0 < lines <= MOST_LLVM_LINES:
            return
        self.keep("remarks", self.view.remarks)
        for kernel in list(self.view.llvm_kernels())[:LLVM_KERNELS]:
            self.keep(f"llvm {kernel}", partial(self.view.llvm, kernel))
            kernels = self.found["kernels"]
            has_passes = isinstance(self.found[f"llvm {kernel}"], list)
            if isinstance(kernels, dict) and "llvm" in kernels and has_passes:
                kernels["llvm"].append(kernel)

    def add_lowering(self) -> None:
        """Add the lowering steps of the first kernels with a loop nest."""
        shown = () if self.source.session is None else loop_kernels(self.source.session)
        for kernel in [k for k in shown if not k.code][:LOWERED_KERNELS]:
            call = partial(self.view.lowering, kernel.instruction)
            self.keep(f"lowering {kernel.instruction}", call)

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
                    f"rewrite {step.index} {number}", partial(self.view.rewrite, step.index, number)
                )
        self.keep("rules", partial(self.view.rules, list(names)))
