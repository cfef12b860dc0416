"""Wrong answers to the exercises of notebook 06."""

from __future__ import annotations

import xla_explorer as xe
from tests.explorer.course.mistakes import mistake, solution, variant
from xla_explorer.course.nb06_fusion_legality import KERNELS_OF_THEIR_OWN

other_path = solution("nb06.path", "other_path")
may_merge = solution(
    "nb06.legality",
    "may_merge",
    xe=xe,
    other_path=other_path,
    NO_LOOP=("parameter", "constant", "tuple", "get-tuple-element", "after-all"),
    OWN_KERNEL=KERNELS_OF_THEIR_OWN,
)


@mistake("nb06.path", "missed-path")
def _(p, c):  # one step only
    return next(([p, m, c] for m in c.operands if m is not p and p in m.operands), None)


@mistake("nb06.path", "no-such-path", 3)
def _(p, c):
    return [p, c] if p in c.operands else other_path(p, c)


@mistake("nb06.path", "not-a-path", 4)
def _(p, c):
    found = other_path(p, c)
    return found and found[::-1]


mistake("nb06.path", "missed-path")(lambda p, c: None)


def legality_without(*codes):
    def judge(p, c):
        reason = may_merge(p, c)
        return None if reason is not None and reason.code in codes else reason

    return judge


for code in (
    "not-an-operand",
    "no-loop",
    "side-effect",
    "own-kernel",
    "reduce-is-root-only",
    "control-dependency",
    "would-create-cycle",
):
    mistake("nb06.legality", f"wrong-code-{code}")(legality_without(code))
mistake("nb06.legality", "no-reason")(lambda p, c: may_merge(p, c) is None)
mistake("nb06.legality", "no-message")(
    lambda p, c: (r := may_merge(p, c)) and xe.Reason(r.code, "")
)
mistake("nb06.legality", "wrong-code-accepted")(
    lambda p, c: may_merge(p, c) or xe.Reason("no-loop", "never")
)


mistake("nb06.path", "not-a-path")(
    lambda p, c: (found := other_path(p, c)) and found[1:-1]
)  # without its ends
mistake("nb06.path", "not-a-path")(lambda p, c: other_path(p, c) and [p, c])
mistake("nb06.path", "not-a-path")(lambda p, c: (found := other_path(p, c)) and set(found))
mistake("nb06.path", "another-form")(
    lambda p, c: (found := other_path(p, c)) and [i.name for i in found]
)
mistake("nb06.path", "no-such-path")(lambda p, c: other_path(p, c) or [])  # an empty list for None
mistake("nb06.path", "missed-path")(
    lambda p, c: other_path(p, c) if p in c.operands else None
)  # where there is no edge, there may be a way


def downwards(p, c, of=lambda i: (*i.operands, *i.control_predecessors), seen=None):
    seen, stack = set() if seen is None else seen, [[c]]
    while stack:
        path = stack.pop()
        for before in of(path[0]):
            if before is p and path[0] is not c:
                return [p, *path]
            if before is not p and before not in seen:
                seen.add(before)
                stack.append([before, *path])
    return None


mistake("nb06.path", "missed-path", 4)(
    lambda p, c: downwards(p, c, lambda i: i.operands)
)  # control predecessors are edges
mistake("nb06.path", "missed-path")(lambda p, c: downwards(p, c, lambda i: i.operands[:1]))
mistake("nb06.path", "missed-path")(
    lambda p, c, seen=set(): downwards(p, c, seen=seen)
)  # one set for all calls
mistake("nb06.path", "no-such-path")(lambda p, c: downwards(c, p))  # from the other end


@mistake("nb06.path", "too-slow")
def _(p, c):  # the stack is never emptied
    stack = [c]
    while stack:
        for before in stack[-1].operands:
            if before is p and stack[-1] is not c:
                return [p, stack[-1], c]
    return None


@mistake("nb06.path", "too-slow")
def _(p, c):  # what many share is visited again and again
    def ways(i):
        for before in (*i.operands, *i.control_predecessors):
            yield from [[p, i]] if before is p else [[*way, i] for way in ways(before)]

    return next((way for way in ways(c) if len(way) > 2), None)


@mistake("nb06.path", "module-changed")
def _(p, c):  # cuts the edge, to see whether there is another one
    for k, o in enumerate(c.operands):
        if o is p and len(c.operands) == 2:
            p.parent.replace_operand(c, k, c.operands[1 - k])
    return other_path(p, c)


@variant("nb06.path")
def _(p, c):  # from the producer, by readers, as a tuple
    stack = [(p,)]
    while stack:
        path = stack.pop()
        for reader in p.parent.instructions.values():
            if path[-1] in (*reader.operands, *reader.control_predecessors) and reader not in path:
                if reader is not c:
                    stack.append((*path, reader))
                elif len(path) > 1:
                    return (*path, c)
    return None


mistake("nb06.legality", "no-reason")(lambda p, c: (r := may_merge(p, c)) and r.code)
mistake("nb06.legality", "no-reason")(lambda p, c: (r := may_merge(p, c)) and (r.code, r.message))
mistake("nb06.legality", "wrong-code-not-an-operand")(
    lambda p, c: (r := may_merge(p, c)) and xe.Reason(r.code.replace("-", "_"), r.message)
)
mistake("nb06.legality", "wrong-code-accepted")(lambda p, c: may_merge(c, p))
mistake("nb06.legality", "wrong-code-no-loop")(  # the consumer first
    lambda p, c: (
        may_merge(p, c)
        and (
            xe.Reason("side-effect", f"%{c.name}")
            if p in c.operands and c.opcode.side_effect
            else may_merge(p, c)
        )
    )
)
mistake("nb06.legality", "wrong-code-accepted")(  # a consumer that is a reduce may be merged
    lambda p, c: (
        may_merge(p, c)
        or (xe.Reason("reduce-is-root-only", f"%{c.name}") if c.opcode.name == "reduce" else None)
    )
)
