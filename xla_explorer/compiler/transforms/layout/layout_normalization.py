"""The pass `layout_normalization`: row-major operations on the same bytes, between bitcasts.

Source: xla/service/layout_normalization.cc. In a row-major array the order of dimensions is the
order of bytes, so that later passes and kernels need not read layouts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, remove_if_dead
from xla_explorer.compiler.transforms.simplifiers.algebraic.layouts import no_byte_is_moved
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.attributes.codecs import CODECS
from xla_explorer.hlo.attributes.values import Window
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.shape import Shape

BITCAST = opcode("bitcast")


def byte_order(shape: Shape) -> tuple[int, ...]:
    """Return the dimensions, the slowest first."""
    return tuple(reversed(shape.layout.minor_to_major)) if shape.rank else ()


def normalized(shape: Shape) -> Shape:
    """Return the row-major shape of the same bytes."""
    row_major = layout(tuple(reversed(range(shape.rank))), shape.layout.properties)
    return shape.with_dimensions([shape.dimensions[d] for d in byte_order(shape)]).with_layout(
        row_major
    )


def is_row_major(shape: Shape) -> bool:
    """Return True if the order of bytes is the order of dimensions."""
    return not shape.rank or byte_order(shape) == tuple(range(shape.rank))


def may_be_normalized(i: HloInstruction) -> Reason | None:
    """Require plain arrays: untiled, of static size."""
    for x in (i, *i.operands):
        if not x.shape.is_array or any(x.shape.dynamic) or "T(" in x.shape.layout.properties:
            return refuse("not-a-plain-array", f"%{x.name} is {x.shape}")
    return None


def row_major_positions(shape: Shape) -> dict[int, int]:
    """Return the position of each dimension in the row-major shape."""
    return {d: number for number, d in enumerate(byte_order(shape))}


def has_same_dimension_order(i: HloInstruction, *operands: HloInstruction) -> bool:
    """Return True if the operands have the result's order of dimensions."""
    return all(not o.shape.rank or byte_order(o.shape) == byte_order(i.shape) for o in operands)


# The attributes of the operation on row-major arrays; None if it has no such form.
Change = Callable[[HloInstruction], Attributes | None]


def _same(i: HloInstruction) -> Attributes | None:
    return i.attributes if has_same_dimension_order(i, *i.operands) else None


def _along(name: str) -> Change:
    def change(i: HloInstruction) -> Attributes | None:
        if not has_same_dimension_order(i, *i.operands):
            return None
        found, at = i.attributes[name], row_major_positions(i.shape)
        return i.attributes.with_values(
            **{name: at[found] if isinstance(found, int) else tuple([at[d] for d in found])}
        )

    return change


def _per_dimension(name: str) -> Change:
    """Return the change of an attribute with an entry per dimension.

    The caller reorders start indices.
    """

    def change(i: HloInstruction) -> Attributes | None:
        array = [o for o in i.operands if o.shape.rank == i.shape.rank]
        if not has_same_dimension_order(i, *array):
            return None
        found = i.attributes[name]
        rows = found.dimensions if isinstance(found, Window) else found
        moved = tuple([rows[d] for d in byte_order(i.shape)])
        return i.attributes.with_values(
            **{name: Window(moved) if isinstance(found, Window) else moved}
        )

    return change


def _broadcast(i: HloInstruction) -> Attributes | None:
    mapped, at = i.attributes.value("dimensions"), row_major_positions(i.shape)
    return i.attributes.with_values(
        dimensions=tuple([at[mapped[d]] for d in byte_order(i.operands[0].shape)])
    )


def _permutation(i: HloInstruction) -> tuple[int, ...]:
    """Return the permutation of a copy or transpose between row-major operand and result."""
    at = row_major_positions(i.operands[0].shape)
    moved = i.attributes["dimensions"] if i.opcode.name == "transpose" else range(i.shape.rank)
    return tuple([at[moved[d]] for d in byte_order(i.shape)])


def _reduce_window(i: HloInstruction) -> Attributes | None:
    return (
        _per_dimension("window")(i) if len(i.operands) == 2 and "window" in i.attributes else None
    )


def _convolution(i: HloInstruction) -> Attributes | None:
    """Return the attributes with the letters of the dimensions in byte order."""
    sides = i.attributes["dim_labels"].text.replace("->", "_").split("_")
    moved = [
        "".join([letters[d] for d in byte_order(x.shape)])
        for letters, x in zip(sides, (*i.operands, i), strict=True)
    ]
    return i.attributes.with_values(
        dim_labels=CODECS["dim_labels"].read(f"{moved[0]}_{moved[1]}->{moved[2]}")
    )


_CHANGES: dict[str, Change] = {
    "broadcast": _broadcast,
    "concatenate": _along("dimensions"),
    "convolution": _convolution,
    "dynamic-slice": _per_dimension("dynamic_slice_sizes"),
    "dynamic-update-slice": _same,
    "iota": _along("iota_dimension"),
    "pad": _per_dimension("padding"),
    "reduce-window": _reduce_window,
    "reverse": _along("dimensions"),
    "slice": _per_dimension("slice"),
}
_STARTS_FROM = {"dynamic-slice": 1, "dynamic-update-slice": 2}


@register_pass()
@dataclasses.dataclass(frozen=True)
class LayoutNormalization:
    """Replace operations on arrays that are not row-major by row-major ones on the same bytes.

    Runs after layout assignment, on elementwise operations, moves and windows. A copy to another
    layout becomes a transpose.
    """

    name: ClassVar[str] = "layout_normalization"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Normalise every computation that is not a fusion body."""
        bodies = module.fusion_computations()
        changed = False
        for computation in module.computations.values():
            if computation not in bodies:
                made: dict[HloInstruction, HloInstruction] = {}
                for i in list(computation.post_order()):
                    changed |= self._normalize(i, made, context)
        return changed

    def _normalize(
        self, i: HloInstruction, made: dict[HloInstruction, HloInstruction], context: PassContext
    ) -> bool:
        arrays = (i, *i.operands)
        if i.opcode is BITCAST or all(x.shape.is_array and is_row_major(x.shape) for x in arrays):
            return False
        elementwise = i.opcode.elementwise and i.opcode.name != "copy" and bool(i.operands)
        if not (elementwise or i.opcode.name in (*_CHANGES, "copy", "transpose", "reshape")):
            return False
        before = i.parent.module.next_instruction_id
        result = may_be_normalized(i) or self._row_major(i, made, elementwise)
        if isinstance(result, Reason):
            context.refused(self.name, i, result)
            return False
        if result.shape is i.shape:
            whole = result
        else:
            whole = i.parent.add(BITCAST, i.shape, (result,), metadata=i.metadata)
            made[whole] = result
        context.rewrote(
            self.name, i, whole, tuple(range(before, i.parent.module.next_instruction_id))
        )
        computation = i.parent
        computation.replace(i, whole)
        remove_if_dead(computation, i, control_targets(computation))
        return True

    def _row_major(
        self, i: HloInstruction, made: dict[HloInstruction, HloInstruction], elementwise: bool
    ) -> HloInstruction | Reason:
        computation, shape = i.parent, normalized(i.shape)

        def of(x: HloInstruction) -> HloInstruction:
            if is_row_major(x.shape):
                return x
            if x not in made:
                made[x] = computation.add(BITCAST, normalized(x.shape), (x,), metadata=x.metadata)
            return made[x]

        name = i.opcode.name
        if name in ("copy", "transpose"):
            moved = _permutation(i)
            if moved == tuple(range(i.shape.rank)):
                return (
                    of(i.operands[0])
                    if name == "transpose"
                    else computation.add(i.opcode, shape, (of(i.operands[0]),), i.attributes)
                )
            return computation.add(
                "transpose",
                shape,
                (of(i.operands[0]),),
                attributes_of({"dimensions": moved}),
                metadata=i.metadata,
            )
        if name == "reshape":
            if (reason := no_byte_is_moved(i, i.operands[0])) is not None:
                return reason
            return computation.add(
                i.opcode, shape, (of(i.operands[0]),), i.attributes, metadata=i.metadata
            )
        first = _STARTS_FROM.get(name, len(i.operands))
        arrays, starts = i.operands[:first], i.operands[first:]
        if starts and len(starts) != i.shape.rank:
            return refuse("starts-in-one-array", f"%{i.name} has its start indices in an array")
        attributes = _same(i) if elementwise else _CHANGES[name](i)
        if attributes is None:
            return refuse("layouts-differ", f"%{i.name} and its operands have different layouts")
        operands = [of(x) for x in arrays] + (
            [starts[d] for d in byte_order(i.shape)] if starts else []
        )
        return computation.add(
            i.opcode, shape, operands, attributes, called=i.called, metadata=i.metadata
        )
