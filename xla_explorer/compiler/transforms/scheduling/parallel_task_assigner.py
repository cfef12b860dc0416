"""Instructions of the CPU that run in several tasks, marked with the parts of their dimensions.

Source: xla/service/cpu/parallel_task_assignment.cc.

============================================  ===============================================
handled by XLA                                here
============================================  ===============================================
costs: bytes if memory bounds the work, else  the same weights and least costs of a task
operations, transcendentals and bytes
dots, sorts, random numbers, control flow,    never: they have tasks of their own, or none
communication, custom calls
convolutions of Eigen                         never; others like loops
updates in place, scalars                     never
results of several sizes                      never; equal ones are partitioned alike
fusions other than loops                      never
partitions of the outermost dimensions        the same, in the backend config
============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.attributes.values import ConvolutionDimensionNumbers
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
_SLICES = frozenset(["slice", "dynamic-slice"])
_MOST_SPATIAL = 3  # dimensions of a convolution of Eigen
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
        elif part.opcode.name == "convolution":
            kernel = part.operands[1].shape
            features = part.attributes["dim_labels"].kernel_output_feature
            per_element = 2 * kernel.element_count // kernel.dimensions[features]
            operations += part.shape.element_count * per_element
        elif part.opcode.name == "reduce-window":
            window = part.attributes["window"].dimensions
            operations += part.shape.element_count * math.prod([d.size for d in window])
        elif part.opcode.elementwise or part.opcode.name in ("reduce", "map"):
            operations += count
    bytes_ = sum([shape.byte_size for shape in results_of(i)]) + bytes_read(i)
    return operations, transcendental, bytes_


def _elements(i: HloInstruction) -> int:
    return i.shape.element_count if i.shape.is_array else 0


def has_library_kernel(convolution: HloInstruction) -> bool:
    """Return True for a convolution that Eigen does, in tasks of its own."""
    dimensions = convolution.attributes["window"].dimensions
    numbers: ConvolutionDimensionNumbers = convolution.attributes["dim_labels"]
    kinds = {
        convolution.shape.element_type.name,
        *[o.shape.element_type.name for o in convolution.operands],
    }
    return (
        0 < len(dimensions) <= _MOST_SPATIAL
        and not any(d.window_reversal for d in dimensions)
        and (numbers.input_batch, numbers.input_feature) == (0, convolution.shape.rank - 1)
        and len(kinds) == 1
        and kinds <= {"f16", "f32"}
    )


def updates_in_place(fusion: HloInstruction) -> bool:
    """Return True for a fusion that writes a part of one of its operands."""
    root = fusion.called[0].root
    while root.opcode.name == "bitcast":
        root = root.operands[0]
    return (
        root.opcode.name == "dynamic-update-slice" and root.operands[0].opcode.name == "parameter"
    )


def bytes_read(i: HloInstruction) -> int:
    """Return the bytes of the operands that an instruction reads; slices read their part."""
    total = 0
    parameters = i.called[0].parameters() if i.opcode.name == "fusion" else []
    for number, operand in enumerate(i.operands):
        if not operand.shape.is_array:
            continue
        users = list(parameters[number].users) if parameters else [i]
        cut = users and all(
            u.opcode.name in _SLICES and u.operands[0] in (operand, *parameters) for u in users
        )
        total += sum([u.shape.byte_size for u in users]) if cut else operand.shape.byte_size
    return total


def results_of(i: HloInstruction) -> list[Shape]:
    """Return the arrays of the result."""
    return [shape for _, shape in i.shape.leaves()]


def tasks_for(i: HloInstruction, most: int) -> int:
    """Return the number of tasks that the work of an instruction is worth."""
    operations, transcendental, bytes_ = work_of(i)
    if operations + transcendental <= bytes_:  # memory bounds the work
        most = min(most, math.ceil(math.sqrt(most)))
        return min(most, max(1, bytes_ // _BYTES_A_TASK))
    cost = operations + 2 * transcendental + 10 * bytes_
    return min(most, max(1, cost // _COST_A_TASK))


def partitions(shape: Shape, tasks: int) -> list[int]:
    """Return the numbers of parts of the outermost dimensions, whose product is about `tasks`."""
    outer: list[int] = []
    for d in reversed(shape.layout.minor_to_major):
        outer.append(shape.dimensions[d])
        if math.prod(outer) >= tasks:
            break
    tasks = min(tasks, math.prod(outer))
    each = max(1, int(tasks ** (1 / len(outer))))
    parts = [min(each, size) for size in outer]
    for k, size in enumerate(outer):  # what the equal shares leave
        others = math.prod(parts) // parts[k]
        parts[k] += max(0, min(size - parts[k], tasks // others - parts[k]))
    return parts


@register_pass()
@dataclasses.dataclass(frozen=True)
class ParallelTaskAssigner:
    """Mark instructions with much work for several tasks.

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
            if math.prod(parts) > 1 and context.decide(self.name, (), (), i) is None:
                _set_partitions(i, parts)
                context.rewrote(self.name, i, i, (), {"tasks": math.prod(parts)})
                changed = True
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
            i.attributes.get("kind") == "kLoop" and not updates_in_place(i)
        )
        results = results_of(i)
        return (
            i.opcode.name not in _NEVER
            and all(shape.is_array and shape.rank > 0 for shape in results)
            and len({shape.dimensions for shape in results}) == 1
            and loop
            and not (i.opcode.name == "convolution" and has_library_kernel(i))
        )


def _set_partitions(i: HloInstruction, parts: list[int]) -> None:
    config = {**json_config(i), "outer_dimension_partitions": [str(n) for n in parts]}
    text = json.dumps(config, separators=(",", ":"))
    i.parent.set_attributes(i, i.attributes.with_values(backend_config=text))
