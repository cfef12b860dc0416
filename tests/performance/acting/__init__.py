"""Fifty real programs on which requests of `xe.xla.overrides` act in real XLA, and their measures.

Run `python -m tests.performance.acting.measure` on a machine that does nothing else.
"""
