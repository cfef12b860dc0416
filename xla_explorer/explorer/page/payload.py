"""The data of the widget and the exported page: one deflated JSON document of a compile.

A *complete* payload holds every step and needs no Jupyter kernel. Successive steps share most of
their rows, so each is stored once in a pool (`pools.py`) and a step is a sequence of its slots. A
*light* payload holds the step list, decisions, times and the lineage; the rest is requested step by
step (`view.View`).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from xla_explorer.compiler.decisions.kinds import KINDS, OF_ANY_KIND
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.display.quantities import headline
from xla_explorer.explorer.page.devices_data import partition_count
from xla_explorer.explorer.page.embedding import embedded_reports
from xla_explorer.explorer.page.fact_heads import fact_heads
from xla_explorer.explorer.page.json_data import (
    ExplorerPayload,
    PaneData,
    PooledPicture,
    PooledStep,
    WholeData,
    to_mapping,
)
from xla_explorer.explorer.page.pools import (
    PICTURE_KEYS,
    Pool,
    column,
    identity,
    line_key,
)
from xla_explorer.explorer.page.private_paths import cut_paths_in_data
from xla_explorer.explorer.page.rows import Column, ComparisonTable, StepRow
from xla_explorer.explorer.page.schema import wire_format
from xla_explorer.explorer.page.session_source import no_decisions
from xla_explorer.explorer.page.step_data import changes, pane_data, whole_blocks
from xla_explorer.explorer.page.view import ExplorerSource
from xla_explorer.explorer.pictures.picture import PictureGraph
from xla_explorer.explorer.sessions.passes import RecordedPasses, pass_of_step
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.visible_text import cleaned_text

_WITHOUT_PATHS = frozenset({"pools", "sentences", "same", "lineage", "histories"})
"""Keys of a payload whose paths were cut when they were packed, or that hold numbers only."""
EMBED_INSTRUCTIONS = 6_000
"""Instructions of all changed steps up to which a payload is complete by default."""
LONG_VALUE = 20_000
"""Characters of JSON; a longer value has a line of its own."""
LONG_PANE = 50
"""Lines of a pane from which a page stores it as columns, which are shorter."""
MOST_DECISIONS = 6_000
MOST_HISTORIES = 20_000


def packed(data: Any) -> bytes:
    """Return deflated JSON, with escapes for invisible and bidirectional characters.

    Long values of a mapping, and of mappings in it, have lines of their own, which the script
    parses at the first use. The first line then has their keys, the second the rest.
    """
    parts: list[tuple[list[str], str]] = []
    rest = _extract_long_values(data, [], parts) if isinstance(data, dict) else data
    lines = (
        [_json_line([keys for keys, _ in parts]), _json_line(rest), *[line for _, line in parts]]
        if parts
        else [_json_line(rest)]
    )
    text = "\n".join(lines)
    return zlib.compress(
        text.encode("utf-8", "replace"), 5
    )  # 7 takes three times as long and saves a twentieth of the size


def _json_line(data: Any) -> str:
    return cleaned_text(
        json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False), in_json=True
    )


def _extract_long_values(
    data: Mapping[str, Any], keys: list[str], parts: list[tuple[list[str], str]]
) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    for key, value in data.items():
        rest[key] = value
        if isinstance(value, dict) and not keys:
            rest[key] = _extract_long_values(value, [key], parts)
        elif isinstance(value, list | dict) and len(line := _json_line(value)) > LONG_VALUE:
            rest[key] = None
            parts.append(([*keys, key], line))
    return rest


def unpacked(data: bytes) -> Any:
    """Return the data of `packed`."""
    first, *lines = [json.loads(line) for line in zlib.decompress(data).decode().split("\n")]
    if not lines:
        return first
    found, *values = lines
    for (*above, key), value in zip(first, values, strict=True):
        (found[above[0]] if above else found)[key] = value
    return found


def shown_step(steps: Sequence[StepRow], index: int) -> int:
    """Return the earliest step that shows the same module: unchanged passes are stored once."""
    while index > 0 and not steps[index].changed:
        index -= 1
    return index


def packed_pane(pane: PaneData, clean: Callable[[Any], Any]) -> PaneData:
    """Return a pane, with its lines as columns if it is long."""
    lines = pane["lines"]
    if lines is None or len(lines) < LONG_PANE:
        return pane
    columns = [column(list(values), clean) for values in zip_longest(*lines)]
    return {**pane, "lines": None, "packed": columns}


def is_small(steps: Sequence[StepRow], limit: int = EMBED_INSTRUCTIONS) -> bool:
    """Return True if all changed steps together are small enough to be sent at once."""
    return (
        sum(step.instructions_after for step in steps if step.changed or step.index == 0) <= limit
    )


def build_payload(
    source: ExplorerSource,
    *,
    complete: bool | None = None,
    live: bool = False,
    colour: Column | None = None,
    comparison: ComparisonTable | None = None,
    paths: bool = True,
) -> ExplorerPayload:
    """Return the payload of `source`; `complete` None decides by size (see `is_small`).

    colour: the user's own column, shown first. paths: keep absolute paths, else only file names.
    """
    steps = list(source.steps())
    if complete is None:
        complete = is_small(steps)
    same = [shown_step(steps, k) for k in range(len(steps))]
    all_decisions = source.decisions()
    decisions = _chosen(all_decisions)
    measured = measured_data(source, colour)
    payload = ExplorerPayload(
        format=wire_format(),
        complete=complete,
        live=live,
        title=source.title,
        headline=measured["headline"],
        steps=[plain(step) for step in steps],
        same=same,
        decisions=[plain(row) for row in decisions[0]],
        decisions_hidden=decisions[1],
        no_decisions="" if decisions[0] else no_decisions(source.session),
        reasons=_reasons(decisions[0]),
        fact_heads={key: plain(head) for key, head in fact_heads(all_decisions).items()},
        timings=measured["timings"],
        lineage=[],
        pools={},
        sentences=column([]),
        details={},
        panes=[],
        histories={},
        roof=measured["roof"],
        columns=measured["columns"],
        own_colour=colour is not None,
        comparison=to_mapping(comparison),
        devices=1 if source.session is None else partition_count(source.session.source),
        reports={} if live or not complete else embedded_reports(source),
    )
    for step in steps:
        if step.rewrites:
            payload["lineage"] += [
                [row.subject, *row.produced]
                for row in source.rewrites(step.index)
                if row.verdict == "accepted" and row.subject is not None and row.produced
            ]
    if complete:
        with collector_paused():
            _embed(payload, source, sorted(set(same)), identity if paths else cut_paths_in_data)
    if not paths:
        done = {key: value for key, value in payload.items() if key in _WITHOUT_PATHS}
        cut: Any = {
            **cut_paths_in_data({key: value for key, value in payload.items() if key not in done}),
            **done,
        }
        return cut  # type: ignore[no-any-return]  # the same keys
    return payload


def measured_data(source: ExplorerSource, colour: Column | None = None) -> dict[str, Any]:
    """Return the part of a payload that a measurement changes, for a view that is open already."""
    view = source.view()
    return {
        "headline": headline(source.summary()),
        "timings": [plain(row) for row in source.timings()],
        "roof": plain(view.roof()),
        "columns": [
            plain(column) for column in [*([colour] if colour is not None else []), *view.columns()]
        ],
    }


def _chosen(decisions: Sequence[Decision]) -> tuple[list[Decision], int]:
    """Return at most MOST_DECISIONS decisions in their order, and how many are left out.

    Refusals and accepted decisions have half of the room each, and what the other half does not
    need. Among each, decisions about two instructions come first, by cost, and costs before upper
    bounds. A program full of folded constants thus still has the reasons of its refused fusions.
    """
    rows = list(decisions)
    if len(rows) <= MOST_DECISIONS:
        return rows, 0
    by_interest = sorted(range(len(rows)), key=lambda k: _interest(rows[k]))
    accepted = [k for k in by_interest if rows[k].verdict == "accepted"]
    refused = [k for k in by_interest if rows[k].verdict != "accepted"]
    kept = refused[: max(MOST_DECISIONS // 2, MOST_DECISIONS - len(accepted))]
    kept += accepted[: MOST_DECISIONS - len(kept)]
    return [rows[k] for k in sorted(kept)], len(rows) - len(kept)


def _reasons(decisions: Iterable[Decision]) -> dict[str, str]:
    """Return the meanings of the codes of the decisions and their checklists.

    The meaning for fusions takes precedence.
    """
    used = {
        code for row in decisions for code in (row.code, *[check.code for check in row.checklist])
    }
    tables = [*[row.reasons for row in reversed(KINDS.values())], OF_ANY_KIND]
    return {
        code: f"{found.sentence}; remedy: {found.remedy}"
        for table in tables
        for code, found in table.items()
        if code in used
    }


def _interest(row: Decision) -> tuple[bool, int, float]:
    """Return the sort key by which decisions are kept, the smallest first."""
    for rank, key in enumerate(
        ("refusal_costs_microseconds", "refusal_costs_at_most_microseconds")
    ):
        cost = row.facts.get(key)
        if isinstance(cost, int | float) and cost > 0:
            return len(row.subjects) < 2, rank, -float(cost)
    return len(row.subjects) < 2, 2, 0.0


_WHOLE = "whole_"
"""Prefix of the pools of whole modules, whose nodes have neither scopes nor tooltips."""


def _pooled(
    picture: PictureGraph, step: int, pools: Mapping[str, Pool], prefix: str = ""
) -> PooledPicture:
    return PooledPicture(
        title=picture.title,
        nodes=pools[prefix + "nodes"].sequence(picture.nodes, step),
        edges=pools[prefix + "edges"].sequence(picture.edges, step),
        groups=pools[prefix + "groups"].sequence(picture.groups, step),
        aliases=pools[prefix + "aliases"].sequence(picture.alias_rows(), step),
        hidden=picture.hidden,
        note=picture.note,
    )


def _whole(passes: RecordedPasses[Any], step: int, pools: Mapping[str, Pool]) -> WholeData:
    """Return all instructions of a step, with their blocks apart from their rows.

    The block of a row changes from step to step, the row does not. A page draws parts of it.
    """
    found = pass_of_step(passes, step)
    picture = found.picture(bare=True, budget=found.instructions)
    blocks, place = whole_blocks(passes, step)
    outside = [n.id for n in picture.nodes if n.group is None] + [
        g.instruction for g in picture.groups if g.parent is None
    ]
    homes = column([None if key is None else place.get(key) for key in outside])
    return WholeData(
        **_pooled(picture, step, pools, _WHOLE),
        blocks=[list(group) for group in blocks],
        homes=homes,
    )


def _embed(
    payload: ExplorerPayload,
    source: ExplorerSource,
    steps: Iterable[int],
    clean: Callable[[Any], Any],
) -> None:
    pools = {
        prefix + name: Pool(key) for prefix in ("", _WHOLE) for name, key in PICTURE_KEYS.items()
    }
    pools["text"] = Pool(line_key)
    steps = list(steps)
    for step in steps:
        picture = source.picture(step)
        passes = source.passes if picture.hidden else None
        payload["details"][str(step)] = PooledStep(
            picture=_pooled(picture, step, pools),
            changes=changes(source.passes, step),
            whole=None if passes is None else _whole(passes, step, pools),
            text=pools["text"].sequence(source.text(step), step),
            rewrites=[plain(row) for row in source.rewrites(step)],
        )
    sentences: dict[str, int] = {}
    for key in _instructions_by_heat(source, steps)[:MOST_HISTORIES]:
        history = [str(sentence) for sentence in source.history(key)]
        payload["histories"][str(key)] = [
            sentences.setdefault(sentence, len(sentences)) for sentence in history
        ]
    payload["sentences"] = column(list(sentences), clean)
    payload["pools"] = {name: pool.packed(clean) for name, pool in pools.items()}
    panes = [p for p in source.panes() if p.name != "hlo" or len(payload["steps"]) < 2]
    payload["panes"] = [packed_pane(pane, clean) for pane in pane_data(panes, live=payload["live"])]


def _instructions_by_heat(source: ExplorerSource, steps: Sequence[int]) -> list[int]:
    """Return the instructions of these steps: kernels by time, then those of the later steps."""
    kernels = sorted(source.view().rows(), key=lambda row: -row.time_us)
    ids = dict.fromkeys([row.instruction for row in kernels if row.instruction is not None])
    for step in reversed(steps):
        ids.update((key, None) for _, key in source.text(step) if key is not None)
    return list(ids)
