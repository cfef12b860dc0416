"""The passes, by intent as in XLA.

Importing this package imports its sub-packages, each of which declares its passes.
"""

from __future__ import annotations

import importlib
import pkgutil

for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")
