"""Positions of windows: the base element that a window element reads."""

from __future__ import annotations

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.hlo.attributes import WindowDimension


def base_position(
    w: FunctionWriter,
    rule: WindowDimension,
    out: str | int,
    at: str | int,
    size: int,
    conditions: list[str],
) -> str | int:
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
        conditions.append(w.value(f"icmp sge i64 {position}, 0"))
        conditions.append(
            w.value(f"icmp eq i64 {w.value(f'srem i64 {position}, {rule.base_dilation}')}, 0")
        )
        position = w.value(f"sdiv i64 {position}, {rule.base_dilation}")
    conditions.append(w.value(f"icmp ult i64 {position}, {size}"))
    return position
