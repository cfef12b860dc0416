"""Shardy's operations as XLA translates them.

Constraints become markers; a manual computation becomes custom calls and a call. Source: Shardy's
docs/sdy_dialect.md; xla/service/spmd/shardy/sdy_round_trip/shard_map_export.cc.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.frontends.stablehlo.attributes import Dictionary
from xla_explorer.frontends.stablehlo.conversion.reduction import one_region
from xla_explorer.frontends.stablehlo.conversion.regions import combiner
from xla_explorer.frontends.stablehlo.conversion.registry import converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope, frontend_attributes, tuple_of
from xla_explorer.frontends.stablehlo.conversion.sharding import sharding_text
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.analysis.manual_regions import REGION_BODY
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape


@converts("sdy.sharding_constraint", "sdy.reshard", "sdy.propagation_barrier")
def sharding_constraint(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a marker with the sharding; if HLO cannot express it, return the operand."""
    (x,) = scope.operands(operation)
    text = (
        sharding_text(scope.converter.meshes, str(operation.words[0])) if operation.words else None
    )
    if text is None:
        return [x]
    return [
        scope.emit(
            "custom-call",
            (x,),
            {"custom_call_target": '"Sharding"', "sharding": text},
            shape=x.shape,
        )
    ]


@converts("sdy.sharding_group")
def sharding_group(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit nothing, because sharding groups do not change values."""
    return []


@converts("sdy.manual_computation")
def manual_computation(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit each device's part of the operands, a call of the body, and the assembled results."""
    one_region(scope, operation)
    operands = scope.operands(operation)
    given = {
        name: _text(operation, name) for name in ("in_shardings", "out_shardings", "manual_axes")
    }
    region = operation.regions[0]
    local = [a.type for a in region.arguments if isinstance(a.type, Shape)]
    if len(local) != len(operands):
        scope.fail(
            f"the body takes {len(region.arguments)} tensors, it is given {len(operands)}",
            "name one argument for each operand",
        )
    taken = {"in_shardings": given["in_shardings"], "manual_axes": given["manual_axes"]}
    inside = _border(scope, "GlobalToLocalShape", operands, local, taken)
    body = combiner(scope, region, REGION_BODY)
    text = frontend_attributes(Dictionary({"inlineable": "false"}))
    call = scope.emit("call", inside, {"frontend_attributes": text}, called=(body,))
    results = scope.unpack(call, len(operation.types))
    whole = [scope.type_of(operation, k) for k in range(len(results))]
    made = {"out_shardings": given["out_shardings"], "manual_axes": given["manual_axes"]}
    return _border(scope, "LocalToGlobalShape", results, whole, made)


def _text(operation: Operation, name: str) -> str:
    """Return an attribute's text, in the custom form or in the generic one."""
    found = operation.attributes.get(name, "")
    return str(getattr(found, "text", found))


def _border(
    scope: Scope,
    target: str,
    values: Sequence[HloInstruction],
    shapes: Sequence[Shape],
    given: dict[str, str],
) -> list[HloInstruction]:
    if not values:
        return []
    spelled = {}
    for name, text in given.items():
        inner = text[text.index("{") :] if name == "manual_axes" and "{" in text else text
        spelled[f"xla.sdy.{name}"] = (
            f"#sdy<manual_axes{inner}>"
            if name == "manual_axes"
            else f"#sdy.sharding_per_value<{inner}>"
        )
    attributes = {
        "custom_call_target": f'"xla.sdy.{target}"',
        "frontend_attributes": frontend_attributes(Dictionary(spelled)),
    }
    i = scope.emit("custom-call", values, attributes, shape=tuple_of(list(shapes)))
    return scope.unpack(i, len(values))
