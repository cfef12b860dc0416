"""`xe.search_fusion`: a search of fusion decisions whose results are sessions."""

from __future__ import annotations

from typing import Any

from xla_explorer.explorer.comparisons.fusion_search import FusionSearch, search
from xla_explorer.explorer.session import Session


def search_fusion(
    module: Any,
    *arrays: Any,
    strategy: str = "random",
    trials: int = 20,
    backend: str = "cpu",
    width: int = 3,
    repeats: int = 10,
    seed: int = 0,
    progress: bool = False,
) -> FusionSearch[Session]:
    """Search sets of fusion decisions by trial: each trial turns some decisions of the compile round, checks the values and takes the time.

    module: an HloModule, HLO or StableHLO text, a path, a traced function, or a session. arrays: arguments; random ones by default.
    strategy: `random` turns up to four decisions round at once; `beam` keeps the `width` fastest sets so far and turns one more round in
    each. What is illegal stays refused, so a forced pair may change nothing. repeats: timed runs of a trial; the best is timed again
    in turns with the base, three times as often. predicted_us: least time by the roofline of this machine for bytes and operations of the
    whole program (None where the backend knows no roofline).

    Raises:
        XlaExplorerError: an unknown strategy, or a number of trials below one.
    """
    base = module if isinstance(module, Session) else Session.of(module, backend=backend)
    return search(base, *arrays, strategy=strategy, trials=trials, width=width, repeats=repeats, seed=seed, progress=progress)
