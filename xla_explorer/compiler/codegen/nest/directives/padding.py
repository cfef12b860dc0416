"""`pad`: a loop gets more steps, which a guard skips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.foundation.reason import Reason, refuse


@dataclass(frozen=True)
class Pad(Directive):
    """The axis gets more steps, which a guard skips.

    All loops of a GPU launch can have equally many steps then.
    """

    name: ClassVar[str] = "pad"
    check_names = ("axis_exists", "axis_is_serial", "extent_grows")
    axis: str
    extent: int

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        return transformations.pad(nest, self.axis, self.extent)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        return {**super().facts(nest), "padded": self.extent}

    def extent_grows(self, nest: LoopNest) -> Reason | None:
        """Refuse an extent that is not larger."""
        extent = nest.axes()[self.axis].axis.extent
        if extent < self.extent:
            return None
        return refuse(
            "too-few-steps",
            f"{self.axis} must be padded to more than its {extent} steps, got {self.extent}",
            extent=extent,
        )
