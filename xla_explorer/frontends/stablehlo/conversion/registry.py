"""Table of conversions by operation, filled by the modules of each family."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from xla_explorer.hlo.instruction import HloInstruction

if TYPE_CHECKING:
    from xla_explorer.frontends.stablehlo.conversion.scope import Scope
    from xla_explorer.frontends.stablehlo.program import Operation

# (scope, operation) -> an instruction for each result
Conversion: TypeAlias = "Callable[[Scope, Operation], list[HloInstruction]]"
_F = TypeVar("_F", bound="Callable[..., object]")

CONVERSIONS: dict[str, Conversion] = {}


def converts(*names: str) -> Callable[[_F], _F]:
    """Register the decorated function for operations by name.

    Names have no `stablehlo.`, and MHLO shares them; names of CHLO have `chlo.`.
    """

    def register(function: _F) -> _F:
        for name in names:
            if name in CONVERSIONS:
                raise ValueError(f"{name} is converted twice")
            CONVERSIONS[name] = function  # type: ignore[assignment]
        return function

    return register
