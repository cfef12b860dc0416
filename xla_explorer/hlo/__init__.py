"""The HLO language and its meaning: value types, opcodes, the graph, text, builder, verifier, evaluator, analyses.

The room is also the decorator `@xe.hlo`: the package cannot hold a room and a function under one name, so calling the room traces a
function (see `builder.hlo`).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from xla_explorer.hlo.text import forms  # noqa: F401  # binds what the graph shows as text


class _TracingRoom(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from xla_explorer.hlo.builder import hlo

        return hlo(*arguments, **options)


sys.modules[__name__].__class__ = _TracingRoom
