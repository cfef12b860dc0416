"""Answers that are made once for what they are about, and go with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
V = TypeVar("V")


def kept(make: Callable[[K], V]) -> Callable[[K], V]:
    """`make`, whose answer about an object is kept as long as the object lives. The answer must not hold the object."""
    known: WeakKeyDictionary[K, V] = WeakKeyDictionary()

    @wraps(make)
    def answer(about: K) -> V:
        if about not in known:
            known[about] = make(about)
        return known[about]

    return answer
