"""Fourier transforms: stages in vectors, lines taken from arrays."""
