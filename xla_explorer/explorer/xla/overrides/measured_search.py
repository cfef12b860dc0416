"""`xe.xla.search`: kernels and flags of real XLA, tried by measurement in turns with the base."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.compiler.pipeline.value_check import largest_error
from xla_explorer.compiler.xla.regrouping import edges_between, edges_inside
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.xla.overrides.hook import captured, overridden
from xla_explorer.explorer.xla.overrides.report import XlaOverrides
from xla_explorer.explorer.xla.overrides.requests import make_requests
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.hlo.module import HloModule

Pair = tuple[str, str]

# Flags of XLA:CPU that keep the values within rounding, and that users of JAX report to matter.
FLAGS: Final[tuple[tuple[str, Any], ...]] = (
    ("xla_cpu_experimental_ynn_fusion_type", ""),
    ("xla_cpu_prefer_vector_width", 512),
    ("xla_cpu_prefer_vector_width", 256),
    ("xla_disable_hlo_passes", "fusion"),
)
_ROUNDS: Final = 11  # of a trial; the interval below is that of eleven
_CONFIRMING: Final = 25  # rounds of the final comparison
# Ranks (from the ends) between which the median of so many rounds lies in 95 of 100 series:
# binomial distribution with p = 1/2.
_RANKS: Final = {_ROUNDS: 1, _CONFIRMING: 7}
_LEAST_SECONDS: Final = 2e-3  # of one measurement: several runs, if one is shorter


class Trial(NamedTuple):
    """One change that was compiled and timed.

    Attributes
    ----------
    word : str
        flag, forbid or fuse.
    change : str
        The flag with its value, or the two instructions.
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


class Change(NamedTuple):
    """A point of the search: flags, and pairs of instructions to split and to join."""

    flags: tuple[tuple[str, Any], ...] = ()
    forbid: tuple[Pair, ...] = ()
    fuse: tuple[Pair, ...] = ()

    def with_step(self, word: str, step: Any) -> Change:
        """Return the point with one more flag or pair."""
        if word == "flag":
            others = tuple([one for one in self.flags if one[0] != step[0]])
            return self._replace(flags=(*others, step))
        return self._replace(**{word: (*getattr(self, word), step)})


class XlaSearch(Report):
    """Trials of a search, and the fastest program that it found.

    Attributes
    ----------
    best : Change
        Flags and pairs of the fastest program; empty if nothing was faster.
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
        """The pairs of the best program, as `xe.xla.overrides` takes them."""
        requests = make_requests(self.best.fuse, self.best.forbid, when=self.name)
        return XlaOverrides(requests, overridden)

    @property
    def flags(self) -> dict[str, Any]:
        """The flags of the best program, for `compiler_options` of jax's `compile`."""
        return dict(self.best.flags)

    def save(self, path: str | Path) -> Path:
        """Write the pairs of the best program to a file for `XLA_EXPLORER_XLA_OVERRIDES`."""
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
    """Search flags and fusions of real XLA:CPU for a faster program, by measurement.

    The function is compiled by XLA in this process, again for each trial. A trial changes one flag,
    splits one fusion or joins two kernels, in addition to the changes kept so far. A trial is kept
    if its values agree and its time is below the best one's in an interval that excludes 1.0. The
    largest kernels come first. At the end the best program is timed again, in turns with XLA's own.

    Parameters
    ----------
    function
        A JAX function, jitted or not; donation of arguments is left out.
    *arrays
        Its arguments.
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
        jax is older than 0.10.2, or runs no program on a CPU.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> found = xe.xla.search(step, parameters, batch, seconds=60)  # doctest: +SKIP
    >>> found.headline()  # doctest: +SKIP
    'jit_step: 0.87 of XLA's time (0.85 to 0.89); 31 of 40 changes timed in 60 s'
    """
    jax = import_optional("jax", "jax")
    began = time.monotonic()
    program = _Program(jax, function, arrays, keywords)
    with captured() as modules:
        base = program.compiled(Change())
    if not modules:
        raise XlaExplorerError(
            "xe.xla.search saw no module of XLA:CPU",
            "run it where jax's default device is a CPU, with jax 0.10.2 or newer",
        )
    module = read_hlo_proto(max(modules, key=len)).module
    found = XlaSearch(module.name)
    best, change = base, Change()
    expected = program.values(base)
    for word, step in _steps(module):
        if time.monotonic() - began > seconds:
            break
        described = f"{step[0]}={step[1]}" if word == "flag" else f"%{step[0]} %{step[1]}"
        trial = change.with_step(word, step)
        try:
            made = program.compiled(trial, expects=(word, step) if word != "flag" else None)
        except (XlaExplorerError, RuntimeError) as problem:
            note = str(problem).splitlines()[0][:120]
            found.trials.append(Trial(word, described, None, None, None, False, note))
            continue
        error, is_near = largest_error(expected, program.values(made))
        if not is_near:
            note = f"the values differ by {error:.2g}"
            found.trials.append(Trial(word, described, None, None, None, False, note))
            continue
        ratio, low, high = _compared(program, best, made, _ROUNDS)
        kept = high < 1.0
        note = "" if kept else "the interval has 1.0" if low <= 1.0 else "slower"
        found.trials.append(Trial(word, described, ratio, low, high, kept, note))
        if kept:
            best, change = made, trial
    if change != Change():
        ratio, low, high = _compared(program, base, best, _CONFIRMING)
        if high < 1.0:
            found.best, found.ratio, found.low, found.high = change, ratio, low, high
    found.seconds = time.monotonic() - began
    return found


def _steps(module: HloModule) -> Iterator[tuple[str, Any]]:
    """Yield (word, flag or pair): flags first, then edges of kernels, the most work first."""
    for flag in FLAGS:
        yield "flag", flag
    edges = [("forbid", work, pair) for work, pair in edges_inside(module)]
    edges += [("fuse", work, pair) for work, pair in edges_between(module)]
    for word, _, pair in sorted(edges, key=lambda one: -one[1]):
        yield word, pair


class _Program:
    """A function with its arguments on the device, compiled by XLA under changes."""

    def __init__(
        self, jax: Any, function: Any, arrays: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> None:
        self.jax, self.function = jax, function
        self.arrays, self.keywords = jax.device_put((arrays, dict(keywords)))
        self.name = getattr(function, "__name__", "function")

    def compiled(self, change: Change, expects: tuple[str, Pair] | None = None) -> Any:
        """Return XLA's executable. XlaExplorerError if the expected request was not granted."""

        def again(*arrays: Any, **keywords: Any) -> Any:
            return self.function(*arrays, **keywords)

        again.__name__ = self.name  # a function of its own: JAX keeps what it compiled by function
        report = XlaOverrides(make_requests(change.fuse, change.forbid), overridden)
        with overridden(report, clear_caches=False):
            lowered = self.jax.jit(again).lower(*self.arrays, **self.keywords)
            made = lowered.compile(compiler_options=dict(change.flags) or None)
        for one in report.outcomes:
            if (one.word, one.subjects) == expects and one.result != "granted":
                raise XlaExplorerError(str(one.reason))
        return made

    def values(self, executable: Any) -> list[np.ndarray[Any, Any]]:
        """Return the results as numpy arrays."""
        results = executable(*self.arrays, **self.keywords)
        return [np.asarray(leaf) for leaf in self.jax.tree.leaves(results)]

    def seconds(self, executable: Any, runs: int) -> float:
        """Return the time of a run, of so many one after another."""
        started = time.perf_counter()
        for _ in range(runs):
            result = executable(*self.arrays, **self.keywords)
        self.jax.block_until_ready(result)
        return (time.perf_counter() - started) / runs


def _compared(
    program: _Program, before: Any, after: Any, rounds: int
) -> tuple[float, float, float]:
    """Return the median of the rounds' ratios (after : before) and its interval of 95 %."""
    one = min([program.seconds(before, 1) for _ in range(3)])
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
    ratios.sort()
    rank = _RANKS[rounds]
    return float(np.median(ratios)), ratios[rank], ratios[-1 - rank]
