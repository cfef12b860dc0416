"""The reference meaning of HLO in numpy, a file per opcode family.

`evaluate(module, *arrays)` runs a module, `evaluate_replicated` runs it on several virtual devices.
`Evaluator` runs computations and single instructions. `@evaluates` adds opcodes,
`@evaluates_custom_call` adds targets of custom calls.

Sources: the StableHLO specification and xla/hlo/evaluator. XLA:CPU decides if both leave a choice.
"""

from __future__ import annotations

from xla_explorer.hlo.evaluator import (
    bits,
    contraction,
    control_flow,
    convolution,
    custom,
    data_movement,
    elementwise,
    indexing,
    lapack,
    linear_algebra,
    random,
    reduction,
    sorting,
    structural,
    transcendental,
    windows,
)
from xla_explorer.hlo.evaluator.arguments import evaluate, evaluate_here, flatten_value
from xla_explorer.hlo.evaluator.conversion import convert
from xla_explorer.hlo.evaluator.devices import collective, manual_regions, transfer
from xla_explorer.hlo.evaluator.devices.host import Host
from xla_explorer.hlo.evaluator.devices.replicated import evaluate_replicated
from xla_explorer.hlo.evaluator.devices.world import RendezvousError
from xla_explorer.hlo.evaluator.evaluator import Evaluator
from xla_explorer.hlo.evaluator.registry import (
    CUSTOM_CALL_FUNCTIONS,
    CUSTOM_CALL_SOURCES,
    TOKEN_VALUE,
    EvaluationError,
    Token,
    UnsupportedOpcodeError,
    Value,
    evaluates,
    evaluates_custom_call,
    supported_opcodes,
)

# The families register their functions when they are imported.
_FAMILIES = (
    bits,
    collective,
    contraction,
    control_flow,
    convolution,
    custom,
    data_movement,
    elementwise,
    indexing,
    lapack,
    linear_algebra,
    manual_regions,
    random,
    reduction,
    sorting,
    structural,
    transcendental,
    transfer,
    windows,
)

__all__ = [
    "CUSTOM_CALL_FUNCTIONS",
    "CUSTOM_CALL_SOURCES",
    "TOKEN_VALUE",
    "EvaluationError",
    "Evaluator",
    "Host",
    "RendezvousError",
    "Token",
    "UnsupportedOpcodeError",
    "Value",
    "convert",
    "evaluate",
    "evaluate_here",
    "evaluate_replicated",
    "evaluates",
    "evaluates_custom_call",
    "flatten_value",
    "supported_opcodes",
]
