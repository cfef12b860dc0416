"""`ld`, `st`, `atom`, `red`, `cvta`, with checks of every access.

Each access is checked for bounds, alignment and, for reads, for uninitialised bytes. Faulty lanes
read zero and write nothing. Source: PTX ISA, "Data Movement and Conversion Instructions", "Parallel
Synchronization".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import Batch, Group, Lanes
from xla_explorer.backends.gpu.emulator.memory import (
    ALL_WRITTEN,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    MAPPED,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    UNMAPPED,
    WINDOW,
    AddressSpace,
)
from xla_explorer.backends.gpu.emulator.operands import (
    Names,
    address_getter,
    getter,
    setter,
    vector_parts,
)
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction, UnsupportedPtxError
from xla_explorer.backends.gpu.emulator.scalar_types import DTYPES, Array, bf16_to_f32, f32_to_bf16

Step = Callable[[Batch, Group], None]

_SPACES = ("global", "shared", "local", "param", "const")
_NOWHERE = -1  # offset outside a block's shared memory, or a thread's local memory
_UFUNCS: dict[str, Any] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def state_space(parts: Sequence[str]) -> str:
    """Return the space of an opcode, `generic` by default; constants are in global memory here."""
    for part in parts:
        name = part.split("::")[0]
        if name in _SPACES:
            return "global" if name == "const" else name
    return "generic"


def element_type(parts: Sequence[str]) -> str:
    """Return the type of one element."""
    return next(p for p in reversed(parts) if p in DTYPES)


class MemoryInstruction:
    """A memory instruction: address, space and width.

    wanted: element k of a vector load is used. LLVM widens loads to aligned 16 bytes if they cannot
    cross a page; unused elements past the end of a buffer are then no fault. used: mask of the used
    bytes, if the program gives it (three bytes are loaded as four).
    """

    def __init__(
        self,
        pc: int,
        parts: Sequence[str],
        where: Callable[[Batch, Lanes], Array],
        width: int,
        total: int,
        wanted: Callable[[int], bool] = lambda element: True,
        used: int | None = None,
    ) -> None:
        self.pc, self.where, self.width, self.total, self.wanted, self.used = (
            pc,
            where,
            width,
            total,
            wanted,
            used,
        )
        self.space = state_space(parts)
        self.in_bank = (
            "const" in parts
        )  # the constant bank: global memory here, but counted differently

    def resolve(
        self, batch: Batch, group: Group, action: str
    ) -> tuple[AddressSpace, Array, Array | None]:
        """Return the space, each lane's byte offset in it, and the faulty lanes or None.

        Uniform offsets in global memory are one entry.
        """
        where, lanes, space = self.where(batch, group.lanes), group.lanes, self.space
        if space == "generic":
            space, where = _generic(where)
        if len(where) == 1 and (space != "global" or action != "load"):
            where = np.broadcast_to(where, group.count)
        if batch.counters is not None:
            batch.counters.memory(
                batch, self.pc, "const" if self.in_bank else space, action, where, group, self.total
            )
        memory = batch.spaces[space]
        offset = _offsets(batch, space, where, lanes)
        if batch.copies is not None and space == "shared" and action != "store":
            batch.copies.check(
                batch,
                self.pc,
                np.broadcast_to(offset, group.count),
                batch.lanes_of(group),
                self.total,
            )
        races = batch.races.get(space)
        if races is not None:
            races.access(
                batch,
                self.pc,
                action,
                np.broadcast_to(offset, group.count),
                batch.lanes_of(group),
                self.total,
            )
        if not batch.checks:
            return memory, offset, None
        bad = self._bad_places(batch, memory, space, action, offset, where, lanes)
        return (memory, offset, None) if bad is None else (memory, np.where(bad, 0, offset), bad)

    def _bad_places(
        self,
        batch: Batch,
        memory: AddressSpace,
        space: str,
        action: str,
        offset: Array,
        where: Array,
        lanes: Lanes,
    ) -> Array | None:
        total, width = self.total, self.width
        detail = f"{action} of {total} byte{'s' if total > 1 else ''}, {space} memory"
        place = where if space == "global" else None
        # Negative offsets are huge as unsigned ones.
        outside = offset.view(np.uint64) > np.uint64(len(memory.octets) - total)
        crooked = (offset & (total - 1)) != 0
        bad = None
        if crooked.any():
            crooked &= offset != _NOWHERE
        if crooked.any():
            batch.fault(
                "misaligned",
                self.pc,
                lanes,
                crooked,
                f"{detail}, address {hex(int(where[int(np.argmax(crooked))]))}",
                place,
            )
            bad = crooked
        if outside.any():
            bad = outside if bad is None else bad | outside
        safe = offset if bad is None else np.where(bad, 0, offset)
        shadow = memory.shadow_view(width)
        index = safe >> (width.bit_length() - 1)
        unmapped, stale = outside, None
        for k in range(total // width):
            state = shadow[index + k] if k else shadow[index]
            if not (state != ALL_WRITTEN[width]).any() or not self.wanted(k):
                continue
            octets = np.ascontiguousarray(state).view(np.uint8).reshape(-1, width)
            # Only the first byte of a vector's element counts: the rest may come from widening.
            mapped = octets[:, :1] if action == "load" else octets
            written = octets[:, :1] if total > width else octets
            if self.used is not None:
                mapped = written = octets[
                    :, [j for j in range(width) if self.used >> (k * width + j) & 1]
                ]
            missing = (mapped == UNMAPPED).any(1)
            if missing.any():
                unmapped = unmapped | missing
            not_written = (written == MAPPED).any(1)
            stale = not_written if stale is None else stale | not_written
        if bad is not None:
            unmapped = unmapped & ~crooked
        if unmapped.any():
            batch.fault(
                "out of bounds",
                self.pc,
                lanes,
                unmapped,
                self._named(detail, where, unmapped, space),
                place,
            )
            bad = unmapped if bad is None else bad | unmapped
        if stale is not None and action != "store":
            stale = stale & ~unmapped if bad is None else stale & ~bad
            if stale.any():
                batch.fault(
                    "uninitialised read",
                    self.pc,
                    lanes,
                    stale,
                    self._named(detail, where, stale, space),
                    place,
                )
        return bad

    @staticmethod
    def _named(detail: str, where: Array, hit: Array, space: str) -> str:
        if space == "global":
            return detail
        position = int(np.argmax(hit))
        return f"{detail}, byte {int(where[position if len(where) > 1 else 0])}"


def _generic(where: Array) -> tuple[str, Array]:
    """Return the common space of all lanes, and their addresses in it."""
    shared = (where >= SHARED_WINDOW) & (where < LOCAL_WINDOW)
    local = (where >= LOCAL_WINDOW) & (where < LOCAL_WINDOW + WINDOW)
    if shared.all():
        return "shared", where - SHARED_WINDOW
    if local.all():
        return "local", where - LOCAL_WINDOW
    if shared.any() or local.any():
        raise UnsupportedPtxError(
            "a generic access reaches several state spaces at once",
            "name the state space in the PTX",
        )
    return "global", where


def _offsets(batch: Batch, space: str, where: Array, lanes: Lanes) -> Array:
    if space == "global":
        return where - GLOBAL_BASE
    base, size = (
        (batch.shared_base, batch.shared_size)
        if space == "shared"
        else (batch.local_base, batch.local_size)
    )
    return np.where(
        (where >= 0) & (where < size), where + (base if lanes is None else base[lanes]), _NOWHERE
    )


def load(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `ld`, for one element or a vector."""
    kind = element_type(parts)
    dtype = DTYPES[kind]
    width = dtype.itemsize
    targets = vector_parts(i.operands[0])
    puts = [setter(names, name) for name in targets]
    if state_space(parts) == "param" and names.is_register(
        i.operands[1].strip("[] ").partition("+")[0].strip()
    ):
        where = address_getter(names, i.operands[1])  # the parameter is selected at run time

        def load_chosen_parameter(batch: Batch, group: Group) -> None:
            first = where(batch, group.lanes)
            for k, put in enumerate(puts):
                put(
                    batch,
                    group,
                    batch.parameters[(first + k * width)[:, None] + np.arange(width)].view(dtype)[
                        :, 0
                    ],
                )

        return load_chosen_parameter
    if state_space(parts) == "param":
        name, _, plus = i.operands[1].strip("[] ").partition("+")
        if name.strip() not in names.kernel.parameters:
            raise UnsupportedPtxError(
                f"PTX line {i.line} reads {name}, which is not a kernel parameter: calls are not "
                "emulated"
            )
        start = names.kernel.parameters[name.strip()][0] + int(plus or "0", 0)

        def load_parameter(batch: Batch, group: Group) -> None:
            for k, put in enumerate(puts):
                put(
                    batch,
                    group,
                    batch.parameters[start + k * width : start + (k + 1) * width]
                    .copy()
                    .view(dtype),
                )

        return load_parameter

    def wanted(element: int) -> bool:
        return targets[element] != "_" and names.slot(targets[element]) in names.read

    access = MemoryInstruction(
        pc,
        parts,
        address_getter(names, i.operands[1]),
        width,
        width * len(puts),
        wanted,
        i.used_bytes,
    )
    shift = width.bit_length() - 1

    def load_elements(batch: Batch, group: Group) -> None:
        memory, offset, bad = access.resolve(batch, group, "load")
        data, index = memory.view(dtype), offset >> shift
        for k, put in enumerate(puts):
            value = data[index + k] if k else data[index]
            if bad is not None:
                value[bad] = 0
            put(batch, group, value)

    return load_elements


def store(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `st`, for one element or a vector."""
    kind = element_type(parts)
    dtype = DTYPES[kind]
    width = dtype.itemsize
    gets = [getter(names, name, kind) for name in vector_parts(i.operands[1])]
    if state_space(parts) == "param":
        raise UnsupportedPtxError(
            f"PTX line {i.line} passes an argument: calls are not emulated", "inline the function"
        )
    access = MemoryInstruction(
        pc, parts, address_getter(names, i.operands[0]), width, width * len(gets)
    )
    shift = width.bit_length() - 1
    written = ALL_WRITTEN[width]

    def store_elements(batch: Batch, group: Group) -> None:
        memory, offset, bad = access.resolve(batch, group, "store")
        data, shadow, index = memory.view(dtype), memory.shadow_view(width), offset >> shift
        if bad is not None:
            index = index[~bad]
        for k, get in enumerate(gets):
            value = get(batch, group.lanes)
            if bad is not None and len(value) != 1:
                value = value[~bad]
            place = index + k if k else index
            data[place] = value
            shadow[place] = written

    return store_elements


def _ranks(index: Array) -> tuple[Array, Array]:
    """Return a stable order by place, and each lane's rank among those at its place."""
    order = np.argsort(index, kind="stable")
    sorted_index = index[order]
    new = np.r_[True, sorted_index[1:] != sorted_index[:-1]]
    start = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    return order, np.arange(len(order)) - start


def _updated(name: str, kind: str, old: Array, a: Array, b: Array) -> Array:
    """Return the value that an atomic operation stores."""
    result: Array
    if name == "exch":
        return a
    if name == "cas":
        return np.where(old == a, b, old)
    zero, one = old.dtype.type(0), old.dtype.type(1)
    if name == "inc":
        return np.asarray(np.where(old >= a, zero, old + one))
    if name == "dec":
        return np.asarray(np.where((old == zero) | (old > a), a, old - one))
    function = _UFUNCS[name]
    if kind == "bf16":
        return f32_to_bf16(function(bf16_to_f32(old), bf16_to_f32(a)))
    if kind in ("f16x2", "bf16x2"):
        half = np.float16 if kind == "f16x2" else np.uint16
        left, right = (np.ascontiguousarray(x).view(half) for x in (old, a))
        joined = (
            function(left, right)
            if kind == "f16x2"
            else f32_to_bf16(function(bf16_to_f32(left), bf16_to_f32(right)))
        )
        return np.ascontiguousarray(joined).view(np.uint32)
    result = function(old, a)
    return result


def atomic(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `atom` and `red`.

    Lanes execute in order, so that results are deterministic; on a device the order is undefined.
    """
    kind = element_type(parts)
    name = next((p for p in parts[1:] if p in _UFUNCS or p in ("exch", "cas", "inc", "dec")), "")
    if not name or kind.startswith("b128"):
        raise UnsupportedPtxError(f"PTX line {i.line}: the emulator has no {i.opcode}")
    dtype = DTYPES[kind]
    width = dtype.itemsize
    returns = parts[0] == "atom" and i.operands[0] != "_"
    put = setter(names, i.operands[0]) if returns else None
    slot = names.slot(i.operands[0]) if returns else -1
    rest = i.operands[1:] if parts[0] == "atom" else i.operands
    access = MemoryInstruction(pc, parts, address_getter(names, rest[0]), width, width)
    gets = [getter(names, text, kind) for text in rest[1:]]
    simple = name in _UFUNCS and kind not in ("bf16", "f16x2", "bf16x2")
    shift = width.bit_length() - 1

    def update(batch: Batch, group: Group) -> None:
        memory, offset, bad = access.resolve(batch, group, "atomic")
        data, index = memory.view(dtype), offset >> shift
        good = slice(None) if bad is None else ~bad
        index = index[good]
        a, b = (
            np.broadcast_to(get(batch, group.lanes), group.count)[good]
            for get in (gets[0], gets[-1])
        )
        memory.shadow_view(width)[index] = ALL_WRITTEN[width]
        if simple and slot not in names.read:
            _UFUNCS[name].at(data, index, a)
            return
        old = np.empty(len(index), dtype)
        order, rank = _ranks(index)
        if name == "add" and dtype.kind in "iu":
            # The old value plus the previous lanes' sum: no serialisation needed.
            running = np.cumsum(a[order], dtype=dtype) - a[order]
            old[order] = data[index[order]] + running - running[np.arange(len(order)) - rank]
            np.add.at(data, index, a)
        else:
            for turn in range(int(rank.max()) + 1 if len(rank) else 0):
                lanes = order[rank == turn]
                old[lanes] = data[index[lanes]]
                data[index[lanes]] = _updated(name, kind, old[lanes], a[lanes], b[lanes])
        if put is not None:
            if bad is not None:
                everywhere = np.zeros(group.count, dtype)
                everywhere[good] = old
                old = everywhere
            put(batch, group, old)

    return update


def convert_address(names: Names, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `cvta` between a space's own addresses and generic ones."""
    space = next(p.split("::")[0] for p in parts if p.split("::")[0] in _SPACES)
    delta = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAMETER_WINDOW}.get(
        space, 0
    )
    if "to" in parts:
        delta = -delta
    put = setter(names, i.operands[0])
    get = getter(names, i.operands[1], "s64" if parts[-1].endswith("64") else "u32")
    return lambda batch, group: put(batch, group, get(batch, group.lanes) + delta)
