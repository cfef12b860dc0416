"""XLA's multi-output fusion for GPUs: kernels that read one array, or each other, merged.

Source: xla/backends/gpu/transforms/multi_output_fusion.cc, xla/service/gpu/gpu_fusible.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
siblings that read an array of several elements merged, if their loops have equal dimensions
a producer and one of its readers               merged, if the producer has other readers
reductions of rows and columns as heroes        equal operands, reduced dimensions and results
loops                                           equal dimensions of the results
bitcasts, and updates in place                  never
readers that slice different parts              not merged: only overlapping slices
dependent siblings, cycles                      refused
the most operands and results of a kernel       max_arrays
shared memory of column reductions              max_shared_bytes: of all heroes together
transposes as heroes                            hole: they are loops
the time model for producers and readers        hole: every legal pair
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from math import prod
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets
from xla_explorer.compiler.transforms.fusion.building import build_fusion
from xla_explorer.compiler.transforms.fusion.merging import (
    LoopCluster,
    is_read_only_by_elements,
    merge_cluster,
)
from xla_explorer.hlo.analysis.reachability import depends_on
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_WARP = 32
_TILE_ELEMENTS = 4 * 32 * 33  # of one column reduction in shared memory
_PLAIN = frozenset(
    [
        "broadcast",
        "concatenate",
        "copy",
        "dynamic-slice",
        "gather",
        "iota",
        "pad",
        "reduce",
        "reduce-window",
        "reshape",
        "reverse",
        "slice",
        "transpose",
    ]
)
_SLICES = frozenset(["slice", "dynamic-slice"])


def roots_of(i: HloInstruction) -> list[HloInstruction]:
    """Return what a kernel writes: the instruction, or the results of its fused computation."""
    root = i.called[0].root if i.opcode.name == "fusion" else i
    return list(root.operands) if root.opcode.name == "tuple" else [root]


def is_kernel_reduction(reduce: HloInstruction) -> bool:
    """Return True for a reduction of rows or columns that has a kernel of its own kind."""
    if reduce.opcode.name != "reduce":
        return False
    shape = reduce.operands[0].shape
    reduced = [d for d in reversed(shape.layout.minor_to_major) if shape.dimensions[d] > 1]
    inside = [d in reduce.attributes["dimensions"] for d in reduced]
    changes = sum([a != b for a, b in pairwise(inside)])
    return any(inside) and changes <= 2 and _extent(reduce) >= _WARP


def _extent(reduce: HloInstruction) -> int:
    dimensions = reduce.operands[0].shape.dimensions
    return prod([dimensions[d] for d in reduce.attributes["dimensions"]])


def hero_of(i: HloInstruction) -> HloInstruction:
    """Return the reduction that shapes a kernel, else its first result."""
    roots = roots_of(i)
    return next((r for r in roots if is_kernel_reduction(r)), roots[0])


def _is_input_kernel(i: HloInstruction) -> bool:
    kind = i.attributes.get("kind") if i.opcode.name == "fusion" else "kInput"
    return kind == "kInput" and is_kernel_reduction(hero_of(i))


def may_be_root(i: HloInstruction) -> bool:
    """Return True for kernels that may share their loop."""
    if i.opcode.name == "fusion":
        if i.attributes.get("kind") == "kCustom":
            return False
        updates = any(r.opcode.name in ("dynamic-update-slice", "scatter") for r in roots_of(i))
        variadic = any(
            r.opcode.name == "reduce" and len(r.operands) > 2 and r.parent is i.called[0]
            for r in i.called[0].instructions.values()
        )
        loop = i.attributes.get("kind") == "kLoop"
        return not updates and not (variadic and loop) and is_read_only_by_elements(i)
    return (i.opcode.elementwise or i.opcode.name in _PLAIN) and i.shape.is_array


def same_loop(a: HloInstruction, b: HloInstruction) -> bool:
    """Return True if two kernels iterate over equal dimensions."""
    first, second = hero_of(a), hero_of(b)
    reductions = [is_kernel_reduction(h) for h in (first, second)]
    if all(reductions):
        return first.attributes["dimensions"] == second.attributes["dimensions"] and _loop(
            first
        ) == _loop(second)
    return _loop(first) == _loop(second)


def _loop(hero: HloInstruction) -> tuple[int, ...]:
    shape = hero.operands[0].shape if is_kernel_reduction(hero) else hero.shape
    if shape.is_tuple:
        shape = shape.tuple_shapes[0]
    return tuple(shape.dimensions)


def _parts_read(i: HloInstruction, parent: HloInstruction) -> list[HloInstruction] | None:
    """Return the slices by which a kernel reads an array; None if it reads all of it."""
    if i.opcode.name != "fusion":
        return [i] if i.opcode.name in _SLICES else None
    found: list[HloInstruction] = []
    for parameter, operand in zip(i.called[0].parameters(), i.operands, strict=True):
        if operand is parent:
            if any(u.opcode.name not in _SLICES for u in parameter.users):
                return None
            found += parameter.users
    return found


def reads_overlap(a: HloInstruction, b: HloInstruction, parent: HloInstruction) -> bool:
    """Return True unless both kernels slice parts of an array that do not meet."""
    parts = [_parts_read(i, parent) for i in (a, b)]
    if parts[0] is None or parts[1] is None:
        return True
    for x in parts[0]:
        for y in parts[1]:
            if x.opcode.name == y.opcode.name == "slice":
                pairs = zip(x.attributes["slice"], y.attributes["slice"], strict=True)
                if all(p.start < q.limit and q.start < p.limit for p, q in pairs):
                    return True
    return False


@register_pass()
@dataclasses.dataclass(frozen=True)
class GpuMultiOutputFusion:
    """Merge siblings, then producers with readers, users before producers.

    max_arrays: the most operands and results of one kernel. max_shared_bytes: of the tiles of its
    column reductions.
    """

    name: ClassVar[str] = "multi_output_fusion"
    max_arrays: int = 96
    max_shared_bytes: int = 49_152

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that is not fused."""
        bodies = module.fusion_computations()
        changed = False
        for computation in list(module.computations.values()):
            if computation not in bodies:
                while self._merge_one(computation, context):
                    changed = True
        return changed

    def _merge_one(self, computation: HloComputation, context: PassContext) -> bool:
        for producer in reversed(list(computation.post_order())):
            for a, b in [*self._siblings(producer), *self._readers(producer)]:
                if context.decide(self.name, (), (), a, b) is None:
                    self._merge(computation, a, b, context)
                    return True
        return False

    def _siblings(self, parent: HloInstruction) -> list[tuple[HloInstruction, HloInstruction]]:
        """Return the first pair of readers of an array that may share a kernel."""
        if not parent.shape.is_array or parent.shape.element_count <= 1:
            return []
        readers = [u for u in parent.users if u.users and may_be_root(u)]
        for k, a in enumerate(readers):
            for b in readers[k + 1 :]:
                fused = "fusion" in (a.opcode.name, b.opcode.name)
                if (
                    fused
                    and _is_input_kernel(a) == _is_input_kernel(b)
                    and self._fits(a, b)
                    and reads_overlap(a, b, parent)
                    and not depends_on(a, b)
                    and not depends_on(b, a)
                ):
                    return [(a, b)]
        return []

    def _readers(self, producer: HloInstruction) -> list[tuple[HloInstruction, HloInstruction]]:
        """Return the first pair of a producer and a reader that may share a kernel."""
        if (
            len(producer.users) < 2
            or producer.opcode.name in ("parameter", "constant")
            or len(roots_of(producer)) > 1
            or not may_be_root(producer)
            or _is_input_kernel(producer)
        ):
            return []
        for reader in producer.users:
            others = [o for o in reader.operands if o is not producer]
            if (
                reader.opcode.name == "fusion"
                and reader.users
                and may_be_root(reader)
                and _is_input_kernel(reader)
                and self._fits(producer, reader)
                and not any(depends_on(o, producer) for o in others)
            ):
                return [(producer, reader)]
        return []

    def _fits(self, a: HloInstruction, b: HloInstruction) -> bool:
        arrays = len({*a.operands, *b.operands}) + len(roots_of(a)) + len(roots_of(b))
        columns = [
            r
            for i in (a, b)
            for r in roots_of(i)
            if is_kernel_reduction(r)
            and r.operands[0].shape.rank - 1 not in r.attributes["dimensions"]
        ]
        shared = sum([_TILE_ELEMENTS * r.operands[0].shape.element_type.bits // 8 for r in columns])
        targets = control_targets(a.parent)
        free = not any(i.control_predecessors or i in targets for i in (a, b))
        return (
            free and arrays <= self.max_arrays and shared <= self.max_shared_bytes
        ) and same_loop(a, b)

    def _merge(
        self,
        computation: HloComputation,
        a: HloInstruction,
        b: HloInstruction,
        context: PassContext,
    ) -> None:
        """Replace two kernels by one."""
        kind = "kInput" if _is_input_kernel(a) or _is_input_kernel(b) else "kLoop"
        fusions = [
            i if i.opcode.name == "fusion" else build_fusion(computation, i, [i]) for i in (a, b)
        ]
        cluster = LoopCluster(fusions[0])
        cluster.take(LoopCluster(fusions[1]))
        place = {i: k for k, i in enumerate(computation.post_order())}
        made = merge_cluster(computation, cluster, place, attributes_of({"kind": kind}))
        context.rewrote(self.name, a, made, (made.id,), {"results": len(roots_of(made))})
