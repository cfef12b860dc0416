"""Loop nests as SSA records, for CPUs; `lower.py` begins. GPUs reuse reductions and indices."""
