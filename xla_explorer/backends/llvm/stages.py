"""Optimised LLVM IR without its debug metadata, for the stages of every LLVM backend."""

from __future__ import annotations

import re

_LOCATION = re.compile(r"^(!\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_METADATA = re.compile(r"!\d+ = |!llvm\.(dbg|module)|!\w+ = ")
_REFERENCE = re.compile(r",? !dbg (!\d+)")


def strip_debug(text: str) -> tuple[str, list[int | None]]:
    """Return LLVM IR without debug metadata, and each line's instruction id from that metadata.

    See `with_debug_lines`.
    """
    locations = {
        m.group(1): int(m.group(2)) - 1 for m in _LOCATION.finditer(text) if m.group(2) != "0"
    }
    lines: list[str] = []
    origins: list[int | None] = []
    for line in text.splitlines():
        if _METADATA.match(line):
            continue
        found = _REFERENCE.search(line)
        origins.append(locations.get(found.group(1)) if found else None)
        lines.append(_REFERENCE.sub("", line))
    return "\n".join(lines), origins
