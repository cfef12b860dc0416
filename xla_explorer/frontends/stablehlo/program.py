"""Trees of operations by name: the parser's result, before conversion."""

from __future__ import annotations

from typing import Any, NamedTuple

from xla_explorer.frontends.stablehlo.attributes import Dictionary
from xla_explorer.frontends.stablehlo.types import MlirType

CONSTANTS = {"arith.constant": "stablehlo.constant", "sdy.constant": "stablehlo.constant"}
"""Operations of other dialects that are StableHLO's constant by another name."""


class Use(NamedTuple):
    """An operand: name and result number of its definition, and its offset."""

    name: str
    number: int
    at: int


class Argument(NamedTuple):
    """A parameter of a function or region. location: an offset for `Locations`."""

    name: str
    type: MlirType
    attributes: Dictionary
    location: int | None
    at: int


class Region:
    """One block of arguments and operations; the last operation returns."""

    __slots__ = ("arguments", "at", "operations")

    def __init__(self, arguments: list[Argument], operations: list[Operation], at: int) -> None:
        self.arguments, self.operations, self.at = arguments, operations, at


class Operation:
    """One operation of the tree.

    name: with its dialect. results: (name, number of values). words: bare words of a custom form.
    types: of the results, once read. operand_types: as written, None if the form omits them. at:
    offset of the name. location: an offset for `Locations`.
    """

    __slots__ = (
        "at",
        "attributes",
        "location",
        "name",
        "operand_types",
        "operands",
        "regions",
        "results",
        "types",
        "words",
    )

    def __init__(self, name: str, at: int, results: list[tuple[str, int]]) -> None:
        self.name, self.at, self.results = name, at, results
        self.operands: list[Use] = []
        self.operand_types: tuple[MlirType, ...] | None = None
        self.types: tuple[MlirType, ...] = ()
        self.attributes = Dictionary()
        self.words: list[Any] = []
        self.regions: list[Region] = []
        self.location: int | None = None


class Function(NamedTuple):
    """A `func.func`. body: None for a declaration."""

    name: str
    private: bool
    arguments: list[Argument]
    results: tuple[MlirType, ...]
    result_attributes: tuple[Dictionary, ...]
    attributes: Dictionary
    body: Region | None
    at: int


class Program(NamedTuple):
    """A module. meshes: the text of each `sdy.mesh` by name."""

    name: str
    attributes: Dictionary
    functions: dict[str, Function]
    meshes: dict[str, str]
