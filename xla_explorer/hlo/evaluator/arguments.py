"""`evaluate(module, *arrays)`: check the arguments, then run the entry computation once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.foundation.limits import bounds
from xla_explorer.hlo.analysis.manual_regions import device_count
from xla_explorer.hlo.evaluator.devices.host import Host
from xla_explorer.hlo.evaluator.devices.world import Device, World, prepare
from xla_explorer.hlo.evaluator.evaluator import DEFAULT_MAX_ELEMENTS, Evaluator
from xla_explorer.hlo.evaluator.registry import TOKEN_VALUE, EvaluationError, Value
from xla_explorer.hlo.given_values import (
    GivenValueError,
    array_of,
    array_of_number,
    has_dimensions_of,
    whole_booleans,
)
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape


@default_floating_point()
def evaluate(
    module: HloModule,
    *arrays: Any,
    evaluator: Evaluator | None = None,
    max_elements: int = DEFAULT_MAX_ELEMENTS,
    as_xla_cpu: bool = False,
    host: Host | None = None,
) -> Any:
    """Return the entry's result: a numpy array, or (nested) tuples of arrays.

    arrays: one argument a parameter: an array of the parameter's dtype and dimensions, a tuple of
    arrays for a tuple parameter, or a Python number of the parameter's type. A flat list of all
    leaves in order is accepted too. EvaluationError names the parameter, its shape and the
    argument's.

    as_xla_cpu: make the choices of XLA:CPU if HLO leaves one. A bf16 result that is widened to f32
    at once is not rounded in between (`xla_allow_excess_precision`). Ties of an unstable sort come
    in the order of `std::sort`. An endless loop is skipped if only its unchanged elements are used.
    By default every operation rounds, ties keep their order, and such a loop is an error.

    host: the other side of infeed, outfeed and transfers. A given `evaluator` overrides
    `max_elements`, `as_xla_cpu` and `host`.

    A module with manual regions (JAX's `shard_map`) takes and returns whole arrays. It runs on as
    many virtual devices as its regions name.
    """
    if not isinstance(module, HloModule):
        raise TypeError(
            f"evaluate takes a module, not {type(module).__name__}; xe.parse_hlo(text) and "
            "xe.load(path) make one"
        )
    values = values_of(module, arrays)
    elsewhere = bounds().elsewhere
    if elsewhere is not None:
        options = {
            "evaluator": evaluator,
            "max_elements": max_elements,
            "as_xla_cpu": as_xla_cpu,
            "host": host,
        }
        result = elsewhere("evaluate", module, values, options)
        if result is not NotImplemented:
            return result
    return _run(module, values, evaluator, max_elements, as_xla_cpu, host)


def evaluate_here(
    module: HloModule,
    arrays: Sequence[Any],
    evaluator: Evaluator | None = None,
    max_elements: int = DEFAULT_MAX_ELEMENTS,
    as_xla_cpu: bool = False,
    host: Host | None = None,
) -> Any:
    """Evaluate in this process (see `evaluate`)."""
    return _run(module, values_of(module, arrays), evaluator, max_elements, as_xla_cpu, host)


def _run(
    module: HloModule,
    values: Sequence[Value],
    evaluator: Evaluator | None,
    max_elements: int,
    as_xla_cpu: bool,
    host: Host | None,
) -> Value:
    devices = device_count(module) if evaluator is None else 0
    if devices > 1:
        world = World(1, devices)
        prepare(module)

        def run(device: Device) -> Value:
            own = Evaluator(
                max_elements=max_elements, as_xla_cpu=as_xla_cpu, device=device, host=host
            )
            return own.evaluate_computation(module.entry, values)

        result = world.run(run)[0]
    else:
        runner = (
            evaluator
            if evaluator is not None
            else Evaluator(max_elements=max_elements, as_xla_cpu=as_xla_cpu, host=host)
        )
        result = runner.evaluate_computation(module.entry, values)
    return _detached(result, {id(leaf) for leaf in flatten_value(tuple(values))})


def values_of(module: HloModule, arrays: Sequence[Any]) -> list[Value]:
    """Return the arguments as checked values, one for each parameter of the entry."""
    parameters = module.entry.parameters()
    given = arrays
    leaves = sum([count_leaves(p.shape) for p in parameters])
    misfit = any(
        p.shape.is_tuple and not isinstance(v, (tuple, list))
        for p, v in zip(parameters, given, strict=False)
    )
    if len(given) != len(parameters) or (misfit and len(given) == leaves):
        if len(given) != leaves:
            wanted = ", ".join([f"{p.name}: {p.shape.text_without_layout}" for p in parameters])
            raise EvaluationError(
                f"{module.name} takes {len(parameters)} "
                f"argument{'s' if len(parameters) != 1 else ''} "
                f"({wanted}), got {len(given)}"
            )
        iterator = iter(given)
        given = [_pack(p.shape, iterator) for p in parameters]
    return [
        check_argument(value, p.shape, f"parameter {number} (%{p.name})")
        for number, (p, value) in enumerate(zip(parameters, given, strict=True))
    ]


def _detached(value: Value, arguments: set[int]) -> Value:
    """Return the result as row-major arrays without memory shared with arguments or constants."""
    if isinstance(value, tuple):
        return tuple([_detached(part, arguments) for part in value])
    if value is TOKEN_VALUE:
        return value
    own = (
        value.base is None
        and value.flags.writeable
        and value.flags.c_contiguous
        and id(value) not in arguments
    )
    return value if own else np.array(value, order="C")


def count_leaves(shape: Shape) -> int:
    """Return the number of arrays and tokens in a shape."""
    return sum(map(count_leaves, shape.tuple_shapes)) if shape.is_tuple else 1


def _pack(shape: Shape, leaves: Iterator[Any]) -> Any:
    return (
        tuple([_pack(part, leaves) for part in shape.tuple_shapes])
        if shape.is_tuple
        else next(leaves)
    )


def check_argument(value: Any, shape: Shape, what: str) -> Value:
    """Return `value` as an evaluator value of `shape`, or raise EvaluationError naming `what`."""
    if shape.is_tuple:
        if not isinstance(value, (tuple, list)) or len(value) != len(shape.tuple_shapes):
            got = (
                f"{len(value)} elements"
                if isinstance(value, (tuple, list))
                else type(value).__name__
            )
            raise EvaluationError(
                f"{what} is a tuple of {len(shape.tuple_shapes)} ({shape.text_without_layout}), "
                f"got {got}"
            )
        return tuple(
            [
                check_argument(part, s, f"{what}, element {k}")
                for k, (part, s) in enumerate(zip(value, shape.tuple_shapes, strict=True))
            ]
        )
    if not shape.is_array:
        return TOKEN_VALUE
    dtype = shape.element_type.dtype
    try:
        number = isinstance(value, (bool, int, float, complex))
        array = (
            array_of_number(value, shape.element_type)
            if number
            else whole_booleans(array_of(value))
        )
    except GivenValueError as problem:
        raise EvaluationError(f"{what} {problem.message}", problem.hint) from None
    if array.dtype != dtype:
        raise EvaluationError(
            f"{what} is {shape.text_without_layout}, so its dtype must be {dtype}; got "
            f"{array.dtype}{list(array.shape)}",
            f"convert the argument: array.astype({dtype})",
        )
    if not has_dimensions_of(array, shape):
        raise EvaluationError(
            f"{what} is {shape.text_without_layout}, so its dimensions must be "
            f"{list(shape.dimensions)}; "
            f"got {list(array.shape)}"
        )
    return array


def flatten_value(value: Value) -> list[Any]:
    """Return the arrays of a value, depth first, without tokens."""
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in flatten_value(part)]
    return [] if value is TOKEN_VALUE else [value]
