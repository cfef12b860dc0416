"""`xe.search_fusion`: sets of fusion decisions, compiled, checked and timed; the best confirmed."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from xla_explorer.explorer.comparisons.sweep.task import alone_on_this_machine
from xla_explorer.explorer.display import (
    Blocks,
    Report,
    Sentence,
    Table,
    drawn,
    frame_table,
    wide_frame,
)
from xla_explorer.explorer.measures.profiling import limits_here, spread, time_calls
from xla_explorer.explorer.questions.control import overridden
from xla_explorer.explorer.questions.decisions import decisions_frame
from xla_explorer.explorer.sessions.arguments import largest_error, random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.cost import module_cost

if TYPE_CHECKING:
    import pandas


C = TypeVar("C", bound=Compilation)
STRATEGIES = ("random", "beam", "each")
_SETS = ["trial", "parent", "fuse", "forbid", "codes", "status", "error"]
COLUMNS = [*_SETS, "kernels", "bytes", "flops", "predicted_us", "median_us", "iqr_us", "speedup"]
CODE_COLUMNS = ["code", "decisions", "reversals", "faster", "saved_us"]
FUSED = "fused"
"""Stands for the code of a decision that fuses a pair, which has none."""
MOST_AT_ONCE = 4  # decisions that a random trial inverts


class Flip(NamedTuple):
    """An inverted decision: (producer, consumer) fused, or not, against the cost model.

    code: of the refusal that is inverted; `FUSED` if the pair was fused.
    """

    fuse: bool
    pair: tuple[str, str]
    code: str


class FusionSearch(Report, Generic[C]):
    """The result of a search.

    Attributes
    ----------
    trials : DataFrame
        A row for each trial; the first is the unchanged compile.
    best : Session
        The fastest session, if it beats the base significantly when both are timed again; else the
        base.
    confirmed_us : (float, float)
        Medians of base and best in that last timing, in alternating runs.
    candidates : int
        The number of decisions that can be inverted.
    """

    def __init__(
        self,
        trials: pandas.DataFrame,
        base: C,
        best: C,
        confirmed_us: tuple[float, float],
        flips: list[Flip],
    ) -> None:
        self.trials, self.base, self.best, self.confirmed_us = trials, base, best, confirmed_us
        self.candidates, self._flips = len(flips), flips

    @property
    def by_code(self) -> pandas.DataFrame:
        """A row for each code of a default decision, the largest saving first.

        decisions: those of the code. reversals: trials that inverted one of them and no other.
        faster: reversals whose median is below the base's by more than both spreads. saved_us: the
        largest saving of these, by medians.
        """
        trials = self.trials.to_dict("records")
        alone = [one for one in trials if len(one["codes"]) == 1 and one["status"] == "ok"]
        counts = Counter([flip.code for flip in self._flips])
        rows = []
        for code, count in counts.items():
            made = [one for one in alone if one["codes"] == (code,)]
            savings = [saved for one in made if (saved := _saving(trials[0], one)) > 0]
            rows.append(
                {
                    "code": code,
                    "decisions": count,
                    "reversals": len(made),
                    "faster": len(savings),
                    "saved_us": max(savings, default=0.0),
                }
            )
        return wide_frame(sorted(rows, key=lambda row: -row["saved_us"]), CODE_COLUMNS)

    def blocks(self) -> Blocks:
        """Yield the result, and a row for each trial."""
        head = (
            f"{len(self.trials) - 1} trials over {self.candidates} decisions of "
            f"{self.base.source.name} on {self.base.backend}"
        )
        if self.best is self.base:
            found = f"none faster than the cost model's choice ({self.confirmed_us[0]:.1f} us)"
        else:
            found = f"{self.confirmed_us[0]:.1f} us becomes {self.confirmed_us[1]:.1f} us"
        yield Sentence(f"{head}: {found}")
        if self.candidates:
            yield drawn(frame_table(self.by_code))
        yield drawn(self.records())

    def records(self) -> Table:
        """Return the rows of `trials`."""
        return frame_table(self.trials)


def search(
    base: C,
    *arrays: Any,
    strategy: str = "random",
    trials: int = 20,
    width: int = 3,
    repeats: int = 10,
    seed: int = 0,
    progress: bool = False,
) -> FusionSearch[C]:
    """Search sets of fusion decisions of a compile: see `xe.search_fusion`."""
    if strategy not in STRATEGIES:
        raise XlaExplorerError(
            f"strategy {strategy!r} is unknown", f"choose {' or '.join(STRATEGIES)}"
        )
    if trials < 1:
        raise XlaExplorerError(f"trials is {trials}", "try at least one")
    if repeats < 1:
        raise XlaExplorerError(f"repeats must be at least 1, got {repeats}", "such as repeats=10")
    given = arrays or random_arguments(base.source, seed=seed)
    expected = base.executable.execute(base.signature.leaves(given))
    candidates = _candidates(base)
    chance = random.Random(seed)
    rows = [_measure(0, None, (), base, given, expected, repeats)]
    sessions: dict[int, C] = {0: base}
    beam: list[tuple[float, int, tuple[Flip, ...]]] = [(rows[0]["median_us"], 0, ())]
    tried: set[frozenset[Flip]] = {frozenset()}
    for number in range(1, trials + 1):
        chosen = _next(strategy, beam, candidates, tried, chance, number)
        if chosen is None:
            break  # all sets within reach have been tried
        parent, flips = chosen
        tried.add(frozenset(flips))
        row = _attempt(number, parent, flips, base, given, expected, repeats, sessions)
        rows.append(row)
        if progress:
            print(f"trial {number}: {row['status']}, {row['median_us']} us")
        if row["status"] == "ok":
            beam = sorted([*beam, (row["median_us"], number, flips)])[:width]
    for row in rows:
        row["speedup"] = rows[0]["median_us"] / row["median_us"] if row["median_us"] else None
    best, confirmed = _confirm(base, sessions[beam[0][1]], given, 3 * repeats)
    return FusionSearch(wide_frame(rows, COLUMNS), base, best, confirmed, candidates)


def _candidates(base: Compilation) -> list[Flip]:
    """Return every decision about a pair, inverted."""
    found: dict[Flip, None] = {}
    frame = decisions_frame(base.passes.record, base.passes.lineage, "fusion")
    columns = [frame[name] for name in ("verdict", "subjects", "code")]
    for verdict, subjects, code in zip(*columns, strict=True):
        if len(subjects) == 2:
            pair = subjects[0].lstrip("%"), subjects[1].lstrip("%")
            refused = verdict != "accepted"
            found[Flip(refused, pair, str(code) if refused else FUSED)] = None
    return list(found)


def _saving(base: dict[str, Any], trial: dict[str, Any]) -> float:
    """Return how much faster a trial is, in us; 0 unless by more than both spreads."""
    saved = float(base["median_us"] - trial["median_us"])
    return saved if saved > base["iqr_us"] + trial["iqr_us"] else 0.0


def _next(
    strategy: str,
    beam: list[tuple[float, int, tuple[Flip, ...]]],
    candidates: list[Flip],
    tried: set[frozenset[Flip]],
    chance: random.Random,
    number: int,
) -> tuple[int, tuple[Flip, ...]] | None:
    """Return (trial to start from, decisions to invert) of a new set.

    None if fifty draws find none, or if `each` has inverted every decision.
    """
    if strategy == "each":
        return (0, (candidates[number - 1],)) if number <= len(candidates) else None
    for _ in range(50 if candidates else 0):
        if strategy == "beam":
            _, parent, flips = beam[number % len(beam)]
            drawn: tuple[Flip, ...] = (*flips, chance.choice(candidates))
        else:
            parent, drawn = (
                0,
                tuple(
                    chance.sample(candidates, min(len(candidates), chance.randint(1, MOST_AT_ONCE)))
                ),
            )
        if frozenset(drawn) not in tried and len({flip.pair for flip in drawn}) == len(drawn):
            return parent, drawn
    return None


def _attempt(
    number: int,
    parent: int,
    flips: tuple[Flip, ...],
    base: C,
    given: Any,
    expected: Any,
    repeats: int,
    sessions: dict[int, C],
) -> dict[str, Any]:
    try:
        session = overridden(
            base,
            force=[("fusion", *f.pair) for f in flips if f.fuse],
            forbid=[("fusion", *f.pair) for f in flips if not f.fuse],
        )
        row = _measure(number, parent, flips, session, given, expected, repeats)
        sessions[number] = session
    except Exception as problem:  # the failure of one trial is its result
        row = _described(number, parent, flips) | {
            "status": "failed",
            "error": f"{type(problem).__name__}: {problem}"[:500],
        }
    return row


def _described(number: int, parent: int | None, flips: tuple[Flip, ...]) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {"trial": number, "parent": parent, "status": "ok", "error": ""}
    row["codes"] = tuple([flip.code for flip in flips])
    for name, wanted in (("fuse", True), ("forbid", False)):
        row[name] = tuple([f"%{f.pair[0]} -> %{f.pair[1]}" for f in flips if f.fuse is wanted])
    return row


def _measure(
    number: int,
    parent: int | None,
    flips: tuple[Flip, ...],
    session: Compilation,
    given: Any,
    expected: Any,
    repeats: int,
) -> dict[str, Any]:
    row, cost = _described(number, parent, flips), module_cost(session.module)
    values = session.executable.execute(session.signature.leaves(given))
    if not largest_error(expected, values)[1]:
        row["status"] = "values differ"
    with alone_on_this_machine():
        median, iqr = spread(time_calls(session, given, repeats))
    work = cost.flops + cost.transcendentals
    row |= {
        "kernels": len(program_steps(session)),
        "bytes": cost.bytes_accessed,
        "flops": work,
        "median_us": median,
        "iqr_us": iqr,
    }
    limits = limits_here() if session.backend == "cpu" else None
    row["predicted_us"] = (
        limits.roofline_seconds(work, cost.bytes_accessed) * 1e6 if limits is not None else None
    )
    return row


def _confirm(base: C, best: C, given: Any, repeats: int) -> tuple[C, tuple[float, float]]:
    """Time both in alternating runs; keep the best only if it wins significantly.

    Disturbances of the machine then affect both.
    """
    first: list[float] = []
    second: list[float] = []
    with alone_on_this_machine():
        for _ in range(repeats):
            first += time_calls(base, given, 1)
            second += time_calls(best, given, 1)
    (before, spread_before), (after, spread_after) = spread(first), spread(second)
    # Notches of the medians must not overlap. Source: McGill, Tukey and Larsen, Variations of Box
    # Plots (1978).
    notch = 1.57 * (spread_before + spread_after) / len(first) ** 0.5
    return (best if before - after > notch and best is not base else base), (before, after)
