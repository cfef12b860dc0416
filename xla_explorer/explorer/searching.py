"""`xe.search_fusion`: a search of fusion decisions whose results are sessions."""

from __future__ import annotations

from typing import Any

from xla_explorer.explorer.comparisons.fusion_search import FusionSearch, search
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.loading import ModuleLike
from xla_explorer.foundation.keywords import explains_arguments


@explains_arguments
def search_fusion(
    module: ModuleLike,
    *arrays: Any,
    strategy: str = "random",
    trials: int = 20,
    backend: str = "cpu",
    width: int = 3,
    repeats: int = 10,
    seed: int = 0,
    progress: bool = False,
) -> FusionSearch[Session]:
    """Search sets of fusion decisions by trial.

    Each trial inverts some decisions of the compile, checks the values and measures the time. A
    pair whose fusion is illegal stays refused, so a forced pair may change nothing. `predicted_us`
    of the result is the roofline's lower bound for the bytes and operations of the whole program.
    It is None if the backend has no roofline.

    Parameters
    ----------
    module : HloModule, str, bytes, path, traced function or session
        The program; a session is the base of the search.
    *arrays
        The arguments; random ones by default.
    strategy : str, default `random`
        `random` inverts up to four decisions at once; `beam` keeps the `width` fastest sets so far
        and inverts one more decision in each; `each` inverts every decision alone, in their order,
        and `found.by_code` shows which kinds of default decisions cost time.
    trials : int, default 20
        The number of sets to try.
    backend : str, default `cpu`
        As for `xe.compile`.
    width : int, default 3
        The number of sets that `beam` keeps.
    repeats : int, default 10
        Timed runs of a trial; the best is timed again in alternation with the base, three times as
        often.
    seed : int, default 0
        The seed of the random choices.
    progress : bool, default False
        Show a progress line.

    Returns
    -------
    FusionSearch
        The trials, the fastest first.

    Raises
    ------
    XlaExplorerError
        The strategy is unknown, or the number of trials is below one.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> found = xe.search_fusion(text, trials=1, repeats=1)
    >>> type(found).__name__
    'FusionSearch'
    """
    base = module if isinstance(module, Session) else compile(module, backend)
    return search(
        base,
        *arrays,
        strategy=strategy,
        trials=trials,
        width=width,
        repeats=repeats,
        seed=seed,
        progress=progress,
    )
