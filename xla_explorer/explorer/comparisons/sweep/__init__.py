"""`xe.sweep`: many modules times many options, one table; in this process, in several, or on a Dask cluster."""

from __future__ import annotations

from xla_explorer.explorer.comparisons.sweep.sweeping import SweepError, sweep

__all__ = ["SweepError", "sweep"]
