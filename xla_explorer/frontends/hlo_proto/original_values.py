"""Original values: the arrays of the input module that a value represents (attribute `origin`)."""

from __future__ import annotations

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.shapes import joined
from xla_explorer.frontends.protobuf import Message
from xla_explorer.hlo.text.strings import quoted_string


def original_array(array: Message) -> str:
    """Return `{"name" {0}}`; an empty index is omitted."""
    index = array.numbers("shape_index")
    return (
        "{"
        + quoted_string(array.text("instruction_name"))
        + (f" {{{joined(index)}}}" if index else "")
        + "}"
    )


def original_value(value: Message) -> str:
    """Return the tree of original arrays of a value, such as `({"a"}, {"b" {0}})`."""
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
