"""Lowering of loop nests to SSA records, for CPUs; `lower.py` begins. GPUs reuse parts of it."""
