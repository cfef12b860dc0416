"""From an optimised module to the LLVM IR of a CPU program: the CPU at hand, an object file for another, or another backend."""
