"""Wrong answers to the exercises of notebook 17."""

from __future__ import annotations

from typing import Any

from tests.explorer.course.mistakes import mistake
from tests.notebooks.course_notebooks import solution_cells

SCOPE: dict[str, Any] = {}
for _cell in ("nb17.live_in", "nb17.solve", "nb17.dominators"):
    if solution_cells():
        exec(solution_cells()[_cell], SCOPE)


def alive(
    rounds: int = 100,
    kill: Any = None,
    gone: bool = True,
    use: bool = True,
    out: bool = False,
    following: Any = None,
) -> Any:
    """Answers to nb17.live_in that forget something."""

    def answer(blocks: Any) -> Any:
        found: dict[str, set[str]] = {label: set() for label in blocks}
        behind: dict[str, set[str]] = {label: set() for label in blocks}
        for _ in range(rounds):
            for label, block in reversed(blocks.items()):
                next_ones = following(block) if following else block.goes_to
                behind[label] = set().union(*[found[other] for other in next_ones])
                left = behind[label] - block.defines if gone else behind[label]
                found[label] = (set(block.uses) if use else set()) | left
                if kill:
                    found[label] = kill(found[label], block)
        return behind if out else found

    return answer


mistake("nb17.live_in", "missed-alive")(alive(rounds=1))  # a loop needs a second round
mistake("nb17.live_in", "not-alive")(alive(gone=False))
mistake("nb17.live_in", "missed-alive")(alive(use=False))
mistake("nb17.live_in", "missed-alive")(
    alive(kill=lambda found, block: found - block.defines)
)  # used before it is defined
mistake("nb17.live_in", "missed-alive")(alive(following=lambda block: block.goes_to[:1]))
mistake("nb17.live_in", "not-alive")(alive(out=True))  # alive at the end
mistake("nb17.live_in", "missed-alive")(
    lambda blocks: {label: set(block.uses) for label, block in blocks.items()}
)
mistake("nb17.live_in", "no-sets")(
    lambda blocks: {label: sorted(names) for label, names in alive()(blocks).items()}
)
mistake("nb17.live_in", "no-sets")(lambda blocks: alive()(blocks)[next(iter(blocks))])
mistake("nb17.live_in", "no-sets")(lambda blocks: None)


@mistake("nb17.live_in", "not-alive")
def _(blocks):  # on all paths instead of on some
    found = {
        label: set("abcd") if block.goes_to else set(block.uses) for label, block in blocks.items()
    }
    for _ in range(50):
        for label, block in blocks.items():
            if block.goes_to:
                found[label] = set(block.uses) | (
                    set.intersection(*[found[o] for o in block.goes_to]) - block.defines
                )
    return found


@mistake("nb17.live_in", "not-alive")
def _(blocks):  # the largest solution, not the smallest
    found = {label: set("abcd") for label in blocks}
    for _ in range(50):
        for label, block in blocks.items():
            found[label] = set(block.uses) | (
                set().union(*[found[o] for o in block.goes_to]) - block.defines
            )
    return found


@mistake("nb17.solve", "too-often")
def _(given, update, bottom):  # all of them, round by round
    values, changed = dict.fromkeys(given, bottom), True
    while changed:
        changed = False
        for n in given:
            new = update(n, [values[g] for g in given[n]])
            changed |= new != values[n]
            values[n] = new
    return values


@mistake("nb17.solve", "not-solved")
def _(given, update, bottom):  # one round
    values = dict.fromkeys(given, bottom)
    for n in given:
        values[n] = update(n, [values[g] for g in given[n]])
    return values


def worklist(
    start: Any = list,
    readers: Any = None,
    changed: Any = lambda new, old: new != old,
    twice: bool = False,
    last: int = 0,
) -> Any:
    """Answers to nb17.solve that let other nodes wait."""

    def answer(given: Any, update: Any, bottom: Any) -> Any:
        values, waiting = dict.fromkeys(given, bottom), list(start(given))
        while waiting:
            n = waiting.pop(last)
            new = update(n, [values[g] for g in given[n]])
            if changed(new, values[n]):
                values[n] = new
                found = readers(given, n) if readers else [m for m in given if n in given[m]]
                waiting += [m for m in found if twice or m not in waiting]
        return values

    return answer


mistake("nb17.solve", "not-solved")(worklist(start=lambda given: list(given)[:1]))
mistake("nb17.solve", "not-solved")(
    worklist(start=lambda given: [n for n in given if not given[n]])
)  # only those without given ones
mistake("nb17.solve", "not-solved")(
    worklist(readers=lambda given, n: given[n])
)  # the wrong direction
mistake("nb17.solve", "too-often")(
    worklist(readers=lambda given, n: list(given))
)  # everybody waits
mistake("nb17.solve", "no-end")(
    worklist(changed=lambda new, old: True)
)  # waits again without a change
mistake("nb17.solve", "no-values")(lambda given, update, bottom: None)
mistake("nb17.solve", "not-solved")(lambda given, update, bottom: dict.fromkeys(given, bottom))


@mistake("nb17.solve", "other-arguments")
def _(given, update, bottom):  # a set of values: equal ones are one
    return worklist()(given, lambda n, values: update(n, list(dict.fromkeys(values))), bottom)


@mistake("nb17.solve", "too-often")
def _(given, update, bottom):  # computes twice to see whether it changed
    values, waiting = dict.fromkeys(given, bottom), list(given)
    while waiting:
        n = waiting.pop()
        if update(n, [values[g] for g in given[n]]) != values[n]:
            values[n] = update(n, [values[g] for g in given[n]])
            waiting += [m for m in given if n in given[m] and m not in waiting]
    return values


def dominating(
    bottom: Any = frozenset,
    itself: bool = True,
    meet: Any = frozenset.intersection,
    forwards: bool = True,
    entry_alone: bool = True,
) -> Any:
    """Answers to nb17.dominators that forget something."""

    def answer(blocks: Any) -> Any:
        entry = next(iter(blocks))
        before = {
            b: [o for o in blocks if b in blocks[o].goes_to]
            if forwards
            else list(blocks[b].goes_to)
            for b in blocks
        }
        found = dict.fromkeys(blocks, bottom(blocks))
        found[entry] = frozenset({entry})
        for _ in range(len(blocks) + 2):
            for b in blocks:
                if (b != entry or not entry_alone) and before[b]:
                    found[b] = meet(*[found[o] for o in before[b]]) | {b}
        return found if itself else {b: found[b] - {b} for b in found}

    return answer


mistake("nb17.dominators", "missed-dominating")(
    dominating(bottom=lambda blocks: frozenset())
)  # begins with nothing
mistake("nb17.dominators", "missed-dominating")(dominating(itself=False))
mistake("nb17.dominators", "not-dominating")(
    dominating(meet=frozenset.union)
)  # some paths instead of all
mistake("nb17.dominators", "not-dominating")(dominating(forwards=False))
mistake("nb17.dominators", "not-dominating")(
    dominating(entry_alone=False)
)  # something goes back to the entry
mistake("nb17.dominators", "missed-dominating")(lambda blocks: {b: {b} for b in blocks})
mistake("nb17.dominators", "not-dominating")(lambda blocks: {b: set(blocks) for b in blocks})
mistake("nb17.dominators", "no-sets")(lambda blocks: {b: b for b in blocks})


@mistake("nb17.dominators", "missed-dominating")
def _(blocks):  # the immediate one only
    full = dominating()(blocks)
    return {b: {b, *[d for d in full[b] - {b} if len(full[d]) == len(full[b]) - 1]} for b in blocks}


@mistake("nb17.dominators", "missed-dominating")
def _(blocks):  # the only predecessors
    before = {b: [o for o in blocks if b in blocks[o].goes_to] for b in blocks}
    return {b: {b, *(before[b] if len(before[b]) == 1 else [])} for b in blocks}


mistake("nb17.dominators", "not-dominating")(
    dominating(meet=lambda first, *others: first)
)  # one predecessor
mistake("nb17.dominators", "not-dominating")(dominating(meet=lambda *found: max(found, key=len)))
mistake("nb17.dominators", "missed-dominating")(dominating(meet=lambda *found: frozenset()))
mistake("nb17.dominators", "no-sets")(
    lambda blocks: {b: sorted(found) for b, found in dominating()(blocks).items()}
)
mistake("nb17.dominators", "no-sets")(
    lambda blocks: dominating()(blocks)[next(iter(blocks))]
)  # those of the entry
mistake("nb17.dominators", "no-sets")(
    lambda blocks: {b: found for b, found in dominating()(blocks).items() if len(found) > 1}
)
mistake("nb17.dominators", "not-dominating")(
    lambda blocks: {b: {blocks[d] for d in found} for b, found in dominating()(blocks).items()}
)


@mistake("nb17.dominators", "not-dominating")
def _(blocks):  # whom a block dominates, not by whom it is
    full = dominating(bottom=frozenset)(blocks)
    return {b: {d for d in blocks if b in full[d]} for b in blocks}


@mistake("nb17.dominators", "not-dominating")
def _(blocks):  # one round, in the order of the labels
    entry, found = next(iter(blocks)), dict.fromkeys(blocks, frozenset(blocks))
    found[entry] = frozenset({entry})
    for b in blocks:
        before = [found[o] for o in blocks if b in blocks[o].goes_to]
        if before and b != entry:
            found[b] = frozenset.intersection(*before) | {b}
    return found


@mistake("nb17.dominators", "not-dominating")
def _(blocks):  # all that can come before
    found = {b: {b} for b in blocks}
    for _ in blocks:
        for b in blocks:
            for other in blocks[b].goes_to:
                found[other] |= found[b]
    return found
