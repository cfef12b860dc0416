"""All rows by name; a repeated name is an error at import."""

from __future__ import annotations

from xla_explorer.hlo.opcodes import (
    collective,
    contraction,
    control_flow,
    custom,
    data_movement,
    elementwise,
    random,
    reduction,
    structural,
)
from xla_explorer.hlo.opcodes.spec import ROWS, OpcodeSpec


def _gather() -> dict[str, OpcodeSpec]:
    table = ROWS
    for family in (
        structural,
        elementwise,
        data_movement,
        contraction,
        reduction,
        control_flow,
        collective,
        random,
        custom,
    ):
        for row in family.ROWS:
            if row.name in table:
                raise ValueError(f"opcode {row.name!r} is declared twice")
            row.number = len(table)
            table[row.name] = row
    return table


OPCODES: dict[str, OpcodeSpec] = _gather()
