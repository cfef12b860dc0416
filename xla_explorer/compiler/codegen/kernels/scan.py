"""Running reductions (cumsum and its kin): a reduce-window each of whose windows covers all that is before it.

Along the minor dimension a tile of the row is computed into the first-level cache, turned into running values vector by vector (log2(lanes)
steps of shifting and combining, and what came before the vector is combined with all of it), and stored. The chain from vector to vector is
one operation long. Along any other dimension the dimensions inside it are a row of accumulators.

One long row on several threads: each share reduces its stretch, then each makes the running values of its stretch from what the stretches
before it have given. Source of the steps inside a vector: Hillis and Steele, "Data parallel algorithms" (1986).
"""

from __future__ import annotations

import math

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value, select_value
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.types import PTR
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.kernels.accumulators import ROW_TILE, Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.reducer import Reducer
from xla_explorer.compiler.codegen.kernels.shares import INNERMOST_GRAIN
from xla_explorer.compiler.codegen.llvm_types import memory_type, real, value_type
from xla_explorer.hlo.analysis.running_windows import scan_dimension
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

TILE = 256  # elements computed, scanned and stored at a time
LEAST_ROW = 32
STRETCH_TILES = 4  # least tiles of a stretch: a share of one row
LINE = 64


def write_scan(context: KernelContext) -> None:
    """The kernel of windows that make running values."""
    root, out = context.roots[0], context.outputs[0].shape
    if 0 in out.dimensions:
        return
    emitter, found = context.emitter(), scan_dimension(root.attribute("window").dimensions, root.operands[0].shape.dimensions)
    assert found is not None
    (dimension, from_end), state = found, Reducer(context.writer, emitter, root)
    if _in_vectors(context, state, dimension):
        _VectorScan(context, state, emitter, from_end).write()
        return
    w = context.writer
    inner, outer, extent = out.dimensions[dimension + 1 :], out.dimensions[:dimension], out.dimensions[dimension]
    width = math.prod(inner)
    by_row = len(inner) == 1 and width > 1
    tile = min(width, ROW_TILE) if by_row else 1
    if by_row and context.shares.parts > 1 and context.shares.place_to_cut(list(outer)) is None:
        tile = max(min(tile, width // context.shares.parts // INNERMOST_GRAIN * INNERMOST_GRAIN), INNERMOST_GRAIN)
    with context.iterate([*outer, *([-(-width // tile)] if by_row else inner)]) as position, emitter.scope():
        index, rest = position[: len(outer)], position[len(outer) :]
        start = w.mul(rest[0], tile) if by_row else 0
        length: str | int = tile
        if by_row and width % tile:
            length = w.smaller(tile, w.sub(width, start))
        slots = Accumulators(context, state.wide, tile)
        with w.loop(length, stem="clear") as j, emitter.scope():
            slots.store(state.initial_values(), j)
        with w.loop(extent, stem="scan") as step, emitter.scope(), w.loop(length, stem="column") as j, emitter.scope():
            at = w.sub(extent - 1, step) if from_end else step
            place = (*index, at, w.add(start, j)) if by_row else (*index, at, *rest)
            values = state.with_element(slots.load(j), place)
            slots.store(values, j)
            _store(context, state.results(values), w.linear(place, out.strides))


def _store(context: KernelContext, values: list[Scalar], offset: str | int) -> None:
    """One value into each result."""
    for value, output in zip(values, context.outputs, strict=True):
        output.store_linear(context.writer, offset, value)


def _in_vectors(context: KernelContext, state: Reducer, dimension: int) -> bool:
    out, t = context.outputs[0].shape, state.wide[0]
    known = t.bits in (32, 64) and not t.is_complex and state.identity() is not None
    contiguous = dimension == out.rank - 1 and (out.layout.is_default or out.rank == 1)
    return known and contiguous and len(state.wide) == 1 and out.dimensions[-1] >= LEAST_ROW and context.target.vector.bits >= 128


class _VectorScan:
    """A scan along the minor dimension."""

    def __init__(self, context: KernelContext, state: Reducer, emitter: ElementalEmitter, from_end: bool) -> None:
        self.context, self.state, self.emitter, self.from_end = context, state, emitter, from_end
        self.w = context.writer
        self.output = context.outputs[0]
        self.extent = self.output.shape.dimensions[-1]
        self.wide: PrimitiveType = state.wide[0]
        self.t = memory_type(self.wide)
        self.lanes = min(LINE, context.target.vector.bits // 8) // self.wide.bytes
        found = state.identity()
        assert found is not None  # `_in_vectors` asked
        self.identity: Scalar = found[0]
        self.tile = ArrayInMemory(self.w.stack_slot(self.t, TILE), array_shape(self.wide, (TILE,)))
        self.before = self.w.named(self.w.stack_slot(self.t, self.lanes), PTR)  # what came before, in every lane
        self.alignment = self.lanes * self.wide.bytes

    def write(self) -> None:
        """Rows, or stretches of one."""
        shares, outer = self.context.shares, list(self.output.shape.dimensions[:-1])
        stretch = self.extent // shares.parts // TILE * TILE
        if shares.parts > 1 and math.prod(outer) == 1 and stretch >= STRETCH_TILES * TILE:
            self._write_stretches((0,) * len(outer), stretch)
            return
        with self.context.iterate(outer) as row, self.emitter.scope():
            self._set_before(self.state.initial_values()[0])
            self._scan(row, 0, self.extent)

    def _write_stretches(self, row: IndexTuple, stretch: int) -> None:
        w, shares, state = self.w, self.context.shares, self.state
        parts, pitch = shares.parts, LINE // self.wide.bytes
        found = ArrayInMemory(self.context.scratch(parts * LINE), array_shape(self.wide, (parts * pitch,)))

        def bounds(number: str | int) -> tuple[str | int, str | int]:
            start = w.mul(number, stretch)
            is_last = w.value(f"icmp eq i64 {number}, {parts - 1}")
            return start, w.value(f"select i1 {is_last}, i64 {self.extent}, i64 {w.add(start, stretch)}")

        slots = Accumulators(self.context, state.wide)
        with shares.phase(by_hand=True) as number, self.emitter.scope():
            start, end = bounds(number)
            slots.store([self.identity])
            with w.loop(end, start, stem="reduce") as at, self.emitter.scope():
                slots.store(state.with_element(slots.load(), self._place(row, at)))
            found.store_linear(w, w.mul(number, pitch), slots.load()[0])
        with shares.phase(by_hand=True) as number, self.emitter.scope():
            slots.store(state.initial_values())
            with w.loop(parts, stem="before") as k:
                # All are looked at, those behind as if they were the identity: a loop runs at least once.
                earlier = w.value(f"icmp slt i64 {k}, {number}")
                piece = select_value(w, earlier, self.wide, found.load_linear(w, w.mul(k, pitch)), self.identity)
                slots.store(state.join(slots.load(), [piece]))
            self._set_before(slots.load()[0])
            self._scan(row, *bounds(number))

    def _place(self, row: IndexTuple, at: str | int) -> IndexTuple:
        return (*row, self.w.sub(self.extent - 1, at) if self.from_end else at)

    def _set_before(self, value: Scalar) -> None:
        self.w.store(self.w.splat(real(value), self.lanes), self.before, self.alignment)

    def _scan(self, row: IndexTuple, begin: str | int, end: str | int) -> None:
        """Tile by tile from `begin` (a multiple of the tile) to `end`."""
        w = self.w
        with w.loop(end, begin, TILE, stem="tile") as start, self.emitter.scope():
            length: str | int = TILE
            if not (isinstance(end, int) and isinstance(begin, int) and (end - begin) % TILE == 0):
                length = w.smaller(TILE, w.sub(end, start))
            with w.loop(length, stem="take") as j, self.emitter.scope():
                self.tile.store_linear(w, j, self.state.elements(self._place(row, w.add(start, j)))[0])
            with w.loop(length, 0, self.lanes, stem="vector") as k:
                self._scan_vector(k)
            with w.loop(length, stem="give") as j, self.emitter.scope():
                place = self._place(row, w.add(start, j))
                values = self.state.results([self.tile.load_linear(w, j)])
                _store(self.context, values, w.linear(place, self.output.shape.strides))

    def _scan_vector(self, at: str | int) -> None:
        """One vector of the tile. Lanes behind the end of the row hold whatever was there: nothing reads what they become."""
        w, n, t = self.w, self.lanes, value_type(self.wide)
        address = w.address(w.named(self.tile.pointer, PTR), t, at)
        value, identity = w.load(address, t.of_lanes(n), self.alignment), w.splat(real(self.identity), n)
        step = 1
        while step < n:
            shifted = w.shuffle(value, identity, [n + lane if lane < step else lane - step for lane in range(n)])
            value = self._combined(shifted, value)
            step *= 2
        last, before = w.shuffle(value, value, [n - 1] * n), w.load(self.before, t.of_lanes(n), self.alignment)
        w.store(self._combined(before, value), address, self.alignment)
        w.store(self._combined(before, last), self.before, self.alignment)

    def _combined(self, a: Value, b: Value) -> Value:
        with self.w.fast_math("reassoc contract"):
            return real(binary_value(self.w, str(self.state.combiner), self.wide, a, b))
