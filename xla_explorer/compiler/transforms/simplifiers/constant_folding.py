"""Constant folding through the reference evaluator.

Source: xla/hlo/transforms/simplifiers/hlo_constant_folding.cc.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.patterns import BROADCAST
from xla_explorer.compiler.rewriting.removal import (
    control_targets,
    inherit_sharding,
    remove_if_dead,
)
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import EvaluationError, Evaluator, UnsupportedOpcodeError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, GET_TUPLE_ELEMENT, PARAMETER, TUPLE, opcode
from xla_explorer.hlo.opcodes.spec import Family, Trait
from xla_explorer.hlo.shape import Shape

IOTA = opcode("iota")
MAXIMUM_ELEMENTS = 45_000_000
# Constants are part of the program. XLA limits only their elements; here a constant may have this
# size, or a few times its operands'.
MAXIMUM_GROWTH = 4
ALWAYS_ALLOWED_BYTES = 16 << 20
MAXIMUM_OPERATIONS = 100_000_000

_NEVER = frozenset(
    [
        "broadcast",
        "iota",
        "after-all",
        "fft",
        "parameter",
        "constant",
        "tuple",
        "infeed",
        "outfeed",
        "partition-id",
        "replica-id",
        "custom-call",
        "opt-barrier",
        "domain",
        "add-dependency",
        "copy-start",
        "copy-done",
    ]
)


def has_constant_operands(i: HloInstruction) -> bool:
    """Return True if every operand is a constant, a broadcast of one, an iota, or a tuple of these.

    As in XLA, one of them must be a plain constant.
    """
    plain = False
    for operand in i.operands:
        row = operand.opcode
        if row is CONSTANT:
            plain = True
        elif row is TUPLE:
            if operand.operands and not has_constant_operands(operand):
                return False
            plain |= bool(operand.operands)
        elif row is not IOTA and (
            row is not BROADCAST or operand.operands[0].opcode is not CONSTANT
        ):
            return False
    return plain


@value_formatter(
    lambda i: (
        f"{at_most('elements', i.shape.element_count, MAXIMUM_ELEMENTS)}, bytes "
        f"{i.shape.byte_size:,}"
    )
)
def small_enough(i: HloInstruction) -> Reason | None:
    """Require a small result, or one not much larger than the operands."""
    elements = i.shape.element_count
    given = sum([o.shape.element_count for o in i.operands])
    if elements > MAXIMUM_ELEMENTS or given > MAXIMUM_ELEMENTS:
        return refuse(
            "too-many-elements",
            f"%{i.name} has {max(elements, given)} elements, more than {MAXIMUM_ELEMENTS}",
            elements=elements,
        )
    stored = sum([o.shape.byte_size for o in i.operands if o.opcode is CONSTANT])
    if i.shape.byte_size > max(ALWAYS_ALLOWED_BYTES, MAXIMUM_GROWTH * stored):
        return refuse(
            "constant-would-grow",
            f"%{i.name} would put {i.shape.byte_size} bytes into the program for {stored}",
            bytes=i.shape.byte_size,
            operand_bytes=stored,
        )
    return None


def _work(i: HloInstruction) -> int:
    """Return the approximate number of operations of the evaluator."""
    work = max(i.shape.element_count, *[o.shape.element_count for o in i.operands])
    if i.opcode.name == "dot":
        work = i.shape.element_count * math.prod(
            [i.operands[0].shape.dimensions[d] for d in i.attributes.value("lhs_contracting_dims")]
        )
    elif i.opcode.name == "convolution":
        work = i.shape.element_count * i.operands[1].shape.element_count
    elif "window" in i.attributes:
        work *= math.prod([w.size for w in i.attributes["window"].dimensions])
    elif i.opcode.name in ("while", "call", "conditional", "map", "sort", "scatter"):
        work *= 20
    return work


@value_formatter(lambda i: at_most("operations", _work(i), MAXIMUM_OPERATIONS))
def cheap_enough(i: HloInstruction) -> Reason | None:
    """Require an evaluation that does not take long."""
    work = _work(i)
    if work > MAXIMUM_OPERATIONS:
        return refuse(
            "slow-to-evaluate", f"%{i.name} takes about {work} operations", operations=work
        )
    return None


LEGALITY = (small_enough,)
PROFITABILITY = (cheap_enough,)


def fold_constants(
    computation: HloComputation,
    context: PassContext,
    evaluator: Evaluator,
    *,
    fold_loops: bool = False,
) -> int:
    """Replace instructions that depend only on constants by their values, in one walk.

    Returns the number of constants made.
    """
    folded = 0
    targets = control_targets(computation)
    for i in list(computation.post_order()):
        row = i.opcode
        if (
            row is PARAMETER
            or row is CONSTANT
            or row is TUPLE
            or row.name in _NEVER
            or (row.name == "while" and not fold_loops)
            or i.id not in computation.instructions
        ):
            continue
        leaves = [leaf for _, leaf in i.shape.leaves()]
        if (
            not has_constant_operands(i)
            or not all(leaf.is_array and not any(leaf.dynamic) for leaf in leaves)
            or not leaves
        ):
            continue
        if row.family is Family.COLLECTIVE:
            continue  # its value depends on other devices
        if row.name == "pad" and i.operands[0].opcode is BROADCAST:
            continue  # making the broadcast is cheaper than storing the padded constant
        if (
            row.side_effect
            or Trait.NON_DETERMINISTIC in row.traits
            or i.control_predecessors
            or i in targets
            or not (i.users or i.is_root)
        ):
            continue
        if i.called and has_side_effect(i):
            continue
        if context.decide(
            "constant-folding", LEGALITY, PROFITABILITY, i
        ) is not None or not context.may_rewrite("constant-folding"):
            continue
        try:
            if row is GET_TUPLE_ELEMENT and i.operands[0].opcode is TUPLE:
                result = _value(i.operands[0].operands[i.attributes["index"]])
            else:
                result = evaluator.evaluate_instruction(i, [_value(o) for o in i.operands])
        except (EvaluationError, UnsupportedOpcodeError, MemoryError) as problem:
            context.refused("constant-folding", i, refuse("not-evaluated", str(problem)))
            continue
        made = _constant_of(computation, result, i.shape)
        made.metadata = i.metadata
        inherit_sharding(i, made, ("sharding", "frontend_attributes", "origin"))
        computation.replace(i, made)
        context.rewrote("constant-folding", i, made, (made.id,))
        remove_if_dead(computation, i, targets)
        folded += 1
    return folded


def _constant_of(computation: HloComputation, value: Any, shape: Shape) -> HloInstruction:
    """Add a constant, or a tuple of constants."""
    if shape.is_tuple:
        parts = [
            _constant_of(computation, part, sub)
            for part, sub in zip(value, shape.tuple_shapes, strict=True)
        ]
        return computation.add(TUPLE, shape, parts)
    return computation.add_constant(literal_from_array(np.asarray(value), shape))


def _value(i: HloInstruction) -> Any:
    if i.opcode is TUPLE:
        return tuple([_value(o) for o in i.operands])
    if i.opcode is CONSTANT:
        return i.literal.array
    if i.opcode is IOTA:
        along = i.attributes["iota_dimension"]
        line = np.arange(i.shape.dimensions[along]).astype(i.shape.element_type.dtype)
        return np.broadcast_to(
            line.reshape([-1 if d == along else 1 for d in range(i.shape.rank)]), i.shape.dimensions
        )
    source = i.operands[0].literal.array
    shape = [1] * i.shape.rank
    for of, to in enumerate(i.attributes.value("dimensions")):
        shape[to] = source.shape[of]
    return np.broadcast_to(source.reshape(shape), i.shape.dimensions)


def _calls(module: HloModule) -> dict[HloComputation, list[HloInstruction]]:
    """Return the calls of each computation that only calls use, on their caller's thread."""
    found: dict[HloComputation, list[HloInstruction]] = {}
    other = {module.entry}
    for i in module.instructions():
        for called in i.called:
            if i.opcode.name == "call":
                found.setdefault(called, []).append(i)
            else:
                other.add(called)
    return {c: calls for c, calls in found.items() if c not in other}


def propagate_constant_arguments(
    computation: HloComputation, calls: list[HloInstruction], context: PassContext
) -> int:
    """Replace parameters that are the same constant in every call; return their number."""
    if any(i.opcode.name == "fft" for i in computation.instructions.values()):
        return 0  # the FFT's operands are not folded
    count = 0
    for parameter in computation.parameters():
        given = [call.operands[parameter.parameter_number] for call in calls]
        first = given[0]
        if (
            not parameter.users
            or any(o.opcode is not CONSTANT for o in given)
            or any(o.literal != first.literal for o in given)
        ):
            continue
        made = computation.add_constant(first.literal)
        context.rewrote("constant-argument", parameter, made, (made.id,), {"calls": len(calls)})
        for user in list(parameter.users):
            computation.set_operands(user, [made if o is parameter else o for o in user.operands])
        count += 1
    return count


@register_pass("constant-folding")
@dataclasses.dataclass(frozen=True)
class ConstantFolding:
    """Replace operations on constants by constants.

    Broadcasts and iotas stay, since their results are large and cheap to make. fold_loops: also
    whole loops that start from constants (XLA's aggressive level).
    """

    name: ClassVar[str] = "constant_folding"
    kinds: ClassVar[tuple[str, ...]] = ("constant-folding",)
    fold_loops: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Fold in every computation that is not a fusion body."""
        bodies = module.fusion_computations()
        evaluator = Evaluator(max_elements=MAXIMUM_ELEMENTS, max_iterations=100_000)
        chosen = [c for c in module.computations.values() if c not in bodies]
        known = sum(
            [propagate_constant_arguments(c, calls, context) for c, calls in _calls(module).items()]
        )
        return (
            known
            + sum(
                [fold_constants(c, context, evaluator, fold_loops=self.fold_loops) for c in chosen]
            )
            > 0
        )
