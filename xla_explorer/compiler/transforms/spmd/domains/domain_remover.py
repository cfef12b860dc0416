"""Domain instructions, removed.

Source: xla/hlo/transforms/hlo_domain_remover.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
every domain of the kind                        replaced by its operand
shardings of values inside a domain that lost   hole: they stay as they are
theirs
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class DomainRemover:
    """Remove the domains of a kind."""

    name: ClassVar[str] = "domain_remover"
    kind: str = "sharding"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every domain."""
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                text = str(i.attributes.get("domain") or "")
                if i.opcode.name == "domain" and f'kind="{self.kind}"' in text.replace(" ", ""):
                    context.rewrote(self.name, i, i.operands[0])
                    computation.replace(i, i.operands[0])
                    computation.remove(i)
                    changed = True
        return changed
