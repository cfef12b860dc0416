"""Directives: what may be done to a loop nest, as frozen passes of the ordinary pass runner.

`base.py` says what they are. `loops.py` changes which loops there are, `padding.py` how many steps
one has, `cutting.py` and `covering.py` what is left over, `kinds.py` how they run,
`accumulation.py` how reductions combine, `stretching.py` how parts of a scan follow one another,
`memory.py` what is kept in memory inside the kernel, `merging.py` what the sweep that reduces also
stores, `streaming.py` what goes past the caches, and what is asked for before its turn.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives.accumulation import (
    Accumulate,
    Rfactor,
    Unordered,
)
from xla_explorer.compiler.codegen.nest.directives.base import (
    MOST_LANES,
    Directive,
    DirectiveRefused,
    NestModule,
    Subject,
    fields_of,
    offsets_of,
    order_of_sums,
)
from xla_explorer.compiler.codegen.nest.directives.covering import Cover
from xla_explorer.compiler.codegen.nest.directives.cutting import Cut, Phases
from xla_explorer.compiler.codegen.nest.directives.framing import Frame
from xla_explorer.compiler.codegen.nest.directives.kinds import (
    MOST_COPIES,
    Parallel,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.directives.loops import (
    Collapse,
    Pair,
    Reorder,
    Sink,
    Split,
    Tile,
)
from xla_explorer.compiler.codegen.nest.directives.memory import Chain, Keep, Stage
from xla_explorer.compiler.codegen.nest.directives.merging import Merge
from xla_explorer.compiler.codegen.nest.directives.padding import Pad
from xla_explorer.compiler.codegen.nest.directives.streaming import Prefetch, Stream
from xla_explorer.compiler.codegen.nest.directives.stretching import Stretch

__all__ = [
    "DIRECTIVES",
    "MOST_COPIES",
    "MOST_LANES",
    "Accumulate",
    "Chain",
    "Collapse",
    "Cover",
    "Cut",
    "Directive",
    "DirectiveRefused",
    "Frame",
    "Keep",
    "Merge",
    "NestModule",
    "Pad",
    "Pair",
    "Parallel",
    "Phases",
    "Prefetch",
    "Reorder",
    "Rfactor",
    "Sink",
    "Split",
    "Stage",
    "Stream",
    "Stretch",
    "Subject",
    "Tile",
    "Unordered",
    "Unroll",
    "Vectorize",
    "fields_of",
    "offsets_of",
    "order_of_sums",
]

_ALL = (
    Split, Cut, Phases, Cover, Collapse, Reorder, Sink, Tile, Unroll, Vectorize, Parallel, Accumulate, Rfactor, Unordered, Stretch, Keep,
    Stage, Frame, Chain, Merge, Pad, Stream, Prefetch,
)  # fmt: skip
DIRECTIVES: dict[str, type[Directive]] = {d.name: d for d in _ALL}
