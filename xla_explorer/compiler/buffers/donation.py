"""Results that take over the memory of a parameter: what the header's `input_output_alias` allows, where it can be done.

Source: xla/service/buffer_assignment.cc, xla/hlo/ir/hlo_input_output_alias_config.h.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.coalescing import BufferSets
from xla_explorer.hlo.analysis.dataflow import Dataflow, Index, Value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.module_header import InputOutputAlias, parse_input_output_alias


class Alias(NamedTuple):
    """One entry of `input_output_alias`. output: leaf of the result. parameter, leaf: what is given away. must: the caller
    relies on it. reason: why the result lives elsewhere, None when it takes the parameter's memory."""

    output: Index
    parameter: int
    leaf: Index
    must: bool
    reason: Reason | None


def wanted_aliases(module: HloModule) -> tuple[InputOutputAlias, ...]:
    """What the header asks for."""
    text = module.attributes.get("input_output_alias")
    return parse_input_output_alias(text) if isinstance(text, str) else ()


def give_away(flow: Dataflow, wanted: tuple[InputOutputAlias, ...]) -> None:
    """Let the program write into the parameters that the caller gives away. Before any set of values is made."""
    for entry in wanted:
        parameter_leaf(flow, entry).read_only = False


def join_aliases(flow: Dataflow, sets: BufferSets, wanted: tuple[InputOutputAlias, ...], donate: bool) -> list[Alias]:
    """Put each result over its parameter where nothing forbids it, and say what does where something does."""
    found = []
    for entry in wanted:
        given, made = parameter_leaf(flow, entry), flow.value_of(flow.module.entry.root, tuple(entry.output_index))
        reason: Reason | None
        if not donate:
            reason = refuse(
                "parameters-are-kept", f"the caller keeps the memory of %{given.name}: compile with donate=True to give it away"
            )
        elif sets.set_of(given) is sets.set_of(made):
            reason = None
        elif made.shape is not given.shape:
            reason = refuse("shapes-differ", f"%{made.name} is {made.shape}, %{given.name} {given.shape}")
        else:
            reason = sets.why_not_shared(given, made)
            if reason is None:
                sets.join(given, made)
        must = entry.kind == "must-alias"
        found.append(Alias(tuple(entry.output_index), entry.parameter_number, tuple(entry.parameter_index), must, reason))
    for entry in wanted if donate else ():
        # Nothing else may move in: a result that is no alias of it would never reach the caller.
        sets.set_of(parameter_leaf(flow, entry)).read_only = True
    return found


def parameter_leaf(flow: Dataflow, entry: InputOutputAlias) -> Value:
    """The value that the caller gives away."""
    parameter = flow.module.entry.parameters()[entry.parameter_number]
    return flow.value_of(parameter, tuple(entry.parameter_index))
