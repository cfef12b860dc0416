"""Questions about real XLA, the functions of `xe.xla`.

`xe.compile(module, backend="xla")` is one compile by the installed jaxlib. It returns a `Session`
like every backend: passes, code, buffers, and a call that runs the program on XLA.

`xe.xla` has the questions that need more than one such compile, or XLA's own records.

- `why_slow`, `profile`, `time`: where the time goes.
- `why_memory`: the values in memory at the peak.
- `join_profiles`: profiles of several hosts on one clock, with stragglers and slow links.
- `why_recompiled`: the reason for each compile by `jax.jit`.
- `why_slow_to_compile`: where the time of a compile goes.
- `run_script`, `speed_up_script`: the programs of an unmodified script, and a faster compile.
- `sweep_flags`: the effect of XLA's flags.
- `replay`, `compare`: the reasons of XLA's fusion decisions, and two compiles side by side.

The first four take a JAX function with its arguments, and compile with `backend="xla"` themselves.
The last two take sessions of that backend and dumps of XLA.
"""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

import numpy as np

from xla_explorer.backends.cpu.machine_limits import machine_limits
from xla_explorer.backends.interfaces import Executable
from xla_explorer.backends.xla.host_callbacks import (
    HostCallbackWarning,
    without_host_callbacks,
)
from xla_explorer.backends.xla.several_devices import measured_on_one
from xla_explorer.backends.xla.worker import is_processor_time
from xla_explorer.backends.xla.xla_platform import XlaExecutable
from xla_explorer.explorer.asking.question import Cost, question
from xla_explorer.explorer.compiling import compile as compile_module
from xla_explorer.explorer.devices.hosts.joined_profiles import JoinedProfiles, join_profiles
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.compilation import NotThereError
from xla_explorer.explorer.xla import (
    ProfileError,
    Replay,
    ReplayedFusion,
    ReplayRow,
    WhySlow,
    XlaProfile,
    read_profile,
    replay,
    replay_fusion,
)
from xla_explorer.explorer.xla.captured_names import with_variables
from xla_explorer.explorer.xla.compile_time import WhySlowToCompile, why_slow_to_compile
from xla_explorer.explorer.xla.differences import CauseOfDifference, cause_of_difference
from xla_explorer.explorer.xla.first_nan import FirstNan, first_nan
from xla_explorer.explorer.xla.flag_sweeps import given, sweep_flags, time
from xla_explorer.explorer.xla.flipped import Flipped, XlaDifference, differences
from xla_explorer.explorer.xla.forms import rewritten
from xla_explorer.explorer.xla.host_calls import host_calls, host_calls_note
from xla_explorer.explorer.xla.missing_jit import missing_jit_note
from xla_explorer.explorer.xla.overrides import XlaOverrides, XlaSearch, overrides, search
from xla_explorer.explorer.xla.profile import single_module
from xla_explorer.explorer.xla.program_notes import missing_donation_note, repeated_block_note
from xla_explorer.explorer.xla.risks import Risks, risks
from xla_explorer.explorer.xla.scripts import (
    ScriptGain,
    ScriptReport,
    run_script,
    speed_up_script,
)
from xla_explorer.explorer.xla.tried_advice import try_advice
from xla_explorer.explorer.xla.what_if import WhatIf
from xla_explorer.explorer.xla.why_memory import WhyMemory, explain_memory
from xla_explorer.explorer.xla.why_recompiled import WhyRecompiled, why_recompiled
from xla_explorer.explorer.xla.why_slow import RunTimes
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program import lower
from xla_explorer.frontends.jax_program.lowering import is_jitted
from xla_explorer.frontends.jax_program.stages import is_stage, jaxs_stage
from xla_explorer.hlo.module import HloModule

__all__ = [
    "CauseOfDifference", "FirstNan", "Flipped", "JoinedProfiles", "ProfileError", "Replay", "ReplayRow", "ReplayedFusion", "Risks",
    "ScriptGain", "ScriptReport",
    "WhatIf", "WhyMemory", "WhyRecompiled", "WhySlow", "WhySlowToCompile", "XlaDifference", "XlaOverrides", "XlaProfile",
    "XlaSearch", "cause_of_difference", "compare", "first_nan", "join_profiles", "overrides", "profile", "read_profile", "replay",
    "replay_fusion", "risks", "run_script", "search", "speed_up_script", "sweep_flags", "time", "why_memory", "why_recompiled",
    "why_slow", "why_slow_to_compile",
]  # fmt: skip

_ROUNDS = 5
_READ = (
    "dot-library-rewriter",
    "fusion",
)  # passes of XLA's dump that decide fusions
_MOST_RECORDED = 5  # runs: of thousands of similar events each
_RECORDED_US = 5e6  # of recorded runs together
_SECONDS_OF_ROUNDS = 8.0
_TIMED_US = 5e6  # of either compiler's runs together


@question("xla", cost=Cost.RUNS)
@explains_arguments
def profile(program: Any, *arrays: Any, repeats: int = 20, **keywords: Any) -> XlaProfile:
    """Compile a program with real XLA:CPU, run it, and read what XLA's own profiler recorded.

    XLA runs in a child process; the extra `jax` must be installed.

    Parameters
    ----------
    program : callable, HloModule, str, path or session
        A JAX function, followed by its arguments, or a module as for `xe.compile`.
    *arrays : arrays or `jax.ShapeDtypeStruct`
        The arguments; a specification becomes a random array. A module without arguments gets
        random ones.
    repeats : int, default 20
        Recorded runs, after one that is not.
    **keywords
        Keyword arguments of the JAX function.

    Returns
    -------
    XlaProfile
        XLA's kernels by their own times, joined to instructions and the user's source lines. Its
        `session` is XLA's compile.

    Raises
    ------
    MissingExtraError
        jax is not installed.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[64] parameter(0) e = f32[64] exponential(x)
    ...   ROOT r = f32[64] add(e, x) }'''
    >>> found = xe.xla.profile(text)  # doctest: +SKIP
    >>> found.kernels()["share"].sum()  # doctest: +SKIP
    1.0
    """
    session, leaves = _on_xla(program, arrays, keywords)
    _xla(session).run(leaves)
    return _recorded(session, leaves, repeats)


@question("xla", cost=Cost.RUNS)
@explains_arguments
def why_slow(program: Any, *arrays: Any, repeats: int = 20, **keywords: Any) -> WhySlow:
    """Explain where a program's time goes on real XLA:CPU.

    The page has the kernels by time, the limit of each, the fusions that XLA refused with the
    reasons, and advice in order of gain.

    Parameters
    ----------
    program : callable, HloModule, str, path or session
        A JAX function, followed by its arguments, or a module as for `xe.compile`.
    *arrays : arrays or `jax.ShapeDtypeStruct`
        The arguments; a specification becomes a random array. A module without arguments gets
        random ones.
    repeats : int, default 20
        Timed runs; five for a program that would take more than five seconds.
    **keywords
        Keyword arguments of the JAX function.

    Returns
    -------
    WhySlow
        One page; a figure is measured, or marked as an upper bound or as unknown.

    Raises
    ------
    MissingExtraError
        jax is not installed.

    Examples
    --------
    >>> import jax, jax.numpy as jnp  # doctest: +SKIP
    >>> import xla_explorer as xe
    >>> xe.xla.why_slow(jax.grad(loss), weights, batch)  # doctest: +SKIP
    """
    module, leaves = given(program, arrays, keywords)
    with ThreadPoolExecutor(
        1
    ) as beside:  # XLA works in a process of its own, and waiting for it takes no processor
        theirs = beside.submit(copy_context().run, _compiled_by_xla, module)
        placed = _ours(module, leaves)
        session = theirs.result()
    executable = _xla(session)
    executable.run(leaves)
    alone_us = executable.time(leaves, 1)[0]
    recorded = _recorded(session, leaves, min(repeats, recorded_runs(alone_us)))
    theirs_us: list[float] = []
    ours_us: list[float] = []
    each = timed_each_round(float(recorded.runs()["wall_us"].median()), repeats)
    for _ in enough_rounds(
        clock.monotonic
    ):  # in alternation, so that a change of the machine's pace affects both
        theirs_us += executable.time(leaves, each)
        if placed is not None:
            ours_us += _timed(placed, leaves, each)
    try:
        replay = replay_fusion(session)
    except NotThereError:
        replay = None
    ours = float(np.median(ours_us)) if ours_us else None
    walls_us = executable.time(leaves, each, by_wall=True) if is_processor_time() else theirs_us
    times = RunTimes(float(np.median(theirs_us)), float(np.median(walls_us)), ours)
    page = WhySlow(recorded, replay, machine_limits(), times)
    with warnings.catch_warnings():  # the compile has warned of each call already
        warnings.simplefilter("ignore", HostCallbackWarning)
        silent = without_host_callbacks(module)[0]
    page.advice, page.without_gain = try_advice(
        page.advice, silent, executable, leaves, each * _ROUNDS
    )
    page.captured = with_variables(page.captured, session.source, program)
    page.host = host_calls(program, arrays, keywords, module, leaves)
    page.notes += [
        note
        for note in (
            measured_on_one(module),
            host_calls_note(page.host),
            missing_jit_note(program, arrays, keywords, module, page.run_us),
            missing_donation_note(session.module),
            repeated_block_note(module),
        )
        if note
    ]
    return page


def _timed(executable: Executable, leaves: list[Any], repeats: int) -> list[float]:
    """Return the microseconds of each call from Python."""
    found = []
    for _ in range(repeats):
        started = clock.perf_counter_ns()
        executable.execute(leaves)
        found.append((clock.perf_counter_ns() - started) / 1e3)
    return found


def timed_each_round(run_us: float, repeats: int) -> int:
    """Return the calls of each compiler per round: one if they are long, since they vary less."""
    return max(repeats // _ROUNDS, 1) if repeats * run_us < _TIMED_US else 1


def recorded_runs(run_us: float) -> int:
    """Return the number of recorded runs: at least two, since one has no spread."""
    return max(min(_MOST_RECORDED, int(_RECORDED_US / max(run_us, 1.0))), 2)


def enough_rounds(seconds: Callable[[], float]) -> Iterator[int]:
    """Yield round numbers: five, or fewer if time runs out, but at least two.

    A loaded machine needs the time limit.
    """
    end = seconds() + _SECONDS_OF_ROUNDS
    for number in range(_ROUNDS):
        if number >= 2 and seconds() >= end:
            return
        yield number


@explains_arguments
def compare(first: Session, second: Session) -> XlaDifference:
    """Compare two compiles of one program by real XLA: the decisions that differ and their cost.

    Parameters
    ----------
    first, second : Session
        Sessions of `backend="xla"`, or dumps with every pass (`xe.load(folder)`): of another
        version, with other flags, or of an edited program.

    Returns
    -------
    XlaDifference
        Kernels, traffic and temporary memory of both, and each decision that differs, with its
        bytes and the reason of the refusal.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> old, new = xe.load("dump_old"), xe.load("dump_new")  # doctest: +SKIP
    >>> xe.xla.compare(old, new).flipped[0].why  # doctest: +SKIP
    """
    return differences(first, second, machine_limits())


@question("xla", cost=Cost.RUNS)
@explains_arguments
def why_memory(program: Any, *arrays: Any, **keywords: Any) -> WhyMemory:
    """Explain the peak memory of a program on real XLA:CPU, by source line and buffer.

    It also lists the donations that do not help.

    Parameters
    ----------
    program : callable, HloModule, str, path or session
        A JAX function, also jitted with `donate_argnums`, or a module as for `xe.compile`.
    *arrays : arrays or `jax.ShapeDtypeStruct`
        The arguments; only their shapes and types matter.
    **keywords
        Keyword arguments of the JAX function.

    Returns
    -------
    WhyMemory
        Bytes by role, by source line and by value at the peak, from XLA's buffer assignment.

    Raises
    ------
    MissingExtraError
        jax is not installed.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[64] parameter(0) e = f32[64] exponential(x)
    ...   ROOT r = f32[64] add(e, x) }'''
    >>> xe.xla.why_memory(text).by_role["parameters"]  # doctest: +SKIP
    256
    """
    donated = _donated(program, arrays, keywords)
    session, _ = _on_xla(program, arrays, keywords)
    page = explain_memory(session, donated, _xla(session).restored)
    made = rewritten("donated", session.source) if page.undonated else None
    if made is not None:
        other = _compiled_by_xla(made)
        given_away = explain_memory(other, (), _xla(other).restored)
        page.donation_saves = page.total_bytes - given_away.total_bytes
    page.captured = with_variables(page.captured, session.source, program)
    page.notes += [note for note in (measured_on_one(session.source),) if note]
    return page


def _donated(program: Any, arrays: tuple[Any, ...], keywords: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the parameters that a jitted function donates.

    The list is empty for functions that are not jitted, or hide it (equinox's `filter_jit`).
    """
    if is_stage(program) or not callable(program) or not is_jitted(program):
        return []
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="Some donated buffers were not usable"
        )  # the answer says so itself
        lowered = program.lower(*arrays, **keywords)
    lowered = jaxs_stage(lowered)
    if not hasattr(lowered, "args_info"):
        return []
    leaves = import_optional("jax", "jax").tree_util.tree_leaves(lowered.args_info)
    given_away = [number for number, leaf in enumerate(leaves) if leaf.donated]
    kept = lower(program, arrays, dict(keywords)).parameters
    if len(kept) == len(
        leaves
    ):  # a library's function: JAX sees only the arrays among its arguments
        return given_away
    return [kept.index(number) for number in given_away if number in kept]


def _on_xla(
    program: Any, arrays: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[Session, list[Any]]:
    """Return the compile by real XLA, and the leaves of its parameters."""
    module, leaves = given(program, arrays, keywords)
    return _compiled_by_xla(module), leaves


def _compiled_by_xla(module: HloModule) -> Session:
    return compile_module(module, backend="xla", read_passes=_READ)


def _xla(session: Session) -> XlaExecutable:
    executable = session.executable
    assert isinstance(executable, XlaExecutable)
    return executable


def _ours(module: HloModule, leaves: list[Any]) -> Executable | None:
    """Return the program compiled by our compiler and run once; None if it cannot compile or run.

    The page shows its time only.
    """
    try:
        executable = compile_module(module, journal="off").executable
        executable.execute(leaves)
    except XlaExplorerError:
        return None
    return executable


def _recorded(session: Session, leaves: list[Any], repeats: int) -> XlaProfile:
    """Record runs without the first, which is slower because the recorder starts with it."""
    events = _xla(session).record(leaves, repeats + 1)
    later = [event for event in events if event.run != events[0].run]
    return XlaProfile(
        session.source.name, later or events, partial(single_module, session.module), session
    )
