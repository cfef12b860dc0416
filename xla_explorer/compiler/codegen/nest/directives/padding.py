"""`pad` gives a loop more steps, which a guard leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.foundation.reason import Reason, refuse


@dataclass(frozen=True)
class Pad(Directive):
    """The axis gets more steps, up to an extent, which a guard leaves out: loops of one launch then have as many."""

    name: ClassVar[str] = "pad"
    check_names = ("axis_exists", "axis_is_serial", "is_a_loop", "extent_grows")
    axis: str
    extent: int

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        return transformations.pad(nest, self.axis, self.extent)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {**super().facts(nest), "padded": self.extent}

    def extent_grows(self, nest: LoopNest) -> Reason | None:
        """There are more steps afterwards."""
        extent = nest.axes()[self.axis].axis.extent
        if extent < self.extent:
            return None
        return refuse(
            "too-few-steps",
            f"{self.axis} must be padded to more than its {extent} steps, got {self.extent}",
            extent=extent,
        )
