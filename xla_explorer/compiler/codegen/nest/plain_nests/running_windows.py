"""The plain nest of windows that are running values, such as cumsum: one scan.

A reduction of each window would take quadratic time.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.nest.ir import BoundAxis, NestArray, Reduce, Store
from xla_explorer.compiler.codegen.nest.plain_nests.element_values import ElementValues
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import accumulator_type
from xla_explorer.hlo.analysis.indexing import Axis, index
from xla_explorer.hlo.analysis.running_windows import scan_dimension
from xla_explorer.hlo.instruction import HloInstruction


def scanned_dimension(root: HloInstruction) -> tuple[int, bool] | None:
    """Return (dimension, from its end) for windows that are running values, else None."""
    if root.opcode.name != "reduce-window":
        return None
    return scan_dimension(root.attribute("window").dimensions, root.operands[0].shape.dimensions)


def write_scan(
    nest: ElementValues,
    root: HloInstruction,
    outputs: Sequence[NestArray],
    axes: Sequence[Axis],
    dimension: int,
    from_end: bool,
) -> None:
    """Write the scan along a dimension and the stores of its results.

    axes: of all dimensions; all but that of the scan are open.
    """
    axis, depth = axes[dimension], len(nest.scopes) - 1
    along = (axis.extent - 1) - index(axis) if from_end else index(axis)
    place = nest.place(tuple([along if a is axis else index(a) for a in axes]))
    last = nest.place(
        tuple([index(0 if from_end else axis.extent - 1) if a is axis else index(a) for a in axes])
    )
    count, wide, origin = len(outputs), accumulator_type(root, True), nest.origin(root, place)
    inputs, types = root.operands[:count], [o.shape.element_type for o in root.operands[:count]]
    elements = (wide,) if wide else tuple(types)
    widened, narrowed = (
        list(zip(types, elements, strict=True)),
        list(zip(elements, types, strict=True)),
    )
    initial = [
        nest.through(nest.value(o, ()), kinds, None)
        for o, kinds in zip(root.operands[count:], widened, strict=True)
    ]
    with nest.scope(depth, (axis,)) as inner:
        values = [
            nest.through(nest.value(o, place), kinds, None)
            for o, kinds in zip(inputs, widened, strict=True)
        ]
    combiner = root.to_apply.root.opcode if wide else nest.combiner(root, elements)
    ids, running = [tuple([next(nest.numbers) for _ in values]) for _ in range(2)]
    with nest.scope(depth, (axis,)) as after:
        nest.depth.update(dict.fromkeys(running, depth + 1))
        results = [
            nest.through(x, kinds, origin) for x, kinds in zip(running, narrowed, strict=True)
        ]
        after.body += [
            Store(o.name, place, x, origin) for x, o in zip(results, outputs, strict=True)
        ]
    nest.put(Reduce(ids, elements, combiner, tuple(initial), (BoundAxis(axis),), tuple(inner.body), tuple(values),
                    origin=nest.origin(root, last), running=running, each=tuple(after.body)), depth)  # fmt: skip
