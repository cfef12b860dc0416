"""Reports as JSON data: the answers to a live view, and what an exported page carries of them.

A page carries buffers, kernels, the roof, remarks, the rules' code, the passes of LLVM for the most
expensive kernel, and the first rewrites one by one. What is left out is said where it would be,
with the call that shows it.
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
"""Processor time after which no further rewrite is done again for a page; it says so where they would be."""
MOST_REWRITE_INSTRUCTIONS = 1_500
MOST_LLVM_LINES = 4_000
"""Programs of more lines of LLVM IR are exported without LLVM's passes and remarks: LLVM runs again for them."""
LLVM_KERNELS = 1
BLOCKS_KERNELS = 1


def answer_report(source: ExplorerSource, message: Mapping[str, Any]) -> Any:
    """The data for one request that is about a report: {"ask": NAME} of a tab that has data, or of the reports' requests with what is read
    there.

    Raises
    ------
        ValueError: it is none of these, or the source cannot answer it.
    """
    ask = str(message.get("ask"))
    for tab in TABS:
        if ask == tab.name and tab.data is not None:
            return tab.data(source, True)
    for requests in (REQUESTS, source.reports.requests):
        if ask in requests:
            return requests[ask](source.reports, message)
    raise ValueError(f"not a request of this view: {dict(message)!r}")


def embedded_reports(source: ExplorerSource) -> dict[str, Any]:
    """What an exported page carries: the answer to each request by its key, or {"error": why} where there is none."""
    reports, steps = source.reports, list(source.steps())
    found: dict[str, Any] = {}

    def keep(key: str, make: Callable[[], Any]) -> None:
        try:
            found[key] = make()
        except Exception as problem:  # one report that cannot be made must not spoil the page
            found[key] = {"error": f"{type(problem).__name__}: {problem}"}

    for tab in TABS:
        if tab.data is not None:
            keep(tab.name, lambda data=tab.data: data(source, False))  # type: ignore[misc]
    if (
        "callers" in reports.requests
        and (callers := reports.requests["callers"](reports, {}))["of"]
    ):
        found["callers"] = callers
    if "advice" in reports.requests:
        keep("advice", lambda: reports.requests["advice"](reports, {}))
    beside = found.get("beside") or {}
    for kernel in list(beside.get("made", ()))[:BLOCKS_KERNELS]:
        for stage in beside["stages"]:
            asked = {"kernel": int(kernel), "stage": stage}
            keep(
                f"blocks {kernel} {stage}",
                partial(reports.requests["blocks"], reports, asked),
            )
    keep("help", lambda: plain(reports.opcode_help()))
    if reports.ptx_counted():
        keep("counts", lambda: plain(reports.ptx_counts()))
    lines = next((len(pane.lines) for pane in source.panes() if pane.name == "llvm-ir"), 0)
    if 0 < lines <= MOST_LLVM_LINES:
        keep("remarks", lambda: plain(reports.remarks()))
        for kernel in list(reports.llvm_kernels())[:LLVM_KERNELS]:
            keep(f"llvm {kernel}", lambda kernel=kernel: plain(reports.llvm_passes(kernel)))  # type: ignore[misc]
            if (
                isinstance(found["kernels"], dict)
                and "llvm" in found["kernels"]
                and isinstance(found[f"llvm {kernel}"], list)
            ):
                found["kernels"]["llvm"].append(kernel)
    names: dict[str, None] = {}
    shown = 0

    def rewritten(step: int, number: int) -> Any:
        return rewrite_data(reports.rewrite(step, number))

    until = time.process_time() + REWRITE_SECONDS
    for step in steps:
        if not step.rewrites or step.level != "hlo":
            continue
        for number, row in enumerate(source.rewrites(step.index)):
            names[row.rule] = None
            if (
                row.verdict != "accepted"
                or shown >= MOST_REWRITES
                or step.instructions_before > MOST_REWRITE_INSTRUCTIONS
            ):
                continue
            if time.process_time() > until:
                continue
            shown += 1
            keep(
                f"rewrite {step.index} {number}",
                partial(rewritten, step.index, number),
            )
    keep("rules", lambda: plain(reports.rules(names)))
    return found
