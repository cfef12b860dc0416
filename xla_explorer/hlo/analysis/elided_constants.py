"""Constants whose values a text leaves out (`{...}` or `dense_resource<__elided__>`): which they are, and the warning about them.

Whoever takes values from a module asks here. A counter's numbers stand for the values, as in XLA, so what is computed from them is not
what the program computes.
"""

from __future__ import annotations

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.warning import warn
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule

REMEDY = (
    "have XLA write them: --xla_dump_large_constants, or print_large_constants in its print options; print MLIR with "
    'large_elements_limit=None; from TensorFlow take experimental_get_compiler_ir(...)(stage="stablehlo"), or the proto of '
    'stage="hlo_serialized"'
)


class ElidedConstantsWarning(UserWarning):
    """The module's text stands without the values of some constants."""


def elided_constants(module: HloModule) -> list[HloInstruction]:
    """The constants of a module, in all computations, whose values were left out of its text wholly or in part."""
    return [
        i
        for i in module.instructions()
        if isinstance(i.payload, Literal) and i.payload.has_elided_values
    ]


def elided_reason(constant: HloInstruction) -> Reason:
    """What to say of one such constant."""
    return refuse(
        "elided-constant",
        f"%{constant.name} ({constant.shape.text_without_layout}) stands in the text without its values ({{...}}); "
        "a counter's numbers stand for them",
        instruction=constant.name,
        bytes=constant.shape.byte_size,
    )


def warn_of_elided_constants(module: HloModule) -> list[HloInstruction]:
    """Warn once a module, naming the first such constant; returns all of them."""
    found = elided_constants(module)
    if found:
        count = f"{len(found)} constants" if len(found) > 1 else "1 constant"
        warn(
            f"{module.name}: the text leaves out the values of {count} ({{...}}, first %{found[0].name}); "
            f"a counter's numbers stand for them; {REMEDY}",
            ElidedConstantsWarning,
        )
    return found
