"""Traffic of collectives: their groups of devices and the bytes that one device sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

COLLECTIVES: Final = frozenset(
    [
        "all-gather",
        "all-reduce",
        "all-to-all",
        "collective-broadcast",
        "collective-permute",
        "ragged-all-to-all",
        "reduce-scatter",
    ]
)
_GLOBAL_IDS: Final = frozenset(["all-gather", "all-reduce", "reduce-scatter"])


class CollectiveTraffic(NamedTuple):
    """The traffic of one execution of a collective.

    Attributes
    ----------
    kind : str
        The opcode, without `-start`.
    groups : tuple of tuple of int
        The devices that take part together; of a permute, those that its pairs connect.
    n : int
        Devices of the largest group.
    size : float
        Bytes B of the whole array; of an all-to-all or a permute, those of one device.
    sent : float
        Bytes that one device sends, by rings.
    pairs : tuple of (int, int)
        Of a permute, source and target devices.
    """

    kind: str
    groups: tuple[tuple[int, ...], ...]
    n: int
    size: float
    sent: float
    pairs: tuple[tuple[int, int], ...] = ()


def collective_of(i: HloInstruction) -> HloInstruction:
    """Return the instruction that an `async-start` wraps; others stand for themselves."""
    return i.called[0].root if i.opcode.name == "async-start" else i


def collective_kind(i: HloInstruction) -> str:
    """Return the opcode of a collective without `-start`; empty for other instructions."""
    name = collective_of(i).opcode.name.removesuffix("-start")
    return name if name in COLLECTIVES else ""


def collectives_of(computation: HloComputation) -> Iterator[HloInstruction]:
    """Yield the collectives of a computation in program order."""
    for i in computation.post_order():
        if collective_kind(i):
            yield i


def traffic_of(i: HloInstruction, devices: int) -> CollectiveTraffic | None:
    """Return the traffic of a collective of a program for a number of devices; None for others.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''HloModule m, num_partitions=4
    ... ENTRY e { x = f32[2] parameter(0)
    ...   ROOT g = f32[8] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={0} }'''
    >>> traffic_of(xe.parse_hlo(text).entry.root, 4).sent
    24.0
    """
    kind = collective_kind(i)
    if not kind:
        return None
    i = collective_of(i)
    size = float(_result(i, kind).byte_size)
    if kind == "collective-permute":
        pairs = tuple(i.attributes.value("source_target_pairs"))
        return CollectiveTraffic(kind, _connected(pairs), 2, size, size, pairs)
    groups = _groups(i, kind, devices)
    n = max(map(len, groups))
    if kind == "all-reduce":
        return CollectiveTraffic(kind, groups, n, size, 2 * size * (n - 1) / n)
    if kind == "reduce-scatter":
        return CollectiveTraffic(kind, groups, n, size * n, size * (n - 1))
    return CollectiveTraffic(kind, groups, n, size, size * (n - 1) / n)


def _result(i: HloInstruction, kind: str) -> Shape:
    """Return the shape of the result; that of a start is an element of its tuple."""
    if i.opcode.name.endswith("-start") and kind != "all-reduce" and i.shape.is_tuple:
        return i.shape.tuple_shapes[1]
    return i.shape


def _groups(i: HloInstruction, kind: str, devices: int) -> tuple[tuple[int, ...], ...]:
    everyone = (tuple(range(devices)),)
    found = i.attributes.value("replica_groups")
    if found is None or not any(found.groups):
        return everyone
    is_global = i.attributes.get("use_global_device_ids", False)
    if kind in _GLOBAL_IDS and i.attributes.get("channel_id") and not is_global:
        return everyone  # the groups number replicas; each stands for all its partitions
    groups: tuple[tuple[int, ...], ...] = tuple([tuple(group) for group in found.groups if group])
    return groups


def _connected(pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    """Return the groups of devices that pairs connect."""
    group: dict[int, set[int]] = {}
    for source, target in pairs:
        joined = group.get(source, {source}) | group.get(target, {target})
        for device in joined:
            group[device] = joined
    return tuple(sorted({tuple(sorted(one)) for one in group.values()}))
