"""Inlining of calls. Source: xla/service/call_inliner.cc."""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import inherit_sharding
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.foundation.measured import at_most, number
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph_size import expanded_sizes, size_limit, too_large
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import write_metadata
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import PARAMETER, opcode

CALL = opcode("call")


def _metadata_at_call(i: HloInstruction, call: HloInstruction, prefix: str) -> str | None:
    """Return the callee's metadata with the call's op_name in front, else the call's metadata.

    A name that already begins with the call's stays as it is.
    """
    if i.metadata is None:
        return call.metadata
    metadata = i.op_metadata
    if not prefix or not metadata.op_name or metadata.op_name.startswith(prefix):
        return i.metadata
    return write_metadata(metadata._replace(op_name=f"{prefix}/{metadata.op_name}"))


def inline_call(call: HloInstruction) -> dict[HloInstruction, HloInstruction]:
    """Copy the callee's instructions to the place of the call, and remove the call.

    Returns a map from callee instruction to copy. Works for a `call` and a `fusion`. Names are kept
    if they are free. Control predecessors of the call come before every copied instruction that has
    no operands among the copies.
    """
    caller, callee = call.parent, call.called[0]
    keeps_origin = "origin" in call.attributes
    passed_on = (
        call.attributes.get("frontend_attributes")
        if call.opcode is CALL and not call.attributes.get("is_composite")
        else None
    )
    prefix = call.op_metadata.op_name
    copies: dict[HloInstruction, HloInstruction] = {}
    for i in list(callee.post_order()):
        if i.opcode is PARAMETER:
            copies[i] = call.operands[int(i.payload)]
            continue
        attributes = (
            i.attributes
            if keeps_origin or "origin" not in i.attributes
            else i.attributes.with_values(origin=None)
        )
        if passed_on and "frontend_attributes" not in attributes:
            attributes = attributes.with_values(frontend_attributes=passed_on)
        copy = copies[i] = caller.add(
            i.opcode,
            i.shape,
            [copies[o] for o in i.operands],
            attributes,
            called=i.called,
            payload=i.payload,
            name=i.name,
            metadata=_metadata_at_call(i, call, prefix),
        )
        copy.line = i.line
        predecessors = [copies[p] for p in i.control_predecessors] + list(call.control_predecessors)
        if predecessors:
            caller.set_control_predecessors(copy, predecessors)
    result = copies[callee.root]
    inherit_sharding(call, result, ("sharding",))
    for target in [t for t in caller.instructions.values() if call in t.control_predecessors]:
        others = [p for p in target.control_predecessors if p is not call]
        caller.set_control_predecessors(target, [*others, result])
    caller.replace(call, result)
    if call.control_predecessors:
        caller.set_control_predecessors(call, ())
    caller.remove(call)
    return copies


def not_a_preserved_composite(names: tuple[str, ...]) -> Predicate:
    """Return the check that keeps composite calls of these names, which a backend may implement."""

    @value_formatter(
        lambda call: (
            f"composite {composite_name(call) or 'none'}; preserved: {', '.join(names) or 'none'}"
        )
    )
    def is_an_ordinary_call(call: HloInstruction) -> Reason | None:
        if call.attributes.get("is_composite") and ("*" in names or composite_name(call) in names):
            return refuse(
                "composite",
                f"%{call.name} stands for the composite operation {composite_name(call)}",
            )
        return None

    return is_an_ordinary_call


def composite_name(call: HloInstruction) -> str:
    """Return the frontend's name of the composite operation, or empty."""
    found = re.search(
        r'composite\.name="?([^",}]*)', call.attributes.get("frontend_attributes") or ""
    )
    return found.group(1) if found else ""


@value_formatter(
    lambda call: f"frontend attributes: {call.attributes.get('frontend_attributes') or 'none'}"
)
def wanted_inline(call: HloInstruction) -> Reason | None:
    """Require that no frontend attribute forbids inlining."""
    text = call.attributes.get("frontend_attributes") or ""
    if 'inlineable="false"' in text:
        return refuse("not-inlineable", f"%{call.name} is marked inlineable=false")
    return None


LEGALITY = (wanted_inline,)
# instructions of a callee that is inlined even if inlining all callees exceeds the limit
_SMALL = 256


def small_enough(module: HloModule) -> Predicate:
    """Return the check that inlining everything stays in the size limit, or the callee is small."""
    sizes = expanded_sizes(module, lambda i: i.opcode is CALL)
    limit = size_limit(module)
    callees = {
        c
        for computation in sizes
        for i in computation.instructions.values()
        if i.opcode is CALL
        for c in i.called
    }
    size = sum([count for computation, count in sizes.items() if computation not in callees])

    @value_formatter(
        lambda call: (
            f"{at_most('instructions', size, limit)}, of the callee "
            f"{number(sizes.get(call.called[0], 0))}"
        )
    )
    def callee_within_limit(call: HloInstruction) -> Reason | None:
        if size > limit and sizes.get(call.called[0], 0) > _SMALL:
            return too_large(f"inlining every call, %{call.name} among them,", size, limit)
        return None

    return callee_within_limit


@register_pass()
@dataclasses.dataclass(frozen=True)
class CallInliner:
    """Replace calls by the bodies of their callees.

    single_call_site: only computations that are called once. composites_to_preserve: names of
    composite calls that stay (`*`: all).
    """

    name: ClassVar[str] = "call-inliner"
    kinds: ClassVar[tuple[str, ...]] = ("inlining",)
    single_call_site: bool = False
    composites_to_preserve: tuple[str, ...] = ()

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Inline, callees first, so that one walk flattens a chain of calls."""
        changed = False
        legality = (*LEGALITY, small_enough(module))
        profitability = (not_a_preserved_composite(self.composites_to_preserve),)
        call_sites: dict[HloComputation, int] = {}
        for i in module.instructions():
            for computation in i.called:
                call_sites[computation] = call_sites.get(computation, 0) + 1
        for computation in module.post_order_computations():
            calls = [i for i in computation.instructions.values() if i.opcode is CALL]
            for call in sorted(calls, key=lambda i: i.id):
                if self.single_call_site and call_sites[call.called[0]] > 1:
                    continue
                if context.decide("inlining", legality, profitability, call) is None:
                    inline_call(call)
                    changed = True
        if changed:
            DeadCodeElimination().run(module, context)  # parameters that the callee did not read
        return changed
