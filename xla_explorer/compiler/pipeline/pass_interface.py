"""The pass interface and the registry of passes by the names that XLA prints in its dumps."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from xla_explorer.compiler.pipeline.built_in_passes import BUILT_IN
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.module import HloModule


@runtime_checkable
class HloPass(Protocol):
    """A frozen dataclass whose fields are the options of a pass.

    `run` returns True if it changed the module; the runner checks the answer.
    """

    name: ClassVar[str]

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Transform the module in place."""
        ...


class ForeignPass:
    """A pass that ran in another compiler; only the modules before and after it are recorded.

    own: a pass of this compiler with the same policy, which answers questions in its place, or
    None.
    """

    def __init__(self, name: str, own: HloPass | None = None) -> None:
        self.name, self.own = name, own

    @property
    def kinds(self) -> tuple[str, ...]:
        """The decision kinds of our pass with the same policy, else the name."""
        return getattr(self.own, "kinds", (self.name,))

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Raise XlaExplorerError: only another compiler has the code of the pass."""
        message = f"cannot run {self.name}: a pass of real XLA is known by its dump only"
        raise XlaExplorerError(
            message, "session.passes[number] has the modules before and after it"
        )


class PassRegistrationError(XlaExplorerError, ValueError):
    """A pass that cannot be registered."""


_REGISTRY: dict[str, type[Any]] = {}
_Pass = TypeVar("_Pass", bound=type[HloPass])


def register_pass(*names: str) -> Callable[[_Pass], _Pass]:
    """Register the decorated class as a pass under its `name` and the given further names.

    A pass that a notebook's cell declared is replaced when a cell declares it again.

    Parameters
    ----------
    *names
        Further names of the pass.

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    PassRegistrationError
        The class is not a dataclass, or another pass has one of the names.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from dataclasses import dataclass
    >>> from xla_explorer.compiler.pipeline import HloPass
    >>> @xe.register_pass()
    ... @dataclass(frozen=True)
    ... class CountNothing(HloPass):
    ...     '''Leaves the module as it is.'''
    ...     name = "docs-count-nothing"
    ...     def run(self, module, context):
    ...         return False
    >>> "docs-count-nothing" in set(xe.passes()["pass"])
    True
    """

    def declare(cls: _Pass) -> _Pass:
        if not dataclasses.is_dataclass(cls):
            raise PassRegistrationError(
                f"the pass {cls.__name__} must be a dataclass, whose fields are its options",
                "write @dataclass(frozen=True) between @xe.register_pass() and the class",
            )
        for name in (cls.name, *names):
            known = _declared(name) if BUILT_IN.get(name) != cls.__module__ else _REGISTRY.get(name)
            if known is not None and known is not cls and not _is_a_newer_cell(known, cls):
                raise PassRegistrationError(
                    f"pass {name!r} is registered twice: {known.__module__}.{known.__qualname__} "
                    "has that name",
                    "give one of them another `name`; in a notebook, a pass of an earlier cell "
                    "is replaced",
                )
            _REGISTRY[name] = cls
        return cls

    return declare


def _is_a_newer_cell(known: type[Any], cls: type[Any]) -> bool:
    """Return True if both classes come from a notebook or the prompt, whose cells may run again."""
    return bool(known.__module__ == cls.__module__ == "__main__")


PLUGIN_GROUP = "xla_explorer.passes"


def declared_passes() -> dict[str, type[Any]]:
    """Return the passes that this process has declared so far, by name, without plug-ins."""
    return dict(_REGISTRY)


def registered_passes() -> dict[str, type[Any]]:
    """Return the built-in passes and those of plug-ins by name; this loads all of them.

    Plug-ins are entry points of `xla_explorer.passes`.
    """
    for name in BUILT_IN:
        _declared(name)
    _load_plugins()
    return {**{name: _REGISTRY[name] for name in BUILT_IN}, **_REGISTRY}


def _declared(name: str) -> type[Any] | None:
    """Return the pass of this name, loading the module of a built-in one; None if unknown."""
    if name not in _REGISTRY and name in BUILT_IN:
        importlib.import_module(BUILT_IN[name])
    return _REGISTRY.get(name)


@functools.cache
def _load_plugins() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group=PLUGIN_GROUP):
        point.load()  # importing the module declares its passes


def make_pass(name: str, **options: Any) -> HloPass:
    """Return a pass by name with options.

    LookupError with near names if no pass has the name; ValueError for an unknown option.
    """
    cls = _declared(name)
    if cls is None:
        # Only for names that are not built in: reading the metadata of all installed packages takes
        # longer than a small compilation.
        _load_plugins()
        cls = _REGISTRY.get(name)
    if cls is None:
        near = nearest(name, {**BUILT_IN, **_REGISTRY}, 3)
        raise LookupError(
            f"unknown pass {name!r}"
            + (f"; near: {', '.join(near)}" if near else "; xe.passes() lists all")
        )
    known = {field.name for field in dataclasses.fields(cls)}
    if unknown := set(options) - known:
        raise ValueError(
            f"pass {name} has no option {sorted(unknown)[0]!r}; it has: "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    made: HloPass = cls(**options)
    return made
