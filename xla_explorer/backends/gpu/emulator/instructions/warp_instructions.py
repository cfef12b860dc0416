"""Instructions across a warp: shuffle, vote, reduction, matrix multiply-accumulate and loads.

Source: PTX ISA, "shfl.sync", "vote.sync", "redux.sync", "Matrix Fragments for mma.m16n8k16",
"ldmatrix".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, Batch, Group
from xla_explorer.backends.gpu.emulator.memory import SHARED_WINDOW
from xla_explorer.backends.gpu.emulator.operands import (
    Getter,
    Names,
    Setter,
    address_getter,
    getter,
    predicate_getter,
    setter,
    vector_parts,
)
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction, UnsupportedPtxError
from xla_explorer.backends.gpu.emulator.scalar_types import Array, bf16_to_f32

Step = Callable[[Batch, Group], None]
_LANE = np.arange(WARP)
_ROW, _COLUMN = _LANE >> 2, _LANE & 3
_EVERYONE = 0xFFFFFFFF


def _members(batch: Batch, group: Group) -> Array:
    """Return the active lanes as (warps, 32)."""
    if group.lanes is None:
        return np.ones((batch.lanes // WARP, WARP), bool)
    mask = np.zeros(batch.lanes, bool)
    mask[group.lanes] = True
    return mask.reshape(-1, WARP)


def _everywhere(batch: Batch, get: Getter) -> Array:
    return np.broadcast_to(get(batch, None), batch.lanes)


def _of_group(group: Group, value: Array) -> Array:
    return np.ascontiguousarray(value) if group.lanes is None else value[group.lanes]


def _packed(members: Array) -> Array:
    bits: Array = np.packbits(members, axis=1, bitorder="little").view(np.uint32).reshape(-1)
    return bits


def check_mask(batch: Batch, group: Group, pc: int, mask_of: Getter) -> None:
    """Record a member mask without the lane itself, or with inactive lanes of the warp."""
    if not batch.checks:
        return
    mask = mask_of(batch, group.lanes)
    if group.lanes is None and len(mask) == 1 and int(mask[0]) == _EVERYONE:
        return
    lanes = batch.lanes_of(group)
    mask = np.broadcast_to(mask, group.count)
    own = (mask >> (lanes % WARP).astype(np.uint32)) & np.uint32(1)
    if not own.all():
        batch.fault(
            "member mask without the lane itself",
            pc,
            group.lanes,
            own == 0,
            f"mask {hex(int(mask[int(np.argmin(own))]))}",
        )
    there = _packed(_members(batch, group))[lanes // WARP]
    absent = (mask & ~there) != 0
    if absent.any():
        batch.fault(
            "member mask names lanes that are elsewhere",
            pc,
            group.lanes,
            absent,
            f"mask {hex(int(mask[int(np.argmax(absent))]))}",
        )


def shuffle(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `shfl.sync`: another lane's value."""
    mode = parts[2]
    outputs = i.operands[0].split("|")
    put = setter(names, outputs[0].strip())
    put_inside = setter(names, outputs[1].strip()) if len(outputs) > 1 else None
    value_of = getter(names, i.operands[1], "b32")
    b_of, c_of, mask_of = (getter(names, text, "u32") for text in i.operands[2:5])

    def run(batch: Batch, group: Group) -> None:
        check_mask(batch, group, pc, mask_of)
        value, lane = _everywhere(batch, value_of), batch.lane_in_warp
        b, c = (get(batch, None).astype(np.int64) for get in (b_of, c_of))
        b, clamp, segment = b & 31, c & 31, (c >> 8) & 31
        limit = (lane & segment) | (clamp & ~segment)
        if mode == "up":
            wanted = lane - b
            inside = wanted >= limit
        else:
            wanted = (
                lane + b
                if mode == "down"
                else lane ^ b
                if mode == "bfly"
                else (lane & segment) | (b & ~segment)
            )
            inside = wanted <= limit
        source = batch.warp_start + np.where(inside, wanted, lane)
        if batch.checks and group.lanes is not None:
            there = _members(batch, group).reshape(-1)
            missing = ~there[source[group.lanes]]
            if missing.any():
                which = int(source[group.lanes][int(np.argmax(missing))] % WARP)
                batch.fault(
                    "shuffle from a lane that is elsewhere",
                    pc,
                    group.lanes,
                    missing,
                    f"reads lane {which}",
                )
        put(batch, group, _of_group(group, value[source]))
        if put_inside is not None:
            put_inside(batch, group, _of_group(group, np.broadcast_to(inside, batch.lanes)).copy())

    return run


def vote(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `vote.sync`: ballot, any, all, uni."""
    mode = parts[2]
    put, truth_of = setter(names, i.operands[0]), predicate_getter(names, i.operands[1])
    mask_of = getter(names, i.operands[2], "u32")

    def run(batch: Batch, group: Group) -> None:
        check_mask(batch, group, pc, mask_of)
        members = _members(batch, group)
        bits = _packed(_everywhere(batch, truth_of).reshape(-1, WARP) & members)
        all_of_them = _packed(members)
        value = {
            "ballot": bits,
            "any": bits != 0,
            "all": bits == all_of_them,
            "uni": (bits == 0) | (bits == all_of_them),
        }[mode]
        put(batch, group, _of_group(group, np.repeat(value, WARP)))

    return run


def active_mask(names: Names, i: PtxInstruction) -> Step:
    """Return the step of `activemask`: the lanes that execute it together."""
    put = setter(names, i.operands[0])
    return lambda batch, group: put(
        batch, group, _of_group(group, np.repeat(_packed(_members(batch, group)), WARP))
    )


_REDUCTIONS: dict[str, tuple[Any, Callable[[Any], int]]] = {
    "add": (np.add, lambda limits: 0),
    "min": (np.minimum, lambda limits: int(limits.max)),
    "max": (np.maximum, lambda limits: int(limits.min)),
    "and": (np.bitwise_and, lambda limits: -1 if limits.min else int(limits.max)),
    "or": (np.bitwise_or, lambda limits: 0),
    "xor": (np.bitwise_xor, lambda limits: 0),
}


def reduce_in_warp(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `redux.sync` on 32-bit integers."""
    if parts[-1] not in ("s32", "u32", "b32"):
        raise UnsupportedPtxError(f"PTX line {i.line}: the emulator has no {i.opcode}")
    function, neutral_of = _REDUCTIONS[parts[2]]
    put, get = setter(names, i.operands[0]), getter(names, i.operands[1], parts[-1])
    mask_of = getter(names, i.operands[2], "u32")

    def run(batch: Batch, group: Group) -> None:
        check_mask(batch, group, pc, mask_of)
        value = _everywhere(batch, get).reshape(-1, WARP)
        neutral = value.dtype.type(neutral_of(np.iinfo(value.dtype)))
        total = function.reduce(
            np.where(_members(batch, group), value, neutral), 1, dtype=value.dtype
        )
        put(batch, group, _of_group(group, np.repeat(total, WARP)))

    return run


def elect(names: Names, pc: int, i: PtxInstruction) -> Step:
    """Return the step of `elect.sync`: one lane of the members, here the lowest."""
    outputs = i.operands[0].split("|")
    put, put_chosen = (setter(names, text.strip()) for text in (outputs[0], outputs[-1]))
    mask_of = getter(names, i.operands[1], "u32")

    def run(batch: Batch, group: Group) -> None:
        check_mask(batch, group, pc, mask_of)
        mask = _everywhere(batch, mask_of)
        lowest = mask & (~mask + np.uint32(1))
        leader = np.zeros(batch.lanes, np.uint32)
        for bit in range(WARP):
            leader[lowest == np.uint32(1 << bit)] = bit
        put(batch, group, _of_group(group, leader))
        put_chosen(batch, group, _of_group(group, leader == batch.lane_in_warp).copy())

    return run


def match(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `match.sync`.

    `any`: the members with the lane's value. `all`: all members if they agree, else none.
    """
    outputs = i.operands[0].split("|")
    put = setter(names, outputs[0].strip())
    put_agree = setter(names, outputs[1].strip()) if len(outputs) > 1 else None
    value_of, mask_of = getter(names, i.operands[1], parts[-1]), getter(names, i.operands[2], "u32")

    def run(batch: Batch, group: Group) -> None:
        check_mask(batch, group, pc, mask_of)
        members = _members(batch, group)
        value = _everywhere(batch, value_of).reshape(-1, WARP)
        equal = (value[:, :, None] == value[:, None, :]) & members[:, None, :]
        bits = np.packbits(equal, axis=2, bitorder="little").view(np.uint32).reshape(-1)
        agree = np.repeat((equal | ~members[:, None, :] | ~members[:, :, None]).all((1, 2)), WARP)
        if parts[1] == "all":
            bits = np.where(agree, np.repeat(_packed(members), WARP), np.uint32(0))
        put(batch, group, _of_group(group, bits))
        if put_agree is not None:
            put_agree(batch, group, _of_group(group, agree).copy())

    return run


def block_reduction(put: Setter, truth_of: Getter, mode: str) -> Callable[[Batch, Array], None]:
    """Return the step of `bar.red` over a block: count of true predicates (`popc`), `or`, `and`."""

    def finish(batch: Batch, lanes: Array) -> None:
        truth = np.broadcast_to(truth_of(batch, lanes), len(lanes))
        block = batch.block_of[lanes]
        true = np.bincount(block, truth, batch.blocks).astype(np.int64)[block]
        threads = np.bincount(block, minlength=batch.blocks)[block]
        value = (
            true.astype(np.uint32)
            if mode == "popc"
            else true > 0
            if mode == "or"
            else true == threads
        )
        put(batch, Group(batch.lanes, lanes), value)

    return finish


_FLOAT8 = {"e4m3": np.dtype(ml_dtypes.float8_e4m3fn), "e5m2": np.dtype(ml_dtypes.float8_e5m2)}
_PACKED = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "u8": 4, "e4m3": 4, "e5m2": 4}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


def _elements(words: Array, kind: str) -> Array:
    """Unpack words (n,) to numbers (n, elements a word)."""
    words = np.ascontiguousarray(words)
    if kind == "bf16":
        return bf16_to_f32(words.view(np.uint16)).reshape(len(words), -1)
    if kind == "tf32":
        return (words & np.uint32(0xFFFFE000)).view(np.float32).reshape(-1, 1)
    own = (
        np.dtype(np.float16)
        if kind == "f16"
        else _FLOAT8[kind]
        if kind in _FLOAT8
        else np.dtype(np.int8 if kind == "s8" else np.uint8)
    )
    number = np.int32 if kind in ("s8", "u8") else np.float32
    return words.view(own).reshape(len(words), -1).astype(number)


def matrix_elements(words: Array, kind: str) -> Array:
    """Return elements of a matrix as numbers, unpacked in the last dimension.

    Integers stay integers.
    """
    if words.dtype.itemsize == 4 and kind != "tf32":
        shape = words.shape
        return _elements(words.reshape(-1), kind).reshape(*shape[:-1], -1)
    if kind == "bf16":
        return bf16_to_f32(words)
    if kind == "tf32":
        made: Array = (words & np.uint32(0xFFFFE000)).view(np.float32)
        return made
    own = (
        np.dtype(np.float16)
        if kind == "f16"
        else _FLOAT8[kind]
        if kind in _FLOAT8
        else np.dtype(np.int8 if kind == "s8" else np.uint8)
    )
    return words.view(own).astype(np.int32 if kind in ("s8", "u8") else np.float32)


class _MmaForm(NamedTuple):
    """The form of an `mma.sync`.

    rows, columns, depth: of the matrices. a, b, c: types of elements.
    """

    rows: int
    columns: int
    depth: int
    a: str
    b: str
    c: str

    @property
    def doubles(self) -> bool:
        """True for products of f64, which are not packed."""
        return self.a == "f64"

    @property
    def pack(self) -> int:
        """Elements of a and b in a word."""
        return 1 if self.doubles else _PACKED[self.a]

    @property
    def halves(self) -> int:
        """Accumulators in a word."""
        return 2 if self.c == "f16" else 1

    @property
    def number(self) -> Any:
        """The numpy type of sums."""
        return np.float64 if self.doubles else np.int32 if self.c == "s32" else np.float32

    def accumulator_place(self, k: int, element: int) -> tuple[Array, Array]:
        """Return each lane's row and column of an element of accumulator register `k`."""
        if self.doubles:
            return _ROW, 2 * _COLUMN + k
        if self.c == "f16":
            return _ROW + 8 * k, 2 * _COLUMN + element
        return _ROW + 8 * (k >> 1), 2 * _COLUMN + (k & 1)

    def left(self, registers: Sequence[Array]) -> Array:
        """Return the left matrices (warps, rows, depth) of all lanes' registers."""
        a, pack = (
            np.zeros((len(registers[0]) // WARP, self.rows, self.depth), self.number),
            self.pack,
        )
        for k, values in enumerate(registers):
            part = self._elements(values, self.a)
            for element in range(pack):
                column = pack * _COLUMN + element + 4 * pack * (k >> 1)
                a[:, _ROW + 8 * (k & 1), column] = part[:, :, element]
        return a

    def right(self, registers: Sequence[Array]) -> Array:
        """Return the right matrices (warps, depth, columns) of all lanes' registers."""
        b, pack = (
            np.zeros((len(registers[0]) // WARP, self.depth, self.columns), self.number),
            self.pack,
        )
        for k, values in enumerate(registers):
            part = self._elements(values, self.b)
            for element in range(pack):
                b[:, pack * _COLUMN + element + 4 * pack * k, _ROW] = part[:, :, element]
        return b

    def accumulators(self, registers: Sequence[Array]) -> Array:
        """Return the accumulators (warps, rows, columns) of all lanes' registers."""
        c = np.zeros((len(registers[0]) // WARP, self.rows, self.columns), self.number)
        for k, values in enumerate(registers):
            numbers = _elements(values, "f16") if self.halves == 2 else values
            numbers = numbers.reshape(-1, WARP, self.halves)
            for element in range(self.halves):
                row, column = self.accumulator_place(k, element)
                c[:, row, column] = numbers[:, :, element]
        return c

    def packed(self, sums: Array, k: int) -> Array:
        """Return accumulator register `k` of all lanes."""
        found = [
            sums[:, row, column].reshape(-1)
            for row, column in (self.accumulator_place(k, e) for e in range(self.halves))
        ]
        if self.halves == 2:
            return np.stack(found, -1).astype(np.float16).view(np.uint32).reshape(-1)
        return np.ascontiguousarray(found[0])

    def _elements(self, values: Array, kind: str) -> Array:
        numbers = values if self.doubles else _elements(values, kind)
        return numbers.reshape(-1, WARP, self.pack)


def _mma_form(i: PtxInstruction, parts: Sequence[str]) -> _MmaForm:
    """Return the form of an `mma.sync`, or raise for an unsupported one."""
    found = next((m for m in map(_SHAPE.fullmatch, parts) if m), None)
    result, a_kind, b_kind, c_kind = parts[-4:]
    if found is not None:
        doubles = found[0] == "m8n8k4" and a_kind == "f64"
        is_packed = found[0][:6] == "m16n8k" and a_kind in _PACKED
        if doubles or (is_packed and result in ("f32", "f16", "s32")):
            rows, columns, depth = map(int, found.groups())
            return _MmaForm(rows, columns, depth, a_kind, b_kind, c_kind)
    raise UnsupportedPtxError(f"PTX line {i.line}: the emulator has no {i.opcode}")


def matrix_multiply(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `mma.sync`.

    Supported are m16n8 with f16, bf16, tf32, 8-bit floats and integers and f32, f16 or s32
    accumulators, and f64 m8n8k4. Sums are rounded in f32 in numpy's order. Hardware keeps fewer
    bits, so comparisons need a tolerance.
    """
    form = _mma_form(i, parts)
    word = "f64" if form.doubles else "b32"
    accumulator = {"f64": "f64", "f32": "f32", "s32": "s32", "f16": "b32"}[form.c]
    puts = [setter(names, text) for text in vector_parts(i.operands[0])]
    a_of, b_of, c_of = (
        [getter(names, text, kind) for text in vector_parts(operand)]
        for operand, kind in zip(i.operands[1:4], (word, word, accumulator), strict=True)
    )

    def run(batch: Batch, group: Group) -> None:
        if batch.checks and group.lanes is not None:
            present = _members(batch, group).sum(1)
            if ((present != 0) & (present != WARP)).any():
                batch.fault(
                    "matrix multiply by part of a warp", pc, group.lanes, np.ones(group.count, bool)
                )
        a = form.left([_everywhere(batch, get) for get in a_of])
        b = form.right([_everywhere(batch, get) for get in b_of])
        d = np.matmul(a, b) + form.accumulators([_everywhere(batch, get) for get in c_of])
        for k, put in enumerate(puts):
            put(batch, group, _of_group(group, form.packed(d, k)))

    return run


def load_matrix(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `ldmatrix` of 8 x 8 matrices of 16-bit elements.

    Lane 8 k + r has the address of row r of matrix k.
    """
    if "m8n8" not in parts or parts[-1] != "b16":
        raise UnsupportedPtxError(f"PTX line {i.line}: the emulator has no {i.opcode}")
    puts = [setter(names, text) for text in vector_parts(i.operands[0])]
    where_of = address_getter(names, i.operands[1])
    transposed = "trans" in parts

    def run(batch: Batch, group: Group) -> None:
        if group.lanes is not None:
            batch.fault(
                "matrix load by part of a batch", pc, group.lanes, np.ones(group.count, bool)
            )
            return
        where = np.broadcast_to(where_of(batch, None), batch.lanes)
        where = np.where(where >= SHARED_WINDOW, where - SHARED_WINDOW, where)
        used = batch.lane_in_warp < 8 * len(puts)
        outside = used & ((where < 0) | (where + 16 > batch.shared_size))
        crooked = used & (where % 16 != 0)
        for kind, hit in (("out of bounds", outside), ("misaligned", crooked)):
            if hit.any():
                batch.fault(
                    kind,
                    pc,
                    None,
                    hit,
                    f"row of 16 bytes, shared memory, byte {int(where[int(np.argmax(hit))])}",
                )
        lanes = np.flatnonzero(used & ~outside & ~crooked)
        if batch.copies is not None:
            batch.copies.check(batch, pc, (where + batch.shared_base)[lanes], lanes, 16)
        if "shared" in batch.races:
            batch.races["shared"].access(
                batch, pc, "load", (where + batch.shared_base)[lanes], lanes, 16
            )
        if batch.counters is not None:
            batch.counters.memory(
                batch, pc, "shared", "load", where[lanes], Group(batch.lanes, lanes), 16
            )
        data = batch.spaces["shared"].view(np.dtype(np.uint16))
        rows = np.zeros((batch.lanes, 8), np.uint16)
        rows[lanes] = data[((where + batch.shared_base)[lanes] >> 1)[:, None] + np.arange(8)]
        matrices = rows.reshape(-1, WARP, 8)
        for k, put in enumerate(puts):
            matrix = matrices[:, 8 * k : 8 * k + 8]
            if transposed:
                matrix = matrix.swapaxes(1, 2)
            pair = np.stack([matrix[:, _ROW, 2 * _COLUMN + e] for e in range(2)], -1)
            put(batch, group, np.ascontiguousarray(pair).view(np.uint32).reshape(-1))

    return run
