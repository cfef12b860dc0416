"""Directives of schedules: legal changes of a loop nest, each a frozen pass of the pass runner.

`base.py` defines them. By subject, with the names that other compilers use:

- which loops there are: `splits.py` (with the tails of a split), `index_set_splitting.py` (Exo's
  `cut_loop`), `loops.py` (collapse, reorder, sink, tile), `padding.py`;
- how a loop runs: `kinds.py` (unroll, vectorize, parallel), `gpu_directives.py`;
- reductions: `reduction_interchange.py`, `partial_results.py` (Halide's and TVM's `rfactor`),
  `chunked_scan.py` (reduce-then-scan);
- memory inside a kernel: `compute_at.py`, `staging.py` (TVM's `cache_read`), `padded_staging.py`;
- loop fusion: `loop_fusion.py`, `reduction_fusion.py`;
- caches: `streaming.py` (non-temporal stores, prefetches).
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives.base import (
    MOST_LANES,
    Directive,
    DirectiveRefusedError,
    NestModule,
    Subject,
    fields_of,
    offsets_of,
    order_of_sums,
)
from xla_explorer.compiler.codegen.nest.directives.chunked_scan import ChunkScan
from xla_explorer.compiler.codegen.nest.directives.compute_at import ComputeAt
from xla_explorer.compiler.codegen.nest.directives.index_set_splitting import (
    CutLoop,
    SplitByResidue,
)
from xla_explorer.compiler.codegen.nest.directives.kinds import (
    MOST_UNROLLED,
    Parallel,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.directives.loop_fusion import FuseLoops
from xla_explorer.compiler.codegen.nest.directives.loops import (
    Collapse,
    Pair,
    Reorder,
    Sink,
    TileLoops,
)
from xla_explorer.compiler.codegen.nest.directives.padded_staging import StagePadded
from xla_explorer.compiler.codegen.nest.directives.padding import Pad
from xla_explorer.compiler.codegen.nest.directives.partial_results import Reassociate, Rfactor
from xla_explorer.compiler.codegen.nest.directives.reduction_fusion import FuseIntoReduction
from xla_explorer.compiler.codegen.nest.directives.reduction_interchange import (
    InterchangeReduction,
)
from xla_explorer.compiler.codegen.nest.directives.splits import TAILS, Split, Tail
from xla_explorer.compiler.codegen.nest.directives.staging import Stage
from xla_explorer.compiler.codegen.nest.directives.streaming import Prefetch, Stream

__all__ = [
    "DIRECTIVES",
    "MOST_LANES",
    "MOST_UNROLLED",
    "TAILS",
    "ChunkScan",
    "Collapse",
    "ComputeAt",
    "CutLoop",
    "Directive",
    "DirectiveRefusedError",
    "FuseIntoReduction",
    "FuseLoops",
    "InterchangeReduction",
    "NestModule",
    "Pad",
    "Pair",
    "Parallel",
    "Prefetch",
    "Reassociate",
    "Reorder",
    "Rfactor",
    "Sink",
    "Split",
    "SplitByResidue",
    "Stage",
    "StagePadded",
    "Stream",
    "Subject",
    "Tail",
    "TileLoops",
    "Unroll",
    "Vectorize",
    "fields_of",
    "offsets_of",
    "order_of_sums",
]

_ALL = (
    Split, CutLoop, SplitByResidue, Collapse, Reorder, Sink, TileLoops, Unroll, Vectorize, Parallel,
    InterchangeReduction, Rfactor, Reassociate, ChunkScan, ComputeAt, Stage, StagePadded, FuseLoops, FuseIntoReduction,
    Pad, Stream, Prefetch,
)  # fmt: skip
DIRECTIVES: dict[str, type[Directive]] = {d.name: d for d in _ALL}
