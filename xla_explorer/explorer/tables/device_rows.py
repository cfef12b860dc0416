"""Rows of the tables about programs on several devices. Times are estimates of a cost model."""

from __future__ import annotations

from typing import NamedTuple


class CollectiveRow(NamedTuple):
    """A collective of the program of one device.

    trips: None in a loop of unknown length. predicted_us, exposed_us: of all executions in a step.
    """

    collective: str
    opcode: str
    sent_bytes: float
    axes: str
    devices: int
    link: str
    predicted_us: float
    exposed_us: float
    trips: int | None
    cause: str
    annotation: str
    line: str


class LinkRow(NamedTuple):
    """The links along an axis of the mesh, and the traffic of a step on them."""

    axes: str
    devices: int
    link: str
    gb_per_s: float
    step_us: float
    sent_bytes: float
    collectives: int
    exposed_us: float
    cited: str


class SlotRow(NamedTuple):
    """A kernel or collective in a simulated step."""

    lane: str
    name: str
    opcode: str
    start_us: float
    predicted_us: float
    exposed_us: float
    trips: int | None


class PropagationRow(NamedTuple):
    """An axis that a value took from another."""

    number: int
    value: str
    axes: str
    dimension: int
    source_value: str
    name: str
    rule: str
    factor: str
    level: int
    annotation: str


class PartitionWay(NamedTuple):
    """A way that the partitioner compared; `number` counts its decisions."""

    number: int
    name: str
    kind: str
    way: str
    chosen: bool
    sent_bytes: float
    peak_bytes: int
    flops: int
    reason: str
    line: str


class ValueSharding(NamedTuple):
    """A value of the global program with its sharding."""

    value: str
    sharding: str
    tiles: str
    shape: tuple[int, ...]
    local_shape: tuple[int, ...]
    local_bytes: int
    replicas: int
    annotation: str
