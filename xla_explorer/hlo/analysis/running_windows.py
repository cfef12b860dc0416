"""Windows that compute prefix reductions (cumsum and similar)."""

from __future__ import annotations

from xla_explorer.hlo.attributes import WindowDimension


def scan_dimension(
    rules: tuple[WindowDimension, ...], base: tuple[int, ...]
) -> tuple[int, bool] | None:
    """Return (dimension, reversed) of a prefix reduction along one dimension, else None.

    Window k covers all elements up to k: its size is the dimension's, padded by size - 1 on one
    side. A scan is linear instead of quadratic work.
    """
    if len(rules) != len(base):  # an unverified module
        return None
    found: tuple[int, bool] | None = None
    for d, (rule, size) in enumerate(zip(rules, base, strict=True)):
        if rule == WindowDimension(1):
            continue
        whole = rule._replace(padding_low=0, padding_high=0) == WindowDimension(size)
        if (
            found is not None
            or not whole
            or (rule.padding_low, rule.padding_high) not in ((size - 1, 0), (0, size - 1))
        ):
            return None
        found = d, rule.padding_high > 0
    return found
