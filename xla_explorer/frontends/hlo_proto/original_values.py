"""Where a value came from in the module as it was given: the attribute `origin`."""

from __future__ import annotations

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.shapes import joined
from xla_explorer.frontends.protobuf import Message
from xla_explorer.hlo.text.strings import quoted_string


def original_array(array: Message) -> str:
    """`{"name" {0}}`, without braces around the index where it is empty."""
    index = array.numbers("shape_index")
    return (
        "{"
        + quoted_string(array.text("instruction_name"))
        + (f" {{{joined(index)}}}" if index else "")
        + "}"
    )


def original_value(value: Message) -> str:
    if value.flag("is_synthetic_call"):
        return "{[synthetic_call]}"
    found: dict[tuple[int, ...], str] = {}
    for element in value.messages("elements", schema.ORIGINAL_ELEMENT):
        array = element.message("original_array", schema.ORIGINAL_ARRAY)
        found[tuple(element.numbers("shape_index"))] = (
            original_array(array) if array is not None else "{}"
        )

    def tree(place: tuple[int, ...]) -> str:
        if place in found or len(place) > 64:
            return found.get(place, "{}")
        below = [index[len(place)] for index in found if index[: len(place)] == place]
        return (
            "("
            + ", ".join(
                [tree((*place, number)) for number in range(min(max(below, default=-1), 4096) + 1)]
            )
            + ")"
        )

    return "{" + tree(()) + "}"
