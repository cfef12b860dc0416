"""The schedule of GEMV and skinny GEMM: the large matrix is read once at memory bandwidth.

Threads go along rows or down columns, whichever is contiguous, with an accumulator for each row or
column of the skinny side. Source: xla/service/gpu/transforms/gemv_rewriter.cc names the shapes; the
kernels are ours.
"""

from __future__ import annotations

import math
from dataclasses import replace

from xla_explorer.compiler.codegen.nest.ir import Load, LoopNest, Reduce
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchArchitecture
from xla_explorer.compiler.codegen.nest.plan import Plan
from xla_explorer.compiler.codegen.nest.policies.launched.columns import column_schedule
from xla_explorer.compiler.codegen.nest.policies.launched.elementwise import loops_of
from xla_explorer.compiler.codegen.nest.policies.launched.rows import row_schedule
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import linearize

MOST_SKINNY = 16  # maximum rows or columns of the skinny side
SHORTEST = 32  # reduced elements


def skinny_gemm_schedule(
    nest: LoopNest, architecture: LaunchArchitecture, tuning: Tuning
) -> Schedule | Reason:
    """Return a schedule with threads along rows or down columns, or a refusal.

    The rows or columns are those of the large matrix.
    """
    plan = Plan(nest, tuning)
    plan.sink()
    loops = loops_of(plan.nest.body)
    if isinstance(loops, Reason):
        return loops
    s = next(
        (s for s in (loops[-1].body if loops else plan.nest.body) if isinstance(s, Reduce)), None
    )
    not_of_matrices = refuse(
        "dot-is-no-matrix-product",
        f"@{nest.name} must have one kept and one reduced dimension on each side",
    )
    loads = [x for x in s.body if isinstance(x, Load)] if s is not None else []
    if (
        s is None or not s.axes or not loads
    ):  # of zero or one step: the factors are loaded outside of the sum
        return not_of_matrices
    left, *others = loads
    right = others[0] if others else left  # a vector times itself is loaded once
    sides = [
        [loop.axis for loop in loops if not any(loop.axis in x.axes for x in other.place)]
        for other in (right, left)
    ]
    if max(map(len, sides)) > 1:
        return not_of_matrices
    kept = [math.prod([axis.extent for axis in side]) for side in sides]
    narrow = int(kept[1] < kept[0])
    reduced = math.prod([b.axis.extent for b in s.axes])
    if kept[narrow] > MOST_SKINNY or 0 in [loop.axis.extent for loop in loops]:
        text = (
            f"@{nest.name}: its narrower side has {kept[narrow]} rows or columns, where 1 to "
            f"{MOST_SKINNY} are skinny"
        )
        return refuse("neither-side-is-skinny", text, kept=kept[narrow], reduced=reduced)
    if reduced < SHORTEST:
        text = (
            f"@{nest.name} adds {reduced} products for an element, a warp needs at least {SHORTEST}"
        )
        return refuse("short-sums", text, kept=kept[narrow], reduced=reduced)
    wide, read = sides[1 - narrow], (left, right)[1 - narrow]
    array = nest.array(read.array)
    assert array is not None
    offset = linearize(read.place, array.shape.strides)
    by_rows = offset.coefficient(s.axes[-1].axis) == 1
    if not by_rows and (not wide or offset.coefficient(wide[0]) != 1):
        return refuse(
            "no-minor-dimension",
            f"@{nest.name}: the kept or the reduced dimension of the larger matrix must be its "
            "minor one",
        )
    few = plan.axis(sides[narrow][0]) if sides[narrow] else None
    skinny = few.name if few is not None else ""
    if few is not None and (narrow == 0) is by_rows and wide:  # outside of columns, inside of rows
        outer, inner = (few, plan.axis(wide[0])) if by_rows else (plan.axis(wide[0]), few)
        outer.reorder(inner)
    if few is not None and by_rows:
        few.unroll()
    # Threads combine as many sums as the skinny matrix has rows or columns, so fewer threads
    # combine than for one.
    if by_rows:
        count = math.prod([loop.axis.extent for loop in loops if loop.axis.name != skinny])
        group, each = WARP_SIZE, 8 * max(tuning.register_bytes // array.shape.element_type.bytes, 4)
        while (
            group < tuning.block
            and count * group < architecture.resident_threads // 4
            and reduced >= each * group
        ):
            group *= 2
        made = row_schedule(
            plan.nest, architecture, replace(tuning, largest_group=group), may_split=not skinny
        )
    else:
        made = column_schedule(
            plan.nest, architecture, replace(tuning, lone_block=tuning.block), skinny=skinny
        )
    if isinstance(made, Reason):
        return made
    reasoning = f"{kept[1 - narrow]} x {kept[narrow]} x {reduced}: {made.reasoning}"
    made = replace(made, emitter="skinny-dot", reasoning=reasoning)
    return (
        made
        if made.following is not None
        else replace(made, start=nest, directives=(*plan.directives, *made.directives))
    )
