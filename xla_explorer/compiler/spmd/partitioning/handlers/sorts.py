"""Sort, top-k, Fourier transforms and decompositions: some dimensions must be whole."""

from __future__ import annotations

from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import Value
from xla_explorer.compiler.spmd.partitioning.whole_dims import kept_whole, replicated
from xla_explorer.hlo.instruction import HloInstruction


@handles("sort")
def sort(p: Partitioner, i: HloInstruction) -> Value:
    """Sort with the sorted dimension whole."""
    return kept_whole(p, i, i.attributes.value("dimensions"), lambda k, s: range(s.rank))


@handles("topk")
def top_k(p: Partitioner, i: HloInstruction) -> Value:
    """Take the largest of the last dimension, which must be whole."""
    last = i.operands[0].shape.rank - 1
    return kept_whole(p, i, [last], lambda k, s: range(s.rank))


@handles("fft")
def fft(p: Partitioner, i: HloInstruction) -> Value:
    """Transform the last dimensions, which must be whole."""
    rank, length = i.shape.rank, len(i.attributes["fft_length"])
    return kept_whole(p, i, range(rank - length, rank), lambda k, s: range(s.rank))


@handles("cholesky", "triangular-solve")
def decomposition(p: Partitioner, i: HloInstruction) -> Value:
    """Decompose or solve with whole matrices."""
    rank = i.shape.rank
    return kept_whole(p, i, [rank - 2, rank - 1], lambda k, s: range(s.rank))


@handles("scan")
def scan(p: Partitioner, i: HloInstruction) -> Value:
    """Scan whole arrays."""
    return replicated(p, i)


@handles("rng")
def rng(p: Partitioner, i: HloInstruction) -> Value:
    """Draw each part on its own; copies come from one device by an all-reduce."""
    wanted = p.wanted(i)
    operands = [p.to(p.value(o), p.axes.unsplit(0, wanted.manual)).local for o in i.operands]
    x = p.w.copied(i, operands, p.local_shape(i.shape, wanted))
    free = tuple([k for k in range(len(p.axes.sizes)) if k not in wanted.used])
    if not free:
        return p.made(x, i.shape, wanted)
    drawn = p.w.select(p.w.on_first(free), x, p.w.zero(x))
    kind = i.shape.element_type
    combiner = p.run.state.combiner("or" if kind.is_pred else "add", kind)
    return p.made(p.w.all_reduce(drawn, free, combiner), i.shape, wanted)


@handles("*", "rng-bit-generator", "rng-get-and-update-state")
def other(p: Partitioner, i: HloInstruction) -> Value:
    """Apply an operation without a rule to whole operands."""
    return replicated(p, i)
