"""Causes of collectives after later passes: combiners, reduce-scatter creation, async pairs.

A collective is followed by its operands: a combined one has the operands of several, a created
reduce-scatter that of the all-reduce. A collective whose operand is new gets the cause of one with
the same kind of groups and metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.spmd.explanation.causes import OWN, Cause
from xla_explorer.compiler.spmd.explanation.collective_rows import (
    Collective,
    PlacedProgram,
    axes_of,
    placed,
)
from xla_explorer.compiler.spmd.explanation.step_schedule import StepSchedule, step_schedule
from xla_explorer.hlo.analysis.collective_traffic import collective_kind, traffic_of
from xla_explorer.hlo.instruction import HloInstruction


def collectives_after(before: PlacedProgram, passes: Sequence[str]) -> list[Collective]:
    """Return the collectives after passes, each with the causes of those that it replaces.

    The shares of the causes of a collective add up to 1. passes: names of passes.
    """
    return step_after(before, passes)[1]


def step_after(
    before: PlacedProgram, passes: Sequence[str]
) -> tuple[StepSchedule, list[Collective]]:
    """Return the simulated step after passes, and its collectives with their causes."""
    module = before.program.module.clone()
    for name in ("dce", *passes):
        make_pass(name).run(module, PassContext())
    known: dict[str, Collective] = {}
    for one in before.collectives:
        for operand in one.instruction.operands:
            known.setdefault(operand.name, one)
    devices, found = before.program.devices, []
    schedule = step_schedule(module.entry, before.topology, devices)
    for slot in schedule.slots:
        traffic = traffic_of(slot.instruction, devices)
        if traffic is not None:
            axes = axes_of(before.program.mesh, traffic)
            causes = _causes(slot.instruction, axes, known, before.collectives)
            found.append(placed(before.topology, slot, traffic, axes, causes))
    return schedule, found


def _causes(
    i: HloInstruction,
    axes: tuple[str, ...],
    known: dict[str, Collective],
    all_before: Sequence[Collective],
) -> tuple[Cause, ...]:
    total = sum([operand.shape.byte_size for operand in i.operands]) or 1
    found: dict[str, Cause] = {}
    for operand in i.operands:
        one = known.get(operand.name) or _alike(i, axes, all_before)
        cause = one.cause if one is not None else Cause(OWN, f"%{i.name}", i.opcode.name)
        share = operand.shape.byte_size / total
        key = f"{cause.operation} {cause.value} {cause.target}"
        old = found.get(key)
        found[key] = replace(cause, share=share + (old.share if old is not None else 0.0))
    return tuple(found.values())


def _alike(
    i: HloInstruction, axes: tuple[str, ...], all_before: Sequence[Collective]
) -> Collective | None:
    """Return a collective over the same axes with the same metadata, or the only one; or None."""
    same = [
        one
        for one in all_before
        if one.axes == axes and i.metadata and one.instruction.metadata == i.metadata
    ]
    if not same:
        kind = collective_kind(i)
        same = [one for one in all_before if one.axes == axes and one.traffic.kind == kind]
        same = same if len(same) == 1 else []
    return same[0] if same else None
