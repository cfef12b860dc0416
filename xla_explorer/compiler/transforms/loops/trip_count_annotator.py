"""Writes known trip counts into `backend_config`. Source: xla/hlo/transforms/while_loop_trip_count_annotator.cc."""

from __future__ import annotations

import dataclasses
import json
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.loops.induction import find_induction
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode

WHILE = opcode("while")


@register_pass()
@dataclasses.dataclass(frozen=True)
class WhileLoopTripCountAnnotator:
    """Loops whose trip count can be read from the graph say it: `backend_config={"known_trip_count":{"n":"6"}}`."""

    name: ClassVar[str] = "while-loop-trip-count-annotator"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Annotate every loop that is not annotated."""
        changed = False
        for computation in list(module.computations.values()):
            for loop in [i for i in computation.instructions.values() if i.opcode is WHILE]:
                if "backend_config" in loop.attributes:
                    continue
                found = find_induction(loop)
                if isinstance(found, Reason):
                    context.refused("trip-count", loop, found)
                    continue
                config: dict[str, object] = {"known_trip_count": {"n": str(found.trip_count)}}
                if found.element >= 0 and found.step and found.trip_count:
                    config["known_init_step"] = {"init": str(found.first), "step": str(found.step)}
                    config["known_induction_variable"] = {"tuple_index": str(found.element)}
                config["dynamic_variables"] = []
                text = json.dumps(config, separators=(",", ":"))
                computation.set_attributes(loop, loop.attributes.with_values(backend_config=text))
                changed = True
        return changed
