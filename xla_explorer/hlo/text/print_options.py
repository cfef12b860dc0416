"""How HLO text is printed: one frozen set of switches, and presets by purpose.

Source: xla/hlo/ir/hlo_print_options.h.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """Switches of the printer; take a preset and change some with `but(...)`.

    metadata, backend_config, sharding, frontend_attributes: print that attribute. layouts: in result shapes.
    operand_shapes: before each operand (the old long form). percent: `%` before names. large_constants: arrays of more
    than `constant_limit` elements in full, else `{...}`, which loses the values. essential_constants: zeros as `0`,
    ones as `1`, other floats as `{...}`. header: the HloModule line and the stack frame tables. result_shapes: shape
    after `=`. canonical_names: instructions are called `tmp_0`, `tmp_1` ... in each computation. own_names: those of
    the module and of its computations. nested_bodies: an attribute that calls a computation holds its body instead of
    its name. program_shape: the signature of a computation. indent: columns. index_comments: `/*index=5*/` before every
    fifth element of a tuple; operand_index_comments: before every fifth operand. subcomputations: computations other
    than the entry.
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
        """The same options with some changed."""
        return replace(self, **changes)


# As XLA prints, but constants in full, so that nothing is lost on the way back.
PrintOptions.default = PrintOptions()
# To the letter what XLA's `to_string()` shows people: arrays of more than ten elements are elided.
PrintOptions.elided = PrintOptions(large_constants=False)
# XLA's `short_parsable`, save that control predecessors, which it drops, are kept: the text means the same module.
PrintOptions.short_parsable = PrintOptions(metadata=False, percent=False, program_shape=False, operand_index_comments=False)
# XLA's `canonical`: equal for modules that differ in names of instructions, metadata and backend configurations only.
PrintOptions.canonical = PrintOptions(
    metadata=False, backend_config=False, percent=False, program_shape=False, operand_shapes=True, canonical_names=True, nested_bodies=True,
    control_dependencies=False, large_constants=False, operand_index_comments=False,
)  # fmt: skip
# XLA's `fingerprint`: no names at all, and only those constants that decide how a program is compiled.
PrintOptions.fingerprint = PrintOptions.canonical.but(own_names=False, essential_constants=True)
# The long form of old dumps, with operand shapes.
PrintOptions.long = PrintOptions(operand_shapes=True)
