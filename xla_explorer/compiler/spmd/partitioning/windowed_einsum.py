"""Products as loops over the devices: a gather or a scatter runs beside parts of the product.

Instead of gathering an operand, each device multiplies with the shard that it holds while it sends
this shard to its neighbour (collective matmul). Instead of scattering a sum, each device adds its
terms of one shard of the result to what its neighbour sent. Sources: Wang et al., Overlap
communication with dependent computation via decomposition in large deep learning models (ASPLOS
2023); xla/service/spmd/dot_handler.cc (EmitWindowedDotGeneral).

========================================  ======================================================
handled by XLA                            here
========================================  ======================================================
operand gathered along a free dimension   the same: the parts of the result are stored one by one
operand gathered along a contracted one   the same: the terms are added
result scattered along a free dimension   the same: partial sums go round
operand or result below the threshold     the gather or the scatter, with the numbers
one group of all devices, or several      the same
conditional around the last permute       the same for the policy `xla`; else peeled
estimated time of loop and collective     hole: the threshold alone decides
users that need the gathered operand      hole: not looked at
unroll_windowed_einsum                    the same for gathered operands and the policy `xla`
bidirectional loops                       hole
convolutions, batch dimensions            hole
========================================  ======================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.factors import Assignment
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue
from xla_explorer.compiler.spmd.partitioning.writer import ModuleState, Writer
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import U32
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape

Parts = list[HloInstruction]
LOOP: Final = "loop of products"
_FREE, _INNER, _SCATTER = "free", "contracted", "scatter"
_ALWAYS, _GUARDED, _NEVER = "always", "guarded", "never"
_NAMES: Final = {_FREE: "all-gather", _INNER: "all-gather", _SCATTER: "all-reduce"}


@dataclass(frozen=True)
class Windows:
    """A product that may be a loop.

    Attributes
    ----------
    kind : str
        `free` or `contracted`: of the dimension along which an operand is gathered. `scatter`: the
        result is scattered.
    array : int
        The operand that is gathered, or the one with the scattered dimension.
    dim : int
        Its dimension.
    other : int
        The dimension of the result, or of the other operand for `contracted`.
    axes : tuple of int
        The axes of the devices that take part.
    shard : int
        Elements of one device's part of the dimension.
    """

    kind: str
    array: int
    dim: int
    other: int
    axes: Axes
    shard: int


def windows_of(
    p: Partitioner, values: Sequence[ShardedValue], chosen: Assignment, wanted: Tiling
) -> Windows | None:
    """Return the loop that a product could be: the one with the most bytes to move."""
    found: list[tuple[int, Windows]] = []
    for array, value in enumerate(values[:2]):
        target = chosen.tiling(array, value.shape.rank)
        for factor in chosen.factors:
            d, out, other = factor.dims[array], factor.dims[2], factor.dims[1 - array]
            if d is None or (other is not None and out is not None):
                continue
            axes = value.tiling.dims[d][len(target.dims[d]) :]
            if not axes or value.tiling != target.with_dim(d, (*target.dims[d], *axes)):
                continue
            place = other if out is None else out
            assert place is not None
            own = Windows(
                _INNER if out is None else _FREE, array, d, place, axes,
                p.axes.local(value.dims, value.tiling)[d],
            )  # fmt: skip
            if _is_even(p, value.dims[d], target.dims[d], own):
                found.append((p.local_shape(value.shape, target).byte_size, own))
    found += _scattered(p, values, chosen, wanted)
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _scattered(
    p: Partitioner, values: Sequence[ShardedValue], chosen: Assignment, wanted: Tiling
) -> list[tuple[int, Windows]]:
    """Return the loop in place of a sum whose result is split by just the summed axes."""
    rank = len(wanted.dims)
    result, found = chosen.tiling(2, rank), []
    for factor in chosen.factors:
        out, sides = factor.dims[2], factor.dims[:2]
        if out is None or None not in sides:
            continue
        axes = wanted.dims[out][len(result.dims[out]) :]
        if not axes or set(axes) != set(chosen.partial):
            continue
        if wanted.dims[out] != (*result.dims[out], *axes):
            continue
        array = 0 if sides[0] is not None else 1
        d = sides[array]
        assert d is not None
        shard = -(-factor.size // p.axes.tiles(wanted.dims[out]))
        own = Windows(_SCATTER, array, d, out, axes, shard)
        if _is_even(p, factor.size, result.dims[out], own):
            sizes = [f.size for f in chosen.factors if f.dims[2] is not None]
            elements = 1
            for size in sizes:
                elements *= size
            found.append((elements * values[0].shape.element_type.bytes, own))
    return found


def _is_even(p: Partitioner, size: int, outer: Axes, own: Windows) -> bool:
    """Return True if the shards of the loop are parts of the tile that they make up."""
    return not outer or -(-size // p.axes.tiles(outer)) == own.shard * p.axes.tiles(own.axes)


def windowed_bytes(
    p: Partitioner, values: Sequence[ShardedValue], chosen: Assignment, own: Windows, shape: Shape
) -> int:
    """Return the bytes of the array that the loop does not hold whole."""
    if own.kind == _SCATTER:
        return p.local_shape(shape, chosen.tiling(2, shape.rank)).byte_size
    value = values[own.array]
    return p.local_shape(value.shape, chosen.tiling(own.array, value.shape.rank)).byte_size


class WindowedProduct:
    """Writes one product as a loop.

    operands: the local parts; the gathered one is a shard, and padding is masked.
    """

    def __init__(
        self, p: Partitioner, i: HloInstruction, own: Windows, operands: Sequence[HloInstruction]
    ) -> None:
        self.p, self.i, self.own, self.operands = p, i, own, list(operands)
        self.count = p.axes.tiles(own.axes)

    def written(self, sizes: Sequence[int]) -> HloInstruction:
        """Return the local product. sizes: of it, with the dimension of the loop padded."""
        p = self.p
        kind = self.i.shape.element_type
        shape = array_shape(kind, sizes)
        state: Parts = [*self.operands, p.w.broadcast(p.w.constant(0, kind), sizes)]
        if not p.cheapest:  # XLA's loops carry one more buffer, for those in both directions
            state.append(p.w.add("broadcast", [p.w.constant(1, kind)], shape, dimensions=()))
        state.append(p.w.constant(0, U32))
        if not p.cheapest:
            return self._loop(state, self.count)[2]
        if self.count > 2:
            state = self._loop(state, self.count - 1)
        else:
            self._step(p.w, state, _ALWAYS)
        self._step(p.w, state, _NEVER)
        return state[2]

    def _loop(self, state: Parts, trips: int) -> Parts:
        """Add a loop; return the elements of its state."""
        w = self.p.w
        whole = tuple_shape([part.shape for part in state])
        start = w.add("tuple", state, whole)
        called = self._condition(whole, trips), self._body(whole)
        loop = w.add("while", [start], whole, called)
        return [w.element(loop, k) for k in range(len(state))]

    def _computation(self, name: str, shape: Shape) -> tuple[HloComputation, HloInstruction]:
        made = self.p.run.module.add_computation(f"{self.i.name}_{name}")
        return made, made.add_parameter(0, shape)

    def _condition(self, shape: Shape, trips: int) -> HloComputation:
        made, state = self._computation("condition", shape)
        w = _writer(self.p, made)
        counter = w.element(state, len(shape.tuple_shapes) - 1)
        made.set_root(w.add("compare", [counter, w.constant(trips, U32)], direction="LT"))
        return made

    def _body(self, shape: Shape) -> HloComputation:
        made, state = self._computation("body", shape)
        w = _writer(self.p, made)
        parts = [w.element(state, k) for k in range(len(shape.tuple_shapes))]
        twice = self.p.run.unrolls_windows and self.own.kind != _SCATTER and self.count % 2 == 0
        twice = twice and not self.p.cheapest
        for _ in range(2 if twice else 1):
            self._step(w, parts, _ALWAYS if twice or self.p.cheapest else _GUARDED)
        made.set_root(w.add("tuple", parts, shape))
        return made

    def _step(self, w: Writer, parts: Parts, sends: str) -> None:
        """Multiply with one shard, and move on to the next.

        sends: always, never, or guarded by a conditional that leaves out the last transfer.
        """
        own, counter = self.own, parts[-1]
        following = w.add("add", [counter, w.constant(1, U32)])
        shard = self._shard(w, counter)
        pair, product = parts[:2], parts[2]
        if own.kind == _FREE:
            part = self._dot(w, pair)
            zero = w.of_device([0] * self.p.axes.count)
            at = [shard if d == own.other else zero for d in range(part.shape.rank)]
            parts[2] = w.add("dynamic-update-slice", [product, part, *at])
        else:
            cut, dim = (own.array, own.dim) if own.kind == _SCATTER else (1 - own.array, own.other)
            pair[cut] = self._cut(w, pair[cut], dim, shard)
            parts[2] = w.add("add", [product, self._dot(w, pair)])
        moving = 2 if own.kind == _SCATTER else own.array
        if sends == _ALWAYS:
            parts[moving] = w.permute(parts[moving], self._pairs())
        elif sends == _GUARDED:
            parts[moving] = self._sent(w, parts[moving], following)
        parts[-1] = following

    def _dot(self, w: Writer, pair: Parts) -> HloInstruction:
        return w.copied(self.i, pair)

    def _shard(self, w: Writer, counter: HloInstruction) -> HloInstruction:
        """Return the first element of the shard that the device works on.

        It is its own shard at first, then those of the next devices. Of a scattered result, its own
        one is the last.
        """
        index = self.p.axes.index(self.own.axes)
        first = [(k + (self.own.kind == _SCATTER)) % self.count for k in index]
        own = w.of_device(first)
        number = w.add("add", [w.add("convert", [own], array_shape(U32, ())), counter])
        number = w.add("remainder", [number, w.constant(self.count, U32)])
        table = w.constant([k * self.own.shard for k in range(self.count)], self.p.s32)
        taken = w.add("dynamic-slice", [table, number], dynamic_slice_sizes=(1,))
        return w.add("reshape", [taken], array_shape(self.p.s32, ()))

    def _cut(self, w: Writer, x: HloInstruction, dim: int, start: HloInstruction) -> HloInstruction:
        """Return the shard of an operand, which is padded to whole shards."""
        sizes = list(x.shape.dimensions)
        x = w.pad(x, {dim: (0, self.own.shard * self.count - sizes[dim])})
        zero = w.of_device([0] * self.p.axes.count)
        at = [start if d == dim else zero for d in range(len(sizes))]
        sizes[dim] = self.own.shard
        return w.add("dynamic-slice", [x, *at], dynamic_slice_sizes=tuple(sizes))

    def _sent(self, w: Writer, x: HloInstruction, following: HloInstruction) -> HloInstruction:
        """Return the next device's value; after the last iteration nothing is sent."""
        more = w.add("compare", [following, w.constant(self.count, U32)], direction="LT")
        sends, moved = self._computation("send", x.shape)
        sends.set_root(_writer(self.p, sends).permute(moved, self._pairs()))
        keeps, kept = self._computation("keep", x.shape)
        keeps.set_root(kept)
        return w.add("conditional", [more, x, x], x.shape, (sends, keeps))

    def _pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of a permute to the device before."""
        pairs = [
            (row[(k + 1) % self.count], row[k])
            for row in self.p.axes.groups(self.own.axes)
            for k in range(self.count)
        ]
        return tuple(sorted(pairs))


def _writer(p: Partitioner, computation: HloComputation) -> Writer:
    """Return a writer of a computation of the loop; its collectives have the product's cause."""
    state: ModuleState = p.run.state
    made = Writer(computation, state)
    made.metadata, made.cause = p.w.metadata, p.w.cause
    return made


def refusal(size: int, threshold: int | None) -> str:
    """Return why a product stays one operation; empty if it becomes a loop."""
    if threshold is None:
        return "loops of products are turned off: threshold_for_windowed_einsum_mib"
    if size < threshold:
        return f"{size} bytes are below the threshold of {threshold}"
    return ""


def plain_name(own: Windows) -> str:
    """Return the name of the alternative with a collective."""
    return f"{_NAMES[own.kind]} and product"
