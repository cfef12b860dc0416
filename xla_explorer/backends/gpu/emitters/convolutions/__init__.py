"""Kernels of convolutions: as products of gathered matrices, with and without tensor cores, and directly where a group is one feature."""
