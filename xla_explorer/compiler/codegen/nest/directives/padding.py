"""`pad` gives a loop more steps, which a guard leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.ir import For, LoopNest
from xla_explorer.compiler.codegen.nest.transformations import loop_of
from xla_explorer.foundation.reason import Predicate, Reason, refuse


@dataclass(frozen=True)
class Pad(Directive):
    """The axis gets more steps, up to an extent, which a guard leaves out: loops of one launch then have as many."""

    name: ClassVar[str] = "pad"
    axis: str
    extent: int

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        return self.axis_exists, self.axis_is_serial, self.is_a_loop, self.extent_grows

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        return transformations.pad(nest, self.axis, self.extent)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {**super().facts(nest), "padded": self.extent}

    def is_a_loop(self, nest: LoopNest) -> Reason | None:
        """The axis is that of a loop, not of a reduction."""
        found = loop_of(nest, self.axis)
        return None if isinstance(found, For) else refuse("not-a-loop", f"{self.axis} is an axis that is reduced over, not a loop")

    def extent_grows(self, nest: LoopNest) -> Reason | None:
        """There are more steps afterwards."""
        extent = nest.axes()[self.axis].axis.extent
        if extent < self.extent:
            return None
        return refuse("too-few-steps", f"{self.axis} must be padded to more than its {extent} steps, got {self.extent}", extent=extent)
