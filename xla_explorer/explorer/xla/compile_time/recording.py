"""Events that XLA's profiler records while XLA compiles: stages, passes and kernels with times.

The names are those of XLA's own annotations. Source: hlo_pass_pipeline.cc, cpu_compiler.cc,
fusion_compiler.cc, jit_compiler.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.xla_profile import read_space

_COMPILE: Final = "backend_compile_and_load"
_PASSES: Final = "HLO pass"
_CHECKS: Final = "RunInvariantCheckers"
_KERNEL: Final = "FusionCompiler::Compile"
_AROUND_KERNEL: Final = ("__compute_module_", "_kernel_module")  # of XLA, with and without fusions
# Stages, each with the beginning of the names of its events; the first that matches counts.
_STAGES: Final = (
    ("autotuning", ("Autotun", "GpuAutotun", "ConvAlgorithmPicker", "GemmAlgorithmPicker")),
    ("HLO passes", (_PASSES,)),
    ("kernels to LLVM IR", ("ThunkEmitter::", "IrEmitter", "CompileModuleToLlvmIr")),
    ("LLVM", ("Codegen", "JitCompiler::Compile", "CompileToPtx", "CompileToBackendResult")),
)


class Span(NamedTuple):
    """An event of one thread. own_s: without the events inside. path: names of those around it."""

    name: str
    start_s: float
    seconds: float
    own_s: float
    path: tuple[str, ...]
    module: str


class CompileTrace(NamedTuple):
    """One recorded compile in seconds.

    total: the whole of it. stages: the time that each takes of `total`. passes: own time and runs
    by (pass, pipeline). kernels: time of each kernel's compile to LLVM IR, in threads side by side.
    """

    total: float
    stages: dict[str, float]
    passes: dict[tuple[str, str], tuple[float, int]]
    kernels: dict[str, float]


def recorded(compile_once: Callable[[], Any]) -> tuple[Any, CompileTrace]:
    """Return the result of a compile, and its trace. XlaExplorerError if another recorder runs."""
    profiler = import_optional("jaxlib._profiler", "jax")
    options = profiler.ProfileOptions()
    options.python_tracer_level = 0
    try:
        recording = profiler.ProfilerSession(options)
    except Exception as problem:
        raise XlaExplorerError(
            f"XLA's profiler cannot record this compile: {problem}",
            "end the profile that runs in this process (jax.profiler.stop_trace())",
        ) from problem
    try:
        result = compile_once()
    finally:
        data = bytes(recording.stop())
    return result, trace_of(data)


def trace_of(data: bytes) -> CompileTrace:
    """Return the trace of an XSpace that was recorded while XLA compiled."""
    threads = [
        spans_of(
            [(e.kind.name, e.start_ps, e.duration_ps, e.stat("module")) for e in line.events()]
        )
        for plane in read_space(data).planes
        for line in plane.lines()
    ]
    spans = [span for thread in threads for span in thread]
    whole = next((span for span in spans if span.name == _COMPILE), None)
    if whole is None:
        raise XlaExplorerError(
            f"XLA's profiler recorded no event {_COMPILE}",
            "use jax 0.10.2 or newer",
        )
    end = whole.start_s + whole.seconds
    inside = [span for span in spans if whole.start_s <= span.start_s <= end]
    return CompileTrace(whole.seconds, _stages(whole, inside), _passes(inside), _kernels(inside))


def spans_of(events: Iterable[tuple[str, int, int, Any]]) -> list[Span]:
    """Return the spans of one thread: each event with its own time and those around it.

    events: (name, start, duration, module) in picoseconds, in any order.
    """
    found: list[Span] = []
    open_at: list[tuple[int, int]] = []  # (end, place in found)
    for name, start, duration, module in sorted(events, key=lambda one: (one[1], -one[2])):
        while open_at and open_at[-1][0] <= start:
            open_at.pop()
        path: tuple[str, ...] = ()
        if open_at:
            outer = found[open_at[-1][1]]
            found[open_at[-1][1]] = outer._replace(own_s=outer.own_s - duration * 1e-12)
            path = (*outer.path, outer.name)
        seconds = duration * 1e-12
        found.append(Span(name, start * 1e-12, seconds, seconds, path, str(module or "")))
        open_at.append((start + duration, len(found) - 1))
    return found


def _stage_of(name: str) -> str | None:
    return next((stage for stage, starts in _STAGES if name.startswith(starts)), None)


def _stages(whole: Span, spans: list[Span]) -> dict[str, float]:
    """Return the time of each stage: of its outermost events, one after another in one thread."""
    found: dict[str, float] = {}
    begins = whole.start_s + whole.seconds
    for span in spans:
        stage = _stage_of(span.name)
        if stage is None or any(_stage_of(name) is not None for name in span.path):
            continue
        if "TaskDispatcher::dispatch" in span.path:  # beside the thread that waits for it
            continue
        found[stage] = found.get(stage, 0.0) + span.seconds
        begins = min(begins, span.start_s)
    before = begins - whole.start_s
    rest = whole.seconds - before - sum(found.values())
    return {"read the program": before, **found, "rest": max(rest, 0.0)}


def _passes(spans: list[Span]) -> dict[tuple[str, str], tuple[float, int]]:
    """Return (own seconds, runs) of each pass of a pipeline; checks count for their pass."""
    found: dict[tuple[str, str], tuple[float, int]] = {}
    for span in spans:
        is_inside = any(name.startswith(_PASSES) for name in span.path)
        if not is_inside or span.module or span.name == _CHECKS:
            continue
        pipeline = next((name for name in reversed(span.path) if name.endswith(")")), "")
        key = span.name, pipeline.rpartition(" (")[0]
        seconds, runs = found.get(key, (0.0, 0))
        found[key] = seconds + span.own_s, runs + 1
    return found


def _kernels(spans: list[Span]) -> dict[str, float]:
    found: dict[str, float] = {}
    for span in spans:
        if span.name == _KERNEL:
            name = span.module.removeprefix(_AROUND_KERNEL[0]).removesuffix(_AROUND_KERNEL[1])
            found[name] = found.get(name, 0.0) + span.seconds
    return found
