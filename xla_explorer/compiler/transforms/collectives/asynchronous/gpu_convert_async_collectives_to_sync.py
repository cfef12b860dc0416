"""Asynchronous collectives that overlap with nothing, marked as synchronous for the GPU's streams.

Source: xla/backends/gpu/transforms/collectives/convert_async_collectives_to_sync.cc.

=========================================  ===================================================
handled by XLA                             here
=========================================  ===================================================
starts of every collective, async-start    the same
nothing but free operations in between     the same: parameters, constants, bitcasts, tuples,
                                           elements
other starts and dones in between          free, if those pairs are marked too, as in XLA
backend config is_sync=true                the same; the pair stays
modules without a schedule                 unchanged
=========================================  ===================================================
"""

from __future__ import annotations

import dataclasses
import json
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_FREE = frozenset(
    [
        "parameter",
        "constant",
        "get-tuple-element",
        "bitcast",
        "tuple",
        "after-all",
        "partition-id",
        "replica-id",
    ]
)
_COLLECTIVES = frozenset(
    [
        "all-reduce",
        "all-gather",
        "all-to-all",
        "collective-broadcast",
        "collective-permute",
        "reduce-scatter",
        "ragged-all-to-all",
    ]
)


def start_of(done: HloInstruction) -> HloInstruction | None:
    """Return the start of a collective that the instruction ends, or None."""
    name = done.opcode.name
    if not name.endswith("-done") or not done.operands:
        return None
    start = done.operands[0]
    if start.opcode.name == "async-start" and start.called:
        return start if start.called[0].root.opcode.name in _COLLECTIVES else None
    kind = start.opcode.name.removesuffix("-start")
    return start if name == f"{kind}-done" and kind in _COLLECTIVES else None


def pairs_without_overlap(
    computation: HloComputation,
) -> list[tuple[HloInstruction, HloInstruction]]:
    """Return the pairs of starts and dones between which the schedule has no work."""
    open_: list[HloInstruction] = []
    found = []
    for i in computation.schedule or ():
        start = start_of(i)
        if start is not None:
            if start in open_:
                found.append((start, i))
                open_.remove(start)
        elif any(start_of(u) is i for u in i.users):
            open_.append(i)
        elif open_ and i.opcode.name not in _FREE:
            open_.clear()
    return found


@register_pass()
@dataclasses.dataclass(frozen=True)
class GpuConvertAsyncCollectivesToSync:
    """Mark starts as synchronous if nothing runs between them and their dones."""

    name: ClassVar[str] = "gpu-convert-async-collectives-to-sync"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every scheduled computation."""
        changed = False
        for computation in list(module.computations.values()):
            for start, done in pairs_without_overlap(computation):
                if context.decide(self.name, (), (), start, done) is not None:
                    continue
                config = json_config(start)
                own = {**config.get("collective_backend_config", {}), "is_sync": True}
                text = json.dumps({**config, "collective_backend_config": own})
                computation.set_attributes(start, start.attributes.with_values(backend_config=text))
                context.rewrote(self.name, start, start)
                changed = True
        return changed
