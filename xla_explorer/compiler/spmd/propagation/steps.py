"""Records of propagation: each step with rule, factor, source, targets and origin annotation.

Source: Shardy's sdy/transforms/propagation/debugging/source_sharding.h.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from xla_explorer.compiler.spmd.propagation.axis_lists import Axes, Axis, is_prefix
from xla_explorer.compiler.spmd.propagation.flow_graph import FlowOperation, Value
from xla_explorer.compiler.spmd.propagation.value_sharding import TensorProjection
from xla_explorer.compiler.spmd.rules.factor_rule import FactorRule, letter

REFUSAL_CODES: Final[Mapping[str, str]] = {
    "closed": "the dimension is closed: its annotation says that no axes may be added",
    "axis-in-use": "another dimension of the value is split along the axis",
    "explicitly-replicated": "the value is annotated to be replicated along the axis",
    "unreduced": "the value holds terms of a sum along the axis",
    "indivisible": "the axis does not divide a factor before the last one of the dimension",
    "blocked-factor": "the rule of the operation passes no sharding on along this factor",
    "conflict": "two operands or results are split along different axes there",
    "no-rule": "no sharding rule is known for the operation",
}


@dataclass(frozen=True)
class PropagationStep:
    """Axes that one value took from another.

    Attributes
    ----------
    step : int
        The number of the step; axes of one operation taken at once share it.
    priority, level : int
        The user's priority and the level of operations at which it happened.
    instruction : str
        The name of the operation.
    kind : str
        operation, constraint, barrier, edge (of a loop, conditional or region) or output.
    rule, factor : str
        The rule's text and the letter of its factor.
    axis : str
        The axis, as `x` or `x:(1)2`.
    source, target : str
        `operand-0`, `result-0` ...
    source_value, target_value : str
        The names of the values.
    dimension : int
        The dimension of the target.
    origin : str
        The annotation that brought the axis: `input: 0`, `output: 1`, `constraint_0`,
        `mc_0_input: 1`.
    """

    step: int
    priority: int
    level: int
    instruction: str
    kind: str
    rule: str
    factor: str
    axis: str
    source: str
    target: str
    source_value: str
    target_value: str
    dimension: int
    origin: str


@dataclass(frozen=True)
class PropagationRefusal:
    """An axis that one value of an operation has and another did not take.

    code: one of REFUSAL_CODES. source, target: as those of a step; holder: what keeps the axis out,
    a factor or a value.
    """

    instruction: str
    kind: str
    rule: str
    factor: str
    axis: str
    source: str
    target: str
    target_value: str
    code: str
    holder: str = ""

    def __str__(self) -> str:
        return (
            f"{self.code}: {self.target} of %{self.instruction} does not take {self.axis}: "
            + (REFUSAL_CODES[self.code])
        )


def axis_text(axis: Axis, sizes: Mapping[str, int]) -> str:
    """Return `x` for a whole axis, `x:(1)2` for a part."""
    whole = sizes.get(axis.name) == axis.size
    return axis.name if whole else f"{axis.name}:({axis.before}){axis.size}"


def place_text(place: int, operands: int) -> str:
    """Return `operand-0` or `result-0`."""
    return f"operand-{place}" if place < operands else f"result-{place - operands}"


@dataclass(frozen=True)
class Taken:
    """An axis that a tensor of an operation took: numbers of tensors, factor and dimension."""

    source: int
    target: int
    factor: int
    dimension: int
    axis: Axis


def taken_axes(
    before: Sequence[Mapping[int, Axes]], tensors: Sequence[TensorProjection], rule: FactorRule
) -> Iterator[Taken]:
    """Yield the axes that tensors gained. before: the axes of each factor of each tensor."""
    for target, tensor in enumerate(rule.tensors):
        for dimension, factors in enumerate(tensor):
            found: list[Taken] = []
            for factor in factors:
                old = before[target].get(factor, ())
                new = tensors[target].factors[factor].axes if old is not None else ()
                if old == new:
                    continue
                source = next(
                    (k for k, had in enumerate(before) if is_prefix(new, had.get(factor, ()))),
                    None,
                )
                if source is None:
                    continue
                first = len(old) - 1 if old and old[-1] != new[len(old) - 1] else len(old)
                more = [Taken(source, target, factor, dimension, axis) for axis in new[first:]]
                _merge(found, more)
            yield from found


def _merge(found: list[Taken], more: list[Taken]) -> None:
    """Append; adjacent parts of one axis on two factors of a dimension become one."""
    for k, one in enumerate(more):
        last = found[-1] if found and k == 0 else None
        if (
            last is not None
            and last.axis.name == one.axis.name
            and last.axis.end == one.axis.before
        ):
            whole = Axis(one.axis.name, last.axis.before, last.axis.size * one.axis.size)
            found[-1] = Taken(one.source, one.target, one.factor, one.dimension, whole)
        else:
            found.append(one)


def origin_of(value: Value, axis: Axis) -> str:
    """Return the annotation that brought an axis, or an axis that overlaps it; "" if unknown."""
    if axis in value.origins:
        return value.origins[axis]
    return next(
        (
            origin
            for other, origin in value.origins.items()
            if other.contains(axis) or axis.contains(other)
        ),
        "",
    )


def record(
    number: int,
    levels: tuple[int, int],
    operation: FlowOperation,
    taken: Taken,
    sizes: Mapping[str, int],
) -> PropagationStep:
    """Return the record of an axis that a tensor of an operation took."""
    assert operation.rule is not None
    tensors, operands = operation.tensors, len(operation.operands)
    source = tensors[taken.source].value
    return PropagationStep(
        number,
        levels[0],
        levels[1],
        operation.instruction.name,
        operation.kind,
        str(operation.rule),
        letter(taken.factor),
        axis_text(taken.axis, sizes),
        place_text(taken.source, operands),
        place_text(taken.target, operands),
        repr(source),
        repr(tensors[taken.target].value),
        taken.dimension,
        origin_of(source, taken.axis),
    )
