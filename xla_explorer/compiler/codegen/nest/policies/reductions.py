"""The policy of reductions: several accumulators in registers along rows; columns side by side in registers."""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives import Collapse, Cut, Parallel, Rfactor, Split, Unroll, Vectorize
from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Choose,
    Combination,
    For,
    Load,
    LoopNest,
    Reduce,
    Statement,
    Store,
    elements_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.policies.base import (
    Plan,
    Tuning,
    accesses,
    calls_functions,
    chain_of,
    collapses,
    statements_of,
    widest,
)
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.transformations import loop_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, RuntimeValue

CHUNK = 4096  # elements summed before a partial sum joins the total: rounding errors grow with the chunk, not with the run
STREAMS = 4  # places of one long sum that are read at once
REGISTERS = 16  # of columns whose sums stay in registers


def reduction_policy(nest: LoopNest, tuning: Tuning, parts: int = 1) -> Schedule | Reason:
    """The schedule of a nest whose results are reductions. parts: shares for threads, where that is possible."""
    if (reason := _is_another_family(nest)) is not None:
        return reason
    plan = Plan(nest, tuning)
    chain = _kept(plan)
    body = chain[-1].body if chain else plan.nest.body
    for s in [s for s in body if isinstance(s, Reduce)]:
        _collapse(plan, s)
    chain = _kept(plan)
    body = chain[-1].body if chain else plan.nest.body
    reductions = [s for s in body if isinstance(s, Reduce)]
    rows = [_row_axis(plan.nest, s) for s in reductions]
    along_rows = all(axis is not None for axis in rows)
    _collapse_kept(plan, chain if along_rows else chain[:-1])
    chain = _kept(plan)
    if along_rows:
        for s, axis in zip(reductions, rows, strict=True):
            assert axis is not None
            if (reason := _rows(plan, s, axis)) is not None:
                return reason
    elif chain and _runs_along(plan.nest, chain[-1].body, chain[-1].axis):
        if (reason := _columns(plan, chain[-1], reductions)) is not None:
            return reason
    else:
        return refuse("not-along-memory", f"@{nest.name} reads neither its rows nor its columns along memory")
    return plan.schedule() if parts == 1 else _shared(plan, parts)


def _is_another_family(nest: LoopNest) -> Reason | None:
    """None for reductions inside loops that contain nothing else."""
    work = [s for s in nest.body if isinstance(s, For | Reduce | Choose)]
    loops = [s for s in nest.body if isinstance(s, For)]
    inner = chain_of(loops[0])[-1].body if len(loops) == 1 else nest.body
    reductions = [s for s in inner if isinstance(s, Reduce)]
    if not reductions or (loops and len(work) > 1) or any(isinstance(s, For) for s in inner):
        return refuse("family-not-moved", f"@{nest.name} is not a reduction in loops of its own")
    for s, _ in walk(inner):
        if isinstance(s, Reduce) and s not in reductions:
            return refuse("family-not-moved", f"@{nest.name} reduces inside of a reduction; such kernels are not made from nests yet")
        if isinstance(s, Load) and any(isinstance(atom, RuntimeValue) for x in s.place for atom in x.atoms()):
            return refuse("family-not-moved", f"@{nest.name} reads where values say; such kernels are not made from nests yet")
        if isinstance(s, Choose):
            return refuse("family-not-moved", f"@{nest.name} chooses where to read; such kernels are not made from nests yet")
        if isinstance(s, Reduce) and (isinstance(s.combiner, Combination) or s.guards):
            return refuse("family-not-moved", f"@{nest.name} combines by several operations, or under conditions")
        if any(t.is_complex or t.is_pred for t in elements_of(s)) and isinstance(s, Reduce):
            return refuse("family-not-moved", f"@{nest.name} reduces {elements_of(s)[0]}; such kernels are not made from nests yet")
    if any(0 in a.shape.dimensions for a in nest.arrays):
        return refuse("family-not-moved", f"@{nest.name} reduces nothing")
    return None


def _kept(plan: Plan) -> list[For]:
    """The loops over the results, outermost first."""
    loop = next((s for s in plan.nest.body if isinstance(s, For)), None)
    return chain_of(loop) if loop is not None else []


def _collapse_kept(plan: Plan, chain: list[For]) -> None:
    """Loops over results as one where memory has them as one."""
    axes = [loop.axis for loop in chain]
    while len(axes) > 1 and collapses(plan.nest, chain[-1].body, axes[-2], axes[-1]):
        plan.do(Collapse(axes[-2].name, axes[-1].name))
        chain = _kept(plan)[: len(axes) - 1]
        axes = [loop.axis for loop in chain]


def _collapse(plan: Plan, s: Reduce) -> None:
    """Axes that are reduced as one where memory has them as one."""
    axes = [b.axis for b in s.axes]
    while len(axes) > 1:
        k = next((k for k in range(len(axes) - 1) if collapses(plan.nest, s.body, axes[k], axes[k + 1])), None)
        if k is None:
            return
        plan.do(Collapse(axes[k].name, axes[k + 1].name))
        found = loop_of(plan.nest, axes[k].name + axes[k + 1].name)
        assert isinstance(found, Reduce)
        s, axes = found, [b.axis for b in found.axes]


def _row_axis(nest: LoopNest, s: Reduce) -> Axis | None:
    """The last axis of a reduction, where all that is read for it lies side by side along that axis."""
    axis = s.axes[-1].axis
    return axis if _runs_along(nest, s.body, axis) else None


def _runs_along(nest: LoopNest, body: Body, axis: Axis) -> bool:
    """Whether every access is to neighbours along an axis, or to one element; some are to neighbours, stores among them."""
    found = [(s, offset.coefficient(axis)) for s, offset in accesses(nest, body)]
    return any(step == 1 for _, step in found) and all(step == 1 or (step == 0 and isinstance(s, Load)) for s, step in found)


def _lanes(body: Body, tuning: Tuning) -> int:
    return max(tuning.register_bytes // widest(statements_of(body)), 2)


# -- rows --------------------------------------------------------------------------------------------------------------------
def _rows(plan: Plan, s: Reduce, axis: Axis) -> Reason | None:
    lanes = _lanes((s,), plan.tuning)
    if axis.extent < lanes:
        return refuse("short-rows", f"{axis} has {axis.extent} steps, a register {lanes} lanes", steps=axis.extent, lanes=lanes)
    statements = statements_of(s.body)
    copies = 2 if calls_functions(statements) else plan.tuning.copies
    while copies > 1 and copies * lanes > axis.extent:
        copies //= 2
    name = axis.name
    if _sums_floats(s) and axis.extent >= 16 * CHUNK and len(s.axes) == 1:
        _streams(plan, axis, lanes)
        return None
    if _sums_floats(s) and axis.extent >= 2 * CHUNK:
        whole = _whole(axis.extent, CHUNK, lanes)
        if whole < axis.extent:
            plan.do(Cut(name, whole))
            _row(plan, f"{name}r", axis.extent - whole, lanes, copies)
            name = f"{name}m"
        plan.do(Split(name, CHUNK))
        plan.do(Rfactor(f"{name}o"))
        _row(plan, f"{name}i", CHUNK, lanes, copies)
        return None
    _row(plan, name, axis.extent, lanes, copies)
    return None


def _streams(plan: Plan, axis: Axis, lanes: int) -> None:
    """A sum long enough to read it at several places at once, chunk by chunk at each."""
    name, copies = axis.name, plan.tuning.copies
    whole = _whole(axis.extent, STREAMS * CHUNK, lanes)
    if whole < axis.extent:
        plan.do(Cut(name, whole))
        _row(plan, f"{name}r", axis.extent - whole, lanes, copies)
        name = f"{name}m"
    plan.do(Split(name, whole // STREAMS))
    plan.do(Split(f"{name}i", CHUNK))
    plan.do(Rfactor(f"{name}io"))
    _registers(plan, f"{name}ii", lanes, 1)
    plan.do(Unroll(f"{name}o"))


def _row(plan: Plan, name: str, extent: int, lanes: int, copies: int) -> None:
    """One axis in registers: whole turns, then the rest in as few registers as it takes."""
    while copies > 1 and copies * lanes > extent:
        copies //= 2
    whole = _whole(extent, lanes * copies, lanes)
    if 0 < whole < extent:
        plan.do(Cut(name, whole))
        _rest(plan, f"{name}r", extent - whole, lanes)
        name = f"{name}m"
    if whole:
        _registers(plan, name, lanes, copies)
    else:
        _rest(plan, name, extent, lanes)


def _rest(plan: Plan, name: str, extent: int, lanes: int) -> None:
    """Fewer elements than a turn takes."""
    s = loop_of(plan.nest, name)
    assert s is not None
    if extent % lanes and not _has_masks(plan, s):
        if extent > lanes:
            plan.do(Cut(name, extent - extent % lanes))
            _rest(plan, f"{name}m", extent - extent % lanes, lanes)
        return
    if extent > 1:
        plan.do(Split(name, lanes))
        plan.do(Unroll(f"{name}o"))
        plan.do(Vectorize(f"{name}i"))


def _whole(extent: int, turn: int, least: int) -> int:
    """Elements of whole turns, the last of which goes to a rest that would be less than a register."""
    whole = extent - extent % turn
    return whole - turn if 0 < extent - whole < least else whole


def _has_masks(plan: Plan, s: Statement) -> bool:
    arrays = [plan.nest.array(x.array) for x, _ in walk((s,)) if isinstance(x, Load | Store)]
    return {a.shape.element_type.bytes for a in arrays if a is not None} <= plan.tuning.masks


def _registers(plan: Plan, name: str, lanes: int, copies: int) -> None:
    """An axis of whole turns."""
    if copies == 1:
        plan.do(Split(name, lanes))
        plan.do(Vectorize(f"{name}i"))
        return
    plan.do(Split(name, lanes * copies))
    plan.do(Split(f"{name}i", lanes))
    plan.do(Unroll(f"{name}io"))
    plan.do(Vectorize(f"{name}ii"))


def _sums_floats(s: Reduce) -> bool:
    return not isinstance(s.combiner, Combination) and s.combiner.name == "add" and s.elements[0].is_float


# -- columns -----------------------------------------------------------------------------------------------------------------
def _columns(plan: Plan, loop: For, reductions: list[Reduce]) -> Reason | None:
    axis, lanes = loop.axis, _lanes(loop.body, plan.tuning)
    if axis.extent < lanes or axis.extent % lanes:
        return refuse("short-rows", f"{axis} has {axis.extent} steps, not whole registers of {lanes} lanes", steps=axis.extent, lanes=lanes)
    most = REGISTERS // len(reductions)
    registers = axis.extent // lanes
    if registers <= most:
        if registers > 1:
            plan.do(Split(axis.name, lanes))
            plan.do(Unroll(f"{axis.name}o"))
            plan.do(Vectorize(f"{axis.name}i"))
        else:
            plan.do(Vectorize(axis.name)) if axis.extent & (axis.extent - 1) == 0 else plan.do(Split(axis.name, lanes))
        return None
    return refuse("family-not-moved", f"@{plan.nest.name} has sums of {axis.extent} columns, more than registers hold")


# -- threads -----------------------------------------------------------------------------------------------------------------
def _shared(plan: Plan, parts: int) -> Schedule | Reason:
    """The outermost loop over results in shares."""
    chain = _kept(plan)
    alone = len([s for s in plan.nest.body if isinstance(s, For | Reduce | Store)]) == 1
    if not chain or not alone or chain[0].axis.extent < parts:
        return refuse("not-cut", f"@{plan.nest.name} has no loop over results of {parts} steps", parts=parts)
    plan.do(Parallel(chain[0].axis.name, parts))
    return plan.schedule()
