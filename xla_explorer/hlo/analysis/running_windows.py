"""Windows that make running values (cumsum and its kin): each covers everything up to its place."""

from __future__ import annotations

from xla_explorer.hlo.attributes import WindowDimension


def scan_dimension(
    rules: tuple[WindowDimension, ...], base: tuple[int, ...]
) -> tuple[int, bool] | None:
    """(dimension, from the end) when the windows make a running reduction (cumsum and its kin) along one dimension, else None.

    Window k covers everything up to k: the size of the dimension, padded by size - 1 on one side. Linear work instead of
    quadratic.
    """
    if len(rules) != len(base):  # of a module that nobody verified
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
