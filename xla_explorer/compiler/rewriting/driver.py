"""The worklist driver: every instruction once, operands first, then those near a rewrite."""

from __future__ import annotations

from collections import deque
from collections.abc import Container

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting.removal import (
    compatible_replacement,
    control_targets,
    remove_if_dead,
    replace_instruction,
)
from xla_explorer.compiler.rewriting.rule import Captures, Rule, RuleSet
from xla_explorer.foundation.limits import check_deadline
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OpcodeSpec

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

    The first matching rule replaces the visited instruction, unless a guard, the user or its build
    function refuses. Instructions that become dead are removed at once. Without `revisit` each
    instruction is visited once, operands first, and new instructions are not visited.
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
    worklist = _Worklist(queue, table, revisit)
    limit = REWRITES_PER_INSTRUCTION * len(instructions) + 1000
    total = 0

    while queue:
        i = worklist.pop()
        fitting = candidates(i)
        if not fitting or i.id not in instructions or not (i.users or i is computation.root):
            continue
        check_deadline("the rewriting")
        for r in fitting:
            captures = r.match(i)
            if captures is None:
                continue
            before = module.next_instruction_id
            result = _replacement(r, i, captures, context, targets)
            if result is None:
                continue
            created = range(before, module.next_instruction_id)
            replace_instruction(computation, i, result, before)
            context.rewrote(r.name, i, result, created)
            total += 1
            for number in created:
                if number in instructions:
                    worklist.add(instructions[number])
            worklist.add_with_users(result)
            remove_if_dead(computation, i, targets, worklist.add_with_users)
            break
        if total > limit:
            context.refused(
                rules.name,
                i,
                refuse(
                    "rewrite-limit",
                    f"{total} rewrites in %{computation.name} reached no fixed point",
                    rewrites=total,
                ),
            )
            break
    return total


class _Worklist:
    """Instructions to visit, each at most once in the queue."""

    __slots__ = ("_queue", "_revisit", "_table", "_waiting")

    def __init__(
        self, queue: deque[HloInstruction], table: Container[OpcodeSpec], revisit: bool
    ) -> None:
        self._queue, self._table, self._revisit = queue, table, revisit
        self._waiting = set(queue)

    def pop(self) -> HloInstruction:
        """Remove the next instruction and return it."""
        i = self._queue.popleft()
        self._waiting.discard(i)
        return i

    def add(self, i: HloInstruction) -> None:
        """Add an instruction with rules."""
        if self._revisit and i.opcode in self._table and i not in self._waiting:
            self._waiting.add(i)
            self._queue.append(i)

    def add_with_users(self, i: HloInstruction) -> None:
        """Add an instruction and its users."""
        self.add(i)
        for user in i.users:
            self.add(user)


def _replacement(
    r: Rule,
    i: HloInstruction,
    captures: Captures,
    context: PassContext,
    targets: frozenset[HloInstruction],
) -> HloInstruction | None:
    """Return the replacement of a match; None if a guard, the user or the rule refuses it.

    Instructions of a replacement that is not compatible are removed again.
    """
    reason = r.refusal(i, captures)
    if reason is not None:
        context.refused(r.name, i, reason)
        return None
    if not context.may_rewrite(r.name):
        return None
    if context.control.forbid and context.control.forbidden(r.name, (i,)):
        reason = refuse("forbidden-by-user", f"the user forbids {r.name} of %{i.name}")
        context.refused(r.name, i, reason)
        return None
    computation = i.parent
    before = computation.module.next_instruction_id
    context.acting = r.name
    result = r.build(computation, i, captures)
    if isinstance(result, Reason):
        context.refused(r.name, i, result)
        return None
    if result is None or result is i:
        return None
    reason = compatible_replacement(i, result, targets)
    if reason is None:
        return result
    context.refused(r.name, i, reason)
    instructions = computation.instructions
    for number in reversed(range(before, computation.module.next_instruction_id)):
        if number in instructions:
            remove_if_dead(computation, instructions[number], targets)
    return None
