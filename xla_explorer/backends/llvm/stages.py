"""Stages that every LLVM backend shows: HLO text, optimised LLVM IR without its debug metadata."""

from __future__ import annotations

import re

from xla_explorer.backends.interfaces import Stage
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.printer import module_text_with_lines

_LOCATION = re.compile(r"^(!\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_METADATA = re.compile(r"!\d+ = |!llvm\.(dbg|module)|!\w+ = ")
_REFERENCE = re.compile(r",? !dbg (!\d+)")


def hlo_stage(name: str, module: HloModule) -> Stage:
    """A module as text with a source map."""

    def produce() -> tuple[str, list[int | None]]:
        text, lines = module_text_with_lines(module)
        return text, [lines.get(k + 1) for k in range(text.count("\n") + 1)]

    return Stage(name, produce, "hlo")


def strip_debug(text: str) -> tuple[str, list[int | None]]:
    """LLVM IR without its debug metadata, and the instruction id of each line from it (see `with_debug_lines`)."""
    locations = {m.group(1): int(m.group(2)) - 1 for m in _LOCATION.finditer(text)}
    lines: list[str] = []
    origins: list[int | None] = []
    for line in text.splitlines():
        if _METADATA.match(line):
            continue
        found = _REFERENCE.search(line)
        origins.append(locations.get(found.group(1)) if found else None)
        lines.append(_REFERENCE.sub("", line))
    return "\n".join(lines), origins
