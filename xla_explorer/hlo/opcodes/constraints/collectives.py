"""Constraints of collectives: result sizes against group sizes, and source-target pairs.

Source: hlo_verifier.cc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.opcodes.shape_rules.agreement import bare
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.instruction import HloInstruction


# These need no groups of equal size.
_GROUPS_MAY_DIFFER = frozenset(
    {"all-reduce", "all-reduce-start", "collective-broadcast", "collective-reduce"}
)


def _group_size(i: HloInstruction) -> int | None:
    # With a channel and without global ids a group spans all partitions, whose number is unknown
    # here.
    if i.attribute("channel_id") is not None and not i.attribute("use_global_device_ids"):
        return None
    groups = i.attribute("replica_groups")
    return len(groups.groups[0]) if groups is not None and groups.groups else None


def replica_groups(i: HloInstruction) -> Reason | None:
    """Require distinct devices, and groups of one size unless the opcode permits others.

    No group may be empty if others are not.
    """
    groups = i.attribute("replica_groups")
    if groups is None:
        return None
    members = [device for group in groups.groups for device in group]
    if len(set(members)) != len(members):
        return refuse(
            "replica-repeated", f"a device is listed twice in replica_groups={groups.text}"
        )
    if i.opcode.name not in _GROUPS_MAY_DIFFER and len({len(group) for group in groups.groups}) > 1:
        return refuse(
            "replica-groups-uneven", f"the groups differ in size in replica_groups={groups.text}"
        )
    if len(groups.groups) > 1 and any(not group for group in groups.groups):
        return refuse("replica-group-empty", f"a group is empty in replica_groups={groups.text}")
    return None


def _scaled(i: HloInstruction, small: Shape, large: Shape, words: str) -> Reason | None:
    """Return a refusal unless one dimension of `large` is `small`'s times the group size."""
    dimensions = i.attribute("dimensions")
    if (
        not small.is_array
        or not large.is_array
        or small.element_type is not large.element_type
        or small.rank != large.rank
    ):
        return refuse("shapes-differ", f"{words}: {bare(small)} vs {bare(large)}")
    if len(dimensions) != 1 or not 0 <= dimensions[0] < small.rank:
        return refuse(
            "dimension-out-of-range",
            f"dimensions={list(dimensions)} must name one dimension of {bare(small)}",
        )
    group_size = _group_size(i)
    for d, (a, b) in enumerate(zip(small.dimensions, large.dimensions, strict=True)):
        # XLA does not check the factor for groups of one device.
        size = (group_size if group_size != 1 else None) if d == dimensions[0] else 1
        fits = (b % a == 0 if a else b == 0) if size is None else a * size == b
        if a >= 0 <= b and not fits:
            return refuse(
                "dimensions-differ",
                f"{words}: dimension {d} of {bare(small)} and {bare(large)} must differ by the "
                "factor "
                f"{'of the group size' if size is None else size}",
            )
    return None


def blocks_exchanged(i: HloInstruction) -> Reason | None:
    """Require one operand for each member of a group if there are no dimensions (all-to-all)."""
    size = _group_size(i)
    if not i.attribute("dimensions") and size is not None and size != len(i.operands):
        return refuse(
            "operand-count",
            f"takes one operand for each of the {size} members of a group, got {len(i.operands)}",
        )
    return None


def _pairs(i: HloInstruction, result: Shape) -> list[tuple[Shape, Shape]] | None:
    results = result.tuple_shapes if result.is_tuple else (result,)
    if len(results) != len(i.operands):
        return None
    return [(operand.shape, part) for operand, part in zip(i.operands, results, strict=True)]


def _each(i: HloInstruction, result: Shape, gathers: bool) -> Reason | None:
    pairs = _pairs(i, result)
    if pairs is None:
        return refuse(
            "result-count",
            f"the result {bare(result)} does not give a value for each of {len(i.operands)} "
            "operands",
        )
    for operand, part in pairs:
        reason = (
            _scaled(i, operand, part, "operand and result")
            if gathers
            else _scaled(i, part, operand, "result and operand")
        )
        if reason is not None:
            return reason
    return None


def gathered(i: HloInstruction) -> Reason | None:
    """Require the result's dimension to be the operand's times the group size (all-gather)."""
    return _each(i, i.shape, True)


def gather_started(i: HloInstruction) -> Reason | None:
    """Require (operands, results) as the result (all-gather-start)."""
    parts = i.shape.tuple_shapes
    if len(parts) < 2:
        return refuse(
            "start-result", f"the result must be (operand, result), it is {bare(i.shape)}"
        )
    return _each(i, parts[1], True)


def scattered(i: HloInstruction) -> Reason | None:
    """Require the result's dimension to be the operand's by the group size (reduce-scatter)."""
    return _each(i, i.shape, False)


def permute_started(i: HloInstruction) -> Reason | None:
    """Require (operand, result, context...) as the result (collective-permute-start)."""
    parts = i.shape.tuple_shapes
    if len(parts) < 2:
        return refuse(
            "start-result",
            f"the result must be (operand, result, context...), it is {bare(i.shape)}",
        )
    return None


def source_target_pairs(i: HloInstruction) -> Reason | None:
    """Require distinct sources and distinct targets (collective-permute)."""
    if len(i.operands) == 4:  # in place: a pair for each slice
        return None
    pairs = i.attribute("source_target_pairs")
    if any(len(pair) != 2 for pair in pairs):
        return refuse(
            "pair-malformed",
            f"each of source_target_pairs {[list(p) for p in pairs]} must be a source and a target",
        )
    for name, members in (("source", [p[0] for p in pairs]), ("target", [p[-1] for p in pairs])):
        if len(set(members)) != len(members):
            return refuse(
                "pair-repeated",
                f"a {name} is listed twice in source_target_pairs {[list(p) for p in pairs]}",
            )
    return None


def channel_of_the_start(i: HloInstruction) -> Reason | None:
    """Require a done to have the channel of its send or recv.

    Source: hlo_parser.cc.
    """
    start = i.operands[0]
    if start.opcode.name not in ("send", "recv"):
        return None
    own, other = i.attribute("channel_id"), start.attribute("channel_id")
    if own == other:
        return None
    return refuse(
        "channels-differ",
        f"channel_id is {own}, but that of %{start.name} is {other}",
        own=own,
        start=other,
    )
