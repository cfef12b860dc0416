"""Checks of the arguments of public calls: unknown keywords, and values of the wrong kind.

A value of the wrong kind raises a raw TypeError or AttributeError somewhere inside of a call.
`explains_arguments` replaces it by an error that names the parameter. It compares the arguments
with the annotations only after such a failure, so that objects that behave as the annotated type
are accepted.
"""

from __future__ import annotations

import inspect
import os
import reprlib
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


class UnknownOptionError(XlaExplorerError, TypeError):
    """A keyword that a call does not read."""


def check_keywords(
    who: str, given: Iterable[str], known: Sequence[str], otherwise: str = ""
) -> None:
    """Check that each keyword is known.

    Parameters
    ----------
    who : str
        Start of the message: ``"xe.evaluate has no"``.
    given : iterable of str
        The keywords.
    known : sequence of str
        The valid keywords.
    otherwise : str
        The hint if no name is near; by default the list of all.

    Raises
    ------
    UnknownOptionError
        A keyword is unknown; with the nearest name.

    Examples
    --------
    >>> check_keywords("xe.evaluate has no", ["max_element"], ["host", "max_elements"])
    Traceback (most recent call last):
        ...
    xla_explorer.foundation.keywords.UnknownOptionError: xe.evaluate has no option 'max_element'
      hint: did you mean 'max_elements'?
    """
    for name in given:
        if name not in known:
            near = nearest(name, known, 1, 0.7)
            all_of_them = otherwise or f"options: {', '.join(known) or 'none'}"
            raise UnknownOptionError(
                f"{who} option {name!r}", f"did you mean {near[0]!r}?" if near else all_of_them
            )


class ArgumentKindError(XlaExplorerError, TypeError):
    """An argument is of another kind than the parameter's annotation."""


def explains_arguments(function: F) -> F:
    """Replace raw errors of calls with arguments of the wrong kind by an ArgumentKindError.

    Examples
    --------
    >>> @explains_arguments
    ... def repeated(text: str, times: int = 2) -> str:
    ...     return text.upper() * times
    >>> repeated("a", None)
    Traceback (most recent call last):
        ...
    xla_explorer.foundation.keywords.ArgumentKindError: repeated: times must be an integer, got None
    """

    @wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except XlaExplorerError:
            raise
        except Exception as problem:
            wrong = _wrong_argument(function, args, keywords)
            if wrong is None:
                raise
            raise ArgumentKindError(wrong) from problem

    return typing.cast(F, called)


def explains_methods(cls: C) -> C:
    """Apply `explains_arguments` to the public methods of a class."""
    for name, member in list(vars(cls).items()):
        if not name.startswith("_") and inspect.isfunction(member):
            setattr(cls, name, explains_arguments(member))
    return cls


def _wrong_argument(
    function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> str | None:
    """Return what is wrong with the first argument that does not fit its annotation."""
    try:
        given = inspect.signature(function).bind(*args, **keywords)
    except TypeError:
        return None  # Python's own message names the parameter
    for name, value in given.arguments.items():
        parameter = given.signature.parameters[name]
        hint = annotation_of(function, parameter)
        values: Iterable[Any] = (value,)
        if parameter.kind is parameter.VAR_POSITIONAL:
            values = value
        elif parameter.kind is parameter.VAR_KEYWORD:
            values = value.values()
        for one in values:
            if not _fits(one, hint):
                return f"{function.__qualname__}: {name} must be {_kind(hint)}, got {_shown(one)}"
    return None


def annotation_of(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """Return the type that a parameter is annotated with; Any where it cannot be evaluated here."""
    hint = parameter.annotation
    if isinstance(hint, str):
        try:
            alone = types.SimpleNamespace(__annotations__={"hint": hint})
            scope = inspect.unwrap(function).__globals__
            hint = typing.get_type_hints(alone, scope)["hint"]
        except Exception:  # a name that only type checkers import
            return Any
    return Any if hint is parameter.empty else hint


def _fits(value: Any, hint: Any) -> bool:
    """Return False if a value is certainly not of a type."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in typing.get_args(hint))
    if origin is typing.Literal:
        return isinstance(value, str) and value in typing.get_args(hint)
    if hint is None:
        return value is None
    cls = origin or hint
    if cls is Any or not isinstance(cls, type):
        return cls is not Callable or callable(value)
    if cls in (int, float):
        number = Integral if cls is int else Real
        return isinstance(value, number) and not isinstance(value, bool)
    if getattr(cls, "_is_protocol", False) and not getattr(cls, "_is_runtime_protocol", False):
        return True
    if not isinstance(value, cls):
        return cls is os.PathLike and isinstance(value, str)
    parts: Any = value
    inner = typing.get_args(hint)
    if cls is tuple and inner and inner[-1] is not ...:
        return len(parts) == len(inner) and all(
            _fits(v, h) for v, h in zip(parts, inner, strict=True)
        )
    if issubclass(cls, Iterable) and not issubclass(cls, str | bytes | Mapping):
        if isinstance(value, str | bytes):
            return False
        if issubclass(cls, Collection) and inner:
            return all(_fits(one, inner[0]) for one in parts)
    return True


_KINDS: dict[Any, str] = {
    None: "None",
    types.NoneType: "None",
    bool: "True or False",
    bytes: "bytes",
    dict: "a mapping",
    float: "a number",
    int: "an integer",
    object: "an object",
    os.PathLike: "a path",
    str: "a text",
    Callable: "a function",
    Iterable: "a sequence",
    Mapping: "a mapping",
    Sequence: "a sequence",
    list: "a list",
    tuple: "a tuple",
    type: "a class",
}


def _kind(hint: Any) -> str:
    """Return what a value of a type is called in messages."""
    origin = typing.get_origin(hint)
    inner = typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        kinds = list(dict.fromkeys([_kind(one) for one in inner]))
        return ", ".join(kinds[:-1]) + f" or {kinds[-1]}" if len(kinds) > 1 else kinds[0]
    if origin is typing.Literal:
        return " or ".join([repr(one) for one in inner])
    cls = origin or hint
    found = _KINDS.get(cls)
    if found is None:
        name = str(getattr(cls, "__name__", cls))
        found = f"{'an' if name[0] in 'AEIOUaeiou' or name.startswith('Hlo') else 'a'} {name}"
    if cls in (type, Callable):
        return found
    each = [_kind(one) for one in inner if one is not ... and one is not Any]
    if not each:
        return found
    return f"{found} ({each[0]} each)" if len(each) == 1 else f"{found} ({', '.join(each)})"


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, str | bytes | list | tuple | dict):
        return f"the {type(value).__name__} {reprlib.repr(value)}"
    return f"an object of type {type(value).__name__}"
