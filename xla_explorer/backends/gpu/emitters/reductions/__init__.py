"""Reductions of rows and of columns, and running ones; `reducer.py` is the arithmetic, `fused_reduction.py` what is fused around it."""
