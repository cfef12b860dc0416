"""What the threads of a block do together: their numbers, barriers, shared memory, warp shuffles, reductions over some of them.

Source: PTX ISA, "shfl.sync", "bar.sync"; LLVM, docs/NVPTXUsage.rst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from xla_explorer.compiler.codegen.elemental.arithmetic import select_value
from xla_explorer.compiler.codegen.elemental.registry import Complex, Given, Scalar
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import I32, I64
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import from_memory, memory_type, scalar_of, to_memory, type_bits, value_type
from xla_explorer.hlo.primitive_type import PrimitiveType

WARP = 32
Combine = Callable[[list[Scalar], list[Scalar]], list[Scalar]]


class SharedArray:
    """An array of scalars in shared memory (of pairs, for complex numbers: two arrays)."""

    def __init__(self, w: FunctionWriter, name: str, element_type: PrimitiveType, offset: int, count: int) -> None:
        self.w, self.element_type = w, element_type
        self.kind = memory_type(element_type)
        size = type_bits(self.kind) // 8
        self.parts = [f"getelementptr inbounds (i8, ptr addrspace(3) {name}, i64 {offset + k * count * size})"
                      for k in range(2 if element_type.is_complex else 1)]  # fmt: skip

    def _address(self, base: str, at: str | int) -> str:
        return self.w.element_at(base, self.kind, at, "ptr addrspace(3)")

    def load(self, at: str | int) -> Scalar:
        """The element at a position."""
        size = type_bits(self.kind) // 8
        values = [self.w.read(self._address(base, at), self.kind, size, "ptr addrspace(3)") for base in self.parts]
        if self.element_type.is_complex:
            t = value_type(self.element_type)
            return Complex(*[self.w.named(value, t) for value in values])
        return from_memory(self.w, values[0], self.element_type)

    def store(self, at: str | int, value: Given) -> None:
        """Set the element at a position."""
        size, scalar = type_bits(self.kind) // 8, scalar_of(self.w, value, self.element_type)
        values = scalar if isinstance(scalar, Complex) else (to_memory(self.w, scalar, self.element_type),)
        for base, part in zip(self.parts, values, strict=True):
            self.w.write(part, self._address(base, at), self.kind, size, "ptr addrspace(3)")


class Block:
    """One block of threads of the kernel being written. threads: in the block. shared_bytes: of shared memory so far."""

    def __init__(self, context: KernelContext, threads: int) -> None:
        self.context, self.w, self.threads = context, context.writer, threads
        self.shared_bytes = 0
        self.thread = self._register("tid.x")
        self.number = self._register("ctaid.x")

    def _register(self, name: str) -> str:
        return self.w.convert("zext", self.w.intrinsic(f"llvm.nvvm.read.ptx.sreg.{name}", I32), "i64").name

    @property
    def lane(self) -> str | int:
        """The thread's number in its warp."""
        return self.w.mod(self.thread, WARP)

    @property
    def warp(self) -> str | int:
        """The warp's number in the block."""
        return self.w.div(self.thread, WARP)

    def shared(self, element_type: PrimitiveType, count: int) -> SharedArray:
        """So many elements of shared memory; `finish` says how much there is in all."""
        width = type_bits(memory_type(element_type)) // 8 * (2 if element_type.is_complex else 1)
        return SharedArray(self.w, self._name, element_type, self._reserved(width * count), count)

    def shared_address(self, size: int) -> str:
        """The address of so many bytes of shared memory, a multiple of 16, as a constant of LLVM IR."""
        return f"getelementptr inbounds (i8, ptr addrspace(3) {self._name}, i64 {self._reserved(size)})"

    def _reserved(self, size: int) -> int:
        """Where so many bytes begin."""
        offset = -(-self.shared_bytes // 16) * 16
        self.shared_bytes = offset + size
        return offset

    _name = "@SHARED"  # replaced when the size is known

    def finish(self) -> None:
        """Declare the shared memory."""
        if not self.shared_bytes:
            return
        name = f"@shared_{self.shared_bytes}"
        self.context.globals[f"{name} = internal addrspace(3) global [{self.shared_bytes} x i8] undef, align 16"] = None
        self.w.rename(self._name, name)

    def barrier(self) -> None:
        """All threads of the block have come here, and see what the others have written."""
        self.w.declare("declare void @llvm.nvvm.barrier0()")
        self.w.effect("call", (), "void @llvm.nvvm.barrier0")

    @contextmanager
    def only_if(self, condition: str | None) -> Iterator[None]:
        """Run what is inside where the condition holds; None: everywhere."""
        if condition is None or condition == "true":
            yield
            return
        w = self.w
        inside, after = w.fresh_label("only"), w.fresh_label("after")
        w.branch_if(condition, inside, after)
        w.start_block(inside)
        yield
        w.branch(after)
        w.start_block(after)

    def shuffle_xor(self, value: str, llvm_type: str, distance: int) -> str:
        """The value of the lane whose number differs in the bits of `distance`."""
        return self._moved(value, llvm_type, "bfly", distance, WARP - 1)

    def from_lane_below(self, values: list[Scalar], types: Sequence[PrimitiveType], distance: int) -> list[Scalar]:
        """Values of the lane `distance` below; the lowest lanes get their own."""
        return self._each_moved(values, types, "up", distance, 0)

    def from_lane(self, values: list[Scalar], types: Sequence[PrimitiveType], lane: str | int) -> list[Scalar]:
        """Values of a lane."""
        number = lane if isinstance(lane, int) else self.w.cast("trunc", lane, "i64", "i32")
        return self._each_moved(values, types, "idx", number, WARP - 1)

    def _each_moved(self, values: list[Scalar], types: Sequence[PrimitiveType], mode: str, lane: str | int, clamp: int) -> list[Scalar]:
        moved: list[Scalar] = []
        for value, element_type in zip(values, types, strict=True):
            t = value_type(element_type)
            parts = [self.w.named(self._moved(part.name, t.scalar, mode, lane, clamp), t)
                     for part in (value if isinstance(value, Complex) else (value,))]  # fmt: skip
            moved.append(Complex(*parts) if element_type.is_complex else parts[0])
        return moved

    def _moved(self, value: str, llvm_type: str, mode: str, distance: str | int, clamp: int) -> str:
        w = self.w
        bits = type_bits(llvm_type)
        if bits == 64:
            whole = value if llvm_type == "i64" else w.cast("bitcast", value, llvm_type, "i64")
            low = w.cast("trunc", whole, "i64", "i32")
            high = w.cast("trunc", w.operation("lshr", whole, 32), "i64", "i32")
            moved = [self._shuffle(part, mode, distance, clamp) for part in (low, high)]
            low, high = [w.cast("zext", part, "i32", "i64") for part in moved]
            whole = w.operation("or", w.operation("shl", high, 32), low)
            return whole if llvm_type == "i64" else w.cast("bitcast", whole, "i64", llvm_type)
        if llvm_type == "float":
            return w.cast("bitcast", self._shuffle(w.cast("bitcast", value, "float", "i32"), mode, distance, clamp), "i32", "float")
        if bits == 32:
            return self._shuffle(value, mode, distance, clamp)
        if llvm_type == "half":
            value = w.cast("bitcast", value, "half", "i16")
        word = w.cast("zext", value, f"i{bits}", I32)
        narrow = w.cast("trunc", self._shuffle(word, mode, distance, clamp), I32, f"i{bits}")
        return w.cast("bitcast", narrow, "i16", "half") if llvm_type == "half" else narrow

    def _shuffle(self, value: str, mode: str, lane: str | int, clamp: int) -> str:
        arguments = [self.w.named(x, I32) for x in (-1, value, lane, clamp)]
        return self.w.intrinsic(f"llvm.nvvm.shfl.sync.{mode}.i32", I32, *arguments).name

    def combine_lanes(self, values: list[Scalar], types: Sequence[PrimitiveType], lanes: int, combine: Combine) -> list[Scalar]:
        """The combination over groups of `lanes` (a power of two up to 32) neighbouring lanes, in each of them. A fixed tree."""
        distance = lanes // 2
        while distance:
            others = self._each_moved(values, types, "bfly", distance, WARP - 1)
            values = combine(values, others)
            distance //= 2
        return values

    def combine_threads(self, values: list[Scalar], types: Sequence[PrimitiveType], group: int, combine: Combine) -> list[Scalar]:
        """The combination over groups of `group` (a power of two) neighbouring threads, in each of them: shuffles within the warps,
        then one value a warp through shared memory, then shuffles again."""
        w = self.w
        values = self.combine_lanes(values, types, min(group, WARP), combine)
        if group <= WARP:
            return values
        warps = group // WARP
        slots = [self.shared(t, self.threads // WARP) for t in types]
        with self.only_if(w.test("eq", self.lane, 0)):
            for slot, value in zip(slots, values, strict=True):
                slot.store(self.warp, value)
        self.barrier()
        first = w.mul(w.div(self.thread, group), warps)
        at = w.add(first, w.mod(self.thread, warps))
        return self.combine_lanes([slot.load(at) for slot in slots], types, warps, combine)


def both(w: FunctionWriter, a: str | None, b: str | None) -> str | None:
    """Two conditions at once; None is always true."""
    return a or b if a is None or b is None else w.operation("and", a, b, "i1")


def smaller(w: FunctionWriter, a: str | int, b: str | int) -> str | int:
    """The minimum of two positions, as unsigned numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return w.intrinsic("llvm.umin.i64", I64, w.named(a, I64), w.named(b, I64)).name


def unravel(w: FunctionWriter, number: str | int, extents: Sequence[int]) -> list[str | int]:
    """The index of element `number` (which exists) of a row-major array."""
    index: list[str | int] = []
    for position, extent in enumerate(reversed(extents)):
        index.insert(0, w.mod(number, extent) if position + 1 < len(extents) else number)
        number = w.div(number, extent)
    return index


def chosen(w: FunctionWriter, condition: str, types: Sequence[PrimitiveType], then: Sequence[Given],
           otherwise: Sequence[Given]) -> list[Scalar]:  # fmt: skip
    """`condition ? then : otherwise`, value by value."""
    return [select_value(w, condition, t, a, b) for t, a, b in zip(types, then, otherwise, strict=True)]
