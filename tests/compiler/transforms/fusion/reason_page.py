"""Writes `notebooks/fusion_reasons.md` from the code: python tests/compiler/transforms/fusion/reason_page.py"""

from __future__ import annotations

import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[4] / "notebooks" / "fusion_reasons.md"
_PASSES = {
    "fusion": "`fusion` (CPU) and `priority-fusion` (GPU): may a producer be computed inside the kernel of its consumer?",
    "fusion-wrapper": "`fusion-wrapper`: does what was left alone become a kernel of its own?",
    "multi-output-fusion": "`multi-output-fusion`: do two loops over the same indices become one with both results?",
    "horizontal-loop-fusion": "`horizontal-loop-fusion`: do two small independent loops share a launch?",
    "horizontal-input-fusion": "`horizontal-input-fusion`: do two small independent reductions share a launch?",
    "dot-epilogue-fusion": "`dot-epilogue-fusion` (CPU and GPU): is what follows a product done to its tiles before they are stored?",
    "row-fusion": "`row-fusion`: is a whole chain of row reductions one kernel?",
    "latency-hiding": "`latency-hiding-scheduler`: does other work run between a start and its done?",
    "stream-assignment": "`stream-assignment`: does asynchronous work get a stream of its own?",
}


def page() -> str:
    """The page as markdown."""
    from xla_explorer.compiler.transforms.fusion import REASONS_BY_KIND
    from xla_explorer.compiler.transforms.fusion.reasons import USER_REASONS
    from xla_explorer.compiler.transforms.scheduling import LATENCY_HIDING_REASONS, STREAM_REASONS

    lines = [
        "# Why not fused, why not overlapped: the codes",
        "",
        "Every refusal that a fusion pass, the latency-hiding scheduler or the stream assignment records has one of these codes, a sentence",
        "with names and numbers, and the numbers as facts. `session.why_not(\"fusion\", producer, consumer)` asks;",
        "`session.decisions(kind)` lists. This page is made from the code by `tests/compiler/transforms/fusion/reason_page.py`, and tested",
        "to be complete.",
    ]
    for kind, table in {**REASONS_BY_KIND, "latency-hiding": LATENCY_HIDING_REASONS, "stream-assignment": STREAM_REASONS}.items():
        lines += ["", f"## {kind}", "", _PASSES[kind], "", "| code | it means |", "|---|---|"]
        lines += [f"| `{code}` | {text} |" for code, text in table.items()]
    lines += ["", "## any decision", "", "What the user's wishes do (`session.override`).", "", "| code | it means |", "|---|---|"]
    lines += [f"| `{code}` | {text} |" for code, text in USER_REASONS.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
