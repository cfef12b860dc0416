"""The page of joined profiles: a lane a device around the collective with the largest skew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from xla_explorer.explorer.devices.hosts.clocks import Clock
from xla_explorer.explorer.devices.hosts.job import Job, Member
from xla_explorer.explorer.devices.hosts.meetings import Meeting
from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.display.quantities import microseconds

_LEFT, _WIDTH, _LANE, _BAR = 190, 1000, 30, 20
_AROUND: Final = 0.15  # of a meeting's length, shown before and after it
_MOST_LANES, _MOST_BARS = 64, 4000
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d7de; --dim: #57606a;
  --work: #4e9ad4; --moved: #2f9e6e; --waits: #e08a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #30363d;
  --dim: #9aa4af; --work: #3d7fb3; --moved: #2b8a60; --waits: #c77c00; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  margin: 1.2rem auto; max-width: 1240px; padding: 0 1rem; }
h1 { font-size: 1.25rem; } h2 { font-size: 1.05rem; margin-top: 1.6rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; }
td, th { padding: 2px 8px; border-bottom: 1px solid var(--line); text-align: left; }
svg { width: 100%; min-width: 700px; height: auto; } svg text { fill: var(--ink); font-size: 12px; }
.work { fill: var(--work); } .moved { fill: var(--moved); } .waits { fill: var(--waits); }
.axis { stroke: var(--line); } .dim { color: var(--dim); }
i.key { display: inline-block; width: 12px; height: 12px; margin: 0 4px 0 12px; }
"""


class JoinedJob(NamedTuple):
    """A job on one clock, with the sentences and tables of its page."""

    job: Job
    clocks: Sequence[Clock]
    meetings: Sequence[Meeting]
    headline: str
    findings: Sequence[str]
    tables: Sequence[str]

    def named(self, member: Member) -> str:
        """Return host and device of a member."""
        return f"{self.job.hosts[member.host].name} {member.device}"


def page_of(joined: JoinedJob) -> str:
    """Return the page as HTML without scripts."""
    found = "".join([f"<li>{escape(line)}</li>" for line in joined.findings])
    tables = "".join([f'<div class="scroll">{table}</div>' for table in joined.tables])
    meeting = max(joined.meetings, key=lambda one: one.skew_ps)
    keys = "".join(
        [
            f'<i class="key" style="background: var(--{name})"></i>{words}'
            for name, words in (
                ("work", "kernels"),
                ("waits", "waits for the last device"),
                ("moved", "transfer"),
            )
        ]
    )
    name = f"%{meeting.collective[1]} of {meeting.collective[0]}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>joined profiles</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(joined.headline)}</h1><ul>{found}</ul>"
        f"<h2>The largest skew: {escape(name)}, {microseconds(meeting.skew_ps / 1e6)}</h2>"
        f'<p class="dim">A lane a device, on the clock of the first host.{keys}</p>'
        f'<div class="scroll">{_picture(joined, meeting)}</div>{tables}</body></html>\n'
    )


def _picture(joined: JoinedJob, meeting: Meeting) -> str:
    arrived = [first for first, _ in meeting.visits.values()]
    left = [last for _, last in meeting.visits.values()]
    length = max(max(left) - min(arrived), 1)
    begin, end = min(arrived) - _AROUND * length, max(left) + _AROUND * length
    members = sorted(meeting.visits)[:_MOST_LANES]
    height = _LANE * len(members) + 34
    parts = [
        f'<svg viewBox="0 0 {_LEFT + _WIDTH + 20} {height}" role="img"'
        ' aria-label="kernels and collectives of each device">'
    ]
    for lane, member in enumerate(members):
        y = _LANE * lane + 4
        parts.append(f'<text x="4" y="{y + 15}">{escape(joined.named(member))}</text>')
        parts += _bars(joined, meeting, member, (begin, end, y))
    base = _LANE * len(members) + 8
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{base}" y2="{base}"/>')
    for k in range(6):
        x = _LEFT + _WIDTH * k / 5
        shown = microseconds((end - begin) * k / 5 / 1e6) if k else "0"
        anchor = "end" if k == 5 else "middle" if k else "start"
        parts.append(f'<text x="{x:.0f}" y="{base + 18}" text-anchor="{anchor}">{shown}</text>')
    more = len(meeting.visits) - len(members)
    note = f'<p class="dim">{more} further devices are not drawn</p>' if more else ""
    return "".join(parts) + "</svg>" + note


def _bars(
    joined: JoinedJob,
    meeting: Meeting,
    member: Member,
    frame: tuple[float, float, float],
) -> Iterator[str]:
    """Yield the kernels of a device in a frame of begin, end and height, then its collectives."""
    begin, end, _ = frame
    host, offset = joined.job.hosts[member.host], joined.clocks[member.host].offset_ps
    visits = {one.arrived_ps for one in host.visits[member.device]}
    drawn = 0
    for event in host.devices[member.device]:
        start = event.start_ps + offset
        stop = start + event.duration_ps
        if stop < begin or start > end or event.start_ps in visits or drawn >= _MOST_BARS:
            continue
        drawn += 1
        what = f"%{event.op or event.event}: {microseconds(event.duration_ps / 1e6)}"
        yield _bar("work", what, (start, stop), frame)
    for one in joined.meetings:
        times = one.visits.get(member)
        if times is None or times[1] < begin or times[0] > end:
            continue
        last = min(max(one.visits[one.last][0], times[0]), times[1])
        name = f"%{one.collective[1]}"
        if last > times[0]:
            waits = microseconds((last - times[0]) / 1e6)
            what = f"{name}: waits {waits} for {joined.named(one.last)}"
            yield _bar("waits", what, (times[0], last), frame)
        what = f"{name}: transfer {microseconds((times[1] - last) / 1e6)}"
        yield _bar("moved", what, (last, times[1]), frame)


def _bar(
    kind: str, what: str, times: tuple[float, float], frame: tuple[float, float, float]
) -> str:
    begin, end, y = frame
    scale = _WIDTH / (end - begin)
    x = _LEFT + (max(times[0], begin) - begin) * scale
    width = max((min(times[1], end) - max(times[0], begin)) * scale, 0.8)
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_BAR}">'
        f"<title>{escape(what)}</title></rect>"
    )
