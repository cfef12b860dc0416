"""Original values: the arrays, or trees of arrays, of the input module that a value represents."""

from __future__ import annotations

from typing import Any

from xla_explorer.hlo.text.attributes.pieces import string, tuple_index
from xla_explorer.hlo.text.tokens import IDENT, STRING, Tokens


def original_array(tokens: Tokens) -> str:
    """Parse an array of the original module: `{"name" {0}}`."""
    tokens.expect("{", 'an original array such as {"name" {0}}')
    found = ""
    if tokens.kind == STRING:
        found = string(tokens)
        if tokens.kind == "{" and (index := tuple_index(tokens)) != "{}":
            found += f" {index}"
    tokens.expect("}", "'}'")
    return "{" + found + "}"


def original_value(tokens: Tokens) -> str:
    """Parse a tree of arrays of the original module."""
    tokens.expect("{", 'an original value such as {({"a"}, {"b"})}')
    if tokens.eat("["):
        if tokens.kind != IDENT or tokens.value != "synthetic_call":
            raise tokens.problem("synthetic_call")
        tokens.advance()
        tokens.expect("]", "']'")
        tokens.expect("}", "'}'")
        return "{[synthetic_call]}"
    # As XLA reads it: only the index of each array counts, and the last of several at one index.
    tree: dict[int, Any] = {}
    place: list[int] = []
    while tokens.kind != "}":
        if tokens.kind == "{":
            node = tree
            for step in (0, *place[:-1]) if place else ():
                if not isinstance(node.get(step), dict):
                    node[step] = {}
                node = node[step]
            node[place[-1] if place else 0] = original_array(tokens)
            continue
        if tokens.kind not in ("(", ")", ",") or (not place and tokens.kind != "("):
            raise tokens.problem("[synthetic_call] or a tuple tree of original arrays")
        if tokens.kind == "(":
            place.append(0)
        elif tokens.kind == ")":
            place.pop()
        else:
            place[-1] += 1
        if len(place) > 64 or (place and place[-1] > 4096):
            raise tokens.problem("a smaller tree of original arrays")
        tokens.advance()
    tokens.advance()
    return "{" + _tree_text(tree.get(0, {})) + "}"


def _tree_text(tree: dict[int, Any] | str) -> str:
    if isinstance(tree, str):
        return tree
    return f"({', '.join([_tree_text(tree.get(number, {})) for number in range(max(tree, default=-1) + 1)])})"
