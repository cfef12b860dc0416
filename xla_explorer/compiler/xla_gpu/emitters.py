"""XLA:GPU's emitters: reductions with their own emitter, launch dimensions, and kernel times.

Sources of the facts: xla/service/gpu/reduction_utils.cc, model/gpu_performance_model_base.cc.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Final, NamedTuple

from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.compiler.target.units import GpuUnit
from xla_explorer.hlo.instruction import HloInstruction

_MOVES: Final = frozenset({
    "bitcast", "bitcast-convert", "broadcast", "concatenate", "copy", "dynamic-slice", "gather", "iota", "pad", "reshape", "reverse",
    "slice", "transpose",
})  # fmt: skip
# Operations per element of f32 in XLA's estimates for an H100; 3 for other opcodes.
_OPERATIONS = {
    "add": 7, "subtract": 7, "reduce": 7, "divide": 19, "sqrt": 75, "rsqrt": 75, "log": 166, "cbrt": 178, "exponential-minus-one": 190,
    "log-plus-one": 229, "exponential": 79, "atan2": 439, "tanh": 467, "power": 510, "sine": 958, "cosine": 978,
}  # fmt: skip
LAUNCH = 1000.0  # nanoseconds
_BLOCK = 128  # threads of a loop kernel
_COLUMNS_OF_A_THREAD, _ROWS_OF_A_THREAD = (
    16,
    128,
)  # reduced by one thread along rows, and down columns
_COLUMNS_AT_ONCE = 2  # columns per thread, if a warp has as many
_BYTES_PER_CLOCK = 32  # moved by one block
_L2_SPEEDUP, _L1_SPEEDUP = 2.5, 8.0
_OVERLAP = 0.95


def has_reduction_emitter(reduce: HloInstruction) -> bool:
    """Return True if the row or column emitter beats a loop over the result.

    It does if enough elements are reduced along contiguous dimensions.
    """
    runs = reduction_runs(reduce)
    reduced = [size for is_reduced, size in runs if is_reduced]
    if not reduced or (len(reduced) != 1 and len(runs) - len(reduced) > 1):
        return False
    is_reduced, last = runs[-1]
    if is_reduced:
        return last >= WARP_SIZE or WARP_SIZE % last == 0
    rows, columns = reduced[0], last
    return not (
        rows < WARP_SIZE
        or (rows < 2 * WARP_SIZE and columns < WARP_SIZE)
        or (rows < 4 * WARP_SIZE and columns < 8)
        or (rows < 8 * WARP_SIZE and columns < 3)
    )


def reduction_runs(reduce: HloInstruction) -> list[tuple[bool, int]]:
    """Return (is reduced, elements) of each run of dimensions adjacent in memory, slowest first."""
    operand, reduced = reduce.operands[0].shape, set(reduce.attribute("dimensions"))
    runs: list[tuple[bool, int]] = []
    for d in reversed(operand.layout.minor_to_major):
        size = operand.dimensions[d]
        if runs and runs[-1][0] == (d in reduced):
            runs[-1] = (runs[-1][0], runs[-1][1] * size)
        elif size > 1:
            runs.append((d in reduced, size))
    return runs


def launch_dimensions(hero: HloInstruction, elements: int) -> tuple[int, int]:
    """Return the blocks and threads per block that XLA's emitters choose.

    elements: number of elements that a loop stores.
    """
    if hero.opcode.name != "reduce" or not has_reduction_emitter(hero):
        return max(-(-elements // _BLOCK), 1), max(min(elements, _BLOCK), 1)
    runs = reduction_runs(hero)
    is_reduced, last = runs[-1]
    kept = prod([size for reduced, size in runs if not reduced])
    if not is_reduced:
        rows = prod([size for reduced, size in runs if reduced])
        at_once = (
            _COLUMNS_AT_ONCE
            if last % _COLUMNS_AT_ONCE == 0 and last >= _COLUMNS_AT_ONCE * WARP_SIZE
            else 1
        )
        return kept // last * -(-last // (WARP_SIZE * at_once)) * -(
            -rows // (WARP_SIZE * _ROWS_OF_A_THREAD)
        ), WARP_SIZE * WARP_SIZE
    across = min(-(-last // (WARP_SIZE * _COLUMNS_OF_A_THREAD)) * WARP_SIZE, 1024)
    rows = max(256 // across, 1) * max(WARP_SIZE // last, 1)
    return -(-kept // rows), across * max(256 // across, 1)


class KernelTime(NamedTuple):
    """Nanoseconds of a kernel: arithmetic, memory, and the total with overlap and launch."""

    compute: float
    memory: float
    time: float


def kernel_time(
    device: GpuUnit,
    launch: tuple[int, int],
    operations: float,
    reads: Iterable[tuple[float, float]],
    written: float,
) -> KernelTime:
    """Return the times of a kernel launch. reads: (bytes of an array, bytes requested from it)."""
    blocks, threads = launch
    limit, dram = (
        blocks * device.clock_gigahertz * _BYTES_PER_CLOCK,
        device.dram_bytes_per_nanosecond,
    )
    reading = 0.0
    for size, whole in reads:
        fresh = min(size, whole)
        cached = (
            _L2_SPEEDUP * (_L1_SPEEDUP if size < device.l1_bytes else 1.0)
            if size < device.l2_bytes
            else 1.0
        )
        reading += fresh / min(dram, limit) + (whole - fresh) / min(dram * cached, limit)
    lanes = min(blocks, device.multiprocessors) * min(threads, device.lanes)
    compute, memory = operations / (lanes * device.clock_gigahertz * 2), reading + written / dram
    return KernelTime(compute, memory, LAUNCH + compute + memory - _OVERLAP * min(compute, memory))


def operations_of(i: HloInstruction) -> int:
    """Return XLA's estimate of operations per element.

    For a reduction, per element that it reads.
    """
    return 0 if i.opcode.name in _MOVES else _OPERATIONS.get(i.opcode.name, 3)
