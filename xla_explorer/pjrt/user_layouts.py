"""Arguments and results with a memory layout of their user (`jax.experimental.layout`).

A program computes on row-major arrays. Python copies arrays with another layout on entry and exit.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape
from xla_explorer.pjrt.records import outlives_python

Array = np.ndarray[Any, Any]
Order = tuple[int, ...]
"""Numbers of dimensions from the minor to the major one; () for rows."""
_AUTOMATIC: Order = (-1,)
_MODE = re.compile(r"\{(\d[\d,\s]*)\}")


class UserLayouts(NamedTuple):
    """The order of each parameter and of each result of a program; both empty if all are rows."""

    parameters: tuple[Order, ...] = ()
    results: tuple[Order, ...] = ()

    def __bool__(self) -> bool:
        return any(self.parameters) or any(self.results)

    def result(self, k: int) -> Order:
        """Return the order of one result."""
        return self.results[k] if k < len(self.results) else ()

    def decided(self, module: HloModule) -> UserLayouts:
        """Return the layouts with an order for each result that is left to the compiler.

        It is the order in which the transposition of a parameter moves nothing.
        """
        if _AUTOMATIC not in self.results:
            return self
        root = module.entry.root
        values = list(root.operands) if root.opcode.name == "tuple" else [root]
        made = [
            self._free(v) if o == _AUTOMATIC else o
            for o, v in zip(self.results, values, strict=False)
        ]
        return (
            UserLayouts(self.parameters, tuple(made))
            if any(self.parameters) or any(made)
            else ALL_ROWS
        )

    def _free(self, value: HloInstruction) -> Order:
        """Return the order in which a value is stored without a copy."""
        if value.opcode.name == "parameter":
            return self.parameters[value.parameter_number]
        if value.opcode.name == "copy" or custom_call_target(value) == "Sharding":
            return self._free(value.operands[0])
        if value.opcode.name != "transpose":
            return ()
        moved = list(value.attributes["dimensions"])
        of_operand = self._free(value.operands[0]) or tuple(reversed(range(len(moved))))
        return _unless_rows(tuple([moved.index(d) for d in of_operand]))

    def entry_layout(self, module: HloModule, memories: Sequence[str]) -> str:
        """Return the attribute `entry_computation_layout` of a module.

        memories: the memory kind of each result.
        """
        parameters = module.entry.parameters()
        orders = self.parameters or ((),) * len(parameters)
        given = [_shape_text(p.shape, o) for p, o in zip(parameters, orders, strict=True)]
        made = [
            _shape_text(s, self.result(k), _SPACES.get(kind, ""))
            for k, ((_, s), kind) in enumerate(
                zip(module.result_shape().leaves(), memories or repeat(""), strict=False)
            )
        ]
        result = "(" + ", ".join(made) + ")" if module.result_shape().is_tuple else made[0]
        return f"{{({', '.join(given)})->{result}}}"


ALL_ROWS = UserLayouts()


def read_layouts(parameters: Sequence[Any], results: Sequence[Any]) -> UserLayouts:
    """Return the layouts in the MLIR attributes of the entry's arguments and results.

    Arguments whose layout is left to the compiler are stored in rows.
    """
    given = [() if order == _AUTOMATIC else order for order in map(_order, parameters)]
    found = UserLayouts(tuple(given), tuple(map(_order, results)))
    return found if found else ALL_ROWS


def _order(attributes: Any) -> Order:
    text = str(attributes["mhlo.layout_mode"]) if "mhlo.layout_mode" in attributes else ""
    if text == '"auto"':
        return _AUTOMATIC
    mode = _MODE.search(text)
    return _unless_rows(tuple([int(n) for n in mode.group(1).split(",")]) if mode else ())


def _unless_rows(order: Order) -> Order:
    return () if order == tuple(reversed(range(len(order)))) else order


# Memory spaces by which XLA's layouts mark an array outside of device memory.
_SPACES = {"pinned_host": ":S(5)"}


def _shape_text(shape: Shape, order: Order, space: str = "") -> str:
    if not shape.is_array:
        return str(shape)
    kind, sizes = shape.element_type, ",".join(map(str, shape.dimensions))
    listed = ",".join(map(str, order or reversed(range(len(shape.dimensions)))))
    return f"{kind}[{sizes}]{{{listed}{space}}}"


# -- memory ----------------------------------------------------------------------------------------
_kept: dict[Order, Any] = outlives_python({})


def order_address(order: Order) -> int:
    """Return the address of an array of the order for C code, which is never freed; 0 for rows."""
    if not order:
        return 0
    return ctypes.addressof(_kept.setdefault(order, (ctypes.c_int64 * len(order))(*order)))


def stored(array: Array, order: Order) -> Array:
    """Return the elements as they are stored, as row-major array."""
    return np.ascontiguousarray(array.transpose(order[::-1]) if order else array)


def as_stored(dims: Sequence[int], order: Order) -> tuple[list[int], list[int]]:
    """Return the sizes of the rows in memory, and the permutation that restores the array."""
    major = list(order[::-1]) or list(range(len(dims)))
    return [dims[k] for k in major], [major.index(k) for k in range(len(dims))]
