"""The mark of host compute, on every instruction that a marked call runs.

Source: xla/hlo/transforms/annotate_host_compute_offload.cc (host_compute_offload).

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
calls marked _xla_compute_type="host"          every instruction of the callee is marked
calls and loops inside                         their computations, too
marked instructions                            unchanged
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.host_offload.host_paths import (
    is_host_compute,
    mark_host_compute,
)
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class AnnotateHostComputeOffload:
    """Mark what runs on the host."""

    name: ClassVar[str] = "annotate-host-compute-offload"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit callers first."""
        changed = False
        for computation in reversed(module.post_order_computations()):
            for i in list(computation.instructions.values()):
                if not i.called or not is_host_compute(i):
                    continue
                for called in i.called:
                    for inner in list(called.instructions.values()):
                        if inner.opcode.name != "parameter" and not is_host_compute(inner):
                            mark_host_compute(inner)
                            context.rewrote(self.name, inner, inner)
                            changed = True
        return changed
