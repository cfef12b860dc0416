"""The pass `double-buffer-loop-unrolling`: two iterations at once, to avoid a copy of the state.

A stencil reads adjacent elements, so it cannot overwrite its operand: its result is stored
elsewhere and copied back. With two iterations in the body, the first writes elsewhere and the
second writes back, so no copy is left. A swap of two elements disappears. Source:
xla/service/gpu/transforms/double_buffer_loop_unrolling.cc (for collectives).
"""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.backend_config import known_trip_count
from xla_explorer.hlo.analysis.call_graph import CONTROL_FLOW_NAMES, sequential_computations
from xla_explorer.hlo.analysis.in_place import in_place_pairs, may_overwrite
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, TUPLE


def _facts(loop: HloInstruction) -> dict[str, Any]:
    return {"trip_count": known_trip_count(loop)}


@register_pass()
@dataclasses.dataclass(frozen=True)
class LoopDoubleBuffer:
    """Unroll a loop by two if it would copy its state in each iteration.

    Runs after fusion, before copy-insertion; needs trip counts from
    while-loop-trip-count-annotator. min_bytes: size of the state from which the saved copy pays.
    max_instructions: of a body that may be doubled.
    """

    name: ClassVar[str] = "double-buffer-loop-unrolling"
    min_bytes: int = 4096
    max_instructions: int = 400

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Unroll the innermost loops that profit."""
        changed = False
        for computation in sequential_computations(module):
            for i in list(computation.instructions.values()):
                if i.opcode.name != "while":
                    continue
                facts = functools.partial(_facts, i)
                legality = (self.body_is_simple, self.trip_count_is_even)
                if (
                    context.decide(self.name, legality, (self.saves_a_copy,), i, facts=facts)
                    is None
                ):
                    _double(i)
                    changed = True
        if changed:
            order = module.post_order_computations()
            reached = set(order)
            module.computations = {
                c.name: c
                for c in (*[c for c in module.computations.values() if c not in reached], *order)
            }
        return changed

    @value_formatter(
        lambda options, loop: at_most(
            "instructions", len(loop.called[1].instructions), options.max_instructions
        )
    )
    def body_is_simple(self, loop: HloInstruction) -> Reason | None:
        """Require a body from one tuple of elements to another, without control flow."""
        body = loop.called[1]
        parameter = body.parameters()[0]
        if (
            body.root.opcode is not TUPLE
            or not parameter.shape.is_tuple
            or any(u.opcode is not GET_TUPLE_ELEMENT for u in parameter.users)
        ):
            return refuse(
                "state-not-by-elements", f"the body of %{loop.name} uses its state as a whole"
            )
        if len(body.instructions) > self.max_instructions:
            return refuse(
                "body-too-large",
                f"the body of %{loop.name} has {len(body.instructions)} instructions (limit "
                f"{self.max_instructions})",
            )
        for i in body.instructions.values():
            if (
                i.opcode.name in CONTROL_FLOW_NAMES
                or i.opcode.side_effect
                or i.control_predecessors
            ):
                return refuse(
                    "body-not-straight",
                    f"%{i.name} ({i.opcode.name}) in the body of %{loop.name} is not duplicated",
                )
        return None

    @value_formatter(
        lambda options, loop: (
            "trip count "
            f"{known_trip_count(loop) if known_trip_count(loop) is not None else 'unknown'}"
        )
    )
    def trip_count_is_even(self, loop: HloInstruction) -> Reason | None:
        """Require an even, known trip count."""
        count = known_trip_count(loop)
        if count is None:
            return refuse("trip-count-unknown", f"the trip count of %{loop.name} is unknown")
        if count % 2 or count < 2:
            return refuse(
                "trip-count-odd", f"%{loop.name} has {count} iterations", trip_count=count
            )
        return None

    @value_formatter(
        lambda options, loop: (
            f"state {loop.called[1].root.shape.text_without_layout}, from {options.min_bytes:,} "
            "bytes on"
        )
    )
    def saves_a_copy(self, loop: HloInstruction) -> Reason | None:
        """Require a state that is copied in each iteration."""
        body = loop.called[1]
        parameter = body.parameters()[0]
        for number, made in enumerate(body.root.operands):
            if not made.shape.is_array or made.shape.byte_size < self.min_bytes:
                continue
            source = _source(made)
            if source is parameter:
                if _element(made) != number:
                    return None
                continue
            for k, operand in enumerate(source.operands):
                if (
                    _element(operand) == number
                    and _source(operand) is parameter
                    and not may_overwrite(source, k)
                    and all(k != pair for pair, _ in in_place_pairs(source))
                ):
                    return None
        return refuse("no-copy-to-save", f"the state of %{loop.name} is updated in place")


def _source(i: HloInstruction) -> HloInstruction:
    while i.opcode.name in ("bitcast", "reshape") or i.opcode is GET_TUPLE_ELEMENT:
        i = i.operands[0]
    return i


def _element(i: HloInstruction) -> int:
    while i.opcode.name in ("bitcast", "reshape"):
        i = i.operands[0]
    return int(i.attribute("index")) if i.opcode is GET_TUPLE_ELEMENT else -1


def _double(loop: HloInstruction) -> None:
    body = loop.called[1]
    parameter = body.parameters()[0]
    first = list(body.post_order())
    root = body.root
    copies: dict[HloInstruction, HloInstruction] = {}
    for i in first:
        if i is parameter or i is root:
            continue
        if i.opcode is GET_TUPLE_ELEMENT and i.operands[0] is parameter:
            copies[i] = root.operands[int(i.attribute("index"))]
            continue
        called = tuple([_own_copy(c) if i.opcode.name == "fusion" else c for c in i.called])
        made = body.add(
            i.opcode,
            i.shape,
            [copies[o] for o in i.operands],
            i.attributes,
            called=called,
            payload=i.payload,
            name=f"{i.name}.double",
            metadata=i.metadata,
        )
        made.line = i.line
        copies[i] = made
    body.set_root(
        body.add(
            TUPLE,
            root.shape,
            [copies[o] for o in root.operands],
            name=root.name,
            metadata=root.metadata,
        )
    )
    body.remove(root)
    if body.schedule is not None:
        body.set_schedule(None)
    config = json.loads(loop.attributes["backend_config"])
    config["known_trip_count"]["n"] = str(int(config["known_trip_count"]["n"]) // 2)
    loop.parent.set_attributes(
        loop, loop.attributes.with_values(backend_config=json.dumps(config, separators=(",", ":")))
    )


def _own_copy(computation: HloComputation) -> HloComputation:
    return computation.clone(computation.module.names.unique(f"{computation.name}.double"))
