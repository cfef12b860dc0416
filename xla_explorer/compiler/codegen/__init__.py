"""LLVM IR text from HLO: types, index arithmetic, elemental emitters by family, loop and reduction kernels, whole programs.

Shared by every backend that LLVM serves; the target enters through `compiler.target.Target` only.
"""
