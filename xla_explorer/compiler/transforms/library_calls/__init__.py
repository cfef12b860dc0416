"""Library calls on a GPU: products, Fourier transforms, factorisations, triangular systems.

A library call is data (`library_call.py`) in the instruction's `backend_config`; its run time
belongs to the backend.
"""
