"""Checks of the module's header against its entry: layouts, aliases and donors.

Source: hlo_verifier.cc, hlo_module.cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.module_header import (
    InputOutputAlias,
    parse_buffer_donor,
    parse_entry_computation_layout,
    parse_input_output_alias,
)
from xla_explorer.hlo.verifier.structure import Finding

_layouts = lru_cache(maxsize=64)(parse_entry_computation_layout)
_aliases = lru_cache(maxsize=64)(parse_input_output_alias)
_donors = lru_cache(maxsize=64)(parse_buffer_donor)


def header_findings(module: HloModule, layout_sensitive: bool = False) -> Iterator[Finding]:
    """Yield the parts of the header that do not match the entry's parameters and root."""
    attributes = module.attributes
    if not attributes:
        return
    parameters, result = module.parameter_shapes(), module.result_shape()
    if isinstance(text := attributes.get("entry_computation_layout"), str):
        yield from _layout_findings(*_layouts(text), tuple(parameters), result, layout_sensitive)
    aliases: tuple[InputOutputAlias, ...] = ()
    if isinstance(text := attributes.get("input_output_alias"), str):
        aliases = _aliases(text)
        yield from _alias_findings(aliases, parameters, result)
    if isinstance(text := attributes.get("buffer_donor"), str):
        for number, index in _donors(text):
            if _at(parameters, number, index) is None:
                yield (
                    "donor",
                    f"buffer_donor names parameter {number} {_braces(index)}, which does not exist",
                    None,
                )
            elif any(
                (alias.parameter_number, alias.parameter_index) == (number, index)
                for alias in aliases
            ):
                yield (
                    "donor",
                    f"parameter {number} {_braces(index)} is donated and aliased at once",
                    None,
                )


def _layout_findings(
    stated: tuple[Shape, ...],
    stated_result: Shape,
    parameters: tuple[Shape, ...],
    result: Shape,
    layout_sensitive: bool,
) -> Iterator[Finding]:
    if len(stated) != len(parameters):
        yield (
            "entry-layout",
            (
                f"entry_computation_layout gives {len(stated)} parameters, the entry has "
                f"{len(parameters)}"
            ),
            None,
        )
    else:
        for number, (a, b) in enumerate(zip(stated, parameters, strict=True)):
            if a is not b if layout_sensitive else a.base is not b.base:
                yield (
                    "entry-layout",
                    f"entry_computation_layout gives parameter {number} as {a}, it is {b}",
                    None,
                )
    if stated_result is not result if layout_sensitive else stated_result.base is not result.base:
        yield (
            "entry-layout",
            f"entry_computation_layout gives the result as {stated_result}, it is {result}",
            None,
        )


def _alias_findings(
    aliases: tuple[InputOutputAlias, ...], parameters: list[Shape], result: Shape
) -> Iterator[Finding]:
    outputs: set[tuple[int, ...]] = set()
    inputs: set[tuple[int, tuple[int, ...]]] = set()
    for alias in aliases:
        output = _at([result], 0, alias.output_index)
        source = _at(parameters, alias.parameter_number, alias.parameter_index)
        source_words = f"parameter {alias.parameter_number} {_braces(alias.parameter_index)}"
        words = f"output {_braces(alias.output_index)} and {source_words}"
        if output is None or source is None:
            missing = "that output" if output is None else "that parameter"
            yield "alias", f"input_output_alias names {words}; {missing} does not exist", None
            continue
        if not (output.is_array and source.is_array):
            yield "alias", f"input_output_alias names {words}; both must be arrays", None
            continue
        if output.byte_size != source.byte_size:
            yield (
                "alias",
                (
                    f"{words} differ in size: {output.text_without_layout} vs "
                    f"{source.text_without_layout}"
                ),
                None,
            )
        if (
            alias.output_index in outputs
            or (alias.parameter_number, alias.parameter_index) in inputs
        ):
            yield "alias", f"{words}: one of them is aliased already", None
        outputs.add(alias.output_index)
        inputs.add((alias.parameter_number, alias.parameter_index))


def _at(shapes: list[Shape], number: int, index: tuple[int, ...]) -> Shape | None:
    """Return the shape at a tuple index of shapes[number], or None."""
    if not 0 <= number < len(shapes):
        return None
    found = shapes[number]
    for step in index:
        if not found.is_tuple or not 0 <= step < len(found.tuple_shapes):
            return None
        found = found.tuple_shapes[step]
    return found


def _braces(index: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, index)) + "}"
