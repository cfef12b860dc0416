"""`xe.xla.search`: kernels and flags of real XLA, tried by measurement in turns with the base."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.compiler.pipeline.value_check import largest_error
from xla_explorer.compiler.xla.regrouping import edges_between, edges_inside
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.loading import has_module
from xla_explorer.explorer.xla.flag_sweeps import given, runnable
from xla_explorer.explorer.xla.forms import FORMS, form_sentence, rewritten
from xla_explorer.explorer.xla.median_interval import median_interval
from xla_explorer.explorer.xla.overrides.hook import hooks_of_jax, overridden
from xla_explorer.explorer.xla.overrides.report import XlaOverrides
from xla_explorer.explorer.xla.overrides.requests import make_requests
from xla_explorer.explorer.xla.overrides.searched_program import (
    Change,
    Compiled,
    SearchedProgram,
)
from xla_explorer.explorer.xla.what_if import largest_difference
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.frontends.jax_program.lowering import stablehlo_bytecode
from xla_explorer.frontends.jax_program.stages import is_stage
from xla_explorer.hlo.module import HloModule

# Flags of XLA:CPU whose results are compared; JAX's users report that these matter.
FLAGS: Final[tuple[tuple[str, Any], ...]] = (
    ("xla_cpu_experimental_ynn_fusion_type", ""),
    ("xla_cpu_use_fusion_emitters", False),
    ("xla_reduce_window_rewrite_base_length", 8),
    ("xla_cpu_multi_thread_eigen", False),
    ("xla_cpu_enable_concurrency_optimized_scheduler", False),
    ("xla_cpu_enable_fast_min_max", True),
    ("xla_cpu_enable_fast_math", True),
    ("xla_cpu_prefer_vector_width", 512),
    ("xla_cpu_prefer_vector_width", 256),
    ("xla_cpu_copy_insertion_use_region_analysis", True),
    ("xla_disable_hlo_passes", "fusion"),
    ("xla_disable_hlo_passes", "algsimp"),
    ("xla_disable_hlo_passes", "transpose-folding"),
)
# Rewritten forms whose elements keep their places.
_FORMS: Final = tuple([name for name, one in FORMS.items() if one.most_different is not None])
_FIRST: Final = 4  # rounds after which a trial that is not faster is given up
_ROUNDS: Final = 11  # of a trial
_CONFIRMING: Final = 25  # rounds of the final comparison
_LONG: Final = 0.3  # seconds of a run, above which eleven rounds confirm
_LEAST_SECONDS: Final = 2e-3  # of one measurement: several runs, if one is shorter


class Space(NamedTuple):
    """The trials of a search beside splits and joins of kernels: rewritten forms, flags of XLA."""

    forms: Sequence[str]
    flags: Sequence[tuple[str, Any]]


class Trial(NamedTuple):
    """One change that was compiled and timed.

    Attributes
    ----------
    word : str
        flag, form, forbid or fuse.
    change : str
        The flag with its value, the form's name, or the two instructions.
    ratio : float or None
        Median over the rounds of (time with the change : time without); None if nothing was timed.
    low, high : float or None
        The interval in which this median lies with a probability of 95 %.
    kept : bool
        True if the search went on from this change.
    note : str
        Why nothing was timed, or why the change was not kept.
    """

    word: str
    change: str
    ratio: float | None
    low: float | None
    high: float | None
    kept: bool
    note: str


class XlaSearch(Report):
    """Trials of a search, and the fastest program that it found.

    Attributes
    ----------
    best : Change
        Flags, pairs and forms of the fastest program; empty if nothing was faster.
    ratio, low, high : float
        Time of the best program : time of XLA's, timed again at the end, with the interval of the
        median (95 %). 1.0 if nothing was faster.
    trials : list of Trial
        In the order in which they were tried.
    seconds : float
        How long the search took.
    """

    __slots__ = ("best", "high", "low", "name", "ratio", "seconds", "trials")

    def __init__(self, name: str) -> None:
        self.name = name
        self.best, self.ratio, self.low, self.high = Change(), 1.0, 1.0, 1.0
        self.trials: list[Trial] = []
        self.seconds = 0.0

    @property
    def overrides(self) -> XlaOverrides:
        """The pairs of the best program; its flags too, which act from a file."""
        requests = make_requests(
            self.best.fuse,
            self.best.forbid,
            when=self.name,
            flags=self.flags,
            jaxlib=version("jaxlib"),
        )
        return XlaOverrides(requests, overridden)

    @property
    def flags(self) -> dict[str, Any]:
        """The flags of the best program, for `compiler_options` of jax's `compile`."""
        return dict(self.best.flags)

    def save(self, path: str | Path) -> Path:
        """Write pairs and flags of the best program, for `XLA_EXPLORER_XLA_OVERRIDES`."""
        return self.overrides.save(path)

    def headline(self) -> str:
        """Return the confirmed gain and the number of trials."""
        timed = len([one for one in self.trials if one.ratio is not None])
        tried = f"{timed} of {len(self.trials)} changes timed in {self.seconds:.0f} s"
        if self.best == Change():
            return f"{self.name}: XLA's own program stays the fastest; {tried}"
        times = f"{self.ratio:.2f} of XLA's time ({self.low:.2f} to {self.high:.2f})"
        return f"{self.name}: {times}; {tried}"

    def blocks(self) -> Blocks:
        """Yield how to use the best program, and the trials."""
        for name in self.best.forms:
            yield Sentence(f"write the program in another form: {form_sentence(name)}")
        if self.best.flags:
            yield Sentence(f"jax.jit(f).lower(...).compile(compiler_options={self.flags})")
        if self.best.fuse or self.best.forbid:
            pairs = {"fuse": list(self.best.fuse), "forbid": list(self.best.forbid)}
            given = ", ".join([f"{word}={one}" for word, one in pairs.items() if one])
            yield Sentence(f"with xe.xla.overrides({given}): ...")
        yield self.records()

    def records(self) -> Table:
        """Return a row for each trial."""
        return Table(list(Trial._fields), [tuple(one) for one in self.trials])


def search(function: Any, *arrays: Any, seconds: float = 60.0, **keywords: Any) -> XlaSearch:
    """Search forms, flags and fusions of real XLA:CPU for a faster program, by measurement.

    XLA compiles the program in a child process, again for each trial. A change with which XLA
    crashes is one more trial, and the child is replaced. Calls of Python functions are left
    out, with a warning. A trial rewrites the program in another form, changes one flag, splits
    one fusion or joins two kernels. It has the changes kept so far as well. A trial is kept if
    its values agree and its time is below the best one's in an interval that excludes 1.0. The
    largest kernels come first. At the end the best program is timed again, in turns with XLA's
    own.

    Parameters
    ----------
    function
        A JAX function, jitted or not, or what `xe.compile` takes. Without a donation of its own it
        is tried with all arguments donated that a result can overwrite.
    *arrays
        Its arguments; random ones for a module without them.
    seconds
        Time for the trials; a trial that has begun ends.
    **keywords
        Keyword arguments of the function.

    Returns
    -------
    XlaSearch
        The confirmed gain, the flags and pairs, every trial.

    Raises
    ------
    XlaExplorerError
        jax is older than 0.10.2, or the program needs several devices.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> found = xe.xla.search(step, parameters, batch, seconds=60)  # doctest: +SKIP
    >>> found.headline()  # doctest: +SKIP
    'jit_step: 0.87 of XLA's time (0.85 to 0.89); 31 of 40 changes timed in 60 s'
    """
    hooks_of_jax()  # an error before anything is compiled
    module, leaves = given(function, arrays, keywords)
    is_function = callable(function) and not is_stage(function) and not has_module(function)
    whole, module = module, runnable(module)
    stablehlo = None
    if is_function and module is whole:
        stablehlo = stablehlo_bytecode(function, arrays, keywords)
    return search_module(module, leaves, seconds, stablehlo)


def search_module(
    module: HloModule,
    leaves: Sequence[Any],
    seconds: float,
    stablehlo: bytes | None = None,
    space: Space | None = None,
) -> XlaSearch:
    """Search a module with its leaves. stablehlo: the program as JAX gave it to XLA."""
    began = time.monotonic()
    space = space if space is not None else Space(_FORMS, FLAGS)
    found = XlaSearch(module.name)
    with closing(SearchedProgram(module, leaves, stablehlo)) as program:
        searched = _Climb(program, found, seconds)
        forms = [one for one in space.forms if one != "donated" or not program.is_donated]
        usable = [name for name in forms if rewritten(name, module) is not None]
        searched.climb([("form", name) for name in usable])
        program.compiled(searched.change)
        compiled = read_hlo_proto(max(program.modules, key=len)).module
        searched.climb(_steps(compiled, space.flags))
        searched.confirm()
    found.seconds = time.monotonic() - began
    return found


class _Climb:
    """A search that keeps each change with which the program is faster than with those before."""

    def __init__(
        self,
        program: SearchedProgram,
        found: XlaSearch,
        seconds: float,
    ) -> None:
        self.program, self.found = program, found
        self.change = Change()
        self.base = self.best = program.compiled(self.change)
        self.expected = program.values(self.base)
        self.end = time.monotonic() + seconds  # of trials: XLA's own compile is not one

    def climb(self, steps: Iterable[tuple[str, Any]]) -> None:
        """Try steps while there is time."""
        for word, step in steps:
            if time.monotonic() > self.end:
                return
            self._try(word, step)

    def _try(self, word: str, step: Any) -> None:
        named = {"flag": lambda: f"{step[0]}={step[1]}", "form": lambda: str(step)}
        described = named.get(word, lambda: f"%{step[0]} %{step[1]}")()
        trial = self.change.with_step(word, step)
        expected = (word, step) if word in ("forbid", "fuse") else None
        made, times, note = None, None, ""
        try:
            made = self.program.compiled(trial, expected)
            note = self._difference(trial, self.program.values(made))
            times = None if note else self._timed(made)
        except XlaExplorerError as problem:  # XLA's own words, or how its process ended
            note = str(problem).splitlines()[0][:120]
        if made is None or times is None:
            self.found.trials.append(Trial(word, described, None, None, None, False, note))
            return
        kept = times[2] < 1.0
        note = "" if kept else "the interval has 1.0" if times[0] < 1.0 else "not faster"
        self.found.trials.append(Trial(word, described, *times, kept, note))
        if kept:
            self.best, self.change = made, trial

    def _timed(self, made: Compiled) -> tuple[float, float, float]:
        """Return the ratios of a trial; after the first rounds only, if it is not faster."""
        first = _ratios(self.program, self.best, made, _FIRST)
        if float(np.median(first)) >= 1.0:
            return float(np.median(first)), min(first), max(max(first), 1.0)
        return median_interval(first + _ratios(self.program, self.best, made, _ROUNDS - _FIRST))

    def _difference(self, change: Change, values: list[Any]) -> str:
        """Return what is wrong with the values of a change; empty if they agree."""
        error, is_near = largest_error(self.expected, values)
        most = max([FORMS[one].most_different or 0.0 for one in change.forms], default=0.0)
        if is_near or largest_difference(self.expected, values) <= most:
            return ""
        return f"the values differ by {error:.2g}"

    def confirm(self) -> None:
        """Time the best program again, in turns with XLA's own."""
        if self.change == Change():
            return
        is_long = self.program.seconds(self.base, 1) > _LONG
        rounds = _ROUNDS if is_long else _CONFIRMING
        ratio, low, high = median_interval(_ratios(self.program, self.base, self.best, rounds))
        if high < 1.0:
            found = self.found
            found.best, found.ratio, found.low, found.high = self.change, ratio, low, high


def _steps(module: HloModule, flags: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield (word, flag or pair): flags first, then edges of kernels, the most work first."""
    for flag in flags:
        yield "flag", flag
    edges = [("forbid", work, pair) for work, pair in edges_inside(module)]
    edges += [("fuse", work, pair) for work, pair in edges_between(module)]
    for word, _, pair in sorted(edges, key=lambda one: -one[1]):
        yield word, pair


def _ratios(
    program: SearchedProgram, before: Compiled, after: Compiled, rounds: int
) -> list[float]:
    """Return the ratio (after : before) of each round, in turns."""
    one = min([program.seconds(before, 1) for _ in range(2)])
    runs = max(1, round(_LEAST_SECONDS / max(one, 1e-7)))
    measured: list[Callable[[], float]] = [
        lambda: program.seconds(before, runs),
        lambda: program.seconds(after, runs),
    ]
    ratios = []
    for k in range(rounds):
        if k % 2:
            first, second = measured[0](), measured[1]()
        else:
            second, first = measured[1](), measured[0]()
        ratios.append(second / first)
    return ratios
