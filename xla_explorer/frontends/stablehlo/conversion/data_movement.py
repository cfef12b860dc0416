"""Convert StableHLO's data movement operations: broadcast, slice, pad, gather, scatter, ...

A function with `@converts(name)` emits the HLO of one operation. A new operation is a new function.
"""

from __future__ import annotations

from typing import Any

from xla_explorer.frontends.stablehlo.attributes import integers
from xla_explorer.frontends.stablehlo.conversion.regions import combiner
from xla_explorer.frontends.stablehlo.conversion.registry import converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.attributes import PaddingDimension, SliceDimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import array_shape

GATHER = (
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "operand_batching_dims",
    "start_indices_batching_dims",
)
_SCATTER = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
)


@converts("broadcast_in_dim")
def broadcast_in_dim(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a broadcast of operand dimension i to result dimension broadcast_dimensions[i].

    An operand dimension of size one is repeated to the size of the result dimension.
    """
    (x,), shape = scope.operands(operation), scope.type_of(operation)
    dimensions = scope.integers(operation, "broadcast_dimensions")
    if (
        len(dimensions) != x.shape.rank
        or len(set(dimensions)) != len(dimensions)
        or not all(0 <= d < shape.rank for d in dimensions)
    ):
        scope.fail(
            f"broadcast dimensions {list(dimensions)} do not map {x.shape.text_without_layout} to "
            f"{shape.text_without_layout}",
            "give one result dimension for each operand dimension, none twice",
        )
    if (
        any(x.shape.dimensions[k] not in (1, shape.dimensions[d]) for k, d in enumerate(dimensions))
        or x.shape.element_type is not shape.element_type
    ):
        scope.fail(
            f"{x.shape.text_without_layout} does not broadcast to {shape.text_without_layout} "
            "along "
            f"{list(dimensions)}",
            "sizes must be equal or 1",
        )
    return [scope.broadcast(x, shape, dimensions)]


@converts("broadcast")
def broadcast(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a broadcast to new leading dimensions."""
    (x,) = scope.operands(operation)
    sizes = scope.integers(operation, "broadcast_sizes")
    return [
        scope.broadcast(
            x,
            array_shape(x.shape.element_type, (*sizes, *x.shape.dimensions)),
            range(len(sizes), len(sizes) + x.shape.rank),
        )
    ]


@converts("iota")
def iota(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the indices along one dimension."""
    return [
        scope.emit(
            "iota",
            (),
            {"iota_dimension": scope.integer(operation, "iota_dimension")},
            shape=scope.type_of(operation),
        )
    ]


@converts("transpose", "reverse", "concatenate", "get_dimension_size", "set_dimension_size")
def along_dimensions(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit an operation whose only attribute is a dimension or a list of dimensions."""
    short = operation.name.partition(".")[2]
    name = {"transpose": "permutation", "reverse": "dimensions"}.get(short, "dimension")
    dimensions = (
        scope.integers(operation, name)
        if name != "dimension"
        else (scope.integer(operation, name),)
    )
    return [
        scope.emit(
            short.replace("_", "-"),
            scope.operands(operation),
            {"dimensions": dimensions},
            shape=scope.type_of(operation),
        )
    ]


@converts("slice")
def slice_(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a slice with constant start, limit and stride."""
    starts, limits = (
        scope.integers(operation, "start_indices"),
        scope.integers(operation, "limit_indices"),
    )
    strides = scope.integers(operation, "strides", (1,) * len(starts))
    if not len(starts) == len(limits) == len(strides):
        scope.fail(
            "start, limit and stride differ in their number of dimensions",
            "give each for every dimension",
        )
    rows = tuple([SliceDimension(*row) for row in zip(starts, limits, strides, strict=True)])
    return [
        scope.emit(
            "slice", scope.operands(operation), {"slice": rows}, shape=scope.type_of(operation)
        )
    ]


@converts("dynamic_slice")
def dynamic_slice(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a slice whose start indices are operands."""
    sizes = scope.integers(operation, "slice_sizes")
    return [
        scope.emit(
            "dynamic-slice",
            scope.operands(operation),
            {"dynamic_slice_sizes": sizes},
            shape=scope.type_of(operation),
        )
    ]


@converts("dynamic_update_slice")
def dynamic_update_slice(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a dynamic-update-slice, whose start indices are operands."""
    return [
        scope.emit(
            "dynamic-update-slice", scope.operands(operation), shape=scope.type_of(operation)
        )
    ]


def padding(
    scope: Scope, low: tuple[int, ...], high: tuple[int, ...], interior: tuple[int, ...]
) -> dict[str, Any]:
    """Return the HLO attribute `padding` of a pad."""
    if not len(low) == len(high) == len(interior):
        scope.fail(
            "low, high and interior padding differ in their number of dimensions",
            "give each for every dimension",
        )
    return {
        "padding": tuple([PaddingDimension(*row) for row in zip(low, high, interior, strict=True)])
    }


@converts("pad")
def pad(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a pad with edge and interior padding."""
    amounts = [
        scope.integers(operation, name)
        for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    ]
    return [
        scope.emit(
            "pad",
            scope.operands(operation),
            padding(scope, *amounts),
            shape=scope.type_of(operation),
        )
    ]


def _numbers(
    scope: Scope, operation: Operation, attribute: str, names: tuple[str, ...]
) -> dict[str, Any]:
    given = scope.attribute(operation, attribute, required=True)
    if not isinstance(given, dict):
        scope.fail(
            f"{attribute} of {operation.name} must be a set of dimension numbers",
            f"write {attribute} = #stablehlo...",
        )
    found: dict[str, Any] = {name: integers(given.get(name, ())) for name in names}
    found["index_vector_dim"] = given.get("index_vector_dim", 0)
    found["indices_are_sorted"] = bool(operation.attributes.get("indices_are_sorted", False))
    return found


def gather_attributes(
    scope: Scope, operation: Operation, slice_sizes: tuple[int, ...]
) -> dict[str, Any]:
    """Return the HLO attributes of a gather."""
    return {**_numbers(scope, operation, "dimension_numbers", GATHER), "slice_sizes": slice_sizes}


@converts("gather")
def gather(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a gather; the second operand has the start indices of the slices."""
    attributes = gather_attributes(scope, operation, scope.integers(operation, "slice_sizes"))
    return [
        scope.emit("gather", scope.operands(operation), attributes, shape=scope.type_of(operation))
    ]


@converts("scatter")
def scatter(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a scatter of one or several operands."""
    operands = scope.operands(operation)
    attributes = _numbers(scope, operation, "scatter_dimension_numbers", _SCATTER)
    attributes["unique_indices"] = bool(operation.attributes.get("unique_indices", False))
    i = scope.emit(
        "scatter", operands, attributes, called=(combiner(scope, operation.regions[0], "scatter"),)
    )
    return scope.unpack(i, len(operands) // 2)


@converts("torch_index_select")
def torch_index_select(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a gather of whole slices of one dimension, as PyTorch's index_select.

    Source: StableHLO torch_index_select.
    """
    x, index = scope.operands(operation)
    dimension, batch = operation.attributes.get("dim", 0), operation.attributes.get("batch_dims", 0)
    if batch:
        scope.refuse(
            "batch-dims",
            "torch_index_select with batch dimensions is not supported",
            "write a gather with batching dimensions",
        )
    rank, extra = x.shape.rank, index.shape.rank
    offsets = tuple([d if d < dimension else d + extra - 1 for d in range(rank) if d != dimension])
    attributes = {
        "offset_dims": offsets,
        "collapsed_slice_dims": (dimension,),
        "start_index_map": (dimension,),
        "index_vector_dim": extra,
        "slice_sizes": tuple(
            [1 if d == dimension else size for d, size in enumerate(x.shape.dimensions)]
        ),
    }
    return [scope.emit("gather", (x, index), attributes, shape=scope.type_of(operation))]
