"""Boxes of a picture as layers of a model: forward and backward of a layer, and equal layers."""

from __future__ import annotations

import re
from typing import NamedTuple

BACKWARD = ", backward"
"""Suffix of the outermost box of a derivative."""
_FAMILY = re.compile(rf" × \d+(?:{BACKWARD})?\Z")


class Layer(NamedTuple):
    """A box as a layer of the model.

    box: its id. name: the same for forward and backward. is_family: holds equal layers.
    """

    box: str
    name: str
    is_backward: bool
    is_family: bool


def layers_of(path: tuple[str, ...]) -> tuple[Layer, ...]:
    """Return the boxes of a path as layers, from the outside in."""
    return tuple(
        [
            Layer(
                scope_key(path[: depth + 1]),
                name.removesuffix(BACKWARD),
                path[0].endswith(BACKWARD),
                _FAMILY.search(name) is not None,
            )
            for depth, name in enumerate(path)
        ]
    )


def scope_key(path: tuple[str, ...]) -> str:
    """Return the id of the box of a scope."""
    return "s:" + "/".join(path)
