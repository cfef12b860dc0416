"""Constants without values in the text (`{...}` or `dense_resource<__elided__>`), and the warning.

Every reader of a module's values checks for them here. As in XLA, a counter's numbers replace the
values, so results differ from the program's.
"""

from __future__ import annotations

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.warning import warn
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule

REMEDY = (
    "have XLA write them: --xla_dump_large_constants, or print_large_constants in its print "
    "options; print MLIR with "
    "large_elements_limit=None; from TensorFlow take "
    'experimental_get_compiler_ir(...)(stage="stablehlo"), or the proto of '
    'stage="hlo_serialized"'
)


class ElidedConstantsWarning(UserWarning):
    """The module's text lacks the values of some constants."""


def elided_constants(module: HloModule) -> list[HloInstruction]:
    """Return the constants of a module whose values the text elides wholly or in part."""
    return [
        i
        for i in module.instructions()
        if isinstance(i.payload, Literal) and i.payload.has_elided_values
    ]


def elided_reason(constant: HloInstruction) -> Reason:
    """Return the reason that describes one elided constant."""
    return refuse(
        "elided-constant",
        f"%{constant.name} ({constant.shape.text_without_layout}) has no values in the text "
        f"({{...}}); "
        "consecutive numbers replace them",
        instruction=constant.name,
        bytes=constant.shape.byte_size,
    )


def warn_of_elided_constants(module: HloModule) -> list[HloInstruction]:
    """Warn once a module, naming the first elided constant, and return all of them."""
    found = elided_constants(module)
    if found:
        count = f"{len(found)} constants" if len(found) > 1 else "1 constant"
        warn(
            f"{module.name}: the text leaves out the values of {count} ({{...}}, first "
            f"%{found[0].name}); "
            f"consecutive numbers replace them; {REMEDY}",
            ElidedConstantsWarning,
        )
    return found
