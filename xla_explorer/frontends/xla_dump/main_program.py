"""Which module of a dump is the program that a user means.

A function of the user's own comes before helpers of a framework, then the module with the most
work, not the one with the most text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import read_file
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

_LOOKED_AT, _READ = 32, 8  # files whose lines are counted, files that are read
_LONGEST = 4 << 20  # bytes of files that are read for this
_HEAD = 1 << 18  # bytes of a file in which the table of functions begins and ends
_FUNCTIONS = re.compile(rb"^FunctionNames$((?:\s+\d+ \"[^\n]*\")+)", re.MULTILINE)
_NAME = re.compile(r'\d+ "([^"\n]*)"')


class MainProgram(NamedTuple):
    """number: of the program. why: by what it was taken, in words."""

    number: int
    why: str


def main_program(paths: Sequence[Path | None], names: Sequence[str]) -> MainProgram:
    """Return the program that is meant of the first files of modules and their names.

    JAX calls a module after the function that it jitted, and the text lists the functions of the
    user's files: a module whose name is one of them is the user's, any other a helper that the
    framework compiled on the way (`jit__normal`, `jit_matmul`). Of the user's modules, or of all
    where the text has no such list, the one with the most work is taken.
    """
    numbers = range(len(paths))
    own = [k for k in numbers if _is_users(paths[k], names[k])]
    if not own or len(own) == len(paths):
        return MainProgram(_with_most_work(paths, numbers), "it has the most work")
    of_several = f", of {len(own)} such the one with the most work" if len(own) > 1 else ""
    return MainProgram(
        _with_most_work(paths, own), f"a function of your files is called so{of_several}"
    )


def _is_users(path: Path | None, name: str) -> bool:
    """Whether a module is called after a function of the user's, by the table of functions at the head of a text."""
    if path is None or path.suffix != ".txt":
        return False
    try:
        with open(path, "rb") as file:
            found = _FUNCTIONS.search(file.read(_HEAD))
    except OSError:
        return False
    listed = found.group(1).decode("utf-8", "replace") if found is not None else ""
    own = {
        re.sub(r"[^\w.\-]", "_", one.rpartition(".")[2]).strip("_") for one in _NAME.findall(listed)
    }
    return re.sub(r"^p?jit_", "", name).strip("_") in own


def _with_most_work(paths: Sequence[Path | None], numbers: Sequence[int]) -> int:
    """The number of the file with the most work in operations and bytes; of those with the most instructions, by lines, where files are
    too long to be read for that. A tie goes to the last, which was compiled last.
    """
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
