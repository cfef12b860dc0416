"""The HLO language and its meaning.

Start reading at `module.py`.

The package is also the decorator `@xe.hlo`. A package and a function cannot share one name, so
calling the package traces a function (see `builder.hlo`).

Attributes
----------
cond, switch, while_loop, fori_loop, where
    Control flow of builder values.
evaluate_replicated
    Evaluation of a module on several virtual devices.
Host
    Infeed, outfeed and transfers.
PrintOptions
    Options of `module.to_text`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xla_explorer.hlo.text import forms  # noqa: F401  # binds the text form of the graph

if TYPE_CHECKING:
    from xla_explorer.hlo import builder, evaluator, text

_PUBLIC = {
    "cond": "builder",
    "fori_loop": "builder",
    "switch": "builder",
    "where": "builder",
    "while_loop": "builder",
    "evaluate_replicated": "evaluator",
    "Host": "evaluator",
    "PrintOptions": "text",
}

__all__ = list(_PUBLIC)


class TracingRoom(ModuleType):
    """The type of this package."""

    if TYPE_CHECKING:
        __call__ = staticmethod(builder.hlo)
        cond = staticmethod(builder.cond)
        fori_loop = staticmethod(builder.fori_loop)
        switch = staticmethod(builder.switch)
        where = staticmethod(builder.where)
        while_loop = staticmethod(builder.while_loop)
        evaluate_replicated = staticmethod(evaluator.evaluate_replicated)
        Host = evaluator.Host
        PrintOptions = text.PrintOptions
    else:

        def __call__(self, *arguments: Any, **options: Any) -> Any:
            from xla_explorer.foundation.keywords import check_keywords
            from xla_explorer.hlo.builder import hlo

            check_keywords("xe.hlo has no", options, ["name"])
            return hlo(*arguments, **options)

        def __getattr__(self, name: str) -> Any:
            # On first use: most programs need neither builder nor evaluator.
            if name not in _PUBLIC:
                raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
            value = self.__dict__[name] = getattr(
                importlib.import_module(f"{self.__name__}.{_PUBLIC[name]}"), name
            )
            return value

        def __dir__(self) -> list[str]:
            return sorted({*self.__dict__, *_PUBLIC})


sys.modules[__name__].__class__ = TracingRoom
