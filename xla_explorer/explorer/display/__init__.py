"""`Report` and its blocks: text, HTML, Markdown, JSON, DataFrame.

A call returns a DataFrame if its result is rows of one noun: decisions, kernels, passes, times. It
returns a `Report` if its result is an answer with a headline: an explanation, a comparison, a
buffer assignment. `to_frame()` of a report gives its rows, with all columns even if there are none.
Columns of both are identifiers with their unit as the last word: `median_us`, `gb_per_s`. Code is a
`CodeText`, and a picture an object with `to_svg()`.
"""

from xla_explorer.explorer.display.blocks import (
    Blocks,
    Code,
    Layout,
    Listing,
    Sentence,
    Table,
    drawn,
    frame_table,
    printed,
)
from xla_explorer.explorer.display.code_pane import MOST_PANE_LINES, CodePane, LazyLines, TextLine
from xla_explorer.explorer.display.display import (
    CodeText,
    Svg,
    cell_text,
    pre_html,
    table_html,
    table_text,
)
from xla_explorer.explorer.display.escaping import escape, fenced, markdown_text
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.display.plain_data import SCHEMA, named_data, plain, with_schema
from xla_explorer.explorer.display.quantities import (
    byte_count,
    microseconds,
    number_of,
    percent,
)
from xla_explorer.explorer.display.report import Report

__all__ = [
    "MOST_PANE_LINES",
    "SCHEMA",
    "Blocks",
    "Code",
    "CodePane",
    "CodeText",
    "Layout",
    "LazyLines",
    "Listing",
    "Report",
    "Sentence",
    "Svg",
    "Table",
    "TextLine",
    "byte_count",
    "cell_text",
    "drawn",
    "escape",
    "fenced",
    "frame_table",
    "markdown_text",
    "microseconds",
    "named_data",
    "number_of",
    "percent",
    "plain",
    "pre_html",
    "printed",
    "table_html",
    "table_text",
    "wide_frame",
    "with_schema",
]
