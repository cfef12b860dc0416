"""Regions as computations: combiners of their arguments, and bodies with captured values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.frontends.stablehlo.conversion.scope import Scope, tuple_of
from xla_explorer.frontends.stablehlo.program import Region, Use
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.shape import Shape


def combiner(
    scope: Scope, region: Region, name: str, shapes: Sequence[Shape] | None = None
) -> HloComputation:
    """Return a computation with one parameter for each argument of the region.

    shapes: of the parameters; by default the region's own.
    """
    computation = scope.converter.module.add_computation(name)
    inner = Scope(scope.converter, computation, scope)
    for number, argument in enumerate(region.arguments):
        shape = shapes[number] if shapes is not None else argument.type
        if not isinstance(shape, Shape):
            scope.refuse(
                "value-type", "an argument of a region that is not a tensor", "use tensors"
            )
        inner.values[argument.name] = [computation.add_parameter(number, shape)]
    computation.set_root(inner.pack(inner.run(region)))
    return computation


def free_uses(regions: Sequence[Region]) -> list[Use]:
    """Return the values that regions read and do not define, each once, in order."""
    found: dict[tuple[str, int], Use] = {}

    def walk(region: Region, known: frozenset[str]) -> None:
        own = set(known).union([a.name for a in region.arguments])
        for operation in region.operations:
            for use in operation.operands:
                if use.name not in own:
                    found.setdefault((use.name, use.number), use)
            for inner in operation.regions:
                walk(inner, frozenset(own))
            own.update([name for name, _ in operation.results])

    for region in regions:
        walk(region, frozenset())
    return list(found.values())


def captured(scope: Scope, regions: Sequence[Region]) -> list[Use]:
    """Return the values, except constants, that regions capture; each becomes an operand."""
    return [use for use in free_uses(regions) if not isinstance(scope.find(use.name), Literal)]


def body(
    scope: Scope,
    region: Region,
    shapes: Sequence[Shape],
    taken: Sequence[Use],
    name: str,
    *,
    passes_on: bool = False,
    known: Sequence[np.ndarray[Any, Any] | None] = (),
) -> HloComputation:
    """Return a computation with one parameter: arguments and captured values.

    They are a tuple unless there is only one. passes_on: the captured values follow the results, as
    in the state of a loop. known: constant values of arguments.
    """
    computation = scope.converter.module.add_computation(name)
    inner = Scope(scope.converter, computation, scope)
    if len(region.arguments) != len(shapes):
        scope.fail(
            f"the region takes {len(region.arguments)} arguments, it is given {len(shapes)}",
            "name one argument for each value",
        )
    outside = [scope.value(use) for use in taken]
    every = [*shapes, *[i.shape.base for i in outside]]
    parameter = computation.add_parameter(0, tuple_of(every), "state")
    parts = inner.unpack(parameter, len(every))
    for argument, part in zip(region.arguments, parts, strict=False):
        inner.values[argument.name] = [part]
    for part, value in zip(parts, known, strict=False):
        scope.converter.known.state(part, value)
    for use, part, given in zip(taken, parts[len(shapes) :], outside, strict=True):
        inner.captured[use.name, use.number] = part
        if scope.converter.has_open_sizes:
            scope.converter.known.state(part, scope.converter.known.value(given))
    results: list[HloInstruction] = inner.run(region)
    inner.operation = None
    computation.set_root(inner.pack([*results, *(parts[len(shapes) :] if passes_on else ())]))
    return computation
