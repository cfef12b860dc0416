"""Combining of all-reduces. Source: xla/hlo/transforms/collectives/all_reduce_combiner.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.collective_combiner import CollectiveCombiner


@register_pass("cpu-all-reduce-combiner")
@dataclasses.dataclass(frozen=True)
class AllReduceCombiner(CollectiveCombiner):
    """Combines all-reduce."""

    name: ClassVar[str] = "all-reduce-combiner"
    opcode: ClassVar[str] = "all-reduce"
