"""Options of the printer: one frozen set of switches, and presets by purpose.

Source: xla/hlo/ir/hlo_print_options.h.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """Switches of the printer; take a preset and change some with `but(...)`.

    Parameters
    ----------
    metadata, backend_config, sharding, frontend_attributes
        Print that attribute.
    layouts
        Print layouts in result shapes.
    operand_shapes
        Print the shape before each operand (the old long form).
    percent
        Print `%` before names.
    large_constants
        Print arrays of more than `constant_limit` elements in full, else `{...}`, which loses the
        values.
    constant_limit
        See `large_constants`.
    essential_constants
        Print zeros as `0`, ones as `1`, other floats as `{...}`.
    header
        Print the HloModule line and the stack frame tables.
    result_shapes
        Print the shape after `=`.
    canonical_names
        Call instructions `tmp_0`, `tmp_1` ... in each computation.
    own_names
        Print the names of the module and of its computations.
    nested_bodies
        Print the body of a called computation in place of its name.
    program_shape
        Print the signature of a computation.
    control_dependencies
        Print `control-predecessors`.
    indent
        Columns by which instructions are indented.
    index_comments
        Print `/*index=5*/` before every fifth element of a tuple.
    operand_index_comments
        Print the same before every fifth operand.
    subcomputations
        Print computations other than the entry.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> module = xe.parse_hlo("ENTRY main { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }")
    >>> options = xe.hlo.PrintOptions.default.but(header=False, percent=False, layouts=False)
    >>> print(module.to_text(options))
    ENTRY main (x: f32[4]) -> f32[4] {
      x = f32[4] parameter(0)
      ROOT r = f32[4] negate(x)
    }
    """

    metadata: bool = True
    backend_config: bool = True
    sharding: bool = True
    frontend_attributes: bool = True
    layouts: bool = True
    operand_shapes: bool = False
    percent: bool = True
    large_constants: bool = True
    constant_limit: int = 10
    essential_constants: bool = False
    header: bool = True
    result_shapes: bool = True
    canonical_names: bool = False
    own_names: bool = True
    nested_bodies: bool = False
    program_shape: bool = True
    control_dependencies: bool = True
    indent: int = 2
    index_comments: bool = True
    operand_index_comments: bool = True
    subcomputations: bool = True

    default: ClassVar[PrintOptions]
    elided: ClassVar[PrintOptions]
    short_parsable: ClassVar[PrintOptions]
    canonical: ClassVar[PrintOptions]
    fingerprint: ClassVar[PrintOptions]
    long: ClassVar[PrintOptions]

    def but(self, **changes: Any) -> PrintOptions:
        """Return the options with some changed."""
        return replace(self, **changes)


# As XLA prints, but constants in full, so that nothing is lost on the way back.
PrintOptions.default = PrintOptions()
# Exactly XLA's `to_string()`: arrays of more than ten elements are elided.
PrintOptions.elided = PrintOptions(large_constants=False)
# XLA's `short_parsable`, save that control predecessors, which it drops, are kept: the text means
# the same module.
PrintOptions.short_parsable = PrintOptions(
    metadata=False, percent=False, program_shape=False, operand_index_comments=False
)
# XLA's `canonical`: equal for modules that differ in names of instructions, metadata and backend
# configurations only.
PrintOptions.canonical = PrintOptions(
    metadata=False, backend_config=False, percent=False, program_shape=False, operand_shapes=True, canonical_names=True, nested_bodies=True,
    control_dependencies=False, large_constants=False, operand_index_comments=False,
)  # fmt: skip
# XLA's `fingerprint`: no names at all, and only those constants that decide how a program is
# compiled.
PrintOptions.fingerprint = PrintOptions.canonical.but(own_names=False, essential_constants=True)
# The long form of old dumps, with operand shapes.
PrintOptions.long = PrintOptions(operand_shapes=True)
