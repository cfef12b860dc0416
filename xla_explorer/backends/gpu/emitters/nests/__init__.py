"""Kernels from loop nests: lowering of axes on a GPU, and schedules of kernel families."""
