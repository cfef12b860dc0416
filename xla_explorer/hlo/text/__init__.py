"""The parser and the printer of HLO text."""

from xla_explorer.hlo.text.errors import HloParseError
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.text.print_options import PrintOptions
from xla_explorer.hlo.text.printer import (
    computation_text,
    instruction_text,
    module_text,
    module_text_with_lines,
)

__all__ = [
    "HloParseError",
    "PrintOptions",
    "computation_text",
    "instruction_text",
    "module_text",
    "module_text_with_lines",
    "parse_hlo",
]
