"""Fifty slow or wrong JAX programs with known causes, and what the agent's tools answer about them.

`programs/` has the programs, by kind; `causes.py` has the cause, the line and the fix of each.
"""
