"""Static operands and results of conditionals and loops, with sizes of dynamic dimensions.

Each computation then keeps its dynamic values inside: from set-dimension-size, which gives an array
its size, to get-dimension-size. Source: xla/service/dynamic_dimension_inference.cc
(HandleConditional, HandleWhile).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xla_explorer.compiler.rewriting.op_expander_pass import builder_at
from xla_explorer.compiler.rewriting.removal import order_callees_first, remove_if_dead
from xla_explorer.compiler.transforms.loops.loop_state import element
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape


def make_boundaries_static(module: HloModule) -> bool:
    """Rewrite conditionals and loops with dynamic operands or results; return True for any."""
    changed = False
    for computation in list(module.computations.values()):
        for i in [i for i in computation.post_order() if i.opcode.name in ("conditional", "while")]:
            if any(_is_dynamic(s) for s in (i.shape, *[o.shape for o in i.operands])) and all(
                map(_is_flat, (i.shape, *_handed(i)))
            ):
                _rewrite(i)
                changed = True
    if changed:
        reachable = set(module.post_order_computations())
        for computation in [c for c in module.computations.values() if c not in reachable]:
            module.remove_computation(computation)
        order_callees_first(module)
    return changed


def forward_tuple_elements(computation: HloComputation) -> None:
    """Forward elements of tuples that the computation itself creates."""
    for i in list(computation.post_order()):
        if i.opcode.name == "get-tuple-element" and i.operands[0].opcode.name == "tuple":
            computation.replace(i, i.operands[0].operands[int(i.attributes["index"])])
            remove_if_dead(computation, i)


def _handed(i: HloInstruction) -> list[Shape]:
    return [o.shape for o in i.operands]


def _is_dynamic(shape: Shape) -> bool:
    return any(any(leaf.dynamic) for _, leaf in shape.leaves() if leaf.is_array)


def _is_flat(shape: Shape) -> bool:
    return shape.is_array or all(part.is_array for part in shape.tuple_shapes)


def _parts(shape: Shape) -> list[Shape]:
    return list(shape.tuple_shapes) if shape.is_tuple else [shape]


def _dynamic(shape: Shape) -> list[int]:
    return [d for d, is_dynamic in enumerate(shape.dynamic) if is_dynamic]


def _resized(shape: Shape, d: int, is_dynamic: bool) -> Shape:
    return array_shape(shape.element_type, shape.dimensions, shape.layout,
                       tuple([is_dynamic if k == d else bool(shape.dynamic and shape.dynamic[k]) for k in range(shape.rank)]))  # fmt: skip


def _static(shape: Shape) -> Shape:
    """Return the static tuple: parts at their bound, then the sizes, part by part."""
    parts = _parts(shape)
    sizes = [array_shape(S32, ()) for part in parts for _ in _dynamic(part)]
    return tuple_shape(
        [*[array_shape(p.element_type, p.dimensions, p.layout) for p in parts], *sizes]
    )


def _as_static_tuple(computation: HloComputation, value: HloInstruction) -> HloInstruction:
    """Return the static tuple of a value."""
    parts = (
        [element(computation, value, k) for k in range(len(value.shape.tuple_shapes))]
        if value.shape.is_tuple
        else [value]
    )
    sizes: list[HloInstruction] = []
    for k, part in enumerate(parts):
        for d in _dynamic(part.shape):
            along = attributes_of({"dimensions": (d,)})
            sizes.append(
                computation.add("get-dimension-size", array_shape(S32, ()), (part,), along)
            )
            bound = builder_at(computation).constant(part.shape.dimensions[d], S32).instruction
            parts[k] = computation.add(
                "set-dimension-size", _resized(parts[k].shape, d, False), (parts[k], bound), along
            )
    return computation.add(
        "tuple", tuple_shape([p.shape for p in (*parts, *sizes)]), (*parts, *sizes)
    )


def _put_together(
    computation: HloComputation, whole: HloInstruction, shape: Shape
) -> HloInstruction:
    """Return a value of the shape from its static tuple."""
    parts = _parts(shape)
    made, number = [], len(parts)
    for k, part in enumerate(parts):
        value = element(computation, whole, k)
        for d in _dynamic(part):
            size = element(computation, whole, number)
            along = attributes_of({"dimensions": (d,)})
            value = computation.add(
                "set-dimension-size", _resized(value.shape, d, True), (value, size), along
            )
            number += 1
        made.append(value)
    return computation.add("tuple", shape, made) if shape.is_tuple else made[0]


def _instead(i: HloInstruction, shape: Shape, make: Callable[[], HloInstruction]) -> None:
    """Give the instruction another shape; its readers read `make()` instead."""
    computation, users, was_root = i.parent, list(i.users), i.is_root
    computation.set_shape(i, shape)
    made = make()
    for user in users:
        computation.set_operands(user, [made if o is i else o for o in user.operands])
    if was_root:
        computation.set_root(made)


def _rewrite(i: HloInstruction) -> None:
    computation, before = i.parent, i.shape
    computation.set_called(
        i, tuple([called.clone() for called in i.called])
    )  # they may have other callers
    is_loop = i.opcode.name == "while"
    for number, called in enumerate(i.called):
        [parameter] = called.parameters()
        shape = parameter.shape
        if _is_dynamic(shape):
            _instead(
                parameter,
                _static(shape),
                partial(_put_together, called, parameter, shape),
            )
        if _is_dynamic(before) and not (
            is_loop and number == 0
        ):  # a loop's condition returns no state
            called.set_root(_as_static_tuple(called, called.root))
    operands = [_as_static_tuple(computation, o) if _is_dynamic(o.shape) else o for o in i.operands]
    computation.set_operands(i, operands)
    if _is_dynamic(before):
        _instead(i, _static(before), lambda: _put_together(computation, i, before))
