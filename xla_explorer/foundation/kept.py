"""Answers that are made once for what they are about, and go with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
P = ParamSpec("P")
V = TypeVar("V")


def kept(make: Callable[Concatenate[K, P], V]) -> Callable[Concatenate[K, P], V]:
    """`make`, whose answers about an object, one for other arguments each, are kept as long as the object lives, which none may hold."""
    known: WeakKeyDictionary[K, dict[Hashable, V]] = WeakKeyDictionary()

    @wraps(make)
    def answer(about: K, /, *further: P.args, **named: P.kwargs) -> V:
        answers = known.setdefault(about, {})
        if (key := (*further, *named.items())) not in answers:
            answers[key] = make(about, *further, **named)
        return answers[key]

    return answer
