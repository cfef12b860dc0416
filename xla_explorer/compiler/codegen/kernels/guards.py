"""Positions of windows: the base element that a window element reads."""

from __future__ import annotations

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.hlo.attributes import WindowDimension


def base_position(
    w: FunctionWriter,
    rule: WindowDimension,
    out: Word,
    at: Word,
    size: int,
    conditions: list[Value[Integer]],
) -> Word:
    """Return the base element that window element `at` of output position `out` reads.

    Conditions for its existence are appended to `conditions`.
    """
    if rule.window_reversal:
        at = w.sub(rule.size - 1, at)
    position = w.sub(
        w.add(w.mul(out, rule.stride), w.mul(at, rule.window_dilation)), rule.padding_low
    )
    inside = rule.padding_low <= 0 and rule.padding_high <= 0 and rule.base_dilation == 1
    if inside:
        return position
    if rule.base_dilation > 1:
        conditions.append(w.test("sge", position, 0))
        rest = w.index_operation("srem", position, rule.base_dilation)
        conditions.append(w.test("eq", rest, 0))
        position = w.index_operation("sdiv", position, rule.base_dilation)
    conditions.append(w.test("ult", position, size))
    return position
