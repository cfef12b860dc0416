"""Known trip counts in `backend_config`.

Source: xla/hlo/transforms/while_loop_trip_count_annotator.cc.
"""

from __future__ import annotations

import dataclasses
import json
from typing import ClassVar

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.loops.induction import (
    InductionVariable,
    element_index,
    find_induction,
)
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, PARAMETER, TUPLE, opcode

WHILE = opcode("while")


def _only_element(i: HloInstruction) -> int | None:
    """Return k if the instruction depends only on state element k and constants, else None."""
    seen: set[HloInstruction] = set()
    found: set[int] = set()
    stack = [i]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        if current.opcode is PARAMETER or current.opcode.side_effect:
            return None
        index = element_index(current)
        if index is not None:
            found.add(index)
        else:
            stack.extend(current.operands)
    return found.pop() if len(found) == 1 else None


def counting_element(loop: HloInstruction) -> int | None:
    """Return the element that alone decides the trip count, and depends on itself alone.

    Source: GetLoopInductionVarTupleIdx in xla/service/while_loop_analysis.cc.
    """
    index = _only_element(loop.called[0].root)
    root = loop.called[1].root
    if index is None or root.opcode is not TUPLE or _only_element(root.operands[index]) != index:
        return None
    return index


def read_final_value(loop: HloInstruction, found: InductionVariable) -> None:
    """Replace reads of the induction variable after the loop by a constant."""
    computation = loop.parent
    for user in [
        u
        for u in loop.users
        if u.opcode is GET_TUPLE_ELEMENT and u.attributes["index"] == found.element
    ]:
        value = literal_from_array(
            np.asarray(found.first + found.step * found.trip_count).astype(
                user.shape.element_type.dtype
            ),
            user.shape,
        )
        substitute(user, computation.add_constant(value))


@register_pass()
@dataclasses.dataclass(frozen=True)
class WhileLoopTripCountAnnotator:
    """Annotate known trip counts: `backend_config={"known_trip_count":{"n":"6"}}`."""

    name: ClassVar[str] = "while-loop-trip-count-annotator"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Annotate every loop that is not annotated."""
        changed = False
        for computation in list(module.computations.values()):
            for loop in [i for i in computation.instructions.values() if i.opcode is WHILE]:
                if "backend_config" in loop.attributes:
                    continue
                found = find_induction(loop)
                config: dict[str, object] = {}
                if isinstance(found, Reason):
                    context.refused("trip-count", loop, found)
                    index = counting_element(loop)
                    if index is None:
                        continue
                    config["known_induction_variable"] = {"tuple_index": str(index)}
                else:
                    config["known_trip_count"] = {"n": str(found.trip_count)}
                    if found.element >= 0 and found.step and found.trip_count:
                        if (
                            found.first >= 0
                        ):  # XLA reads the bounds of the range as unsigned numbers
                            config["known_init_step"] = {
                                "init": str(found.first),
                                "step": str(found.step),
                            }
                        config["known_induction_variable"] = {"tuple_index": str(found.element)}
                        read_final_value(loop, found)
                config["dynamic_variables"] = []
                text = json.dumps(config, separators=(",", ":"))
                computation.set_attributes(loop, loop.attributes.with_values(backend_config=text))
                changed = True
        return changed
