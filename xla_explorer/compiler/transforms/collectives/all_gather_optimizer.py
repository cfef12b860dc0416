"""Elementwise operations before an all-gather instead of after two.

Source: xla/service/gpu/transforms/all_gather_optimizer.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Final

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, own_attributes
from xla_explorer.compiler.transforms.collectives.gather_dimensions import gathered, same_exchange
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction

_BINARY: Final = frozenset(
    ["add", "subtract", "multiply", "divide", "maximum", "minimum", "and", "or", "xor", "power"]
)


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherOptimizer(OpExpanderPass):
    """Rewrite op(all-gather(x), all-gather(y)) as all-gather(op(x, y))."""

    name: ClassVar[str] = "all-gather-optimizer"
    opcodes: ClassVar[frozenset[str]] = _BINARY

    def matches(self, i: HloInstruction) -> bool:
        """Return True for two all-gathers of one kind that nothing else reads."""
        a, b = i.operands
        return (
            a is not b
            and all(
                o.opcode.name == "all-gather" and len(o.operands) == 1 and list(o.users) == [i]
                for o in (a, b)
            )
            and a.operands[0].shape.dimensions == b.operands[0].shape.dimensions
            and same_exchange(a, b)
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the all-gather of the operation on shards."""
        first, second = i.operands
        shards = [HloValue(b, o.operands[0]) for o in (first, second)]
        made = b.emit(i.opcode.name, shards, own_attributes(i))
        dimension = first.attributes.value("dimensions")[0]
        return HloValue(b, gathered(first, made.instruction, dimension))
