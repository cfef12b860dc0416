"""Which module of a dump is the program that a user means: the one with the most work, not the one with the most text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import read_file
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

_LOOKED_AT, _READ = 32, 8  # files whose lines are counted, files that are read
_LONGEST = 4 << 20  # bytes of files that are read for this


def main_program(paths: Sequence[Path | None]) -> int:
    """The number of the file with the most work in operations and bytes; of those with the most instructions, by lines, where files are
    too long to be read for that. A tie goes to the last, which was compiled last."""
    numbers = range(len(paths))
    largest = sorted(numbers, key=lambda k: _size(paths[k]))[-_LOOKED_AT:]
    by_lines = sorted(largest, key=lambda k: (_lines(paths[k]), k))[-_READ:]
    if len(by_lines) == 1 or any(_size(paths[k]) > _LONGEST for k in by_lines):
        return by_lines[-1]
    return max(by_lines, key=lambda k: (_work(paths[k]), by_lines.index(k)))


def read_module(path: Path) -> HloModule:
    """The module of one file of a dump, text or proto."""
    raw = read_file(path, hint="dump the program again")
    return (
        read_hlo_proto(raw, path.name).module
        if ".pb" in path.suffixes
        else parse_hlo(raw, path.name)
    )


def _work(path: Path | None) -> float:
    """Operations and bytes of one run; nothing for what cannot be read."""
    try:
        cost = module_cost(read_module(path)) if path is not None else None
    except (XlaExplorerError, OSError):
        return 0.0
    return cost.flops + cost.transcendentals + cost.bytes_accessed if cost is not None else 0.0


def _size(path: Path | None) -> int:
    return path.stat().st_size if path is not None else 0


def _lines(path: Path | None) -> int:
    if path is None:
        return 0
    try:
        with open(path, "rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0
