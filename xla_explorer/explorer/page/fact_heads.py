"""Titles and units of a decision's facts, which the page receives as typed values by key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xla_explorer.foundation.decision import Decision


class FactHead(NamedTuple):
    """The title of a fact.

    unit: `us`, `s`, `bytes`, or empty for a count or a word. note: an explanation of the title.
    """

    title: str
    unit: str = ""
    note: str = ""


_KNOWN = {
    "bytes_saved": FactHead(
        "bytes saved", "bytes", "bytes that would not be written and read again"
    ),
    "fused_microseconds": FactHead(
        "cost fused",
        "us",
        "cost of computing the producer inside its user, by the cost model; not of the whole kernel",
    ),
    "unfused_microseconds": FactHead(
        "cost unfused",
        "us",
        "cost of computing the producer once, storing it and reading it again, by the cost model",
    ),
    "evaluations": FactHead(
        "evaluations",
        "",
        "how often the fused code would contain or execute the producer's computation",
    ),
    "refusal_costs_microseconds": FactHead(
        "refusal costs", "us", "time that the refusal adds to one run, by the cost model"
    ),
    "refusal_costs_at_most_microseconds": FactHead(
        "refusal costs at most",
        "us",
        "an upper bound, by the cost model: the traffic that fusing would have saved",
    ),
}
_UNITS = {"us": "us", "microseconds": "us", "seconds": "s", "bytes": "bytes"}


def fact_heads(decisions: Iterable[Decision]) -> dict[str, FactHead]:
    """Return the heads of all facts of some decisions, by key."""
    keys = dict.fromkeys([key for row in decisions for key in row.facts])
    return {key: _KNOWN.get(key) or _conventional_head(key) for key in keys}


def _conventional_head(key: str) -> FactHead:
    """Return the head of a key with its unit as one of its words: `estimated_us_unfused`."""
    words = key.split("_")
    unit = next((_UNITS[word] for word in words if word in _UNITS), "")
    title = " ".join([word for word in words if unit == "bytes" or word not in _UNITS])
    return FactHead(title or key, unit)
