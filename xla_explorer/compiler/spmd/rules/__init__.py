"""Sharding rules by opcode: factors of the dimensions of operands and results, as data."""

from xla_explorer.compiler.spmd.rules import (  # each declares its rules
    contraction,
    custom_calls,
    data_movement,
    elementwise,
    gather_scatter,
    reduction,
)
from xla_explorer.compiler.spmd.rules.factor_rule import FactorRule
from xla_explorer.compiler.spmd.rules.registry import opcodes_with_rules, rule_of

__all__ = ("FactorRule", "opcodes_with_rules", "rule_of")
_DECLARED = (contraction, custom_calls, data_movement, elementwise, gather_scatter, reduction)
