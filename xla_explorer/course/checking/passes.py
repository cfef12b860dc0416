"""Checks shared by all exercises that write a pass.

The pass runs on a copy. The program must be well formed and keep its values to the bit. The pass
must return whether it changed the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xla_explorer.course.checking.programs import value_difference
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering
from xla_explorer.course.checking.result import Failure, program_text
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import HloVerifyError, verify

Pass = Callable[[HloModule], Any]
Afterwards = Callable[[HloModule, HloModule], Failure | None]


FORM_HINT = "Look at the order of your mutations: replace first, remove afterwards."


def pass_failure(
    run: Pass,
    before: HloModule,
    afterwards: Afterwards,
    sets: int,
    value_hint: str,
    form_hint: str = FORM_HINT,
) -> Failure | None:
    """Return the failure of a pass on one program, or None.

    afterwards: a further check of (before, after).
    """
    after = before.clone()
    with answering(before):
        changed = run(after)
        same = program_text(before) == program_text(after)
    if not isinstance(changed, bool):
        return Failure(
            "no-verdict",
            "A pass returns True or False: whether it changed the module.",
            "True or False",
            repr(changed),
            before,
            hint="End the function with `return changed`.",
        )
    if changed == same:
        return Failure(
            "untrue-verdict",
            f"The pass returned {changed}, but the module is "
            f"{'unchanged' if same else 'another one'}.",
            str(not same),
            str(changed),
            before,
            hint="Set the flag where you mutate, and nowhere else.",
        )
    try:
        verify(after)
    except HloVerifyError as error:
        return Failure(
            "not-well-formed",
            "The pass left an invalid program.",
            "a module that xe.verify accepts",
            str(error),
            before,
            hint=form_hint,
        )
    if len(after.entry.parameters()) != len(before.entry.parameters()):
        return Failure(
            "parameter-removed",
            "Parameters are the signature of the program: its caller still passes all of them.",
            f"{len(before.entry.parameters())} parameters",
            f"{len(after.entry.parameters())}",
            before,
            hint="Leave instructions with the opcode `parameter` alone, used or not.",
        )
    lost = _effects(before) - _effects(after)
    if lost:
        return Failure(
            "side-effect-lost",
            f"%{min(lost)} has a side effect, and is gone.",
            program_text(before),
            program_text(after),
            before,
            hint="Check `i.opcode.side_effect` before you remove, merge or fold an instruction. "
            "`rng` counts: each draw is a new number.",
        )
    return value_difference(before, after, sets, value_hint) or afterwards(before, after)


def check_pass(
    run: Pass,
    modules: Iterable[HloModule],
    afterwards: Afterwards,
    sets: int = 3,
    value_hint: str = "",
    form_hint: str = FORM_HINT,
) -> Cases:
    """Yield the cases of a pass exercise; the first failure is reduced."""
    if not callable(run):
        raise WrongAnswerError(
            Failure(
                "no-function",
                "The answer is a function that takes a module.",
                "a function",
                repr(run),
            )
        )

    def test(module: HloModule) -> Failure | None:
        return pass_failure(run, module, afterwards, sets, value_hint, form_hint)

    yield from cases_of(modules, test)


def _effects(module: HloModule) -> set[str]:
    return {i.name for i in module.instructions() if has_side_effect(i)}
