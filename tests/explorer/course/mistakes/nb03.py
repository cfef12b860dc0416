"""Wrong answers to the exercises of notebook 03."""

from __future__ import annotations

from tests.explorer.course.mistakes import mistake, variant

mistake("nb03.live", "other-set", 3)(
    lambda computation: {computation.root, *computation.root.operands}
)
mistake("nb03.live", "other-set", 2)(lambda computation: set(computation.instructions.values()))


def sweep(
    module,
    order,
    may=lambda i: i.opcode.name != "parameter" and not i.opcode.side_effect,
    computations=None,
):
    changed = False
    for c in computations or module.computations.values():
        for i in order(list(c.post_order())):
            if not i.users and i is not c.root and may(i):
                c.remove(i)
                changed = True
    return changed


mistake("nb03.dce", "dead-left", 3)(lambda m: sweep(m, lambda o: o))
mistake("nb03.dce", "parameter-removed", 2)(
    lambda m: sweep(m, reversed, lambda i: not i.opcode.side_effect)
)
mistake("nb03.dce", "side-effect-lost", 4)(
    lambda m: sweep(m, reversed, lambda i: i.opcode.name != "parameter")
)
mistake("nb03.dce", "dead-left")(lambda m: sweep(m, reversed, computations=[m.entry]))
mistake("nb03.dce", "untrue-verdict", 1)(lambda m: sweep(m, reversed) or True)
mistake("nb03.dce", "untrue-verdict", 2)(lambda m: sweep(m, reversed) and False)
mistake("nb03.dce", "no-verdict", 2)(lambda m: sweep(m, reversed) and None)
mistake("nb03.dce", "raised-ValueError", 2)(
    lambda m: bool([m.entry.remove(i) for i in list(m.entry.post_order())[:1]])
)


@mistake("nb03.dce", "value-changed", 2)
def _(m):
    i = m.entry.root
    if i.opcode.name == "negate":
        m.entry.replace(i, i.operands[0])
        m.entry.remove(i)
        return True
    return False


def needed(computation, of=lambda i: i.operands, seen=None):
    seen = set() if seen is None else seen
    stack = [computation.root]
    while stack:
        i = stack.pop()
        if i not in seen:
            seen.add(i)
            stack += of(i)
    return seen


mistake("nb03.live", "other-set", 2)(lambda c: needed(c) - {c.root})
mistake("nb03.live", "other-set", 2)(lambda c: needed(c) - set(c.parameters()))
mistake("nb03.live", "other-set", 3)(lambda c: needed(c) | set(c.parameters()))
mistake("nb03.live", "other-set")(lambda c: needed(c, lambda i: i.users))  # downwards
mistake("nb03.live", "other-set")(
    lambda c: needed(c, lambda i: i.operands[:1])
)  # the first operand only
mistake("nb03.live", "other-set")(
    lambda c: {i for i in c.instructions.values() if i.users} | {c.root}
)  # whoever has a reader
mistake("nb03.live", "other-set", 2)(lambda c: [*needed(c), c.root])  # the root twice
mistake("nb03.live", "other-set")(
    lambda c, seen=set(): needed(c, seen=seen)
)  # one set for all calls
mistake("nb03.live", "another-form")(lambda c: {i.name for i in needed(c)})
mistake("nb03.live", "another-form")(lambda c: None)
mistake("nb03.live", "raised-AttributeError")(lambda c: needed(c.entry))  # taken for a module


@mistake("nb03.live", "too-slow")
def _(c):  # visits what is shared again and again
    def below(i):
        return {i}.union(*[below(o) for o in i.operands])

    return below(c.root)


@mistake("nb03.live", "module-changed", 3)
def _(c):  # does not only look
    found = needed(c)
    for i in reversed(list(c.post_order())):
        if (
            i not in found
            and i.opcode.name != "parameter"
            and not i.users
            and not i.opcode.side_effect
        ):
            c.remove(i)
    return found


@variant("nb03.live")
def _(c):  # backwards over the post order
    found = {c.root}
    for i in reversed(list(c.post_order())):
        if i in found:
            found |= set(i.operands)
    return frozenset(found)


@mistake("nb03.dce", "untrue-verdict")
def _(m):  # the last computation's verdict
    for c in m.computations.values():
        changed = sweep(m, reversed, computations=[c])
    return changed


@mistake("nb03.dce", "untrue-verdict")
def _(m):  # a copy is made clean
    return sweep(m.clone(), reversed)


@mistake("nb03.dce", "dead-left")
def _(m):  # ends at the first that is removed
    for c in m.computations.values():
        for i in reversed(list(c.post_order())):
            if (
                not i.users
                and i is not c.root
                and i.opcode.name != "parameter"
                and not i.opcode.side_effect
            ):
                c.remove(i)
                return True
    return False


mistake("nb03.dce", "no-verdict")(lambda m: int(sweep(m, reversed)))  # 0 or 1
mistake("nb03.dce", "dead-left")(
    lambda m: sweep(m, reversed, lambda i: i.opcode.name == "exponential")
)  # what the example has
mistake("nb03.dce", "dead-left")(
    lambda m: sweep(
        m,
        reversed,
        lambda i: i.opcode.name not in ("parameter", "reduce") and not i.opcode.side_effect,
    )
)
mistake("nb03.dce", "raised-AttributeError")(lambda m: sweep(m, reversed, computations=[m.root]))


@mistake("nb03.dce", "too-slow")
def _(m):  # until nothing changes, but it looks at what changed last time
    changed = sweep(m, reversed)
    while changed or m.entry.root is not None:
        sweep(m, reversed)
    return changed


@variant("nb03.dce")
def _(m):  # round by round
    changed = False
    while sweep(m, lambda order: order):
        changed = True
    return changed
