"""Combining of collective-permutes.

Source: xla/hlo/transforms/collectives/collective_permute_combiner.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.collective_combiner import CollectiveCombiner


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectivePermuteCombiner(CollectiveCombiner):
    """Combines collective-permute."""

    name: ClassVar[str] = "collective-permute-combiner"
    opcode: ClassVar[str] = "collective-permute"
