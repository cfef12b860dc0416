"""Charts of profiles with altair (extra `charts`): the roofline, predicted against measured time, memory over the program.

Each takes what a session gives and returns an `altair.Chart`, to be shown, layered, or saved; the data behind it is tidy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.measures.buffer_report import buffer_report
from xla_explorer.explorer.measures.kernel_costs import kernel_costs
from xla_explorer.explorer.measures.profiling import WHOLE_PROGRAM
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional

if TYPE_CHECKING:
    import pandas



def roofline_chart(profile: pandas.DataFrame) -> Any:
    """The kernels of a profile as points, operations a second over operations a byte, under this machine's roof. Needs the extra `charts`.

    The roof is that of one core, its bandwidth that at the working set of the largest kernel. It is the processor's: for other backends
    only the points mean something.

    Parameters
    ----------
    profile
        The frame of `session.profile(...)`.

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
    >>> text = "ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x) ROOT r = f32[4] add(e, x) }"
    >>> chart = xe.roofline_chart(xe.compile(text).profile(repeats=1))
    """
    altair = import_optional("altair", "charts")
    import pandas

    from xla_explorer.backends.cpu.machine_limits import machine_limits

    rows = profile[(profile["kernel"] != WHOLE_PROGRAM) & (profile["flops"] > 0) & (profile["bytes"] > 0) & (profile["median_us"] > 0)]
    if rows.empty:
        raise XlaExplorerError("no kernel of this profile has operations, bytes and a time", "profile a module that computes something")
    points = pandas.DataFrame({
        "kernel": rows["kernel"].astype(str), "line": rows["line"].astype(str), "median us": rows["median_us"],
        "operations a byte": rows["flops"] / rows["bytes"], "GFLOP/s": rows["flops"] / rows["median_us"] / 1e3,
    })
    limits = machine_limits()
    peak, bandwidth = limits.flops() / 1e9, limits.bandwidth(touched=float(rows["bytes"].max())) / 1e9
    ridge = peak / bandwidth
    ends = [min(points["operations a byte"].min(), ridge) / 2, ridge, max(points["operations a byte"].max(), ridge) * 2]
    roof = pandas.DataFrame({"operations a byte": ends, "GFLOP/s": [min(peak, bandwidth * x) for x in ends]})
    x = altair.X("operations a byte:Q", scale=altair.Scale(type="log"))
    y = altair.Y("GFLOP/s:Q", scale=altair.Scale(type="log"))
    line = altair.Chart(roof).mark_line(color="gray").encode(x=x, y=y)
    dots = altair.Chart(points).mark_point(filled=True, size=70).encode(
        x=x, y=y, color="kernel:N", tooltip=["kernel", "line", "median us", "operations a byte", "GFLOP/s"])
    return (line + dots).properties(title=f"roofline: {peak:.0f} GFLOP/s, {bandwidth:.0f} GB/s, one core")


def predicted_chart(session: Compilation, profile: pandas.DataFrame) -> Any:
    """Each kernel's measured time over the time that the cost model predicts; on the line they are equal. Needs the extra `charts`.

    Parameters
    ----------
    session
        A compiled program.
    profile
        The frame of `session.profile(...)`.

    Returns
    -------
    altair.Chart
        The chart.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x) ROOT r = f32[4] add(e, x) }"
    >>> session = xe.compile(text)
    >>> chart = xe.predicted_chart(session, session.profile(repeats=1))
    """
    altair = import_optional("altair", "charts")
    import pandas

    measured = dict(zip(profile["instruction"], profile["median_us"], strict=True))
    rows = [(f"%{c.instruction.name}", c.nanoseconds / 1e3, measured[c.instruction.id]) for c in kernel_costs(session.module)
            if measured.get(c.instruction.id, 0) > 0]
    if not rows:
        hint = "take it from the same session: session.profile(...)"
        raise XlaExplorerError("this profile times no kernel of the session's module", hint)
    frame = pandas.DataFrame(rows, columns=["kernel", "predicted us", "measured us"])
    ends = [min(frame["predicted us"].min(), frame["measured us"].min()), max(frame["predicted us"].max(), frame["measured us"].max())]
    x = altair.X("predicted us:Q", scale=altair.Scale(type="log"))
    y = altair.Y("measured us:Q", scale=altair.Scale(type="log"))
    equal = altair.Chart(pandas.DataFrame({"predicted us": ends, "measured us": ends})).mark_line(color="gray").encode(x=x, y=y)
    dots = altair.Chart(frame).mark_point(filled=True, size=70).encode(x=x, y=y, color="kernel:N", tooltip=list(frame.columns))
    return (equal + dots).properties(title="predicted and measured time of each kernel")


def memory_chart(session: Compilation) -> Any:
    """Bytes in use at each position of the schedule, and the instruction that stands there. Needs the extra `charts`.

    Parameters
    ----------
    session
        A compiled program.

    Returns
    -------
    altair.Chart
        The chart.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x) ROOT r = f32[4] add(e, x) }"
    >>> chart = xe.memory_chart(xe.compile(text))
    """
    altair = import_optional("altair", "charts")
    x = altair.X("position:Q", title="position in the schedule")
    y = altair.Y("live_bytes:Q", title="bytes in use")
    chart = altair.Chart(buffer_report(session).by_program_point()).mark_area(interpolate="step-after", opacity=0.6)
    return chart.encode(x=x, y=y, tooltip=["instruction", "opcode", "live_bytes", "line"]).properties(title="memory over the program")
