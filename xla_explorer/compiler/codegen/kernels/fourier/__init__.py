"""Fourier transforms: stages in vectors, and lines of arrays."""
