"""Custom calls, and HLO operations that MHLO encodes as custom calls by name."""

from __future__ import annotations

from typing import Any

from xla_explorer.frontends.stablehlo.attributes import Dictionary, Symbol, integers
from xla_explorer.frontends.stablehlo.conversion.dynamic import CALLS, shapes_of_results
from xla_explorer.frontends.stablehlo.conversion.registry import CONVERSIONS, converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope, quoted, tuple_of
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.attributes.values import OperandAlias, SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.shape import Shape

# Source: xla_data.proto CustomCallApiVersion; 1 is the original one, which HLO text leaves out.
_API_VERSIONS = {
    2: "API_VERSION_STATUS_RETURNING",
    3: "API_VERSION_STATUS_RETURNING_UNIFIED",
    4: "API_VERSION_TYPED_FFI",
}
# Attributes of the HLO instruction; others of the dictionary are the frontend's own.
_HIDDEN = ("mhlo.", "chlo.", "stablehlo.")


@converts("custom_call")
def custom_call(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a call by name.

    `mhlo.topk`, `mhlo.erf` and the like are operations that StableHLO lacks.
    """
    target = str(scope.attribute(operation, "call_target_name", required=True))
    prefix, _, short = target.partition(".")
    hidden = (
        CONVERSIONS.get(f"chlo.{'top_k' if short == 'topk' else short}")
        if f"{prefix}." in _HIDDEN
        else None
    )
    if hidden is not None:
        inner = Operation(f"chlo.{'top_k' if short == 'topk' else short}", operation.at, [])
        inner.operands, inner.operand_types, inner.types, inner.regions = (
            operation.operands,
            operation.operand_types,
            operation.types,
            operation.regions,
        )
        inner.attributes = Dictionary(
            {**operation.attributes, **(operation.attributes.get("mhlo.attributes") or {})}
        )
        return hidden(scope, inner)
    if target in CALLS:
        return CALLS[target](scope, operation)
    if target == "ApproxTopK":
        return _approximate_top_k(scope, operation)
    return _call(scope, operation, target)


def _call(scope: Scope, operation: Operation, target: str) -> list[HloInstruction]:
    given, operands = operation.attributes, scope.operands(operation)
    shapes, holders = shapes_of_results(scope, operation)
    operands = [o for k, o in enumerate(operands) if k not in holders]
    attributes: dict[str, Any] = {"custom_call_target": quoted(target)}
    if given.get("has_side_effect"):
        attributes["custom_call_has_side_effect"] = True
    version = _API_VERSIONS.get(given.get("api_version", 1))
    config = given.get("mhlo.backend_config") or given.get("backend_config")
    if "mhlo.backend_config" in given:  # how JAX carries a dictionary through StableHLO
        version = _API_VERSIONS[4]
    if version is not None:
        attributes["api_version"] = version
    if isinstance(config, Dictionary):
        attributes["backend_config"] = config.text
    elif config:
        attributes["backend_config"] = quoted(config)
    if given.get("operand_layouts") is not None and given.get("result_layouts") is not None:
        stated = [
            _laid_out(o.shape.base, order)
            for o, order in zip(
                operands,
                [one for k, one in enumerate(given["operand_layouts"]) if k not in holders],
                strict=False,
            )
        ]
        attributes["operand_layout_constraints"] = "{" + ", ".join([s.text for s in stated]) + "}"
        shapes = [
            _laid_out(shape, order)
            for shape, order in zip(shapes, given["result_layouts"], strict=False)
        ]
    aliases = _aliases(given.get("output_operand_aliases") or ())
    if aliases:
        attributes["output_to_operand_aliasing"] = aliases
    i = scope.emit(
        "custom-call",
        operands,
        attributes,
        shape=tuple_of(shapes),
        called=_called(scope, operation),
    )
    return scope.unpack(i, len(shapes))


def _called(scope: Scope, operation: Operation) -> tuple[HloComputation, ...]:
    """Return the computations of the functions that a call names.

    Their operands depend on the target: they are comparators, reducers, bodies.
    """
    names = operation.attributes.get("called_computations") or ()
    return tuple(
        [scope.converter.named(scope, str(name)) for name in names if isinstance(name, Symbol)]
    )


def _approximate_top_k(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a sort, and slices of the results' sizes.

    This is the exact answer, which any recall target allows, and which XLA computes on a CPU.
    Operands are arrays, then an initial value for each. The comparator takes a pair of elements
    from each array.
    """
    config = operation.attributes.get("mhlo.backend_config")
    dimension = config.get("reduction_dim") if isinstance(config, Dictionary) else None
    operands, called = scope.operands(operation), _called(scope, operation)
    count = len(operation.types)
    if not isinstance(dimension, int) or len(operands) != 2 * count or len(called) != 1:
        scope.fail(
            "ApproxTopK needs a reduction_dim, one comparator, and for each result an array and "
            "an initial value",
            "write it as jax.lax.approx_max_k does",
        )
    arrays = operands[:count]
    if not all(0 <= dimension < a.shape.rank for a in arrays):
        scope.fail(
            f"dimension {dimension} is not a dimension of {arrays[0].shape.text_without_layout}",
            "correct the reduction_dim",
        )
    i = scope.emit("sort", arrays, {"dimensions": (dimension,), "is_stable": False}, called=called)
    rows = []
    for k, array in enumerate(scope.unpack(i, count)):
        kept = scope.type_of(operation, k)
        window = tuple([SliceDimension(0, size) for size in kept.dimensions])
        rows.append(scope.emit("slice", (array,), {"slice": window}, shape=kept))
    return rows


def _laid_out(shape: Shape, order: Any) -> Shape:
    """Return the shape with a layout given minor to major, if there is one."""
    if (
        not shape.is_array
        or not isinstance(order, (Literal, tuple))
        or len(integers(order)) != shape.rank
    ):
        return shape
    return shape.with_layout(layout(integers(order)))


def _aliases(given: Any) -> tuple[OperandAlias, ...]:
    return tuple(
        [
            OperandAlias(
                integers(alias.get("output_tuple_indices", ())),
                int(alias.get("operand_index", 0)),
                integers(alias.get("operand_tuple_indices", ())),
            )
            for alias in given
            if isinstance(alias, dict)
        ]
    )
