"""Typed SSA records that kernels are written in, and their text as LLVM IR."""
