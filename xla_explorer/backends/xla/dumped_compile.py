"""A dump of real XLA in our own terms: a PassTrace, and stages by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, cast

from xla_explorer.backends.gpu.disassembly import why_no_sass
from xla_explorer.backends.interfaces import CompilationStage, hlo_stage
from xla_explorer.backends.xla.custom_kernels import custom_kernel_text, custom_kernels
from xla_explorer.backends.xla.gpu_dump import picks, sass
from xla_explorer.compiler.pipeline import PassPipeline, PassTrace, parse_pipeline
from xla_explorer.compiler.pipeline.pass_interface import ForeignPass, HloPass
from xla_explorer.compiler.pipeline.trace import PassStep
from xla_explorer.frontends.xla_dump import (
    AutotuningError,
    DumpedModule,
    DumpedStage,
    read_autotuning,
)
from xla_explorer.hlo.module import HloModule, snapshot_difference

# Begin of a kernel's code, with its name; the code ends with a brace.
_BEGINS: Final = {
    "llvm": re.compile(r'define [^@]*@"?([\w.$\-]+)"?\('),
    "ptx": re.compile(r"\s*(?:\.visible\s+)?\.entry\s+([\w.$]+)"),
}


FUSION_POLICIES: Final = {
    "fusion": "cpu-instruction-fusion{policy=xla}",
    "priority-fusion": "priority-fusion{policy=xla}",
}
"""XLA's pass -> ours by the same rules."""


def _foreign_pass(name: str) -> HloPass:
    """Return a pass of real XLA, with our pass of the same rules if there is one."""
    own = next(parse_pipeline(FUSION_POLICIES[name]).passes()) if name in FUSION_POLICIES else None
    return cast(HloPass, ForeignPass(name, own))


def dumped_trace(stages: list[DumpedStage], module: HloModule) -> PassTrace:
    """Return XLA's passes as a PassTrace, with a step for every text that differs from the last.

    Times are not in a dump.
    """
    trace = PassTrace(module, PassPipeline("xla", ()), None, stages[0].snapshot)
    before = stages[0].snapshot
    for stage in stages[1:]:
        difference = snapshot_difference(before, stage.snapshot)
        if not (difference.added or difference.removed or difference.changed):
            continue
        step = PassStep(
            len(trace.steps),
            (stage.pipeline,) if stage.pipeline else (),
            _foreign_pass(stage.name),
            {},
        )
        step.before, step.after, step.changed = before, stage.snapshot, True
        step.instructions_before, step.instructions_after = (
            before.instruction_count(),
            stage.snapshot.instruction_count(),
        )
        trace.steps.append(step)
        before = stage.snapshot
    return trace


def dumped_stages(
    dumped: DumpedModule,
    source: HloModule,
    module: HloModule,
    names: Mapping[str, str] | None = None,
) -> dict[str, CompilationStage]:
    """Return the stages: both HLO texts, LLVM IR before and after optimisation, PTX, XLA's reports.

    names: XLA's names of instructions to the module's, if they differ.
    """
    found = {"hlo": hlo_stage("hlo", source), "hlo-optimized": hlo_stage("hlo-optimized", module)}
    kernels = custom_kernels(module)
    known = _instructions(module, names or {}) | {
        kernel.function: kernel.id for kernel in kernels if kernel.function
    }
    for when, name in (("no", "llvm-ir"), ("with", "llvm-ir-optimized")):
        paths = [path for (_, kind), path in sorted(dumped.llvm.items()) if kind == when]
        if paths:
            found[name] = _text_stage(name, paths, "llvm", known)
    if dumped.ptx:
        found["ptx"] = _text_stage("ptx", dumped.ptx, "ptx", known)
        if why_no_sass() is None:
            found["sass"] = CompilationStage("sass", lambda: sass(dumped.ptx, known), "sass", "xla")
    if chosen := _picks(dumped, module):
        found["picks"] = CompilationStage("picks", lambda: (chosen, []), "text", "xla")
    if kernels:
        found["custom-kernels"] = CompilationStage(
            "custom-kernels", lambda: custom_kernel_text(module, kernels), "text", "xla"
        )
    for name, path in sorted(dumped.reports.items()):
        found[name] = _text_stage(name, [path], "text", {})
    return found


def _picks(dumped: DumpedModule, module: HloModule) -> str:
    """Return the chosen kernels of products, with the autotuner's measurements if dumped."""
    if dumped.autotuning is None:
        return picks(module)
    try:
        return picks(
            module, read_autotuning(dumped.autotuning.read_bytes(), dumped.autotuning.name)
        )
    except (AutotuningError, OSError) as problem:
        return f"{picks(module)}{problem}\n"


def _instructions(module: HloModule, names: Mapping[str, str]) -> dict[str, int]:
    """Return the instruction id of each kernel function's name.

    A function has XLA's name of the instruction, with underscores if the device permits no dots.
    """
    shown = {ours: theirs for theirs, ours in names.items()}
    found: dict[str, int] = {}
    for i in module.instructions():
        name = shown.get(i.name, i.name)
        found[name] = found[f"{name}_kernel"] = i.id
        found.setdefault(re.sub(r"[.\-]", "_", name), i.id)
    return found


def _origins(lines: list[str], language: str, known: Mapping[str, int]) -> Iterator[int | None]:
    """Yield the instruction of the kernel that each line of code belongs to."""
    begins, inside = _BEGINS.get(language), None
    for line in lines:
        if begins is not None and (head := begins.match(line)):
            inside = known.get(head[1])
        yield inside
        if line.startswith("}"):
            inside = None


def _text_stage(
    name: str, paths: list[Path], language: str, known: Mapping[str, int]
) -> CompilationStage:
    def produce() -> tuple[str, list[int | None]]:
        parts = [path.read_text(errors="replace") for path in paths]
        text = "\n".join(
            [f"; {path.name}\n{part}" for path, part in zip(paths, parts, strict=True)]
            if len(paths) > 1
            else parts
        )
        return text, list(_origins(text.split("\n"), language, known))

    return CompilationStage(name, produce, language, "xla")
