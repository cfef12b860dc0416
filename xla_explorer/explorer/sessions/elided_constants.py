"""Constants whose values the text leaves out, as refused decisions of the module as written."""

from __future__ import annotations

from xla_explorer.compiler.decisions.kinds import CONSTANT_VALUES
from xla_explorer.compiler.decisions.recorded import code_check
from xla_explorer.compiler.pipeline import PassTrace
from xla_explorer.explorer.sessions.lineage import AS_WRITTEN
from xla_explorer.foundation.journal import Level
from xla_explorer.foundation.reason import place_of
from xla_explorer.hlo.analysis.elided_constants import elided_reason
from xla_explorer.hlo.instruction import HloInstruction


def record_elided_constants(constants: list[HloInstruction], trace: PassTrace) -> None:
    """Record a refused decision for each constant without values, for tables and explanations."""
    if constants and trace.journal is not None and trace.journal.level >= Level.DECISIONS:
        with trace.journal.span(AS_WRITTEN, "constants"):
            for constant in constants:
                reason = elided_reason(constant)
                checks = code_check(
                    CONSTANT_VALUES,
                    False,
                    reason,
                    {"bytes": constant.shape.byte_size},
                    place_of(elided_reason),
                )
                trace.journal.write(
                    "decision",
                    CONSTANT_VALUES,
                    (constant.id,),
                    (constant.name,),
                    reason,
                    accepted=False,
                    checklist=checks,
                )
