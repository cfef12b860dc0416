"""The last steps of parsing a module: unique names, the header's attributes, the schedule."""

from __future__ import annotations

from xla_explorer.foundation.naming import UniqueNames
from xla_explorer.hlo.metadata import StackFrameTables
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.async_sugar import name_wrapped
from xla_explorer.hlo.text.attributes.attribute_list import AttributeText
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.module_header import (
    ModuleHeader,
    is_default,
    parse_entry_computation_layout,
    parse_input_output_alias,
)
from xla_explorer.hlo.text.shape_text import same_sizes

# Instructions whose called computations are not scheduled on their own.
_NOT_SCHEDULED = frozenset({"fusion"})


def make_computations_unique(module: HloModule) -> None:
    """Make the names of computations unique; `add` and `add.0` count as the same name.

    Call it after all references to computations in the text are resolved.
    """
    name_wrapped(module)
    computations = module.computations
    if UniqueNames().reserve_all(computations):
        return
    names, found = UniqueNames(), list(computations.values())
    computations.clear()
    for computation in found:
        computation.name = names.unique(computation.name)
        computations[computation.name] = computation


def apply_header(module: HloModule, header: ModuleHeader) -> None:
    """Set the module's attributes, stack frames and schedule from the header.

    TextError if its layouts do not fit the entry.
    """
    module.attributes = {
        name: value
        for name, value in header.attributes.items()
        if name != "is_scheduled" and not is_default(name, value)
    }
    if header.frames:
        module.frames = StackFrameTables(header.frames)
    layout_text = header.attributes.get("entry_computation_layout")
    if layout_text is not None:
        item = header.places["entry_computation_layout"]
        parameters, result = parse_entry_computation_layout(layout_text)
        given, own = [*parameters, result], [*module.parameter_shapes(), module.entry.root.shape]
        if len(given) != len(own) or not all(map(same_sizes, given, own)):
            raise TextError(
                "entry_computation_layout does not fit the entry computation",
                item.value_at,
                "correct it, or leave it out: it follows from the entry's parameters and root",
                len(item.value),
            )
    if (aliases := header.attributes.get("input_output_alias")) is not None:
        _check_outputs(module, aliases, header.places["input_output_alias"])
    if header.attributes.get("is_scheduled") == "true":
        schedule_as_written(module)


def _check_outputs(module: HloModule, aliases: str, item: AttributeText) -> None:
    """Check that each aliased output exists. The verifier checks the parameter."""
    for alias in parse_input_output_alias(aliases):
        shape = module.entry.root.shape
        for step in alias.output_index:
            if not shape.is_tuple or not 0 <= step < len(shape.tuple_shapes):
                index = ",".join(map(str, alias.output_index))
                message = (
                    f"input_output_alias names output {{{index}}}, which "
                    f"{module.entry.root.shape.text_without_layout} does not have"
                )
                raise TextError(
                    message,
                    item.value_at,
                    "name outputs of the entry, such as {} or {0}",
                    len(item.value),
                )
            shape = shape.tuple_shapes[step]


def schedule_as_written(module: HloModule) -> None:
    """Schedule each computation in the order of the text, except fusions."""
    fused = {c for i in module.instructions() if i.opcode.name in _NOT_SCHEDULED for c in i.called}
    for computation in module.computations.values():
        if computation not in fused:
            computation.schedule = tuple(computation.instructions.values())
