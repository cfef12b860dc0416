"""Axes of annotations that propagation dropped, because a dimension does not divide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xla_explorer.compiler.spmd.explanation.mesh_groups import spec_text
from xla_explorer.compiler.spmd.propagation.annotations import Annotations
from xla_explorer.compiler.spmd.propagation.report import ShardingReport
from xla_explorer.compiler.spmd.propagation.value_sharding import ValueSharding
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@dataclass(frozen=True)
class DroppedAxis:
    """An argument whose annotation is not kept.

    Attributes
    ----------
    value : str
        The argument, with %.
    stated, kept : str
        The sharding of the annotation, and the one that the program has.
    dimension, size, devices : int
        The dimension, its elements, and the devices that they should be split over.
    extra_bytes : int
        What every device holds more.
    metadata : str or None
        Of the argument.
    line : int
        Of the HLO text.
    """

    value: str
    stated: str
    kept: str
    dimension: int
    size: int
    devices: int
    extra_bytes: int
    metadata: str | None
    line: int

    def __str__(self) -> str:
        return (
            f"{self.value} is annotated {self.stated}, but dimension {self.dimension} has"
            f" {self.size} elements for {self.devices} devices: it is kept as {self.kept}, and"
            f" every device holds {self.extra_bytes} bytes more; pad it to a multiple of"
            f" {self.devices}"
        )


def dropped_axes(module: HloModule, report: ShardingReport) -> list[DroppedAxis]:
    """Return the arguments of a program whose annotation does not divide."""
    annotations, found = Annotations(module), []
    for argument in report.graph.arguments:
        i = module.entry.parameters()[int(argument.instruction.payload)]
        stated = annotations.of_instruction(i, argument.leaf, len(argument.sizes))
        kept = argument.sharding
        if stated is not None and kept is not None and argument.sizes:
            name = repr(argument)
            found += list(_dropped(name, i, stated, kept, report))
    return found


def _dropped(
    name: str,
    i: HloInstruction,
    stated: ValueSharding,
    kept: ValueSharding,
    report: ShardingReport,
) -> Iterator[DroppedAxis]:
    sizes = next(shape for _, shape in i.shape.leaves()).dimensions
    counts = [_counts(one) for one in (stated, kept)]
    for k, (wanted, got) in enumerate(zip(*counts, strict=True)):
        if got < wanted:
            mesh, mesh_name = report.graph.mesh, report.graph.mesh_name
            before, after = [spec_text(one.named(mesh, mesh_name)) for one in (stated, kept)]
            whole = i.shape.byte_size // math.prod(counts[1])
            yield DroppedAxis(name, before, after, k, sizes[k], wanted, whole - whole * got // wanted,
                              i.metadata, i.line or 0)  # fmt: skip


def _counts(sharding: ValueSharding) -> list[int]:
    return [math.prod([axis.size for axis in axes]) for axes in sharding.dimensions]
