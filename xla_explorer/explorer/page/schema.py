"""The wire format: the row types and mappings of Python become `assets/core/schema.js`.

A row is a JSON list in the order of the fields of its named tuple. The script decodes it by
`FIELDS`, rows inside of rows by `ROWS_INSIDE`. A field has one name on both sides. The types are
there as JSDoc, for the type checker. After a change here or in a row type, `python -m
xla_explorer.explorer.page.schema` writes the file anew; a test compares the two.
"""

from __future__ import annotations

import types
import typing
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS, OVERRIDDEN_KINDS
from xla_explorer.explorer.code.loop_rows import (
    AccessPattern,
    DirectiveStep,
    Fold,
    LoopAxis,
    LoopChoice,
    LoopKernel,
    LoopTry,
    LoweringRow,
)
from xla_explorer.explorer.display.code_pane import TextLine
from xla_explorer.explorer.page import fact_heads, json_data, pools, rows
from xla_explorer.explorer.pictures import picture
from xla_explorer.explorer.pictures.layers import Layer
from xla_explorer.explorer.pictures.picture import PictureData
from xla_explorer.explorer.pictures.svg import COLOURS
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep, RuleText
from xla_explorer.explorer.tables.kernel import Kernel, MachineRoof
from xla_explorer.explorer.tables.rows import Buffer
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.reason import Check

VERSION = 3
"""Raise it if a field changes its meaning under its old name."""
SCRIPT = Path(__file__).resolve().parent / "assets" / "core" / "schema.js"
ROWS: dict[str, type] = {
    "step": rows.StepRow,
    "rewrite": rows.RewriteRow,
    "check": Check,
    "decision": Decision,
    "layer": Layer,
    "kernel": Kernel,
    "axis": LoopAxis,
    "fold": Fold,
    "directive": DirectiveStep,
    "lowering_step": LoweringRow,
    "access": AccessPattern,
    "nest": LoopKernel,
    "choice": LoopChoice,
    "try": LoopTry,
    "buffer": Buffer,
    "moment": rows.ScheduleMoment,
    "not_shared": rows.SharingReason,
    "roof": MachineRoof,
    "column": rows.Column,
    "fact_head": fact_heads.FactHead,
    "remark": rows.RemarkRow,
    "count": rows.PtxCountRow,
    "llvm": rows.LlvmPassRow,
    "rule": RuleText,
    "comparison_row": rows.ComparisonRow,
    "changed_decision": rows.ChangedDecision,
    "override": rows.OverrideRow,
    "node": picture.PictureNode,
    "edge": picture.PictureEdge,
    "group": picture.PictureGroup,
}
BY_FIELD: tuple[type, ...] = (rows.BufferView, rows.ComparisonTable, RewriteStep)
"""Named tuples that are sent as mappings: a single one, or one with large fields."""
MAPPINGS: tuple[type, ...] = (
    pools.PackedColumn,
    pools.PackedPool,
    PictureData,
    json_data.StepDetail,
    json_data.PooledPicture,
    json_data.WholeData,
    json_data.PooledStep,
    json_data.PaneData,
    json_data.ExplorerPayload,
)
_NAMES = {row: name for name, row in ROWS.items()}
_WORDS: dict[Any, str] = {
    int: "number",
    float: "number",
    str: "string",
    bool: "boolean",
    types.NoneType: "null",
    Any: "any",
}


def _type_text(hint: Any) -> str:
    """Return the annotation of a field in JSDoc."""
    if hint in _WORDS:
        return _WORDS[hint]
    if isinstance(hint, type) and (hint in _NAMES or hint in BY_FIELD or hint in MAPPINGS):
        return hint.__name__
    if hint is picture.PictureGraph:
        return PictureData.__name__
    if hint is TextLine:
        return "TextLine"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_type_text(argument) for argument in arguments)
    if origin is typing.Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
        return f"[{', '.join(_type_text(argument) for argument in arguments)}]"
    if origin in (tuple, list, Sequence):
        inner = _type_text(arguments[0])
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if origin in (dict, Mapping):
        return f"Record<string, {_type_text(arguments[1])}>"
    raise TypeError(f"schema.py has no word of JSDoc for {hint!r}")


def _rows_inside(hint: Any) -> str | None:
    """Return the kind of the rows in a field that holds a list of them."""
    arguments = typing.get_args(hint)
    return (
        _NAMES.get(arguments[0])
        if arguments and typing.get_origin(hint) in (tuple, list, Sequence)
        else None
    )


def _fields(row: type) -> dict[str, Any]:
    return {
        name: hint
        for name, hint in typing.get_type_hints(row, localns=vars(rows)).items()
        if not name.startswith("_")
    }


@cache
def wire_format() -> str:
    """Return the version of the format, equal for equal fields; the script refuses any other."""
    return f"{VERSION}.{zlib.crc32(_body().encode()):08x}"


def schema_script() -> str:
    """Return the text of `assets/core/schema.js`."""
    return (
        "// Generated by schema.py from the row types of Python; do not edit: python -m xla_explorer.explorer.page.schema writes it.\n"
        f'export const FORMAT = "{wire_format()}";\n\n{_body()}'
    )


def _body() -> str:
    types_ = []
    for row in (*ROWS.values(), *BY_FIELD, *MAPPINGS):
        optional: frozenset[str] = getattr(row, "__optional_keys__", frozenset())
        names = {name: f"[{name}]" if name in optional else name for name in _fields(row)}
        properties = [
            f" * @property {{{_type_text(hint)}}} {names[name]}"
            for name, hint in _fields(row).items()
        ]
        types_.append(
            "\n".join(["/**", f" * @typedef {{Object}} {row.__name__}", *properties, " */"])
        )
    kinds = [f" * @property {{{row.__name__}}} {name}" for name, row in ROWS.items()]
    types_.append("\n".join(["/**", " * @typedef {Object} Rows", *kinds, " */"]))
    inside = {
        name: {f: kind for f, hint in _fields(row).items() if (kind := _rows_inside(hint))}
        for name, row in ROWS.items()
    }
    fields = [f"  {name}: [{', '.join(map(_quoted, _fields(row)))}]," for name, row in ROWS.items()]
    nested = [
        f"  {name}: {{ {', '.join(f'{f}: {_quoted(k)}' for f, k in found.items())} }},"
        for name, found in inside.items()
        if found
    ]
    return "\n".join(
        [
            *types_,
            "",
            "// One printed line: text, the instruction that it prints, more instructions that came from it.",
            "/** @typedef {[string, number | null, (number[] | null)?, number?]} TextLine */",
            "",
            "export const FIELDS = {",
            *fields,
            "};",
            "// Rows inside of rows.",
            "export const ROWS_INSIDE = {",
            *nested,
            "};",
            "// Kinds of the elements of a picture, in the order of the legend.",
            f"export const KINDS = [{', '.join(map(_quoted, COLOURS))}];",
            "// Kinds of decision that put two instructions into one kernel.",
            f"export const FUSION_KINDS = [{', '.join(map(_quoted, FUSION_KINDS))}];",
            "// Decisions that a reader can force and forbid by naming what they are about.",
            f"export const OVERRIDDEN_KINDS = [{', '.join(map(_quoted, OVERRIDDEN_KINDS))}];",
            "",
        ]
    )


def _quoted(text: str) -> str:
    return f'"{text}"'


if __name__ == "__main__":
    SCRIPT.write_text(schema_script(), encoding="utf-8")
