"""Targets, optimisation, emission and cache for LLVM-based backends."""
