"""Shardings: HLO's own text if the program has it, else translated from Shardy's axes.

Source: xla_data.proto OpSharding, its V2 text `{devices=[2,1]<=[2]}`; the Shardy dialect
(`#sdy.sharding<@mesh, [{"x"}, {}]>`).
"""

from __future__ import annotations

from typing import Any

from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.mesh import Mesh


def sharding_text(meshes: dict[str, str], text: str) -> str | None:
    """Return HLO's text of one Shardy sharding; None if it is empty or its axes are unknown."""
    given = AxisSharding.read_all(text)
    if not given or given[0].mesh not in meshes:
        return None
    mesh = Mesh.read(meshes[given[0].mesh])
    if not mesh.axes:
        return f"{{maximal device={mesh.device_ids[0]}}}" if mesh.device_ids else None
    try:
        return str(given[0].tiles(mesh))
    except KeyError:
        return None


def sharding_of_value(meshes: dict[str, str], given: dict[str, Any]) -> str | None:
    """Return the sharding of an argument or result of a function, from its attributes."""
    own = given.get("mhlo.sharding")
    if isinstance(own, str) and own:
        return own
    shardy = getattr(given.get("sdy.sharding"), "text", None)
    return sharding_text(meshes, shardy) if shardy is not None else None


def sharding_of_results(meshes: dict[str, str], given: dict[str, Any]) -> str | None:
    """Return the sharding of an operation: of its result, or of a tuple of results."""
    found = sharding_of_value(meshes, given)
    text = getattr(given.get("sdy.sharding"), "text", "")
    if found is None or "sharding_per_value" not in text:
        return found
    parts = [sharding_text(meshes, str(one)) for one in AxisSharding.read_all(text)]
    if len(parts) == 1:
        return parts[0]
    return "{" + ", ".join([part or "{replicated}" for part in parts]) + "}"
