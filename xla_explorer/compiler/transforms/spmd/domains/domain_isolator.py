"""Domain instructions between values of different shardings.

Source: xla/hlo/transforms/hlo_domain_isolator.cc, xla/service/hlo_domain_sharding... (sharding
metadata).

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
operands with another sharding than the reader  a domain between, for each pair
one without a sharding beside one with          the same
equal shardings, parameters of called           unchanged
computations
users of domains that call inlining brought     the same on the next run
other kinds of domains                          hole: shardings alone
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def sharding_of(i: HloInstruction) -> str:
    """Return the text of the sharding of an instruction, or nothing."""
    return str(i.attributes.get("sharding") or "")


_IO = frozenset(["send", "recv", "send-done", "recv-done", "infeed", "outfeed"])


def _leaves(text: str) -> set[str]:
    """Return the shardings of the arrays in a sharding, that of a tuple or not."""
    return set(re.findall(r"\{[^{}]*\}", text))


def _unsharded(text: str) -> str:
    return text or "{}"


def needs_domain(operand: HloInstruction, user: HloInstruction) -> bool:
    """Return True if a border of shardings lies between two instructions."""
    if "domain" in (operand.opcode.name, user.opcode.name):
        return False
    mine, theirs = sharding_of(user), sharding_of(operand)
    if user.opcode.name == "get-tuple-element" and mine and theirs:
        return not _leaves(mine) <= _leaves(theirs)
    if operand.shape.is_tuple != user.shape.is_tuple or user.opcode.name in _IO:
        return _leaves(mine) != _leaves(theirs)
    return mine != theirs


@register_pass()
@dataclasses.dataclass(frozen=True)
class DomainIsolator:
    """Put a domain between instructions of different shardings."""

    name: ClassVar[str] = "domain_isolator"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every operand."""
        changed = False
        for computation in list(module.computations.values()):
            for user in list(computation.post_order()):
                for number, operand in enumerate(user.operands):
                    if not needs_domain(operand, user):
                        continue
                    entry, exit_ = sharding_of(user), sharding_of(operand)
                    text = (
                        f'{{kind="sharding", entry={_unsharded(entry)}, exit={_unsharded(exit_)}}}'
                    )
                    domain = computation.add(
                        "domain", operand.shape, (operand,), attributes_of({"domain": text})
                    )
                    context.rewrote(self.name, user, domain, (domain.id,))
                    computation.replace_operand(user, number, domain)
                    changed = True
        return changed
