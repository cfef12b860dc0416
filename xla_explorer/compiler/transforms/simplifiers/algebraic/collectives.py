"""Rules on collectives of one repeated constant, and on sharding markers on one device.

Every device holds the same constant, so nothing need be sent. Sharding markers have no meaning on
one device. Source: algebraic_simplifier.cc, HandleAllGather, HandleAllToAll, HandleAllReduce,
HandleReduceScatter; sharding_remover.cc.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import (
    broadcast_scalar,
    scalar_constant,
    uniform_array,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled
from xla_explorer.compiler.rewriting.operators import all_gather, all_to_all
from xla_explorer.compiler.rewriting.patterns import any_, operator, splat
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import plain_reducer
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import why_not_counted
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_reducing = operator("all-reduce", "reduce-scatter")
_custom_call = operator("custom-call")
_SHARDING_TARGETS = frozenset(
    [
        "Sharding",
        "SPMDShardToFullShape",
        "SPMDFullToShardShape",
        "LocalToGlobalShape",
        "GlobalToLocalShape",
    ]
)
_SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n---\n"
_MOST = "most {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] maximum(a, b)\n}\n---\n"
_B = filled("b", "f32[4]", 3)
_ROOT_B = _B.replace("b = f32[4] b", "ROOT b = f32[4] b")


def has_array_result(instruction: HloInstruction) -> Reason | None:
    """Require one array, not a tuple of several."""
    return (
        refuse("tuple", f"%{instruction.name} gives a tuple")
        if instruction.shape.is_tuple
        else None
    )


def only_marks_sharding(i: HloInstruction) -> bool:
    """Return True for a custom call that only records the sharding of its operand."""
    target = custom_call_target(i)
    return (
        target in _SHARDING_TARGETS
        and len(i.operands) == 1
        and i.operands[0].shape.base is i.shape.base
    )


def one_partition(instruction: HloInstruction) -> Reason | None:
    """Require a module with one partition."""
    count = int(instruction.parent.module.attributes.get("num_partitions", 1))
    return (
        None
        if count <= 1
        else refuse(
            "several-partitions", f"the module runs in {count} partitions", partitions=count
        )
    )


@rule(
    _custom_call(any_("x")).that(only_marks_sharding),
    exactness=Exactness.BITWISE,
    when=(one_partition,),
    layout="insensitive",
    before='x = f32[4] parameter(0)\nROOT r = f32[4] custom-call(x), custom_call_target="Sharding", sharding={replicated}',
    after="ROOT x = f32[4] parameter(0)",
)
def sharding_on_one_device(x: HloInstruction) -> HloInstruction:
    """Rewrite custom-call "Sharding" and similar ones as their operand, for one partition."""
    return x


def _repeated(
    computation: HloComputation, instruction: HloInstruction, c: HloInstruction
) -> HloInstruction:
    value = scalar_constant(computation, instruction.shape, uniform_array(c))
    return (
        broadcast_scalar(computation, value, instruction.shape) if instruction.shape.rank else value
    )


@rule(
    all_gather(splat("c")),
    exactness=Exactness.BITWISE,
    when=(has_array_result,),
    before=_B + "ROOT r = f32[4] all-gather(b), replica_groups={{0}}, dimensions={0}",
    after=_ROOT_B,
)
def all_gather_of_constant(
    computation: HloComputation, instruction: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite all-gather of one repeated constant as a larger broadcast of it."""
    return _repeated(computation, instruction, c)


@rule(
    all_to_all(splat("c")),
    exactness=Exactness.BITWISE,
    when=(has_array_result,),
    before=_B + "ROOT r = f32[4] all-to-all(b), replica_groups={{0}}, dimensions={0}",
    after=_ROOT_B,
)
def all_to_all_of_constant(
    computation: HloComputation, instruction: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite all-to-all of one repeated constant as its broadcast."""
    return _repeated(computation, instruction, c)


def is_idempotent_reducer(i: HloInstruction) -> bool:
    """Return True if the reducer returns the same for one or many equal values."""
    return plain_reducer(i.called[0]) in ("maximum", "minimum", "and", "or")


@rule(
    _reducing(splat("c")).that(is_idempotent_reducer),
    exactness=Exactness.BITWISE,
    when=(has_array_result,),
    before=_MOST + _B + "ROOT r = f32[4] all-reduce(b), replica_groups={{0}}, to_apply=most",
    after=_MOST + _ROOT_B,
)
def extremum_of_devices(
    computation: HloComputation, instruction: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite the maximum or minimum over devices of one repeated constant as its broadcast."""
    return _repeated(computation, instruction, c)


def sums_over_devices(i: HloInstruction) -> bool:
    """Return True if the reducer adds."""
    return plain_reducer(i.called[0]) == "add"


def device_count(i: HloInstruction) -> int | None:
    """Return the number of devices in each group, or None.

    All groups must be listed and equally large.
    """
    groups = i.attributes.get("replica_groups")
    sizes = {len(group) for group in groups.groups} if groups is not None else set()
    return sizes.pop() if len(sizes) == 1 else None


def groups_are_known(instruction: HloInstruction) -> Reason | None:
    """Require listed, equally large replica groups, whose size is a number of the type."""
    count = device_count(instruction)
    if count:
        return why_not_counted(instruction.shape.element_type, count)
    return refuse(
        "group-size-unknown", f"%{instruction.name} does not list replica groups of one size"
    )


@rule(
    _reducing(splat("c")).that(sums_over_devices),
    exactness=Exactness.REAL,
    when=(has_array_result, groups_are_known),
    before=_SUM + _B + "ROOT r = f32[4] all-reduce(b), replica_groups={{0}}, to_apply=sum",
    after=_SUM + _ROOT_B,
)
def sum_over_devices(
    computation: HloComputation, instruction: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite the sum over devices of one repeated constant as constant times device count."""
    value, count = uniform_array(c), device_count(instruction)
    total = (value * value.dtype.type(count)).astype(value.dtype)
    made = scalar_constant(computation, instruction.shape, total)
    return (
        broadcast_scalar(computation, made, instruction.shape) if instruction.shape.rank else made
    )
