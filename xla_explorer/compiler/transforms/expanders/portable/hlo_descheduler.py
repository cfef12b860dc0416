"""Dropping of a schedule. Source: xla/service/hlo_memory_scheduler.cc, HloDescheduler."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class HloDescheduler:
    """Drop the order in which instructions run."""

    name: ClassVar[str] = "hlo-descheduler"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Drop the schedule of every computation."""
        changed = False
        for computation in module.computations.values():
            if computation.schedule is not None:
                computation.set_schedule(None)
                changed = True
        return changed
