"""Which kernels are made of loop nests: the families that have moved, each with the policy that schedules it."""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.drafts import OperationDraft
from xla_explorer.backends.gpu.emitters.nests.columns import column_schedule
from xla_explorer.backends.gpu.emitters.nests.elementwise import elementwise_schedule
from xla_explorer.backends.gpu.emitters.nests.kernel import nest_draft
from xla_explorer.backends.gpu.emitters.nests.rows import row_schedule
from xla_explorer.backends.gpu.emitters.nests.transposes import transpose_schedule
from xla_explorer.backends.gpu.emitters.nests.tuning import DEFAULT_TUNING
from xla_explorer.compiler.codegen.nest.from_hlo import nest_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


def write_reducing_nest(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel of a reduction as a loop nest, or why another emitter writes it."""
    if not any(x.opcode.name == "reduce" for x in _body(i)):
        return refuse("no-reduction", f"%{i.name} reduces nothing")
    if (reason := _why_of_another_family(i)) is not None:
        return reason
    nest = nest_of(i)
    if isinstance(nest, Reason):
        return nest
    schedule = row_schedule(nest, architecture, DEFAULT_TUNING)
    if isinstance(schedule, Reason) and schedule.code == "not-along-memory":
        schedule = column_schedule(nest, architecture, DEFAULT_TUNING)
    return schedule if isinstance(schedule, Reason) else nest_draft(i, schedule, slots)


def write_nest(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel of elements that do not depend on one another as a loop nest, or why another emitter writes it."""
    if any(x.opcode.name == "reduce" for x in _body(i)):
        return refuse("reduces", f"%{i.name} reduces: one thread does a whole result")
    if (reason := _why_of_another_family(i) or _updates_in_place(i, slots)) is not None:
        return reason
    nest = nest_of(i)
    if isinstance(nest, Reason):
        return nest
    schedule = elementwise_schedule(nest, architecture, DEFAULT_TUNING)
    return schedule if isinstance(schedule, Reason) else nest_draft(i, schedule, slots)


def write_transposing_nest(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel of a transpose and what is done on the way as a loop nest, or why another emitter writes it."""
    if not any(x.opcode.name in ("transpose", "copy") for x in _body(i)) or any(x.opcode.name == "reduce" for x in _body(i)):
        return refuse("not-transposed", f"%{i.name} transposes nothing")
    if (reason := _why_of_another_family(i) or _updates_in_place(i, slots)) is not None:
        return reason
    nest = nest_of(i)
    if isinstance(nest, Reason):
        return nest
    schedule = transpose_schedule(nest, architecture, DEFAULT_TUNING)
    return schedule if isinstance(schedule, Reason) else nest_draft(i, schedule, slots)


def _body(i: HloInstruction) -> list[HloInstruction]:
    return list(i.called[0].instructions.values()) if i.opcode.name == "fusion" else [i]


def _why_of_another_family(i: HloInstruction) -> Reason | None:
    """None unless sums of products, or of windows, are made: how is another question than how rows are reduced."""
    found = next((x for x in _body(i) if x.opcode.name in ("dot", "convolution", "reduce-window")), None)
    return None if found is None else refuse("sums-of-products", f"%{found.name}: {found.opcode.name} is written by its own emitters")


def _updates_in_place(i: HloInstruction, slots: tuple[int, ...]) -> Reason | None:
    """None unless a part of an operand is written where the operand lies: a nest has a step for each element of the result."""
    root = i.called[0].root if i.opcode.name == "fusion" else i
    results = len(list(i.shape.leaves()))
    if root.opcode.name == "dynamic-update-slice" and set(slots[:-results]) & set(slots[-results:]):
        return refuse("updates-in-place", f"%{i.name} writes a part of what lies in its result already")
    return None
