"""Results cached per object, for the object's lifetime."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
P = ParamSpec("P")
V = TypeVar("V")


def kept(make: Callable[Concatenate[K, P], V]) -> Callable[Concatenate[K, P], V]:
    """Cache a function's results by its first argument, weakly, and by its other arguments.

    A result must not refer to the object.
    """
    known: WeakKeyDictionary[K, dict[Hashable, V]] = WeakKeyDictionary()

    @wraps(make)
    def answer(about: K, /, *further: P.args, **named: P.kwargs) -> V:
        answers = known.setdefault(about, {})
        if (key := (*further, *named.items())) not in answers:
            answers[key] = make(about, *further, **named)
        return answers[key]

    return answer
