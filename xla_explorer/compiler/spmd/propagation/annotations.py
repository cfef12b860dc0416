"""Read the sharding annotations of a program: Shardy's frontend attributes or HLO shardings.

`Annotations` converts both to `ValueSharding` over one mesh. A new custom call of Shardy's round
trip needs a constant below. Source: xla/service/spmd/shardy/constants.h, sdy_round_trip/.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from xla_explorer.compiler.spmd.propagation.value_sharding import ValueSharding
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.manual_regions import meshes_of
from xla_explorer.hlo.attributes.axis_sharding import AxisSharding, smallest_mesh
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh, read_axis_parts
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

OUTPUT: Final = "xla.sdy.FuncResultSharding"
CONSTRAINT: Final = "Sharding"
BARRIER: Final = "xla.sdy.PropagationBarrier"
GROUP: Final = "xla.sdy.ShardingGroup"
INWARDS: Final = "xla.sdy.GlobalToLocalShape"  # entry of a manual computation
OUTWARDS: Final = "xla.sdy.LocalToGlobalShape"  # exit of a manual computation
_MESH = re.compile(r"sdy\.mesh @\S+ = (<\[[^\]>]*\](?:, device_ids=\[[^\]]*\])?>)")
_UNSPECIFIED = re.compile(r"unspecified_dims=\[([\d,\s]*)\]")


def frontend(i: HloInstruction, key: str) -> str:
    """Return the frontend attribute `xla.sdy.<key>` of an instruction; empty if there is none."""
    text = i.attributes.get("frontend_attributes")
    return frontend_attribute_values(text).get(f"xla.sdy.{key}", "") if text else ""


class Annotations:
    """Reader of the sharding annotations of one module, over one mesh.

    mesh: the first mesh that the module declares; without one, the smallest mesh that can express
    all tiled shardings. numbers: the device ids of mesh positions 0, 1, ..., if the shardings name
    other ids than these.
    """

    def __init__(self, module: HloModule) -> None:
        stated = {name: mesh for name, mesh in meshes_of(module).items() if mesh.axes}
        self.mesh_name = next(iter(stated), "mesh")
        self.numbers: tuple[int, ...] = ()
        self.mesh = stated.get(self.mesh_name) or self._mesh_of_tiles(module)
        self.meshes = stated

    def of_text(self, text: str, rank: int) -> list[ValueSharding | None]:
        """Return the shardings in the text of a Shardy attribute; None for another mesh or rank.

        rank: of the value, or -1 to accept any rank.
        """
        return [
            ValueSharding.read(one, self.mesh)
            if self._same_mesh(one)
            and len(one.dimensions) == (rank if rank >= 0 else len(one.dimensions))
            else None
            for one in AxisSharding.read_all(text)
        ]

    def of_instruction(self, i: HloInstruction, leaf: int, rank: int) -> ValueSharding | None:
        """Return the annotated sharding of a result; leaf: its index in a tuple."""
        text = frontend(i, "sharding")
        if text:
            found = self.of_text(text, -1)
            return found[leaf] if leaf < len(found) else None
        stated = i.attributes.get("sharding")
        if not isinstance(stated, str):
            return None
        parts = Sharding.read_all(stated)
        part = parts[leaf] if leaf < len(parts) else parts[0]
        return self.of_tiles(part, rank, _open_dimensions(i))

    def kind_of(self, i: HloInstruction, leaf: int) -> str:
        """Return "manual" if a result is annotated `{manual}`, else an empty text."""
        stated = i.attributes.get("sharding")
        if not isinstance(stated, str) or "{manual}" not in stated:
            return ""
        parts = Sharding.read_all(stated)
        part = parts[leaf] if leaf < len(parts) else parts[0]
        return "manual" if part.kind == "manual" else ""

    def of_tiles(
        self, sharding: Sharding, rank: int, opened: frozenset[int] = frozenset()
    ) -> ValueSharding | None:
        """Return an HLO sharding as mesh axes; None if the mesh cannot express it."""
        if sharding.kind in ("unknown", "manual", "maximal"):
            return None
        try:
            named = AxisSharding.of_tiles(self._numbered(sharding), self.mesh, rank)
        except ValueError:
            return None
        read = ValueSharding.read(named, self.mesh)
        closed = tuple([k not in opened for k in range(rank)])
        return ValueSharding(read.dimensions, closed, read.replicated, read.unreduced)

    def manual_axes(self, i: HloInstruction) -> frozenset[str]:
        """Return the manual axes of the call at the entry or exit of a manual computation."""
        return frozenset([part.name for part in read_axis_parts(frontend(i, "manual_axes"))])

    def _numbered(self, sharding: Sharding) -> Sharding:
        """Return a sharding with mesh positions for device ids; ValueError for an unknown id."""
        if not self.numbers:
            return sharding
        return replace(
            sharding, devices=tuple([self.numbers.index(one) for one in sharding.devices])
        )

    def _mesh_of_tiles(self, module: HloModule) -> Mesh:
        """Return a mesh that can express all tiled shardings of a module.

        It is the one of the text that the module was read from, else the smallest.
        """
        found: list[Sharding] = []
        for i in module.instructions():
            stated = i.attributes.get("sharding")
            if isinstance(stated, str):
                found += [one for one in Sharding.read_all(stated) if one.kind == "tiled"]
        written = _written_mesh(module)
        if written is not None and _expresses(written, found):
            return written
        named = sorted({device for one in found for device in one.devices})
        if named != list(range(len(named))):
            self.numbers = tuple(named)
        try:
            return smallest_mesh([self._numbered(one) for one in found])
        except ValueError:
            return Mesh(())

    def _same_mesh(self, one: AxisSharding) -> bool:
        mesh = self.meshes.get(one.mesh, self.mesh)
        used: list[AxisPart] = [part for axes in one.dimensions for part in axes]
        return mesh == self.mesh and all(part.name in dict(mesh.axes) for part in used)


def _written_mesh(module: HloModule) -> Mesh | None:
    """Return the only mesh of the StableHLO text that a module was read from, or None.

    HLO has no names of axes, so a module read from StableHLO has tiles alone.
    """
    text = module.source_text or ""
    if "sdy.mesh" not in text:
        return None
    meshes = [Mesh.read(found) for found in set(_MESH.findall(text))]
    named = [mesh for mesh in meshes if mesh.axes and not mesh.device_ids]
    return named[0] if len(named) == 1 else None


def _expresses(mesh: Mesh, shardings: Sequence[Sharding]) -> bool:
    try:
        for one in dict.fromkeys(shardings):
            AxisSharding.of_tiles(one, mesh, one.rank)
    except ValueError:
        return False
    return bool(shardings)


def _open_dimensions(i: HloInstruction) -> frozenset[int]:
    """Return the dimensions that a constraint leaves to propagation."""
    found = _UNSPECIFIED.search(str(i.attributes.get("backend_config", "")))
    if found is None or custom_call_target(i) != CONSTRAINT:
        return frozenset()
    return frozenset([int(n) for n in found.group(1).split(",") if n.strip()])
