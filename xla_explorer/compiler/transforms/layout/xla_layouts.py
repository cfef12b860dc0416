"""The layouts that XLA:CPU would assign: row-major operands, and views in the operand's order.

A transpose gets the layout in which it is a bitcast. A reshape that adds dimensions of one element
gets the layout in which they come first. A reader that requires row-major data reads a copy. So
data moves wherever XLA:CPU moves it, which `copy` shows. Source:
xla/service/cpu/cpu_layout_assignment.cc, xla/service/layout_assignment.cc
(`ChooseOutputLayoutFromOperandLayout`), `ShapeUtil::AlignLayouts`.

Layouts of custom calls with `operand_layout_constraints` (LAPACK's) come first
(`called_layouts.py`).
"""

from __future__ import annotations

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.transforms.layout.called_layouts import (
    copy_aliased_operands,
    layouts_requested_by_calls,
    operand_constraints,
    operand_order,
)
from xla_explorer.foundation.measured import equal
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, PARAMETER, TUPLE, opcode
from xla_explorer.hlo.shape import Shape, tuple_shape

COPY, TRANSPOSE, RESHAPE, WHILE, CONDITIONAL, CALL = [
    opcode(name) for name in ("copy", "transpose", "reshape", "while", "conditional", "call")
]
# They require a row-major operand before a reshape has chosen, as observed in XLA (gathers and
# scatters sometimes: `_asked_first`).
_ASK_FIRST = frozenset([TRANSPOSE, opcode("dot"), opcode("concatenate"), opcode("reduce-window")])
_SCATTER, _GATHER = opcode("scatter"), opcode("gather")
_FORWARD = frozenset(
    [
        TUPLE,
        GET_TUPLE_ELEMENT,
        opcode("opt-barrier"),
        opcode("domain"),
        opcode("add-dependency"),
        opcode("after-all"),
    ]
)


class XlaLayouts:
    """The layouts of one module. parameters, result: the caller's shapes at the entry."""

    def __init__(
        self, module: HloModule, context: PassContext, parameters: list[Shape], result: Shape
    ) -> None:
        self.module, self.context = module, context
        self.parameters, self.result = parameters, result
        self.changed = copy_aliased_operands(module)
        self._requested, self._states = layouts_requested_by_calls(module)

    def run(self) -> bool:
        """Assign layouts, callees before callers; return True if anything changed."""
        for computation in sequential_computations(self.module):
            is_entry = computation is self.module.entry
            for i in list(computation.post_order()):
                self._assign(computation, i, is_entry)
            if is_entry:
                self._fix_root(computation, self.result)
        return self.changed

    def _assign(self, computation: HloComputation, i: HloInstruction, is_entry: bool) -> None:
        row = i.opcode
        if row is PARAMETER:
            self._set(
                computation,
                i,
                self.parameters[int(i.payload)]
                if is_entry
                else self._states.get(computation, i.shape.base),
            )
        elif row is TUPLE:
            self._set(computation, i, tuple_shape([o.shape for o in i.operands]))
        elif row is GET_TUPLE_ELEMENT:
            self._set(computation, i, i.operands[0].shape.tuple_shapes[int(i.attribute("index"))])
        elif row in _FORWARD:
            self._set(
                computation,
                i,
                i.operands[0].shape
                if i.operands and i.shape.base is i.operands[0].shape.base
                else i.shape.base,
            )
        elif (constraints := operand_constraints(i)) is not None:
            for number, (operand, wanted) in enumerate(zip(i.operands, constraints, strict=True)):
                self._read_as(computation, i, number, operand, wanted)
        else:
            requested = self._requested.get(i)
            for number, operand in enumerate(i.operands):
                wanted = self._state_of(i) if i.opcode is WHILE else operand.shape.base
                if (
                    requested is not None
                    and (kept := operand_order(i, requested, number)) is not None
                ):
                    wanted = _laid_out(wanted, kept)
                self._read_as(computation, i, number, operand, wanted)
            self._set(
                computation,
                i,
                self._result_shape(i, is_entry)
                if requested is None
                else _laid_out(i.shape, requested),
            )

    def _result_shape(self, i: HloInstruction, is_entry: bool) -> Shape:
        if i.opcode is WHILE:
            self._fix_root(i.called[-1], self._state_of(i))
            return self._state_of(i)
        if i.opcode in (CALL, CONDITIONAL):
            wanted = i.called[0].root.shape
            for branch in i.called[1:]:
                self._fix_root(branch, wanted)
            return wanted
        if i.opcode is TRANSPOSE:
            order = i.attribute("dimensions")
            return _laid_out(
                i.shape,
                tuple([order.index(d) for d in i.operands[0].shape.base.layout.minor_to_major]),
            )
        if i.opcode is RESHAPE and i.operands[0].shape.rank > 1:
            if not _asked_first(i) and not _one_line(i.shape, i.operands[0].shape):
                return _laid_out(i.shape, _ones_first(i.shape))
        if is_entry and i.is_root and i.opcode is not COPY and _same_order(i.shape, self.result):
            return self.result  # packed elements, for example: it writes this layout itself
        return i.shape.base

    def _state_of(self, loop: HloInstruction) -> Shape:
        return self._states.get(loop.called[-1], loop.shape.base)

    def _read_as(
        self,
        computation: HloComputation,
        user: HloInstruction,
        number: int,
        operand: HloInstruction,
        wanted: Shape,
    ) -> None:
        if _same_order(operand.shape, wanted) or (
            user.opcode is COPY and user not in self._requested
        ):
            return
        if self._decide(operand, wanted) is None:
            computation.replace_operand(user, number, self._as_wanted(computation, operand, wanted))

    def _decide(self, i: HloInstruction, wanted: Shape) -> Reason | None:
        """Record that data moves: the refusal is the reason why the reader needs a copy."""

        @value_formatter(lambda i: equal("layouts", _orders(i.shape), _orders(wanted)))
        def layouts_agree(i: HloInstruction) -> Reason | None:
            return refuse(
                "layout-differs",
                f"%{i.name} has layout {_orders(i.shape)}, it is read as {_orders(wanted)}",
                outside=_orders(i.shape),
                inside=_orders(wanted),
            )

        self.context.decide("layout", (layouts_agree,), (), i)
        return None

    def _as_wanted(
        self, computation: HloComputation, i: HloInstruction, wanted: Shape
    ) -> HloInstruction:
        """Return a value in another layout: a copy of the parts that differ."""
        if _same_order(i.shape, wanted):
            return i
        self.changed = True
        if not wanted.is_tuple:
            sharding = i.attributes.get("sharding") if i.attributes.sharding_text else None
            return computation.add(
                COPY,
                wanted,
                (i,),
                attributes_of({"sharding": sharding} if sharding else {}),
                metadata=i.metadata,
            )
        parts = []
        for number, part in enumerate(wanted.tuple_shapes):
            index = attributes_of({"index": number})
            element = computation.add(
                GET_TUPLE_ELEMENT, i.shape.tuple_shapes[number], (i,), index, metadata=i.metadata
            )
            parts.append(self._as_wanted(computation, element, part))
        return computation.add(
            TUPLE, tuple_shape([p.shape for p in parts]), parts, metadata=i.metadata
        )

    def _fix_root(self, computation: HloComputation, wanted: Shape) -> None:
        root = computation.root
        if not _same_order(root.shape, wanted):
            self._decide(root, wanted)
            computation.set_root(self._as_wanted(computation, root, wanted))

    def _set(self, computation: HloComputation, i: HloInstruction, shape: Shape) -> None:
        if i.shape is not shape:
            computation.set_shape(i, shape)
            self.changed = True


def _laid_out(shape: Shape, minor_to_major: tuple[int, ...]) -> Shape:
    return shape.base.with_layout(minor_to_major)


def _ones_first(shape: Shape) -> tuple[int, ...]:
    """Return dimensions of several elements, then those of one, each from the last to the first.

    The order is minor to major.
    """
    back = range(shape.rank - 1, -1, -1)
    return tuple(
        [d for d in back if shape.dimensions[d] != 1]
        + [d for d in back if shape.dimensions[d] == 1]
    )


def _asked_first(reshape: HloInstruction) -> bool:
    """Return True if a reader requires a row-major result before the reshape can choose."""
    after, before = reshape.shape.dimensions, reshape.operands[0].shape.dimensions
    gains_ones = [size for size in after if size != 1] == [
        size for size in before if size != 1
    ] or after[-1:] == before[-1:] == (1,)
    by_index = [user for user in reshape.users if user.opcode in (_SCATTER, _GATHER)]
    if any(
        gains_ones or (user.operands[0].shape.rank == 1 and user.operands[-1] is not reshape)
        for user in by_index
    ):
        return True
    return any(user.opcode in _ASK_FIRST for user in reshape.users)


def _one_line(a: Shape, b: Shape) -> bool:
    """Return True if both have one dimension of several elements: then XLA chooses nothing."""
    return all(sum([1 for size in shape.dimensions if size != 1]) == 1 for shape in (a, b))


def _same_order(a: Shape, b: Shape) -> bool:
    """Return True if the dimensions of all arrays have the same order."""
    if a.is_tuple:
        return all(_same_order(x, y) for x, y in zip(a.tuple_shapes, b.tuple_shapes, strict=True))
    return not a.is_array or a.layout.minor_to_major == b.layout.minor_to_major


def _orders(shape: Shape) -> str:
    return (
        str(shape.layout)
        if shape.is_array
        else ", ".join([_orders(part) for part in shape.tuple_shapes])
    )
