"""Passes that bring called computations to their callers."""
