"""The shardings that a module's instructions carry, as tilings over the module's devices."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.spmd.partitioning.device_axes import DeviceAxes, Tiling
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

# The tiling of an array, or of each element of a tuple.
TilingTree = Tiling | list["TilingTree"]


def sharding_texts(module: HloModule) -> Iterator[tuple[HloInstruction, str]]:
    """Yield each instruction with a sharding, and the text of it."""
    for i in module.instructions():
        text = i.attributes.get("sharding")
        if text is not None:
            yield i, text


class Annotations:
    """The annotated shardings of instructions.

    given: tilings that replace annotations, for parameters of called computations.
    """

    def __init__(self, axes: DeviceAxes) -> None:
        self.axes = axes
        self.given: dict[HloInstruction, TilingTree] = {}

    def has(self, i: HloInstruction) -> bool:
        """Return True if the instruction carries a sharding."""
        return i in self.given or "sharding" in i.attributes

    def of(self, i: HloInstruction) -> TilingTree:
        """Return the tilings of an instruction; arrays without a sharding are whole."""
        if i in self.given:
            return self.given[i]
        text = i.attributes.get("sharding")
        found = Sharding.read_all(text) if text else []
        return self._tree(i.shape, iter(found), found[0] if len(found) == 1 else None)

    def exact(self, i: HloInstruction) -> list[Sharding | None]:
        """Return, for each leaf, the sharding that no axes describe, or None."""
        text = i.attributes.get("sharding")
        found = Sharding.read_all(text) if text else []
        shapes = [leaf for _, leaf in i.shape.leaves()]
        given: list[Sharding | None] = [*found]
        if len(given) != len(shapes):
            given = given * len(shapes) if len(given) == 1 else [None] * len(shapes)
        return [
            None if s is None or self.axes.tiling(s, shape.rank)[1] else s
            for s, shape in zip(given, shapes, strict=True)
        ]

    def _tree(
        self, shape: Shape, shardings: Iterator[Sharding], one: Sharding | None
    ) -> TilingTree:
        if shape.is_tuple:
            return [self._tree(part, shardings, one) for part in shape.tuple_shapes]
        sharding = next(shardings, one)
        if sharding is None or not shape.is_array or (one is not None and not shape.rank):
            return self.axes.unsplit(shape.rank)
        return self.axes.tiling(sharding, shape.rank)[0]
