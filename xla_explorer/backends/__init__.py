"""Interfaces, the registry, one folder per backend, and the kit for new ones.

Start reading at `interfaces/compiler.py`.

`import xla_explorer as xe` gives this room as `xe.backends`:

- `xe.backends.names()`: every backend, installed plug-ins included.
- `xe.backends.get(name)`: its Platform.
- `xe.backends.contract(name)`: every promise of a backend, checked one by one.
- `xe.backends.conformance(name)`: opcode x element type x status, the first failure minimised.
- `xe.backends.scaffold(name, 1)`: an installable package to start from, with its tests.
- `xe.backends.register(platform)`: a backend of this process only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "names": ("xla_explorer.backends.registry", "backend_names"),
    "get": ("xla_explorer.backends.registry", "platform"),
    "register": ("xla_explorer.backends.registry", "register"),
    "unregister": ("xla_explorer.backends.registry", "unregister"),
    "contract": ("xla_explorer.backends.testing.contract", "contract"),
    "conformance": ("xla_explorer.backends.testing.conformance", "conformance"),
    "scaffold": ("xla_explorer.backends.scaffolding.scaffold", "scaffold"),
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    value = globals()[name] = getattr(importlib.import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})


if TYPE_CHECKING:
    from xla_explorer.backends.registry import backend_names as names  # noqa: F401
    from xla_explorer.backends.registry import platform as get  # noqa: F401
    from xla_explorer.backends.registry import register as register
    from xla_explorer.backends.registry import unregister as unregister
    from xla_explorer.backends.scaffolding.scaffold import scaffold as scaffold
    from xla_explorer.backends.testing.conformance import conformance as conformance
    from xla_explorer.backends.testing.contract import contract as contract
