"""Syntax tree of a StableHLO module: what the parser returns and `conversion` reads.

Values are still names. In all classes `at` is the offset in the text, for error messages, and
`location` is the offset of the `loc(...)` for `Locations`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from xla_explorer.frontends.stablehlo.attributes import Dictionary
from xla_explorer.frontends.stablehlo.types import MlirType

CONSTANTS = {"arith.constant": "stablehlo.constant", "sdy.constant": "stablehlo.constant"}
"""Constant operations of other dialects, which are read as `stablehlo.constant`."""


class Use(NamedTuple):
    """An operand `%name#number`: a result of the operation that defines `%name`."""

    name: str
    number: int
    at: int


class Argument(NamedTuple):
    """An argument of a function or of a region's block."""

    name: str
    type: MlirType
    attributes: Dictionary
    location: int | None
    at: int


class Region:
    """A region with one block: arguments, and operations that end with a terminator."""

    __slots__ = ("arguments", "at", "operations")

    def __init__(self, arguments: list[Argument], operations: list[Operation], at: int) -> None:
        self.arguments, self.operations, self.at = arguments, operations, at


class Operation:
    """One operation.

    name: with the dialect, such as `stablehlo.add`. results: (name, number of values). words:
    keywords and numbers of a custom assembly format. types: of the results. operand_types: as
    written, None if the assembly format omits them.
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
