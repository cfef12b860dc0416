"""A dump of real XLA in our own terms: a PassTrace, and stages by name."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from xla_explorer.backends.interfaces import Stage, hlo_stage
from xla_explorer.compiler.pipeline import PassPipeline, PassTrace
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import HloPass
from xla_explorer.compiler.pipeline.trace import PassStep
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.xla_dump import DumpedModule, DumpedStage
from xla_explorer.hlo.module import HloModule, snapshot_difference


class _ForeignPass:
    """A pass of real XLA, by name: it ran elsewhere."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, module: HloModule, context: PassContext) -> bool:
        """A dump cannot be run again."""
        raise XlaExplorerError(f"{self.name} is a pass of real XLA, known by its dump only")


def dumped_trace(stages: list[DumpedStage], module: HloModule) -> PassTrace:
    """XLA's passes as a PassTrace: a step for every text that differs from the one before. Times are not in a dump."""
    trace = PassTrace(module, PassPipeline("xla", ()), None, stages[0].snapshot)
    before = stages[0].snapshot
    for stage in stages[1:]:
        difference = snapshot_difference(before, stage.snapshot)
        if not (difference.added or difference.removed or difference.changed):
            continue
        step = PassStep(len(trace.steps), (stage.pipeline,) if stage.pipeline else (), cast(HloPass, _ForeignPass(stage.name)), {})
        step.before, step.after, step.changed = before, stage.snapshot, True
        step.instructions_before, step.instructions_after = before.instruction_count(), stage.snapshot.instruction_count()
        trace.steps.append(step)
        before = stage.snapshot
    return trace


def dumped_stages(dumped: DumpedModule, source: HloModule, module: HloModule) -> dict[str, Stage]:
    """The artifacts: both HLO texts, LLVM IR of all kernels before and after optimisation, XLA's reports by their names."""
    found = {"hlo": hlo_stage("hlo", source), "hlo-optimized": hlo_stage("hlo-optimized", module)}
    for when, name in (("no", "llvm-ir"), ("with", "llvm-ir-optimized")):
        paths = [path for (_, kind), path in sorted(dumped.llvm.items()) if kind == when]
        if paths:
            found[name] = _text_stage(name, paths, "llvm")
    for name, path in sorted(dumped.reports.items()):
        found[name] = _text_stage(name, [path], "text")
    return found


def _text_stage(name: str, paths: list[Path], language: str) -> Stage:
    def produce() -> tuple[str, list[int | None]]:
        parts = [path.read_text(errors="replace") for path in paths]
        text = "\n".join([f"; {path.name}\n{part}" for path, part in zip(paths, parts, strict=True)] if len(paths) > 1 else parts)
        return text, [None] * (text.count("\n") + 1)

    return Stage(name, produce, language, "xla")
