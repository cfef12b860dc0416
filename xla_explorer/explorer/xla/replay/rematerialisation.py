"""XLA:GPU's `rematerialization`: instructions computed again to stay below the memory limit.

The instructions are visited in schedule order. At an instruction that exceeds the limit, the
earlier one that frees most, and has a later user, is computed again before that user. This repeats
until the limit holds. Sources: xla/hlo/transforms/simplifiers/hlo_rematerialization.cc (blocks of
one instruction, recomputation only, as XLA:GPU uses it); xla/service/gpu/gpu_hlo_schedule.cc (the
limit).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from xla_explorer.explorer.display.quantities import byte_count
from xla_explorer.explorer.sessions.compilation import Compilation, NotThereError
from xla_explorer.explorer.sessions.passes import RecordedPass
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

PASS: Final = "rematerialization"
TARGET: Final = "gpu_target_config"  # the report with the device's memory
RECOMPUTED, HELD = "recomputed", "held"
_MEMORY: Final = re.compile(r"device_memory_size:\s*(\d+)")
_ALIASED: Final = re.compile(r"\{[\d, ]*\}:\s*\((\d+)")
_CLONE: Final = re.compile(r"(?P<name>.+?)\.remat\d*(?:\.\d+)?\Z")
_OF_THE_DEVICE, _OF_THE_REST = 80, 95  # per cent that XLA:GPU plans with
_POINTER: Final = 8
_SEEN_THROUGH: Final = frozenset({"bitcast", "get-tuple-element"})
_ONCE: Final = frozenset({"call", "constant", "conditional", "custom-call", "parameter", "while"})

Index = tuple[int, ...]


class ReplayedRematerialisation(Replay):
    """Instructions computed again by XLA, and by our replay.

    Attributes
    ----------
    limit, peak : int
        Bytes that may be live at once in addition to arguments and results, and the peak without
        rematerialization.
    peak_after : int
        The peak after our replay.
    """

    def __init__(
        self, rows: list[ReplayRow], step: RecordedPass, limit: int, peak: int, peak_after: int
    ) -> None:
        super().__init__(
            "rematerialization",
            rows,
            step.name,
            step.number,
            "candidates for recomputation",
        )
        self.limit, self.peak, self.peak_after = limit, peak, peak_after

    def headline(self) -> str:
        """Return the peaks, the limit, and the agreement."""
        theirs, ours = (
            sum([row.xla == RECOMPUTED for row in self.rows]),
            sum([row.ours == RECOMPUTED for row in self.rows]),
        )
        return (
            f"{super().headline()}; peak {byte_count(self.peak)}, limit {byte_count(self.limit)}; "
            f"recomputed: {theirs} by XLA, {ours} by the replay, whose peak is "
            f"{byte_count(self.peak_after)}"
        )


class _Buffer(NamedTuple):
    """Memory that an instruction defines; `clone` counts its earlier recomputations."""

    owner: str
    part: Index
    clone: int = 0


class _Node:
    """An instruction in the schedule.

    defines: buffers and their bytes; reads: buffers of operands, directly or through others.
    """

    __slots__ = ("clone", "defines", "instruction", "name", "reads")

    def __init__(
        self,
        instruction: HloInstruction,
        name: str,
        defines: dict[_Buffer, int],
        reads: set[_Buffer],
        clone: int = 0,
    ) -> None:
        self.instruction, self.name, self.defines, self.reads, self.clone = (
            instruction,
            name,
            defines,
            reads,
            clone,
        )


class Recomputation(NamedTuple):
    """A recomputed instruction.

    at: the instruction that exceeded the limit. held: bytes live there. freed: bytes saved. reader:
    the user that needs the recomputed value.
    """

    name: str
    at: str
    held: int
    freed: int
    reader: str


class Walk:
    """The walk over a scheduled computation.

    recomputed: in the order of the walk. candidates: the most bytes that recomputing each candidate
    would have freed, by name.
    """

    def __init__(
        self, computation: HloComputation, limit: int, called: Mapping[HloComputation, int]
    ) -> None:
        self.recomputed: list[Recomputation] = []
        self.candidates: dict[str, int] = {}
        self._called, self._moved, self._denied = called, set[str](), set[str]()
        self._order = list(_nodes(computation))
        self._out = _values(computation)[computation.root]
        self._once = self._indirect()
        self.peak = max(self._held(), default=0)
        self._limit = limit
        place = 0
        while place < len(self._order):
            self._visit(place)
            place += 1
        self.peak_after = max(self._held(), default=0)

    def _indirect(self) -> set[_Buffer]:
        """Return buffers that are read through tuples and loops, and results: they stay live."""
        through = {
            b
            for node in self._order
            if node.instruction.opcode.name in ("tuple", "while")
            for b in node.reads
        }
        return through | set(self._out.values())

    def _last_readers(self) -> dict[_Buffer, int]:
        return {b: place for place, node in enumerate(self._order) for b in node.reads}

    def _held(self) -> list[int]:
        """Return the live bytes at each instruction, with those of called computations."""
        last = self._last_readers()
        change = [0] * (len(self._order) + 1)
        for place, node in enumerate(self._order):
            for b, size in node.defines.items():
                if b not in self._out.values():
                    change[place] += size
                    change[max(last.get(b, place), place) + 1] -= size
        found, now = [], 0
        for place, node in enumerate(self._order):
            now += change[place]
            found.append(now + sum([self._called.get(one, 0) for one in node.instruction.called]))
        return found

    def _visit(self, place: int) -> None:
        node = self._order[place]
        if not sum(node.defines.values()) and not any(
            self._called.get(one, 0) for one in node.instruction.called
        ):
            return
        while (held := self._held()[place]) > self._limit:
            found = self._best(place)
            if found is None:
                return
            self._recompute(place, *found, held)

    def _best(self, place: int) -> tuple[_Node, int] | None:
        """Return (the instruction whose recomputation costs least, bytes that it frees)."""
        last, now = self._last_readers(), self._order[place].reads
        sizes = {b: size for node in self._order for b, size in node.defines.items()}
        found: tuple[int, _Node, int] | None = None
        for before, node in enumerate(self._order[:place]):
            if (
                node.name in self._denied
                or not _may_be_repeated(node.instruction)
                or not node.defines.keys().isdisjoint(now | self._once)
            ):
                continue
            freed = sum([size for b, size in node.defines.items() if last.get(b, before) > place])
            freed -= sum([sizes.get(b, 0) for b in node.reads if last.get(b, -1) < place])
            if freed <= 0:
                continue
            if not node.clone:
                self.candidates[node.instruction.name] = max(
                    freed, self.candidates.get(node.instruction.name, 0)
                )
            read_already = any(
                not one.reads.isdisjoint(node.defines)
                for one in self._order[before + 1 : place + 1]
            )
            cost = self._limit // freed if read_already else 0
            if found is None or cost < found[0]:
                found = cost, node, freed
        return found[1:] if found is not None else None

    def _recompute(self, place: int, node: _Node, freed: int, held: int) -> None:
        clone = sum([one.instruction is node.instruction for one in self._order])
        renewed = {b: b._replace(clone=clone) for b in node.defines}
        again = _Node(
            node.instruction,
            f"{node.name}+",
            {renewed[b]: size for b, size in node.defines.items()},
            set(node.reads),
            clone,
        )
        ahead = self._order[place + 1 :]
        readers = [one for one in ahead if not one.reads.isdisjoint(renewed)]
        for one in readers:
            one.reads = {renewed.get(b, b) for b in one.reads}
        # Insert before the first use of the clone or its operands, so that no operand lives longer.
        waiting = [
            k
            for k, one in enumerate(ahead, place + 1)
            if one in readers or not one.reads.isdisjoint(node.reads)
        ]
        self._order.insert(waiting[0], again)
        if not any(not one.reads.isdisjoint(node.defines) for one in self._order):
            if node.name in self._moved:
                self._denied.add(again.name)
            self._moved.add(again.name)
        reader = next(
            (one for one in readers if one.instruction.opcode.name not in _SEEN_THROUGH), readers[0]
        )
        self.recomputed.append(
            Recomputation(
                node.instruction.name,
                self._order[place].instruction.name,
                held,
                freed,
                reader.instruction.name,
            )
        )


def replayed_rematerialisation(
    session: Compilation, step: RecordedPass
) -> ReplayedRematerialisation:
    """Return, for each candidate instruction, whether XLA computed it again.

    Raises
    ------
    NotThereError
        The dump lacks the size of the device's memory.
    """
    stages, before = session.stages(), step.before
    memory = _MEMORY.search(stages[TARGET].text) if TARGET in stages else None
    if memory is None:
        raise NotThereError(
            "XLA's dump does not say how much memory the device has",
            f"keep the file *.{TARGET}.pbtxt of the dump",
        )
    limit = _limit(before, int(memory[1]))
    called: dict[HloComputation, int] = {}
    for computation in sequential_computations(before):
        if computation is not before.entry:
            called[computation] = Walk(computation, 1 << 62, called).peak
    walk = Walk(before.entry, limit, called)
    theirs = Counter(
        [
            found["name"]
            for i in step.module.instructions()
            if (found := _CLONE.match(i.name)) is not None
        ]
    )
    chosen = {one.name: one for one in reversed(walk.recomputed)}
    rows = []
    for i in before.entry.instructions.values():
        if i.name in chosen or i.name in theirs or i.name in walk.candidates:
            here, there = (
                RECOMPUTED if i.name in chosen else HELD,
                RECOMPUTED if i.name in theirs else HELD,
            )
            rows.append(ReplayRow(i.name, "", here, there, here == there, "", _why(i, chosen.get(i.name), walk, limit), i.shape.byte_size,
                                  (i.id,)))  # fmt: skip
    return ReplayedRematerialisation(rows, step, limit, walk.peak, walk.peak_after)


def _why(i: HloInstruction, found: Recomputation | None, walk: Walk, limit: int) -> str:
    if found is not None:
        return (
            f"{byte_count(found.held)} are live at %{found.at}, the limit is "
            f"{byte_count(limit)}: %{i.name} is recomputed "
            f"before %{found.reader}, which frees {byte_count(found.freed)} until then"
        )
    if i.name in walk.candidates:
        return (
            f"%{i.name} is not recomputed: others rank first; it would have freed "
            f"{byte_count(walk.candidates[i.name])} at most"
        )
    return f"%{i.name} is not recomputed: its recomputation would free nothing"


def _limit(module: HloModule, memory: int) -> int:
    """Return the bytes that may be live in addition to arguments and results."""
    entry = module.entry
    passed = sum([_whole_size(i.shape) for i in entry.parameters()]) + _whole_size(entry.root.shape)
    donated = set(map(int, _ALIASED.findall(str(module.attributes.get("input_output_alias", "")))))
    passed -= sum(
        [_whole_size(i.shape) for i in entry.parameters() if i.parameter_number in donated]
    )
    return (memory * _OF_THE_DEVICE // 100 - passed) * _OF_THE_REST // 100


def _whole_size(shape: Shape) -> int:
    """Return the bytes of a value with its tables of pointers."""
    return sum([_own_size(part) for _, part in _parts(shape)])


def _own_size(shape: Shape) -> int:
    return _POINTER * len(shape.tuple_shapes) if shape.is_tuple else shape.byte_size


def _parts(shape: Shape, index: Index = ()) -> Iterator[tuple[Index, Shape]]:
    """Yield every part of a value, tuples included."""
    yield index, shape
    if shape.is_tuple:
        for number, one in enumerate(shape.tuple_shapes):
            yield from _parts(one, (*index, number))


def _values(computation: HloComputation) -> dict[HloInstruction, dict[Index, _Buffer]]:
    """Return the buffer of each part of each value."""
    found: dict[HloInstruction, dict[Index, _Buffer]] = {}
    for i in computation.sequence():
        own = {index: _Buffer(i.name, index) for index, _ in _parts(i.shape)}
        if i.opcode.name == "bitcast" or i.opcode.name == "while":
            own = found[i.operands[0]]
        elif i.opcode.name == "get-tuple-element":
            number = i.attribute("index")
            own = {
                index[1:]: b for index, b in found[i.operands[0]].items() if index[:1] == (number,)
            }
        elif i.opcode.name == "tuple":
            own = {(): own[()]} | {
                (k, *index): b for k, o in enumerate(i.operands) for index, b in found[o].items()
            }
        found[i] = own
    return found


def _nodes(computation: HloComputation) -> Iterator[_Node]:
    values = _values(computation)
    for i in computation.sequence():
        sizes = {index: _own_size(part) for index, part in _parts(i.shape)}
        defines = {
            b: 0 if i.opcode.name == "parameter" else sizes[index]
            for index, b in values[i].items()
            if b.owner == i.name
        }
        if i.opcode.name == "get-tuple-element":
            reads = {values[i.operands[0]][()]}
        else:
            reads = {b for operand in i.operands for b in values[operand].values()}
        yield _Node(i, i.name, defines, reads)


def _may_be_repeated(i: HloInstruction) -> bool:
    if i.opcode.name in _ONCE or i.opcode.side_effect or i.opcode.name in _SEEN_THROUGH:
        return False
    return i.opcode.name != "copy" or i.shape != i.operands[0].shape
