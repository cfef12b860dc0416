"""Wrong answers to the exercises of notebook 14."""

from __future__ import annotations

import numpy as np

from tests.explorer.course.mistakes import mistake
from xla_explorer.course.checking.programs import same_bits
from xla_explorer.course.nb14_miscompile import smaller, values_of


@mistake("nb14.first_bad", "too-many-tests")
def _(count, is_bad):  # one after another
    return next(k for k in range(count + 1) if is_bad(k))


@mistake("nb14.first_bad", "good-step")
def _(count, is_bad):  # the wrong end
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if is_bad(middle) else (middle, bad)
    return good


@mistake("nb14.first_bad", "too-many-tests")
def _(count, is_bad):  # takes one step back
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle + 1 if middle + 1 < bad else middle
        else:
            good = middle
    return bad


@mistake("nb14.first_bad", "not-the-first")
def _(count, is_bad):
    return count


@mistake("nb14.first_bad", "no-step")
def _(count, is_bad):
    return None


@mistake("nb14.first_bad", "no-step")
def _(count, is_bad):
    return is_bad(count)


@mistake("nb14.first_bad", "no-such-step")
def _(count, is_bad):
    return count if is_bad(count + 1) else 1


@mistake("nb14.first_bad", "too-many-tests")
def _(count, is_bad):  # never gets nearer
    good, bad = 0, count
    while good < bad:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad


@mistake("nb14.first_bad", "too-many-tests")
def _(count, is_bad):  # asks what it knows
    assert is_bad(count) and not is_bad(0)
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if is_bad(middle) else (middle, bad)
    return bad


def first(before, after, arguments, same, order=None):
    right, got = values_of(before, *arguments), values_of(after, *arguments)
    for i in order or after.entry.post_order():
        if i.name in right and i.name in got and not same(right[i.name], got[i.name]):
            return i.name
    return None


@mistake("nb14.first_wrong", "another-culprit", 6)
def _(before, after, arguments):  # equal numbers: the sign of a zero is lost
    return first(
        before, after, arguments, lambda a, b: np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    )


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # a NaN is not itself
    return first(
        before, after, arguments, lambda a, b: a.tobytes() == b.tobytes() and not np.isnan(a).any()
    )


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # near enough
    return first(before, after, arguments, lambda a, b: np.allclose(a, b, rtol=0.5, equal_nan=True))


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # the last one
    return first(before, after, arguments, same_bits, after.entry.post_order()[::-1])


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # by the alphabet
    return first(
        before, after, arguments, same_bits, sorted(after.entry.post_order(), key=lambda i: i.name)
    )


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):
    return after.entry.root.name


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):
    return None


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # the opcode
    name = first(before, after, arguments, same_bits)
    return name and after.find(name).opcode.name


@mistake("nb14.first_wrong", "raised-KeyError")
def _(before, after, arguments):  # names of one module only
    right, got = values_of(before, *arguments), values_of(after, *arguments)
    return next(
        (i.name for i in before.entry.post_order() if not same_bits(right[i.name], got[i.name])),
        None,
    )


@mistake("nb14.shrink", "not-the-smallest")
def _(module, still_fails):
    return module


@mistake("nb14.shrink", "not-the-smallest")
def _(module, still_fails):  # one step
    return next((one for one in smaller(module) if still_fails(one)), module)


@mistake("nb14.shrink", "not-the-smallest")
def _(module, still_fails):  # goes on where it was
    for candidate in list(smaller(module)):
        if candidate.instruction_count() < module.instruction_count() and still_fails(candidate):
            module = candidate
    return module


@mistake("nb14.shrink", "does-not-fail")
def _(module, still_fails):  # never asks
    for _ in range(20):
        module = next(smaller(module), module)
    return module


@mistake("nb14.shrink", "does-not-fail")
def _(module, still_fails):  # the last one tried
    last = module
    for candidate in smaller(module):
        last = candidate
        if still_fails(candidate):
            module = candidate
    return last


@mistake("nb14.shrink", "no-module")
def _(module, still_fails):
    return module.to_text()


@mistake("nb14.shrink", "no-module")
def _(module, still_fails):
    return [one for one in smaller(module) if still_fails(one)]


@mistake("nb14.shrink", "module-changed")
def _(module, still_fails):
    module.entry.set_root(module.entry.parameters()[0])
    return module


@mistake("nb14.shrink", "too-many-trials")
def _(module, still_fails):  # all combinations
    def best(one):
        found = [best(candidate) for candidate in smaller(one) if still_fails(candidate)]
        return min([one, *found], key=lambda m: m.instruction_count())

    return best(module)


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # all of them
    right, got = values_of(before, *arguments), values_of(after, *arguments)
    return [
        i.name
        for i in after.entry.post_order()
        if i.name in right and not same_bits(right[i.name], got[i.name])
    ] or None


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # the value instead of the name
    name = first(before, after, arguments, same_bits)
    return name and values_of(after, *arguments)[name].tolist()


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # as the text prints it
    name = first(before, after, arguments, same_bits)
    return name and f"%{name}"


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # the first argument only
    return first(before, after, [np.zeros_like(a) for a in arguments], same_bits)


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # the text, not the values
    old = {i.name: i.opcode.name for i in before.entry.post_order()}
    return next(
        (
            i.name
            for i in after.entry.post_order()
            if old.get(i.name, i.opcode.name) != i.opcode.name
        ),
        None,
    )


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # a sum hides what cancels
    return first(before, after, arguments, lambda a, b: np.nansum(a) == np.nansum(b))


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # from the root, one operand down
    right, got = values_of(before, *arguments), values_of(after, *arguments)
    wrong, i = None, after.entry.root
    while i.name in right and not same_bits(right[i.name], got[i.name]):
        wrong = i.name
        if not i.operands:
            break
        i = i.operands[0]
    return wrong


def shrinking(keep, again=True, most=1000):
    """Answers to nb14.shrink that take the candidates which `keep` accepts."""

    def answer(module, still_fails):
        for _ in range(most):
            found = next((one for one in smaller(module) if keep(one, module, still_fails)), None)
            if found is None:
                break
            module = found
        return module

    return answer


mistake("nb14.shrink", "not-the-smallest")(
    shrinking(lambda one, module, fails: fails(one), most=3)
)  # three steps
mistake("nb14.shrink", "does-not-fail")(
    shrinking(lambda one, module, fails: not fails(one))
)  # the wrong way round
mistake("nb14.shrink", "not-the-smallest")(  # parameters are never left out
    shrinking(
        lambda one, module, fails: (
            len(one.entry.parameters()) == len(module.entry.parameters()) and fails(one)
        )
    )
)
mistake("nb14.shrink", "not-the-smallest")(  # the root must stay
    shrinking(
        lambda one, module, fails: one.entry.root.name == module.entry.root.name and fails(one)
    )
)
mistake("nb14.shrink", "not-the-smallest")(  # one instruction at a time
    shrinking(
        lambda one, module, fails: (
            one.instruction_count() == module.instruction_count() - 1 and fails(one)
        )
    )
)
mistake("nb14.shrink", "no-module")(lambda module, still_fails: still_fails(module))
mistake("nb14.shrink", "no-module")(lambda module, still_fails: module.entry)
mistake("nb14.shrink", "no-module")(lambda module, still_fails: None)
mistake("nb14.shrink", "raised-TypeError")(lambda module, still_fails: smaller(module)[0])


@mistake("nb14.shrink", "raised-StopIteration")
def _(module, still_fails):  # until there is nothing left
    while True:
        module = next(one for one in smaller(module) if still_fails(one))


@mistake("nb14.shrink", "not-the-smallest")
def _(module, still_fails):  # the smallest of the first steps
    return min(
        [one for one in smaller(module) if still_fails(one)],
        key=lambda one: one.instruction_count(),
        default=module,
    )


def halved(
    start=0,
    end=0,
    gap=1,
    answer=lambda good, bad: bad,
    middle=lambda good, bad: (good + bad) // 2,
    shift=0,
):
    """Answers to nb14.first_bad that begin, stop or step elsewhere."""

    def first_bad(count, is_bad):
        good, bad = start, count + end
        while bad - good > gap:
            between = middle(good, bad)
            if is_bad(between):
                bad = between + shift
            else:
                good = between
        return answer(good, bad)

    return first_bad


mistake("nb14.first_bad", "too-many-tests")(halved(start=-1))  # reads step 0
mistake("nb14.first_bad", "too-many-tests")(halved(end=2))
mistake("nb14.first_bad", "not-the-first")(halved(gap=2))  # stops early
mistake("nb14.first_bad", "good-step")(halved(answer=lambda good, bad: good))
mistake("nb14.first_bad", "no-such-step")(
    halved(answer=lambda good, bad: bad + 1 if bad < 64 else bad)
)
mistake("nb14.first_bad", "no-step")(halved(answer=lambda good, bad: (good, bad)))
mistake("nb14.first_bad", "no-step")(halved(answer=lambda good, bad: str(bad)))
mistake("nb14.first_bad", "no-step")(halved(answer=lambda good, bad: (good + bad) / 2))
mistake("nb14.first_bad", "too-many-tests")(
    halved(middle=lambda good, bad: good + 1)
)  # from the left
mistake("nb14.first_bad", "too-many-tests")(
    halved(middle=lambda good, bad: bad - 1)
)  # from the right
mistake("nb14.first_bad", "too-many-tests")(
    halved(middle=lambda good, bad: good + max((bad - good) // 4, 1))
)
mistake("nb14.first_bad", "good-step")(lambda count, is_bad: 1)


@mistake("nb14.shrink", "not-the-smallest")
def _(module, still_fails):  # five steps, and no more
    for _ in range(5):
        module = next((one for one in smaller(module) if still_fails(one)), module)
    return module


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # in the order of the old module
    right, got = values_of(before, *arguments), values_of(after, *arguments)
    names = [i.name for i in before.entry.post_order()]
    return next(
        (n for n in names if n in right and n in got and not same_bits(right[n], got[n])), None
    )
