"""Cooperation of the threads of a block: barriers, shared memory, warp shuffles, reductions.

Source: PTX ISA, "shfl.sync", "bar.sync"; LLVM, docs/NVPTXUsage.rst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import IndexingBuilder, Word
from xla_explorer.compiler.codegen.ir.types import I32, I64, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Elements
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import stored_type
from xla_explorer.compiler.codegen.lowering.elements import element_of, parts_of
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.hlo.primitive_type import PrimitiveType

_SHARED = Type("ptr", space=3)
Combine = Callable[[list[Scalar], list[Scalar]], list[Scalar]]


class BlockOfThreads:
    """A block of threads of the kernel being written.

    threads: in the block. thread, number: index of the thread in the block, and of the block.
    shared_bytes: of shared memory so far.
    """

    def __init__(
        self, w: IndexingBuilder, threads: int, thread: Value[Integer], number: Value[Integer]
    ) -> None:
        self.w, self.threads = w, threads
        self.shared_bytes = 0
        self._addresses: list[tuple[Value[Pointer], int]] = []  # with their offsets
        self.thread, self.number = thread, number

    @property
    def lane(self) -> Word:
        """Lane index of the thread in its warp."""
        return self.w.mod(self.thread, WARP_SIZE)

    @property
    def warp(self) -> Word:
        """Warp index in the block."""
        return self.w.div(self.thread, WARP_SIZE)

    def shared(self, element_type: PrimitiveType, count: int) -> Elements:
        """Reserve an array of elements in shared memory; `finish` declares the total size."""
        size, parts = (
            count * stored_type(element_type).bits // 8,
            2 if element_type.is_complex else 1,
        )
        first = self._reserved(parts * size)
        addresses = [self._address(first + k * size) for k in range(parts)]
        return Elements(self.w, element_type, addresses)

    def shared_address(self, size: int) -> Value[Pointer]:
        """Reserve bytes of shared memory, 16-byte aligned, and return their address.

        The address is a constant of LLVM IR.
        """
        return self._address(self._reserved(size))

    def _reserved(self, size: int) -> int:
        """Reserve bytes of shared memory and return their offset."""
        offset = -(-self.shared_bytes // 16) * 16
        self.shared_bytes = offset + size
        return offset

    def _address(self, offset: int) -> Value[Pointer]:
        """Return an address whose name is final once the size of the memory is known."""
        address: Value[Pointer] = self.w.named(_address_in("shared", offset), _SHARED)
        self._addresses.append((address, offset))
        return address

    def declare_shared(self, context: KernelContext) -> None:
        """Declare the shared memory, after the kernel's writer has all records."""
        if not self.shared_bytes:
            return
        name = f"shared_{self.shared_bytes}"
        size = f"[{self.shared_bytes} x i8]"
        context.define_variable(name, size, "undef", 16, space=_SHARED.space)
        for address, offset in self._addresses:
            address.name = _address_in(name, offset)

    def barrier(self) -> None:
        """Synchronise all threads of the block and make their writes visible."""
        self.w.declare("llvm.nvvm.barrier0")
        self.w.effect("call", (), "void @llvm.nvvm.barrier0")

    def _each_moved(
        self, values: list[Scalar], mode: str, lane: object, clamp: int
    ) -> list[Scalar]:
        return [
            element_of([self._moved(part, mode, lane, clamp) for part in parts_of(value)])
            for value in values
        ]

    def _moved(self, value: Value, mode: str, lane: object, clamp: int) -> Value:
        """Shuffle a value of another lane, as one or two 32-bit words."""
        w = self.w
        bits = w.to_bits(value)
        if bits.type.bits == 64:
            words = [
                w.convert("trunc", bits, "i32"),
                w.convert("trunc", w.binary("lshr", bits, 32), "i32"),
            ]
            low, high = [
                w.convert("zext", part, "i64")
                for part in [self._shuffle(word, mode, lane, clamp) for word in words]
            ]
            moved = w.binary("or", w.binary("shl", high, 32), low)
        elif bits.type.bits == 32:
            moved = self._shuffle(bits, mode, lane, clamp)
        else:
            moved = w.convert(
                "trunc",
                self._shuffle(w.convert("zext", bits, "i32"), mode, lane, clamp),
                bits.type.scalar,
            )
        return w.from_bits(moved) if value.type.is_float else w.retyped(moved, value.type)

    def _shuffle(self, value: Value, mode: str, lane: object, clamp: int) -> Value:
        arguments = [self.w.named(x, I32) for x in (-1, value, lane, clamp)]
        name = f"llvm.nvvm.shfl.sync.{mode}.i32"
        self.w.declare(name, I32, I32, I32, I32, I32)
        return self.w.emit_here("call", I32, tuple(arguments), f"i32 @{name}")

    def from_lane_below(self, values: list[Scalar], distance: int) -> list[Scalar]:
        """Return values of the lane `distance` below; the lowest lanes get their own."""
        return self._each_moved(values, "up", distance, 0)

    def from_lane(self, values: list[Scalar], lane: Word) -> list[Scalar]:
        """Return values of a lane."""
        return self._each_moved(values, "idx", self.w.index_as(lane, I32), WARP_SIZE - 1)

    def combine_lanes(self, values: list[Scalar], lanes: int, combine: Combine) -> list[Scalar]:
        """Reduce over groups of `lanes` adjacent lanes by a fixed tree, for each lane.

        lanes: a power of two up to 32.
        """
        distance = lanes // 2
        while distance:
            values = combine(values, self._each_moved(values, "bfly", distance, WARP_SIZE - 1))
            distance //= 2
        return values

    def combine_threads(
        self, values: list[Scalar], types: Sequence[PrimitiveType], group: int, combine: Combine
    ) -> list[Scalar]:
        """Reduce over groups of `group` adjacent threads, for each thread.

        group: a power of two. Shuffles within the warps, then one value a warp through shared
        memory, then shuffles again.
        """
        w = self.w
        values = self.combine_lanes(values, min(group, WARP_SIZE), combine)
        if group <= WARP_SIZE:
            return values
        warps = group // WARP_SIZE
        slots = [self.shared(t, self.threads // WARP_SIZE) for t in types]
        with w.only_if(w.compare("eq", w.named(self.lane, I64), 0)):
            for slot, value in zip(slots, values, strict=True):
                slot.store(self.warp, value)
        self.barrier()
        first = w.mul(w.div(self.thread, group), warps)
        at = w.add(first, w.mod(self.thread, warps))
        return self.combine_lanes([slot.load(at) for slot in slots], warps, combine)


def _address_in(name: str, offset: int) -> str:
    """Return an address in a variable of shared memory."""
    return f"getelementptr inbounds (i8, {_SHARED} @{name}, i64 {offset})"
