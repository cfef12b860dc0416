"""`xe.compare.signatures`: why the second call of a jitted function compiled again.

A compile depends on the structure of the arguments, and on the shape, element type, weakness and
committed device of each leaf. It does not depend on values, except those of static arguments.
Python numbers are weakly typed: they take the type of the other operand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.keywords import explains_arguments

_FREE: Final = "not committed"


class SignatureChange(NamedTuple):
    """A difference of two calls.

    place: of the leaf (`args[0]['w']`). what: `shape`, `element type`, `weak type`, `kind`,
    `value`, `structure`, `device`.
    """

    place: str
    what: str
    first: str
    second: str


class SignatureDifference(Report):
    """The differences of two calls.

    changes: SignatureChanges; empty if the second call needs no compile.
    """

    def __init__(self, changes: list[SignatureChange]) -> None:
        self.changes = changes

    def __bool__(self) -> bool:
        return bool(self.changes)

    def blocks(self) -> Blocks:
        """Yield a row per change: place, what, first, second."""
        if not self.changes:
            yield Sentence("the signatures are equal: no compile is needed")
        else:
            yield Table(SignatureChange._fields, self.changes)


@explains_arguments
def diff_signatures(
    first: Any, second: Any, static: tuple[int | str, ...] = ()
) -> SignatureDifference:
    """Return the differences of two calls that make JAX compile again.

    Parameters
    ----------
    first, second : tuple, dict or (tuple, dict)
        The arguments of the calls: a tuple of positional ones, a mapping of keyword ones, or
        (tuple, mapping).
    static : tuple of int or str
        Positions and names of static arguments, whose values are compared.

    Returns
    -------
    SignatureDifference
        A row per difference; empty if JAX would not compile again.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> print(xe.compare.signatures((np.zeros(3),), (np.zeros(4),)))
    place    what   first  second
    args[0]  shape  (3,)   (4,)
    """
    changes: list[SignatureChange] = []
    a, b = _arguments(first), _arguments(second)
    for place in dict.fromkeys([*a, *b]):
        if place not in a or place not in b:
            changes.append(_only_one(place, place in a))
        elif place.removeprefix("args[").removesuffix("]") in map(str, static) or place in static:
            if a[place] != b[place]:
                changes.append(
                    SignatureChange(place, "value", repr(a[place])[:80], repr(b[place])[:80])
                )
        else:
            changes += _compare(dict(_leaves(place, a[place])), dict(_leaves(place, b[place])))
    return SignatureDifference(changes)


def _arguments(call: Any) -> dict[str, Any]:
    if (
        isinstance(call, tuple)
        and len(call) == 2
        and isinstance(call[0], tuple)
        and isinstance(call[1], Mapping)
    ):
        positional, named = call
    elif isinstance(call, Mapping):
        positional, named = (), call
    else:
        positional, named = call if isinstance(call, tuple | list) else (call,), {}
    return {**{f"args[{k}]": value for k, value in enumerate(positional)}, **named}


def _leaves(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (place, leaf) of a tree; JAX's registry of containers is used if JAX is loaded."""
    jax = sys.modules.get("jax")
    if jax is not None:
        for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
            yield place + jax.tree_util.keystr(path), leaf
    elif isinstance(value, Mapping):
        for key in value:
            yield from _leaves(f"{place}[{key!r}]", value[key])
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from _leaves(f"{place}[{number}]", part)
    elif value is not None:
        yield place, value


def _compare(a: dict[str, Any], b: dict[str, Any]) -> list[SignatureChange]:
    changes = []
    for place in dict.fromkeys([*a, *b]):
        if place not in a or place not in b:
            changes.append(_only_one(place, place in a))
            continue
        left, right = _facts(a[place]), _facts(b[place])
        changes += [
            SignatureChange(place, what, left[what], right.get(what, "-"))
            for what in left
            if left[what] != right.get(what, "-")
        ]
    return changes


def _only_one(place: str, in_first: bool) -> SignatureChange:
    sides = ("present", "absent") if in_first else ("absent", "present")
    return SignatureChange(place, "structure", *sides)


def _facts(leaf: Any) -> dict[str, str]:
    if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
        return {
            "element type": type(leaf).__name__,
            "shape": "()",
            "weak type": "True",
            "device": _FREE,
        }
    return {
        "element type": str(leaf.dtype),
        "shape": str(tuple(leaf.shape)),
        "weak type": str(bool(getattr(leaf, "weak_type", False))),
        "device": _device(leaf),
    }


def _device(leaf: Any) -> str:
    """Return the device that a leaf is committed to.

    An array that is not committed moves to the others, as a numpy array does. Its sharding has no
    effect.
    """
    sharding = getattr(leaf, "sharding", None)
    committed = getattr(leaf, "committed", getattr(leaf, "_committed", sharding is not None))
    if sharding is None or not committed:
        return _FREE
    devices = sorted(getattr(sharding, "device_set", ()), key=lambda device: device.id)
    place = f"{devices[0].platform}:{devices[0].id}" if len(devices) == 1 else str(sharding)
    return f"committed to {place}"
