"""Slices, pads and windows in XLA's order: the operand in the result's sharding, with halos.

Source: spmd_partitioner.cc (HandleSlice, HandlePad, HandleReduceWindow).
"""

from __future__ import annotations

from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.whole_dims import first_tiling, replicated
from xla_explorer.compiler.spmd.partitioning.xla_order.windowed_input import (
    WindowedInput,
    windowed_input,
)
from xla_explorer.hlo.attributes.values import (
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT
from xla_explorer.hlo.shape import tuple_shape


def halo_slice(p: Partitioner, i: HloInstruction) -> Value:
    """Slice in the operand's sharding if it has more tiles than the result's, else in this one."""
    value, wanted = p.value(i.operands[0]), p.wanted(i)
    merged = _merged_pad(p, i, wanted)
    if merged is not None:
        return _padded(p, i, *merged)
    held = Tiling(value.tiling.dims, wanted.manual)
    more = p.axes.tiles(held.used) > p.axes.tiles(wanted.used)
    for target in [held, wanted] if more else [wanted]:
        if not target.is_replicated:
            found = _sliced(p, i, p.to(value, target), target)
            if found is not None:
                return found
    return replicated(p, i)


def _sliced(p: Partitioner, i: HloInstruction, value: ShardedValue, target: Tiling) -> Value | None:
    taken = i.attributes["slice"]
    windows = [
        WindowDimension(1, s.stride, -s.start, s.limit - n)
        for s, n in zip(taken, value.dims, strict=True)
    ]
    zero = p.w.zero(value.local)
    given = windowed_input(p, value, windows, target, zero, (False, False))
    if given is None:
        return None
    rest = tuple(
        [
            SliceDimension(-w.padding_low, n + w.padding_high, w.stride)
            for w, n in zip(given.windows, given.local.shape.dimensions, strict=True)
        ]
    )
    sizes = given.local.shape.dimensions
    if all(s == (0, n, 1) for s, n in zip(rest, sizes, strict=True)):
        # A copy: the slice must not share the operand's other shardings.
        local = p.w.add("copy", [given.local])
    else:
        local = p.w.copied(i, [given.local], slice=rest)
    return p.made(local, i.shape, target)


def _merged_pad(
    p: Partitioner, i: HloInstruction, wanted: Tiling
) -> tuple[HloInstruction, tuple[PaddingDimension, ...]] | None:
    """Return the pad under a slice and the padding of both together, or None.

    One halo exchange serves both if they have one sharding and the operand is split.
    """
    pad = i.operands[0]
    while pad.opcode.name == "copy" and p.value(pad).tiling == wanted:
        pad = pad.operands[0]
    if pad.opcode.name != "pad" or p.value(pad).tiling != wanted:
        return None
    if p.value(pad.operands[0]).tiling.is_replicated:
        return None
    found, twice = [], False
    sizes = pad.shape.dimensions
    for d, (c, s) in enumerate(zip(pad.attributes["padding"], i.attributes["slice"], strict=True)):
        if c.interior or s.stride != 1:
            return None
        cut = s.limit - s.start != sizes[d]
        twice |= bool(wanted.dims[d]) and cut and bool(c.low or c.high)
        found.append(PaddingDimension(c.low - s.start, s.limit - (sizes[d] - c.high), 0))
    return (pad, tuple(found)) if twice else None


def halo_pad(p: Partitioner, i: HloInstruction) -> Value:
    """Pad each part; the mask is left out if zeros of the permutes serve as the padding."""
    if p.wanted(i).is_replicated:
        return replicated(p, i)
    return _padded(p, i, i, i.attributes["padding"])


def _padded(
    p: Partitioner, i: HloInstruction, pad: HloInstruction, config: tuple[PaddingDimension, ...]
) -> Value:
    """Return a pad's operand with some padding, as the value of an instruction."""
    wanted = p.wanted(i)
    value = p.value(pad.operands[0])
    fill = p.to(p.value(pad.operands[1]), p.axes.unsplit(0, wanted.manual)).local
    windows = [WindowDimension(1, 1, c.low, c.high, c.interior + 1) for c in config]
    zero = fill.opcode is CONSTANT and not fill.literal.array.any()
    masked = False
    for c, axes, n in zip(config, wanted.dims, value.dims, strict=True):
        grows = c.low > 0 or c.high > 0 or c.interior > 0
        masked |= bool(axes) and grows and (not zero or n % p.axes.tiles(axes) != 0)
    given = windowed_input(p, value, windows, wanted, fill, (masked, True))
    if given is None:
        return replicated(p, i)
    rest = tuple(
        [
            PaddingDimension(w.padding_low, w.padding_high, w.base_dilation - 1)
            for w in given.windows
        ]
    )
    x = given.local
    if any(map(any, rest)):
        x = p.w.copied(pad, [x, fill], padding=rest)
    return p.made(_part(p, given, x, i, wanted), i.shape, wanted)


def _part(
    p: Partitioner, given: WindowedInput, x: HloInstruction, i: HloInstruction, tiling: Tiling
) -> HloInstruction:
    shape = i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape
    return given.result(p, x, p.axes.local(shape.dimensions, tiling))


def halo_reduce_window(
    p: Partitioner, i: HloInstruction, windows: tuple[WindowDimension, ...]
) -> Value:
    """Reduce the windows over each part with its halos, which have the initial value outside."""
    tiling = first_tiling(p, i)
    count = len(i.operands) // 2
    if tiling.is_replicated:
        return replicated(p, i)
    inits = [p.to(p.value(o), p.axes.unsplit(0, tiling.manual)).local for o in i.operands[count:]]
    parts = []
    for operand, fill in zip(i.operands[:count], inits, strict=True):
        given = windowed_input(p, p.value(operand), windows, tiling, fill)
        if given is None:
            return replicated(p, i)
        parts.append(given)
    operands = [*[given.local for given in parts], *inits]
    window = Window(parts[0].windows)
    own = [
        w.output_size(n)
        for w, n in zip(parts[0].windows, parts[0].local.shape.dimensions, strict=True)
    ]
    shapes = [s.with_dimensions(own) for s in i.shape.tuple_shapes or (i.shape,)]
    shape = tuple_shape(shapes) if i.shape.is_tuple else shapes[0]
    x = p.w.copied(i, operands, shape, window=window)
    if not i.shape.is_tuple:
        return p.made(_part(p, parts[0], x, i, tiling), i.shape, tiling)
    return [
        p.made(_part(p, given, p.w.element(x, k), i, tiling), shape, tiling)
        for k, (given, shape) in enumerate(zip(parts, i.shape.tuple_shapes, strict=True))
    ]
