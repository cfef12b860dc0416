"""Library calls on a GPU: products, Fourier transforms, factorisations, triangular systems.

A library call is data (`library_call.py`) in the instruction's `backend_config`; its run time
belongs to the backend.
"""

from __future__ import annotations

import importlib
import pkgutil

for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")
