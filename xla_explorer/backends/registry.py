"""The registry of backends by name: built-in ones, registered ones, and entry points.

A built-in backend is a row of `_BUILT_IN` and of pyproject.toml; a plug-in declares an entry point
of the group `xla_explorer.backends`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from xla_explorer.backends.interfaces import Platform
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest

GROUP = "xla_explorer.backends"
# The same names as in pyproject.toml: for a source tree that is not installed, and because reading
# the metadata of all installed packages takes longer than a small compilation. No plug-in may take
# these names.
_BUILT_IN = {
    "cpu": "xla_explorer.backends.cpu:platform",
    "gpu": "xla_explorer.backends.gpu:platform",
    "interpreter": "xla_explorer.backends.interpreter:platform",
    "xla": "xla_explorer.backends.xla:platform",
    "aarch64": "xla_explorer.backends.cross:aarch64",
    "riscv64": "xla_explorer.backends.cross:riscv64",
    "x86-64": "xla_explorer.backends.cross:x86_64",
    "wasm32": "xla_explorer.backends.cross:wasm32",
    "amdgpu": "xla_explorer.backends.amdgpu:platform",
    "hexagon": "xla_explorer.backends.cross:hexagon",
}
_OTHER_XLA = "xla:"  # prefix of a folder: the jaxlib of another Python environment
_REGISTERED: dict[str, Platform] = {}


class UnknownBackendError(XlaExplorerError, LookupError):
    """No backend has the given name."""


def backend_names() -> list[str]:
    """Return the names of all backends, installed plug-ins included.

    Returns
    -------
    list of str
        The names, sorted.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> {"cpu", "gpu", "interpreter", "xla"} <= set(xe.backend_names())
    True
    """
    from importlib.metadata import entry_points

    return sorted({*_BUILT_IN, *_REGISTERED, *[point.name for point in entry_points(group=GROUP)]})


def register(made: Platform) -> None:
    """Register a platform under its name in this process, without installing a package.

    It replaces a platform that was registered under the same name. ValueError for the name of a
    built-in backend.
    """
    if made.name in _BUILT_IN:
        raise ValueError(f"{made.name!r} is a built-in backend; choose another name")
    _REGISTERED[made.name] = made
    platform.cache_clear()


def is_registered_here(name: str) -> bool:
    """Return True if a name was added by `register`, in this process only."""
    return name in _REGISTERED


def unregister(name: str) -> None:
    """Remove a registered backend; do nothing if it is not registered."""
    _REGISTERED.pop(name, None)
    platform.cache_clear()


@cache
def platform(name: str) -> Platform:
    """Return the platform of a name; UnknownBackendError lists the existing names."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    place = name.removeprefix(_OTHER_XLA) if str(name).startswith(_OTHER_XLA) else ""
    if place or name in _BUILT_IN:
        module, _, attribute = _BUILT_IN["xla" if place else name].partition(":")
        found = getattr(import_module(module), attribute)
        if place:
            other: Platform = found(place)
            return other
    else:
        from importlib.metadata import entry_points

        for point in entry_points(group=GROUP):
            if point.name == name:
                found = point.load()
                break
        else:
            near = nearest(str(name), backend_names(), 1)
            hint = (
                f"did you mean {near[0]!r}?"
                if near
                else f"choose from {', '.join(backend_names())}"
            )
            raise UnknownBackendError(f"no backend is named {name!r}", hint)
    made: Platform = found() if callable(found) else found
    return made
