"""Schedules of the kernels of a program as plain data, so that child processes can return them."""

from __future__ import annotations

from typing import Any, NamedTuple

from xla_explorer.compiler.codegen.nest.ir import LoopNest


class WrittenSchedule(NamedTuple):
    """The schedule of one instruction's kernel.

    by: `user` or `policy`. directives: their text. parts: for a nest that a policy divides into
    several launches, the start and the directives of each; the whole has none then. start: the nest
    that the directives change; None for that of `form` (see `nest_kernels.form_of_nest`).
    """

    by: str
    directives: str
    parts: tuple[tuple[LoopNest, str], ...] = ()
    start: LoopNest | None = None
    form: str = ""


def written_schedules(program: Any) -> dict[int, WrittenSchedule]:
    """Return the schedules by policies and users, by the id of the instruction.

    Kernels without a loop nest have none.
    """
    found: dict[int, WrittenSchedule] = {}
    for i, made in getattr(program, "emitted", ()):
        if getattr(made.nest, "directives", None) is None:
            continue
        chained = made.nest.following is not None
        parts = (
            tuple([(stage.start, _text(stage.directives)) for stage in made.nest.stages])
            if chained
            else ()
        )
        by = "user" if made.emitter == "scheduled" else "policy"
        found[i.id] = WrittenSchedule(
            by,
            "" if chained else _text(made.nest.directives),
            parts,
            None if chained else made.nest.start,
        )
    for decision in getattr(program, "decisions", ()):
        if decision.kind == "loop-nest" and decision.accepted:
            facts = decision.reason.facts
            found[decision.instruction] = WrittenSchedule(
                str(facts["by"]), str(facts["schedule"]), form=str(facts.get("writes", ""))
            )
    return found


def _text(directives: Any) -> str:
    return ",".join(map(str, directives))
