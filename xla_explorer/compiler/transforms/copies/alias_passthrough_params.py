"""Parameters that the entry returns unchanged, aliased with the result.

Source: xla/backends/gpu/transforms/alias_passthrough_params.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
elements of a root tuple that are parameters may-alias entries of input_output_alias
a parameter returned twice                   the first result only
elements and parameters with entries already unchanged
roots that are no tuples                     unchanged
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.module import HloModule

_ENTRY = re.compile(r"\{\s*([\d,\s]*)\}:\s*\(\s*(\d+)")


@register_pass()
@dataclasses.dataclass(frozen=True)
class AliasPassthroughParams:
    """Let results that are parameters keep the buffers of the arguments."""

    name: ClassVar[str] = "alias_passthrough_params"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Add an alias for each parameter in the entry's root tuple."""
        root = module.entry.root
        if root.opcode.name != "tuple":
            return False
        text = str(module.attributes.get("input_output_alias") or "")
        known = _ENTRY.findall(text)
        outputs = {index.strip() for index, _ in known}
        used = {int(number) for _, number in known}
        made = []
        for k, operand in enumerate(root.operands):
            if operand.opcode.name != "parameter" or str(k) in outputs:
                continue
            number = operand.parameter_number
            if number not in used and context.decide(self.name, (), (), operand) is None:
                used.add(number)
                made.append(f"{{{k}}}: ({number}, {{}}, may-alias)")
                context.rewrote(self.name, operand, root, (), {"result": k})
        if made:
            inner = text.strip()[1:-1].strip() if text else ""
            entries = ", ".join([part for part in (inner, *made) if part])
            module.attributes["input_output_alias"] = f"{{ {entries} }}"
        return bool(made)
