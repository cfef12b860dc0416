"""Shardings: HLO's own text where the program carries it, Shardy's axes translated where it carries those.

Source: xla_data.proto OpSharding, its V2 text `{devices=[2,1]<=[2]}`; the Shardy dialect (`#sdy.sharding<@mesh, [{"x"}, {}]>`).
"""

from __future__ import annotations

import math
import re
from typing import Any

_AXIS = re.compile(r'"([^"]+)"\s*=\s*(\d+)')
_VALUE = re.compile(r'<@([\w$.\-]+|"[^"]*")\s*,\s*\[((?:[^\[\]]|\[[^\]]*\])*)\]')
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_QUOTED = re.compile(r'"([^"]+)"(:\(\d+\)\d+)?')


def mesh_axes(text: str) -> dict[str, int]:
    """Axes and sizes of `<["x"=2, "y"=4]>`."""
    return {name: int(size) for name, size in _AXIS.findall(text)}


def sharding_text(meshes: dict[str, str], text: str) -> str | None:
    """HLO's text of one Shardy sharding; None where it says nothing or HLO cannot say it (parts of axes)."""
    found = _VALUE.search(text)
    if found is None or found.group(1).strip('"') not in meshes:
        return None
    axes = mesh_axes(meshes[found.group(1).strip('"')])
    if not axes:
        return None
    names = list(axes)
    tiles, used = [], []
    for dimension in _DIMENSION.findall(found.group(2)):
        chosen = _QUOTED.findall(dimension)
        if any(part for _, part in chosen) or any(name not in axes for name, _ in chosen):
            return None
        tiles.append(math.prod([axes[name] for name, _ in chosen]))
        used += [name for name, _ in chosen]
    if not used:
        return "{replicated}"
    rest = [name for name in names if name not in used]
    over = math.prod([axes[name] for name in rest])
    sizes = [*tiles, over] if over > 1 else tiles
    order = [names.index(name) for name in [*used, *rest]]
    count = math.prod(axes.values())
    devices = f"[{count}]" if order == sorted(order) else f"[{','.join(map(str, axes.values()))}]T({','.join(map(str, order))})"
    return f"{{devices=[{','.join(map(str, sizes))}]<={devices}{' last_tile_dim_replicate' if over > 1 else ''}}}"


def sharding_of_value(meshes: dict[str, str], given: dict[str, Any]) -> str | None:
    """The sharding of an argument or result of a function, from its attributes."""
    own = given.get("mhlo.sharding")
    if isinstance(own, str):
        return own
    shardy = getattr(given.get("sdy.sharding"), "text", None)
    return sharding_text(meshes, shardy) if shardy is not None else None


def sharding_of_results(meshes: dict[str, str], given: dict[str, Any]) -> str | None:
    """The sharding of an operation: of its result, or a tuple of them."""
    found = sharding_of_value(meshes, given)
    text = getattr(given.get("sdy.sharding"), "text", "")
    if found is None or "sharding_per_value" not in text:
        return found
    parts = [sharding_text(meshes, m.group()) for m in _VALUE.finditer(text)]
    if len(parts) == 1:
        return parts[0]
    return "{" + ", ".join([part or "{replicated}" for part in parts]) + "}"
