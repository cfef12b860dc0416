"""The plain loop nest of an instruction or fusion: a loop for each result dimension, unscheduled.

Dimensions of one step have no loop. A value is computed in the outermost loop that has all that it
needs. Loads that only guards keep inside their array stay under these guards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xla_explorer.compiler.codegen.nest.ir import (
    For,
    LoopNest,
    NestArray,
    Store,
)
from xla_explorer.compiler.codegen.nest.plain_nests.element_values import (
    WITH_RESULTS,
    ElementValues,
)
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import (
    addressed,
    has_interior_padding,
    identifier,
)
from xla_explorer.compiler.codegen.nest.plain_nests.nest_scopes import NoNestError
from xla_explorer.compiler.codegen.nest.plain_nests.running_windows import (
    scanned_dimension,
    write_scan,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    Axis,
    Place,
    index,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION, TUPLE


def nest_of(
    i: HloInstruction, in_place: bool = False, copied: bool = False, scans: bool = True
) -> LoopNest | Reason:
    """Return the plain nest of an instruction or fusion, or a Reason if it has none.

    Its arrays are the different operands and the results.

    Parameters
    ----------
    in_place : bool
        The result of a dynamic-update-slice is in the memory of its operand. Steps are the elements
        of the update only.
    copied : bool
        All elements of the operand are copied before the update. A pad with gaps stores all padding
        before its operand.
    scans : bool
        Windows that are running values become one scan, not a reduction for each.
    """
    operands = list(dict.fromkeys(i.operands))
    fused = i.called[0] if i.opcode is FUSION else None
    root = fused.root if fused is not None else i
    roots = root.operands if fused is not None and root.opcode is TUPLE else (root,)
    arrays = [*operands, *[r for r in roots if r.opcode.name not in WITH_RESULTS]]
    bad = next((x for x in arrays if not x.shape.is_array), None)
    if bad is not None:
        return refuse(
            "not-an-array",
            f"%{bad.name} must be an array, as every operand and result of a kernel, got "
            f"{bad.shape.text_without_layout}",
        )
    if any(any(shape.dynamic) for x in (*operands, *roots) for _, shape in x.shape.leaves()):
        return refuse(
            "dynamic-dimensions", f"%{i.name} has dimensions whose sizes are known at run time"
        )
    try:
        builder = PlainNest(operands, fused, i.operands)
        return (
            builder.updating_kernel(i, root, copied)
            if in_place or copied
            else builder.kernel(i, roots, scans)
        )
    except NoNestError as found:
        return found.reason
    except RecursionError:
        return refuse(
            "nest-too-large", f"%{i.name}: its cases and reductions are nested too deeply"
        )


class PlainNest(ElementValues):
    """A plain nest that is being built.

    depth: for a value or an axis, the number of its scope, counted from outside.
    """

    # -- the kernel --------------------------------------------------------------------------------
    def kernel(
        self, i: HloInstruction, roots: Sequence[HloInstruction], scans: bool = False
    ) -> LoopNest:
        """Return the nest that computes every element of the results."""
        leaves = [
            (root, k, shape) for root in roots for k, (_, shape) in enumerate(root.shape.leaves())
        ]
        taken = {a.name for a in self.arrays.values()}
        names = ["out"] if len(leaves) == 1 else [f"out{k}" for k in range(len(leaves))]
        names = [f"{name}.result" if name in taken else name for name in names]
        outputs = [
            NestArray(name, shape, True) for name, (_, _, shape) in zip(names, leaves, strict=True)
        ]
        groups: dict[tuple[int, ...], list[tuple[HloInstruction, int, NestArray]]] = {}
        for (root, k, shape), output in zip(leaves, outputs, strict=True):
            groups.setdefault(shape.dimensions, []).append((root, k, output))
        for dimensions, members in groups.items():
            if 0 in dimensions:
                continue
            axes = [Axis(next(self.letters), extent) for extent in dimensions]
            order = list(reversed(members[0][2].shape.layout.minor_to_major))
            write = partial(self.stores, members, self.place(tuple([index(a) for a in axes])))
            if (
                scanned := scanned_dimension(roots[0]) if scans and len(roots) == 1 else None
            ) is not None:
                write = partial(write_scan, self, roots[0], outputs, axes, *scanned)
                order.remove(scanned[0])
            self.loops([axes[d] for d in order if axes[d].extent != 1], write)
        return LoopNest(
            identifier(i.name),
            (*self.arrays.values(), *outputs),
            tuple(self.scopes[0].body),
            self.names,
        )

    def updating_kernel(self, i: HloInstruction, root: HloInstruction, copied: bool) -> LoopNest:
        """Return the nest of a dynamic-update-slice that stores only its update.

        The result is in the memory of the operand, or all of it is copied first if `copied`. A pad
        with gaps stores its padding, then its operand.
        """
        spreads = has_interior_padding(root)
        operand, update = (root.operands[1], root.operands[0]) if spreads else root.operands[:2]
        held = self.arrays.get(self.forwarded.get(operand, operand))
        if not spreads and (
            root.opcode.name != "dynamic-update-slice" or (held is None and not copied)
        ):
            raise NoNestError(
                refuse("updates-in-place", f"%{root.name} must update an operand of the kernel")
            )
        taken = {a.name for a in self.arrays.values()}
        output = NestArray(
            "out.result" if "out" in taken else "out",
            root.shape,
            True,
            aliases="" if held is None or copied else held.name,
        )

        def loops(x: HloInstruction, write: Callable[[Place], None]) -> None:
            axes = [Axis(next(self.letters), extent) for extent in x.shape.dimensions]
            order = [axes[d] for d in reversed(root.shape.layout.minor_to_major)]
            if 0 not in x.shape.dimensions:
                self.loops(
                    [a for a in order if a.extent != 1],
                    partial(write, self.place(tuple([index(a) for a in axes]))),
                )

        def copy(place: Place) -> None:
            value = self.value(operand, () if spreads else place)
            self.scopes[-1].body.append(Store(output.name, place, value, self.origin(root, place)))

        def target_of(place: Place) -> Place:
            if spreads:
                return tuple(
                    [
                        x * (rule.interior + 1) + rule.low
                        for x, rule in zip(place, root.attribute("padding"), strict=True)
                    ]
                )
            reads = self.reads(root, place)
            numbers = {(root.operands[r.operand], r.place): self.value(root.operands[r.operand], self.place(r.place))
                       for r in reads if r.addressing}  # fmt: skip
            inside = addressed(
                reads[0], numbers
            ).place  # the result's element at `place` is that of the update at `place` - start
            return tuple([x * 2 - y for x, y in zip(place, inside, strict=True)])

        def write(place: Place) -> None:
            target = self.place(target_of(place))
            value = self.value(update, place)
            self.scopes[-1].body.append(
                Store(output.name, target, value, self.origin(root, target))
            )

        if copied:
            loops(root, copy)
        loops(update, write)
        return LoopNest(
            identifier(i.name),
            (*self.arrays.values(), output),
            tuple(self.scopes[0].body),
            self.names,
        )

    def stores(self, members: list[tuple[HloInstruction, int, NestArray]], place: Place) -> None:
        """Write the values of results at a place, then their stores."""
        values = [self.values(root, place)[k] for root, k, _ in members]
        # After all loads: processors delay a load whose address has the low bits of an earlier
        # store (4K aliasing).
        stores = [
            Store(o.name, place, x, self.origin(root, place))
            for x, (root, _, o) in zip(values, members, strict=True)
        ]
        self.scopes[-1].body += stores

    def loops(self, axes: list[Axis], write: Callable[[], None]) -> None:
        """Write nested loops, with the statements of `write` inside."""
        if not axes:
            write()
            return
        with self.scope(len(self.scopes) - 1, (axes[0],)) as inner:
            self.loops(axes[1:], write)
        self.scopes[-1].body.append(For(axes[0], tuple(inner.body)))
