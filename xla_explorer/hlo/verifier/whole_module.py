"""Checks of more than one instruction: threads, channels, shardings, buffers (`b(f32[4])`).

Source: hlo_verifier.cc (CheckCallableInstructionThreadName, VerifyChannels, VerifyBuffers),
sharding_verifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from xla_explorer.hlo.analysis.call_signatures import signature_mismatch
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.verifier.structure import Finding

_MAIN = '"main"'
_TILES = re.compile(r"^\{devices=\[([\d,]+)\]")
_LAST_DIMENSIONS = re.compile(r"last_tile_dims=\{([^{}]*)\}")
_DEVICE = re.compile(r"(?:device=|\][^\d<-]?|,)(-\d+)")
# A channel belongs to one opcode, except over several partitions. The two ends of a transfer, and a
# start and its done, share one.
_TRANSFERS = frozenset({"send", "send-done", "recv", "recv-done"})
# Computations called by these are applied to elements, on any thread.
_INLINED = frozenset({"reduce", "reduce-window", "scatter", "select-and-scatter", "sort", "map"})


def whole_module_findings(module: HloModule, layout_sensitive: bool = False) -> Iterator[Finding]:
    """Yield all findings below, in one pass over the instructions."""
    channels: dict[int, HloInstruction] = {}
    buffers: list[HloInstruction] = []
    # A computation wrapped by async-start, and all its callees, run on another thread.
    started = {c for i in module.instructions() if i.opcode.name == "async-start" for c in i.called}
    for computation in module.computations.values():
        for i in computation.instructions.values():
            if i.called and computation not in started:
                yield from thread_findings(i)
            if i.attributes:
                yield from attribute_findings(i, channels)
            if i.opcode.name == "custom-call" and (mismatch := signature_mismatch(i)) is not None:
                yield mismatch.code, mismatch.message, i
            if "output_to_operand_aliasing" in i.attributes:
                yield from alias_findings(i)
            if i.shape.is_buffer or (i.shape.is_tuple and _holds_buffer(i.shape)):
                buffers.append(i)
    if buffers:
        yield from buffer_findings(buffers, layout_sensitive)


def thread_findings(i: HloInstruction) -> Iterator[Finding]:
    """Require a called computation to run on its caller's thread, unless started asynchronously."""
    if i.opcode.name in _INLINED or i.opcode.name.startswith("async-"):
        return
    own = i.parent.execution_thread or _MAIN
    for callee in i.called:
        if (callee.execution_thread or _MAIN) != own:
            yield (
                "thread",
                (
                    f"runs on thread {own}, %{callee.name}, which it calls, on "
                    f"{callee.execution_thread or _MAIN}"
                ),
                i,
            )


def attribute_findings(i: HloInstruction, channels: dict[int, HloInstruction]) -> Iterator[Finding]:
    """Require unshared channel ids, explicit global groups and fitting shardings."""
    attributes = i.attributes
    channel = attributes.get("channel_id")
    if isinstance(channel, int) and channel > 0:
        first = channels.setdefault(channel, i)
        if first is not i and first.opcode is not i.opcode and not _may_share(first, i):
            yield (
                "channel",
                (
                    f"channel_id {channel} is used by %{first.name} already, which is "
                    f"{first.opcode.name}"
                ),
                i,
            )
    if attributes.get("use_global_device_ids"):
        groups = i.attribute("replica_groups")
        if groups is None or not groups.groups:
            yield (
                "global-ids-without-groups",
                "use_global_device_ids=true needs replica_groups that list the devices",
                i,
            )
        if channel is None and i.opcode.name not in ("all-to-all", "collective-broadcast"):
            yield "global-ids-without-channel", "use_global_device_ids=true needs a channel_id", i
    sharding = attributes.get("sharding")
    if isinstance(sharding, str):
        problem = sharding_problem(sharding, i.shape.rank if i.shape.is_array else None)
        if problem:
            yield "sharding", problem, i


def _may_share(a: HloInstruction, b: HloInstruction) -> bool:
    names = a.opcode.name, b.opcode.name
    if any(name in _TRANSFERS for name in names):
        return True  # transfers are matched by their pairs of devices
    if int(a.parent.module.attributes.get("num_partitions") or 1) > 1:
        # JAX's shard_map gives one channel to all of its collectives; different kinds are separate
        return True
    stems = {name.removesuffix("-start").removesuffix("-done") for name in names}
    return len(stems) == 1


@lru_cache(maxsize=1024)
def sharding_problem(text: str, rank: int | None) -> str | None:
    """Return the problem of a sharding for an array of this rank (None: a tuple), or None."""
    negative = _DEVICE.search(text)
    if (negative is not None and "devices=" in text) or "device=-" in text:
        return f"device {negative.group(1) if negative else ''} is negative in sharding={text}"
    tiles = _TILES.match(text)
    if tiles is None or rank is None:
        return None
    last = _LAST_DIMENSIONS.search(text)
    extra = (
        len(last.group(1).split(","))
        if last is not None
        else int("last_tile_dim_replicate" in text)
    )
    sizes = tiles.group(1).split(",")
    if len(sizes) - extra != rank:
        return f"sharding={text} tiles {len(sizes) - extra} dimensions, the value has {rank}"
    return None


def alias_findings(i: HloInstruction) -> Iterator[Finding]:
    """Require a result that aliases an operand to have the operand's shape."""
    for alias in i.attributes["output_to_operand_aliasing"]:
        there = 0 <= alias.operand_number < len(i.operands)
        given = (
            _part(i.operands[alias.operand_number].shape, alias.operand_index) if there else None
        )
        made = _part(i.shape, alias.output_index)
        if given is None or made is None:
            yield (
                "operand-alias",
                (
                    f"output_to_operand_aliasing names operand {alias.operand_number} or a part "
                    "that does not exist"
                ),
                i,
            )
        elif not (given.is_buffer or made.is_buffer or given.base is made.base):
            yield (
                "operand-alias",
                (
                    f"the result {made} cannot have the memory of operand "
                    f"{alias.operand_number}, which is {given}"
                ),
                i,
            )


def _part(shape: Shape, index: tuple[int, ...]) -> Shape | None:
    for k in index:
        if not shape.is_tuple or not 0 <= k < len(shape.tuple_shapes):
            return None
        shape = shape.tuple_shapes[k]
    return shape


def _holds_buffer(shape: Shape) -> bool:
    return (
        shape.is_buffer or any(map(_holds_buffer, shape.tuple_shapes))
        if shape.is_tuple
        else shape.is_buffer
    )


def _buffer_count(shape: Shape) -> int:
    if shape.is_buffer:
        return 1
    return sum(map(_buffer_count, shape.tuple_shapes)) if shape.is_tuple else 0


def buffer_findings(buffers: list[HloInstruction], layout_sensitive: bool) -> Iterator[Finding]:
    """Require a buffer to come from a pin or an operand, to keep its shape, and to be used once."""
    for i in buffers:
        if i.opcode.name == "custom-call":
            yield from _custom_call_findings(i, layout_sensitive)
        # A use of a buffer ends it: two users would be two writers.
        takers = [(user, part) for user, part in _takers(i) if part is not None]
        by_part: dict[tuple[int, ...], set[HloInstruction]] = {}
        for user, part in takers:
            by_part.setdefault(part or (), set()).add(user)
        for part, users in by_part.items():
            if len(users) > 1:
                names = ", ".join(sorted(f"%{user.name}" for user in users))
                where = f"{{{','.join(map(str, part))}}} of " if part else ""
                yield (
                    "buffer-written-twice",
                    f"a buffer has more than one writer: {where}%{i.name} goes to {names}",
                    i,
                )


def _takers(i: HloInstruction) -> Iterator[tuple[HloInstruction, tuple[int, ...] | None]]:
    """Yield (user, index of the buffer of `i` that it uses), looking through get-tuple-element."""
    for user in i.users:
        if user.opcode.name == "get-tuple-element":
            if _holds_buffer(user.shape):
                number = user.attribute("index")
                yield from [(other, (number, *(part or ()))) for other, part in _takers(user)]
        elif user.opcode.name != "bitcast":
            yield user, ()


def _custom_call_findings(i: HloInstruction, layout_sensitive: bool) -> Iterator[Finding]:
    aliases, target = i.attributes.get("output_to_operand_aliasing", ()), custom_call_target(i)
    if target == "Pin":
        if len(aliases) != 1 or aliases[0].operand_number != 0:
            yield "pin", "a custom-call to Pin has one output_to_operand_aliasing, {}: (0, {})", i
        elif i.operands and i.shape.is_buffer:
            held, given = i.shape.tuple_shapes[0], i.operands[0].shape
            if held is not given if layout_sensitive else held.base is not given.base:
                yield "pin", f"the pinned {given} is not the {held} in the buffer", i
        return
    missing = _buffer_count(i.shape) - len(aliases)
    if target != "CreateBuffer" and missing > 0 and any(_holds_buffer(o.shape) for o in i.operands):
        yield (
            "buffer-from-nowhere",
            f"{missing} of its buffers is used in the result but not in the operands",
            i,
        )
