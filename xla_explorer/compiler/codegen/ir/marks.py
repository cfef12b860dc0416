"""Metadata of branches and stores: how LLVM treats a loop, and stores past the caches."""

from __future__ import annotations

from collections.abc import Collection

from xla_explorer.compiler.codegen.ir.definitions import Metadata, node_list
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel

# Marks: metadata of branches and stores. A module defines that of its functions
# (`metadata_definitions`).
NO_UNROLL = "!llvm.loop !1"  # for loops in their final form: see `OptimizationLevel.FINAL`
UNROLL = "!llvm.loop !3"
UNROLL_BY_4 = "!llvm.loop !5"  # for scalar loops, whose iterations overlap after interleaving
NONTEMPORAL = "!nontemporal !7"  # for non-temporal stores
NO_VECTOR = "!llvm.loop !20"  # for loops that cannot be vectorised: see `OptimizationLevel.SHORT`
# For the loops of `while`: without own metadata, LLVM gives them that of an inner loop whose exit
# is their back edge.
WHILE = "!llvm.loop !30"


def _of_loop(number: int, option: str) -> tuple[Metadata, ...]:
    """Return a loop's node, which refers to itself, and the node of its option."""
    distinct = f"distinct {node_list(number, number + 1)}"
    return Metadata(number, distinct), Metadata(number + 1, f"!{{{option}}}")


_METADATA = {
    NO_UNROLL: _of_loop(1, '!"llvm.loop.unroll.disable"'),
    UNROLL: _of_loop(3, '!"llvm.loop.unroll.full"'),
    UNROLL_BY_4: _of_loop(5, '!"llvm.loop.unroll.count", i32 4'),
    NONTEMPORAL: (Metadata(7, "!{i32 1}"),),
    NO_VECTOR: _of_loop(20, '!"llvm.loop.vectorize.enable", i1 false'),
    WHILE: _of_loop(30, '!"llvm.loop.unroll.disable"'),
}
OPTIMIZATION_LEVELS = {
    NO_UNROLL: OptimizationLevel.FINAL,
    NO_VECTOR: OptimizationLevel.SHORT,
}  # of a function with such a loop


def metadata_definitions(marks: Collection[str]) -> tuple[Metadata, ...]:
    """Return the definitions of the metadata in which branches and stores end, by number."""
    return tuple(
        [
            definition
            for mark, definitions in _METADATA.items()
            if mark in marks
            for definition in definitions
        ]
    )
