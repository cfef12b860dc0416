"""Instructions of sm_90a as inline PTX: bulk tensor copies, mbarriers, warpgroup products.

LLVM has no suitable intrinsics for them. Addresses in shared memory are i32 values. Source: PTX
ISA, "mbarrier", "cp.async.bulk.tensor", "wgmma.mma_async", "setmaxnreg".
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.function_writer import FunctionWriter

SWIZZLE_128 = 1 << 62  # of a matrix descriptor
ATOM_BYTES = 1024  # the swizzle's pattern repeats after 8 rows of 128 bytes
STEP_BYTES = 32  # of the reduced dimension of one product, in any element type


def statement(w: FunctionWriter, text: str, *arguments: tuple[str, str, str]) -> None:
    """Write inline PTX without a result. arguments: (constraint, LLVM type, value)."""
    constraints = ",".join([c for c, _, _ in arguments] + ["~{memory}"])
    w.do(
        f'call void asm sideeffect "{text}", "{constraints}"({", ".join([f"{t} {v}" for _, t, v in arguments])}) convergent'
    )


def barrier_initialise(w: FunctionWriter, address: str, arrivals: int) -> None:
    """Initialise an mbarrier for a number of arrivals per phase."""
    statement(w, f"mbarrier.init.shared::cta.b64 [$0], {arrivals};", ("r", "i32", address))


def barriers_are_ready(w: FunctionWriter) -> None:
    """Make initialised mbarriers visible to the copy engine."""
    statement(w, "fence.mbarrier_init.release.cluster;")
    statement(w, "fence.proxy.async.shared::cta;")


def barrier_arrive(w: FunctionWriter, address: str, lane: str) -> None:
    """Arrive once per warp, by its lane 0 (an i32); address 0 means no arrival.

    It is predicated instead of a branch, so that the warp does not diverge.
    """
    text = ("{ .reg .pred %first; setp.eq.u32 %first, $1, 0; setp.ne.and.u32 %first, $0, 0, %first; "
            "@%first mbarrier.arrive.release.cta.shared::cta.b64 _, [$0]; }")  # fmt: skip
    statement(w, text, ("r", "i32", address), ("r", "i32", lane))


def barrier_arrive_expecting(w: FunctionWriter, address: str, size: int) -> None:
    """Arrive once and expect a number of bytes."""
    statement(
        w,
        f"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [$0], {size};",
        ("r", "i32", address),
    )


def barrier_wait(w: FunctionWriter, address: str, parity: str) -> None:
    """Wait until the phase of a parity is complete."""
    text = ("{ .reg .pred %over; again_${:uid}: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %over, [$0], $1; "
            "@!%over bra again_${:uid}; }")  # fmt: skip
    statement(w, text, ("r", "i32", address), ("r", "i32", parity))


def copy_tile(
    w: FunctionWriter, target: str, tensor_map: str, coordinates: Sequence[str], barrier: str
) -> None:
    """Start the copy of a tensor map's box into shared memory; the mbarrier counts its bytes."""
    rank = len(coordinates)
    places = ", ".join([f"${2 + k}" for k in range(rank)])
    text = (f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            f"[$0], [$1, {{{places}}}], [${2 + rank}];")  # fmt: skip
    statement(
        w,
        text,
        ("r", "i32", target),
        ("l", "ptr", tensor_map),
        *[("r", "i32", c) for c in coordinates],
        ("r", "i32", barrier),
    )


def limit_registers(w: FunctionWriter, count: int, *, more: bool) -> None:
    """Set the warpgroup's number of registers per thread."""
    statement(w, f"setmaxnreg.{'inc' if more else 'dec'}.sync.aligned.u32 {count};")


def descriptor(w: FunctionWriter, address: str, leading_bytes: int) -> str:
    """Return the matrix descriptor (i64) of a tile at an address (i32): 128-byte rows, swizzled.

    leading_bytes: between groups of 128 bytes along the kept dimension, if it is the minor one.
    """
    fixed = SWIZZLE_128 | (ATOM_BYTES >> 4) << 32 | (leading_bytes >> 4) << 16
    within = w.operation("and", address, 262143, "i32")
    start = w.cast("zext", w.operation("lshr", within, 4, "i32"), "i32", "i64")
    return w.operation("or", start, fixed)


def multiply_tiles(
    w: FunctionWriter,
    kind: str,
    sums: Sequence[str],
    left: str,
    right: str,
    minor: tuple[bool, bool],
    steps: int,
) -> list[str]:
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
        text += f"add.s64 %da, ${2 * count}, {step * strides[0]}; add.s64 %db, ${2 * count + 1}, {step * strides[1]}; "
        text += f"wgmma.mma_async.sync.aligned.m64n{2 * count}k{depth}.f32.{kind}.{kind} {{{registers}}}, %da, %db, %yes, 1, 1{tail}; "
    text += "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; }"
    return _with_sums(w, text, sums, left, right)


def products_are_done(w: FunctionWriter, sums: Sequence[str]) -> list[str]:
    """Return the sums after all products."""
    return _with_sums(w, "wgmma.wait_group.sync.aligned 0;", sums)


def _with_sums(w: FunctionWriter, text: str, sums: Sequence[str], *descriptors: str) -> list[str]:
    """Write inline PTX that reads and writes registers in place."""
    count = len(sums)
    constraints = ",".join(
        [*["=f"] * count, *[str(k) for k in range(count)], *["l" for _ in descriptors], "~{memory}"]
    )
    result = "{ " + ", ".join(["float"] * count) + " }"
    given = ", ".join(
        [f"float {value}" for value in sums] + [f"i64 {value}" for value in descriptors]
    )
    made = w.value(f'call {result} asm sideeffect "{text}", "{constraints}"({given}) convergent')
    return [w.value(f"extractvalue {result} {made}, {k}") for k in range(count)]
