"""Names of constants without characters that symbols of LLVM and PTX cannot hold.

Source: xla/service/gpu/transforms/sanitize_constant_names.cc.

==========================================  ==================================================
handled by XLA                              here
==========================================  ==================================================
dots and hyphens in names of constants      underscores; a number keeps the name unique
other instructions                          unchanged
==========================================  ==================================================
"""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class SanitizeConstantNames:
    """Rename constants whose names hold dots or hyphens."""

    name: ClassVar[str] = "sanitize-constant-names"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Rename in every computation."""
        changed = False
        for i in list(module.instructions()):
            wanted = re.sub(r"[.-]", "_", i.name)
            if i.opcode.name == "constant" and wanted != i.name:
                names = {x.name for x in module.instructions()}
                unique, number = wanted, 1
                while unique in names:
                    unique, number = f"{wanted}_{number}", number + 1
                i.parent.set_name(i, unique)
                context.rewrote(self.name, i, i)
                changed = True
        return changed
