"""Instructions of sm_90a as inline PTX: bulk tensor copies, mbarriers, warpgroup products.

LLVM has no suitable intrinsics for them. Addresses in shared memory are i32 values. Source: PTX
ISA, "mbarrier", "cp.async.bulk.tensor", "wgmma.mma_async", "setmaxnreg".
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import structure_type
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value

SWIZZLE_128 = 1 << 62  # of a matrix descriptor
ATOM_BYTES = 1024  # the swizzle's pattern repeats after 8 rows of 128 bytes
STEP_BYTES = 32  # of the reduced dimension of one product, in any element type


Word32 = Value[Integer]  # an i32


def statement(w: FunctionWriter, text: str, *operands: Value) -> None:
    """Write inline PTX without a result."""
    constraints = [*[_constraint(o) for o in operands], "~{memory}"]
    w.effect("asm", operands, f'void asm sideeffect "{text}", "{",".join(constraints)}"')


def _constraint(operand: Value) -> str:
    return {"i32": "r", "float": "f"}.get(operand.type.text, "l")


def barrier_initialise(w: FunctionWriter, address: Word32, arrivals: int) -> None:
    """Initialise an mbarrier for a number of arrivals per phase."""
    statement(w, f"mbarrier.init.shared::cta.b64 [$0], {arrivals};", address)


def barriers_are_ready(w: FunctionWriter) -> None:
    """Make initialised mbarriers visible to the copy engine."""
    statement(w, "fence.mbarrier_init.release.cluster;")
    statement(w, "fence.proxy.async.shared::cta;")


def barrier_arrive(w: FunctionWriter, address: Word32, lane: Word32) -> None:
    """Arrive once per warp, by its lane 0; address 0 means no arrival.

    It is predicated instead of a branch, so that the warp does not diverge.
    """
    text = ("{ .reg .pred %first; setp.eq.u32 %first, $1, 0; setp.ne.and.u32 %first, $0, 0, "
    "%first; "
            "@%first mbarrier.arrive.release.cta.shared::cta.b64 _, [$0]; }")  # fmt: skip
    statement(w, text, address, lane)


def barrier_arrive_expecting(w: FunctionWriter, address: Word32, size: int) -> None:
    """Arrive once and expect a number of bytes."""
    text = f"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [$0], {size};"
    statement(w, text, address)


def barrier_wait(w: FunctionWriter, address: Word32, parity: Word32) -> None:
    """Wait until the phase of a parity is complete."""
    text = ("{ .reg .pred %over; again_${:uid}: "
    "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %over, [$0], $1; "
            "@!%over bra again_${:uid}; }")  # fmt: skip
    statement(w, text, address, parity)


def copy_tile(
    w: FunctionWriter,
    target: Word32,
    tensor_map: Value[Pointer],
    coordinates: Sequence[Word32],
    barrier: Word32,
) -> None:
    """Start the copy of a tensor map's box into shared memory; the mbarrier counts its bytes."""
    rank = len(coordinates)
    places = ", ".join([f"${2 + k}" for k in range(rank)])
    text = (f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            f"[$0], [$1, {{{places}}}], [${2 + rank}];")  # fmt: skip
    statement(w, text, target, tensor_map, *coordinates, barrier)


def limit_registers(w: FunctionWriter, count: int, *, more: bool) -> None:
    """Set the warpgroup's number of registers per thread."""
    statement(w, f"setmaxnreg.{'inc' if more else 'dec'}.sync.aligned.u32 {count};")


def descriptor(w: FunctionWriter, address: Word32, leading_bytes: int) -> Value[Integer]:
    """Return the matrix descriptor (i64) of a tile at an address (i32): 128-byte rows, swizzled.

    leading_bytes: between groups of 128 bytes along the kept dimension, if it is the minor one.
    """
    fixed = SWIZZLE_128 | (ATOM_BYTES >> 4) << 32 | (leading_bytes >> 4) << 16
    return w.convert("zext", (address & 262143) >> 4, "i64") | fixed


def multiply_tiles(
    w: FunctionWriter,
    kind: str,
    sums: Sequence[Value],
    left: Value[Integer],
    right: Value[Integer],
    minor: tuple[bool, bool],
    steps: int,
) -> list[Value]:
    """Add the product of two tiles in shared memory to the f32 sums, in `steps` wgmma instructions.

    Earlier products are complete on return; these are complete after `products_are_done`. left,
    right: descriptors. minor: for each, the reduced dimension is the minor one.
    """
    count = len(sums)
    registers = ", ".join([f"${k}" for k in range(count)])
    depth = {"tf32": 8, "e4m3": 32, "e5m2": 32}.get(kind, 16)
    orders = ", ".join(["0" if m else "1" for m in minor])
    tail = f", {orders}" if kind in ("bf16", "f16") else ""
    # Along the rows of the swizzle a step is 32 bytes; with a minor kept dimension it is 16 rows of
    # 128 bytes.
    strides = [(STEP_BYTES if m else depth * 128) >> 4 for m in minor]
    text = (
        "{ .reg .b64 %da, %db; .reg .pred %yes; setp.eq.u32 %yes, 0, 0; wgmma.fence.sync.aligned; "
    )
    for step in range(steps):
        text += (
            f"add.s64 %da, ${2 * count}, {step * strides[0]}; add.s64 %db, ${2 * count + 1}, "
            f"{step * strides[1]}; "
        )
        text += (
            f"wgmma.mma_async.sync.aligned.m64n{2 * count}k{depth}.f32.{kind}.{kind} "
            f"{{{registers}}}, %da, %db, %yes, 1, 1{tail}; "
        )
    text += "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; }"
    return _with_sums(w, text, sums, left, right)


def products_are_done(w: FunctionWriter, sums: Sequence[Value]) -> list[Value]:
    """Return the sums after all products."""
    return _with_sums(w, "wgmma.wait_group.sync.aligned 0;", sums)


def _with_sums(
    w: FunctionWriter, text: str, sums: Sequence[Value], *descriptors: Value
) -> list[Value]:
    """Write inline PTX that reads and writes registers in place."""
    count = len(sums)
    constraints = ",".join(
        [*["=f"] * count, *[str(k) for k in range(count)], *["l" for _ in descriptors], "~{memory}"]
    )
    result = structure_type(*[v.type for v in sums])
    detail = f'{result} asm sideeffect "{text}", "{constraints}"'
    made = w.emit_here("asm", result, (*sums, *descriptors), detail)
    return [w.extract_value(made, k, v.type) for k, v in enumerate(sums)]
