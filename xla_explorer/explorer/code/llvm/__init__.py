"""LLVM's part of a compile: kernels as LLVM IR, its passes, their times."""
