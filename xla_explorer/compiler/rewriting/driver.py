"""The worklist driver: every instruction once, operands first, then those near a rewrite."""

from __future__ import annotations

from collections import deque

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting.removal import (
    compatible_replacement,
    control_targets,
    remove_if_dead,
    replace_instruction,
)
from xla_explorer.compiler.rewriting.rule import Rule, RuleSet
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

REWRITES_PER_INSTRUCTION = 50  # as XLA's limit of algsimp reruns


def applicable(rules: RuleSet, instruction: HloInstruction) -> list[tuple[Rule, Reason | None]]:
    """Return the rules whose pattern matches, each with its refusing guard, or None if it fires."""
    found = []
    for r in rules.by_opcode.get(instruction.opcode, ()):
        captures = r.match(instruction)
        if captures is not None:
            found.append((r, r.refusal(instruction, captures)))
    return found


def rewrite_computation(
    computation: HloComputation, rules: RuleSet, context: PassContext, *, revisit: bool = True
) -> int:
    """Apply the rules to a fixed point; return the number of rewrites.

    The visited instruction is replaced by the first rule in order that matches, that neither a
    guard nor the user refuses, and whose build returns an instruction. Instructions that become
    dead are removed at once. Without `revisit` each instruction is visited once, operands first,
    and new instructions are not visited.
    """
    table, candidates = rules.by_opcode, rules.candidates
    instructions = computation.instructions
    module = computation.module
    queue = deque([i for i in computation.post_order() if i.opcode in table])
    if not any(map(candidates, queue)):
        # by opcodes alone: most small computations, and whole modules in the last iteration of a
        # fixed point
        return 0
    if (timed := context.control.timed) is not None:
        found = candidates
        candidates = lambda i: tuple(map(timed, found(i)))  # noqa: E731
    targets = control_targets(computation)
    waiting = set(queue)
    limit = REWRITES_PER_INSTRUCTION * len(instructions) + 1000
    total = 0

    def visit_again(i: HloInstruction) -> None:
        if revisit and i.opcode in table and i not in waiting:
            waiting.add(i)
            queue.append(i)

    def single(i: HloInstruction) -> None:
        visit_again(i)
        for user in i.users:
            visit_again(user)

    while queue:
        i = queue.popleft()
        waiting.discard(i)
        fitting = candidates(i)
        if not fitting or i.id not in instructions or not (i.users or i is computation.root):
            continue
        for r in fitting:
            captures = r.match(i)
            if captures is None:
                continue
            reason = r.refusal(i, captures)
            if reason is not None:
                context.refused(r.name, i, reason)
                continue
            if not context.may_rewrite(r.name):
                continue
            if context.control.forbid and context.control.forbidden(r.name, (i,)):
                context.refused(
                    r.name,
                    i,
                    refuse("forbidden-by-user", f"the user forbids {r.name} of %{i.name}"),
                )
                continue
            before = module.next_instruction_id
            context.acting = r.name
            result = r.build(computation, i, captures)
            if isinstance(result, Reason):
                context.refused(r.name, i, result)
                continue
            if result is None or result is i:
                continue
            reason = compatible_replacement(i, result, targets)
            created = range(before, module.next_instruction_id)
            if reason is not None:
                context.refused(r.name, i, reason)
                for number in reversed(created):
                    if number in instructions:
                        remove_if_dead(computation, instructions[number], targets)
                continue
            replace_instruction(computation, i, result, before)
            context.rewrote(r.name, i, result, created)
            total += 1
            for number in created:
                if number in instructions:
                    visit_again(instructions[number])
            visit_again(result)
            for user in result.users:
                visit_again(user)
            remove_if_dead(computation, i, targets, single)
            break
        if total > limit:
            context.refused(
                rules.name,
                i,
                refuse(
                    "rewrite-limit",
                    f"{total} rewrites in %{computation.name} and no end",
                    rewrites=total,
                ),
            )
            break
    return total
