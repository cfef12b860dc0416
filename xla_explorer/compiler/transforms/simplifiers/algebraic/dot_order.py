"""Rules that compute products of several factors in a cheaper order.

Source: algebraic_simplifier.cc, AssociativeReorderNestedDot, AssociativeReorderDotOperator,
HandleSlice and HandleReduce with raise_slice_and_reduce_through_dot.

=========================================  ====================================================
handled by XLA                             here
=========================================  ====================================================
dot of a dot, left or right                the same, if the cheaper order has fewer operations
                                           by `associative_reordering_threshold`
a batch dimension of the inner dot that    refused in both
the outer dot contracts
dot of a reverse along contracted          the same, by the ratio of the operands' elements
dimensions
dot of a pad along contracted dimensions   the same; a pad with another value than zero is
                                           refused here, since it adds to the product
dot of a broadcast along contracted        the same
dimensions
slice, reduce of a dot                     the same, with `raise_slice_and_reduce_through_dot`
dot that is read by a custom call          refused in both for unreduced shardings
`Sharding`
=========================================  ====================================================
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import (
    broadcast,
    scalar_constant,
    transpose,
    with_dimensions,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.operators import dot
from xla_explorer.compiler.rewriting.operators import reduce as reduce_of
from xla_explorer.compiler.rewriting.operators import slice_ as slice_of
from xla_explorer.compiler.rewriting.patterns import Pattern, any_, uniform_value
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.contractions import (
    DotDimensions,
    add_reducer,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.dot_analysis import (
    dot_attributes,
    has_a_dot_side,
    mirrored_operand,
    nested_dot,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import plain_reducer
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import (
    bounds,
    paddings,
    slice_attributes,
)
from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


def _is_sharded_sum(i: HloInstruction) -> bool:
    """Return True if a custom call leaves the result as partial sums on each device."""
    text = "".join([str(u.attributes) for u in i.users if u.opcode.name == "custom-call"])
    return "unreduced" in text and len(i.users) == 1


def keeps_its_sum(instruction: HloInstruction) -> Reason | None:
    """Require a dot whose partial sums no device keeps apart."""
    if _is_sharded_sum(instruction):
        return refuse(
            "leaves-partial-sums", f"the sharding of %{instruction.name} leaves its sums unreduced"
        )
    return None


def cheaper_by(threshold: float) -> Predicate:
    """Return the guard that requires fewer operations by a factor above the threshold."""

    def cheaper(instruction: HloInstruction) -> Reason | None:
        """Require an order that is cheaper by the threshold."""
        found = gain(instruction)
        if isinstance(found, Reason):
            return found
        return (
            None
            if found > threshold
            else refuse(
                "not-cheaper",
                f"the other order of %{instruction.name} has 1/{found:.3g} of the operations; "
                f"less than 1/{threshold:g} is required",
                gain=found,
            )
        )

    return cheaper


def gain(i: HloInstruction) -> float | Reason:
    """Return the operations as written by those after the reordering, or why there is none.

    Half of it counts if the reordering leaves one more instruction.
    """
    if i.opcode.name == "slice":
        product = i.operands[0]
        return product.shape.element_count / max(i.shape.element_count, 1)
    if i.opcode.name == "reduce":
        product = i.operands[0]
        return product.shape.element_count / max(i.shape.element_count, 1)
    if has_a_dot_side(i):
        nested = nested_dot(i)
        return nested if isinstance(nested, Reason) else nested.saved
    mirrored = mirrored_operand(i)
    return mirrored if isinstance(mirrored, Reason) else mirrored.saved


_INNER = "b = f32[8,2] parameter(1)\nc = f32[2,16] parameter(2)\n"


@rule(
    dot(any_("a"), any_("b")).that(has_a_dot_side),
    exactness=Exactness.FAST,
    layout="insensitive",
    when=(keeps_its_sum, cheaper_by(1)),
    before="a = f32[4,8] parameter(0)\n"
    + _INNER
    + "i = f32[8,16] dot(b, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "ROOT r = f32[4,16] dot(a, i), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    after="a = f32[4,8] parameter(0)\n"
    + _INNER
    + "i = f32[4,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "ROOT r = f32[4,16] dot(i, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
)
def dot_of_dot(computation: HloComputation, instruction: HloInstruction) -> HloInstruction | Reason:
    """Rewrite dot(a, dot(b, c)) as dot(dot(a, b), c), or the reverse, if that is cheaper."""
    found = nested_dot(instruction)
    if isinstance(found, Reason):
        return found
    (p, q, other), (new, last) = found.factors, found.second
    old = instruction.attributes
    operands = (q, other) if found.inner_is_left else (other, p)
    inner = computation.add(
        "dot",
        instruction.shape.with_dimensions([found.sizes[d] for d in new.result]),
        operands,
        dot_attributes(new, old),
        metadata=instruction.metadata,
    )
    outer = computation.add(
        "dot",
        instruction.shape.with_dimensions([found.sizes[d] for d in last.result]),
        (p, inner) if found.inner_is_left else (inner, q),
        dot_attributes(last, old),
        metadata=instruction.metadata,
    )
    if last.result == found.result:
        return outer
    order = tuple([last.result.index(d) for d in found.result])
    return transpose(computation, outer, order, instruction.shape)


def _moves(name: str) -> Pattern:
    def has_a_moved_side(i: HloInstruction) -> bool:
        """Return True if an operand is moved, and none is a dot."""
        names = [o.opcode.name for o in i.operands]
        return name in names and "dot" not in names

    return dot(any_("a"), any_("b")).that(has_a_moved_side)


def _sides(
    side: int, value: HloInstruction, other: HloInstruction
) -> tuple[HloInstruction, HloInstruction]:
    return (value, other) if side == 0 else (other, value)


def _sliced(
    computation: HloComputation, x: HloInstruction, rows: list[SliceDimension]
) -> HloInstruction:
    """Return the slice, or x if the slice takes everything."""
    if all(row == SliceDimension(0, n) for row, n in zip(rows, x.shape.dimensions, strict=True)):
        return x
    shape = x.shape.with_dimensions([row.size for row in rows])
    return computation.add("slice", shape, (x,), slice_attributes(rows))


def _summed(
    computation: HloComputation, x: HloInstruction, dimensions: list[int]
) -> HloInstruction:
    """Return the sum of x over dimensions, or x if there are none."""
    if not dimensions:
        return x
    kept = [n for d, n in enumerate(x.shape.dimensions) if d not in dimensions]
    shape = x.shape.with_dimensions(kept)
    return computation.add(
        "reduce",
        shape,
        (x, scalar_constant(computation, shape, 0)),
        with_dimensions(sorted(dimensions)),
        called=(add_reducer(computation, shape),),
    )


_AB = "a = f32[16,4] parameter(0)\nb = f32[4,2] parameter(1)\n"
_DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


@rule(
    _moves("reverse"),
    exactness=Exactness.REAL,
    layout="insensitive",
    when=(keeps_its_sum, cheaper_by(1)),
    before=_AB
    + f"v = f32[16,4] reverse(a), dimensions={{1}}\nROOT r = f32[16,2] dot(v, b), {_DOT}",
    after=_AB + f"v = f32[4,2] reverse(b), dimensions={{0}}\nROOT r = f32[16,2] dot(a, v), {_DOT}",
)
def dot_of_reverse(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction | Reason:
    """Reverse the smaller operand of a dot along the contracted dimensions."""
    found = mirrored_operand(instruction)
    if isinstance(found, Reason):
        return found
    source, other = instruction.operands[found.side], instruction.operands[1 - found.side]
    if source.opcode.name != "reverse":
        return refuse("nothing-to-mirror", f"%{source.name} is no reverse")
    value = source.operands[0]
    if kept := [d for d in source.attributes.value("dimensions") if d not in found.moved]:
        value = computation.add("reverse", source.shape, (value,), with_dimensions(kept))
    turned = [found.pairs[d] for d in found.moved]
    mirrored = computation.add("reverse", other.shape, (other,), with_dimensions(turned))
    return computation.add(
        "dot",
        instruction.shape,
        _sides(found.side, value, mirrored),
        instruction.attributes,
        metadata=instruction.metadata,
    )


@rule(
    _moves("pad"),
    exactness=Exactness.FAST,
    layout="insensitive",
    when=(keeps_its_sum, cheaper_by(1)),
    before="a = f32[16,4] parameter(0)\nb = f32[9,2] parameter(1)\nz = f32[] constant(0)\n"
    f"p = f32[16,9] pad(a, z), padding=0_0x2_3\nROOT r = f32[16,2] dot(p, b), {_DOT}",
    after="a = f32[16,4] parameter(0)\nb = f32[9,2] parameter(1)\n"
    f"s = f32[4,2] slice(b), slice={{[2:6], [0:2]}}\nROOT r = f32[16,2] dot(a, s), {_DOT}",
)
def dot_of_pad(computation: HloComputation, instruction: HloInstruction) -> HloInstruction | Reason:
    """Slice the other operand of a dot instead of padding one with zeros that are contracted."""
    found = mirrored_operand(instruction)
    if isinstance(found, Reason):
        return found
    source, other = instruction.operands[found.side], instruction.operands[1 - found.side]
    if source.opcode.name != "pad":
        return refuse("nothing-to-mirror", f"%{source.name} is no pad")
    value, given = source.operands[0], paddings(source)
    sizes = list(source.shape.dimensions)
    slices = [SliceDimension(0, n, 1) for n in other.shape.dimensions]
    for d in found.moved:
        sizes[d] = value.shape.dimensions[d]
        there = found.pairs[d]
        slices[there] = SliceDimension(
            given[d].low, other.shape.dimensions[there] - given[d].high, given[d].interior + 1
        )
    if found.rest:
        kept = tuple(
            [PaddingDimension(0, 0, 0) if d in found.moved else p for d, p in enumerate(given)]
        )
        value = computation.add(
            "pad",
            source.shape.with_dimensions(sizes),
            (value, source.operands[1]),
            source.attributes.with_values(padding=kept),
        )
    return computation.add(
        "dot",
        instruction.shape,
        _sides(found.side, value, _sliced(computation, other, slices)),
        instruction.attributes,
        metadata=instruction.metadata,
    )


def _without(dimensions: tuple[int, ...], removed: list[int]) -> tuple[int, ...]:
    """Return dimension numbers after the removal of other dimensions."""
    return tuple([d - sum([r < d for r in removed]) for d in dimensions if d not in removed])


_SUM = (
    "s {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT t = f32[] add(p, q)\n}\n---\n"
)


@rule(
    _moves("broadcast"),
    exactness=Exactness.FAST,
    layout="insensitive",
    when=(keeps_its_sum, cheaper_by(1)),
    before=_SUM + "a = f32[16] parameter(0)\nb = f32[4,2] parameter(1)\n"
    f"w = f32[16,4] broadcast(a), dimensions={{0}}\nROOT r = f32[16,2] dot(w, b), {_DOT}",
    after=_SUM + "a = f32[16] parameter(0)\nb = f32[4,2] parameter(1)\nz = f32[] constant(0)\n"
    "m = f32[2] reduce(b, z), dimensions={0}, to_apply=s\nROOT r = f32[16,2] dot(a, m)",
)
def dot_of_broadcast(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction | Reason:
    """Sum one operand of a dot along the dimensions that a broadcast makes in the other."""
    found = mirrored_operand(instruction)
    if isinstance(found, Reason):
        return found
    source, other = instruction.operands[found.side], instruction.operands[1 - found.side]
    if source.opcode.name != "broadcast":
        return refuse("nothing-to-mirror", f"%{source.name} is no broadcast")
    value, gone = source.operands[0], list(found.moved)
    kept = [n for d, n in enumerate(source.shape.dimensions) if d not in gone]
    if value.shape.dimensions != tuple(kept):
        value = broadcast(
            computation,
            value,
            source.shape.with_dimensions(kept),
            _without(source.attributes.value("dimensions"), gone),
        )
    summed = [found.pairs[d] for d in gone]
    numbers = DotDimensions(instruction)
    ends = _sides(found.side, value, _summed(computation, other, summed))
    left, right = (gone, summed) if found.side == 0 else (summed, gone)
    attributes = instruction.attributes.with_values(
        lhs_batch_dims=_without(numbers.lhs_batch, left),
        rhs_batch_dims=_without(numbers.rhs_batch, right),
        lhs_contracting_dims=_without(numbers.lhs_contracting, left),
        rhs_contracting_dims=_without(numbers.rhs_contracting, right),
    )
    return computation.add(
        "dot", instruction.shape, ends, attributes, metadata=instruction.metadata
    )


def _origins(product: HloInstruction) -> list[tuple[int | None, int | None]]:
    """Return for each dimension of a dot the dimension of its left and its right operand."""
    n = DotDimensions(product)
    pairs: list[tuple[int | None, int | None]] = list(zip(n.lhs_batch, n.rhs_batch, strict=True))
    return [*pairs, *[(d, None) for d in n.lhs_free], *[(None, d) for d in n.rhs_free]]


@rule(
    slice_of(dot(any_("a"), any_("b"), name="product").one_use()),
    exactness=Exactness.approximate(4),
    layout="insensitive",
    when=(cheaper_by(1),),
    before="a = f32[8,3] parameter(0)\nb = f32[3,6] parameter(1)\n"
    f"d = f32[8,6] dot(a, b), {_DOT}\nROOT r = f32[2,3] slice(d), slice={{[0:8:4], [1:4]}}",
    after="a = f32[8,3] parameter(0)\nb = f32[3,6] parameter(1)\n"
    "s = f32[2,3] slice(a), slice={[0:8:4], [0:3]}\nt = f32[3,3] slice(b), slice={[0:3], [1:4]}\n"
    f"ROOT r = f32[2,3] dot(s, t), {_DOT}",
)
def slice_of_dot(
    computation: HloComputation,
    instruction: HloInstruction,
    a: HloInstruction,
    b: HloInstruction,
    product: HloInstruction,
) -> HloInstruction:
    """Rewrite a slice of a dot as the dot of slices."""
    rows = [[SliceDimension(0, n) for n in x.shape.dimensions] for x in (a, b)]
    for row, origins in zip(bounds(instruction), _origins(product), strict=True):
        for side, d in enumerate(origins):
            if d is not None:
                rows[side][d] = row
    return computation.add(
        "dot",
        instruction.shape,
        [_sliced(computation, x, r) for x, r in zip((a, b), rows, strict=True)],
        product.attributes,
        metadata=product.metadata,
    )


def sums_free_dimensions(i: HloInstruction) -> bool:
    """Return True for a sum from zero over dimensions of a dot that only one operand has."""
    if len(i.operands) != 2 or i.operands[0].opcode.name != "dot":
        return False
    origins = _origins(i.operands[0])
    return (
        plain_reducer(i.called[0]) == "add"
        and uniform_value(i.operands[1]) == 0
        and all(None in origins[d] for d in i.attributes.value("dimensions"))
    )


@rule(
    reduce_of(dot(any_("a"), any_("b"), name="product").one_use(), any_()).that(
        sums_free_dimensions
    ),
    exactness=Exactness.FAST,
    layout="insensitive",
    when=(cheaper_by(1),),
    before=_SUM + "a = f32[8,3] parameter(0)\nb = f32[3,6] parameter(1)\nz = f32[] constant(0)\n"
    f"d = f32[8,6] dot(a, b), {_DOT}\nROOT r = f32[6] reduce(d, z), dimensions={{0}}, to_apply=s",
    after=_SUM + "a = f32[8,3] parameter(0)\nb = f32[3,6] parameter(1)\nz = f32[] constant(0)\n"
    "m = f32[3] reduce(a, z), dimensions={0}, to_apply=s\n"
    "ROOT r = f32[6] dot(m, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
)
def reduce_of_dot(
    computation: HloComputation,
    instruction: HloInstruction,
    a: HloInstruction,
    b: HloInstruction,
    product: HloInstruction,
) -> HloInstruction:
    """Rewrite a sum over rows or columns of a dot as the dot with the summed operand."""
    origins = _origins(product)
    gone: list[list[int]] = [[], []]
    for d in instruction.attributes.value("dimensions"):
        for side, place in enumerate(origins[d]):
            if place is not None:
                gone[side].append(place)
    numbers = DotDimensions(product)
    attributes = product.attributes.with_values(
        lhs_batch_dims=_without(numbers.lhs_batch, gone[0]),
        rhs_batch_dims=_without(numbers.rhs_batch, gone[1]),
        lhs_contracting_dims=_without(numbers.lhs_contracting, gone[0]),
        rhs_contracting_dims=_without(numbers.rhs_contracting, gone[1]),
    )
    return computation.add(
        "dot",
        instruction.shape,
        [_summed(computation, x, g) for x, g in zip((a, b), gone, strict=True)],
        attributes,
        metadata=product.metadata,
    )
