"""Passes on programs for several devices."""

from __future__ import annotations

import importlib
import pkgutil

import xla_explorer.compiler.spmd.partitioning.spmd_partitioning  # noqa: F401  # declares it

for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")
