"""Rows of harnesses: a choice of them to run, what was wrong, the table."""

from __future__ import annotations

import collections
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

FINE = ("agrees", "unsupported", "ours alone")


def in_mixed_order(harnesses: Mapping[str, str]) -> list[str]:
    """Names in an order drawn once, so that the first hundred already show every kind."""
    names = sorted(harnesses)
    random.Random(0).shuffle(names)
    return names


def sample(harnesses: Mapping[str, str], count: int) -> list[str]:
    """Return `count` names, taken from the primitives in turn, so that rare ones are included."""
    waiting: dict[str, list[str]] = {}
    for name in in_mixed_order(harnesses):
        waiting.setdefault(harnesses[name], []).append(name)
    chosen: list[str] = []
    while waiting and len(chosen) < count:
        for primitive in list(waiting):
            chosen.append(waiting[primitive].pop())
            if not waiting[primitive]:
                del waiting[primitive]
    return chosen[:count]


def wrong(rows: Iterable[Mapping[str, Any]], backends: Sequence[str]) -> list[str]:
    """Return a line for each harness and backend that differs from JAX's CPU."""
    return [
        f"{row[b]['status']} on {b}: {row['name']}: {' '.join(row[b].get('note', '').split())[:300]}"
        for b in backends
        for row in rows
        if row[b]["status"] not in FINE
    ]


def table(rows: Sequence[Mapping[str, Any]], backends: Sequence[str]) -> str:
    """Return counts by status, and the primitives that agree by definition."""
    lines = []
    for backend in backends:
        found = [row[backend] for row in rows]
        counts = collections.Counter(one["status"] for one in found)
        defined = len(found) - counts["unsupported"] - counts["ours alone"]
        lines.append(
            f"{backend}: {len(found)} run, {defined} defined (JAX's CPU runs them), {counts['agrees']} agree"
            + "".join(
                f", {count} {status}"
                for status, count in counts.most_common()
                if status != "agrees"
            )
        )
        classes = collections.Counter(
            row["primitive"] for row in rows if row[backend].get("by") == "definition"
        )
        lines.append(
            "  of these by definition: "
            + (", ".join(f"{name} {count}" for name, count in classes.most_common()) or "none")
        )
    return "\n".join(lines)
