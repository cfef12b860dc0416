"""`cp.async.bulk`: copies by the copy engine between global and shared memory.

Copies are of flat bytes or of a tensor map's box. The bytes are copied when the instruction runs,
but are visible only after a wait for the mbarrier (see `happens_before`). Source: PTX ISA,
"cp.async.bulk", "cp.async.bulk.tensor", "Tensors: Tiled Mode, Swizzling Modes".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import Batch, Group
from xla_explorer.backends.gpu.emulator.instructions.memory_barriers import memory_barriers
from xla_explorer.backends.gpu.emulator.map_bytes import Described, decode
from xla_explorer.backends.gpu.emulator.memory import (
    GLOBAL_BASE,
    MAPPED,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    UNMAPPED,
    WINDOW,
    WRITTEN,
)
from xla_explorer.backends.gpu.emulator.operands import (
    Getter,
    Names,
    address_getter,
    getter,
    vector_parts,
)
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction, UnsupportedPtxError
from xla_explorer.backends.gpu.emulator.scalar_types import Array
from xla_explorer.backends.gpu.tensor_map import MAP_BYTES

Step = Callable[[Batch, Group], None]
_CHUNK = 16
_TENSOR = re.compile(r"\[\s*([^,\]]+?)\s*,\s*(\{[^}]*\})\s*\]")


def bulk_copy(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step | None:
    """Return the step of `cp.async.bulk`; None for waits for stores, which are immediate here."""
    if "commit_group" in parts or "wait_group" in parts or "prefetch" in parts:
        return None
    tensor = "tensor" in parts
    spaces = [p.split("::")[0] for p in parts if p.split("::")[0] in ("shared", "global")]
    if "im2col" in parts or "multicast::cluster" in parts or "reduce" in parts or len(spaces) != 2:
        raise UnsupportedPtxError(
            f"PTX line {i.line}: the emulator has no {i.opcode}",
            "tiled copies within a block are emulated",
        )
    to_shared = spaces[0] == "shared"
    if not tensor:
        return _flat(names, pc, i, to_shared)
    place, other = (i.operands[1], i.operands[0]) if to_shared else (i.operands[0], i.operands[1])
    found = _TENSOR.match(place)
    if found is None:
        raise UnsupportedPtxError(f"PTX line {i.line}: cannot read the tensor {place}")
    map_of = address_getter(names, f"[{found[1]}]")
    coordinates_of = [getter(names, text, "s32") for text in vector_parts(found[2])]
    shared_of = address_getter(names, other)
    barrier_of = address_getter(names, i.operands[2]) if to_shared else None

    def run(batch: Batch, group: Group) -> None:
        lanes = batch.lanes_of(group)
        maps, shared = (
            np.broadcast_to(get(batch, group.lanes), group.count) for get in (map_of, shared_of)
        )
        coordinates = np.stack(
            [np.broadcast_to(get(batch, group.lanes), group.count) for get in coordinates_of], -1
        )
        barriers = _barriers(batch, group, pc, barrier_of)
        for k, lane in enumerate(lanes.tolist()):
            described = _map_at(batch, int(maps[k]))
            if described is None or len(described.dimensions) != coordinates.shape[1]:
                batch.fault(
                    "no tensor map of this many dimensions there",
                    pc,
                    lanes[k : k + 1],
                    np.ones(1, bool),
                    hex(int(maps[k])),
                )
                continue
            engine = _Engine(batch, pc, lane, int(shared[k]), described, coordinates[k].tolist())
            if engine.allowed():
                engine.copy(to_shared, None if barriers is None else int(barriers[k]))

    return run


def _barriers(batch: Batch, group: Group, pc: int, barrier_of: Getter | None) -> Array | None:
    """Return the place of each lane's mbarrier, -1 for none."""
    if barrier_of is None:
        return None
    lanes = batch.lanes_of(group)
    index, good = memory_barriers(batch).find(pc, barrier_of(batch, group.lanes), lanes)
    places = np.full(len(lanes), -1, np.int64)
    places[np.isin(lanes, good)] = index
    return places


def _map_at(batch: Batch, address: int) -> Described | None:
    """Return a tensor map from the kernel's parameters or global memory, or None."""
    if PARAMETER_WINDOW <= address < PARAMETER_WINDOW + WINDOW:
        offset = address - PARAMETER_WINDOW
        return decode(batch.parameters[offset : offset + MAP_BYTES].tobytes())
    if address < GLOBAL_BASE or address - GLOBAL_BASE + MAP_BYTES > len(batch.memory.space.octets):
        return None
    return decode(batch.memory.read(address, MAP_BYTES).tobytes())


class _Engine:
    """The copy of a box."""

    def __init__(
        self, batch: Batch, pc: int, lane: int, shared: int, described: Described, first: list[int]
    ) -> None:
        self.batch, self.pc, self.lane, self.map, self.first = batch, pc, lane, described, first
        self.shared = shared - SHARED_WINDOW if shared >= SHARED_WINDOW else shared
        self.size = described.element_bytes * int(np.prod(described.box))
        self.start = int(batch.block_of[lane]) * batch.shared_size + self.shared

    def _fault(self, kind: str, detail: str) -> None:
        self.batch.fault(kind, self.pc, np.array([self.lane]), np.ones(1, bool), detail)

    def allowed(self) -> bool:
        """Return whether the place in shared memory is valid for the copy engine."""
        if self.shared < 0 or self.shared + self.size > self.batch.shared_size:
            self._fault(
                "out of bounds",
                f"copy of {self.size} bytes, shared byte {self.shared} of {self.batch.shared_size}",
            )
            return False
        if self.shared % 128:
            self._fault(
                "misaligned", f"a box begins at shared byte {self.shared}, no multiple of 128"
            )
            return False
        return True

    def _chunks(self) -> Array:
        """Return the places of the box's 16-byte chunks in shared memory, in units of 16 bytes."""
        at = np.arange(self.start // _CHUNK, (self.start + self.size) // _CHUNK)
        own = (
            at - (self.start - self.shared) // _CHUNK
        )  # the pattern follows the block's own addresses
        return at + swizzled(own, self.map.swizzle) - own

    def _inside(self) -> tuple[tuple[slice, ...], Array]:
        """Return the in-bounds part of the box, and its byte offsets in global memory.

        The major dimension comes first.
        """
        slices, offset = [], np.zeros((1,) * 0, np.int64) + (self.map.address - GLOBAL_BASE)
        for extent, box, stride, first in reversed(
            list(zip(self.map.dimensions, self.map.box, self.map.strides, self.first, strict=True))
        ):
            low, high = min(max(-first, 0), box), max(min(extent - first, box), 0)
            high = max(high, low)
            slices.append(slice(low, high))
            offset = offset[..., None] + (first + np.arange(low, high)) * stride
        return tuple(slices), offset

    def copy(self, to_shared: bool, barrier: int | None) -> None:
        batch, width = self.batch, self.map.element_bytes
        slices, offset = self._inside()
        space, shared = batch.memory.space, batch.spaces["shared"]
        kind = np.dtype(f"u{width}")
        index = offset // width
        if not self._reachable(offset, to_shared):
            return
        chunks = self._chunks()
        rows = shared.octets.reshape(-1, _CHUNK)
        shape = tuple(reversed(self.map.box))
        if batch.counters is not None and offset.size:
            batch.counters.bulk(self.pc, offset.size * width, offset[..., 0].size)
        if to_shared:
            box = np.zeros(shape, kind)
            box[slices] = space.view(kind)[index]
            rows[chunks] = box.reshape(-1).view(np.uint8).reshape(-1, _CHUNK)
            shared.shadow[self.start : self.start + self.size] = WRITTEN
            self._announce(barrier)
            return
        if batch.clocks is not None:
            cell = np.arange(
                self.start // batch.clocks.granule, (self.start + self.size) // batch.clocks.granule
            )
            batch.clocks.reads_asynchronously(batch, self.pc, cell, self.lane - self.lane % 32, 1)
            batch.clocks.finished(batch, cell, self.lane - self.lane % 32, 1)
        if (shared.shadow[self.start : self.start + self.size] == MAPPED).any():
            self._fault("uninitialised read", f"box at shared byte {self.shared}")
        space.view(kind)[index] = rows[chunks].reshape(-1).view(kind).reshape(shape)[slices]
        space.shadow.reshape(-1, width)[index.reshape(-1)] = WRITTEN

    def _reachable(self, offset: Array, to_shared: bool) -> bool:
        if not offset.size:
            return True
        space, width = self.batch.memory.space, self.map.element_bytes
        low, high = int(offset.min()), int(offset.max()) + width
        detail = (
            f"box at {self.first} of {self.map.dimensions}, the map is of "
            f"{self.batch.memory.describe(self.map.address)}"
        )
        state = None if low < 0 or high > len(space.octets) else space.shadow[offset]
        if state is None or (state == UNMAPPED).any():
            self._fault("out of bounds", detail)
            return False
        if to_shared and (state == MAPPED).any():
            self._fault("uninitialised read", detail)
        return True

    def _announce(self, barrier: int | None) -> None:
        if barrier is None or barrier < 0:
            return
        batch, barriers = self.batch, memory_barriers(self.batch)
        if batch.clocks is not None:
            phase = int(barriers.phase[barrier])
            batch.clocks.engine_writes(
                batch, self.pc, self.lane, self.start, self.size, barrier, phase
            )
        barriers.update(self.pc, np.array([barrier]), np.array([self.lane]), 0, 0, self.size)


def swizzled(chunk: Array, swizzle: int) -> Array:
    """Return the places of 16-byte chunks (in units of 16 bytes) under a swizzle in bytes."""
    mask = max(swizzle // _CHUNK - 1, 0)
    made: Array = chunk ^ (chunk >> 3 & mask)
    return made


def _flat(names: Names, pc: int, i: PtxInstruction, to_shared: bool) -> Step:
    """Return the step of `cp.async.bulk` of bytes."""
    target_of, source_of = (
        address_getter(names, i.operands[0]),
        address_getter(names, i.operands[1]),
    )
    size_of = getter(names, i.operands[2], "u32")
    barrier_of = address_getter(names, i.operands[3]) if to_shared else None

    def run(batch: Batch, group: Group) -> None:
        lanes = batch.lanes_of(group)
        targets, sources, sizes = (
            np.broadcast_to(get(batch, group.lanes), group.count)
            for get in (target_of, source_of, size_of)
        )
        barriers = _barriers(batch, group, pc, barrier_of)
        for k, lane in enumerate(lanes.tolist()):
            size = int(sizes[k])
            shared, address = (
                (int(targets[k]), int(sources[k]))
                if to_shared
                else (int(sources[k]), int(targets[k]))
            )
            if (shared | address | size) % _CHUNK:
                batch.fault(
                    "misaligned",
                    pc,
                    lanes[k : k + 1],
                    np.ones(1, bool),
                    f"{size} bytes, shared byte {shared}, {hex(address)}",
                )
                continue
            flat = Described.flat(address, size)
            engine = _Engine(batch, pc, lane, shared, flat, [0])
            if engine.shared >= 0 and engine.shared + size <= batch.shared_size:
                engine.copy(to_shared, None if barriers is None else int(barriers[k]))
            else:
                batch.fault(
                    "out of bounds",
                    pc,
                    lanes[k : k + 1],
                    np.ones(1, bool),
                    f"{size} bytes, shared byte {shared}",
                )

    return run
