"""The form of a mixture of experts that multiplies rows by all weights, and selects."""

from __future__ import annotations

from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def dense_experts(module: HloModule) -> HloModule | None:
    """Multiply rows by all stacked weights and select, in place of a weight gathered for each row.

    Changes products of a batch of rows [n, k] with `w[e]`, w of [experts, k, f] or [experts, f, k].
    """
    flat = optimize(module, "call-inliner", "off").module.clone()
    changed = False
    for computation in list(flat.computations.values()):
        for i in list(computation.instructions.values()):
            if i.opcode.name == "dot" and _select_after_product(i):
                changed = True
    return flat if changed else None


def _select_after_product(product: HloInstruction) -> bool:
    """Replace one product with gathered weights; return False if it is another product."""
    sides = [(0, "rhs", "lhs"), (1, "lhs", "rhs")]
    found = [(k, _gather_of(product.operands[1 - k]), one, other) for k, one, other in sides]
    row_side, gather, weight_name, row_name = next(
        (one for one in found if one[1] is not None), (0, None, "", "")
    )
    if gather is None:
        return False
    rows, weights, index = product.operands[row_side], gather.operands[0], _index_of(gather)
    contracted = [product.attribute(f"{name}_contracting_dims") for name in (row_name, weight_name)]
    batches = [product.attribute(f"{name}_batch_dims") for name in (row_name, weight_name)]
    is_rows = rows.shape.rank == 2 and [tuple(one) for one in batches] == [(0,), (0,)]
    if index is None or not is_rows or tuple(contracted[0]) != (1,) or len(contracted[1]) != 1:
        return False
    place, count = product.parent, rows.shape.dimensions[0]
    experts = weights.shape.dimensions[0]
    kept = next(d for d in (1, 2) if d != contracted[1][0])
    plain = product.attributes.with_values(lhs_batch_dims=(), rhs_batch_dims=())
    every = place.add(
        "dot",
        product.shape.with_dimensions([count, experts, weights.shape.dimensions[kept]]),
        [rows, weights],
        plain.with_values(lhs_contracting_dims=(1,), rhs_contracting_dims=tuple(contracted[1])),
    )
    numbers = index.shape.with_dimensions([count, experts])
    spread = place.add("broadcast", numbers, [index], attributes_of({"dimensions": (0,)}))
    counted = place.add("iota", numbers, [], attributes_of({"iota_dimension": 1}))
    equal = place.add("compare", None, [spread, counted], attributes_of({"direction": "EQ"}))
    mask = place.add("convert", every.shape.with_dimensions([count, experts]), [equal])
    both = {"lhs_batch_dims": (0,), "rhs_batch_dims": (0,)}
    selected = place.add(
        "dot",
        product.shape,
        [mask, every],
        plain.with_values(**both, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,)),
    )
    place.replace(product, selected)
    place.remove(product)
    return True


def _gather_of(i: HloInstruction) -> HloInstruction | None:
    """Return the gather of whole matrices that a value is, but for dimensions of size 1."""
    while i.opcode.name == "reshape":
        i = i.operands[0]
    if i.opcode.name != "gather" or i.operands[0].shape.rank != 3:
        return None
    whole = (1, *i.operands[0].shape.dimensions[1:])
    is_first = tuple(i.attribute("start_index_map"))[:1] == (0,)
    return i if is_first and tuple(i.attribute("slice_sizes")) == whole else None


def _index_of(gather: HloInstruction) -> HloInstruction | None:
    """Return the number of the weight of each row, [n]."""
    index = gather.operands[1]
    if index.opcode.name == "concatenate":
        index = index.operands[0]
    if index.shape.rank != 2 or index.shape.dimensions[1] != 1:
        return None
    flat = index.shape.with_dimensions(index.shape.dimensions[:1])
    return gather.parent.add("reshape", flat, [index], NO_ATTRIBUTES)
