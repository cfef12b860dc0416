"""Flame graphs of a compile's time: phases, pipelines, passes, rules, and LLVM's passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from xla_explorer.explorer.code.llvm.llvm_kernels import OF_LLVM
from xla_explorer.explorer.code.llvm.llvm_times import pass_times
from xla_explorer.explorer.display import Blocks, Layout, Report, Table, escape
from xla_explorer.explorer.rules.rule_times import RuleClock, clock_rules
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses

HLO_PHASE, LLVM_PHASE = "hlo-passes", "llvm"
MOST_PARTS = 40
"""Rules and LLVM passes with a span of their own in one parent; the rest is one span."""
_WIDTH, _ROW = 960, 20
_COLOURS = ("#cfe3f5", "#f5dcb8", "#cfe9dc", "#ecd3e2")


class FlameSpan(NamedTuple):
    """A span of time: its name, milliseconds, and its parts."""

    name: str
    ms: float
    parts: tuple[FlameSpan, ...] = ()

    def data(self) -> list[Any]:
        """Return the span as JSON: [name, ms, parts]."""
        return [self.name, round(self.ms, 5), [part.data() for part in self.parts]]


def _most(parts: Iterable[FlameSpan]) -> tuple[FlameSpan, ...]:
    ordered = sorted([part for part in parts if part.ms > 0], key=lambda part: -part.ms)
    rest = ordered[MOST_PARTS:]
    return (
        *ordered[:MOST_PARTS],
        *([FlameSpan(f"{len(rest)} others", sum([part.ms for part in rest]))] if rest else []),
    )


def pass_spans(
    passes: RecordedPasses[RecordedPass], clock: RuleClock | None
) -> tuple[FlameSpan, ...]:
    """Return the passes in pipelines, in their order.

    clock: the rules below their passes, scaled to the first run's time of the pass.
    """
    rules: dict[str, list[FlameSpan]] = {}
    whole: dict[str, float] = {}
    for p in passes[1:]:
        whole[p.name] = whole.get(p.name, 0.0) + p.seconds
    for (name, rule), row in (clock.rows if clock is not None else {}).items():
        rules.setdefault(name, []).append(FlameSpan(rule, row.seconds * 1e3))
    pipelines: dict[str, list[FlameSpan]] = {}
    for p in passes[1:]:
        again = clock.passes.get(p.name, 0.0) if clock is not None else 0.0
        part = (
            p.seconds / whole[p.name] * min(1.0, whole[p.name] / again)
            if again and whole[p.name]
            else 0.0
        )
        below = _most([rule._replace(ms=rule.ms * part) for rule in rules.get(p.name, ())])
        pipelines.setdefault(p.pipeline.split("/")[-1], []).append(
            FlameSpan(p.name, p.seconds * 1e3, below)
        )
    return tuple(
        [
            FlameSpan(name, sum([s.ms for s in spans]), _most(spans))
            for name, spans in pipelines.items()
        ]
    )


def flame_of_passes(
    passes: RecordedPasses[RecordedPass], clock: RuleClock | None = None
) -> FlameSpan:
    """Return the flame graph of passes alone."""
    parts = pass_spans(passes, clock)
    return FlameSpan("passes", max(passes.seconds * 1e3, sum([part.ms for part in parts])), parts)


def flame_of_session(session: Compilation, *, rules: bool, llvm: bool) -> FlameSpan:
    """Return the flame graph of a compile.

    rules, llvm: take these times now, by a second run of the passes and of LLVM.
    """
    clock = clock_rules(session.passes) if rules else None
    phases = []
    for name, seconds in session.seconds.items():
        parts: tuple[FlameSpan, ...] = ()
        if name == HLO_PHASE:
            parts = pass_spans(session.passes, clock)
        elif (
            name == LLVM_PHASE
            and llvm
            and session.backend in OF_LLVM
            and "llvm-ir" in session.stages()
        ):
            rows = pass_times(session)[["pass", "ms"]].astype(object).values.tolist()
            parts = _most([FlameSpan(str(one), float(ms)) for one, ms in rows])
        phases.append(FlameSpan(name, max(seconds * 1e3, sum([part.ms for part in parts])), parts))
    return FlameSpan("compile", sum([phase.ms for phase in phases]), tuple(phases))


class CompileFlame(Report):
    """A flame graph of a compile.

    root: the whole, a FlameSpan with `name`, `ms` and `parts`. Rules and LLVM's passes are timed by
    a run of their own, LLVM's in one thread. A phase that took less, because of caches or threads,
    is as long as its parts.
    """

    def __init__(self, root: FlameSpan) -> None:
        self.root = root

    def headline(self) -> str:
        """Return the time of the whole, and the longest span without parts."""
        longest = max(_leaves(self.root), key=lambda path: path[-1].ms)
        return (
            f"{self.root.ms:.4g} ms to compile; longest: "
            f"{' > '.join([span.name for span in longest[1:]])}, {longest[-1].ms:.4g} ms"
        )

    def blocks(self) -> Blocks:
        """Yield the flame graph, and the longest spans as a table."""
        yield Layout(html=self.to_svg())
        rows = sorted(
            [(" > ".join([s.name for s in path[1:]]), path[-1].ms) for path in _leaves(self.root)],
            key=lambda row: -row[1],
        )
        yield Table(["span", "ms"], rows[:12])

    def records(self) -> Table:
        """Return a row per span: path, name, depth, ms, share of the whole."""
        whole = self.root.ms or 1.0
        rows = [
            (
                " > ".join([s.name for s in path[1:]]),
                path[-1].name,
                len(path) - 1,
                path[-1].ms,
                path[-1].ms / whole,
            )
            for path in _walk(self.root, ())
        ]
        return Table(["path", "name", "depth", "ms", "share"], rows)

    def to_svg(self) -> str:
        """Return the flame graph as SVG."""
        drawn = list(_placed(self.root, 0.0, _WIDTH, 0))
        height = _ROW * (1 + max([depth for _, _, _, depth in drawn]))
        parts = [
            f'<g><title>{escape(span.name)}: {span.ms:.4g} ms</title><rect x="{x:.1f}" '
            f'y="{depth * _ROW}" '
            f'width="{max(0.5, width - 0.5):.1f}" height="{_ROW - 1}" '
            f'fill="{_COLOURS[depth % len(_COLOURS)]}"/>{_label(span, x, width, depth)}</g>'
            for span, x, width, depth in drawn
        ]
        box = f'viewBox="0 0 {_WIDTH} {height}" width="100%" role="img"'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" '
            'font-size="11">'
        )
        return f"{head}<title>{escape(self.headline())}</title>{''.join(parts)}</svg>"


def _label(span: FlameSpan, x: float, width: float, depth: int) -> str:
    room = int(width / 6.2)
    if room < 4:
        return ""
    text = f"{span.name} {span.ms:.3g} ms"
    shown = (
        text
        if len(text) <= room
        else span.name
        if len(span.name) <= room
        else span.name[: room - 1] + "…"
    )
    return f'<text x="{x + 3:.1f}" y="{depth * _ROW + 14}" fill="#111">{escape(shown)}</text>'


def _placed(
    span: FlameSpan, x: float, width: float, depth: int
) -> Iterator[tuple[FlameSpan, float, float, int]]:
    yield span, x, width, depth
    for part in span.parts:
        own = width * part.ms / span.ms if span.ms else 0.0
        yield from _placed(part, x, own, depth + 1)
        x += own


def _walk(span: FlameSpan, above: Sequence[FlameSpan]) -> Iterator[tuple[FlameSpan, ...]]:
    yield (*above, span)
    for part in span.parts:
        yield from _walk(part, (*above, span))


def _leaves(span: FlameSpan) -> Iterator[tuple[FlameSpan, ...]]:
    return (path for path in _walk(span, ()) if not path[-1].parts)
