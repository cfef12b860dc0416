"""Numbers as readable text: with a unit, three digits, and a dash for a missing value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

MISSING = "–"


def microseconds(value: float | None) -> str:
    """Return a time as text: 12.3 µs, 1.25 ms, 2.10 s."""
    if value is None or not math.isfinite(value):
        return MISSING
    for limit, scale, unit in ((1e3, 1.0, "µs"), (1e6, 1e3, "ms")):
        if abs(value) < limit:
            return f"{_three(value / scale)} {unit}"
    return f"{_three(value / 1e6)} s"


def byte_count(value: float | None) -> str:
    """Return a size as text: 131072 is 128 KiB."""
    if value is None or not math.isfinite(value):
        return MISSING
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024 or unit == "TiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{_three(value)} {unit}"
        value /= 1024
    return MISSING


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun: `1 kernel`, `2 kernels`. noun: singular, with a plural in s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(value: float | None) -> str:
    """Return a share as text: 0.123 is 12 %."""
    return MISSING if value is None or not math.isfinite(value) else f"{value * 100:.0f} %"


def _three(value: float) -> str:
    """Return three significant digits, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"


def headline(summary: Mapping[str, Any]) -> list[str]:
    """Return a summary as short texts: "cpu", "41 passes, 12 changed it", "23 → 4 kernels" ..."""
    rest = dict(summary)
    parts = [str(rest.pop(key)) for key in ("backend", "device") if rest.get(key)]
    if (passes := rest.pop("passes", None)) is not None:
        changed = rest.pop("changed", None)
        parts.append(
            f"{passes} passes" + (f", {changed} changed it" if changed is not None else "")
        )
    for noun, show in (
        ("instructions", "{:,}".format),
        ("kernels", "{:,}".format),
        ("bytes", byte_count),
    ):
        before, after = rest.pop(f"{noun}_before", None), rest.pop(f"{noun}_after", None)
        if after is not None:
            values = show(after) if before is None else f"{show(before)} → {show(after)}"
            parts.append(
                f"{values} of traffic"
                if noun == "bytes"
                else f"{values} {noun[:-1] if values == '1' else noun}"
            )
    if (moved := rest.pop("bytes", None)) is not None:
        parts.append(f"{byte_count(moved)} moved" if isinstance(moved, int | float) else str(moved))
    if (run := rest.pop("run_us", None)) is not None:
        runs, iqr, was = (
            rest.pop("runs", None),
            rest.pop("run_iqr_us", None),
            rest.pop("run_us_before", None),
        )
        text = f"runs in {microseconds(run)}"
        detail = [f"n {runs}"] if runs is not None else []
        detail += [f"iqr {microseconds(iqr)}"] if iqr is not None else []
        detail += [f"was {microseconds(was)}"] if was is not None else []
        parts.append(text + (f" ({', '.join(detail)})" if detail else ""))
    if (compile_seconds := rest.pop("compile_seconds", None)) is not None:
        parts.append(f"compiled in {microseconds(compile_seconds * 1e6)}")
    if compiler := rest.pop("compiler", None):
        parts.append(str(compiler))
    parts += [f"{key.replace('_', ' ')} {value}" for key, value in rest.items()]
    return parts
