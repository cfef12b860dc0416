"""Choice of the main program among the modules of a dump.

Functions of the user come before helpers of a framework. Of several, the module with the most work
is chosen, not the one with the longest text.
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
    """The main program of a dump. number: of its module. why: the criterion, in words."""

    number: int
    why: str


def main_program(paths: Sequence[Path | None], names: Sequence[str]) -> MainProgram:
    """Return the main program, given the first file and the name of each module.

    JAX names a module after the jitted function, and the text lists the functions of the user's
    files. A module with one of these names is the user's. Others are helpers that the framework
    compiled on the way (`jit__normal`, `jit_matmul`). Of the user's modules, the one with the most
    work is chosen; without a list, of all modules.
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
    """Return True if a module is named after a function in the text's table of functions."""
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
    """Return the number of the file with the most work in operations and bytes.

    If files are too long to be parsed, the number of lines decides. Of equals the last is chosen,
    which was compiled last.
    """
    largest = sorted(numbers, key=lambda k: _size(paths[k]))[-_LOOKED_AT:]
    by_lines = sorted(largest, key=lambda k: (_lines(paths[k]), k))[-_READ:]
    if len(by_lines) == 1 or any(_size(paths[k]) > _LONGEST for k in by_lines):
        return by_lines[-1]
    return max(by_lines, key=lambda k: (_work(paths[k]), by_lines.index(k)))


def read_module(path: Path) -> HloModule:
    """Return the module of one file of a dump, text or proto."""
    raw = read_file(path, hint="dump the program again")
    return (
        read_hlo_proto(raw, path.name).module
        if ".pb" in path.suffixes
        else parse_hlo(raw, path.name)
    )


def _work(path: Path | None) -> float:
    """Return operations plus bytes of one run; 0 for an unreadable file."""
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
