"""Completion in `%%hlo`: options, passes, backends, what to show; opcodes in the text of the module."""

from __future__ import annotations

import re
from typing import Any

from xla_explorer.backends.registry import backend_names
from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.hlo.opcodes import OPCODES

SHOWN = ("explore", "graph", "passes", "fusion", "ir", "asm", "ptx", "buffers", "kernels", "code", "html")
OPTIONS = ("--passes", "--backend", "--show", "--time", "--args", "--no-run", "--save", "--journal", "--annotate", "--isolate", "--timeout")
JAX_OPTIONS = ("--passes", "--backend", "--show", "--journal", "--explore")
_OPCODE_PLACE = re.compile(r"=\s*(?:\([^)]*\)|\S+)\s+([a-z\-]*)$")


def complete_magic_line(_shell: Any, event: Any) -> list[str]:
    """Candidates for the word at the cursor of a line that starts with `%%hlo` or `%%jax`."""
    return magic_line_candidates(getattr(event, "text_until_cursor", event.line))


def magic_line_candidates(text: str) -> list[str]:
    """What may stand at the end of the magic line."""
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
    """Opcodes that fit at the end of a line of HLO: after `name = shape `."""
    found = _OPCODE_PLACE.search(text)
    return [name for name in OPCODES if name.startswith(found.group(1))] if found else []


def complete_hlo_text(shell: Any, event: Any) -> list[str]:
    """Opcodes, in cells that start with `%%hlo`."""
    cell = getattr(getattr(shell, "Completer", None), "full_text", "") or ""
    return opcode_candidates(event.text_until_cursor) if cell.startswith("%%hlo") else []
