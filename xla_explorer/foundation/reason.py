"""`Reason`, the value of every refusal, and `Check`, one condition of a checklist.

A predicate is a small pure function that returns None (it holds) or a Reason. Rule guards, fusion
legality, buffer sharing, supported instructions of a backend and verifier constraints are tuples of
predicates. A predicate is named by its condition (`layouts_agree`), so that a checklist has no
double negatives.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from xla_explorer.foundation.visible_text import cleaned_text


class Reason:
    """The reason of a refusal, or of some accepted decisions.

    Parameters
    ----------
    code
        Stable kebab-case, for tests and filters.
    message
        One sentence with names and numbers in it.
    facts
        The same numbers typed.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> reason = xe.Reason("too-many-operands", "%fusion has 70 operands, limit 64", {"limit": 64})
    >>> reason.code, reason.facts["limit"]
    ('too-many-operands', 64)
    """

    __slots__ = ("code", "facts", "message")

    def __init__(self, code: str, message: str, facts: dict[str, Any] | None = None) -> None:
        self.code = code
        self.message = message
        self.facts = facts if facts is not None else {}

    def __repr__(self) -> str:
        return cleaned_text(f"Reason({self.code}: {self.message})")

    def __str__(self) -> str:
        return cleaned_text(f"{self.code}: {self.message}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reason) and (self.code, self.message, self.facts) == (
            other.code,
            other.message,
            other.facts,
        )

    def __hash__(self) -> int:
        return hash((self.code, self.message))

    def to_json(self) -> dict[str, Any]:
        """Return the reason as plain data: code, message, facts."""
        return {"code": self.code, "message": self.message, "facts": self.facts}


def refuse(code: str, message: str, **facts: Any) -> Reason:
    """Build a Reason with its facts as keywords."""
    return Reason(code, message, facts)


Predicate = Callable[..., "Reason | None"]
_Predicate = TypeVar("_Predicate", bound=Predicate)


class Check(NamedTuple):
    """Result of one predicate on a candidate.

    Attributes
    ----------
    name : str
        The condition, in kebab-case: `layouts-agree`.
    ok : bool or None
        True if it holds; None if it was not evaluated.
    value : str
        The measurement, whether it holds or not: `operands 3 <= 64`.
    message : str
        The sentence of the refusal, empty if it holds.
    code : str
        The code of the refusal, empty if it holds.
    place : str
        `folder/file.py:line` of the predicate.
    """

    name: str
    ok: bool | None
    value: str = ""
    message: str = ""
    code: str = ""
    place: str = ""


def value_formatter(formatter: Callable[..., str]) -> Callable[[_Predicate], _Predicate]:
    """Decorate a predicate with a formatter of its measurement, from the same arguments."""

    def attach(predicate: _Predicate) -> _Predicate:
        predicate.__dict__["measured"] = formatter
        return predicate

    return attach


def named(name: str, predicate: Predicate) -> Predicate:
    """Name a predicate in kebab-case, for one that is created at its use."""

    @functools.wraps(predicate)
    def renamed(*subjects: Any) -> Reason | None:
        return predicate(*subjects)

    renamed.__dict__["holds"] = name
    return renamed


def settled(name: str, reason: Reason | None, formatter: Callable[[], str]) -> Predicate:
    """Return a named predicate with a known result. formatter: of the measured value."""
    caller = sys._getframe(1)

    def known(*subjects: Any) -> Reason | None:
        return reason

    known.__dict__.update(
        holds=name,
        measured=lambda *subjects: formatter(),
        place=(caller.f_code.co_filename, caller.f_lineno),
    )
    return known


def first_refusal(predicates: Iterable[Predicate], *subjects: Any) -> Reason | None:
    """Return the first refusal, else None; all predicates take the same subjects."""
    for predicate in predicates:
        reason = predicate(*subjects)
        if reason is not None:
            return reason
    return None


def checklist(predicates: Iterable[Predicate], *subjects: Any) -> tuple[Check, ...]:
    """Return the result of every predicate, for views of a policy as a list.

    A predicate that depends on an earlier, refused one and cannot be evaluated has `ok` None.
    """
    found: list[Check] = []
    for predicate in predicates:
        given = _attributes(predicate)
        name, place = check_name(predicate), place_of(predicate)
        try:
            reason = predicate(*subjects)
            value = given["measured"](*_bound(predicate), *subjects) if "measured" in given else ""
        except Exception:
            if all(check.ok for check in found):
                raise
            found.append(Check(name, None, place=place))
            continue
        message, code = (reason.message, reason.code) if reason is not None else ("", "")
        found.append(Check(name, reason is None, value, message, code, place))
    return tuple(found)


def check_name(predicate: Any) -> str:
    """Return the condition in kebab-case: the given name, or the function's."""
    return str(
        _attributes(predicate).get("holds")
        or _function(predicate).__name__.strip("_<>").replace("_", "-")
    )


def _function(predicate: Any) -> Any:
    while isinstance(predicate, functools.partial):
        predicate = predicate.func
    return getattr(predicate, "__func__", predicate)


def _bound(predicate: Any) -> tuple[Any, ...]:
    """Return the arguments that a partial or a method already binds."""
    if isinstance(predicate, functools.partial):
        return (*_bound(predicate.func), *predicate.args)
    return (predicate.__self__,) if inspect.ismethod(predicate) else ()


def _attributes(predicate: Any) -> dict[str, Any]:
    return getattr(_function(predicate), "__dict__", {})


def place_of(predicate: Any) -> str:
    """Return `folder/file.py:line` of the code of a predicate, or of any function."""
    function = inspect.unwrap(_function(predicate))
    code = getattr(function, "__code__", None)
    file, line = (
        _attributes(function).get("place") or (code.co_filename, code.co_firstlineno)
        if code is not None
        else ("", 0)
    )
    path = Path(file)
    return f"{path.parent.name}/{path.name}:{line}" if file else ""
