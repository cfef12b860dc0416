"""Reductions, any dimensions, one or several operands, with whatever was fused in front of them.

Four shapes of code: `small` (a handful of elements, unrolled per result), `row` (the minor dimension is reduced: accumulators in
registers, several at once by the vectoriser), `column` (the minor dimension is kept: a row of accumulators in the first-level cache,
four source rows at a time) and `thread` (GPU: one thread a result).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from contextlib import ExitStack

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.function_writer import NO_VECTOR
from xla_explorer.compiler.codegen.kernels.accumulators import ROW_TILE, Accumulators
from xla_explorer.compiler.codegen.kernels.collapse import CollapsedEmitter, dimension_maps, extents_of, group_dimensions
from xla_explorer.compiler.codegen.kernels.index_reduction import finds_extreme_and_index
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.reducer import Reducer
from xla_explorer.compiler.codegen.kernels.shares import INNERMOST_GRAIN
from xla_explorer.compiler.codegen.kernels.stretches import plan_stretches, write_stretches
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.hlo.instruction import HloInstruction

CHUNK = 4096  # elements summed before a partial sum joins the total
LANES = (16, 32, 64)  # accumulators side by side of an argmax, the more the longer the row
STREAMS = 4  # sequential streams of one long sum read at once
SMALL = 8  # reductions over so few elements are unrolled
Give = Callable[[list["str | int"], list[Scalar]], None]  # what becomes of the accumulators of a result


class ReductionState(Reducer):
    """The reduce of a CPU kernel, and where it reads: a stretch of a reduction starts from other values, at another place."""

    starts: list[Scalar] | None = None  # instead of the initial values
    place: Callable[[IndexTuple], IndexTuple] | None = None  # where an index is read

    def start_of_parts(self) -> list[Scalar] | None:
        """What any number of accumulators may start from without changing the result; None where there is nothing of the kind."""
        return self.initial_values() if finds_extreme_and_index(self.reduce.to_apply) else self.identity()

    def initial_values(self) -> list[Scalar]:
        """The values to start from, in accumulator types: the initial values, but for a stretch of a reduction."""
        if self.starts is not None:
            return self.starts
        return [convert_value(self.w, self._scalar(i), t, wide) for i, t, wide in zip(self.initial, self.types, self.wide, strict=True)]

    def _scalar(self, i: HloInstruction) -> Scalar:
        emitter = self.emitter
        return emitter.element(i, (0,) * emitter.rank) if isinstance(emitter, _CollapsedReductionEmitter) else emitter.element(i, ())

    def combine(self, accumulators: list[Scalar], index: IndexTuple) -> list[Scalar]:
        """Accumulators with the input elements at the index taken in."""
        return self.join(accumulators, self.elements(index if self.place is None else self.place(index)))


class _CollapsedReductionEmitter(CollapsedEmitter):
    rank: int


def write_reduction_kernel(context: KernelContext) -> None:
    """Choose the shape of code and write it."""
    reduce = context.roots[0]
    if 0 in reduce.shape.dimensions if reduce.shape.is_array else 0 in reduce.shape.tuple_shapes[0].dimensions:
        return
    count = len(reduce.operands) // 2
    inputs = reduce.operands[:count]
    dimensions = inputs[0].shape.dimensions
    reduced = set(reduce.attribute("dimensions"))
    out_shape = context.outputs[0].shape
    # A result that is not row-major is stored dimension by dimension.
    natural = out_shape.layout.is_default or out_shape.rank <= 1
    borders = {d for d in range(len(dimensions) - 1) if (d in reduced) != (d + 1 in reduced) or not natural}
    maps = dimension_maps(inputs, context.arrays)
    emitter: ElementalEmitter
    if maps is not None and all(initial_is_simple(i, context) for i in reduce.operands[count:]):
        groups = group_dimensions(dimensions, maps, borders)
        for i in reduce.operands[count:]:
            maps[i] = ()
            if i.opcode.name == "convert":
                maps[i.operands[0]] = ()
        collapsed = _CollapsedReductionEmitter(context.writer, context.arrays, maps, groups)
        collapsed.rank = len(groups)
        emitter = collapsed
    else:
        groups = [[d] for d in range(len(dimensions))]
        emitter = context.emitter()
    extents = extents_of(groups, dimensions)
    is_reduced = [group[0] in reduced for group in groups]
    kept_dimensions = [d for d in range(len(dimensions)) if d not in reduced]
    place = {d: k for k, d in enumerate(kept_dimensions)}
    strides = [0 if flag else out_shape.strides[place[group[-1]]] for group, flag in zip(groups, is_reduced, strict=True)]
    state = ReductionState(context.writer, emitter, reduce)
    total = math.prod([e for e, flag in zip(extents, is_reduced, strict=True) if flag])
    if total == 0:
        with context.iterate([e for e, flag in zip(extents, is_reduced, strict=True) if not flag]) as kept:
            store_results(context, state.results(state.initial_values()), context.writer.linear(_merge(kept, is_reduced), strides))
        return
    def give(index: list[str | int], accumulators: list[Scalar]) -> None:
        store_results(context, state.results(accumulators), context.writer.linear(index, strides))

    if total <= SMALL:
        _per_result(context, state, extents, is_reduced, give, True)
        return
    one_result = all(e == 1 for e, flag in zip(extents, is_reduced, strict=True) if not flag)
    by_column = not (context.target.is_launched or is_reduced[-1] or one_result)
    if not context.target.is_launched and _in_stretches(context, state, extents, is_reduced, by_column, give):
        return
    (_by_column if by_column else _per_result)(context, state, extents, is_reduced, give)


def _in_stretches(
    context: KernelContext, state: ReductionState, extents: list[int], is_reduced: list[bool], by_column: bool, give: Give
) -> bool:
    """Reduce stretches apart and join them, where that pays and the combiner allows it."""
    # The first NaN is the index of an argmax: its stretches stay in order, so they begin where the array begins.
    read = [i for i in context.arrays if i.shape.element_count == math.prod(extents)] if state.combiner else []
    widest = max(read, key=lambda i: i.shape.element_type.bytes, default=None)
    element_bytes = (widest or state.inputs[0]).shape.element_type.bytes
    stretches = plan_stretches(context.shares, extents, is_reduced, by_column, element_bytes, context.arrays[widest] if widest else None)
    if stretches is None or (identity := state.start_of_parts()) is None:
        return False

    def reduce_part(steps: list[int], place: Callable[[IndexTuple], IndexTuple], give_part: Give) -> None:
        state.starts, state.place = identity, place
        with state.emitter.scope():
            (_by_column if by_column else _per_result)(context, state, steps, is_reduced, give_part)
        state.starts = state.place = None

    def join(index: list[str | int], pieces: list[list[Scalar]]) -> None:
        with state.emitter.scope():
            accumulators = state.initial_values()
            for piece in pieces:
                accumulators = state.join(accumulators, piece)
            give(index, accumulators)

    write_stretches(context, stretches, extents, is_reduced, state.wide, reduce_part, join)
    return True


def initial_is_simple(i: HloInstruction, context: KernelContext) -> bool:
    """Whether an initial value is read from memory or a constant, perhaps converted; the dimensions then collapse."""
    if i.opcode.name == "convert":
        i = i.operands[0]
    return i in context.arrays or (i.opcode.name == "constant" and i.literal.splat is not None)


def _merge(kept: IndexTuple, is_reduced: list[bool]) -> list[str | int]:
    rest = iter(kept)
    return [0 if flag else next(rest) for flag in is_reduced]


def store_results(context: KernelContext, values: list[Scalar], offset: str | int) -> None:
    for value, output in zip(values, context.outputs, strict=True):
        output.store_linear(context.writer, offset, value)


def _per_result(context: KernelContext, state: ReductionState, extents: list[int], is_reduced: list[bool], give: Give,
                unrolled: bool = False) -> None:
    """For each result: accumulators in registers over the reduced dimensions (loops, or unrolled)."""
    emitter = state.emitter
    with context.iterate([e for e, flag in zip(extents, is_reduced, strict=True) if not flag]) as kept, emitter.scope():
        index = _merge(kept, is_reduced)
        if unrolled:
            accumulators = state.initial_values()
            ranges = [range(e) if flag else range(1) for e, flag in zip(extents, is_reduced, strict=True)]
            for element in itertools.product(*ranges):
                at = tuple([p if flag else x for p, x, flag in zip(element, index, is_reduced, strict=True)])
                accumulators = state.combine(accumulators, at)
        else:
            slots = Accumulators(context, state.wide)
            long_rows = is_reduced[-1] and extents[-1] >= 2 * LANES[0] and not context.target.is_launched
            if long_rows and finds_extreme_and_index(state.reduce.to_apply):
                _extreme_in_lanes(context, state, slots, extents, index, is_reduced)
            else:
                _one_after_the_other(context, state, slots, extents, index, is_reduced)
            accumulators = slots.load()
        give(index, accumulators)


def _one_after_the_other(context: KernelContext, state: ReductionState, slots: Accumulators, extents: list[int], index: list[str | int],
                         is_reduced: list[bool], metadata: str = "") -> None:
    """Everything into one set of accumulators. metadata: of the innermost loop."""
    w, emitter = context.writer, state.emitter
    slots.store(state.initial_values())
    last = max(k for k, flag in enumerate(is_reduced) if flag)
    with ExitStack() as loops:
        at = [loops.enter_context(w.loop(e, stem="reduce")) if flag and k != last else x
              for k, (e, x, flag) in enumerate(zip(extents, index, is_reduced, strict=True))]
        if state.combiner == "add" and extents[last] >= 2 * CHUNK and state.wide[0].is_float:
            _sum_in_chunks(state, slots, at, last, extents[last], context)
        else:
            at[last] = loops.enter_context(w.loop(extents[last], stem="reduce", metadata=metadata))
            with emitter.scope():
                slots.store(state.combine(slots.load(), tuple(at)))


def _extreme_in_lanes(context: KernelContext, state: ReductionState, slots: Accumulators, extents: list[int], index: list[str | int],
                      is_reduced: list[bool]) -> None:
    """argmax and its kin: accumulators side by side, which vectorise, combined at the end. A NaN or zero as the result means
    that order matters, and the row is done again one after the other."""
    w, emitter = context.writer, state.emitter
    width = max([lanes for lanes in LANES if 2 * lanes <= extents[-1]])
    lanes = Accumulators(context, state.wide, width)
    initial = state.initial_values()
    with w.loop(width, stem="clear") as j:
        lanes.store(initial, j)
    full = extents[-1] // width * width
    with ExitStack() as loops:
        at = [loops.enter_context(w.loop(e, stem="reduce")) if flag and k != len(extents) - 1 else x
              for k, (e, x, flag) in enumerate(zip(extents, index, is_reduced, strict=True))]
        blocks = w.loop(full, 0, width, stem="lanes", metadata=NO_VECTOR)
        with emitter.scope(), blocks as start, w.loop(width, stem="lane") as j, emitter.scope():
            lanes.store(state.combine(lanes.load(j), (*at[:-1], w.add(start, j))), j)
        if extents[-1] > full:
            with w.loop(extents[-1] - full, stem="rest") as j, emitter.scope():
                lanes.store(state.combine(lanes.load(j), (*at[:-1], w.add(full, j))), j)
    width //= 2
    while width:
        with w.loop(width, stem="join") as j, emitter.scope():
            lanes.store(emitter.inline_scalar_computation(state.reduce.to_apply, [*lanes.load(j), *lanes.load(w.add(j, width))]), j)
        width //= 2
    slots.store(lanes.load(0))
    if not state.wide[0].is_float:
        return
    ordinary = w.compare("one", w.widen(real(slots.load()[0])), 0.0).name
    again, done = w.fresh_label("again"), w.fresh_label("done")
    w.branch_if(ordinary, done, again)
    w.start_block(again)
    with emitter.scope():
        _one_after_the_other(context, state, slots, extents, index, is_reduced, NO_VECTOR)
    w.branch(done)
    w.start_block(done)


def _sum_in_chunks(state: ReductionState, slots: Accumulators, at: list[str | int], last: int, extent: int, context: KernelContext) -> None:
    """Sum a long run chunk by chunk, so that rounding errors grow with the chunk and not with the run."""
    w, emitter = state.w, state.emitter
    partial = Accumulators(context, state.wide)
    zero = state.identity()
    assert zero is not None  # the combiner adds

    def sweep(start: str | int, end: str | int) -> None:
        partial.store(zero)
        with w.loop(end, start, stem="chunk") as position, emitter.scope():
            index = (*at[:last], position, *at[last + 1 :])
            partial.store(state.combine(partial.load(), index))
        slots.store([binary_value(w, "add", state.wide[0], slots.load()[0], partial.load()[0])])

    done = 0
    if extent >= 16 * CHUNK:  # long enough to read it as several streams
        quarter = extent // STREAMS // CHUNK * CHUNK
        partials = [Accumulators(context, state.wide) for _ in range(STREAMS)]
        with w.loop(quarter, 0, CHUNK, stem="chunks") as start, emitter.scope():
            for one in partials:
                one.store(zero)
            with w.loop(w.span(start, CHUNK), start, stem="chunk") as position, emitter.scope():
                for number, one in enumerate(partials):
                    index = (*at[:last], w.add(position, number * quarter), *at[last + 1 :])
                    one.store(state.combine(one.load(), index))
            for one in partials:
                slots.store([binary_value(w, "add", state.wide[0], slots.load()[0], one.load()[0])])
        done = STREAMS * quarter
    # The streams leave less than a chunk each; all of that is one longer chunk, whose loop costs compile time once.
    full = done or extent // CHUNK * CHUNK
    if full > done:
        with w.loop(full, done, CHUNK, stem="chunks") as start, emitter.scope():
            sweep(start, w.span(start, CHUNK))
    if extent > full:
        sweep(full, extent)


def _by_column(context: KernelContext, state: ReductionState, extents: list[int], is_reduced: list[bool], give: Give) -> None:
    """The last group is kept: a tile of it is accumulated in the cache while the reduced dimensions stream by."""
    w, emitter = context.writer, state.emitter
    width, shares = extents[-1], context.shares
    outer = [e for e, flag in zip(extents[:-1], is_reduced[:-1], strict=True) if not flag]
    inner_reduced = max(k for k, flag in enumerate(is_reduced) if flag)
    depth = 4 if extents[inner_reduced] >= 8 else 1
    by_columns = shares.place_to_cut(outer) is None and shares.can_cut(width, INNERMOST_GRAIN)
    parts = shares.parts if by_columns else 1
    tile = _even_tile(width, parts) or min(width, ROW_TILE)
    even = width % (tile * parts) == 0
    slots = Accumulators(context, state.wide, tile)
    if not slots.row:  # a tile of one
        _per_result(context, state, extents, is_reduced, give)
        return

    def reduce_tile(kept: IndexTuple, start: str | int, length: str | int) -> None:
        """`length` columns from `start` on."""
        merged = _merge((*kept, 0), is_reduced)
        with w.loop(length, stem="clear") as j, emitter.scope():
            slots.store(state.initial_values(), j)

        def sweep(first: str | int, outer_reduced: list[str | int], rows: int) -> None:
            """Take `rows` source rows into the accumulators of the tile."""
            with w.loop(length, stem="column") as j, emitter.scope():
                accumulators = slots.load(j)
                column = w.add(start, j)
                for r in range(rows):
                    at = list(outer_reduced)
                    at[inner_reduced] = w.add(first, r)
                    at[-1] = column
                    accumulators = state.combine(accumulators, tuple(at))
                slots.store(accumulators, j)

        with ExitStack() as loops:
            at = [loops.enter_context(w.loop(e, stem="reduce")) if flag and k != inner_reduced else x
                  for k, (e, x, flag) in enumerate(zip(extents, merged, is_reduced, strict=True))]
            full = extents[inner_reduced] // depth * depth
            with emitter.scope(), w.loop(full, 0, depth, stem="rows") as first, emitter.scope():
                sweep(first, at, depth)
            for rest in range(full, extents[inner_reduced]):
                sweep(rest, at, 1)
        with w.loop(length, stem="write") as j, emitter.scope():
            merged[-1] = w.add(start, j)
            give(merged, slots.load(j))

    begin, end = shares.bounds(width, tile if even else INNERMOST_GRAIN) if by_columns else (0, width)
    with context.iterate(outer, cut=not by_columns) as kept, emitter.scope():
        if by_columns and not even:
            with w.loop(end, begin, tile, stem="tile") as start, emitter.scope():
                length = w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(tile)), ("i64", str(w.sub(end, start))))
                reduce_tile(kept, start, length)
            return
        # Loops that run a number of times that is known become vectors without LLVM's optimiser.
        full = width // tile * tile
        with w.loop(end if even else full, begin, tile, stem="tile") as start, emitter.scope():
            reduce_tile(kept, start, tile)
        if full < width:
            reduce_tile(kept, full, width - full)


def _even_tile(width: int, parts: int) -> int:
    """How wide tiles are that divide the columns of each share, whole vectors if possible; 0 where none is wide enough."""
    share, odd = divmod(width, parts)
    if odd:
        return 0
    most = min(share, ROW_TILE)
    divisors = [tile for tile in range(most, most // 4, -1) if share % tile == 0]
    return next((tile for tile in divisors if tile % INNERMOST_GRAIN == 0), divisors[0] if divisors else 0)
