"""StableHLO operations to HLO, one function each in the module of its family; importing this fills the table."""

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

_FAMILIES = (chlo, collective, contraction, control_flow, custom, data_movement, dynamic, elementwise, reduction, shardy)

__all__ = ["CONVERSIONS", "ModuleConverter"]
