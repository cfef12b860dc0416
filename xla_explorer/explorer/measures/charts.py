"""Charts of profiles with altair (extra `charts`): roofline, predicted time, memory.

Each function takes a session or its profile and returns an `altair.Chart`, to show, layer or save.
Its data is tidy. A notebook shows charts without a network, as SVG drawn here.
`altair.renderers.enable(...)` chooses another renderer, and keeps it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from xla_explorer.backends.cpu.machine_limits import machine_limits
from xla_explorer.explorer.display import number_of
from xla_explorer.explorer.measures.buffer_report import buffer_report
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM, costs_of
from xla_explorer.explorer.measures.profiling import kernel_threads
from xla_explorer.explorer.measures.profiling import profile as profile_of
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.optional import import_optional

if TYPE_CHECKING:
    import altair
    import pandas


@explains_arguments
def roofline(given: Compilation | pandas.DataFrame) -> altair.LayerChart:
    """Return the kernels as points, operations per second over operations per byte, under the roof.

    Needs the extra `charts`. The roof is that of as many cores as the session's kernels use, of one
    core for a profile alone. Its bandwidth is measured at the working set of the largest kernel. It
    is the processor's roof: for other backends only the points are meaningful.

    Parameters
    ----------
    given : Session or DataFrame
        A session, whose last profile is drawn (made now if there is none), or a profile.

    Returns
    -------
    altair.Chart
        The chart.

    Raises
    ------
    XlaExplorerError
        No kernel has both operations and a time.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> chart = xe.charts.roofline(xe.compile(text))
    """
    alt = _altair()
    import pandas

    profile, threads = _profile_of(given), 1
    if isinstance(given, Compilation):
        threads = max(kernel_threads(given).values(), default=1)
    rows = profile[
        (profile["kernel"] != WHOLE_PROGRAM)
        & (profile["flops"] > 0)
        & (profile["bytes"] > 0)
        & (profile["median_us"] > 0)
    ]
    if rows.empty:
        raise XlaExplorerError(
            "no kernel of this profile has operations, bytes and a time",
            "profile a module that computes something",
        )
    points = pandas.DataFrame(
        {
            "kernel": rows["kernel"].astype(str),
            "line": rows["line"].astype(str),
            "median_us": rows["median_us"],
            "operations_per_byte": rows["flops"] / rows["bytes"],
            "gflop_per_s": rows["flops"] / rows["median_us"] / 1e3,
        }
    )
    limits = machine_limits()
    peak, bandwidth = (
        limits.flops(threads=threads) / 1e9,
        limits.bandwidth(threads, touched=float(rows["bytes"].max())) / 1e9,
    )
    ridge = peak / bandwidth
    ends = [
        min(points["operations_per_byte"].min(), ridge) / 2,
        ridge,
        max(points["operations_per_byte"].max(), ridge) * 2,
    ]
    roof = pandas.DataFrame(
        {"operations_per_byte": ends, "gflop_per_s": [min(peak, bandwidth * x) for x in ends]}
    )
    plot: altair.LayerChart = _over_line(alt, roof, points, ("operations per byte", "GFLOP/s"))
    return plot.properties(
        title=f"roofline: {peak:.0f} GFLOP/s, {bandwidth:.0f} GB/s, {number_of(threads, 'core')}"
    )


@explains_arguments
def predicted(session: Compilation, profile: pandas.DataFrame | None = None) -> altair.LayerChart:
    """Return each kernel's measured time over its predicted time; on the line they are equal.

    Needs the extra `charts`.

    Parameters
    ----------
    session : Session
        A compiled program.
    profile : DataFrame, optional
        A frame of `session.profile(...)`; by default the session's last one.

    Returns
    -------
    altair.Chart
        The chart.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> session = xe.compile(text)
    >>> chart = xe.charts.predicted(session, session.profile(repeats=1))
    """
    alt = _altair()
    import pandas

    profile = _profile_of(session) if profile is None else profile
    measured = dict(zip(profile["instruction"], profile["median_us"], strict=True))
    costs = [c for c in costs_of(session) if measured.get(c.instruction.id, 0) > 0]
    rows = [
        (f"%{c.instruction.name}", c.nanoseconds / 1e3, measured[c.instruction.id]) for c in costs
    ]
    if not rows:
        hint = "take it from the same session: session.profile(...)"
        raise XlaExplorerError("this profile times no kernel of the session's module", hint)
    frame = pandas.DataFrame(rows, columns=["kernel", "predicted_us", "median_us"])
    ends = [
        min(frame["predicted_us"].min(), frame["median_us"].min()),
        max(frame["predicted_us"].max(), frame["median_us"].max()),
    ]
    equal = pandas.DataFrame({"predicted_us": ends, "median_us": ends})
    return _over_line(alt, equal, frame, ("predicted us", "measured us")).properties(
        title="predicted and measured time of each kernel"
    )


@explains_arguments
def memory(session: Compilation) -> altair.Chart:
    """Return a chart of the bytes in use over the schedule, with the instructions.

    Needs the extra `charts`.

    Parameters
    ----------
    session : Session
        A compiled program.

    Returns
    -------
    altair.Chart
        The chart.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> chart = xe.charts.memory(xe.compile(text))
    """
    alt = _altair()
    x = alt.X("position:Q", title="position in the schedule")
    y = alt.Y("live_bytes:Q", title="bytes in use")
    chart = alt.Chart(buffer_report(session).by_program_point()).mark_area(
        interpolate="step-after", opacity=0.6
    )
    made: altair.Chart = chart.encode(
        x=x, y=y, tooltip=["instruction", "opcode", "live_bytes", "line"]
    )
    return made.properties(title="memory over the program")


def _altair() -> Any:
    """Return the module altair, set to show charts without a network.

    Its default renderer loads a script. A renderer that the user chose stays.
    """
    alt = import_optional("altair", "charts")
    if alt.renderers.active == "default" and find_spec("vl_convert") is not None:
        alt.renderers.enable("svg")
    return alt


def _over_line(
    alt: Any, line: pandas.DataFrame, points: pandas.DataFrame, titles: tuple[str, str]
) -> altair.LayerChart:
    """Return a chart of kernels as points over a line, on two logarithmic axes."""
    x, y = [
        axis(f"{name}:Q", title=title, scale=alt.Scale(type="log"))
        for axis, name, title in zip((alt.X, alt.Y), line.columns, titles, strict=True)
    ]
    dots = alt.Chart(points).mark_point(filled=True, size=70)
    dots = dots.encode(x=x, y=y, color="kernel:N", tooltip=list(points.columns))
    made: altair.LayerChart = alt.Chart(line).mark_line(color="gray").encode(x=x, y=y) + dots
    return made


def _profile_of(given: Any) -> Any:
    """Return the given profile, or the session's last profile, or a new one."""
    if not isinstance(given, Compilation):
        return given
    return given.last_profile if given.last_profile is not None else profile_of(given, (), 20)
