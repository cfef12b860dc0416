"""The list of lowering steps on records, and the function that runs it."""

from __future__ import annotations

from xla_explorer.compiler.codegen.lowering.body import KernelBody
from xla_explorer.compiler.codegen.lowering.expand_math import EXPAND_MATH
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.legalise_conversions import LEGALISE_CONVERSIONS
from xla_explorer.compiler.codegen.lowering.legalise_memory import LEGALISE_MEMORY
from xla_explorer.compiler.codegen.lowering.legalise_types import LEGALISE_TYPES

RECORD_STEPS = (EXPAND_MATH, LEGALISE_CONVERSIONS, LEGALISE_TYPES, LEGALISE_MEMORY)


def lower_records(body: KernelBody, features: CodeFeatures) -> KernelBody:
    """Return the body after all steps on records: LLVM has each of its operations and types."""
    for step in RECORD_STEPS:
        body = step.run(body, features)
    return body
