"""Twenty mistakes of devices, planted into the plugin's interpreter by a `sitecustomize.py`.

Written before the rules that must find them. Each is a mistake that a real device or its compiler
makes: a tail that is lost, an index that is not clamped, a NaN that is dropped, a rounding mode.
None replaces every value of its opcode: most show only for some shapes, attributes or values.
`install(name)` wraps the evaluator's function of one opcode.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

Right = Callable[[], Any]


def tail_lost(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """The last elements of a row longer than 64 are those of the operand."""
    value = np.array(right())
    if value.ndim and value.shape[-1] > 64:
        value[..., 64:] = operands[0][..., 64:]
    return value


def depth_of_one_tile(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A product of two matrices adds the first 32 terms only."""
    x, y = operands
    contracting = (
        i.attributes.value("lhs_contracting_dims"),
        i.attributes.value("rhs_contracting_dims"),
    )
    if x.ndim == y.ndim == 2 and contracting == ((1,), (0,)) and x.shape[1] > 32:
        return (x[:, :32] @ y[:32]).astype(right().dtype)
    return right()


def first_batch_only(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """Every batch of a product has the result of the first."""
    value = np.array(right())
    if i.attributes.value("lhs_batch_dims") and value.shape[0] > 1:
        value[1:] = value[:1]
    return value


def initial_value_dropped(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A sum does not begin at its initial value."""
    value = right()
    is_sum = i.called[0].root.opcode.name == "add" and len(operands) == 2
    return value - operands[1] if is_sum else value


def maximum_of_numbers(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A NaN on one side is ignored, as in C's fmax."""
    x, y = operands
    return np.fmax(x, y) if x.dtype.kind == "f" else right()


def not_clamped(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A gather of rows gives zeros for an index out of bounds."""
    value = np.array(right())
    x, indices = operands
    starts = indices.reshape(-1)
    if starts.size == value.shape[0] and indices.shape[-1:] == (1,):
        value[starts.astype(np.int64) >= x.shape[0]] = 0
    return value


def start_wraps(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A start below zero counts from the end, as in Python."""
    x, *starts = operands
    value = right()
    first = int(starts[0]) if starts else 0
    if x.ndim and first < 0 and value.shape[0] < x.shape[0]:
        return np.resize(np.roll(x, -first, 0)[: value.shape[0]], value.shape)
    return value


def duplicates_overwrite(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """Of two updates at one index the last is kept, though the scatter adds."""
    x, indices, updates = operands[:3]
    rows = indices.reshape(-1)
    is_of_rows = x.ndim and updates.shape == (rows.size, *x.shape[1:])
    if len(operands) > 3 or not is_of_rows or i.called[0].root.opcode.name != "add":
        return right()
    value = np.array(x)
    for k, row in enumerate(rows):
        if 0 <= int(row) < x.shape[0]:
            value[row] = x[row] + updates[k]
    return value


def saturates_not(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A float out of the range of s32 becomes the smallest s32, as cvttps2dq gives it."""
    value = np.array(right())
    [x] = operands
    if x.dtype == np.float32 and value.dtype == np.int32:
        value[np.asarray(x >= 2.0**31)] = np.iinfo(np.int32).min
    return value


def floored(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """Integers are divided towards minus infinity."""
    x, y = operands
    if x.dtype.kind == "i" and np.all(y):
        return x // y
    return right()


def sign_of_divisor(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A remainder has the sign of the divisor."""
    x, y = operands
    return np.mod(x, y).astype(x.dtype) if x.dtype.kind == "f" else right()


def amount_modulo_width(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A shift by at least the width shifts by the rest, as x86 does."""
    x, amount = operands
    width = x.dtype.itemsize * 8
    return np.left_shift(x, amount % np.array(width, x.dtype)) if width > 16 else right()


def zeros_ordered(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """-0.0 is below 0.0, as in a comparison of bits."""
    x, y = operands
    value = np.array(right())
    if x.dtype.kind == "f" and i.attributes.value("direction") == "LT":
        zeros = (x == 0) & (y == 0)
        value[zeros] = (np.signbit(x) & ~np.signbit(y))[zeros]
    return value


def cancels(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """exp(x) - 1 as it is written, which has no digits for small x."""
    [x] = operands
    return np.exp(x) - x.dtype.type(1) if x.dtype.kind == "f" else right()


def runs_once_at_least(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A loop is do-while: its body runs although the condition is false from the start."""
    state = operands[0]
    if not evaluator.evaluate_computation(i.called[0], (state,)):
        return evaluator.evaluate_computation(i.called[1], (state,))
    return right()


def inverse_order(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """An array of rank 3 is permuted by the inverse of the permutation."""
    value = right()
    order = i.attributes.value("dimensions")
    if len(order) == 3:
        return np.ascontiguousarray(np.transpose(operands[0], np.argsort(order))).reshape(
            value.shape
        )
    return value


def interior_ignored(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """Padding between elements is written behind them instead."""
    value = np.array(right())
    config = i.attributes.value("padding")
    if any(one.interior > 0 for one in config):
        flat = value.reshape(-1)
        kept = operands[0].reshape(-1)
        flat[:] = operands[1]
        flat[: kept.size] = kept[: flat.size]
        return flat.reshape(value.shape)
    return value


def ties_away(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """Half is rounded away from zero, not to even."""
    [x] = operands
    return (np.trunc(x + np.copysign(x.dtype.type(0.5), x))).astype(x.dtype)


def nan_clamped(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """A NaN is clamped to the lower bound."""
    low, x, _ = operands
    value = np.array(right())
    if x.dtype.kind == "f":
        value[np.isnan(x)] = low if low.ndim == 0 else low[np.isnan(x)]
    return value


def dies_of_rank(i: Any, operands: Any, right: Right, evaluator: Any) -> Any:
    """The process ends for arrays of rank 3 and above that are not reversed in their last one."""
    if operands[0].ndim >= 3:
        os.abort()
    return right()


FAULTS: dict[str, tuple[str, Callable[[Any, Any, Right, Any], Any]]] = {
    "tail-lost": ("add", tail_lost),
    "depth-of-one-tile": ("dot", depth_of_one_tile),
    "first-batch-only": ("dot", first_batch_only),
    "initial-value-dropped": ("reduce", initial_value_dropped),
    "maximum-of-numbers": ("maximum", maximum_of_numbers),
    "not-clamped": ("gather", not_clamped),
    "start-wraps": ("dynamic-slice", start_wraps),
    "duplicates-overwrite": ("scatter", duplicates_overwrite),
    "saturates-not": ("convert", saturates_not),
    "floored": ("divide", floored),
    "sign-of-divisor": ("remainder", sign_of_divisor),
    "amount-modulo-width": ("shift-left", amount_modulo_width),
    "zeros-ordered": ("compare", zeros_ordered),
    "cancels": ("exponential-minus-one", cancels),
    "runs-once-at-least": ("while", runs_once_at_least),
    "inverse-order": ("transpose", inverse_order),
    "interior-ignored": ("pad", interior_ignored),
    "ties-away": ("round-nearest-even", ties_away),
    "nan-clamped": ("clamp", nan_clamped),
    "dies-of-rank": ("reverse", dies_of_rank),
}


def install(name: str) -> None:
    """Plant a fault into the evaluator of this process."""
    import xla_explorer.hlo.evaluator  # noqa: F401 - registers the functions
    from xla_explorer.hlo.evaluator.registry import EVALUATION_FUNCTIONS

    opcode, fault = FAULTS[name]
    right = EVALUATION_FUNCTIONS[opcode]

    def wrong(i: Any, operands: Any, evaluator: Any) -> Any:
        with np.errstate(all="ignore"):
            return fault(i, operands, lambda: right(i, operands, evaluator), evaluator)

    EVALUATION_FUNCTIONS[opcode] = wrong


SITE = f"""
import os
if os.environ.get("XLA_EXPLORER_PLANTED_FAULT"):
    import importlib.util
    spec = importlib.util.spec_from_file_location("planted_faults", {__file__!r})
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.install(os.environ["XLA_EXPLORER_PLANTED_FAULT"])
"""
