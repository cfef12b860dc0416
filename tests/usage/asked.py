"""Ask the agent's tools about a program as an agent would: open it, and look for risks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from tests.usage.causes import CAUSES, LATER, WRONG
from xla_explorer.agents import tools as tools
from xla_explorer.agents.folders import Folders
from xla_explorer.agents.registry import answered
from xla_explorer.agents.workspace import Workspace


class Answers(NamedTuple):
    """Answers to a fixed sequence of calls. named: the call whose answer names cause and line."""

    calls: int
    longest: int
    named: str


def lowered(function: Any, arrays: tuple[Any, ...], wide: bool) -> str:
    """Return the text that a user writes to a file."""
    import jax

    with (jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64)(wide):
        return str(jax.jit(function).lower(*arrays).as_text(debug_info=True))


def ask(name: str, kind: str, text: str, places: list[str], folder: Path) -> Answers:
    """Return the answers about a program until one names its cause and line.

    places: `file.py:12` of each line that shows the cause.
    """
    (folder / f"{name}.mlir").write_text(text)
    work = Workspace(Folders([folder]))
    calls: list[tuple[str, dict[str, Any]]] = [("open", {"path": f"{name}.mlir"})]
    risks: tuple[str, dict[str, Any]] = ("risks", {"program": "p1"})
    calls += [risks] if kind in WRONG else [("explain", {"program": "p1"}), risks]
    longest = 0
    for number, (tool, arguments) in enumerate(calls, 1):
        answer = answered(work, tool, arguments)
        longest = max(longest, len(answer) // 4)
        if any(names(line, (CAUSES | LATER)[name].words, places) for line in answer.splitlines()):
            return Answers(number, longest, tool)
    return Answers(len(calls), longest, "")


def names(line: str, words: str, places: list[str]) -> bool:
    """Return True if a line of an answer names the cause and one of its lines."""
    there = any(re.search(rf"{re.escape(place)}(?!\d)", line) for place in places)
    return there and re.search(words, line) is not None
