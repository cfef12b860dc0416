"""The list of lowering steps, and the functions that run it.

A scheduled loop nest goes through the steps on nests. Its statements then become SSA records in
loops and branches, these become blocks, and the steps on records write what the target has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from xla_explorer.compiler.codegen.ir.records import Record
from xla_explorer.compiler.codegen.lowering.body import BodyStep, KernelBody
from xla_explorer.compiler.codegen.lowering.expand_divisions import EXPAND_DIVISIONS
from xla_explorer.compiler.codegen.lowering.expand_math import EXPAND_MATH
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.legalise_conversions import LEGALISE_CONVERSIONS
from xla_explorer.compiler.codegen.lowering.legalise_memory import LEGALISE_MEMORY
from xla_explorer.compiler.codegen.lowering.legalise_types import LEGALISE_TYPES
from xla_explorer.compiler.codegen.lowering.nest_step import NestStep
from xla_explorer.compiler.codegen.lowering.nest_steps.bind_launch import BIND_LAUNCH, BIND_TASKS
from xla_explorer.compiler.codegen.lowering.nest_steps.choose_guards import CHOOSE_GUARDS
from xla_explorer.compiler.codegen.lowering.nest_steps.order_instances import ORDER_INSTANCES
from xla_explorer.compiler.codegen.lowering.nest_steps.partition_loops import PARTITION_LOOPS
from xla_explorer.compiler.codegen.lowering.nest_steps.place_barriers import PLACE_BARRIERS
from xla_explorer.compiler.codegen.lowering.nest_steps.simplify_guards import SIMPLIFY_GUARDS
from xla_explorer.compiler.codegen.lowering.nest_steps.split_reductions import SPLIT_REDUCTIONS
from xla_explorer.compiler.codegen.lowering.nest_steps.stride_loops import STRIDE_LOOPS
from xla_explorer.compiler.codegen.lowering.nest_steps.wide_memory import WIDE_MEMORY
from xla_explorer.compiler.codegen.lowering.recording import record_step
from xla_explorer.compiler.codegen.lowering.structured_text import structured_lines
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.text import nest_lines
from xla_explorer.foundation.diagnostic import XlaExplorerError

NEST_STEPS: list[NestStep] = [
    SIMPLIFY_GUARDS,
    SPLIT_REDUCTIONS,
    PLACE_BARRIERS,
    PARTITION_LOOPS,
    CHOOSE_GUARDS,
    BIND_LAUNCH,
    BIND_TASKS,
    WIDE_MEMORY,
    ORDER_INSTANCES,
    STRIDE_LOOPS,
]
RECORD_STEPS: list[BodyStep] = [
    EXPAND_MATH,
    EXPAND_DIVISIONS,
    LEGALISE_CONVERSIONS,
    LEGALISE_TYPES,
    LEGALISE_MEMORY,
]
# Between the two: (name, sentence).
SCHEDULED = "scheduled-nest", "The loop nest after all directives of its schedule."
STATEMENTS = (
    "write-statements",
    "Write each statement for its lanes and unrolled instances; move invariant operations out.",
)
BLOCKS = "write-blocks", "Replace loops and branches by blocks with jumps."


@contextmanager
def lowering_step(step: NestStep | BodyStep, *, before: str | None = None) -> Iterator[None]:
    """Add a step to the lowering of all kernels that are compiled inside.

    Parameters
    ----------
    step : NestStep or RecordStep
        A step on loop nests, or on records.
    before : str, optional
        The step of the same kind that it precedes. By default it is the last one.

    Raises
    ------
    XlaExplorerError
        There is no step of that name.
    """
    steps: list[Any] = NEST_STEPS if isinstance(step, NestStep) else RECORD_STEPS
    names = [one.name for one in steps]
    if before is not None and before not in names:
        raise XlaExplorerError(
            f"no step of this kind is named {before!r}", f"choose from {', '.join(names)}"
        )
    steps.insert(len(steps) if before is None else names.index(before), step)
    try:
        yield
    finally:
        steps.remove(step)


def lower_nest(nest: LoopNest, *, launched: bool) -> LoopNest:
    """Return the nest after all steps on nests. launched: its kernel runs on a GPU."""
    _record_nest(*SCHEDULED, nest)
    for step in NEST_STEPS:
        if step.for_launches if launched else step.for_cpus:
            nest = step.run(nest)
            _record_nest(step.name, step.sentence, nest)
    return nest


def _record_nest(step: str, sentence: str, nest: LoopNest) -> None:
    record_step(step, sentence, lambda: [(x.text, x.origin) for x in nest_lines(nest)])


def record_statements(records: list[Record]) -> None:
    """Record the statements of a nest as SSA records."""
    record_step(*STATEMENTS, lambda: structured_lines(records))


def lower_records(
    body: KernelBody, features: CodeFeatures, of_target: Iterable[BodyStep] = ()
) -> KernelBody:
    """Return the body after all steps on records: LLVM has each of its operations and types.

    of_target: further steps of a backend.
    """
    record_step(*BLOCKS, body.lines)
    for step in (*RECORD_STEPS, *of_target):
        body = step.run(body, features)
        record_step(step.name, step.sentence, body.lines)
    return body
