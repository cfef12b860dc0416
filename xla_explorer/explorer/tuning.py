"""`xe.tune`: a search of schedules whose result is a session."""

from __future__ import annotations

from xla_explorer.explorer.comparisons.schedule_search import Tuned, tuned
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.loading import ModuleLike
from xla_explorer.explorer.sessions.progress import working
from xla_explorer.foundation.keywords import explains_arguments


@explains_arguments
def tune(
    module: ModuleLike | Session,
    kernel: str | int | None = None,
    *,
    budget: float = 8.0,
    tried: int = 6,
    cache: bool = True,
) -> Tuned[Session]:
    """Search schedules of loop nests.

    The estimate ranks the schedules. The first few are compiled, checked and timed in alternation
    with the default kernel. For a GPU the emulator counts them instead, and the counters are
    weighed by the device's description.

    A winner must be faster than the default kernel by more than the spread, and return its values.
    Results are kept in the cache folder of this user, by the text of the nest and the machine.

    Parameters
    ----------
    module : HloModule, HLO text, path, traced function or Session
        The program that has the kernels.
    kernel : str or int, optional
        One kernel; by default each different kernel with a loop nest.
    budget : float, default 8.0
        Seconds per kernel.
    tried : int, default 6
        The largest number of schedules to run.
    cache : bool, default True
        Read earlier results, and keep new ones.

    Returns
    -------
    Tuned
        A row per kernel. `.schedules` is the text of the winners, `.session()` the program compiled
        with them.

    Raises
    ------
    XlaExplorerError
        The session is of another backend than `cpu` or `gpu`; the kernel has no loop nest.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> found = xe.tune(text, budget=0.5, tried=1, cache=False)
    >>> len(found.kernels)
    1
    """
    session = module if isinstance(module, Session) else compile(module)
    with working(f"tuning {session.source.name}"):
        return tuned(session, kernel, budget, tried, cache)
