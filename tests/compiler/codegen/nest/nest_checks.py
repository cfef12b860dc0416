"""Invariants of the loop nests of a module's instructions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.parser import parse_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.evaluator import Evaluator
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


class Checked:
    """Results for the instructions of modules. nests: by opcode; refused: by code."""

    def __init__(self) -> None:
        self.nests: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def module(self, module: HloModule, arguments: tuple[Any, ...]) -> None:
        """Check every instruction of the entry that has a nest."""
        evaluator = Evaluator(record=True)
        evaluator.evaluate_computation(module.entry, arguments)
        values = evaluator.values
        for i in module.entry.post_order():
            if i.opcode.name in ("parameter", "tuple", "get-tuple-element", "constant") or any(
                o.id not in values for o in (i, *i.operands)
            ):
                continue
            nest = nest_of(i)
            if isinstance(nest, Reason):
                self.refused[nest.code] += 1
            else:
                check_nest(nest, [values[o.id] for o in dict.fromkeys(i.operands)], values[i.id], i)
                self.nests[i.opcode.name] += 1


def check_nest(nest: LoopNest, operands: list[Any], wanted: Any, i: HloInstruction) -> None:
    """Check that a nest is well formed, its text is read back, and it computes the result.

    Sums of floats may differ in their last bits.
    """
    text = nest_text(nest)
    assert not why_not_well_formed(nest), (str(i), text)
    assert nest_text(parse_nest(text)) == text
    assert_near(
        evaluate_nest(nest, operands),
        list(wanted) if isinstance(wanted, tuple) else [wanted],
        f"{i}\n{text}",
    )


def assert_near(found: list[Any], wanted: list[Any], what: str) -> None:
    """Assert equal bits, or floats that differ by the rounding of sums."""
    for a, b in zip(found, wanted, strict=True):
        b = np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape, what
        if a.tobytes() != np.ascontiguousarray(b).tobytes():
            wide = np.complex128 if b.dtype.kind == "c" else np.float64
            tolerance = 1e-2 if b.dtype.itemsize <= 2 else 1e-4
            assert b.dtype.kind not in "iub" and np.allclose(
                a.astype(wide), b.astype(wide), tolerance, 1e-4, equal_nan=True
            ), what
