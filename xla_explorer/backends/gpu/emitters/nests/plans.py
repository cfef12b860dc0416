"""How many threads, blocks and steps reductions along rows and down columns get.

Too few rows or columns to fill the device are cut over several blocks, and a second kernel combines what they leave.
Source: xla/backends/gpu/codegen/emitters/reduction.cc for the shapes; the numbers are ours.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import STATIC_SHARED_BYTES, GpuArchitecture
from xla_explorer.backends.gpu.emitters.nests.tuning import GpuTuning
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.nest.launch import LANES


class RowPlan(NamedTuple):
    """threads: per row, a power of two. rows: per block. width: elements a thread takes at once. steps: how often it does.

    splits: blocks that share a row; chunks: vectors of a split.
    """

    threads: int
    rows: int
    width: int
    steps: int
    splits: int
    chunks: int
    launch: LaunchDimensions


def plan_rows(count: int, length: int, width: int, architecture: GpuArchitecture, tuning: GpuTuning, may_split: bool) -> RowPlan:
    """Dimensions for `count` rows of `length` elements."""
    chunks = length // width
    splits = 1
    if may_split and count < architecture.multiprocessors and length >= 2 * tuning.least_per_split:
        splits = min(2 * architecture.multiprocessors // count, length // tuning.least_per_split, tuning.largest_group)
        chunks = -(-chunks // splits)
        splits = -(-(length // width) // chunks)
    threads = min(1 << (chunks.bit_length() - 1), tuning.largest_group)
    # More work a thread, as long as the device stays full: fewer shuffles and more loads in flight.
    while threads > LANES and threads * count * splits >= 2 * architecture.resident_threads and chunks < tuning.in_flight * threads:
        threads //= 2
    block = max(threads, tuning.block)
    while block > max(threads, LANES) and -(-count * splits * threads // block) < architecture.multiprocessors:
        block //= 2
    rows = block // threads
    blocks = -(-count // rows) * splits if splits == 1 else count * splits
    if splits > 1:
        block, rows = max(threads, LANES), max(LANES // threads, 1)
    steps = -(-chunks // threads)
    why = f"{count} rows of {length} elements: {threads} threads a row, {steps} steps of {width} elements each; {rows} rows a block"
    if splits > 1:
        why += f"; each row is cut into {splits} parts, since {count} rows leave multiprocessors idle"
    return RowPlan(threads, rows, width, steps, splits, chunks, LaunchDimensions(blocks, block, count * splits * threads, why))


class ColumnPlan(NamedTuple):
    """across: threads beside one another, each with `width` columns. above: threads above one another. steps: rows of a thread.

    tiles: blocks beside one another. splits: blocks above one another. outer: blocks for kept dimensions before the reduced ones.
    """

    across: int
    above: int
    width: int
    steps: int
    tiles: int
    splits: int
    outer: int
    launch: LaunchDimensions


def plan_columns(
    outer: int, length: int, columns: int, width: int, held: int, architecture: GpuArchitecture, tuning: GpuTuning, may_split: bool
) -> ColumnPlan:
    """Dimensions for `outer` matrices of `length` rows and `columns` columns. width: the most columns of a thread. held: bytes of the
    accumulators of a column, which threads hand over in shared memory."""
    # Threads on other multiprocessors read more at once than wide accesses do; those of the same block do not.
    widths = [width >> k for k in range(width.bit_length())]
    blocks_of = {w: min(outer * -(-columns // (w * LANES)), architecture.multiprocessors) for w in widths}
    width = next(w for w in widths if blocks_of[w] == blocks_of[1] and (w == 1 or tuning.block * w * held <= STATIC_SHARED_BYTES))
    chunks = columns // width
    across = min(LANES, 1 << (chunks - 1).bit_length())
    tiles = -(-chunks // across)
    block, most = tuning.block, STATIC_SHARED_BYTES // (held * width)
    while block > most and block > LANES:
        block //= 2
    while outer * tiles < architecture.multiprocessors and 2 * block <= min(tuning.lone_block, most):
        block *= 2
    above = min(block // across, 1 << (length.bit_length() - 1))
    above = max(above, LANES // across)
    steps = -(-length // above)
    splits = 1
    wanted = architecture.resident_threads // (across * above)
    if may_split and outer * tiles < wanted // 4 and steps >= 4 * tuning.least_steps:
        splits = min(-(-wanted // (outer * tiles)), steps // tuning.least_steps)
        steps = -(-steps // splits)
        splits = -(-length // (steps * above))
    blocks = outer * tiles * splits
    threads = across * above
    why = (f"{outer} x {columns} columns of {length} elements: {across} x {above} threads, {width} columns and {steps} rows each; "
           f"{outer * tiles} blocks cover the columns")  # fmt: skip
    if splits > 1:
        why += f", which would leave multiprocessors idle, so the rows are cut into {splits} parts"
    return ColumnPlan(across, above, width, steps, tiles, splits, outer, LaunchDimensions(blocks, threads, blocks * threads, why))
