"""The ways of values through the memory of the host, and the edits along them.

Source: xla/hlo/transforms/host_offloader.cc (WalkDownHostMemoryOffloadPaths).
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import scalar_constant
from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.compiler.transforms.host_offload.entry_layout import entry_layout
from xla_explorer.compiler.transforms.host_offload.places import (
    ALLOCATE,
    HOST,
    MOVE_TO_DEVICE,
    MOVE_TO_HOST,
    Place,
    is_call_of,
    is_reshaping,
    moves_only,
    predecessors,
    set_space,
    successors,
    with_space,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.call_graph import call_sites
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import array_shape

_HOST_COMPUTE = '_xla_compute_type="host"'


def ends_way(slice_: HloInstruction) -> bool:
    """Return True if every reader of a slice moves it to the device."""
    work = successors(Place(slice_))
    while work:
        place = work.pop(0)
        if is_call_of(place.instruction, MOVE_TO_DEVICE):
            continue
        if not is_reshaping(place.instruction):
            return False
        work += successors(place)
    return True


class _Way:
    """The edits of one way from `start`."""

    def __init__(self, start: Place) -> None:
        self.start = start
        self.seen = {start}
        self.hosts: list[Place] = []
        self.updates: list[HloInstruction] = []
        self.ends: list[HloInstruction] = []
        self.annotations: list[HloInstruction] = []
        self.slices: list[HloInstruction] = []


class HostPaths:
    """The edits of one module. removed: annotations that are gone."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.removed: set[HloInstruction] = set()
        self._result = entry_layout(module).result
        self._allocated: set[HloInstruction] = set()
        self._copies: dict[HloInstruction, HloInstruction] = {}
        self._copied: set[Place] = set()
        self._back: set[HloInstruction] = set()

    def walk(self, start: Place, *, copy_before: bool) -> bool:
        """Place a value on the host from `start` to its ends; return True if anything changed."""
        way = _Way(start)
        work = [start]
        while work:
            place = work.pop(0)
            if self._visit(place, way, copy_before):
                new = [p for p in successors(place) if p not in way.seen]
                way.seen.update(new)
                work += new
        changed = False
        for place in way.hosts:
            changed |= set_space(place, HOST)
        for update in way.updates:
            self._allocate(update)
        if copy_before:
            changed |= self._copy_before(start)
        self._finish(way.ends, way.annotations, way.slices)
        return changed or bool(way.updates or way.ends or way.annotations or way.slices)

    def _visit(self, place: Place, way: _Way, copy_before: bool) -> bool:
        """Sort a place into the edits of a way; return False where the way ends."""
        i = place.instruction
        if is_call_of(i, MOVE_TO_DEVICE):
            way.ends.append(i)
            return False
        if i in self._back:  # an earlier way ended here
            return False
        if i.opcode.name in ("slice", "dynamic-slice") and ends_way(i):
            if i.opcode.name == "slice":
                way.slices.append(i)
            return False
        if is_call_of(i, MOVE_TO_HOST):
            way.annotations.append(i)
        elif i.opcode.name == "dynamic-update-slice":
            if i is way.start.instruction and not copy_before:
                way.updates.append(i)
            else:
                self._allocated.add(i)
        elif not moves_only(i):
            mark_host_compute(i)
        way.hosts.append(place)
        if i.is_root and i.parent.is_entry:
            self._require_host_result(place, way.start)
            return False
        return True

    def _finish(
        self,
        ends: list[HloInstruction],
        annotations: list[HloInstruction],
        slices: list[HloInstruction],
    ) -> None:
        """Copy back at the ends, drop annotations on the way, and make slices dynamic."""
        for end in dict.fromkeys(ends):
            data = end.operands[0]
            copy = data.parent.add("copy", with_space(data.shape, (), 0), (data,))
            data.parent.replace(end, copy)
            self._back.add(copy)
        for annotation in dict.fromkeys(annotations):
            self.removed.add(annotation)
            annotation.parent.replace(annotation, annotation.operands[0])
            annotation.parent.remove(annotation)
        for slice_ in slices:
            _make_dynamic(slice_)

    def _require_host_result(self, place: Place, start: Place) -> None:
        shape = self._result.sub_shape(place.path)
        if not shape.is_array or shape.layout.memory_space != HOST:
            raise XlaExplorerError(
                "Tensor which is moved to host (starting from "
                f"{start.instruction.name}) is returned from the entry computation but the "
                "layout for this output is not set to host memory.",
                "state S(5) in the layout of the result, or move the value to the device",
            )

    def _copy_before(self, start: Place) -> bool:
        """Copy the value to the host in front of a place, or of the callers of a parameter."""
        before = predecessors(start)
        i = start.instruction
        if i.opcode.name != "parameter":
            if i.opcode.name == "tuple" and start.path:
                return self._insert(i.operands[start.path[0]], i)
            sources = [o for o in dict.fromkeys(i.operands) if self._is_annotated(o)]
            pairs = [(o, i) for o in sources or i.operands[:1]]
        else:
            callers = call_sites(self.module).get(i.parent, [])
            pairs = [(p.instruction, c) for p in before for c in callers]
        changed = False
        for data, user in pairs:
            changed |= self._insert(data, user)
        return changed

    @staticmethod
    def _is_annotated(i: HloInstruction) -> bool:
        while is_reshaping(i):
            i = i.operands[0]
        return is_call_of(i, MOVE_TO_HOST)

    def _insert(self, data: HloInstruction, user: HloInstruction) -> bool:
        """Let a user read a copy on the host."""
        place = Place(user, (data.id,))
        placed = data in self._copies.values()
        if placed or place in self._copied or data not in user.operands:
            return False
        copy = self._copies.get(data)
        if copy is None:
            copy = data.parent.add("copy", with_space(data.shape, (), HOST), (data,))
            self._copies[data] = copy
        operands = [copy if o is data else o for o in user.operands]
        user.parent.set_operands(user, operands)
        self._copied.add(place)
        return True

    def _allocate(self, update: HloInstruction) -> None:
        """Let a dynamic-update-slice write a buffer on the host instead of a broadcast."""
        if update in self._allocated:
            return
        found, work, seen = False, [Place(update)], {Place(update)}
        while work:
            place = work.pop(0)
            i = place.instruction
            set_space(place, HOST)
            if i.opcode.name == "parameter":
                self._place_in_condition(place)
            elif i.opcode.name == "dynamic-update-slice":
                self._allocated.add(i)
            elif is_call_of(i, ALLOCATE):
                return
            for before in predecessors(place):
                source = before.instruction
                if source.opcode.name == "broadcast":
                    found = True
                    _replace_by_buffer(source, i)
                elif before not in seen:
                    seen.add(before)
                    work.append(before)
        if not found:
            raise XlaExplorerError(
                f'DynamicUpdateSlice "{update.name}"\'s first operand is not the result of a '
                "broadcast.",
                "start from a broadcast, or from an AllocateBuffer",
            )

    def _place_in_condition(self, place: Place) -> None:
        """Place the element of a loop's state in the condition, too."""
        for caller in call_sites(self.module).get(place.instruction.parent, ()):
            if caller.opcode.name == "while":
                work = [Place(caller.called[0].parameters()[0], place.path)]
                while work:
                    inner = work.pop()
                    set_space(inner, HOST)
                    work += [p for p in successors(inner) if moves_only(p.instruction)]


def is_host_compute(i: HloInstruction) -> bool:
    """Return True if a frontend attribute places the work on the host."""
    return _HOST_COMPUTE in str(i.attributes.get("frontend_attributes") or "")


def mark_host_compute(i: HloInstruction) -> None:
    """Place the work of an instruction on the host by a frontend attribute."""
    text = str(i.attributes.get("frontend_attributes") or "{}")
    if _HOST_COMPUTE not in text:
        inner = text.strip()[1:-1]
        made = "{" + (f"{inner}," if inner else "") + _HOST_COMPUTE + "}"
        i.parent.set_attributes(i, i.attributes.with_values(frontend_attributes=made))


def _replace_by_buffer(broadcast: HloInstruction, user: HloInstruction) -> None:
    """Let the user of a broadcast read a new buffer on the host."""
    computation = broadcast.parent
    target = attributes_of({"custom_call_target": f'"{ALLOCATE}"'})
    buffer = computation.add("custom-call", with_space(broadcast.shape, (), HOST), (), target)
    computation.set_operands(user, [buffer if o is broadcast else o for o in user.operands])
    remove_if_dead(computation, broadcast)


def _make_dynamic(slice_: HloInstruction) -> None:
    computation = slice_.parent
    number = array_shape(S32, ())
    starts = [scalar_constant(computation, number, d.start) for d in slice_.attributes["slice"]]
    sizes = attributes_of({"dynamic_slice_sizes": slice_.shape.dimensions})
    operands = (slice_.operands[0], *starts)
    made = computation.add("dynamic-slice", slice_.shape, operands, sizes, name=slice_.name)
    computation.replace(slice_, made)
    computation.remove(slice_)
