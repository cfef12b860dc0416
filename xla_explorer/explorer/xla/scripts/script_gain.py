"""`xe.xla.speed_up_script`: a faster compile for an unmodified script, timed there."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from xla_explorer.backends.xla.flag_text import flag_text
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.quantities import microseconds
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.arguments import Signature, random_arguments
from xla_explorer.explorer.xla.flag_sweeps import runnable
from xla_explorer.explorer.xla.overrides.measured_search import (
    FLAGS,
    Space,
    XlaSearch,
    search_module,
)
from xla_explorer.explorer.xla.scripts.script_report import ScriptReport, run_script

_ROUNDS: Final = 3
# Flags with which NaN or infinity have other results. A search sees random arguments only.
_OTHER_VALUES: Final = ("xla_cpu_enable_fast_math", "xla_cpu_enable_fast_min_max")


class Round(NamedTuple):
    """The median run of the main program in one run of the script each.

    Attributes
    ----------
    default_us, tuned_us : float
        Without and with the changes, in microseconds in kernels.
    ratio : float
        With : without.
    """

    default_us: float
    tuned_us: float
    ratio: float


class ScriptGain(Report):
    """A search for a script's main program, and the script's own times with what it found.

    Attributes
    ----------
    before : ScriptReport
        The programs of the script as it is.
    search : XlaSearch
        The trials, on random arguments.
    path : Path or None
        The file with the changes; None if nothing was faster.
    rounds : list of Round
        The script with and without the changes, in turns.
    """

    def __init__(self, before: ScriptReport, search: XlaSearch, path: Path | None) -> None:
        self.before, self.search, self.path = before, search, path
        self.rounds: list[Round] = []

    @property
    def ratio(self) -> float:
        """The median ratio of the rounds; 1.0 if nothing was found."""
        return statistics.median([one.ratio for one in self.rounds]) if self.rounds else 1.0

    def headline(self) -> str:
        """Return the gain in the script."""
        name = f"{self.before.programs[0].program} in {Path(self.before.script).name}"
        if not self.rounds:
            return f"{name}: no change of the search was faster than XLA's own program"
        ratios = [one.ratio for one in self.rounds]
        usual = statistics.median([one.default_us for one in self.rounds])
        return (
            f"{name}: {self.ratio:.2f} of XLA's time ({min(ratios):.2f} to {max(ratios):.2f} in"
            f" {len(ratios)} rounds), {microseconds(usual)} a run without the changes"
        )

    def blocks(self) -> Blocks:
        """Yield how to use the changes, the rounds, and the search."""
        if self.path is not None:
            texts = [flag_text(*one) for one in self.search.best.flags]
            texts += [f"fuse %{a} %{b}" for a, b in self.search.best.fuse]
            texts += [f"forbid %{a} %{b}" for a, b in self.search.best.forbid]
            yield Sentence(f"changes: {', '.join(texts)}")
            if max([one.ratio for one in self.rounds], default=1.0) < 1.0:
                command = f"XLA_EXPLORER_XLA_OVERRIDES={self.path} python {self.before.script}"
                yield Sentence(f"to use them: {command}")
            else:
                yield Sentence("in the script they are not faster in every round: leave them out")
            yield Table(Round._fields, self.rounds, "the script, in turns")
        yield Sentence(self.search.headline())
        yield self.search.records()

    def records(self) -> Table:
        """Return a row for each round."""
        return Table(Round._fields, self.rounds)


def speed_up_script(
    script: str,
    arguments: str | Sequence[str] = (),
    *,
    path: str | Path = "overrides.json",
    search_seconds: float = 60.0,
    seconds: float = 60.0,
) -> ScriptGain:
    """Search a faster compile for the main program of an unmodified script, and time it there.

    The script is recorded. Flags, splits and joins of kernels are tried on its longest program
    with random arguments, each in turns with the best so far. What was faster is written to a
    file, and the script runs with and without it, in turns. The machine should do nothing else
    meanwhile. Flags with which NaN or infinity have other results are left out.

    Parameters
    ----------
    script
        A Python file that uses jax; no line of it changes.
    arguments
        Of the script: a list, or one text as in a shell. Few steps suffice.
    path
        The file of the changes, for `XLA_EXPLORER_XLA_OVERRIDES`.
    search_seconds
        Time for the trials; a trial that has begun ends.
    seconds
        Limit of each run of the script.

    Returns
    -------
    ScriptGain
        The gain in the script, round by round, and every trial.

    Raises
    ------
    XlaExplorerError
        There is no such file, the script fails, or it runs nothing on XLA.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> found = xe.xla.speed_up_script("train.py", "--steps 20")  # doctest: +SKIP
    >>> found.ratio  # doctest: +SKIP
    0.84
    """
    before = run_script(script, arguments, seconds=seconds)
    module = runnable(before.module())
    leaves = Signature(module).leaves(random_arguments(module))
    flags = [one for one in FLAGS if one[0] not in _OTHER_VALUES]
    found = search_module(module, leaves, search_seconds, before.stablehlo(), Space((), flags))
    if not (found.best.flags or found.best.fuse or found.best.forbid):
        return ScriptGain(before, found, None)
    written = found.save(path)
    gain = ScriptGain(before, found, written)
    variables = {"XLA_EXPLORER_XLA_OVERRIDES": str(written.absolute())}
    name = before.programs[0].program
    for _ in range(_ROUNDS):
        usual, tuned = [
            statistics.median(
                run_script(script, arguments, seconds=seconds, variables=one).run_times(name)
            )
            for one in (None, variables)
        ]
        gain.rounds.append(Round(usual, tuned, tuned / usual))
    return gain
