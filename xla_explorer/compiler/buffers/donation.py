"""Results that take over the memory of a parameter: what the header's `input_output_alias` and `buffer_donor` allow, where it can be done.

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
    """One entry of `input_output_alias`, or a `buffer_donor` with the result that suits it. output: leaf of the result, None where no
    result suits a donor. parameter, leaf: what may be given away. must: the caller relies on it. reason: why the result lives elsewhere,
    None when it takes the parameter's memory. given_away: the program may write into the parameter, even where no result stays there."""

    output: Index | None
    parameter: int
    leaf: Index
    must: bool
    reason: Reason | None
    given_away: bool


def wanted_aliases(module: HloModule) -> tuple[InputOutputAlias, ...]:
    """What the header asks for: its aliases, and for each donor the first result of the same shape that nothing else is to live in."""
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


def give_away(flow: Dataflow, wanted: tuple[InputOutputAlias, ...]) -> None:
    """Let the program write into the parameters that the caller gives away. Before any set of values is made."""
    for entry in wanted:
        parameter_leaf(flow, entry).read_only = False


def join_aliases(
    flow: Dataflow, sets: BufferSets, wanted: tuple[InputOutputAlias, ...], donate: bool
) -> list[Alias]:
    """Put each result over its parameter where nothing forbids it, and say what does where something does."""
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
                f"the caller keeps the memory of %{given.name}: compile with donate=True to give it away",
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
        # Nothing else may move in: a result that is no alias of it would never reach the caller.
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
    """The value that the caller gives away."""
    parameter = flow.module.entry.parameters()[entry.parameter_number]
    return flow.value_of(parameter, tuple(entry.parameter_index))
