"""Rows of the custom family: calls of external code.

Source: StableHLO custom_call; hlo_parser.cc.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.spec import Family, OpcodeSpec, Trait

ROWS: tuple[OpcodeSpec, ...] = (
    OpcodeSpec(
        "custom-call",
        family=Family.CUSTOM,
        arity=None,
        attributes=(
            "window",
            "dim_labels",
            "feature_group_count",
            "batch_group_count",
            "operand_precision",
            "custom_call_target",
            "operand_layout_constraints",
            "custom_call_has_side_effect",
            "output_to_operand_aliasing",
            "schedule",
            "api_version",
            "padding_type",
            "literal",
        ),
        required=("custom_call_target",),
        called=("called_computations",),
        summary="Calls a function registered under a name; its result shape is stated.",
        source="StableHLO custom_call; hlo_instructions.h HloCustomCallInstruction",
        traits=frozenset({Trait.EXPENSIVE}),
    ),
)
