"""Index maps: which operand elements each element of a result reads."""

from __future__ import annotations

from xla_explorer.hlo.analysis.indexing import combining, movement
from xla_explorer.hlo.analysis.indexing.description import index_map_text
from xla_explorer.hlo.analysis.indexing.dimensions import DimensionMap, dimensions_read
from xla_explorer.hlo.analysis.indexing.expression import (
    ZERO,
    Axis,
    IndexExpression,
    Place,
    Quotient,
    Remainder,
    RuntimeValue,
    Substitution,
    index,
    place_text,
)
from xla_explorer.hlo.analysis.indexing.expression_text import (
    IndexSyntaxError,
    parse_index,
    parse_place,
)
from xla_explorer.hlo.analysis.indexing.offsets import delinearize, linearize, row_major_strides
from xla_explorer.hlo.analysis.indexing.reads import (
    MOVEMENT,
    Guard,
    Read,
    Reads,
    mapped_opcodes,
    reads_by,
    reads_of,
)

# The families register their functions when they are imported.
_FAMILIES = (combining, movement)

__all__ = [
    "MOVEMENT",
    "ZERO",
    "Axis",
    "DimensionMap",
    "Guard",
    "IndexExpression",
    "IndexSyntaxError",
    "Place",
    "Quotient",
    "Read",
    "Reads",
    "Remainder",
    "RuntimeValue",
    "Substitution",
    "delinearize",
    "dimensions_read",
    "index",
    "index_map_text",
    "linearize",
    "mapped_opcodes",
    "parse_index",
    "parse_place",
    "place_text",
    "reads_by",
    "reads_of",
    "row_major_strides",
]
