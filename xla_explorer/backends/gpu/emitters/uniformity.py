"""Uniformity analysis: the number of distinct values among the lanes of a warp.

A kernel's index is evaluated for some warps from its records. Integer arithmetic on thread and
block numbers is evaluated exactly, a loop's counter at its start. A loaded value is uniform if its
address is, and unknown otherwise; the same holds for values computed from it by other operations.
Lanes that are inactive because of a branch are counted too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from xla_explorer.compiler.codegen.ir.records import Instruction, Line, Phi
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.target import WARP_SIZE

Lanes = np.ndarray[Any, np.dtype[np.int64]]
_SAMPLES = 16  # warps of the grid, evenly spaced
_DEEPEST = 100  # instructions in a chain; index computations are short
_FUNCTIONS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": np.left_shift,
    "lshr": np.right_shift,
    "ashr": np.right_shift,
    "udiv": np.floor_divide,
    "sdiv": np.floor_divide,
    "urem": np.remainder,
    "srem": np.remainder,
}  # for non-negative numbers such as indices
_MIN_MAX = {
    f"i{bits} @llvm.{sign}{name}.i{bits}": function
    for bits in (32, 64)
    for sign in "su"
    for name, function in (("min", np.minimum), ("max", np.maximum))
}
_CONVERSIONS = ("zext", "sext", "trunc")
_DIVISIONS = ("udiv", "sdiv", "urem", "srem")


class UniformityAnalysis:
    """Values of a kernel's SSA names, by warp. blocks, threads_per_block: of its launch."""

    def __init__(self, records: Iterable[Line], blocks: int, threads_per_block: int) -> None:
        self._definitions: dict[str, Instruction | Phi] = {}
        for record in records:
            if isinstance(record, (Instruction, Phi)) and record.result is not None:
                self._definitions[record.result.name] = record
        warps = max(blocks * threads_per_block // WARP_SIZE, 1)
        chosen = sorted({warps * k // _SAMPLES for k in range(_SAMPLES)})
        thread = np.array(chosen, np.int64)[:, None] * WARP_SIZE + np.arange(WARP_SIZE)
        self._registers = {
            f"i32 @llvm.nvvm.read.ptx.sreg.{name}.x": values
            for name, values in (
                ("tid", thread % threads_per_block),
                ("ctaid", thread // threads_per_block),
                ("ntid", np.full_like(thread, threads_per_block)),
                ("nctaid", np.full_like(thread, blocks)),
            )
        }
        self._same = np.zeros_like(thread)
        self._known: dict[str, Lanes | None] = {}
        self._depth = 0

    def distinct(self, value: Value) -> float | None:
        """Return the distinct values in a warp on average, None if unknown."""
        values = self._value(value)
        if values is None:
            return None
        ordered = np.sort(values, axis=1)
        return float(1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1).mean())

    def _value(self, value: Value) -> Lanes | None:
        name = value.name
        if value.is_constant:
            return self._same + (value.number or 0)
        if name not in self._known:
            definition = self._definitions.get(name)
            if definition is None:  # parameters and globals are uniform
                return self._same if name.startswith(("%a", "@")) else None
            self._known[name] = self._same  # for values that a loop carries to itself
            self._depth += 1
            self._known[name] = self._computed(definition) if self._depth < _DEEPEST else None
            self._depth -= 1
        return self._known[name]

    def _computed(self, record: Instruction | Phi) -> Lanes | None:
        if isinstance(record, Phi):
            return self._value(record.incoming[0][0])
        op, operands = record.op, record.operands
        called = str(record.detail) if op == "call" else ""
        if called in self._registers:
            return self._registers[called]
        function = _MIN_MAX.get(called) or _FUNCTIONS.get(op)
        if function is not None:
            a, b = operands
            return self._both(function, a, b, op in _DIVISIONS)
        if op in _CONVERSIONS:
            return self._value(operands[0])
        if op == "getelementptr":
            pointer, at = operands
            return self._both(np.add, pointer, at)
        # Any other result, such as a load, is uniform if all operands are; its value is unknown.
        return self._uniform(operands)

    def _both(
        self, function: Callable[[Any, Any], Any], a: Value, b: Value, divides: bool = False
    ) -> Lanes | None:
        left, right = self._value(a), self._value(b)
        if left is None or right is None:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(
                function(left, np.where(right == 0, 1, right) if divides else right), np.int64
            )

    def _uniform(self, operands: Iterable[Value]) -> Lanes | None:
        for operand in operands:
            values = self._value(operand)
            if values is None or (values != values[:, :1]).any():
                return None
        return self._same
