"""Shape rules of the reduction family.

Source: StableHLO sections of the same names; shape_inference.cc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes.shape_rules.agreement import (
    bare,
    require_array,
    require_dimensions,
    require_operand_count,
    require_same_type,
    require_scalar,
    same_sizes,
    with_type,
)
from xla_explorer.hlo.primitive_type import S32, PrimitiveType
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape, tuple_shape

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation

Called = tuple["HloComputation", ...]


def _inputs_and_initials(
    operands: tuple[Shape, ...],
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    require_operand_count(operands, 2)
    if len(operands) % 2:
        raise ShapeError(f"takes N inputs and N initial values, got {len(operands)} operands")
    count = len(operands) // 2
    inputs, initials = operands[:count], operands[count:]
    for number, (value, initial) in enumerate(zip(inputs, initials, strict=True)):
        require_array(value, f"input {number}")
        require_scalar(initial, f"initial value {number}")
        if not same_sizes(inputs[0], value):
            raise ShapeError(
                f"inputs 0 and {number} differ in dimensions: {bare(inputs[0])} vs {bare(value)}"
            )
        require_same_type(value, initial, f"input {number} and its initial value")
    return inputs, initials


def _result_types(initials: tuple[Shape, ...], called: Called) -> list[PrimitiveType]:
    """Return the reducer's result types; those of the initial values if there is no reducer."""
    if called:
        result = called[0].root.shape
        parts = result.tuple_shapes if result.is_tuple else (result,)
        if len(parts) == len(initials) and all(part.is_array for part in parts):
            return [part.element_type for part in parts]
    return [initial.element_type for initial in initials]


def _one_or_tuple(shapes: list[Shape], called: Called) -> Shape:
    """Return a tuple for several shapes, and for one if the reducer returns a tuple."""
    is_tuple = len(shapes) != 1 or (bool(called) and called[0].root.shape.is_tuple)
    return tuple_shape(shapes) if is_tuple else shapes[0]


def reduce(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the inputs' dimensions without the reduced ones, or a tuple for several inputs."""
    inputs, initials = _inputs_and_initials(operands)
    dimensions = attributes.value("dimensions")
    require_dimensions(dimensions, inputs[0], "dimension")
    kept = [d for d in range(inputs[0].rank) if d not in dimensions]
    sizes, moving = (
        [inputs[0].dimensions[d] for d in kept],
        tuple([any(i.dynamic[d] for i in inputs) for d in kept]),
    )
    results = [array_shape(t, sizes, None, moving) for t in _result_types(initials, called)]
    return _one_or_tuple(results, called)


def _window_positions(value: Shape, attributes: Attributes) -> list[int]:
    window = attributes.value("window").dimensions
    if len(window) != value.rank:
        raise ShapeError(f"the window has {len(window)} dimensions, {bare(value)} has {value.rank}")
    for number, row in enumerate(window):
        if row.size < 1 or row.stride < 1 or row.base_dilation < 1 or row.window_dilation < 1:
            raise ShapeError(
                f"size, stride and dilations of window dimension {number} must be positive"
            )
    return [row.output_size(size) for row, size in zip(window, value.dimensions, strict=True)]


def reduce_window(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return one element for each position of the window, or a tuple for several inputs."""
    inputs, initials = _inputs_and_initials(operands)
    sizes = _window_positions(inputs[0], attributes)
    return _one_or_tuple([array_shape(initial.element_type, sizes) for initial in initials], called)


def select_and_scatter(
    operands: tuple[Shape, ...], attributes: Attributes, called: Called
) -> Shape:
    """Return the operand's shape; the source has one element for each position of the window."""
    operand, source, initial = operands
    require_array(operand)
    require_array(source, "the source")
    require_scalar(initial, "the initial value")
    require_same_type(operand, source, "operand and source")
    require_same_type(operand, initial, "operand and initial value")
    positions = _window_positions(operand, attributes)
    if positions != list(source.dimensions):
        raise ShapeError(
            f"the window has positions {positions} over {bare(operand)}, the source is "
            f"{bare(source)}"
        )
    return operand.base


def map_(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the operands' dimensions in the element type of the computation's result."""
    require_operand_count(operands, 1)
    first, dimensions = operands[0], attributes.value("dimensions")
    for number, operand in enumerate(operands):
        require_array(operand, f"operand {number}")
        if not same_sizes(first, operand):
            raise ShapeError(
                f"operands 0 and {number} differ in dimensions: {bare(first)} vs {bare(operand)}"
            )
    if dimensions and list(dimensions) != list(range(first.rank)):
        raise ShapeError(
            f"dimensions must name all {first.rank} dimensions of {bare(first)} in order, they "
            f"are {list(dimensions)}"
        )
    result = called[0].root.shape if called else array_shape(first.element_type, ())
    require_scalar(result, "the result of the mapped computation")
    return with_type(first, result.element_type)


def scan(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return (outputs stacked along the dimension..., final carries...)."""
    count, dimensions = attributes.value("num_carries"), attributes.value("dimensions")
    if not 0 <= count <= len(operands):
        raise ShapeError(f"num_carries {count} is out of range for {len(operands)} operands")
    inputs, carries = operands[: len(operands) - count], operands[len(operands) - count :]
    require_operand_count(inputs, 1, "input")
    require_array(inputs[0], "input 0")
    if len(dimensions) != 1:
        raise ShapeError(f"takes exactly one dimension, got {list(dimensions)}")
    axis = dimensions[0]
    require_dimensions(dimensions, inputs[0], "dimension")
    steps = inputs[0].dimensions[axis]
    for number, value in enumerate(inputs):
        require_array(value, f"input {number}")
        if axis >= value.rank or value.dimensions[axis] != steps:
            raise ShapeError(
                f"inputs 0 and {number} differ in dimension {axis}: {bare(inputs[0])} vs "
                f"{bare(value)}"
            )
    if not called:
        raise ShapeError("needs the computation of one step")
    result = called[0].root.shape
    parts = result.tuple_shapes if result.is_tuple else (result,)
    outputs = []
    for part in parts[: len(parts) - count]:
        require_array(part, "an output of the step")
        require_dimensions((axis,), part.rank + 1, "dimension")
        outputs.append(
            array_shape(
                part.element_type, (*part.dimensions[:axis], steps, *part.dimensions[axis:])
            )
        )
    return tuple_shape([*outputs, *[carry.base for carry in carries]])


def sort(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the operands' shapes, as a tuple for several operands."""
    require_operand_count(operands, 1)
    for number, operand in enumerate(operands):
        require_array(operand, f"operand {number}")
        if not same_sizes(operands[0], operand):
            raise ShapeError(
                f"operands 0 and {number} differ in dimensions: {bare(operands[0])} vs "
                f"{bare(operand)}"
            )
    dimensions = attributes.value("dimensions")
    if len(dimensions) != 1:
        raise ShapeError(f"takes exactly one dimension, got {list(dimensions)}")
    require_dimensions(dimensions, operands[0], "dimension")
    return _one_or_tuple([operand.base for operand in operands], ())


def topk(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return (values, s32 indices), the last dimension of size k."""
    operand, k = operands[0], attributes.value("k")
    require_array(operand)
    if operand.rank == 0 or not 0 <= k <= operand.dimensions[-1]:
        raise ShapeError(f"k {k} does not fit the last dimension of {bare(operand)}")
    sizes = (*operand.dimensions[:-1], k)
    return tuple_shape((array_shape(operand.element_type, sizes), array_shape(S32, sizes)))


def _batch_norm(
    operands: tuple[Shape, ...], attributes: Attributes, vectors: tuple[int, ...]
) -> tuple[Shape, Shape]:
    """Return (operand, feature vector).

    The operands numbered by `vectors` must be feature vectors.
    """
    operand, feature = operands[0], attributes.value("feature_index")
    require_array(operand)
    require_dimensions((feature,), operand, "feature_index")
    if not operand.element_type.is_float:
        raise ShapeError(f"the operand must be float, it is {bare(operand)}")
    size = operand.dimensions[feature]
    for number in vectors:
        if operands[number].dimensions != (size,) or not operands[number].is_array:
            raise ShapeError(
                f"operand {number} must have the {size} features of {bare(operand)}, it is "
                f"{bare(operands[number])}"
            )
    return operand.base, operands[vectors[0]].base


def batch_norm_training(
    operands: tuple[Shape, ...], attributes: Attributes, called: Called
) -> Shape:
    """Return (output, mean, variance)."""
    output, vector = _batch_norm(operands, attributes, (1, 2))
    return tuple_shape((output, vector, vector))


def batch_norm_inference(
    operands: tuple[Shape, ...], attributes: Attributes, called: Called
) -> Shape:
    """Return the operand's shape."""
    return _batch_norm(operands, attributes, (1, 2, 3, 4))[0]


def batch_norm_grad(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the shapes of the gradients of (operand, scale, offset)."""
    output, vector = _batch_norm(operands, attributes, (1, 2, 3))
    if not same_sizes(operands[0], operands[4]):
        raise ShapeError(
            f"operand and gradient differ in dimensions: {bare(operands[0])} vs {bare(operands[4])}"
        )
    return tuple_shape((output, vector, vector))
