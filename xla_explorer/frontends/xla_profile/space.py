"""XSpace: profiles (`*.xplane.pb`) of JAX, TensorFlow and PyTorch/XLA as planes, lines, events.

A plane is a device or the host, a line a thread or a stream. A plane's tables hold each name once.
Times are picoseconds from the start of their line. Source: tsl/profiler/protobuf/xplane.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from xla_explorer.frontends.protobuf import Message, MessageType, ProtoError

SPACE: Final = MessageType("XSpace", planes=1, errors=2, warnings=3, hostnames=4)
PLANE: Final = MessageType(
    "XPlane", id=1, name=2, lines=3, event_metadata=4, stat_metadata=5, stats=6
)
LINE: Final = MessageType(
    "XLine", id=1, name=2, timestamp_ns=3, events=4, duration_ps=9, display_id=10, display_name=11
)
EVENT: Final = MessageType(
    "XEvent", metadata_id=1, offset_ps=2, num_occurrences=5, duration_ps=3, stats=4
)
STAT: Final = MessageType(
    "XStat",
    metadata_id=1,
    double_value=2,
    uint64_value=3,
    int64_value=4,
    str_value=5,
    bytes_value=6,
    ref_value=7,
)
EVENT_METADATA: Final = MessageType(
    "XEventMetadata", id=1, name=2, metadata=3, display_name=4, stats=5, child_id=6
)
STAT_METADATA: Final = MessageType("XStatMetadata", id=1, name=2, description=3)
ENTRY: Final = MessageType("MapEntry", key=1, value=2)

Stats = Mapping[str, Any]
_NUMBER_OF_STAT: Final = 0x08  # the key of XStat.metadata_id
_LINKS: Final = frozenset({"_c", "_ct", "_p", "_pt"})
_MOST_KEPT: Final = 1 << 14  # statistics of a plane that are kept decoded


class EventKind(NamedTuple):
    """Name and statistics that events share. display_name: the short name, if there are two."""

    name: str
    display_name: str
    stats: Stats


class Event(NamedTuple):
    """An interval of time.

    start_ps: since 1970, or since the profiler's start. stats: its own, without those of its kind.
    """

    kind: EventKind
    start_ps: int
    duration_ps: int
    stats: Stats

    def stat(self, name: str) -> Any:
        """Return a statistic of the event or of its kind; None if neither has it."""
        found = self.stats.get(name)
        return self.kind.stats.get(name) if found is None else found


_NO_KIND: Final = EventKind("", "", {})


class Line:
    """A thread or a stream. Events are decoded on each access."""

    def __init__(self, message: Message, plane: Plane) -> None:
        self._message, self._plane = message, plane
        self.name = message.text("display_name") or message.text("name")
        self.start_ps = message.number("timestamp_ns") * 1000

    def __repr__(self) -> str:
        return f"<Line {self.name}>"

    def events(self) -> Iterator[Event]:
        """Yield the events that have a place in time.

        Mere counts (`num_occurrences`) are left out.
        """
        kinds, stats_of = self._plane.kinds, self._plane.stats_of
        for message in self._message.messages("events", EVENT):
            if not message.has("num_occurrences"):
                start = self.start_ps + message.number("offset_ps")
                yield Event(
                    kinds.get(message.number("metadata_id"), _NO_KIND),
                    start,
                    message.number("duration_ps"),
                    stats_of(message),
                )


class Plane:
    """A device, the host, or a table of programs (`/host:metadata`)."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self.name = message.text("name")
        # Thousands of events have equal statistics of instruction, module and run.
        self._stats_read: dict[bytes, tuple[str, Any]] = {}

    def __repr__(self) -> str:
        return f"<Plane {self.name}>"

    @cached_property
    def _stat_names(self) -> dict[int, str]:
        return {
            number: value.text("name")
            for number, value in self._table("stat_metadata", STAT_METADATA)
        }

    @cached_property
    def _links(self) -> frozenset[bytes]:
        """First bytes of statistics that link producers and consumers on the host.

        They are half of a profile, and nothing here reads them.
        """
        numbers = [
            number
            for number, name in self._stat_names.items()
            if name in _LINKS and 0 <= number < 0x80
        ]
        return frozenset([bytes((_NUMBER_OF_STAT, number)) for number in numbers])

    @cached_property
    def kinds(self) -> dict[int, EventKind]:
        """The kinds of events by their numbers."""
        return {
            number: EventKind(value.text("name"), value.text("display_name"), self.stats_of(value))
            for number, value in self._table("event_metadata", EVENT_METADATA)
        }

    def _table(self, field: str, kind: MessageType) -> Iterator[tuple[int, Message]]:
        for entry in self._message.messages(field, ENTRY):
            value = entry.message("value", kind)
            if value is not None:
                yield entry.number("key"), value

    def stats_of(self, holder: Message) -> Stats:
        """Return the statistics of an event, of its kind or of a plane, by name.

        Numbers that link events of the host are left out.
        """
        found: dict[str, Any] = {}
        known, links = self._stats_read, self._links
        for span in holder.spans("stats"):
            raw = bytes(span)
            if raw[:2] in links:
                continue
            if raw not in known:
                stat = Message(STAT, raw)
                entry = self._stat_names.get(stat.number("metadata_id"), ""), self._value(stat)
                if len(known) == _MOST_KEPT:
                    known.clear()
                known[raw] = entry
            name, value = known[raw]
            found[name] = value
        return found

    def _value(self, stat: Message) -> Any:
        if stat.has("int64_value"):
            return stat.number("int64_value")
        if stat.has("ref_value"):
            return self._stat_names.get(stat.number("ref_value"), "")
        if stat.has("str_value"):
            return stat.text("str_value")
        if stat.has("uint64_value"):
            return stat.unsigned("uint64_value")
        return stat.real("double_value") if stat.has("double_value") else stat.data("bytes_value")

    @property
    def stats(self) -> Stats:
        """The statistics of the plane: clock rates, versions ..."""
        return self.stats_of(self._message)

    def lines(self) -> list[Line]:
        """Return the threads or streams."""
        return [Line(message, self) for message in self._message.messages("lines", LINE)]


class Space(NamedTuple):
    """A whole profile. errors, warnings: messages of the profiler."""

    planes: tuple[Plane, ...]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    hosts: tuple[str, ...]


def read_space(data: bytes, filename: str = "the profile") -> Space:
    """Read an XSpace.

    Parameters
    ----------
    data
        The bytes of an `*.xplane.pb` file.
    filename
        For messages.

    Returns
    -------
    Space
        The planes; their events are decoded on access.

    Raises
    ------
    ProtoError
        The bytes are not an XSpace, or are cut off.
    """
    try:
        message = Message(SPACE, data)
        planes = tuple([Plane(one) for one in message.messages("planes", PLANE)])
    except ProtoError as problem:
        raise ProtoError(
            f"{filename} is not a profile (XSpace): {problem.message}", problem.hint
        ) from None
    if not planes:
        raise ProtoError(
            f"{filename} holds no plane", "an *.xplane.pb file of jax.profiler.trace is read"
        )
    return Space(
        planes,
        tuple(message.texts("errors")),
        tuple(message.texts("warnings")),
        tuple(message.texts("hostnames")),
    )
