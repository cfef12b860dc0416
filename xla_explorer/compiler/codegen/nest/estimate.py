"""An estimate of the time of a loop nest on one core of a CPU, for ranking schedules.

For each innermost body it takes the time of the execution units, or the latency of the longest
dependence chain if too few iterations overlap. Cache misses follow from the bytes that loops touch.
Measurements decide between the best schedules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xla_explorer.compiler.codegen.nest.accesses import Traffic, accesses_of
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    BoundAxis,
    Combination,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    Store,
    axes_of,
    elements_of,
    ids_of,
)
from xla_explorer.compiler.codegen.vector_math.recipe_cost import (
    PLAIN,
    InstructionCost,
    operation_cost,
)
from xla_explorer.compiler.target import HOST_LIKE, Target
from xla_explorer.hlo.analysis.indexing import Axis
from xla_explorer.hlo.primitive_type import PrimitiveType

_RUNNING = (AxisKind.SERIAL, AxisKind.PARALLEL)
_ONE_ELEMENT = 4  # bytes
_ITERATION, _START = 1.0, 8.0  # cycles of overhead: of an iteration, of a loop's start


@dataclass(frozen=True)
class Estimate:
    """The estimate of one run.

    Attributes
    ----------
    nanoseconds : float
        For instructions and memory, which overlap.
    cycles : float
        For the instructions, with loop overhead.
    instructions : float
        The number of executed instructions.
    bytes_beyond : mapping of str to int
        For each cache, the bytes from and to the next level.
    registers : int
        The most vector registers that are live at once in a body.
    loops : mapping of str to (int, float)
        For each axis, the executions of its body and its share of the cycles.
    limit : str
        What takes longest: `instructions`, or the bytes behind a cache.
    where : str
        The machine of the estimate.
    """

    nanoseconds: float
    cycles: float
    instructions: float
    bytes_beyond: Mapping[str, int]
    registers: int
    loops: Mapping[str, tuple[int, float]]
    limit: str
    where: str = "on one core"


@dataclass
class _BodyOf:
    """The work of one iteration of the innermost loop around some statements."""

    iterations: int
    axes: tuple[Axis, ...]
    cycles: float = 0.0
    instructions: float = 0.0
    path: float = 0.0
    carried: float = 0.0
    alive: int = 0
    fullest: int = 0
    ready: dict[int, float] = field(
        default_factory=dict
    )  # value -> cycles from the beginning of the iteration


def estimate(nest: LoopNest, n: Target = HOST_LIKE) -> Estimate:
    """Return the estimated time of a nest on one core, whatever its number of tasks."""
    bodies = _bodies(nest, n)
    spent = {key: body.iterations * _iteration_cycles(body, n) for key, body in bodies.items()}
    starts = sum(
        [
            _START * math.prod([axis.extent for axis in body.axes[:-1]])
            for body in bodies.values()
            if body.axes
        ]
    )
    cycles = sum(spent.values()) + starts
    accesses = accesses_of(nest)
    traffic = Traffic(accesses)
    levels = {f"L{k + 1}": cache for k, cache in enumerate(n.caches)}
    beyond = {
        name: sum([traffic.beyond(a, cache.bytes) for a in accesses])
        for name, cache in levels.items()
    }
    times = {name: beyond[name] / cache.refill for name, cache in levels.items()}
    compute, slowest = cycles / n.cores.gigahertz, max(times, key=lambda name: times[name])
    memory = times[slowest]
    loops: dict[str, tuple[int, float]] = {}
    for name, bound in nest.axes().items():
        inside = [key for key, body in bodies.items() if bound.axis in body.axes]
        around = max(
            [_iterations_until(bodies[key].axes, bound.axis) for key in inside],
            default=bound.axis.extent,
        )
        loops[name] = around, sum([spent[key] for key in inside]) / cycles if cycles else 0.0
    return Estimate(
        max(compute, memory) + 0.15 * min(compute, memory),
        cycles,
        sum([body.iterations * body.instructions for body in bodies.values()]),
        beyond,
        max([body.fullest for body in bodies.values()], default=0),
        loops,
        "instructions" if compute >= memory else f"bytes behind {slowest}",
    )


def register_bytes(target: Target) -> int:
    """Return the bytes of the registers that a nest is estimated for, at least one element."""
    return max(target.vector.bytes, _ONE_ELEMENT)


def _iterations_until(axes: Sequence[Axis], last: Axis) -> int:
    return math.prod([axis.extent for axis in axes[: axes.index(last) + 1]])


def _iteration_cycles(body: _BodyOf, n: Target) -> float:
    """Return the cycles of an iteration.

    Dependence chains of several iterations overlap as far as the window holds their instructions.
    """
    spilled = max(body.fullest - n.vector.registers, 0)
    in_flight = max(1.0, n.cores.window / max(body.instructions, 1.0)) if body.axes else 1.0
    return max(body.cycles + spilled, body.path / in_flight, body.carried) + (
        _ITERATION if body.axes else 0.0
    )


def _bodies(nest: LoopNest, n: Target) -> dict[tuple[str, ...], _BodyOf]:
    """Return the bodies of loops that run, by the names of these loops."""
    depends: dict[int, frozenset[Axis]] = {}
    uses = _last_uses(nest)
    found: dict[tuple[str, ...], _BodyOf] = {}
    live: dict[int, tuple[_BodyOf, int]] = {}
    for position, (s, around) in enumerate(nest.statements()):
        if isinstance(s, For | Allocate):
            continue
        path = [b for x in around for b in axes_of(x)]
        own = list(axes_of(s))
        inputs = _operands(s)
        needed = _own_axes(s).union(*[depends.get(o, frozenset()) for o in inputs])
        if isinstance(s, Reduce):
            inner = [b for b in own if b.kind in _RUNNING]
            for number in s.ids:  # the axes of its values are known only later: take all
                depends[number] = frozenset([b.axis for b in path])
            depends.update(dict.fromkeys(s.running, frozenset([b.axis for b in (*path, *own)])))
            body = _body_at(found, [*[b for b in path if b.kind in _RUNNING], *inner])
            registers = _registers(
                s.elements[0], [*path, *own], needed | {b.axis for b in [*path, *own]}, n
            ) * len(s.ids)
            steps = len(s.combiner.body) if isinstance(s.combiner, Combination) else 1
            lanes = max([b.axis.extent for b in own if b.kind is AxisKind.VECTOR], default=1)
            if (
                s.each and lanes > 1
            ):  # log2(lanes) shifted combinations, one with the carry, and the new carry
                body.cycles += PLAIN.cycles * registers * 2 * (math.log2(lanes) + 1)
                body.instructions += registers * 2 * (math.log2(lanes) + 1)
            body.cycles += PLAIN.cycles * registers * steps
            body.instructions += registers * steps
            body.carried = max(body.carried, PLAIN.latency * steps if inner else 0.0)
            body.alive += registers
            body.fullest = max(body.fullest, body.alive)
            outer = _body_at(found, [b for b in path if b.kind in _RUNNING])
            outer.cycles += PLAIN.latency * math.log2(lanes) if lanes > 1 and not s.each else 0.0
            continue
        for number in ids_of(s):
            depends[number] = needed
        running = [b for b in path if b.kind in _RUNNING]
        while (
            running and running[-1].axis not in needed
        ):  # the builder places a value in the outermost loop that has its operands
            running.pop()
        body = _body_at(found, running)
        element = elements_of(s)[0] if elements_of(s) else _stored(nest, s)
        registers = _registers(element, path, needed, n)
        cost = _instruction_cost(nest, s, path, n)
        body.cycles += cost.cycles * registers
        body.instructions += cost.instructions * registers
        start = max([body.ready.get(o, 0.0) for o in inputs], default=0.0)
        for number in ids_of(s):
            body.ready[number] = start + cost.latency
            live[number] = body, registers
            body.alive += registers
        body.path = max(body.path, start + cost.latency)
        body.fullest = max(body.fullest, body.alive)
        for number in [o for o in dict.fromkeys(inputs) if uses.get(o) == position and o in live]:
            place, count = live.pop(number)
            place.alive -= count
    return found


def _body_at(found: dict[tuple[str, ...], _BodyOf], running: Sequence[BoundAxis]) -> _BodyOf:
    axes = tuple([b.axis for b in running])
    key = tuple([axis.name for axis in axes])
    return found.setdefault(key, _BodyOf(math.prod([axis.extent for axis in axes]), axes))


def _operands(s: Statement) -> tuple[int, ...]:
    if isinstance(s, Compute):
        return s.operands
    if isinstance(s, Store):
        return (s.value,)
    if isinstance(s, SelectRegion):
        return tuple([case.value for case in s.cases])
    return s.initial if isinstance(s, Reduce) else ()


def _last_uses(nest: LoopNest) -> dict[int, int]:
    return {o: position for position, (s, _) in enumerate(nest.statements()) for o in _operands(s)}


def _own_axes(s: Statement) -> frozenset[Axis]:
    """Return the axes in the indices of a statement itself."""
    if isinstance(s, Load | Store):
        return frozenset().union(*[x.axes for x in s.place])
    if isinstance(s, Iota):
        return s.index.axes
    if isinstance(s, SelectRegion):
        return frozenset().union(*[g.expression.axes for case in s.cases for g in case.guards])
    return frozenset()


def _stored(nest: LoopNest, s: Statement) -> PrimitiveType | None:
    array = nest.array(s.array) if isinstance(s, Store) else None
    return array.shape.element_type if array is not None else None


def _registers(
    element: PrimitiveType | None, path: Sequence[BoundAxis], needed: frozenset[Axis], n: Target
) -> int:
    """Return the registers of a value: its unrolled instances times registers for its lanes."""
    instances = math.prod(
        [b.axis.extent for b in path if b.kind is AxisKind.UNROLLED and b.axis in needed]
    )
    lanes = math.prod(
        [b.axis.extent for b in path if b.kind is AxisKind.VECTOR and b.axis in needed]
    )
    bytes_each = (
        max(element.bits // 8, 4) if element is not None else 4
    )  # narrow floats are computed as f32
    return instances * max(1, -(-lanes * bytes_each // register_bytes(n)))


def _instruction_cost(
    nest: LoopNest, s: Statement, path: Sequence[BoundAxis], n: Target
) -> InstructionCost:
    """Return the cost of a statement for one register."""
    if isinstance(s, Constant):
        return InstructionCost(0.0, 0.0, 0)
    if isinstance(s, Load | Store):
        array = nest.array(s.array)
        vector = next((b.axis for b in path if b.kind is AxisKind.VECTOR), None)
        steps = [x.coefficient(vector) for x in s.place] if vector is not None else []
        last = array.shape.layout.minor_to_major[:1] if array is not None else ()
        scattered = any(
            step not in (0, 1) or (step == 1 and k not in last) for k, step in enumerate(steps)
        )
        lanes = register_bytes(n) // 4 if scattered else 1
        return InstructionCost(
            (1.0 if isinstance(s, Store) else 0.5) * lanes,
            0.0 if isinstance(s, Store) else 6.0,
            lanes,
        )
    if isinstance(s, Compute):
        return operation_cost(s.opcode.name, s.element, register_bytes(n) // 4)
    return (
        InstructionCost(PLAIN.cycles * len(s.cases), PLAIN.latency)
        if isinstance(s, SelectRegion)
        else PLAIN
    )
