"""Answers about propagated shardings: a row for each value, and why it is split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.tables import NOUNS
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes.sharding_error import argument_error

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.spmd.propagation.report import ShardingReport


class Sentences(list[str]):
    """A list of sentences, which a prompt shows one below the other."""

    def __repr__(self) -> str:
        return "\n".join(self)


def shardings_frame(report: ShardingReport) -> pandas.DataFrame:
    """Return a row for each value whose sharding is known: axes, tiles, parts and origins."""
    rows: list[dict[str, Any]] = [
        {
            "value": row.name,
            "sharding": str(row.sharding),
            "tiles": row.tiles,
            "shape": row.dimensions,
            "local_shape": row.local_dimensions,
            "local_bytes": row.local_bytes,
            "replicas": row.replicas,
            "annotation": ", ".join([f"{axis}: {origin}" for axis, origin in row.origins.items()]),
        }
        for row in report.rows
    ]
    frame = wide_frame(rows, NOUNS["sharding"].columns)
    if not rows:
        frame.attrs["note"] = "no value of the program states a sharding"
    return frame


def why_sharded(
    report: ShardingReport, name: str, dimension: int | None = None, axis: str | None = None
) -> list[str]:
    """Return why a value is split along its axes, or why it is not split along `axis`.

    ShardingError for an unknown value, axis or dimension; with near names.
    """
    wanted = name.lstrip("%")
    require_value(report, wanted)
    _require_place(report, wanted, dimension, axis)
    if axis is None:
        found = report.why(wanted, dimension)
        return Sentences(found or [f"%{wanted} is not split: every device has all of it"])
    found = report.why_not(wanted, axis)
    split = [one for one in report.why(wanted, dimension) if f" along {axis}" in one]
    none = f"no operation that reads or makes %{wanted} has {axis} there"
    return Sentences(split or found or [none])


def require_value(report: ShardingReport, name: str) -> None:
    """Raise ShardingError unless a value has a sharding, with near names."""
    names = [row.name for row in report.rows]
    if name not in names:
        near = nearest(name, names, 3)
        raise argument_error(
            "value",
            f"%{name}",
            "",
            f"no value %{name} has a sharding" + (f"; near: {', '.join(near)}" if near else ""),
            "session.devices.shardings lists the values with their shardings",
        )


def _require_place(
    report: ShardingReport, name: str, dimension: int | None, axis: str | None
) -> None:
    rank, axes = len(report.row(name).dimensions), dict(report.graph.mesh.axes)
    if dimension is not None and not 0 <= dimension < rank:
        raise argument_error("dimension", str(dimension), "", f"%{name} has rank {rank}",
                             f"dimensions: 0 to {rank - 1}")  # fmt: skip
    if axis is not None and axis.split(":")[0] not in axes:
        raise argument_error("axis", axis, "", f"the mesh has no axis {axis!r}",
                             f"axes: {', '.join(nearest(axis, list(axes), 2) or axes)}")  # fmt: skip
