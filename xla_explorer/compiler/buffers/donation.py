"""Results that reuse the memory of a parameter, as `input_output_alias` and `buffer_donor` allow.

Source: xla/service/buffer_assignment.cc, xla/hlo/ir/hlo_input_output_alias_config.h,
xla/hlo/transforms/simplifiers/optimize_input_output_buffer_alias.cc.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.coalescing import BufferSets
from xla_explorer.hlo.analysis.dataflow import Dataflow, Index, Value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.module_header import (
    InputOutputAlias,
    parse_buffer_donor,
    parse_input_output_alias,
)


class Alias(NamedTuple):
    """One entry of `input_output_alias`, or a `buffer_donor` with the result that fits it.

    output: leaf of the result, None if no result fits a donor. parameter, leaf: the donated memory.
    must: the caller relies on it. reason: why the result has other memory, None if it reuses the
    parameter's. given_away: the program may write into the parameter, even without a result there.
    """

    output: Index | None
    parameter: int
    leaf: Index
    must: bool
    reason: Reason | None
    given_away: bool


def wanted_aliases(module: HloModule) -> tuple[InputOutputAlias, ...]:
    """Return the header's aliases, and for each donor the first free result of the same shape."""
    text = module.attributes.get("input_output_alias")
    found = list(parse_input_output_alias(text)) if isinstance(text, str) else []
    taken = {tuple(entry.output_index) for entry in found}
    free = [
        (index, leaf)
        for index, leaf in module.entry.root.shape.leaves()
        if leaf.is_array and index not in taken
    ]
    for number, index in _donors(module):
        shape = module.entry.parameters()[number].shape.sub_shape(index)
        for place in free:
            if place[1] is shape:
                free.remove(place)
                found.append(InputOutputAlias(place[0], number, index, "may-alias"))
                break
    return tuple(found)


def _donors(module: HloModule) -> tuple[tuple[int, Index], ...]:
    text = module.attributes.get("buffer_donor")
    return parse_buffer_donor(text) if isinstance(text, str) else ()


def mark_donated(flow: Dataflow, wanted: tuple[InputOutputAlias, ...]) -> None:
    """Mark the donated parameters as writable. Runs before any set of values is made."""
    for entry in wanted:
        parameter_leaf(flow, entry).read_only = False


def join_aliases(
    flow: Dataflow, sets: BufferSets, wanted: tuple[InputOutputAlias, ...], donate: bool
) -> list[Alias]:
    """Join each result with its parameter if nothing forbids it, else record the reason."""
    found = []
    for entry in wanted:
        given, made = (
            parameter_leaf(flow, entry),
            flow.value_of(flow.module.entry.root, tuple(entry.output_index)),
        )
        reason: Reason | None
        if not donate:
            reason = refuse(
                "parameters-are-kept",
                f"the caller keeps the memory of %{given.name}: compile with donate=True to give "
                "it away",
            )
        elif sets.set_of(given) is sets.set_of(made):
            reason = None
        elif made.shape is not given.shape:
            reason = refuse(
                "shapes-differ", f"%{made.name} is {made.shape}, %{given.name} {given.shape}"
            )
        else:
            reason = sets.why_not_shared(given, made)
            if reason is None:
                sets.join(given, made)
        must = entry.kind == "must-alias"
        found.append(
            Alias(
                tuple(entry.output_index),
                entry.parameter_number,
                tuple(entry.parameter_index),
                must,
                reason,
                donate,
            )
        )
    for entry in wanted if donate else ():
        # Only the aliased result may use this memory: any other value would reach the caller.
        sets.set_of(parameter_leaf(flow, entry)).read_only = True
    suited = {(alias.parameter, alias.leaf) for alias in found}
    for number, index in _donors(flow.module):
        if (number, index) not in suited:
            shape = flow.module.entry.parameters()[number].shape.sub_shape(index)
            reason = refuse(
                "no-result-of-its-shape",
                f"no result that is free to live there is {shape}",
                shape=shape.text,
            )
            found.append(Alias(None, number, index, False, reason, False))
    return found


def parameter_leaf(flow: Dataflow, entry: InputOutputAlias) -> Value:
    """Return the donated value."""
    parameter = flow.module.entry.parameters()[entry.parameter_number]
    return flow.value_of(parameter, tuple(entry.parameter_index))
