"""Operations on one element type computed in another.

Source: xla/hlo/transforms/simplifiers/hlo_element_type_converter.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first
from xla_explorer.compiler.transforms.expanders.float_normalization import UNTOUCHED, in_wide_type
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES


@register_pass("hlo-element-type-converter")
@dataclasses.dataclass(frozen=True)
class ElementTypeConverter:
    """Compute operations on `eliminate_type` in `replace_with_type`.

    Both are names of types.
    """

    name: ClassVar[str] = "element_type_converter"
    eliminate_type: str = "bf16"
    replace_with_type: str = "f32"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that control flow runs."""
        low, high = PRIMITIVE_TYPES[self.eliminate_type], PRIMITIVE_TYPES[self.replace_with_type]
        changed = False
        for computation in sequential_computations(module):
            for i in [
                i
                for i in computation.post_order()
                if i.opcode.name not in UNTOUCHED
                and (i.opcode.name == "rng" or not i.opcode.side_effect)
            ]:
                changed |= in_wide_type(i, low, high)
        if changed:
            order_callees_first(module)
        return changed
