"""`HloBuilder`, values with operators, and the `@hlo` decorator."""

from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.builder.functions import cond, fori_loop, switch, where, while_loop
from xla_explorer.hlo.builder.opcode_methods import add_opcode_methods, method_name
from xla_explorer.hlo.builder.traced_function import TracedFunction, hlo
from xla_explorer.hlo.builder.value import HloValue

add_opcode_methods()

__all__ = [
    "HloBuilder",
    "HloBuilderError",
    "HloValue",
    "TracedFunction",
    "cond",
    "fori_loop",
    "hlo",
    "method_name",
    "switch",
    "where",
    "while_loop",
]
