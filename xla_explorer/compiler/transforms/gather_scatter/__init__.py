"""Gathers and scatters: normal forms, and loops for backends without kernels for them."""
