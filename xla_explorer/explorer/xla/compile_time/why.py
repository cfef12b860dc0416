"""`xe.xla.why_slow_to_compile`: compile a function under XLA's profiler, and read the record."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.explorer.xla.compile_time.causes import causes_of
from xla_explorer.explorer.xla.compile_time.kernel_compile import KernelCompile
from xla_explorer.explorer.xla.compile_time.recording import CompileTrace, recorded
from xla_explorer.explorer.xla.compile_time.report import (
    CompileStage,
    PassTime,
    TriedFlag,
    WhySlowToCompile,
)
from xla_explorer.explorer.xla.places import PlacedModule, short_place
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.frontends.jax_program import lower
from xla_explorer.frontends.jax_program.lowering import is_jitted
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

# Settings that shorten LLVM's work; machine code may be slower.
_SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {"xla_backend_optimization_level": 1},
    {"xla_llvm_disable_expensive_passes": True},
)
_ROUNDS: Final = 3
_OF_KERNELS: Final = ("LLVM", "kernels to LLVM IR")  # stages that compile each kernel by itself
_NO_KERNEL: Final = frozenset(
    {
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "while",
        "call",
        "conditional",
    }
)


def why_slow_to_compile(
    function: Any, *arrays: Any, flags: bool = False, **keywords: Any
) -> WhySlowToCompile:
    """Explain where the time goes from a JAX function to machine code, on real XLA:CPU.

    The function is traced, lowered and compiled in this process while XLA's profiler records.
    JAX's persistent compilation cache is off meanwhile.

    Parameters
    ----------
    function
        A JAX function, jitted or not.
    *arrays
        Its arguments, or `jax.ShapeDtypeStruct`.
    flags
        Try settings of XLA that shorten a compile: six more compiles each.
    **keywords
        Keyword arguments of the function.

    Returns
    -------
    WhySlowToCompile
        Times by stage, pass, kernel, line and kind, and the causes in the program.

    Raises
    ------
    XlaExplorerError
        It is no JAX function, or another profile runs in this process.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> xe.xla.why_slow_to_compile(step, parameters, batch).headline()  # doctest: +SKIP
    'jit_step compiles in 2.10 s, 61 % of it LLVM'
    """
    if not callable(function):
        raise XlaExplorerError(
            f"why_slow_to_compile takes a JAX function, got {type(function).__name__}",
            "pass the function and its arguments",
        )
    jax = import_optional("jax", "jax")
    cached = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        started = time.perf_counter()
        traced = _traced(jax, function, arrays, keywords)
        between = time.perf_counter()
        lowered = traced.lower()
        lowered_at = time.perf_counter()
        compiled, trace = recorded(lowered.compile)
        jax_times = {"trace": between - started, "lower": lowered_at - between}
        module = lower(function, arrays, dict(keywords)).module  # after the trace that is timed
        page = _page(module, _module_of(compiled), jax_times, trace)
        if flags:
            page.tried = [_tried(lowered.compile, options) for options in _SETTINGS]
    finally:
        jax.config.update("jax_enable_compilation_cache", cached)
    return page


def _traced(jax: Any, function: Any, arrays: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Return the trace of a function, made anew: JAX keeps traces by the function object."""

    def again(*given: Any, **named: Any) -> Any:
        return function(*given, **named)

    if is_jitted(function) and hasattr(function, "trace"):
        return function.trace(*arrays, **keywords)
    again.__name__ = getattr(function, "__name__", "function")
    return jax.jit(again).trace(*arrays, **keywords)


def _module_of(compiled: Any) -> HloModule:
    """Return XLA's scheduled module of an executable."""
    [one] = compiled.runtime_executable().hlo_modules()
    return read_hlo_proto(one.as_serialized_hlo_module_proto()).module


def _page(
    source: HloModule, scheduled: HloModule, jax_times: dict[str, float], trace: CompileTrace
) -> WhySlowToCompile:
    times = {**jax_times, **trace.stages}
    whole = sum(times.values())
    stages = [CompileStage(name, s, s / whole if whole else 0.0) for name, s in times.items()]
    passes = [PassTime(*key, seconds, runs) for key, (seconds, runs) in trace.passes.items()]
    kernels = _kernels(scheduled, trace)
    in_kernels = sum([times.get(name, 0.0) for name in _OF_KERNELS])
    return WhySlowToCompile(
        source.name,
        stages,
        sorted(passes, key=lambda one: -one.seconds),
        kernels,
        causes_of(source, whole - in_kernels, kernels),
    )


def _kernels(module: HloModule, trace: CompileTrace) -> list[KernelCompile]:
    inside = module.fusion_computations()
    callees = {
        c for i in module.instructions() for c in i.called if i.opcode.name not in _NO_KERNEL
    }
    found = [
        (i, _size(i))
        for c in module.computations.values()
        if c not in inside and c not in callees
        for i in c.instructions.values()
        if i.opcode.name not in _NO_KERNEL
    ]
    compiled = {i: size for i, size in found if _is_compiled(i, trace)}
    whole = max(sum(compiled.values()), 1)
    places, llvm = PlacedModule(module), trace.stages.get("LLVM", 0.0)
    lines = SourceLines(module)
    rows = [
        KernelCompile(
            i.name,
            _kind(i),
            size,
            trace.kernels.get(i.name),
            llvm * compiled.get(i, 0) / whole,
            short_place(places.find(i.name)[1].line),
            _lines_inside(i, lines),
        )
        for i, size in found
    ]
    return sorted(rows, key=lambda one: -((one.emit_s or 0.0) + one.llvm_s))


def _lines_inside(i: HloInstruction, places: SourceLines) -> tuple[tuple[str, int], ...]:
    """Return the user's lines of the instructions of a fusion, each with their number."""
    inside = [one for c in i.called for one in c.instructions.values() if one.operands]
    found = [places.metadata_place(one.metadata) for one in inside]
    return tuple(Counter([short_place(line) for line in found if line]).items())


def _is_compiled(i: HloInstruction, trace: CompileTrace) -> bool:
    """Return False for library calls, and for kernels that equal one that is compiled already."""
    if i.opcode.name == "fusion":
        return i.name in trace.kernels or not trace.kernels
    return i.opcode.name not in ("custom-call", "dot", "convolution")


def _size(i: HloInstruction) -> int:
    return sum([len(c.instructions) for c in i.called]) or 1


def _kind(i: HloInstruction) -> str:
    """Return the opcode; of a fusion, that of its root and its kind."""
    if i.opcode.name != "fusion":
        return i.opcode.name
    return f"{i.called[0].root.opcode.name} fusion"


def _tried(compile_with: Callable[..., Any], options: dict[str, Any]) -> TriedFlag:
    """Compile with and without a setting in turns."""

    def seconds(given: dict[str, Any] | None) -> float:
        started = time.perf_counter()
        compile_with(compiler_options=given)
        return time.perf_counter() - started

    ratios = []
    for number in range(_ROUNDS):
        if number % 2:
            before, after = seconds(None), seconds(options)
        else:
            after, before = seconds(options), seconds(None)
        ratios.append(after / before)
    return TriedFlag(options, float(np.median(ratios)), min(ratios), max(ratios))
