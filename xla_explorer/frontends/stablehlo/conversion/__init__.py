"""One function per StableHLO operation, in the module of its family."""

from __future__ import annotations

from xla_explorer.frontends.stablehlo.conversion import (
    chlo,
    collective,
    contraction,
    control_flow,
    custom,
    data_movement,
    dynamic,
    elementwise,
    reduction,
    shardy,
)
from xla_explorer.frontends.stablehlo.conversion.module_converter import ModuleConverter
from xla_explorer.frontends.stablehlo.conversion.registry import CONVERSIONS

_FAMILIES = (
    chlo,
    collective,
    contraction,
    control_flow,
    custom,
    data_movement,
    dynamic,
    elementwise,
    reduction,
    shardy,
)

__all__ = ["CONVERSIONS", "ModuleConverter"]
