"""Algebraic rules on reduce and map; those on reduce-window are in `windows.py`.

Source: algebraic_simplifier.cc, HandleReduce, HandleMap.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.rewriting.construction import (
    broadcast,
    broadcast_scalar,
    reshape,
    splat_constant,
    with_dimensions,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters, scalar_constant_text
from xla_explorer.compiler.rewriting.guards import negatable, static
from xla_explorer.compiler.rewriting.operators import broadcast as broadcast_of
from xla_explorer.compiler.rewriting.operators import map_, negate, reduce
from xla_explorer.compiler.rewriting.operators import reshape as reshape_of
from xla_explorer.compiler.rewriting.operators import transpose as transpose_of
from xla_explorer.compiler.rewriting.patterns import any_, scalar
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import (
    identity_of,
    plain_reducer,
    same_value,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.reshaping import (
    unmodified_dimensions,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import (
    has_the_range_of_f32,
    why_not_counted,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n---\n"
_ZERO = scalar_constant_text("zero", "f32", 0)
_X = _SUM + parameters("f32[3,4]", "x")


def is_not_variadic(i: HloInstruction) -> bool:
    """Return True for a reduce of one array, which has one operand and one initial value."""
    return len(i.operands) == 2 and not i.shape.is_tuple


def reduces_no_elements(i: HloInstruction) -> bool:
    """Return True if the operand or the result is empty."""
    return is_not_variadic(i) and (
        i.operands[0].shape.element_count == 0 or i.shape.element_count == 0
    )


@rule(
    reduce(any_("x"), any_("start")).that(reduces_no_elements),
    exactness=Exactness.BITWISE,
    before=_SUM
    + "x = f32[3,0] parameter(0)\nz = f32[] parameter(1)\nROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=sum",
    after=_SUM
    + "x = f32[3,0] parameter(0)\nz = f32[] parameter(1)\nROOT r = f32[3] broadcast(z), dimensions={}",
)
def reduce_of_empty(
    computation: HloComputation, instruction: HloInstruction, start: HloInstruction
) -> HloInstruction:
    """Rewrite a reduce with an empty operand or result as a broadcast of the initial value."""
    return (
        start
        if not instruction.shape.rank
        else broadcast_scalar(computation, start, instruction.shape)
    )


def combines_single_elements(i: HloInstruction) -> bool:
    """Return True if each result element comes from one operand element."""
    return is_not_variadic(i) and i.shape.element_count == i.operands[0].shape.element_count != 0


def starts_from_identity(instruction: HloInstruction, start: HloInstruction) -> Reason | None:
    """Require that the reducer is one operation, and that the initial value is its identity."""
    return identity_of(plain_reducer(instruction.called[0]), start)


@rule(
    reduce(any_("x"), any_("start")).that(combines_single_elements),
    exactness=Exactness.NUMERIC,
    when=(starts_from_identity, static),
    before=_SUM
    + "x = f32[3,1] parameter(0)\n"
    + _ZERO
    + "ROOT r = f32[3] reduce(x, zero), dimensions={1}, to_apply=sum",
    after=_SUM + "x = f32[3,1] parameter(0)\nROOT r = f32[3] reshape(x)",
)
def reduce_single_elements(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a reduce of dimensions of size one as a reshape if the identity is the start."""
    return reshape(computation, x, instruction.shape)


@rule(
    reduce(any_("x"), any_("start")).that(combines_single_elements),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_SUM
    + "x = f32[3,1] parameter(0)\nz = f32[] parameter(1)\nROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=sum",
    after=_SUM
    + "x = f32[3,1] parameter(0)\nz = f32[] parameter(1)\nb = f32[3] broadcast(z), dimensions={}\n"
    "a = f32[3] reshape(x)\n"
    "ROOT r = f32[3] add(b, a)",
)
def reduce_single_elements_onto_start(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction | None:
    """Rewrite a reduce of dimensions of size one as the reducer's operation on start and x."""
    name = plain_reducer(instruction.called[0])
    if name is None:
        return None
    first = (
        start
        if not instruction.shape.rank
        else broadcast_scalar(computation, start, instruction.shape)
    )
    return computation.add(
        name, instruction.shape, (first, reshape(computation, x, instruction.shape))
    )


def adds(i: HloInstruction) -> bool:
    """Return True if the reducer adds."""
    return is_not_variadic(i) and plain_reducer(i.called[0]) == "add"


def is_associative(i: HloInstruction) -> bool:
    """Return True if the reducer is one operation that is associative over the real numbers."""
    return is_not_variadic(i) and plain_reducer(i.called[0]) in (
        "add",
        "multiply",
        "maximum",
        "minimum",
        "and",
        "or",
        "xor",
    )


@rule(
    reduce(negate(any_("x")), scalar(0, "start")).that(adds),
    exactness=Exactness.NUMERIC,
    when=(negatable,),
    layout="insensitive",
    before=_X
    + _ZERO
    + "n = f32[3,4] negate(x)\nROOT r = f32[3] reduce(n, zero), dimensions={1}, to_apply=sum",
    after=_X
    + _ZERO
    + "s = f32[3] reduce(x, zero), dimensions={1}, to_apply=sum\nROOT r = f32[3] negate(s)",
)
def reduce_of_negate(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite the sum of -x as minus the sum of x."""
    total = computation.add(
        "reduce", instruction.shape, (x, start), instruction.attributes, called=instruction.called
    )
    return computation.add("negate", instruction.shape, (total,))


@rule(
    reduce(transpose_of(any_("x"), name="transposed"), any_("start")).that(is_associative),
    exactness=Exactness.REAL,
    before=_SUM
    + "x = f32[2,3,4] parameter(0)\n"
    + _ZERO
    + "t = f32[4,2,3] transpose(x), dimensions={2,0,1}\n"
    "ROOT r = f32[2] reduce(t, zero), dimensions={0,2}, to_apply=sum",
    after=_SUM
    + "x = f32[2,3,4] parameter(0)\n"
    + _ZERO
    + "ROOT r = f32[2] reduce(x, zero), dimensions={1,2}, to_apply=sum",
)
def reduce_of_transpose(
    computation: HloComputation,
    instruction: HloInstruction,
    transposed: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite reduce(transpose(x)) as a reduce over permuted dimensions, transposed if needed."""
    permutation, reduced = dimensions_of(transposed), set(dimensions_of(instruction))
    dimensions = sorted([permutation[d] for d in reduced])
    kept = [permutation[d] for d in range(len(permutation)) if d not in reduced]
    ordered = sorted(kept)
    shape = instruction.shape.with_dimensions([x.shape.dimensions[d] for d in ordered])
    total = computation.add(
        "reduce", shape, (x, start), with_dimensions(dimensions), called=instruction.called
    )
    if kept == ordered:
        return total
    return computation.add(
        "transpose", instruction.shape, (total,), with_dimensions([ordered.index(d) for d in kept])
    )


def same_reduction(
    instruction: HloInstruction, inner: HloInstruction, start: HloInstruction
) -> Reason | None:
    """Require that both reduces have the same operation and start from its identity."""
    name = plain_reducer(instruction.called[0])
    if not is_not_variadic(inner) or name is None or name != plain_reducer(inner.called[0]):
        return refuse(
            "reducers-differ", f"%{instruction.name} and %{inner.name} have different reducers"
        )
    if not same_value(start, inner.operands[1]):
        return refuse(
            "starts-differ", f"%{instruction.name} and %{inner.name} start from different values"
        )
    return starts_from_identity(instruction, start)


def partial_results_in_range(instruction: HloInstruction) -> Reason | None:
    """Require for add and multiply that the type has at least the range of f32."""
    return (
        has_the_range_of_f32(instruction)
        if plain_reducer(instruction.called[0]) in ("add", "multiply")
        else None
    )


@rule(
    reduce(reduce(name="inner").one_use(), any_("start")).that(is_associative),
    exactness=Exactness.REAL,
    when=(same_reduction,),
    within_range=(partial_results_in_range,),
    before=_SUM
    + "x = f32[2,3,4] parameter(0)\n"
    + _ZERO
    + "a = f32[2,4] reduce(x, zero), dimensions={1}, to_apply=sum\n"
    "ROOT r = f32[2] reduce(a, zero), dimensions={1}, to_apply=sum",
    after=_SUM
    + "x = f32[2,3,4] parameter(0)\n"
    + _ZERO
    + "ROOT r = f32[2] reduce(x, zero), dimensions={1,2}, to_apply=sum",
)
def reduce_of_reduce(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite reduce(reduce(x)) as one reduce over the dimensions of both."""
    x, first = inner.operands[0], dimensions_of(inner)
    left = [d for d in range(x.shape.rank) if d not in first]
    dimensions = sorted([*first, *[left[d] for d in dimensions_of(instruction)]])
    return computation.add(
        "reduce",
        instruction.shape,
        (x, start),
        with_dimensions(dimensions),
        called=instruction.called,
    )


@rule(
    reduce(reshape_of(any_("x"), name="other"), any_("start")).that(is_associative),
    exactness=Exactness.REAL,
    when=(static,),
    before=_SUM + "x = f32[2,3,4] parameter(0)\n" + _ZERO + "a = f32[2,12] reshape(x)\n"
    "ROOT r = f32[2] reduce(a, zero), dimensions={1}, to_apply=sum",
    after=_SUM
    + "x = f32[2,3,4] parameter(0)\n"
    + _ZERO
    + "ROOT r = f32[2] reduce(x, zero), dimensions={1,2}, to_apply=sum",
)
def reduce_of_reshape(
    computation: HloComputation,
    instruction: HloInstruction,
    other: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction | None:
    """Rewrite reduce(reshape(x)) as a reduce of x if the reshape keeps the other dimensions."""
    reduced = set(dimensions_of(instruction))
    sizes = other.shape.dimensions
    if 0 in x.shape.dimensions:
        return None
    back = {to: of for of, to in unmodified_dimensions(x.shape.dimensions, sizes).items()}
    kept = [d for d in range(len(sizes)) if d not in reduced and sizes[d] != 1]
    if not all(d in back for d in kept):
        return None
    dimensions = [d for d in range(x.shape.rank) if d not in [back[k] for k in kept]]
    shape = instruction.shape.with_dimensions([sizes[d] for d in kept])
    if not dimensions:
        return None
    total = computation.add(
        "reduce", shape, (x, start), with_dimensions(dimensions), called=instruction.called
    )
    return reshape(computation, total, instruction.shape)


def sums_only_broadcast_dimensions(i: HloInstruction) -> bool:
    """Return True for a sum over dimensions that the broadcast added."""
    return adds(i) and not set(dimensions_of(i)) & set(dimensions_of(i.operands[0]))


def count_is_in_range(instruction: HloInstruction, wide: HloInstruction) -> Reason | None:
    """Require that the number of summed elements is a value of the result type."""
    count = math.prod([wide.shape.dimensions[d] for d in dimensions_of(instruction)])
    return why_not_counted(instruction.shape.element_type, count)


@rule(
    reduce(broadcast_of(any_("x"), name="wide"), any_("start")).that(
        sums_only_broadcast_dimensions
    ),
    exactness=Exactness.REAL,
    when=(static, count_is_in_range),
    before=_SUM
    + "x = f32[3] parameter(0)\nz = f32[] parameter(1)\nb = f32[3,5] broadcast(x), dimensions={0}\n"
    "ROOT r = f32[3] reduce(b, z), dimensions={1}, to_apply=sum",
    after=_SUM + "x = f32[3] parameter(0)\nz = f32[] parameter(1)\nn = f32[] constant(5)\n"
    "nb = f32[3] broadcast(n), dimensions={}\n"
    "m = f32[3] multiply(x, nb)\nzb = f32[3] broadcast(z), dimensions={}\nROOT r = f32[3] add(m, zb)",
)
def sum_of_broadcast(
    computation: HloComputation,
    instruction: HloInstruction,
    wide: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite the sum over repeated elements as element times count, plus the initial value."""
    reduced, shape = dimensions_of(instruction), instruction.shape
    count = 1
    for d in reduced:
        count *= wide.shape.dimensions[d]
    left = [d for d in range(wide.shape.rank) if d not in reduced]
    part = broadcast(computation, x, shape, [left.index(d) for d in dimensions_of(wide)])
    if part.shape.base is x.shape.base and dimensions_of(wide) == tuple(left):
        computation.remove(part)
        part = x
    product = computation.add("multiply", shape, (part, splat_constant(computation, shape, count)))
    return computation.add(
        "add",
        shape,
        (product, start if not shape.rank else broadcast_scalar(computation, start, shape)),
    )


def reduces_only_operand_dimensions(i: HloInstruction) -> bool:
    """Return True if no reduced dimension was added by the broadcast, but another one was."""
    wide = i.operands[0]
    mapped = dimensions_of(wide)
    return (
        is_associative(i)
        and bool(dimensions_of(i))
        and set(dimensions_of(i)) <= set(mapped)
        and len(mapped) < wide.shape.rank
        and 0 not in wide.shape.dimensions
    )


@rule(
    reduce(broadcast_of(any_("x"), name="wide"), any_("start")).that(
        reduces_only_operand_dimensions
    ),
    exactness=Exactness.REAL,
    when=(static,),
    before=_SUM
    + "x = f32[5] parameter(0)\nb = f32[3,5] broadcast(x), dimensions={1}\n"
    + _ZERO
    + "ROOT r = f32[3] reduce(b, zero), dimensions={1}, to_apply=sum",
    after=_SUM
    + "x = f32[5] parameter(0)\n"
    + _ZERO
    + "s = f32[] reduce(x, zero), dimensions={0}, to_apply=sum\nROOT r = f32[3] broadcast(s), dimensions={}",
)
def reduce_before_broadcast(
    computation: HloComputation,
    instruction: HloInstruction,
    wide: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite reduce(broadcast(x)) over dimensions of x as broadcast(reduce(x))."""
    mapped, reduced = dimensions_of(wide), dimensions_of(instruction)
    inner = [number for number, d in enumerate(mapped) if d in reduced]
    kept = [number for number in range(x.shape.rank) if number not in inner]
    shape = instruction.shape.with_dimensions([x.shape.dimensions[number] for number in kept])
    total = computation.add(
        "reduce", shape, (x, start), with_dimensions(inner), called=instruction.called
    )
    left = [d for d in range(wide.shape.rank) if d not in reduced]
    return broadcast(
        computation, total, instruction.shape, [left.index(mapped[number]) for number in kept]
    )


_IDEMPOTENT = frozenset(["maximum", "minimum", "and", "or"])


def repeats_do_not_matter(i: HloInstruction) -> bool:
    """Return True for an idempotent reducer on a broadcast scalar."""
    wide = i.operands[0]
    return (
        is_not_variadic(i)
        and i.shape.is_scalar
        and wide.operands[0].shape.is_scalar
        and wide.shape.element_count > 0
        and plain_reducer(i.called[0]) in _IDEMPOTENT
    )


@rule(
    reduce(broadcast_of(any_("x")), any_("start")).that(repeats_do_not_matter),
    exactness=Exactness.BITWISE,
    before="most {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] maximum(a, b)\n}\n---\n"
    + parameters("f32[]", "x", "z")
    + "b = f32[5] broadcast(x), dimensions={}\nROOT r = f32[] reduce(b, z), dimensions={0}, to_apply=most",
    after="most {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] maximum(a, b)\n}\n---\n"
    + parameters("f32[]", "x", "z")
    + "ROOT r = f32[] maximum(x, z)",
)
def extremum_of_broadcast(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite an idempotent reduce of a broadcast scalar x as the operation on x and the start."""
    name = plain_reducer(instruction.called[0])
    assert name is not None
    return computation.add(name, instruction.shape, (x, start))


def applies_one_operation(i: HloInstruction) -> bool:
    """Return True if the computation is one elementwise operation on its parameters."""
    root = i.called[0].root
    return (
        root.opcode.elementwise
        and not root.called
        and bool(root.operands)
        and all(o.opcode.name == "parameter" for o in root.operands)
    )


@rule(
    map_().that(applies_one_operation),
    exactness=Exactness.BITWISE,
    before=_SUM
    + parameters("f32[4]", "x", "y")
    + "ROOT r = f32[4] map(x, y), dimensions={0}, to_apply=sum",
    after=_SUM + parameters("f32[4]", "x", "y") + "ROOT r = f32[4] add(x, y)",
)
def map_of_one_operation(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a map of one elementwise operation as this operation on the whole arrays."""
    root = instruction.called[0].root
    operands = [instruction.operands[int(o.payload)] for o in root.operands]
    return computation.add(root.opcode, instruction.shape, operands, root.attributes)


def returns_parameter_or_constant(i: HloInstruction) -> bool:
    """Return True if the computation returns a parameter or a constant."""
    return i.called[0].root.opcode.name in ("parameter", "constant")


@rule(
    map_().that(returns_parameter_or_constant),
    exactness=Exactness.BITWISE,
    before="second {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}\n---\n"
    + parameters("f32[4]", "x", "y")
    + "ROOT r = f32[4] map(x, y), dimensions={0}, to_apply=second",
    after="second {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}\n---\n"
    + parameters("f32[4]", "x", "y").replace("y =", "ROOT y ="),
)
def map_to_operand(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite a map whose root is a parameter or a constant as the operand or a broadcast."""
    root = instruction.called[0].root
    if root.opcode.name == "parameter":
        return instruction.operands[int(root.payload)]
    value = computation.add_constant(root.literal)
    return (
        broadcast_scalar(computation, value, instruction.shape) if instruction.shape.rank else value
    )
