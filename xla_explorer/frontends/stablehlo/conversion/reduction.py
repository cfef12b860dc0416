"""Operations that call a computation of scalars: reductions, windows, sorts, maps."""

from __future__ import annotations

from typing import Any

from xla_explorer.frontends.stablehlo.conversion.contraction import window_of
from xla_explorer.frontends.stablehlo.conversion.regions import combiner
from xla_explorer.frontends.stablehlo.conversion.registry import converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape, tuple_shape


def one_region(scope: Scope, operation: Operation, count: int = 1) -> None:
    """Fail unless the operation has this number of regions."""
    if len(operation.regions) != count:
        scope.fail(
            f"{operation.name} has {len(operation.regions)} regions, it needs {count}",
            "write ({ ^bb0(...): ... })",
        )


def results(scope: Scope, operation: Operation, i: HloInstruction) -> list[HloInstruction]:
    """Return the results of an instruction, which is a tuple if there are several."""
    return scope.unpack(i, len(operation.types))


@converts("reduce")
def reduce(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a reduction; operands are inputs, then their initial values."""
    one_region(scope, operation)
    called = combiner(scope, operation.regions[0], "reducer")
    i = scope.emit(
        "reduce",
        scope.operands(operation),
        {"dimensions": scope.integers(operation, "dimensions")},
        called=(called,),
    )
    return results(scope, operation, i)


@converts("reduce_window")
def reduce_window(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a reduction of every window."""
    one_region(scope, operation)
    window = window_of(
        scope,
        operation,
        scope.integers(operation, "window_dimensions"),
        operation.attributes.get("padding"),
        "base_dilations",
        "window_dilations",
    )
    called = combiner(scope, operation.regions[0], "reducer")
    return results(
        scope,
        operation,
        scope.emit(
            "reduce-window", scope.operands(operation), {"window": window}, called=(called,)
        ),
    )


@converts("select_and_scatter")
def select_and_scatter(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a scatter of each source to the selected element of its window."""
    one_region(scope, operation, 2)
    operands = scope.operands(operation)
    sizes = scope.integers(operation, "window_dimensions", (1,) * operands[0].shape.rank)
    window = window_of(
        scope,
        operation,
        sizes,
        operation.attributes.get("padding"),
        "base_dilations",
        "window_dilations",
    )
    called = (
        combiner(scope, operation.regions[0], "select"),
        combiner(scope, operation.regions[1], "scatter"),
    )
    return [
        scope.emit(
            "select-and-scatter",
            operands,
            {"window": window},
            shape=scope.type_of(operation),
            called=called,
        )
    ]


@converts("sort")
def sort(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a sort of all operands together, by default along the last dimension."""
    one_region(scope, operation)
    operands = scope.operands(operation)
    dimension = operation.attributes.get("dimension", -1)
    attributes = {
        "dimensions": (dimension % max(operands[0].shape.rank, 1),),
        "is_stable": bool(operation.attributes.get("is_stable", False)),
    }
    i = scope.emit(
        "sort", operands, attributes, called=(combiner(scope, operation.regions[0], "comparator"),)
    )
    return results(scope, operation, i)


@converts("map")
def map_(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a computation of scalars, element by element."""
    one_region(scope, operation)
    attributes = {"dimensions": scope.integers(operation, "dimensions")}
    called = combiner(scope, operation.regions[0], "mapped")
    return [
        scope.emit(
            "map",
            scope.operands(operation),
            attributes,
            shape=scope.type_of(operation),
            called=(called,),
        )
    ]


@converts("batch_norm_training", "batch_norm_inference", "batch_norm_grad")
def batch_norm(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit HLO's batch normalisation of the same name."""
    attributes = {
        "epsilon": float(scope.attribute(operation, "epsilon", required=True)),
        "feature_index": scope.integer(operation, "feature_index"),
    }
    name = operation.name.partition(".")[2].replace("_", "-")
    return results(scope, operation, scope.emit(name, scope.operands(operation), attributes))


@converts("rng")
def rng(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit random numbers from the device's own state; the shape operand is redundant."""
    a, b = scope.operands(operation)[:2]
    distribution = (
        f"rng_{scope.keyword(operation, 'rng_distribution', among=('UNIFORM', 'NORMAL')).lower()}"
    )
    return [
        scope.emit("rng", (a, b), {"distribution": distribution}, shape=scope.type_of(operation))
    ]


@converts("rng_bit_generator")
def rng_bit_generator(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit (new state, bits)."""
    (state,) = scope.operands(operation)
    return random_bits(scope, operation, state, scope.type_of(operation, 1))


def random_bits(
    scope: Scope, operation: Operation, state: HloInstruction, bits: Shape
) -> list[HloInstruction]:
    """Emit (new state, bits) of the algorithm that the operation names."""
    algorithm = f"rng_{scope.keyword(operation, 'rng_algorithm', 'DEFAULT', among=('DEFAULT', 'THREE_FRY', 'PHILOX')).lower()}"
    algorithm = {"rng_three_fry": "rng_three_fry", "rng_philox": "rng_philox"}.get(
        algorithm, "rng_default"
    )
    i = scope.emit(
        "rng-bit-generator",
        (state,),
        {"algorithm": algorithm},
        shape=tuple_shape((state.shape.base, bits)),
    )
    return scope.unpack(i, 2)


@converts("chlo.top_k")
def top_k(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit (values, indices) of the k largest."""
    attributes: dict[str, Any] = {
        "k": scope.integer(operation, "k"),
        "largest": bool(operation.attributes.get("largest", True)),
    }
    return results(scope, operation, scope.emit("topk", scope.operands(operation), attributes))


@converts("chlo.scan")
def scan(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a scan along one dimension; return its outputs, then the final carries."""
    one_region(scope, operation)
    operands = scope.operands(operation)
    segments = scope.integers(operation, "operandSegmentSizes")
    dimension = scope.integer(operation, "dimension")
    shapes: list[Shape] = []
    for k, operand in enumerate(operands):
        sizes = operand.shape.dimensions
        shapes.append(
            operand.shape.with_dimensions([*sizes[:dimension], *sizes[dimension + 1 :]])
            if k < segments[0]
            else operand.shape.base
        )
    attributes = {
        "dimensions": (dimension,),
        "num_carries": segments[1],
        "is_reverse": bool(operation.attributes.get("is_reverse", False)),
    }
    i = scope.emit(
        "scan",
        operands,
        attributes,
        called=(combiner(scope, operation.regions[0], "step", shapes),),
    )
    return results(scope, operation, i)
