"""The policy of elementwise kernels: loops collapsed, vectors along memory, copies in registers, a tail of its own."""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives import Collapse, Cut, Parallel, Split, Unroll, Vectorize
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Choose,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    Statement,
    Store,
    ids_of,
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
    width_in_memory,
)
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.transformations import loop_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, RuntimeValue
from xla_explorer.hlo.primitive_type import BF16

MOST_UNIFORM_SHIFTS = 2
MOST_CUTS = 12  # of loops into pieces

SHORT_ROW = 16  # steps of an inner loop that is mostly what registers leave over

def elementwise_policy(nest: LoopNest, tuning: Tuning, parts: int = 1) -> Schedule | Reason:
    """The schedule of a nest of elementwise code along contiguous memory. parts: shares for threads, where that is possible."""
    reason = _is_another_family(nest, tuning)
    if reason is not None:
        return reason
    plan = Plan(nest, tuning)
    reason = in_pieces(plan)
    if reason is not None:
        return reason
    for name in [s.axis.name for s in plan.nest.body if isinstance(s, For)]:
        reason = _loops(plan, name)
        if reason is not None:
            return reason
    if parts > 1:
        _in_shares(plan, parts)
    return plan.schedule()


def _is_another_family(nest: LoopNest, tuning: Tuning) -> Reason | None:
    for array in nest.arrays:
        if array.written and array.shape.byte_size >= tuning.streamed_bytes:
            return refuse("family-not-moved", f"%{array.name} is written past the cache; such kernels are not made from nests yet")
        if array.shape.element_type is BF16:
            return refuse("family-not-moved", f"%{array.name} is bf16, read as words of two; such kernels are not made from nests yet")
    for s, _ in walk(nest.body):
        if isinstance(s, Load) and any(isinstance(atom, RuntimeValue) for x in s.place for atom in x.atoms()):
            return refuse("family-not-moved", f"@{nest.name} reads where values say; such kernels are not made from nests yet")
        if isinstance(s, Reduce):
            return refuse("family-not-moved", f"@{nest.name} reduces; such kernels are not made from nests yet")
    return None


def _loops(plan: Plan, name: str) -> Reason | None:
    """One loop of the kernel with all that is inside."""
    pieces = any(isinstance(d, Cut) for d in plan.directives)
    loop = loop_of(plan.nest, name)
    assert isinstance(loop, For)
    chain = chain_of(loop)
    while len(chain) > 1:
        outer, inner = chain[-2].axis, chain[-1].axis
        if not collapses(plan.nest, chain[-1].body, outer, inner):
            break
        plan.do(Collapse(outer.name, inner.name))
        first = chain[0].axis.name if len(chain) > 2 else outer.name + inner.name
        loop = loop_of(plan.nest, first)
        assert isinstance(loop, For)
        chain = chain_of(loop)
    loops = [chain[0].axis, *[s.axis for s, _ in walk(chain[0].body) if isinstance(s, For)]]
    for axis in loops:
        one = loop_of(plan.nest, axis.name)
        assert isinstance(one, For)
        if not any(isinstance(s, For) for s in one.body) and (reason := _vectors(plan, one, pieces)) is not None:
            return reason
    return None


def in_pieces(plan: Plan) -> Reason | None:
    """Loops are cut where a choice of what to read changes, until nothing is left to choose: pads, concatenates."""
    cuts = 0
    while (choice := next((s for s, _ in walk(plan.nest.body) if isinstance(s, Choose)), None)) is not None:
        found = next((place for case in choice.cases for g in case.guards if (place := _change_of(g)) is not None), None)
        cuts += 1
        if found is None or cuts > MOST_CUTS or not isinstance(loop_of(plan.nest, found[0].name), For):
            return refuse("family-not-moved", f"@{plan.nest.name} chooses where to read; such kernels are not made from nests yet")
        plan.do(Cut(found[0].name, found[1]))
    return None


def _change_of(g: Guard) -> tuple[Axis, int] | None:
    """An axis, and the step of it from which on the guard holds or no longer does."""
    if len(g.expression.terms) != 1:
        return None
    ((axis, factor),) = g.expression.terms
    if not isinstance(axis, Axis) or abs(factor) != 1:
        return None
    below, above = -g.expression.constant * factor, (g.bound - g.expression.constant) * factor
    first, second = (below, above) if factor == 1 else (above + 1, below + 1)
    return next(((axis, step) for step in (first, second) if 0 < step < axis.extent), None)


def _vectors(plan: Plan, loop: For, pieces: bool) -> Reason | None:
    """pieces: the loop may be what was cut off, and shorter than a register."""
    axis, tuning = loop.axis, plan.tuning
    if axis.extent == 1:
        return None
    for s, offset in accesses(plan.nest, loop.body):
        step = offset.coefficient(axis)
        if step not in ((1,) if isinstance(s, Store) else (0, 1)):
            return refuse("not-along-memory", f"%{s.array} is at {offset}, not at neighbours along {axis}", offset=str(offset))
    statements = statements_of(loop.body)
    if (reason := _shifts_are_uniform(plan.nest, statements)) is not None:
        return reason
    lanes = lanes_for(plan.nest, statements, tuning)
    if any(isinstance(s, Iota) and s.element.bytes * lanes > tuning.register_bytes for s in statements):
        return refuse("wide-iota", f"@{plan.nest.name} counts in more bits than it stores")
    if axis.extent < lanes and pieces:
        tail(plan, axis.name, lanes)
        return None
    short = axis.extent < SHORT_ROW and axis.extent % lanes and loop not in plan.nest.body and not pieces
    if axis.extent < lanes or short:
        return refuse("short-rows", f"{axis} has {axis.extent} steps, a register {lanes} lanes", steps=axis.extent, lanes=lanes)
    copies = _copies(statements, axis.extent // lanes, tuning)
    whole = axis.extent - axis.extent % (lanes * copies)
    name, rest = axis.name, ""
    if whole < axis.extent:
        plan.do(Cut(name, whole))
        name, rest = f"{axis.name}m", f"{axis.name}r"
    in_registers(plan, name, lanes, copies)
    if rest:
        tail(plan, rest, lanes)
    return None


def lanes_for(nest: LoopNest, statements: list[Statement], tuning: Tuning) -> int:
    """What a register has of the widest elements in memory; values that are computed in wider types take two at most."""
    memory = [width_in_memory(nest, s) for s in statements if isinstance(s, (Load, Store))]
    return max(min(tuning.register_bytes // max(memory), 2 * tuning.register_bytes // widest(statements)), 2)


def _shifts_are_uniform(nest: LoopNest, statements: list[Statement]) -> Reason | None:
    """LLVM decides before a loop whether amounts that are the same in all of it are below the width, and makes loops of both."""
    inside = {n for s in statements for n in ids_of(s)}
    constants = {s.id for s, _ in walk(nest.body) if isinstance(s, Constant)}
    shifts = [s for s in statements if isinstance(s, Compute) and s.opcode.name.startswith("shift-")]
    uniform = sum([s.operands[1] not in inside | constants for s in shifts])
    if uniform <= MOST_UNIFORM_SHIFTS:
        return None
    return refuse("uniform-shifts", f"{uniform} shifts of @{nest.name} are by amounts known before the loop", shifts=uniform)


def _copies(statements: list[Statement], most: int, tuning: Tuning) -> int:
    """How many registers each value has."""
    copies = tuning.heavy if calls_functions(statements) else tuning.copies if len(statements) <= tuning.cheap else 1
    while copies > 1 and (copies > most or copies * len(statements) > tuning.most_statements):
        copies //= 2
    return copies


def in_registers(plan: Plan, name: str, lanes: int, copies: int) -> None:
    """An axis of whole registers."""
    if copies > 1:
        plan.do(Split(name, lanes * copies))
        plan.do(Split(f"{name}i", lanes))
        plan.do(Unroll(f"{name}io"))
        plan.do(Vectorize(f"{name}ii"))
    else:
        plan.do(Split(name, lanes))
        plan.do(Vectorize(f"{name}i"))


def tail(plan: Plan, name: str, lanes: int) -> None:
    """Less than what the registers of the loop take: in masked registers where the target has these, else in ever narrower ones."""
    axis = plan.nest.axes()[name].axis
    if lanes < axis.extent and axis.extent % lanes:
        whole = axis.extent - axis.extent % lanes
        plan.do(Cut(name, whole))
        in_registers(plan, f"{name}m", lanes, 1)
        name = f"{name}r"
        axis = plan.nest.axes()[name].axis
    loop = loop_of(plan.nest, name)
    assert isinstance(loop, For)
    arrays = [plan.nest.array(s.array) for s in statements_of(loop.body) if isinstance(s, (Load, Store))]
    sizes = {a.shape.element_type.bytes // (2 if a.shape.element_type.is_complex else 1) for a in arrays if a is not None}
    if axis.extent > 1 and (sizes <= plan.tuning.masks or axis.extent % lanes == 0):
        plan.do(Split(name, min(lanes, axis.extent) if axis.extent % lanes == 0 else _power_above(min(axis.extent, lanes))))
        plan.do(Vectorize(f"{name}i"))
        return
    while axis.extent > 1:
        whole = min(lanes, 1 << (axis.extent.bit_length() - 1))
        steps = axis.extent - axis.extent % whole
        if steps < axis.extent:
            plan.do(Cut(axis.name, steps))
        main = axis.name if steps == axis.extent else f"{axis.name}m"
        plan.do(Split(main, whole))
        plan.do(Vectorize(f"{main}i"))
        if steps == axis.extent:
            return
        axis = plan.nest.axes()[f"{axis.name}r"].axis


def _power_above(n: int) -> int:
    return 1 << (n - 1).bit_length()


def _in_shares(plan: Plan, parts: int) -> None:
    """Every loop that is long enough is cut into shares; the last of these does the others."""
    for name in [s.axis.name for s in plan.nest.body if isinstance(s, For) and s.kind is AxisKind.SERIAL and s.axis.extent >= parts]:
        plan.do(Parallel(name, parts))

