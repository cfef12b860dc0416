"""Pattern constructors, one per opcode: `from ...operators import add, get_tuple_element, abs_`.

They are derived from the opcode table on access. Dashes become underscores; a name that is reserved
or a builtin in Python gets an underscore at its end (`and_`, `abs_`, `map_`, `while_`).
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable

from xla_explorer.compiler.rewriting.patterns import Pattern, operator
from xla_explorer.hlo.opcodes import OPCODES


def python_name(opcode_name: str) -> str:
    """Return the Python name of an opcode: `get_tuple_element`, `and_`."""
    name = opcode_name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) or hasattr(builtins, name) else name


_OPCODE_OF = {python_name(name): name for name in OPCODES}


def __getattr__(name: str) -> Callable[..., Pattern]:
    if name not in _OPCODE_OF:
        raise AttributeError(f"no opcode is called {name}")
    constructor = globals()[name] = operator(_OPCODE_OF[name])
    return constructor


def __dir__() -> list[str]:
    return sorted(_OPCODE_OF)
