"""Calls as text: `decisions('fusion')[20:40]`, read without running anything."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError

MOST_CHARACTERS = 20_000


class CallError(XlaExplorerError, ValueError):
    """A text that is not a call of a question."""


class Call(NamedTuple):
    """A call: the question, its arguments, and the requested rows.

    positional: values in the order of the signature. named: values by parameter. step: the pass of
    `passes[step]`, None without. start, stop: rows or lines, in the order of the answer.
    """

    name: str
    positional: tuple[Any, ...] = ()
    named: dict[str, Any] = {}  # noqa: RUF012  # never changed
    step: int | None = None
    start: int = 0
    stop: int | None = None


def parse_call(text: str) -> Call:
    """Return the call that a text spells; `session.` in front is optional.

    Parameters
    ----------
    text : str
        A path of names, with literals as arguments and a slice of rows behind, if any.

    Raises
    ------
    CallError
        The text is anything else.

    Examples
    --------
    >>> parse_call("decisions('fusion')[20:]")
    Call(name='decisions', positional=('fusion',), named={}, step=None, start=20, stop=None)
    >>> parse_call("passes[3].text_diff()").step
    3
    """
    if len(text) > MOST_CHARACTERS:
        raise CallError(f"a call has {len(text)} characters", f"at most {MOST_CHARACTERS}")
    try:
        node: ast.expr = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _wrong(text) from None
    start, stop = 0, None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        start, stop = _bounds(node.slice, text)
        node = node.value
    arguments: list[ast.expr] = []
    keywords: list[ast.keyword] = []
    if isinstance(node, ast.Call):
        arguments, keywords, node = node.args, node.keywords, node.func
    names, step = _path(node, text)
    named = {k.arg: _literal(k.value, text) for k in keywords if k.arg is not None}
    if len(named) < len(keywords):
        raise _wrong(text)
    positional = tuple([_literal(one, text) for one in arguments])
    return Call(".".join(names), positional, named, step, start, stop)


def _path(node: ast.expr, text: str) -> tuple[list[str], int | None]:
    """Return the names of a path, and the number in `passes[number]`."""
    names: list[str] = []
    step: int | None = None
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript) and step is None:
            step = _literal(node.slice, text)
            if not isinstance(step, int) or isinstance(step, bool):
                raise _wrong(text)
            inner, _ = _path(node.value, text)
            return [*inner[:-1], f"{inner[-1]}[step]", *names], step
        else:
            raise _wrong(text)
    names.insert(0, node.id)
    return names[1:] if names[0] in ("session", "s") and len(names) > 1 else names, step


def _bounds(node: ast.Slice, text: str) -> tuple[int, int | None]:
    """Return the first row and the row after the last of a slice."""
    values = [_literal(one, text) if one is not None else None for one in (node.lower, node.upper)]
    if node.step is not None or any(
        v is not None and (not isinstance(v, int) or isinstance(v, bool) or v < 0) for v in values
    ):
        raise _wrong(text)
    return values[0] or 0, values[1]


def _literal(node: ast.expr, text: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise _wrong(text) from None


def _wrong(text: str) -> CallError:
    shown = text if len(text) <= 80 else text[:77] + "..."
    return CallError(
        f"not a call of a question: {shown!r}",
        "a name with literals: decisions('fusion'), passes[3].text_diff(), kernels()[:10]",
    )
