"""Wrong answers to the exercises of notebook 04."""

from __future__ import annotations

from typing import Any

from tests.explorer.course.mistakes import mistake, variant


def cse(m, key, skip=("parameter",), effects=False):
    changed, seen = False, {}
    for i in list(m.entry.post_order()):
        if i.opcode.name in skip or (i.opcode.side_effect and not effects):
            continue
        first = seen.setdefault(key(i), i)
        if first is not i:
            m.entry.replace(i, first)
            m.entry.remove(i)
            changed = True
    return changed


def cse_by(key, **options):
    return lambda m: cse(m, key, **options)


def full(i):
    return (
        i.opcode,
        i.shape,
        i.operands,
        i.attributes,
        i.called,
        i.payload.key if i.opcode.name == "constant" else None,
    )


def ordered(i):
    operands = (
        tuple(sorted([o.id for o in i.operands]))
        if i.opcode.commutative
        else tuple([o.id for o in i.operands])
    )
    return (
        i.opcode,
        i.shape,
        operands,
        i.attributes,
        i.called,
        i.payload.key if i.opcode.name == "constant" else None,
    )


mistake("nb04.cse", "not-well-formed")(cse_by(lambda i: (*full(i)[:1], *full(i)[2:])))
for exercise, right in (("nb04.cse", full), ("nb04.commutative", ordered)):

    def without(*places: int, key: Any = right) -> Any:
        return lambda i: tuple([part for k, part in enumerate(key(i)) if k not in places])

    mistake(exercise, "value-changed")(cse_by(without(3)))
    mistake(exercise, "value-changed")(cse_by(without(4)))
    mistake(exercise, "value-changed")(cse_by(without(5)))
    mistake(exercise, "side-effect-lost")(cse_by(right, effects=True))
mistake("nb04.cse", "value-changed")(
    lambda m: cse(
        m, lambda i: (*full(i)[:5], i.literal.scalar if i.opcode.name == "constant" else None)
    )
)
mistake("nb04.cse", "equal-left", 4)(lambda m: cse(m, full, skip=("parameter", "constant")))
mistake("nb04.commutative", "equal-left", 4)(lambda m: cse(m, full))
mistake("nb04.commutative", "value-changed", 5)(
    lambda m: cse(
        m, lambda i: (*full(i)[:2], tuple(sorted(o.id for o in i.operands)), *full(i)[3:])
    )
)


mistake("nb04.cse", "equal-left")(cse_by(lambda i: i.name))  # no two have one name
mistake("nb04.cse", "equal-left")(cse_by(str))  # nor one line of text
mistake("nb04.cse", "value-changed")(cse_by(without(0, key=full)))  # negate and abs of one value
mistake("nb04.cse", "value-changed")(
    cse_by(lambda i: (*full(i)[:2], *full(i)[3:]))
)  # nothing about the operands
mistake("nb04.cse", "value-changed")(
    cse_by(lambda i: (*full(i)[:2], i.operands[:1], *full(i)[3:]))
)  # the first operand
mistake("nb04.cse", "value-changed")(
    cse_by(lambda i: (*full(i)[:2], frozenset(i.operands), *full(i)[3:]))
)
mistake("nb04.cse", "no-verdict", 3)(lambda m: [cse(m, full)].clear())
mistake("nb04.cse", "untrue-verdict")(lambda m: cse(m, full) or True)
mistake("nb04.cse", "untrue-verdict")(lambda m: bool(cse(m, full) and False))
mistake("nb04.cse", "parameter-removed")(
    lambda m: cse(m, lambda i: i.shape if i.opcode.name == "parameter" else full(i), skip=())
)


@mistake("nb04.cse", "equal-left", 4)
def _(m):  # replaced, and left behind
    changed, seen = False, {}
    for i in list(m.entry.post_order()):
        if (
            i.opcode.name != "parameter"
            and not i.opcode.side_effect
            and (first := seen.setdefault(full(i), i)) is not i
        ):
            m.entry.replace(i, first)
            changed = True
    return changed


@mistake("nb04.cse", "equal-left")
def _(m):  # all keys are made before anything is merged
    keys = {i: full(i) for i in m.entry.post_order()}
    return cse(m, lambda i: keys[i])


@mistake("nb04.cse", "equal-left")
def _(m):  # neighbours in the order only
    changed, last = False, None
    for i in list(m.entry.post_order()):
        if (
            last is not None
            and i.opcode.name != "parameter"
            and not i.opcode.side_effect
            and full(i) == full(last)
        ):
            m.entry.replace(i, last)
            m.entry.remove(i)
            changed = True
        else:
            last = i
    return changed


@mistake("nb04.cse", "equal-left")
def _(m):  # the first pair
    seen = {}
    for i in list(m.entry.post_order()):
        if (
            i.opcode.name != "parameter"
            and not i.opcode.side_effect
            and (first := seen.setdefault(full(i), i)) is not i
        ):
            m.entry.replace(i, first)
            m.entry.remove(i)
            return True
    return False


@mistake("nb04.cse", "raised-ValueError", 4)
def _(m):  # the other order of the two steps
    seen, changed = {}, False
    for i in list(m.entry.post_order()):
        if (
            i.opcode.name != "parameter"
            and not i.opcode.side_effect
            and (first := seen.setdefault(full(i), i)) is not i
        ):
            m.entry.remove(i)
            m.entry.replace(i, first)
            changed = True
    return changed


mistake("nb04.commutative", "equal-left", 6)(
    lambda m: cse(
        m, lambda i: ordered(i) if i.opcode.name in ("add", "multiply") else full(i)
    )  # maximum and minimum forgotten
)
mistake("nb04.commutative", "value-changed")(
    lambda m: cse(
        m,
        lambda i: (*full(i)[:2], tuple(sorted([o.opcode.name for o in i.operands])), *full(i)[3:]),
    )  # what the operands are, not which
)
mistake("nb04.commutative", "untrue-verdict")(lambda m: not cse(m, ordered))
mistake("nb04.commutative", "raised-TypeError")(
    lambda m: cse(m, lambda i: (i.opcode, tuple(sorted(i.operands))))
)  # instructions have no order


@variant("nb04.cse")
def _(m):  # until nothing changes
    changed = False
    while cse(m, full):
        changed = True
    return changed


@variant("nb04.commutative")
def _(m):  # sorted by name, or by id()
    return cse(
        m,
        lambda i: (
            *full(i)[:2],
            tuple(sorted(i.operands, key=lambda o: o.name)) if i.opcode.commutative else i.operands,
            *full(i)[3:],
        ),
    )


def commutative(part):
    """Return an answer to nb04.commutative with a replacement of operands in its keys."""
    return lambda m: cse(m, lambda i: (*full(i)[:2], part(i), *full(i)[3:]))


mistake("nb04.commutative", "value-changed")(
    commutative(lambda i: frozenset(i.operands))
)  # x + x is y + x's set; subtract is not ordered
mistake("nb04.commutative", "value-changed")(
    commutative(lambda i: frozenset(i.operands) if i.opcode.commutative else tuple(i.operands[:1]))
)
mistake("nb04.commutative", "equal-left")(
    commutative(lambda i: tuple(i.operands[::-1]) if i.opcode.commutative else len(i.operands))
)
mistake("nb04.commutative", "equal-left")(
    commutative(lambda i: tuple(i.operands[::-1]))
)  # all turned round: nothing meets
mistake("nb04.commutative", "value-changed")(
    commutative(lambda i: sum(o.id for o in i.operands) if i.opcode.commutative else i.operands)
)  # 1 + 4 is 2 + 3
mistake("nb04.commutative", "value-changed")(
    commutative(lambda i: max((o.id for o in i.operands), default=0))
)
mistake("nb04.commutative", "value-changed")(
    commutative(lambda i: tuple(sorted(str(o.shape) for o in i.operands)))
)
mistake("nb04.commutative", "equal-left")(lambda m: cse(m, ordered, skip=("parameter", "constant")))
mistake("nb04.commutative", "no-verdict")(lambda m: [cse(m, ordered)])
mistake("nb04.commutative", "untrue-verdict")(lambda m: cse(m, ordered) and False)
