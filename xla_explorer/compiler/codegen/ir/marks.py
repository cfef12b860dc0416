"""Metadata of branches and stores: how LLVM treats a loop, and stores past the caches."""

from __future__ import annotations

from collections.abc import Collection

from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel

# Marks: metadata of branches and stores. A module defines that of its functions
# (`metadata_definitions`).
NO_UNROLL = ", !llvm.loop !1"  # for loops in their final form: see `OptimizationLevel.FINAL`
UNROLL = ", !llvm.loop !3"
UNROLL_BY_4 = ", !llvm.loop !5"  # for scalar loops, whose iterations overlap after interleaving
NONTEMPORAL = ", !nontemporal !7"  # for non-temporal stores
NO_VECTOR = ", !llvm.loop !20"  # for loops that cannot be vectorised: see `OptimizationLevel.SHORT`
# For the loops of `while`: without own metadata, LLVM gives them that of an inner loop whose exit
# is their back edge.
WHILE = ", !llvm.loop !30"
_METADATA = {
    NO_UNROLL: ("!1 = distinct !{!1, !2}", '!2 = !{!"llvm.loop.unroll.disable"}'),
    UNROLL: ("!3 = distinct !{!3, !4}", '!4 = !{!"llvm.loop.unroll.full"}'),
    UNROLL_BY_4: ("!5 = distinct !{!5, !6}", '!6 = !{!"llvm.loop.unroll.count", i32 4}'),
    NONTEMPORAL: ("!7 = !{i32 1}",),
    NO_VECTOR: ("!20 = distinct !{!20, !21}", '!21 = !{!"llvm.loop.vectorize.enable", i1 false}'),
    WHILE: ("!30 = distinct !{!30, !31}", '!31 = !{!"llvm.loop.unroll.disable"}'),
}
OPTIMIZATION_LEVELS = {
    NO_UNROLL: OptimizationLevel.FINAL,
    NO_VECTOR: OptimizationLevel.SHORT,
}  # of a function with such a loop


def metadata_definitions(marks: Collection[str]) -> tuple[str, ...]:
    """Return the definitions of the metadata in which branches and stores end, by number."""
    return tuple(
        [
            definition
            for mark, definitions in _METADATA.items()
            if mark in marks
            for definition in definitions
        ]
    )
