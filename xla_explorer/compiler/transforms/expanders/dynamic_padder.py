"""Arrays of dynamic size as arrays of their bound, with the rest masked if it matters.

Source: xla/service/dynamic_padder.cc and dynamic_dimension_inference.cc.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import builder_at
from xla_explorer.compiler.transforms.loops.static_boundaries import (
    forward_tuple_elements,
    make_boundaries_static,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.custom_calls import PAD_TO_STATIC, is_padded_parameter
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.identity_element import identity_element, simple_combiner
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape

Dimensions = dict[int, HloInstruction]  # the scalar with the size of each dynamic dimension
Sizes = dict[HloInstruction, Dimensions]
_SIZES = ("set-dimension-size", "get-dimension-size")
_SAME = frozenset(["copy", "convert", "bitcast-convert", "reduce-precision", "opt-barrier"])


def is_dynamic(shape: Shape) -> bool:
    """Return True if any dimension of any leaf is dynamic."""
    return any(any(leaf.dynamic) for _, leaf in shape.leaves() if leaf.is_array)


def static(shape: Shape) -> Shape:
    """Return the shape with every dimension at its bound."""
    if shape.is_tuple:
        return tuple_shape([static(part) for part in shape.tuple_shapes])
    return (
        array_shape(shape.element_type, shape.dimensions, shape.layout)
        if any(shape.dynamic)
        else shape
    )


def _pad_parameters(module: HloModule) -> bool:
    """Turn bounded entry parameters into arrays of their bound and scalars; return True for any.

    The scalars are passed with the arrays at each run.
    """
    entry, found = module.entry, False
    for p in entry.parameters():
        shape = p.shape
        if not (
            p.users
            and shape.is_array
            and any(shape.dynamic)
            and shape.layout.is_default
            and min(shape.dimensions) >= 0
        ):
            continue
        found = True
        parts = [static(shape), *[array_shape(S32, ())] * shape.rank]
        users, b = p.users, builder_at(entry)
        padded = entry.add(
            "custom-call",
            tuple_shape(parts),
            (p,),
            attributes_of({"custom_call_target": f'"{PAD_TO_STATIC}"'}),
        )
        split = [
            entry.add("get-tuple-element", part, (padded,), attributes_of({"index": k}))
            for k, part in enumerate(parts)
        ]
        made, dynamic = HloValue(b, split[0]), tuple([False] * shape.rank)
        for d in [d for d in range(shape.rank) if shape.dynamic[d]]:
            dynamic = (*dynamic[:d], True, *dynamic[d + 1 :])
            partly = array_shape(shape.element_type, shape.dimensions, shape.layout, dynamic)
            sized = entry.add(
                "set-dimension-size",
                partly,
                (made.instruction, split[d + 1]),
                attributes_of({"dimensions": (d,)}),
            )
            made = HloValue(b, sized)
        for user in users:
            entry.set_operands(user, [made.instruction if o is p else o for o in user.operands])
    return found


def _merged(i: HloInstruction, sizes: Sizes) -> dict[int, HloInstruction] | Reason:
    """Return the sizes of an elementwise operation: those of its operands.

    Of two sizes that may differ, the smaller; a size of 1 is broadcast.
    """
    found: dict[int, HloInstruction] = {}
    for operand in i.operands:
        for d, size in sizes.get(operand, {}).items():
            if (other := found.setdefault(d, size)) is not size:
                if not (size.shape.element_type is other.shape.element_type is S32):
                    return refuse(
                        "sizes-differ",
                        f"the operands of %{i.name} have dimension {d} of sizes that are not "
                        "known to be equal",
                    )
                b = builder_at(i.parent)
                one, two = HloValue(b, other), HloValue(b, size)
                found[d] = b.select(
                    one == 1, two, b.select(two == 1, one, one.minimum(two))
                ).instruction
    return found


def inferred_sizes(i: HloInstruction, sizes: Sizes) -> dict[int, HloInstruction] | Reason:
    """Return the scalar with the size of each dynamic dimension of the result."""
    name = i.opcode.name
    first = sizes.get(i.operands[0], {}) if i.operands else {}
    if name == "set-dimension-size":
        [d] = i.attributes["dimensions"]
        rest = {k: v for k, v in first.items() if k != d}
        return rest | ({d: i.operands[1]} if i.shape.dynamic[d] else {})
    if is_padded_parameter(i):
        return {}
    if not any(o in sizes and sizes[o] for o in i.operands):
        return (
            refuse("dynamic-source", f"%{i.name} is {i.shape}, and its size is in no scalar")
            if is_dynamic(i.shape)
            else {}
        )
    if name == "get-dimension-size":
        return {}
    if i.opcode.elementwise or name in _SAME:
        return _merged(i, sizes)
    if name == "dot":
        return _dot_sizes(i, sizes)
    if name == "gather":
        return _gather_sizes(i, sizes)
    if name == "scatter":
        return _scatter_sizes(i, sizes)
    if name == "tuple" and i.is_root:
        return {}
    moved = _MOVED[name](i, first) if name in _MOVED else None
    return moved if moved is not None else _unsupported(i)


def _broadcast_sizes(i: HloInstruction, first: Dimensions) -> Dimensions:
    return {i.attributes.value("dimensions")[d]: size for d, size in first.items()}


def _transpose_sizes(i: HloInstruction, first: Dimensions) -> Dimensions:
    return {k: first[d] for k, d in enumerate(i.attributes["dimensions"]) if d in first}


def _reduce_sizes(i: HloInstruction, first: Dimensions) -> Dimensions | None:
    """Return the sizes of a reduce of one array, else None."""
    if len(i.operands) != 2:
        return None
    kept = [d for d in range(i.operands[0].shape.rank) if d not in i.attributes["dimensions"]]
    return {k: first[d] for k, d in enumerate(kept) if d in first}


def _slice_sizes(i: HloInstruction, first: Dimensions) -> Dimensions:
    """Return the sizes of whole dimensions.

    A part of a dimension has the slice's size, as in dynamic_dimension_inference.cc.
    """
    whole = i.operands[0].shape.dimensions
    return {d: size for d, size in first.items() if i.shape.dimensions[d] == whole[d]}


def _reshape_sizes(i: HloInstruction, first: Dimensions) -> Dimensions | None:
    """Return the sizes of a reshape that only adds or removes dimensions of size 1, else None."""
    if not any(i.shape.dynamic):
        return {}  # declared static: the frontend asserts that the size is the bound
    before, after = i.operands[0].shape.dimensions, i.shape.dimensions
    old = [d for d, n in enumerate(before) if n != 1]
    new = [d for d, n in enumerate(after) if n != 1]
    if [before[d] for d in old] != [after[d] for d in new] or any(d not in old for d in first):
        return None
    return {new[old.index(d)]: size for d, size in first.items()}


_MOVED: dict[str, Callable[[HloInstruction, Dimensions], Dimensions | None]] = {
    "broadcast": _broadcast_sizes,
    "transpose": _transpose_sizes,
    "reduce": _reduce_sizes,
    "slice": _slice_sizes,
    "reshape": _reshape_sizes,
}


def _scatter_sizes(i: HloInstruction, sizes: Sizes) -> Dimensions | Reason:
    """Return the sizes of the operand. Dynamic updates beyond the size have no place."""
    if len(i.operands) != 3:
        return _unsupported(i)
    updates = sizes.get(i.operands[2], {})
    along = i.attributes["index_vector_dim"] in sizes.get(i.operands[1], {})
    windows_are_whole = not set(i.attributes["update_window_dims"]) & set(updates)
    if not windows_are_whole or along or _index_out_of_range(i) is None:
        return _unsupported(i)
    return sizes.get(i.operands[0], {})


def _unsupported(i: HloInstruction) -> Reason:
    name = i.opcode.name
    return refuse(
        "not-padded", f"a dynamic operand of a {name} (%{i.name}) is not supported", opcode=name
    )


def _index_out_of_range(i: HloInstruction) -> int | None:
    """Return a start index at which a scatter writes nothing, or None.

    It is the largest one, as in XLA, if this is out of range.
    """
    kind, mapped = i.operands[1].shape.element_type, i.attributes["scatter_dims_to_operand_dims"]
    if not mapped:
        return None
    largest = (1 << (kind.bits - kind.is_signed)) - 1
    if largest >= i.operands[0].shape.dimensions[mapped[0]]:
        return largest
    return -1 if kind.is_signed else None


def _gather_sizes(i: HloInstruction, sizes: Sizes) -> dict[int, HloInstruction] | Reason:
    """Return the sizes: of the operand for whole window dimensions, of the indices for batches."""
    a, (x, indices) = i.attributes, i.operands
    dropped = (*a.value("collapsed_slice_dims"), *a.value("operand_batching_dims"))
    offsets = list(a["offset_dims"])
    found: dict[int, HloInstruction] = {}
    for d, size in sizes.get(x, {}).items():
        if a["slice_sizes"][d] != x.shape.dimensions[d]:
            return _unsupported(i)
        if d not in dropped:
            found[offsets[[k for k in range(x.shape.rank) if k not in dropped].index(d)]] = size
    batch = [d for d in range(i.shape.rank) if d not in offsets]
    rows = [d for d in range(indices.shape.rank) if d != a["index_vector_dim"]]
    for d, size in sizes.get(indices, {}).items():
        if d not in rows:
            return _unsupported(i)
        found[batch[rows.index(d)]] = size
    return found


def _dot_sizes(i: HloInstruction, sizes: Sizes) -> dict[int, HloInstruction]:
    found: dict[int, HloInstruction] = {}
    place = 0
    for side, operand in zip(("lhs", "rhs"), i.operands, strict=True):
        batch, contracted = (
            i.attributes.value(f"{side}_batch_dims"),
            i.attributes.value(f"{side}_contracting_dims"),
        )
        mine = sizes.get(operand, {})
        found |= {k: mine[d] for k, d in enumerate(batch) if d in mine}
        place = place or len(batch)
        for d in [d for d in range(operand.shape.rank) if d not in batch and d not in contracted]:
            if d in mine:
                found[place] = mine[d]
            place += 1
    return found


def masked(
    x: HloInstruction, sizes: dict[int, HloInstruction], over: Iterable[int], filler: HloValue
) -> HloInstruction:
    """Return x with the filler beyond the sizes of the given dimensions."""
    b = builder_at(x.parent)
    value = HloValue(b, x)
    for d in over:
        if d in sizes:
            inside = b.iota(array_shape(S32, x.shape.dimensions), d) < b.broadcast(
                HloValue(b, sizes[d]), x.shape.dimensions, ()
            )
            value = b.select(inside, value, b.broadcast(filler, x.shape.dimensions, ()))
    return value.instruction


def repeated(
    x: HloInstruction, sizes: dict[int, HloInstruction], wanted: dict[int, HloInstruction]
) -> HloInstruction:
    """Return x with the first element repeated along dimensions of size 1 that must be larger."""
    b = builder_at(x.parent)
    value = HloValue(b, x)
    for d, size in sizes.items():
        if size is not wanted[d]:
            first = b.broadcast_to(
                value[tuple([slice(0, 1) if k == d else slice(None) for k in range(x.shape.rank)])],
                x.shape.dimensions,
            )
            value = b.select(HloValue(b, size) == 1, first, value)
    return value.instruction


@register_pass("dynamic-padder")
@dataclasses.dataclass(frozen=True)
class DynamicPadder:
    """Replace dynamic arrays by arrays of their bound, with masks.

    Sizes are propagated from set-dimension-size to their uses: reductions and dots read masked
    operands, get-dimension-size the scalar. Dynamic results of the entry get their size back at the
    end. Conditionals and loops pass sizes as scalars. A module with a dynamic operation of another
    kind stays dynamic.
    """

    name: ClassVar[str] = "dynamic_padder"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that sets or reads a size."""
        if not any(is_dynamic(i.shape) or i.opcode.name in _SIZES for i in module.instructions()):
            return False
        changed = make_boundaries_static(module)
        padded = _pad_parameters(module)
        inferred: list[tuple[HloComputation, list[HloInstruction], Sizes]] = []
        for computation in module.computations.values():
            if changed:
                forward_tuple_elements(computation)
            order = list(computation.post_order())
            if not any(is_dynamic(i.shape) or i.opcode.name in _SIZES for i in order):
                continue
            sizes: Sizes = {}
            for i in order:
                found = inferred_sizes(i, sizes)
                if isinstance(found, Reason):
                    context.refused(self.name, i, found)
                    return changed or padded
                sizes[i] = found
            inferred.append((computation, order, sizes))
        for computation, order, sizes in inferred:
            self._pad(computation, order, sizes, context)
        module.attributes.pop("entry_computation_layout", None)
        return True

    def _pad(
        self,
        computation: HloComputation,
        order: list[HloInstruction],
        sizes: Sizes,
        context: PassContext,
    ) -> None:
        # A size may be an integer of any type; positions are counted in s32.
        counts = {size: size for found in sizes.values() for size in found.values()}
        for size in [size for size in counts if size.shape.element_type is not S32]:
            element, wanted = size.shape.element_type, size
            assert element is not None
            if element.bits >= 32:  # a value outside s32 is beyond every bound, or below 0
                b = builder_at(computation)
                limits = [b.constant(limit, element).instruction for limit in (0, (1 << 31) - 1)]
                wanted = computation.add("clamp", size.shape, (limits[0], size, limits[1]))
            counts[size] = computation.add("convert", size.shape.with_element_type(S32), (wanted,))
        sizes = {i: {d: counts[size] for d, size in found.items()} for i, found in sizes.items()}
        for i in order:
            self._apply(i, sizes)
            context.rewrote(self.name, i, None) if sizes[i] else None
        computation.set_root(self._with_sizes(computation.root, sizes))
        remove_dead_instructions(computation)

    @staticmethod
    def _apply(i: HloInstruction, sizes: Sizes) -> None:
        computation, name = i.parent, i.opcode.name
        b = builder_at(computation)
        if name == "reduce" and sizes[i.operands[0]]:
            # The filler is the identity of the sum. The initial value need not be, but is the
            # fallback for a reducer of several operations without a known identity.
            identity = identity_element(simple_combiner(i.to_apply), i.shape.element_type)
            filler = (
                HloValue(b, i.operands[1])
                if identity is None
                else b.constant(identity, i.shape.element_type)
            )
            x = masked(i.operands[0], sizes[i.operands[0]], i.attributes["dimensions"], filler)
            computation.set_operands(i, (x, *i.operands[1:]))
        elif i.opcode.elementwise and sizes[i]:
            computation.set_operands(i, [repeated(o, sizes[o], sizes[i]) for o in i.operands])
        elif name == "dot":
            zero = b.constant(0, i.shape.element_type)
            sides = [i.attributes.value(f"{side}_contracting_dims") for side in ("lhs", "rhs")]
            computation.set_operands(
                i,
                [
                    masked(o, sizes[o], over, zero)
                    for o, over in zip(i.operands, sides, strict=True)
                ],
            )
        elif name == "scatter" and sizes[i.operands[1]]:
            beyond = b.constant(_index_out_of_range(i), i.operands[1].shape.element_type)
            indices = masked(i.operands[1], sizes[i.operands[1]], sizes[i.operands[1]], beyond)
            computation.set_operands(i, (i.operands[0], indices, i.operands[2]))
        elif name == "get-dimension-size":
            [d] = i.attributes["dimensions"]
            known = sizes[i.operands[0]].get(d)
            computation.replace(
                i, known or b.constant(i.operands[0].shape.dimensions[d], S32).instruction
            )
        if is_dynamic(i.shape) and not is_padded_parameter(i):
            computation.set_shape(i, static(i.shape))
        if name == "set-dimension-size":
            # From here on the operand represents the dynamic array; a reader of the static array
            # keeps its own copy.
            source = i.operands[0]
            if len(source.users) > 1 or source.is_root:
                source = b.emit("copy", (HloValue(b, source),), {}).instruction
            sizes[source] = sizes[i]
            computation.replace(i, source)
            computation.remove(i)

    @staticmethod
    def _with_sizes(root: HloInstruction, sizes: Sizes) -> HloInstruction:
        computation = root.parent
        if root.opcode.name == "tuple":
            parts = [DynamicPadder._with_sizes(o, sizes) for o in root.operands]
            return (
                root
                if parts == list(root.operands)
                else computation.add("tuple", tuple_shape([p.shape for p in parts]), parts)
            )
        made = root
        for d, size in sizes.get(root, {}).items():
            shape = array_shape(
                made.shape.element_type,
                made.shape.dimensions,
                made.shape.layout,
                tuple(
                    [
                        k == d or bool(made.shape.dynamic and made.shape.dynamic[k])
                        for k in range(made.shape.rank)
                    ]
                ),
            )
            made = computation.add(
                "set-dimension-size", shape, (made, size), attributes_of({"dimensions": (d,)})
            )
        return made
