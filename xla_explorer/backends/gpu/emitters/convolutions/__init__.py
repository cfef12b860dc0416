"""Convolutions as implicit GEMM: operands, and stores of the results."""
