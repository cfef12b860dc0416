"""The policy of elementwise kernels: collapsed loops, interleaved vectors along memory, a tail."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xla_explorer.compiler.codegen.nest.accesses import is_whole
from xla_explorer.compiler.codegen.nest.directives import (
    Collapse,
    CutLoop,
    OverlapTail,
    Parallel,
    Prefetch,
    Split,
    Stream,
    Unroll,
    Vectorize,
)
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
from xla_explorer.compiler.codegen.nest.policies import select_regions
from xla_explorer.compiler.codegen.nest.policies.base import (
    Plan,
    Tuning,
    accesses,
    calls_functions,
    chain_of,
    collapses,
    has_masks,
    in_blocks,
    in_registers,
    lanes_for,
    statements_of,
    tail_may_overlap,
    vectorize_interleaved,
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
from xla_explorer.compiler.codegen.nest.transformations import for_of
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
LONG_COPY = 2 << 20  # bytes, more than L2
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
    names = [s.axis.name for s in plan.nest.body if isinstance(s, For)]
    if by_rows and len(names) != 1:
        message = f"@{plan.nest.name} has {len(names)} loops: threads would not share the same rows"
        return refuse("rows-are-not-tasks", message, tasks=tasks)
    if tuning.register_bytes and len(names) > MOST_LOOPS:
        return refuse(
            "no-policy",
            f"@{plan.nest.name} has {len(names)} loops; LLVM vectorises such kernels",
        )
    for name in names:
        chain = collapsed(plan, name, tasks if by_rows else 1)
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
    return LONG_COPY <= size < plan.tuning.streamed_bytes and all(
        x.coefficient(axis) == 1 for _, x in accesses(plan.nest, body)
    )


def collapsed(plan: Plan, name: str, rows_of: int) -> list[For] | Reason:
    """Collapse a loop with its inner loops where memory treats them as one.

    rows_of: number of tasks, each with equally many iterations of the loop.
    """
    loop = for_of(plan.nest, name)
    chain = chain_of(loop)
    while len(chain) > 1:
        outer, inner = chain[-2].axis, chain[-1].axis
        if not collapses(plan.nest, chain[-1].body, outer, inner):
            break
        plan.do(Collapse(outer.name, inner.name))
        first = chain[0].axis.name if len(chain) > 2 else outer.name + inner.name
        loop = for_of(plan.nest, first)
        chain = chain_of(loop)
    if rows_of > 1:
        rows = chain[0].axis
        if rows.extent % rows_of:
            return refuse(
                "rows-are-not-tasks",
                f"{rows} must divide into {rows_of} equal tasks, got {rows.extent} steps",
                tasks=rows_of,
            )
        plan.do(Split(rows.name, rows.extent // rows_of))
        plan.do(Parallel(f"{rows.name}o", rows_of))
        loop = for_of(plan.nest, f"{rows.name}i")
        chain = chain_of(loop)
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
    loops = [chain[0].axis, *[s.axis for s, _ in walk(chain[0].body) if isinstance(s, For)]]
    for axis in loops:
        one = for_of(plan.nest, axis.name)
        if (
            not any(isinstance(s, For) for s in one.body)
            and (reason := _vectors(plan, one)) is not None
        ):
            return reason
    return None


def _vectors(plan: Plan, loop: For) -> Reason | None:
    """Vectorise the innermost loop; lanes that are not contiguous are inserted one by one."""
    if loop.axis.extent == 1:
        return None
    loop = _in_whole_blocks(plan, loop)
    axis, tuning = loop.axis, plan.tuning
    in_order = all(
        offset.coefficient(axis) in (0, 1) for _, offset in accesses(plan.nest, loop.body)
    )
    statements = statements_of(loop.body)
    if (reason := _shifts_are_uniform(plan.nest, statements)) is not None:
        return reason
    if _divides_integers(plan.nest, statements):
        return None
    lanes, steps = lanes_for(plan.nest, statements, tuning), _steps_around(plan, loop) * axis.extent
    least = LEAST_STEPS if calls_functions(statements) else 0
    lanes = _halved_if_few_steps(axis, statements, tuning, lanes, steps < least * lanes)
    if any(
        isinstance(s, Iota) and s.element.bytes * lanes > tuning.register_bytes for s in statements
    ):
        return refuse(
            "wide-iota", f"@{plan.nest.name} computes its iota in more bits than it stores"
        )
    if axis.extent < lanes:
        if in_order or axis.extent != FEW or calls_functions(statements):
            tail(plan, axis.name, lanes, in_order)
        return None
    if in_order and (tile := prefetched_tile(plan, loop)):
        return _in_tiles(plan, loop, tile)
    most = min(axis.extent, steps // LEAST_STEPS) // lanes
    interleave = _interleave_count(statements, most, tuning) if in_order else 1
    whole = axis.extent - axis.extent % (lanes * interleave)
    name, rest = axis.name, ""
    twice = whole + lanes * interleave - axis.extent
    masked = in_order and interleave == 1 and steps < least * lanes and has_masks(plan, loop.body)
    if whole < axis.extent and masked and not tail_may_overlap(plan, name):
        plan.do(Split(name, lanes))  # all masked: a tail would be another copy of the functions
        plan.do(Vectorize(f"{name}i"))
        return None
    if whole < axis.extent and not (
        (interleave == 1 or LEAST_OVERLAPPED * twice <= whole) and tail_may_overlap(plan, name)
    ):
        plan.do(CutLoop(name, whole))
        name, rest = f"{axis.name}m", f"{axis.name}r"
    plan.do(in_blocks(plan, name, lanes * interleave))
    if (
        in_order
        and lanes * widest(statements) > tuning.register_bytes
        and _computes_only_bf16(plan.nest, loop)
    ):
        _in_even_and_odd_lanes(plan, f"{name}i", lanes, interleave)
    else:
        vectorize_interleaved(plan, f"{name}i", lanes, interleave)
    if rest:
        tail(plan, rest, lanes, in_order)
    return None


def _halved_if_few_steps(
    axis: Axis, statements: list[Statement], tuning: Tuning, lanes: int, few_steps: bool
) -> int:
    """Halve the lanes of a value that needs several registers, if that saves code or a tail."""
    if lanes <= 2 or lanes * widest(statements) <= tuning.register_bytes:
        return lanes
    saves_tail = axis.extent % lanes and not axis.extent % (lanes // 2)
    return lanes // 2 if few_steps or saves_tail else lanes


def _steps_around(plan: Plan, loop: For) -> int:
    """Return the trip count of a loop, with the loops around it."""
    return prod([s.axis.extent for s in plan.nest.around(loop.axis.name) if isinstance(s, For)])


def _in_tiles(plan: Plan, loop: For, tile: PrefetchTile) -> Reason | None:
    """Prefetch a tile of one array after the other; the remainder is an ordinary loop."""
    name, rest = loop.axis.name, loop.axis.extent % tile.elements
    if rest:
        plan.do(CutLoop(name, loop.axis.extent - rest))
        left = for_of(plan.nest, f"{name}r")
        name += "m"
        if (reason := _vectors(plan, left)) is not None:
            return reason
    plan.do(Split(name, tile.elements))
    inner = for_of(plan.nest, f"{name}i")
    reason = _vectors(plan, inner)
    for array in tile.arrays:
        plan.do(Prefetch(f"{name}o", array))
    return reason


def _in_whole_blocks(plan: Plan, loop: For) -> For:
    """Return the loop with a constant stride, inside blocks by which indices are divided."""
    axis = loop.axis
    for _, offset in accesses(plan.nest, loop.body):
        for atom in offset.atoms():
            if (
                isinstance(atom, (Quotient, Remainder))
                and atom.dividend.coefficient(axis) == 1
                and _has_whole_blocks(axis, atom.divisor)
            ):
                plan.do(Split(axis.name, atom.divisor))
                inner = for_of(plan.nest, f"{axis.name}i")
                return _in_whole_blocks(plan, inner)
    return loop


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


def _divides_integers(nest: LoopNest, statements: list[Statement]) -> bool:
    """Return True for integer divisions by run-time values without other long operations.

    No machine has vector division of integers: each lane is separate code.
    """
    known = {s.id for s, _ in nest.statements() if isinstance(s, Constant)}
    computed = [s for s in statements if isinstance(s, Compute)]
    integers = [s for s in computed if not s.element.is_float and not s.element.is_complex]
    divided = [s.operands[1] for s in integers if s.opcode.name in ("divide", "remainder")]
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


def _in_even_and_odd_lanes(plan: Plan, name: str, lanes: int, interleave: int) -> None:
    """Vectorise 32-bit words, each of an even and an odd bf16 element."""
    if interleave > 1:
        plan.do(Split(name, lanes))
        plan.do(Unroll(f"{name}o"))
        name += "i"
    plan.do(Split(name, 2))
    plan.do(Vectorize(f"{name}o"))
    plan.do(Unroll(f"{name}i"))


def tail(plan: Plan, name: str, lanes: int, in_order: bool = True) -> None:
    """Schedule a tail: masked registers if the target has them, else narrower and narrower ones.

    in_order: lanes are contiguous in memory.
    """
    axis = plan.nest.axes()[name].axis
    if _is_tiny(plan, axis.extent):
        plan.do(Unroll(name))
        return
    if lanes < axis.extent and axis.extent % lanes:
        if tail_may_overlap(plan, name):
            plan.do(OverlapTail(name, lanes))
            plan.do(Vectorize(f"{name}i"))
            return
        whole = axis.extent - axis.extent % lanes
        plan.do(CutLoop(name, whole))
        in_registers(plan, f"{name}m", lanes, 1)
        name = f"{name}r"
        axis = plan.nest.axes()[name].axis
    loop = for_of(plan.nest, name)
    if axis.extent > 1 and ((in_order and has_masks(plan, loop.body)) or axis.extent % lanes == 0):
        above = 1 << (min(axis.extent, lanes) - 1).bit_length()
        plan.do(Split(name, min(lanes, axis.extent) if axis.extent % lanes == 0 else above))
        plan.do(Vectorize(f"{name}i"))
        return
    while axis.extent > 1:
        whole = min(lanes, 1 << (axis.extent.bit_length() - 1))
        steps = axis.extent - axis.extent % whole
        if steps < axis.extent:
            plan.do(CutLoop(axis.name, steps))
        main = axis.name if steps == axis.extent else f"{axis.name}m"
        plan.do(Split(main, whole))
        plan.do(Vectorize(f"{main}i"))
        if steps == axis.extent:
            return
        axis = plan.nest.axes()[f"{axis.name}r"].axis


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
