"""XLA:CPU's schedule: breadth first, so that many instructions can run at once.

The instruction that was ready first runs first. Source:
xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc (`BFScheduler`). Instructions that become
ready together are in the order of XLA's lists of users, which is in no text: among those, XLA's
order counts as right.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from xla_explorer.explorer.sessions.compilation import Compilation, NotThereError
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_STAGE: Final = "buffer-assignment"  # only a schedule of XLA:CPU's own scheduler has one
Released = HloInstruction | None


def replayed_schedule(session: Compilation) -> Replay:
    """Return, for each instruction in XLA:CPU's schedule, whether breadth first runs it next.

    Raises
    ------
    NotThereError
        The dump's last module has no schedule.
    """
    computations = [
        one for one in sequential_computations(session.module) if one.schedule is not None
    ]
    if not computations or _STAGE not in session.stages():
        raise NotThereError(
            "XLA's dump has no scheduled module", "dump with --xla_dump_hlo_as_text"
        )
    rows = [row for computation in computations for row in _rows(computation)]
    return Replay("schedule", rows, "scheduler", None, "instructions in order")


def _rows(computation: HloComputation) -> Iterator[ReplayRow]:
    order = list(computation.sequence())
    waits = {i: len(dict.fromkeys([*i.operands, *i.control_predecessors])) for i in order}
    followers: dict[HloInstruction, list[HloInstruction]] = {
        i: list(dict.fromkeys(i.users)) for i in order
    }
    for i in order:
        for before in dict.fromkeys(i.control_predecessors):
            followers[before].append(i)
    # Groups of instructions that became ready together, the oldest first; inside of a group any
    # order is breadth first.
    ready: deque[tuple[Released, set[HloInstruction]]] = deque(
        [(None, {i for i in order if not waits[i]})]
    )
    for i in order:
        while ready and not ready[0][1]:
            ready.popleft()
        cause, group = next((entry for entry in ready if i in entry[1]), (None, set()))
        agrees = bool(ready) and group is ready[0][1]
        ours = (
            i.name
            if agrees
            else min([one.name for one in ready[0][1]], default="")
            if ready
            else ""
        )
        group.discard(i)
        released = {user for user in followers[i] if _released(user, waits)}
        ready.append((i, released))
        message = (
            f"ready as soon as %{cause.name} was issued"
            if cause is not None
            else "ready from the start"
        )
        yield ReplayRow(
            i.name,
            "",
            f"%{ours}",
            f"%{i.name}",
            agrees,
            "",
            f"%{i.name} was {message}",
            i.shape.byte_size,
            (i.id,),
        )


def _released(user: HloInstruction, waits: dict[HloInstruction, int]) -> bool:
    waits[user] -= 1
    return waits[user] == 0
