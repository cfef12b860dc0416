"""Instructions of the CPU that run in several tasks, each outlined into a call.

Source: xla/service/cpu/parallel_task_assignment.cc.

============================================  ===============================================
handled by XLA                                here
============================================  ===============================================
costs: bytes if memory bounds the work, else  the same weights and least costs of a task
operations, transcendentals and bytes
dots, convolutions, sorts, random numbers,    never: they have tasks of their own, or none
control flow, communication, custom calls
updates in place, scalars                     never
results of several sizes                      never; equal ones are partitioned alike
fusions other than loops                      never
partitions of the outermost dimensions        the same, in the call's backend config
values with control edges                     hole: never
============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

_NEVER = frozenset(
    [
        "parameter",
        "constant",
        "call",
        "custom-call",
        "dot",
        "infeed",
        "outfeed",
        "rng",
        "sort",
        "get-tuple-element",
        "tuple",
        "bitcast",
        "while",
        "conditional",
        "fft",
        "convolution",
        "after-all",
        "send",
        "recv",
        "send-done",
        "recv-done",
        "dynamic-update-slice",
        "rng-bit-generator",
        "rng-get-and-update-state",
        "all-reduce",
        "all-gather",
        "all-to-all",
        "reduce-scatter",
        "collective-permute",
        "partition-id",
        "replica-id",
        "async-start",
        "async-done",
        "scatter",
        "domain",
        "opt-barrier",
    ]
)
_TRANSCENDENTAL = frozenset(
    [
        "exponential",
        "exponential-minus-one",
        "log",
        "log-plus-one",
        "logistic",
        "tanh",
        "tan",
        "sine",
        "cosine",
        "power",
        "rsqrt",
        "sqrt",
        "cbrt",
        "erf",
        "atan2",
    ]
)
_BYTES_A_TASK = 256 << 10
_COST_A_TASK = 100_000


def _inside(i: HloInstruction) -> list[HloInstruction]:
    return list(i.called[0].instructions.values()) if i.opcode.name == "fusion" else [i]


def work_of(i: HloInstruction) -> tuple[int, int, int]:
    """Return the operations, the transcendental ones among them, and the bytes moved."""
    operations = transcendental = 0
    for part in _inside(i):
        if not part.shape.is_array or part.opcode.name in ("parameter", "constant"):
            continue
        count = max([part.shape.element_count, *[_elements(o) for o in part.operands]])
        if part.opcode.name in _TRANSCENDENTAL:
            transcendental += part.shape.element_count
        elif part.opcode.name == "reduce-window":
            window = part.attributes["window"].dimensions
            operations += part.shape.element_count * math.prod([d.size for d in window])
        elif part.opcode.elementwise or part.opcode.name in ("reduce", "map"):
            operations += count
    bytes_ = sum([shape.byte_size for shape in results_of(i)]) + sum(
        [o.shape.byte_size for o in i.operands if o.shape.is_array]
    )
    return operations, transcendental, bytes_


def _elements(i: HloInstruction) -> int:
    return i.shape.element_count if i.shape.is_array else 0


def results_of(i: HloInstruction) -> list[Shape]:
    """Return the arrays of the result."""
    return [shape for _, shape in i.shape.leaves()]


def tasks_for(i: HloInstruction, most: int) -> int:
    """Return the number of tasks that the work of an instruction is worth."""
    operations, transcendental, bytes_ = work_of(i)
    if operations + transcendental <= bytes_:  # memory bounds the work
        most = min(most, math.ceil(math.sqrt(most)))
        return min(most, max(1, sum([s.byte_size for s in results_of(i)]) // _BYTES_A_TASK))
    cost = operations + 2 * transcendental + 10 * bytes_
    return min(most, max(1, cost // _COST_A_TASK))


def partitions(shape: Shape, tasks: int) -> list[int]:
    """Return the numbers of parts of the outermost dimensions that give at most `tasks` parts."""
    found = []
    for d in reversed(shape.layout.minor_to_major):
        parts = min(shape.dimensions[d], tasks)
        if parts > 1:
            found.append(parts)
            tasks //= parts
        else:
            break
    return found


@register_pass()
@dataclasses.dataclass(frozen=True)
class ParallelTaskAssigner:
    """Outline instructions with much work into calls of several tasks.

    max_parallelism: the most tasks of one instruction.
    """

    name: ClassVar[str] = "cpu-parallel-task-assigner"
    max_parallelism: int = 10

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit the entry and the bodies of loops."""
        found = [
            (i, tasks)
            for computation in self._computations(module)
            for i in computation.post_order()
            if self._may(i) and (tasks := tasks_for(i, self.max_parallelism)) > 1
        ]
        changed = False
        for i, tasks in found:
            parts = partitions(results_of(i)[0], tasks)
            if parts and context.decide(self.name, (), (), i) is None:
                call = _outline(i, parts)
                context.rewrote(self.name, i, call, (call.id,), {"tasks": math.prod(parts)})
                changed = True
        if changed:
            order_callees_first(module)
        return changed

    @staticmethod
    def _computations(module: HloModule) -> list[HloComputation]:
        found = [module.entry]
        for computation in found:
            for i in computation.instructions.values():
                if i.opcode.name == "while":
                    found += [c for c in i.called if c not in found]
        return found

    @staticmethod
    def _may(i: HloInstruction) -> bool:
        loop = i.opcode.name != "fusion" or (
            i.attributes.get("kind") == "kLoop"
            and i.called[0].root.opcode.name != "dynamic-update-slice"
        )
        results = results_of(i)
        return (
            i.opcode.name not in _NEVER
            and all(shape.is_array and shape.rank > 0 for shape in results)
            and len({shape.dimensions for shape in results}) == 1
            and loop
            and not i.control_predecessors
        )


def _outline(i: HloInstruction, parts: list[int]) -> HloInstruction:
    """Replace an instruction by a call of a computation that holds it alone."""
    computation = i.parent
    body = computation.module.add_computation(f"parallel_{i.name}")
    operands = list(dict.fromkeys(i.operands))
    given = {o: body.add_parameter(k, o.shape) for k, o in enumerate(operands)}
    inner = body.add(
        i.opcode,
        i.shape,
        [given[o] for o in i.operands],
        i.attributes,
        called=i.called,
        name=i.name,
        metadata=i.metadata,
    )
    body.set_root(inner)
    config = json.dumps({"outer_dimension_partitions": [str(n) for n in parts]})
    call = computation.add(
        "call", i.shape, operands, attributes_of({"backend_config": config}), called=(body,)
    )
    computation.replace(i, call)
    computation.remove(i)
    return call
