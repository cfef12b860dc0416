"""Search over instructions, decisions and passes: `op:dot shape:f32[*,768] bytes>1M -scope:attn`.

A query is a list of terms that must all hold. `key:text` matches a part of a field, with `*` for
anything; `key:/pattern/` is a regular expression. `key>number` compares, with k, M, G for
thousands, µs, ms and s for times and % for the share of all. A word without a key matches any
field; `-` before a term negates it. `search_language.js` is the same language in the explorer's
script; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError

KEYS: dict[str, str] = {
    "what": "instruction, decision or pass",
    "name": "of an instruction, of a decision's subject, of a pass",
    "op": "the opcode",
    "shape": "the shape, as it is printed",
    "scope": "the name scope (op_name)",
    "line": "file and line of the source",
    "text": "the printed line, or the sentence of a decision",
    "kind": "the kind of decision: fusion, layout, ...",
    "verdict": "accepted or refused",
    "reason": "the code of a refusal",
    "pass": "the pass that decided, or its name",
    "bytes": "moved in one run (estimate)",
    "time": "measured, else estimated; of a refusal its cost",
}
_ALIASES = {"opcode": "op", "code": "reason", "source": "line"}
_TERM = re.compile(r'(-?)(?:([A-Za-z]+)(:|>=|<=|>|<|=))?("[^"]*"|/(?:[^/\\]|\\.)+/|\S+)')
_NUMBER = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)([a-zA-Zµ%]*)$")
_UNITS = {
    "": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6, "%": 0.01,
}  # fmt: skip
_LINE = re.compile(r"^\s*(?:ROOT )?%?([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\(")


class Term(NamedTuple):
    """One condition.

    key: empty for a word that any field may match. by: `:` or a comparison. share: the value is a
    share of all.
    """

    negated: bool
    key: str
    by: str
    value: str
    number: float | None = None
    share: bool = False


def parsed(query: str) -> list[Term]:
    """Return the terms of a query.

    XlaExplorerError for an unknown key, or a number or pattern that cannot be parsed.
    """
    found = []
    for minus, given, by, raw in _TERM.findall(query):
        key = _ALIASES.get(given, given)
        if given and key not in KEYS:
            if by != ":":
                raise XlaExplorerError(
                    f"the search has no key {given!r}", f"choose from: {', '.join(KEYS)}"
                )
            raw, key, by = f"{given}:{raw}", "", ":"  # such as model.py:40 or a name with a colon
        value = raw[1:-1] if raw[:1] == '"' and len(raw) > 1 else raw
        number, share = None, False
        if by not in ("", ":"):
            read = _NUMBER.match(value)
            if read is None or read[2] not in _UNITS:
                raise XlaExplorerError(
                    f"{key}{by}{value}: {value!r} must be a number", "such as 1M, 5% or 20us"
                )
            number, share = float(read[1]) * _UNITS[read[2]], read[2] == "%"
        if value[:1] == "/" and value[-1:] == "/" and len(value) > 2:
            try:
                re.compile(value[1:-1])
            except re.error as problem:
                raise XlaExplorerError(
                    f"{value} is not a regular expression: {problem}", "write /pattern/"
                ) from None
        found.append(Term(bool(minus), key, by or ":", value, number, share))
    return found


def _text_matches(value: str, text: str) -> bool:
    if value[:1] == "/" and value[-1:] == "/" and len(value) > 2:
        return re.search(value[1:-1], text, re.IGNORECASE) is not None
    if "*" in value:
        return (
            re.search(
                ".*".join([re.escape(part) for part in value.split("*")]), text, re.IGNORECASE
            )
            is not None
        )
    return value.lower() in text.lower()


def holds(term: Term, item: Mapping[str, Any], totals: Mapping[str, float]) -> bool:
    """Return True if an item meets a term. totals: sums of the numbers, for shares."""
    if term.number is not None:
        given = item.get(term.key)
        if not isinstance(given, int | float):
            return term.negated
        value = given / totals[term.key] if term.share and totals.get(term.key) else given
        found = {
            ">": value > term.number,
            "<": value < term.number,
            ">=": value >= term.number,
            "<=": value <= term.number,
        }.get(term.by, value == term.number)
    elif term.key:
        value_ = item.get(term.key)
        found = (
            value_ is not None
            and value_ != ""
            and _text_matches(term.value.removeprefix("%"), str(value_))
        )
    else:
        found = any(
            _text_matches(term.value.removeprefix("%"), value)
            for value in item.values()
            if isinstance(value, str)
        )
    return found != term.negated


def searched(query: str, items: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the items that meet all terms."""
    terms, every = parsed(query), list(items)
    totals = {
        key: sum(
            [item[key] for item in every if item.get("what") == "instruction" and item.get(key)]
        )
        for key in ("bytes", "time")
    }
    for item in every:
        if all(holds(term, item, totals) for term in terms):
            yield item


def instruction_item(text: str, key: int) -> dict[str, Any] | None:
    """Return the fields of an instruction from its printed line."""
    found = _LINE.match(text)
    if found is None:
        return None
    scope = re.search(r'op_name="((?:[^"\\]|\\.)*)"', text)
    file, line = re.search(r'source_file="([^"]*)"', text), re.search(r"source_line=(\d+)", text)
    place = f"{file[1]}:{line[1]}" if file and line else ""
    return {"what": "instruction", "id": key, "name": found[1], "shape": found[2], "op": found[3], "scope": scope[1] if scope else "",
            "line": place, "text": text.strip()}  # fmt: skip
