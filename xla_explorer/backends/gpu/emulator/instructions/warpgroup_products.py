"""`wgmma`: asynchronous products of four warps on tiles in shared memory.

The result is in the registers at once, but reading them, or writing the tiles, before the warpgroup
has waited is a fault. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate",
"Shared Memory Matrix Layout", "Matrix Descriptor".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, WARPGROUP, Batch, Group
from xla_explorer.backends.gpu.emulator.instructions.bulk_copies import swizzled
from xla_explorer.backends.gpu.emulator.instructions.warp_instructions import matrix_elements
from xla_explorer.backends.gpu.emulator.memory import MAPPED
from xla_explorer.backends.gpu.emulator.operands import (
    Names,
    getter,
    predicate_getter,
    vector_parts,
)
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction, UnsupportedPtxError
from xla_explorer.backends.gpu.emulator.scalar_types import DTYPES, Array

Step = Callable[[Batch, Group], None]
_SHAPE = re.compile(r"m64n(\d+)k(\d+)")
_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
_BYTES = {"f16": 2, "bf16": 2, "tf32": 4}
_SWIZZLES = {0: 0, 1: 128, 2: 64, 3: 32}
_KEPT_PLANS = 512
_CHUNK = 16


class DescribedTile(NamedTuple):
    """An operand: extent of the kept dimension, depth, bytes of an element, order of dimensions."""

    kept: int
    depth: int
    width: int
    reduced_is_minor: bool


def tile_bytes(descriptor: int, tile: DescribedTile) -> Array:
    """Return the byte addresses (kept, depth) of a matrix descriptor in a block's shared memory."""
    start = (descriptor & 0x3FFF) << 4
    leading, stride = (descriptor >> 16 & 0x3FFF) << 4, (descriptor >> 32 & 0x3FFF) << 4
    swizzle = _SWIZZLES[descriptor >> 62 & 3]
    kept, depth = np.arange(tile.kept)[:, None], np.arange(tile.depth)[None, :] * tile.width
    if tile.reduced_is_minor:
        if swizzle:
            at = kept // 8 * stride + kept % 8 * swizzle + depth
        else:  # core matrices of 8 rows of 16 bytes
            at = kept // 8 * stride + kept % 8 * _CHUNK + depth // _CHUNK * leading + depth % _CHUNK
    else:
        kept, row = kept * tile.width, depth // tile.width
        if swizzle:
            at = kept // swizzle * leading + kept % swizzle + row // 8 * stride + row % 8 * swizzle
        else:
            at = kept // _CHUNK * stride + kept % _CHUNK + row // 8 * leading + row % 8 * _CHUNK
    at = start + at
    made: Array = swizzled(at // _CHUNK, swizzle) * _CHUNK + at % _CHUNK
    return made


class _Record(NamedTuple):
    """A pending product. slots: of its result. cells: of the race detector that it reads."""

    slots: tuple[int, ...]
    cells: Array | None


class WarpgroupProducts:
    """Pending products of a batch's warpgroups.

    started: since the last commit. groups: committed and not yet waited for.
    """

    def __init__(self, batch: Batch) -> None:
        count = -(-batch.lanes // WARPGROUP)
        self.batch = batch
        self.started: list[list[_Record]] = [[] for _ in range(count)]
        self.groups: list[list[list[_Record]]] = [[] for _ in range(count)]
        self.places: dict[tuple[int, DescribedTile], Array] = {}

    def place(self, descriptor: int, tile: DescribedTile) -> Array:
        """Return `tile_bytes`, cached."""
        found = self.places.get((descriptor, tile))
        if found is None:
            if len(self.places) >= _KEPT_PLANS:
                self.places.clear()
            found = self.places[descriptor, tile] = tile_bytes(descriptor, tile)
        return found

    def commit(self, warpgroup: int) -> None:
        """Execute `wgmma.commit_group`."""
        self.groups[warpgroup].append(self.started[warpgroup])
        self.started[warpgroup] = []

    def wait(self, warpgroup: int, pending: int) -> None:
        """Execute `wgmma.wait_group`: complete all but the newest groups."""
        waiting, batch = self.groups[warpgroup], self.batch
        while len(waiting) > pending:
            for record in waiting.pop(0):
                if batch.clocks is not None and record.cells is not None:
                    batch.clocks.finished(
                        batch, record.cells, warpgroup * WARPGROUP, WARPGROUP // WARP
                    )
                for slot in record.slots:
                    self._landed(slot, warpgroup)
        for records in (*waiting, self.started[warpgroup]):
            for record in records:
                self.fly(record, warpgroup, -1)

    def _landed(self, slot: int, warpgroup: int) -> None:
        flight = self.batch.in_flight.get(slot)
        if flight is not None:
            flight[1][warpgroup] = False
            if not flight[1].any():
                del self.batch.in_flight[slot]

    def fly(self, record: _Record, warpgroup: int, pc: int) -> None:
        """Mark a product's registers as not readable, and its cells as not writable."""
        batch = self.batch
        for slot in record.slots:
            flight = batch.in_flight.get(slot)
            if flight is None or pc >= 0:
                groups = np.zeros(len(self.started), bool) if flight is None else flight[1]
                flight = batch.in_flight[slot] = (pc if pc >= 0 else 0, groups)
            flight[1][warpgroup] = True
        if batch.clocks is not None and record.cells is not None and pc < 0:
            first = warpgroup * WARPGROUP % batch.padded // WARP
            batch.clocks.read_time[first : first + WARPGROUP // WARP, record.cells] = np.iinfo(
                np.int32
            ).max


def products_of(batch: Batch) -> WarpgroupProducts:
    """Return the batch's products, created on first use."""
    if batch.products is None:
        batch.products = WarpgroupProducts(batch)
    return batch.products


def whole_warpgroups(batch: Batch, group: Group, pc: int) -> Array | None:
    """Return the warpgroups that execute together; None, with a fault, if a warp is missing."""
    lanes = batch.lanes_of(group)
    if batch.padded % WARPGROUP or len(lanes) % WARPGROUP:
        batch.fault(
            "warpgroup instruction by part of a warpgroup", pc, lanes, np.ones(len(lanes), bool)
        )
        return None
    rows = lanes.reshape(-1, WARPGROUP)
    broken = (rows[:, 0] % WARPGROUP != 0) | (rows[:, -1] - rows[:, 0] != WARPGROUP - 1)
    if broken.any():
        batch.fault(
            "warpgroup instruction by part of a warpgroup", pc, lanes, np.repeat(broken, WARPGROUP)
        )
        return None
    made: Array = rows[:, 0] // WARPGROUP
    return made


def warpgroup_instruction(
    names: Names, pc: int, i: PtxInstruction, parts: Sequence[str], code: Sequence[PtxInstruction]
) -> Step | None:
    """Return the step of a `wgmma` instruction; `wgmma.fence` itself has none (see `_fenced`)."""
    if parts[1] == "fence":
        return None
    if parts[1] in ("commit_group", "wait_group"):
        pending = int(i.operands[0], 0) if i.operands else -1

        def pass_on(batch: Batch, group: Group) -> None:
            groups = whole_warpgroups(batch, group, pc)
            for warpgroup in groups.tolist() if groups is not None else ():
                if pending < 0:
                    products_of(batch).commit(warpgroup)
                else:
                    products_of(batch).wait(warpgroup, pending)

        return pass_on
    return _multiply(names, pc, i, parts, _fenced(names, pc, i, code))


def _fenced(names: Names, pc: int, i: PtxInstruction, code: Sequence[PtxInstruction]) -> bool:
    """Return whether `wgmma.fence` follows the last write of a product's registers in the text."""
    own = set(vector_parts(i.operands[0])) | set(
        vector_parts(i.operands[1]) if i.operands[1].startswith("{") else ()
    )
    for before in reversed(code[:pc]):
        if before.opcode.startswith("wgmma.fence"):
            return True
        if before.opcode.startswith("wgmma.mma_async"):
            continue
        if (
            before.operands
            and own & set(vector_parts(before.operands[0]))
            and not before.opcode.startswith(("st", "red", "bra"))
        ):
            return False
    return False


def _checked_shape(i: PtxInstruction, parts: Sequence[str]) -> tuple[str, str, str, int, int]:
    """Return (result type, left type, right type, columns, depth), or raise if unsupported."""
    found = next((m for m in map(_SHAPE.fullmatch, parts) if m), None)
    kinds = [p for p in parts if p in _DEPTHS or p in ("f32", "s32")]
    if (
        found is None
        or len(kinds) != 3
        or kinds[0] not in ("f32", "s32")
        or "sp" in parts
        or "satfinite" in parts
    ):
        raise UnsupportedPtxError(
            f"PTX line {i.line}: the emulator has no {i.opcode}", "f32 and s32 sums are emulated"
        )
    (result, a_kind, b_kind), columns, depth = kinds, int(found[1]), int(found[2])
    if depth != _DEPTHS[a_kind] or columns % 8 or not 8 <= columns <= 256:
        raise UnsupportedPtxError(f"PTX line {i.line}: wgmma has no shape {found[0]} for {a_kind}")
    count = len(vector_parts(i.operands[0]))
    if count != columns // 2:
        raise UnsupportedPtxError(
            f"PTX line {i.line}: a result of {columns} columns has {columns // 2} registers, not "
            f"{count}"
        )
    return result, a_kind, b_kind, columns, depth


def _signs_and_orders(i: PtxInstruction, result: str) -> tuple[int, list[int]]:
    """Return (the sign of the product, 1 for each operand that is transposed in memory)."""
    if result != "f32":
        return 1, [0, 0]
    left, right, *orders = [int(text, 0) for text in i.operands[4:]]
    return left * right, [0] * (2 - len(orders)) + orders


def _multiply(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str], fenced: bool) -> Step:
    result, a_kind, b_kind, columns, depth = _checked_shape(i, parts)
    registers = vector_parts(i.operands[0])
    slots = tuple([names.slot(text) for text in registers])
    from_registers = i.operands[1].startswith("{")
    left_of = [
        getter(names, text, "b32" if from_registers else "u64")
        for text in vector_parts(i.operands[1])
    ]
    right_of, accumulate = (
        getter(names, i.operands[2], "u64"),
        predicate_getter(names, i.operands[3]),
    )
    sign, orders = _signs_and_orders(i, result)
    width = _BYTES.get(a_kind, 1)
    left_tile, right_tile = (
        DescribedTile(kept, depth, width, order == 0)
        for kept, order in ((64, orders[0]), (columns, orders[1]))
    )
    number = np.dtype(np.float32 if result == "f32" else np.int32)

    def tile_of(
        batch: Batch, warpgroups: Array, descriptor: int, tile: DescribedTile, kind: str
    ) -> tuple[Array, Array]:
        """Return (warpgroups, kept, depth) numbers, and the bytes read within a block."""
        at = products_of(batch).place(descriptor, tile)
        base = batch.block_of[warpgroups * WARPGROUP] * batch.shared_size
        if int(at.max()) + width > batch.shared_size:
            detail = f"matrix descriptor {hex(descriptor)} reaches shared byte {int(at.max())}"
            batch.fault(
                "out of bounds", pc, warpgroups * WARPGROUP, np.ones(len(warpgroups), bool), detail
            )
            return np.zeros((len(warpgroups), *at.shape), number), at[:0]
        shared = batch.spaces["shared"]
        index = base[:, None, None] + at
        if batch.checks and (shared.shadow[index] == MAPPED).any():
            at_fault = (shared.shadow[index] == MAPPED).any((1, 2))
            batch.fault(
                "uninitialised read",
                pc,
                warpgroups * WARPGROUP,
                at_fault,
                f"matrix descriptor {hex(descriptor)}",
            )
        words = shared.view(DTYPES[f"u{8 * width}"])[index // width]
        return matrix_elements(words, kind), at

    def run(batch: Batch, group: Group) -> None:
        warpgroups = whole_warpgroups(batch, group, pc)
        if warpgroups is None:
            return
        lanes = batch.lanes_of(group)
        if not fenced and batch.checks:
            batch.fault(
                "product on registers without wgmma.fence", pc, lanes, np.ones(len(lanes), bool)
            )
        rights = _uniform(batch, group, pc, right_of(batch, group.lanes))
        lefts = (
            rights if from_registers else _uniform(batch, group, pc, left_of[0](batch, group.lanes))
        )
        adding = np.broadcast_to(accumulate(batch, group.lanes), group.count).reshape(
            -1, WARPGROUP
        )[:, 0]
        product = np.zeros((len(warpgroups), 64, columns), number)
        cells: dict[int, Array] = {}
        pairs = np.stack([lefts, rights], -1)
        for left, right in np.unique(pairs, axis=0):
            some = np.flatnonzero((lefts == left) & (rights == right))
            b, b_bytes = tile_of(batch, warpgroups[some], int(right), right_tile, b_kind)
            if from_registers:
                a, a_bytes = _left_registers(batch, left_of, warpgroups[some], a_kind), b_bytes[:0]
            else:
                a, a_bytes = tile_of(batch, warpgroups[some], int(left), left_tile, a_kind)
            product[some] = np.matmul(a, b.swapaxes(1, 2)) * number.type(sign)
            if batch.clocks is not None:
                read = np.unique(
                    np.concatenate([a_bytes.reshape(-1), b_bytes.reshape(-1)])
                    // batch.clocks.granule
                )
                for one in some.tolist():
                    block = int(batch.block_of[warpgroups[one] * WARPGROUP])
                    cells[one] = read + block * batch.clocks.block_cells
        fresh = (
            product.reshape(-1, 4, 2, 8, columns // 8, 4, 2)
            .transpose(4, 2, 6, 0, 1, 3, 5)
            .reshape(columns // 2, -1)
        )
        _store(batch, slots, lanes, fresh, np.repeat(adding, WARPGROUP), group.lanes is None)
        for one, warpgroup in enumerate(warpgroups.tolist()):
            _start(batch, pc, warpgroup, _Record(slots, cells.get(one)))

    return run


def _start(batch: Batch, pc: int, warpgroup: int, record: _Record) -> None:
    """Record a product of a warpgroup as in flight."""
    if batch.clocks is not None and record.cells is not None:
        batch.clocks.reads_asynchronously(
            batch, pc, record.cells, warpgroup * WARPGROUP, WARPGROUP // WARP
        )
    products_of(batch).fly(record, warpgroup, pc)
    products_of(batch).started[warpgroup].append(record)


def _uniform(batch: Batch, group: Group, pc: int, value: Array) -> Array:
    """Return a descriptor for each warpgroup, which must be uniform."""
    rows = np.broadcast_to(value, group.count).reshape(-1, WARPGROUP)
    mixed = (rows != rows[:, :1]).any(1)
    if mixed.any():
        batch.fault(
            "matrix descriptor differs within a warpgroup",
            pc,
            batch.lanes_of(group),
            np.repeat(mixed, WARPGROUP),
        )
    made: Array = rows[:, 0].astype(np.int64)
    return made


def _left_registers(
    batch: Batch, left_of: Sequence[Callable[[Batch, Array], Array]], warpgroups: Array, kind: str
) -> Array:
    """Return (warpgroups, 64, depth) numbers of a left operand in registers.

    Each lane has four words, laid out as in mma.m16n8.
    """
    lanes = (warpgroups[:, None] * WARPGROUP + np.arange(WARPGROUP)).reshape(-1)
    words = [
        matrix_elements(np.broadcast_to(get(batch, lanes), len(lanes)).copy()[:, None], kind)
        for get in left_of
    ]
    pack = words[0].shape[1]
    a = np.zeros((len(warpgroups), 4, 16, 8 * pack), words[0].dtype)
    row, column = np.arange(WARP) >> 2, np.arange(WARP) & 3
    for k, word in enumerate(words):
        part = word.reshape(len(warpgroups), 4, WARP, pack)
        for element in range(pack):
            a[:, :, row + 8 * (k & 1), pack * column + element + 4 * pack * (k >> 1)] = part[
                ..., element
            ]
    return a.reshape(len(warpgroups), 64, 8 * pack)


def _store(
    batch: Batch,
    slots: tuple[int, ...],
    lanes: Array,
    fresh: Array,
    adding: Array,
    everywhere: bool,
) -> None:
    """Add to the registers of the lanes, or set them."""
    for slot, value in zip(slots, fresh, strict=True):
        old = batch.registers[slot]
        if old is None or len(old) == 1:
            bits = np.zeros(1, np.uint32) if old is None else old
            old = np.full(batch.lanes, bits[0], bits.dtype)
        else:
            old = old.copy()
        view = old.view(value.dtype)
        view[lanes] = np.where(adding, view[lanes] + value, value)
        batch.registers[slot] = view
