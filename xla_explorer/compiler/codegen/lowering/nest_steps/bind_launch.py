"""The step `bind-launch`: steps of launched axes become numbers of threads, blocks and tasks.

A block number counts the steps of the `block` axes around a statement. A thread number counts those
of the `thread` axes and, fastest, of the `warp` axis. A statement that has fewer of these axes
around it than the launch is executed by all threads. Only one of them stores: the others skip a
loop of one step whose guards compare the remaining numbers with 0.

If threads combine values by shuffles, the last warp of a block is filled with threads that repeat
the work of others and store nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from xla_explorer.compiler.codegen.lowering.nest_step import NestStep
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Barrier,
    Body,
    BoundAxis,
    For,
    LoopNest,
    Reduce,
    Statement,
    Store,
    axes_of,
    with_bodies,
)
from xla_explorer.compiler.codegen.nest.launch import (
    crosses_threads,
    extent_of,
    launch_of,
    opened_axes,
)
from xla_explorer.compiler.codegen.nest.lowered_axes import AxisForm
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.hlo.analysis.indexing import Axis, Guard, IndexExpression, index

TASK, BLOCK, THREAD = "task", "block", "thread"  # names of the numbers


def bound(nest: LoopNest) -> LoopNest:
    """Return the nest with a number for each launched axis, and guards of stores."""
    binding = _Binding(nest)
    body = binding.body(nest.body, (), alone=False)
    changed = nest if body is nest.body else replace(nest, body=body)
    return changed.with_forms(binding.forms, (binding.block, binding.thread))


def bound_to_tasks(nest: LoopNest) -> LoopNest:
    """Return the nest whose parallel loops of one step a task are bound to the task's number."""
    task = Axis(TASK, nest.tasks)
    forms = {
        s.axis.name: nest.form(s.axis)._replace(number=index(task))
        for s in nest.body
        if isinstance(s, For) and s.kind is AxisKind.PARALLEL and s.axis.extent == nest.tasks
    }
    return nest.with_forms(forms, (task,)) if forms else nest


class _Binding:
    """The numbers of a launch. forms: of the axes that are bound so far."""

    def __init__(self, nest: LoopNest) -> None:
        self.launch = launch_of(nest)
        pads = any(crosses_threads(s) for s, _ in nest.statements())
        threads = self.launch.threads
        self.thread = Axis(THREAD, -(-threads // WARP_SIZE) * WARP_SIZE if pads else threads)
        self.block = Axis(BLOCK, self.launch.blocks)
        self.shared = {s.array.name for s, _ in nest.statements() if isinstance(s, Allocate)}
        self.forms: dict[str, AxisForm] = {}
        self._old = nest.forms
        self._wrapped = 0
        paths = [
            [b.axis for b in opened_axes(around, s) if b.kind is AxisKind.BLOCK]
            for s, around in nest.statements()
        ]
        self._chain = max(paths, key=lambda path: math.prod([a.extent for a in path]), default=[])

    def body(self, body: Body, opened: tuple[BoundAxis, ...], alone: bool) -> Body:
        """Return a body whose stores happen once.

        Only one of several equal threads executes what follows the last loop and barrier.
        """
        last = max(
            [k for k, s in enumerate(body) if isinstance(s, For | Reduce | Barrier)], default=-1
        )
        rest = body[last + 1 :]
        spaces = {s.array in self.shared for s in rest if isinstance(s, Store)}
        first = self.statements(body[: last + 1], opened, alone)
        if alone or len(spaces) != 1:
            return _same_or(body, (*first, *self.statements(rest, opened, alone)))
        guards = self.guards(opened, of_a_block=True in spaces)
        inside = self.statements(rest, opened, alone=True)
        return _same_or(body, (*first, *(self.once(inside, guards) if guards else inside)))

    def statements(self, body: Body, opened: tuple[BoundAxis, ...], alone: bool) -> Body:
        """Return statements of which each store happens once."""
        made: list[Statement] = []
        for s in body:
            if isinstance(s, Store) and not alone:
                guards = self.guards(opened, of_a_block=s.array in self.shared)
                made += self.once((s,), guards) if guards else (s,)
                continue
            inner = opened
            for b in axes_of(s):
                if b.kind.is_launched:
                    inner = (*inner, b)
                    self.bind(inner)
            change = self.body if isinstance(s, For) else self.statements
            made.append(with_bodies(s, partial(change, opened=inner, alone=alone)))
        return _same_or(body, tuple(made))

    def bind(self, opened: tuple[BoundAxis, ...]) -> None:
        """Add the number of the innermost of some axes."""
        axis, kind = opened[-1]
        whole, left = self.left(kind, opened)
        outer = [b.axis for b in opened if b.kind is kind]
        if kind is AxisKind.BLOCK and axis in self._chain:
            left = math.prod([a.extent for a in self._chain[len(outer) :]])
        number = (whole // left) % axis.extent
        form = self._old.get(axis.name, AxisForm())
        self.forms[axis.name] = form._replace(number=number)

    def left(self, kind: AxisKind, opened: tuple[BoundAxis, ...]) -> tuple[IndexExpression, int]:
        """Return the number over all axes of a kind, and its steps that no open axis has."""
        launch, count = self.launch, extent_of(opened, kind)
        thread = index(self.thread) % launch.threads
        if kind is AxisKind.BLOCK:
            return index(self.block), launch.blocks // count
        if kind is AxisKind.WARP:
            return thread % launch.lanes, launch.lanes // count
        return thread // launch.lanes, launch.threads // launch.lanes // count

    def guards(self, opened: tuple[BoundAxis, ...], of_a_block: bool) -> tuple[Guard, ...]:
        """Return guards that hold in one of all threads (or of a block's) with equal results."""
        found = []
        if self.thread.extent > self.launch.threads:
            found.append(Guard(index(self.thread), self.launch.threads))
        kinds = (AxisKind.THREAD, AxisKind.WARP)
        for kind in kinds if of_a_block else (AxisKind.BLOCK, *kinds):
            whole, left = self.left(kind, opened)
            if left > 1:
                found.append(Guard(whole % left, 1))
        return tuple(found)

    def once(self, body: Body, guards: tuple[Guard, ...]) -> Body:
        """Return a loop of one step, which is a branch of the threads for which guards hold."""
        axis = Axis(f"once{self._wrapped}", 1)
        self._wrapped += 1
        self.forms[axis.name] = AxisForm(branches=True)
        return (For(axis, body, guards=guards),)


def _same_or(body: Body, made: Body) -> Body:
    """Return the old body if the new one has the same statements."""
    same = len(body) == len(made) and all(x is y for x, y in zip(body, made, strict=True))
    return body if same else made


BIND_LAUNCH = NestStep(
    "bind-launch",
    "Number the steps of launched axes by thread and block; let one of equal threads store.",
    bound,
    for_cpus=False,
)
BIND_TASKS = NestStep(
    "bind-tasks",
    "Number the steps of parallel loops by the task that runs them.",
    bound_to_tasks,
    for_launches=False,
)
