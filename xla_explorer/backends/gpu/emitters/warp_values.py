"""How many different values the lanes of a warp have: an index of a kernel, computed for some warps from the lines of its LLVM IR.

Integer arithmetic on thread and block numbers is computed as it stands, a loop's counter at its start. What comes from memory is the same
in all lanes where its address is, and unknown otherwise; so is what is computed from it by other means. Whose lanes a branch has left
out still count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.emitters.block import WARP

Lanes = np.ndarray[Any, np.dtype[np.int64]]
_SAMPLES = 16  # warps of the grid, spread evenly
_DEEPEST = 100  # instructions behind one another; indices are made by few
_DEFINITION = re.compile(r"^  (%\S+) = (.*)$")
_REGISTER = re.compile(r"read\.ptx\.sreg\.(\w+)\.x\(")
_BINARY = re.compile(r"(add|sub|mul|udiv|sdiv|urem|srem|shl|lshr|ashr|and|or|xor) (?:[a-z]+ )*i\d+ ([^ ,]+), ([^ ,]+)")
_CONVERSION = re.compile(r"(?:zext|sext|trunc) (?:[a-z]+ )*i\d+ ([^ ,]+) to ")
_EXTREME = re.compile(r"call i\d+ @llvm\.([su])(min|max)\.i\d+\(i\d+ ([^ ,]+), i\d+ ([^ ,)]+)\)")
_PHI = re.compile(r"phi i\d+ \[ ([^ ,]+), ")
_ADDRESS = re.compile(r"getelementptr (?:[a-z]+ )*[^,]+, ptr[^%@]*([%@][^ ,]+), i64 ([^ ,]+)$")
_LOAD = re.compile(r"load [^,]+, ptr[^%@]*([%@][^ ,]+)")
_NAME = re.compile(r"%[\w.]+")
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
}  # of numbers that are not negative, as indices are
_DIVISIONS = ("udiv", "sdiv", "urem", "srem")


class WarpValues:
    """Values of a kernel's SSA names, by warp. blocks, threads_per_block: of its launch."""

    def __init__(self, lines: Sequence[str], blocks: int, threads_per_block: int) -> None:
        self._definitions = {found[1]: found[2] for line in lines if (found := _DEFINITION.match(line))}
        warps = max(blocks * threads_per_block // WARP, 1)
        chosen = sorted({warps * k // _SAMPLES for k in range(_SAMPLES)})
        thread = np.array(chosen, np.int64)[:, None] * WARP + np.arange(WARP)
        self._registers = {
            "tid": thread % threads_per_block,
            "ctaid": thread // threads_per_block,
            "ntid": np.full_like(thread, threads_per_block),
            "nctaid": np.full_like(thread, blocks),
        }
        self._same = np.zeros_like(thread)
        self._known: dict[str, Lanes | None] = {}
        self._depth = 0

    def distinct(self, name: str) -> float | None:
        """Different values in a warp, on the average of the warps looked at; None where that cannot be said."""
        values = self._value(name)
        if values is None:
            return None
        ordered = np.sort(values, axis=1)
        return float(1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1).mean())

    def _value(self, name: str) -> Lanes | None:
        if not name.startswith("%"):
            return self._same + (int(name) if name.lstrip("-").isdigit() else {"true": 1}.get(name, 0))
        if name not in self._known:
            self._known[name] = self._same  # of what a loop hands to itself
            definition = self._definitions.get(name)  # a parameter has none, and is the same for all
            self._depth += 1
            self._known[name] = self._same if definition is None else self._computed(definition) if self._depth < _DEEPEST else None
            self._depth -= 1
        return self._known[name]

    def _computed(self, text: str) -> Lanes | None:
        if found := _REGISTER.search(text):
            return self._registers.get(found[1])
        if found := _BINARY.match(text):
            return self._both(_FUNCTIONS[found[1]], found[2], found[3], found[1] in _DIVISIONS)
        if found := _EXTREME.match(text):
            return self._both(np.minimum if found[2] == "min" else np.maximum, found[3], found[4])
        if (found := _CONVERSION.match(text)) or (found := _PHI.match(text)):
            return self._value(found[1])
        if found := _ADDRESS.match(text):
            return self._both(np.add, found[1], found[2]) if found[1].startswith("%") else self._value(found[2])
        # Anything else is alike in lanes where all that it is made of is; its value itself is not known.
        if found := _LOAD.match(text):
            return self._alike([found[1]])
        return self._alike(_NAME.findall(text))

    def _both(self, function: Callable[[Any, Any], Any], a: str, b: str, divides: bool = False) -> Lanes | None:
        left, right = self._value(a), self._value(b)
        if left is None or right is None:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(function(left, np.where(right == 0, 1, right) if divides else right), np.int64)

    def _alike(self, names: Sequence[str]) -> Lanes | None:
        for name in names:
            values = self._value(name)
            if values is None or (values != values[:, :1]).any():
                return None
        return self._same
