"""`xe.sweep`: many modules times many options in one table, on one machine or a Dask cluster."""

from __future__ import annotations

from xla_explorer.explorer.comparisons.sweep.sweeping import SweepError, sweep

__all__ = ["SweepError", "sweep"]
