"""LLVM IR from optimised HLO.

Shared by every backend that LLVM serves; the target enters through `compiler.target.Target` only.
"""
