"""Checks of mixed float precisions.

Source: hlo_verifier.cc CheckShape, shape_inference.cc SameElementTypeIgnoringFpPrecision.
"""

from __future__ import annotations

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

# All float operands must have one precision, unless mixing is allowed.
_ONE_PRECISION = frozenset(
    {
        "select",
        "clamp",
        "concatenate",
        "pad",
        "dynamic-update-slice",
        "select-and-scatter",
        "triangular-solve",
        "ragged-all-to-all",
    }
)
# Operand k has the precision of operand k + N (k + N + 1 for a scatter, whose indices are between).
_PAIRED = frozenset({"reduce", "reduce-window", "scatter"})
# Operands have the element types of the applied computation's parameters.
_APPLIED_AS_THEY_ARE = frozenset({"map", "reduce", "reduce-window", "sort"})
NEVER_MIXED = frozenset(
    {
        "bitcast", "call", "conditional", "constant", "copy-done", "copy-start", "custom-call", "dynamic-update-slice", "get-tuple-element",
        "infeed", "opt-barrier", "outfeed", "parameter", "recv", "recv-done", "send", "send-done", "tuple", "while",
    }
)  # fmt: skip
"""Opcodes that forward data: results never change precision. A copy may change it on the device."""
_HOST = 5  # Layout::kHostMemorySpace


def mixed_precision(i: HloInstruction) -> Reason | None:
    """Require one float precision for operands that must agree."""
    name, operands = i.opcode.name, i.operands
    if name in _APPLIED_AS_THEY_ARE and i.called:
        given = [o for o in operands for _ in range(2)] if name == "sort" else operands
        for operand, parameter in zip(given, i.called[0].parameters(), strict=False):
            x, y = operand.shape.element_type, parameter.shape.element_type
            if x is not y and x is not None and y is not None and x.is_float and y.is_float:
                return refuse(
                    "mixed-precision",
                    f"%{i.called[0].name} is applied to {operand.shape.text_without_layout}, but "
                    f"its %{parameter.name} is "
                    f"{parameter.shape.text_without_layout}, and mixed precision is not allowed",
                )
    count = len(operands)
    if count < 2:
        return None
    # The operands of a map have the types of its computation's parameters, which may differ.
    if name in _ONE_PRECISION or (
        i.opcode.elementwise and name not in ("stochastic-convert", "map")
    ):
        first = next(
            (
                o.shape
                for o in operands
                if o.shape.element_type is not None and o.shape.element_type.is_float
            ),
            None,
        )
        pairs = [(first, o.shape) for o in operands] if first is not None else []
    elif name in _PAIRED:
        shift = count // 2 + (name == "scatter")
        pairs = [(a.shape, b.shape) for a, b in zip(operands, operands[shift:], strict=False)]
    else:
        return None
    for a, b in pairs:
        x, y = a.element_type, b.element_type
        if x is not y and x is not None and y is not None and x.is_float and y.is_float:
            return refuse(
                "mixed-precision",
                "operands differ in element type, and mixed precision is not allowed: "
                f"{a.text_without_layout} vs {b.text_without_layout}",
            )
    return None


def agrees_up_to_precision(i: HloInstruction, wanted: Shape, *, layout_sensitive: bool) -> bool:
    """Return True if the stated result is the inferred one in another, allowed float precision."""
    if i.opcode.name in NEVER_MIXED or (
        layout_sensitive and i.opcode.name == "copy" and _moves_to_or_from_host(i)
    ):
        return False
    return _compatible(wanted, i.shape)


def _moves_to_or_from_host(copy: HloInstruction) -> bool:
    spaces = {
        shape.layout.memory_space
        for shape in (copy.shape, copy.operands[0].shape)
        if shape.is_array
    }
    return _HOST in spaces and len(spaces) > 1


def _compatible(a: Shape, b: Shape) -> bool:
    if a.tuple_shapes or b.tuple_shapes:
        return len(a.tuple_shapes) == len(b.tuple_shapes) and all(
            map(_compatible, a.tuple_shapes, b.tuple_shapes)
        )
    x, y = a.element_type, b.element_type
    return a.dimensions == b.dimensions and (
        x is y or (x is not None and y is not None and x.is_float and y.is_float)
    )


def differs_in_precision_alone(i: HloInstruction, reason: Reason) -> bool:
    """Return True if an opcode's own constraint refuses only the result's float precision.

    This concerns broadcast and reshape.
    """
    if reason.code != "element-type" or i.opcode.name in NEVER_MIXED or not i.operands:
        return False
    x, y = i.operands[0].shape.element_type, i.shape.element_type
    return x is not None and y is not None and x.is_float and y.is_float
