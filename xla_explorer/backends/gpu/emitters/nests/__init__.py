"""Kernels made of loop nests: what axes become on a GPU, and the schedules that families of kernels get."""
