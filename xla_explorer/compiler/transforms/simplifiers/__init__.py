"""Passes that make programs smaller or cheaper on any machine; each module declares one."""

from __future__ import annotations

import importlib
import pkgutil

for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")

importlib.import_module(f"{__name__}.algebraic.algsimp")
