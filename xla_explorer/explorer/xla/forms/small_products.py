"""The form of a batch of small products that multiplies elements and sums them."""

from __future__ import annotations

from xla_explorer.explorer.advice.array_forms import is_small_product
from xla_explorer.explorer.xla.forms.changes import Chosen, changed_copy
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape


def multiplied_and_summed(module: HloModule, chosen: Chosen = None) -> HloModule | None:
    """Compute each batch of small products as a product of elements and a sum."""
    return changed_copy(module, small_products(module), _expand, chosen)


def small_products(module: HloModule) -> list[HloInstruction]:
    """Return the batches of small products, the largest first."""
    found = [i for i in module.instructions() if is_small_product(i)]
    return sorted(found, key=lambda i: -i.shape.byte_size)


def _expand(product: HloInstruction) -> bool:
    """Replace a product by broadcasts to [batch, rows, contracted, columns] and a sum."""
    place, (lhs, rhs) = product.parent, product.operands
    batch, contracted = [
        [list(product.attribute(f"{side}_{kind}_dims")) for side in ("lhs", "rhs")]
        for kind in ("batch", "contracting")
    ]
    free = [
        [d for d in range(one.shape.rank) if d not in (*batch[k], *contracted[k])]
        for k, one in enumerate((lhs, rhs))
    ]
    sizes = lhs.shape.dimensions
    extents = [sizes[d] for d in batch[0]] + [sizes[d] for d in free[0]]
    extents += [sizes[d] for d in contracted[0]] + [rhs.shape.dimensions[d] for d in free[1]]
    first = len(batch[0]) + len(free[0])
    summed = tuple(range(first, first + len(contracted[0])))
    after = first + len(summed)
    places = [
        {d: k for k, d in enumerate(batch[0] + free[0] + contracted[0])},
        {d: k for k, d in enumerate(batch[1])}
        | {d: first + k for k, d in enumerate(contracted[1])}
        | {d: after + k for k, d in enumerate(free[1])},
    ]
    shape = product.shape.with_dimensions(extents)
    wide = []
    for one, at in zip((lhs, rhs), places, strict=True):
        order = sorted(at, key=lambda d: at[d])  # a broadcast's dimensions increase
        if order != list(range(one.shape.rank)):
            turned = one.shape.with_dimensions([one.shape.dimensions[d] for d in order])
            one = place.add("transpose", turned, [one], attributes_of({"dimensions": tuple(order)}))
        if one.shape.element_type != product.shape.element_type:
            kind = product.shape.with_dimensions(one.shape.dimensions)
            one = place.add("convert", kind, [one])
        to = attributes_of({"dimensions": tuple(sorted(at.values()))})
        wide.append(place.add("broadcast", shape, [one], to))
    multiplied = place.add("multiply", shape, wide, metadata=product.metadata)
    dtype = product.shape.element_type.dtype
    zero = place.add_constant(literal_from_array(dtype.type(0), product.shape.with_dimensions([])))
    total = place.add(
        "reduce",
        product.shape,
        [multiplied, zero],
        attributes_of({"dimensions": summed}),
        called=(_sum(place.module, product.shape),),
        metadata=product.metadata,
    )
    place.replace(product, total)
    place.remove(product)
    return True


def _sum(module: HloModule, shape: Shape) -> HloComputation:
    """Return a computation of the module that adds two scalars, before those that call it."""
    scalar = shape.with_dimensions([])
    made = module.add_computation(f"add_{shape.element_type.name}")
    sides = (made.add_parameter(0, scalar, "a"), made.add_parameter(1, scalar, "b"))
    made.root = made.add("add", scalar, sides)
    others = {name: c for name, c in module.computations.items() if c is not made}
    module.computations = {made.name: made, **others}
    return made
