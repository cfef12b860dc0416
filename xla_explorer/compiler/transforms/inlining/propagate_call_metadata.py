"""The op_name of calls in front of the op_names in their callees.

Source: xla/hlo/transforms/propagate_call_metadata.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.analysis.call_graph import CONTROL_FLOW_NAMES, call_sites
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import write_metadata
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class PropagateCallMetadata:
    """Prefix the op_names in a callee with the op_name of its call, while or conditional."""

    name: ClassVar[str] = "propagate-call-metadata"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Rename, callers first; a computation with several callers stays unchanged."""
        sites: dict[HloComputation, list[HloInstruction]] = call_sites(module)
        changed = False
        for computation in reversed(module.post_order_computations()):
            for i in computation.instructions.values():
                prefix = i.op_metadata.op_name
                if i.opcode.name not in CONTROL_FLOW_NAMES or not prefix:
                    continue
                for called in i.called:
                    if len(sites[called]) == 1:
                        changed |= prefix_names(called, prefix)
        return changed


def prefix_names(computation: HloComputation, prefix: str) -> bool:
    """Put the prefix before every op_name without it; return True if any changed."""
    changed = False
    for i in computation.instructions.values():
        metadata = i.op_metadata
        if i.opcode.name == "parameter" or metadata.op_name.startswith(prefix):
            continue
        i.metadata = write_metadata(
            metadata._replace(
                op_name=f"{prefix}/{metadata.op_name}" if metadata.op_name else prefix
            )
        )
        computation._changed(i)
        changed = True
    return changed
