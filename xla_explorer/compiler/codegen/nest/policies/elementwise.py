"""The policy of elementwise kernels: collapsed loops, interleaved vectors along memory, a tail."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xla_explorer.compiler.codegen.nest.accesses import is_whole
from xla_explorer.compiler.codegen.nest.directives import Prefetch, Stream
from xla_explorer.compiler.codegen.nest.ir import (
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    Statement,
    Store,
    ids_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies import select_regions
from xla_explorer.compiler.codegen.nest.policies.base import (
    accesses,
    calls_functions,
    chain_of,
    collapses,
    has_masks,
    in_registers,
    lanes_for,
    statements_of,
    tail_may_overlap,
    unrolled_registers,
    widest,
)
from xla_explorer.compiler.codegen.nest.policies.prefetches import (
    PrefetchTile,
    prefetch_rows,
    prefetched_tile,
    rows_bytes,
)
from xla_explorer.compiler.codegen.nest.policies.select_regions import split_select_regions
from xla_explorer.compiler.codegen.nest.policies.short_rows import in_repeated_rows, short_rows
from xla_explorer.compiler.codegen.nest.policies.transposes import in_squares, read_across
from xla_explorer.compiler.codegen.nest.rewriting import overwrites
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Quotient, Remainder
from xla_explorer.hlo.primitive_type import BF16

MOST_UNIFORM_SHIFTS = 2
MOST_LOOPS = (
    64  # of a kernel with planned registers, each against all others; LLVM schedules more loops
)
TINY = 16  # iterations of a kernel ...
TINY_CODE = 32  # ... with this maximum of statements after unrolling
FEW = 3  # strided elements: a register of two and a scalar are more code than a loop
LEAST_STEPS = 128  # iterations of all loops around interleaved code: each unrolled instance is code
LONG_COPY = 2  # as a multiple of L2
LEAST_OVERLAPPED = 64  # minimum ratio of elements to repeated elements for an overlapping tail


def elementwise_policy(
    nest: LoopNest, tuning: Tuning, tasks: int = 1, by_rows: bool = False
) -> Schedule | Reason:
    """Return the schedule of a nest of elementwise code.

    tasks: number of tasks for CPU threads, if possible. by_rows: tasks are required, each with the
    same fraction of the rows. A nest without a vector form keeps plain loops, which LLVM may
    vectorise.
    """
    pieces = Plan(nest, tuning)
    reason = split_select_regions(pieces)
    made = (
        _planned(pieces, tuning, tasks, by_rows)
        if tuning.register_bytes and reason is None
        else reason
    )
    if isinstance(made, Schedule):
        return made
    if reason is not None and len(pieces.directives) < select_regions.MOST_SPLITS:
        pieces = Plan(nest, tuning)
    return _planned(pieces, replace(tuning, register_bytes=0), tasks, by_rows)


def _planned(pieces: Plan, tuning: Tuning, tasks: int, by_rows: bool) -> Schedule | Reason:
    plan = pieces.beginning(tuning)
    squares = any(
        read_across(plan.nest, s) is not None for s in plan.nest.body if isinstance(s, For)
    )
    outermost = plan.outermost()
    if by_rows and len(outermost) != 1:
        message = (
            f"@{plan.nest.name} has {len(outermost)} loops: threads would not share the same rows"
        )
        return refuse("rows-are-not-tasks", message, tasks=tasks)
    if tuning.register_bytes and len(outermost) > MOST_LOOPS:
        return refuse(
            "no-policy",
            f"@{plan.nest.name} has {len(outermost)} loops; LLVM vectorises such kernels",
        )
    for axis in outermost:
        chain = collapsed(axis, tasks if by_rows else 1)
        if isinstance(chain, Reason):
            return chain
        reason = (
            in_lanes(plan, chain)
            if tuning.register_bytes and not _is_long_copy(plan, chain)
            else None
        )
        if reason is not None:
            return reason
    if tuning.register_bytes:
        _stream(plan, squares)
        prefetch_rows(plan)
    if not by_rows:
        plan.parallelize(tasks)
    return plan.schedule()


def _is_long_copy(plan: Plan, chain: list[For]) -> bool:
    """Return True if a loop is a long copy, which LLVM turns into `memcpy`.

    `memcpy` does not load the overwritten lines, as ordinary stores do.
    """
    body, axis = chain[0].body, chain[0].axis
    if (
        len(chain) > 1
        or len(body) != 2
        or not isinstance(body[0], Load)
        or not isinstance(body[1], Store)
    ):
        return False
    size = axis.extent * body[0].element.bytes
    return LONG_COPY * plan.tuning.second_cache.bytes <= size < plan.tuning.streamed_bytes and all(
        x.coefficient(axis) == 1 for _, x in accesses(plan.nest, body)
    )


def collapsed(axis: AxisHandle, rows_of: int) -> list[For] | Reason:
    """Collapse a loop with its inner loops where memory treats them as one.

    rows_of: number of tasks, each with equally many iterations of the loop.
    """
    plan, chain = axis.plan, chain_of(axis.loop)
    while len(chain) > 1:
        outer, inner = chain[-2].axis, chain[-1].axis
        if not collapses(plan.nest, chain[-1].body, outer, inner):
            break
        one = plan.axis(outer).collapse(plan.axis(inner))
        axis = axis if len(chain) > 2 else one
        chain = chain_of(axis.loop)
    if rows_of > 1:
        if axis.extent % rows_of:
            return refuse(
                "rows-are-not-tasks",
                f"{axis.axis} must divide into {rows_of} equal tasks, got {axis.extent} steps",
                tasks=rows_of,
            )
        rows = axis.split(axis.extent // rows_of)
        rows.outer.parallel(rows_of)
        chain = chain_of(rows.inner.loop)
    return chain


def in_lanes(plan: Plan, chain: list[For]) -> Reason | None:
    """Vectorise along the innermost loops."""
    found = read_across(plan.nest, chain[0])
    if found is not None:
        line, across = found
        lanes = lanes_for(plan.nest, statements_of(line[0].body), plan.tuning)
        large = all(
            a.shape.byte_size >= plan.tuning.streamed_transpose_bytes
            for a in plan.nest.arrays
            if a.written
        )
        if in_squares(plan, line, across, lanes, large):
            return None
    if (short := short_rows(plan.nest, chain[0], plan.tuning)) is not None:
        in_repeated_rows(plan, *short)
        return None
    for loop in [s for s, _ in walk((chain[0],)) if isinstance(s, For)]:
        axis = plan.axis(loop.axis)
        if (
            not any(isinstance(s, For) for s in axis.body)
            and (reason := _vectors(axis)) is not None
        ):
            return reason
    return None


def _vectors(axis: AxisHandle) -> Reason | None:
    """Vectorise the innermost loop; lanes that are not contiguous are inserted one by one."""
    if axis.extent == 1:
        return None
    axis = _in_whole_blocks(axis)
    plan, loop, tuning, extent = axis.plan, axis.loop, axis.plan.tuning, axis.extent
    in_order = all(
        offset.coefficient(loop.axis) in (0, 1) for _, offset in accesses(plan.nest, loop.body)
    )
    statements = statements_of(loop.body)
    if (reason := _shifts_are_uniform(plan.nest, statements)) is not None:
        return reason
    if _divides_integers(plan.nest, statements, tuning):
        return None
    lanes, steps = lanes_for(plan.nest, statements, tuning), _steps_around(axis) * extent
    least = LEAST_STEPS if calls_functions(statements) else 0
    lanes = _halved_if_few_steps(loop.axis, statements, tuning, lanes, steps < least * lanes)
    if any(
        isinstance(s, Iota) and s.element.bytes * lanes > tuning.register_bytes for s in statements
    ):
        return refuse(
            "wide-iota", f"@{plan.nest.name} computes its iota in more bits than it stores"
        )
    if extent < lanes:
        if in_order or extent != FEW or calls_functions(statements):
            tail(axis, lanes, in_order)
        return None
    if in_order and (tile := prefetched_tile(plan, loop)):
        return _in_tiles(axis, tile)
    most = min(extent, steps // LEAST_STEPS) // lanes
    interleave = _interleave_count(statements, most, tuning) if in_order else 1
    whole = extent - extent % (lanes * interleave)
    rest: AxisHandle | None = None
    twice = whole + lanes * interleave - extent
    masked = in_order and interleave == 1 and steps < least * lanes and has_masks(plan, loop.body)
    if whole < extent and masked and not tail_may_overlap(axis):
        # all masked: a tail would be another copy of the functions
        axis.split(lanes).inner.vectorize()
        return None
    if whole < extent and not (
        (interleave == 1 or LEAST_OVERLAPPED * twice <= whole) and tail_may_overlap(axis)
    ):
        axis, rest = axis.cut(whole)
    if (
        in_order
        and lanes * widest(statements) > tuning.register_bytes
        and _computes_only_bf16(plan.nest, loop)
    ):
        _in_even_and_odd_lanes(axis.split(lanes * interleave, "overlap").inner, lanes, interleave)
    else:
        in_registers(axis, lanes, interleave, "overlap")
    if rest is not None:
        tail(rest, lanes, in_order)
    return None


def _halved_if_few_steps(
    axis: Axis, statements: list[Statement], tuning: Tuning, lanes: int, few_steps: bool
) -> int:
    """Halve the lanes of a value that needs several registers, if that saves code or a tail."""
    if lanes <= 2 or lanes * widest(statements) <= tuning.register_bytes:
        return lanes
    saves_tail = axis.extent % lanes and not axis.extent % (lanes // 2)
    return lanes // 2 if few_steps or saves_tail else lanes


def _steps_around(axis: AxisHandle) -> int:
    """Return the trip count of the loops around an axis."""
    around = axis.plan.nest.around(axis.name)
    return prod([s.axis.extent for s in around if isinstance(s, For)])


def _in_tiles(axis: AxisHandle, tile: PrefetchTile) -> Reason | None:
    """Prefetch a tile of one array after the other; the remainder is an ordinary loop."""
    if rest := axis.extent % tile.elements:
        axis, left = axis.cut(axis.extent - rest)
        if (reason := _vectors(left)) is not None:
            return reason
    tiles = axis.split(tile.elements)
    reason = _vectors(tiles.inner)
    for array in tile.arrays:
        axis.plan.do(Prefetch(tiles.outer.name, array))
    return reason


def _in_whole_blocks(axis: AxisHandle) -> AxisHandle:
    """Return the loop with a constant stride, inside blocks by which indices are divided."""
    for _, offset in accesses(axis.plan.nest, axis.body):
        for atom in offset.atoms():
            if (
                isinstance(atom, (Quotient, Remainder))
                and atom.dividend.coefficient(axis.axis) == 1
                and _has_whole_blocks(axis.axis, atom.divisor)
            ):
                return _in_whole_blocks(axis.split(atom.divisor).inner)
    return axis


def _has_whole_blocks(axis: Axis, size: int) -> bool:
    """Return True for several whole blocks.

    If a block did not start at a multiple of its size, one block would be split forever.
    """
    return axis.extent > size and axis.extent % size == 0


def _shifts_are_uniform(nest: LoopNest, statements: list[Statement]) -> Reason | None:
    """Return a refusal for shifts by loop-invariant amounts.

    LLVM unswitches a loop on the test of such an amount against the width, into two loops.
    """
    shifts = [
        s for s in statements if isinstance(s, Compute) and s.opcode.name.startswith("shift-")
    ]
    if len(shifts) <= MOST_UNIFORM_SHIFTS:
        return None
    known = {n for s in statements for n in ids_of(s)} | {
        s.id for s, _ in nest.statements() if isinstance(s, Constant)
    }
    uniform = sum([s.operands[1] not in known for s in shifts])
    if uniform <= MOST_UNIFORM_SHIFTS:
        return None
    return refuse(
        "uniform-shifts",
        f"{uniform} shifts of @{nest.name} are by loop-invariant amounts",
        shifts=uniform,
    )


def _divides_integers(nest: LoopNest, statements: list[Statement], tuning: Tuning) -> bool:
    """Return True for divisions of wide integers by run-time values, and no other long operation.

    CPUs divide vectors of narrower integers as floats; these are divided lane by lane.
    """
    known = {s.id for s, _ in nest.statements() if isinstance(s, Constant)}
    computed = [s for s in statements if isinstance(s, Compute)]
    integers = [s for s in computed if not s.element.is_float and not s.element.is_complex]
    divided = [
        s.operands[1]
        for s in integers
        if s.opcode.name in ("divide", "remainder") and s.element.bits > tuning.divided_bits
    ]
    return not known.issuperset(divided) and not calls_functions(
        [s for s in computed if s not in integers]
    )


def _interleave_count(statements: list[Statement], most: int, tuning: Tuning) -> int:
    """Return the number of registers of each value."""
    interleave = (
        tuning.interleave_functions
        if calls_functions(statements)
        else tuning.interleave
        if len(statements) <= tuning.cheap_statements
        else 1
    )
    while interleave > 1 and (
        interleave > most or interleave * len(statements) > tuning.most_statements
    ):
        interleave //= 2
    return interleave


def _computes_only_bf16(nest: LoopNest, loop: For) -> bool:
    """Return True if all contiguous accesses are bf16 in computations without iota."""
    arrays = [
        nest.array(s.array)
        for s, offset in accesses(nest, loop.body)
        if offset.coefficient(loop.axis) == 1
    ]
    kinds = {type(s) for s in statements_of(loop.body)}
    return (
        Compute in kinds
        and Iota not in kinds
        and all(a is not None and a.shape.element_type is BF16 for a in arrays)
    )


def _in_even_and_odd_lanes(axis: AxisHandle, lanes: int, interleave: int) -> None:
    """Vectorise 32-bit words, each of an even and an odd bf16 element."""
    words = (unrolled_registers(axis, lanes) if interleave > 1 else axis).split(2)
    words.outer.vectorize()
    words.inner.unroll()


def tail(axis: AxisHandle, lanes: int, in_order: bool = True) -> None:
    """Schedule a tail: masked registers if the target has them, else narrower and narrower ones.

    in_order: lanes are contiguous in memory.
    """
    if _is_tiny(axis.plan, axis.extent):
        axis.unroll()
        return
    if lanes < axis.extent and axis.extent % lanes:
        if tail_may_overlap(axis):
            axis.split(lanes, "overlap").inner.vectorize()
            return
        blocks = axis.split(lanes, "cut")
        blocks.inner.vectorize()
        assert blocks.rest is not None
        axis = blocks.rest
    extent = axis.extent
    if extent > 1 and ((in_order and has_masks(axis.plan, axis.body)) or extent % lanes == 0):
        above = 1 << (min(extent, lanes) - 1).bit_length()
        width = min(lanes, extent) if extent % lanes == 0 else above
        axis.split(width).inner.vectorize()
        return
    rest: AxisHandle | None = axis
    while rest is not None and rest.extent > 1:
        width = min(lanes, 1 << (rest.extent.bit_length() - 1))
        blocks = rest.split(width, "cut")
        blocks.inner.vectorize()
        rest = blocks.rest


def _is_tiny(plan: Plan, extent: int) -> bool:
    """Return True if unrolled scalar code is smaller than masks and vector constants."""
    statements = statements_of(plan.nest.body)
    steps = prod([bound.axis.extent for bound in plan.nest.axes().values()])
    uneven = extent <= 2 or extent & (extent - 1) != 0
    return (
        uneven
        and steps <= TINY
        and extent * len(statements) <= TINY_CODE
        and not calls_functions(statements)
    )


def _stream(plan: Plan, squares: bool) -> None:
    """Use non-temporal stores if all results are large."""
    results = [a for a in plan.nest.arrays if a.written]
    least = (
        plan.tuning.streamed_transpose_bytes
        if squares
        else plan.tuning.streamed_bytes - rows_bytes(plan.nest)
    )
    large = all(
        a.shape.byte_size >= least and a.shape.element_type.bits in (32, 64) and not a.aliases
        for a in results
    )
    if (
        large
        and all(is_whole(plan.nest, a) for a in results)
        and not any(overwrites(plan.nest, s) for s in plan.nest.body)
    ):
        for array in results:
            plan.do(Stream(array.name))
