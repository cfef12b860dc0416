"""Merging of nested all-reduces over crossing groups.

Source: xla/hlo/transforms/collectives/all_reduce_folder.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import (
    OpExpanderPass,
    own_attributes,
    values_of,
)
from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.hlo.attributes import CODECS
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceFolder(OpExpanderPass):
    """Merge nested all-reduces over crossing groups into one over the groups' product."""

    name: ClassVar[str] = "all-reduce-folder"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-reduce"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for two all-reduces of the same kind whose groups cross."""
        inner = i.operands[0]
        return (
            len(i.operands) == 1
            and inner.opcode.name == "all-reduce"
            and len(inner.operands) == 1
            and len(inner.users) == 1
            and reduction_kind(i) is not None
            and reduction_kind(i) == reduction_kind(inner)
            and folded_groups(i, inner) is not None
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return one all-reduce."""
        groups = folded_groups(i, i.operands[0]) or []
        text = "{" + ",".join(["{" + ",".join(map(str, g)) + "}" for g in groups]) + "}"
        given = own_attributes(i) | {
            "replica_groups": CODECS["replica_groups"].read(text),
            "to_apply": i.called[0],
        }
        return b.emit("all-reduce", values_of(b, i.operands[0]), given)


def folded_groups(outer: HloInstruction, inner: HloInstruction) -> list[list[int]] | None:
    """Return the groups of one reduction with the effect of both.

    None if some device would count twice or the groups are not explicit.
    """
    groups, inner_groups = [i.attributes.value("replica_groups") for i in (outer, inner)]
    if groups is None or inner_groups is None or not groups.groups or not inner_groups.groups:
        return None
    of = {device: group for group in inner_groups.groups for device in group}
    made = []
    for group in groups.groups:
        if any(device not in of for device in group):
            return None
        members = [device for each in group for device in of[each]]
        if len(set(members)) != len(members):
            return None
        made.append(sorted(members))
    unique = [list(g) for g in dict.fromkeys(map(tuple, made))]
    return unique if len({d for g in unique for d in g}) == sum(map(len, unique)) else None
