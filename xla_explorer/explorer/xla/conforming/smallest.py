"""A program that fails on a plugin, made smaller: one operation, then one element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from xla_explorer.backends.testing.conformance import ConformanceRow, Failure
from xla_explorer.backends.testing.outcome import Run
from xla_explorer.backends.xla.plugin_file import PluginRunner
from xla_explorer.explorer.xla.differences.excerpt import Part, all_values, alone, flattened
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

Array = np.ndarray[Any, Any]
_SIZES = re.compile(r"(?<=\w)\[[\d,]+\](\{[\d,]*\})?")


def smallest_failure(
    runner: PluginRunner, row: ConformanceRow, module: HloModule, arrays: list[Array]
) -> Failure:
    """Return the first operation of a failing program that fails alone, with its values.

    An elementwise one is cut to one element. The program itself if no operation fails alone.
    """
    flat = flattened(module)
    parts = _alone(flat, arrays)
    for i, part in parts:
        run = _failing(runner, part, row.status)
        if run is None:
            continue
        small = _one_element(i, part, run)
        again = _failing(runner, small, row.status) if small is not None else None
        if small is not None and again is not None:
            part, run = small, again
        element_type = i.shape.element_type.name if i.shape.is_array else ""
        return _failure(row, i.opcode.name, element_type, part, run)
    whole = Part(module, arrays)
    return _failure(row, row.opcode, "", whole, runner.run_on(module, arrays))


def _alone(flat: HloModule, arrays: list[Array]) -> Iterator[tuple[HloInstruction, Part]]:
    """Yield each operation with its operands as arguments, in the order of execution."""
    try:
        values = all_values(flat, arrays)
    except XlaExplorerError:
        return
    for i in flat.entry.post_order():
        if i.opcode.name in ("parameter", "constant", "tuple", "get-tuple-element"):
            continue
        part = alone(flat, i.name, values)
        if part is not None:
            yield i, part


def _failing(runner: PluginRunner, part: Part, status: str) -> Run | None:
    """Return the run of a part that fails in the same way, else None."""
    try:
        run = runner.run_on(part.module, part.arrays)
    except XlaExplorerError:
        return None
    return run if run[0].status == status else None


def _one_element(i: HloInstruction, part: Part, run: Run) -> Part | None:
    """Return an elementwise operation on the first element that differs, or the first of all."""
    sizes = i.shape.dimensions if i.shape.is_array else ()
    is_whole = all(one.shape == sizes for one in part.arrays)
    if not (i.opcode.elementwise and is_whole and len(part.arrays) == len(i.operands) and sizes):
        return None
    _, _, expected, got = run
    place = 0
    if expected and got and got[0].shape == expected[0].shape:
        differs = ~((expected[0] == got[0]) | ((expected[0] != expected[0]) & (got[0] != got[0])))
        place = int(np.argmax(differs))
    if not part.arrays[0].size:
        return None
    text = _SIZES.sub("[1]{0}", part.module.to_text())
    return Part(parse_hlo(text), [one.reshape(-1)[place : place + 1] for one in part.arrays])


def _failure(row: ConformanceRow, opcode: str, element_type: str, part: Part, run: Run) -> Failure:
    outcome, arguments, expected, got = run
    message = f"{outcome.message} (from JAX's harness {row.opcode})"
    smaller = ConformanceRow(
        opcode, element_type, outcome.status, outcome.code, message, outcome.runs_on
    )
    return Failure(smaller, part.module.to_text(), arguments, expected, got)
