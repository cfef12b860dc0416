"""XLA:CPU's fusion checks of one instruction: fusible, expensive, duplicable.

Source: xla/service/cpu/cpu_instruction_fusion.cc, xla/hlo/ir/hlo_instruction.cc.
"""

from __future__ import annotations

from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION, opcode
from xla_explorer.hlo.primitive_type import BF16, F32

DOT, MAP, RNG, EXP = opcode("dot"), opcode("map"), opcode("rng"), opcode("exponential")
ADD, SUBTRACT, MULTIPLY, MAXIMUM, CONVERT = [
    opcode(name) for name in ("add", "subtract", "multiply", "maximum", "convert")
]
NEVER_FUSIBLE = frozenset(
    [opcode(name) for name in ("domain", "parameter", "while", "conditional", "call")]
)
_SIDE_EFFECT_FREE = frozenset({MAP, fusible.REDUCE, fusible.REDUCE_WINDOW})
# "Elementwise" in XLA: of any layout, and including instructions that compute nothing.
ELEMENTWISE = fusible.ELEMENTWISE | {
    MAP,
    fusible.COPY,
    fusible.BITCAST_CONVERT,
    fusible.CONSTANT,
    RNG,
}
LOOP_FUSIBLE = ELEMENTWISE | {
    fusible.BITCAST,
    fusible.BROADCAST,
    fusible.CONCATENATE,
    fusible.DYNAMIC_SLICE,
    fusible.DYNAMIC_UPDATE_SLICE,
    fusible.GATHER,
    fusible.IOTA,
    fusible.PAD,
    fusible.REDUCE,
    fusible.RESHAPE,
    fusible.REVERSE,
    fusible.SLICE,
    fusible.TRANSPOSE,
}
_DIVISIONS = frozenset([opcode("divide"), opcode("remainder")])
_EXPENSIVE_IF_COMPLEX = frozenset(
    [opcode(name) for name in ("abs", "sign", "cosine", "sine", "tan")]
)
_EXPENSIVE = frozenset(
    [
        opcode(name)
        for name in (
            "acos",
            "acosh",
            "sinh",
            "asin",
            "asinh",
            "atan",
            "atan2",
            "atanh",
            "cosh",
            "tanh",
            "cbrt",
            "power",
            "rsqrt",
            "sqrt",
            "erf",
            "exponential",
            "exponential-minus-one",
            "log",
            "log-plus-one",
            "logistic",
            "map",
            "rng",
        )
    ]
)
OPENS_A_BLOCK = frozenset(
    {
        fusible.CONCATENATE,
        DOT,
        fusible.DYNAMIC_UPDATE_SLICE,
        fusible.PAD,
        fusible.REDUCE,
        fusible.REDUCE_WINDOW,
    }
)


def is_fusible(i: HloInstruction) -> bool:
    """Return True if it may be moved into a kernel (`HloInstruction::IsFusible`)."""
    if i.opcode in NEVER_FUSIBLE:
        return False
    if i.opcode is FUSION or i.opcode in _SIDE_EFFECT_FREE:
        return True
    return len(i.users) <= 1 if i.opcode is RNG else not has_side_effect(i)


def is_expensive(i: HloInstruction) -> bool:
    """Return True if recomputing an element is expensive (`CpuInstructionFusion::IsExpensive`)."""
    row = i.opcode
    if row in _EXPENSIVE_IF_COMPLEX:
        return i.shape.element_type.is_complex
    if row is CONVERT:
        return i.shape.element_type is BF16 and i.operands[0].shape.element_type is F32
    if row in _DIVISIONS:
        # XLA's comment is about the divisor, its code tests the dividend. Recorded decisions follow
        # the code.
        dividend = (
            i.operands[0].operands[0]
            if i.operands[0].opcode is fusible.BROADCAST
            else i.operands[0]
        )
        return not i.shape.element_type.is_integer or not fusible.is_small_constant(dividend)
    return row in _EXPENSIVE or (row not in fusible.ELEMENTWISE and row.expensive)


def always_duplicable(i: HloInstruction) -> bool:
    """Return True for broadcasts and widening conversions: readers that compute them read less."""
    return i.opcode is fusible.BROADCAST or (
        i.opcode is CONVERT and i.operands[0].shape.byte_size < i.shape.byte_size
    )


def completes_product(dot: HloInstruction, add: HloInstruction) -> bool:
    """Return True if the addition is the only reader of a matrix-vector product, in its kernel."""
    return (
        add.opcode is ADD
        and dot.opcode is DOT
        and dot.shape.rank <= 1
        and not dot.shape.element_type.is_complex
        and not dot.attributes.get("lhs_batch_dims")
        and tuple(dot.users) == (add,)
        and add.operands.count(dot) == 1
    )


def feeds_shifted_exponential(i: HloInstruction) -> bool:
    """Return True if the maximum of `i` is subtracted from `i` before an exponential (softmax)."""
    if i.opcode is not MULTIPLY:
        return False
    largest = next(
        (
            u
            for u in i.users
            if u.opcode is fusible.REDUCE
            and u.operands[0] is i
            and u.called[0].root.opcode is MAXIMUM
        ),
        None,
    )
    if largest is None:
        return False
    for user in i.users:
        for subtract in (
            (user,)
            if user.opcode is SUBTRACT
            else user.users
            if user.opcode is fusible.BROADCAST
            else ()
        ):
            if subtract.opcode is SUBTRACT and any(u.opcode is EXP for u in subtract.users):
                sources = [
                    o.operands[0] for o in subtract.operands if o.opcode is fusible.BROADCAST
                ]
                if largest in sources and (i in subtract.operands or i in sources):
                    return True
    return False


def copies_long_rows(concatenate: HloInstruction) -> bool:
    """Return True if the operands are contiguous in rows that are worth copying."""
    shape = concatenate.shape
    dimension = concatenate.attribute("dimensions")[0]
    return (
        shape.rank > 1
        and dimension == shape.layout.minor_to_major[0]
        and shape.dimensions[dimension] >= 128
    )
