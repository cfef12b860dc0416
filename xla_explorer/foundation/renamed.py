"""Old names: they keep their meaning for one release and say what replaces them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from xla_explorer.foundation.warning import warn

F = TypeVar("F", bound=Callable[..., Any])


def warn_renamed(old: str, new: str) -> None:
    """Warn that `old` will go and that `new` replaces it.

    Parameters
    ----------
    old, new : str
        The calls as users write them, such as ``"trace.at(i)"`` and ``"passes[k].module"``.
    """
    warn(
        f"{old} is deprecated and will be removed in the next release; use {new}",
        DeprecationWarning,
    )


class Renamed(NamedTuple):
    """What replaces an attribute, and how its value is had from the object that had it."""

    new: str
    value: Callable[[Any], Any]


def old_attribute(owner: Any, name: str, old: Mapping[str, Renamed]) -> Any:
    """What a class with a table of old names answers in `__getattr__`. AttributeError for names that never were."""
    if name not in old:
        raise AttributeError(
            f"{type(owner).__name__!r} object has no attribute {name!r}", name=name, obj=owner
        )
    kind = type(owner).__name__.lower()
    warn_renamed(f"{kind}.{name}", f"{kind}.{old[name].new}")
    return old[name].value(owner)


def was_property(method: F) -> F:
    """Mark a method that used to be a property: `session.kernels()` is the call, and `session.kernels` still stands for its value.

    The old form warns, and has what a frame, a mapping or a session is used for: attributes, indexing, iteration, length, its display.
    It is another object than the value: `isinstance` and operators on it see the difference.
    """
    if TYPE_CHECKING:
        return method
    return _WasProperty(method)


def standing_for_its_value(method: types.MethodType) -> Any:
    """A bound method that stands for its value too, as those marked by `was_property`."""
    return _Bound(method)


class _WasProperty:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return (
            self
            if owner is None
            else standing_for_its_value(types.MethodType(self.function, owner))
        )

    def __set__(self, owner: Any, value: Any) -> NoReturn:
        raise AttributeError(f"{self.function.__name__} is a method")

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.function(*arguments, **options)


class _Bound:
    """A method that stands for its value where it is used as one."""

    def __init__(self, method: types.MethodType) -> None:
        functools.update_wrapper(self, method)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.__dict__["__wrapped__"](*arguments, **options)

    def _value(self) -> Any:
        method: types.MethodType = self.__dict__["__wrapped__"]
        name = f"{type(method.__self__).__name__.lower()}.{method.__name__}"
        warn_renamed(name, f"{name}()")
        return method()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._value(), name)

    def __getitem__(self, key: Any) -> Any:
        return self._value()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._value())

    def __len__(self) -> int:
        return len(self._value())

    def __contains__(self, key: object) -> bool:
        return key in self._value()

    def __repr__(self) -> str:
        return repr(self._value())

    def __str__(self) -> str:
        return str(self._value())
