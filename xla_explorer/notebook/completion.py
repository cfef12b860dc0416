"""Completion in `%%hlo`: options, passes, backends, views, and opcodes in the module's text."""

from __future__ import annotations

import re
from typing import Any

from IPython.core.completer import SimpleCompletion

from xla_explorer.backends.registry import backend_names
from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.hlo.opcodes import OPCODES

SHOWN = (
    "explore",
    "graph",
    "passes",
    "fusion",
    "ir",
    "asm",
    "ptx",
    "buffers",
    "kernels",
    "code",
    "html",
)
OPTIONS = (
    "--passes",
    "--backend",
    "--show",
    "--time",
    "--args",
    "--no-run",
    "--save",
    "--journal",
    "--annotate",
    "--isolate",
    "--timeout",
)
JAX_OPTIONS = ("--passes", "--backend", "--show", "--journal", "--explore")
_WORD = re.compile(r"\S*$")
_OPCODE_PLACE = re.compile(r"=\s*(?:\([^)]*\)|\S+)\s+([a-z\-]*)$")


def register_completion(shell: Any) -> None:
    """Add the completion of `%%hlo` and `%%jax` cells to a shell's completer, once."""
    matchers = getattr(getattr(shell, "Completer", None), "custom_matchers", None)
    if matchers is not None and complete_cell not in matchers:
        matchers.append(complete_cell)


def complete_cell(context: Any) -> dict[str, Any]:
    """Return candidates for the word at the cursor of a `%%hlo` or `%%jax` cell.

    They replace Python's names. Source: IPython's matcher API.
    """
    cell, typed = context.full_text, context.text_until_cursor
    found: list[str] = []
    if cell.startswith(("%%hlo", "%%jax")) and " " in cell.partition("\n")[0]:
        if context.cursor_line == 0:
            found = magic_line_candidates(typed)
        elif cell.startswith("%%hlo"):
            found = opcode_candidates(typed)
    word = _WORD.search(typed)
    completions = [SimpleCompletion(text=text, type="keyword") for text in found]
    fragment = word[0] if word is not None and found else context.token
    return {
        "completions": completions,
        "matched_fragment": fragment,
        "suppress": bool(found),
        "ordered": bool(found),
    }


complete_cell.matcher_api_version = 2  # type: ignore[attr-defined]  # set by IPython's decorator `context_matcher`


def magic_line_candidates(text: str) -> list[str]:
    """Return the possible words at the end of the magic line."""
    words = text.split(" ")
    current, before = words[-1], words[-2] if len(words) > 1 else ""
    prefix, comma, last = current.rpartition(",")
    choices: tuple[str, ...]
    if before == "--passes":
        choices = ("default", "none", *sorted(registered_passes()))
    elif before == "--backend":
        choices = tuple(backend_names())
    elif before == "--show":
        choices = SHOWN
    elif before == "--journal":
        choices = ("off", "passes", "decisions", "everything")
    else:
        choices = JAX_OPTIONS if words[0] == "%%jax" else OPTIONS
    return [prefix + comma + choice for choice in choices if choice.startswith(last)]


def opcode_candidates(text: str) -> list[str]:
    """Return opcodes that fit at the end of a line of HLO, after `name = shape `."""
    found = _OPCODE_PLACE.search(text)
    return [name for name in OPCODES if name.startswith(found.group(1))] if found else []
