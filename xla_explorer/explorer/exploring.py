"""`xe.explore` and `xe.graph`: the widget, and a static picture."""

from __future__ import annotations

from typing import Any

from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.pictures.graph import Graph
from xla_explorer.explorer.pictures.module_picture import snapshot_picture
from xla_explorer.explorer.pictures.region import Region
from xla_explorer.explorer.sessions.loading import ModuleLike, NotAModuleError, as_module
from xla_explorer.explorer.widget import ExplorerView, widget_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


@explains_arguments
def explore(
    thing: Any, *, edges: Any = None, mixed_precision: bool = False, **options: Any
) -> ExplorerView:
    """Return the explorer widget.

    Parameters
    ----------
    thing : session, trace, module or str
        The object to show. A module or HLO text is compiled for the CPU first.
    edges : optional
        Edges of your own over the graph; see `session.passes.draw_edges`.
    mixed_precision : bool, default False
        An option of the first compile; see `xe.compile`.
    **options
        `complete` (send everything at once), `step` (the step to open, 0 is the module as written),
        `colour` (numbers to colour the graph with).

    Returns
    -------
    ExplorerWidget
        The widget; a notebook shows it as the last value of a cell. Its traits `step`, `selected`
        and `view` can be read, set, observed and linked.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> widget = xe.explore(xe.compile(text), step=0)
    >>> type(widget).__name__
    'ExplorerWidget'
    """
    source = getattr(thing, "_explorer_source_", None)
    if source is None:
        try:
            source = compile(thing, mixed_precision=mixed_precision)._explorer_source_
        except NotAModuleError as problem:
            raise XlaExplorerError(
                f"cannot explore a {type(thing).__name__}: {problem.message}", problem.hint
            ) from None
    made = source()
    if edges is not None:
        made.passes.draw_edges(edges)
    return widget_of(made, **options)


@explains_arguments
def graph(
    thing: ModuleLike | HloComputation,
    around: str | int | HloInstruction | None = None,
    radius: int = 2,
    *,
    engine: str = "own",
) -> Graph:
    """Return the graph of a module, a computation, HLO text, a trace or a session.

    A session's graph shows its fusions as boxes and the refused ones as dashed edges labelled with
    the code of the reason.

    Parameters
    ----------
    thing : session, trace, module, computation or str
        The object to draw; a str is HLO text.
    around : str, int or HloInstruction, optional
        An instruction: only instructions at most `radius` edges away are drawn.
    radius : int, default 2
        The largest distance from `around`, in edges.
    engine : str, default `own`
        `own`, or the name of a Graphviz engine such as `dot`.

    Returns
    -------
    Graph
        The graph; notebooks show it as a picture.

    Raises
    ------
    KeyError
        No instruction has the name of `around`; with near names.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> xe.graph(text)
    <Graph module_main: 3 nodes, 3 edges>
    """
    passes = getattr(thing, "passes", None)
    if passes is not None:
        found: Graph = passes[-1].graph(around, radius)
        return Graph(found.picture, found.focus, engine)
    computation = None
    if isinstance(thing, HloComputation):
        computation, module = thing.name, thing.module
    else:
        module = as_module(thing)
    ids: list[int] = []
    if around is not None:
        ids = [module.find(around.id if isinstance(around, HloInstruction) else around).id]
    picture = snapshot_picture(
        module.snapshot(),
        Region(computation, ids, radius if ids else None),
        title=computation or module.name,
    )
    return Graph(picture, ids[0] if ids else None, engine)
