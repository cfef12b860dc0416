"""Makes the program of a failed case small, as long as it fails in the same way.

Five moves, each tried at every place until none helps: another root, an instruction that nobody reads taken out (so dead code can go or
stay), an operand in place of its user, a parameter in place of an instruction, the same operand twice in place of two. The number of
trials is bounded, not the time, so the answer is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xla_explorer.course.result import TOO_SLOW, Failure
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import HloVerifyError, verify

Test = Callable[[HloModule], Failure | None]
MOST_TRIALS = 1500


def smallest(module: HloModule, test: Test, failure: Failure, *, alive: bool = False) -> Failure:
    """The failure of the smallest program found that `test` refuses with the same code. `module` is left alone.

    alive: the program keeps computing what it shows: no move leaves dead code, or a parameter or what others read as the result. What
    is too slow is not made smaller: each trial would take as long.
    """
    trials = 0
    progress = failure.code != TOO_SLOW
    while progress:
        progress = False
        for candidate in smaller_modules(module):
            if alive:
                _remove_dead(candidate)
                root, old = candidate.entry.root, module.entry.root
                if (root.opcode.name == "parameter" and old.opcode.name != "parameter") or (root.users and not old.users):
                    continue
            trials += 1
            if trials > MOST_TRIALS:
                return failure
            found = test(candidate)
            if found is not None and found.code == TOO_SLOW:
                return failure
            if found is not None and found.code == failure.code:
                module, failure, progress = candidate, found, True
                break
    return failure


def smaller_modules(module: HloModule) -> Iterator[HloModule]:
    """Well-formed programs that are one move smaller, the boldest moves first."""
    for name in [i.name for i in module.entry.post_order()]:
        for move in (_make_root, _bypass, _become_parameter, _take_out, _repeat_first, _repeat_last):
            candidate = module.clone()
            candidate.attributes.pop("entry_computation_layout", None)
            if move(candidate.find(name)) and _weight(candidate) < _weight(module):
                try:
                    verify(candidate)
                except HloVerifyError:
                    continue
                yield candidate


def _remove_dead(module: HloModule) -> None:
    entry = module.entry
    for i in reversed(list(entry.post_order())):
        if not i.users and i is not entry.root and i.opcode.name != "parameter" and not i.opcode.side_effect:
            entry.remove(i)
    _forget_uncalled(entry.root)


def _weight(module: HloModule) -> tuple[int, int, int]:
    operations = [i for i in module.instructions() if i.opcode.name != "parameter"]
    tuples = sum([i.opcode.name == "tuple" for i in operations])
    return len(operations) + tuples, module.instruction_count(), sum([len(set(i.operands)) for i in operations])


def _make_root(i: HloInstruction) -> bool:
    """Let it be the result; the old root goes when nobody reads it, everything else stays."""
    computation = i.parent
    old = computation.root
    if old is i or not i.shape.is_array:
        return False
    computation.set_root(i)
    if not old.users and old.opcode.name != "parameter" and not old.opcode.side_effect:
        computation.remove(old)
    _forget_uncalled(i)
    return True


def _take_out(i: HloInstruction) -> bool:
    """Remove an instruction that nobody reads; parameters are numbered anew."""
    computation = i.parent
    if i.users or i is computation.root:
        return False
    is_parameter = i.opcode.name == "parameter"
    computation.remove(i)
    if is_parameter:
        for number, parameter in enumerate(computation.parameters()):
            if parameter.payload != number:
                computation.set_payload(parameter, number)
    _forget_uncalled(computation.root)
    return True


def _bypass(i: HloInstruction) -> bool:
    """Whoever reads it reads one of its operands of the same shape."""
    computation = i.parent
    for operand in i.operands:
        if operand.shape is i.shape and i.shape.is_array:
            computation.replace(i, operand)
            computation.remove(i)
            return True
    return False


def _become_parameter(i: HloInstruction) -> bool:
    """Its value comes from outside."""
    computation = i.parent
    if i.opcode.name in ("parameter", "constant") or not i.shape.is_array or i is computation.root:
        return False
    parameter = computation.add_parameter(len(computation.parameters()), i.shape)
    computation.replace(i, parameter)
    computation.remove(i)
    _forget_uncalled(parameter)
    return True


def _repeat_first(i: HloInstruction) -> bool:
    """Its first operand takes the places of the others of the same shape."""
    return _repeat(i, 0)


def _repeat_last(i: HloInstruction) -> bool:
    """Its last operand takes the places of the others of the same shape."""
    return _repeat(i, -1)


def _repeat(i: HloInstruction, which: int) -> bool:
    if i.opcode.name == "tuple" or len(set(i.operands)) < 2:
        return False
    kept = i.operands[which]
    i.parent.set_operands(i, [kept if o.shape is kept.shape else o for o in i.operands])
    return True


def _forget_uncalled(i: HloInstruction) -> None:
    module = i.parent.module
    reachable = module.post_order_computations()
    module.computations = {c.name: c for c in module.computations.values() if c in reachable}
