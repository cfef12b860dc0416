"""Rows of the random family.

Source: StableHLO rng, rng_bit_generator; hlo_parser.cc attribute tables.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.constraints import stated_shapes
from xla_explorer.hlo.opcodes.spec import Family, OpcodeSpec, Trait

_F = Family.RANDOM

ROWS: tuple[OpcodeSpec, ...] = (
    OpcodeSpec(
        "rng",
        family=_F,
        arity=None,
        attributes=("distribution",),
        required=("distribution",),
        summary="Random numbers from the device's own state, uniform in [a, b) or normal with mean a "
        "and deviation b.",
        source="StableHLO rng",
        traits=frozenset({Trait.SIDE_EFFECT, Trait.NON_DETERMINISTIC, Trait.EXPENSIVE}),
        constraints=(stated_shapes.rng_bounds,),
    ),
    OpcodeSpec(
        "rng-bit-generator",
        family=_F,
        arity=1,
        attributes=("algorithm",),
        required=("algorithm",),
        summary="Random bits from an explicit state; gives (new state, bits).",
        source="StableHLO rng_bit_generator",
        traits=frozenset({Trait.EXPENSIVE}),
        constraints=(stated_shapes.rng_state_and_bits,),
    ),
    OpcodeSpec(
        "rng-get-and-update-state",
        family=_F,
        arity=0,
        attributes=("delta",),
        required=("delta",),
        summary="The device's 128-bit generator state, before adding delta to it.",
        source="hlo_instructions.h HloRngGetAndUpdateStateInstruction",
        traits=frozenset({Trait.SIDE_EFFECT, Trait.NON_DETERMINISTIC, Trait.EXPENSIVE}),
        constraints=(stated_shapes.rng_state,),
    ),
)
