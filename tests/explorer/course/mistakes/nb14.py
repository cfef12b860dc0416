"""Wrong answers to the exercises of notebook 14."""

from __future__ import annotations

import numpy as np

from tests.explorer.course.mistakes import mistake
from xla_explorer.course.checking.programs import same_bits
from xla_explorer.course.nb14_miscompile import smaller, values_of


@mistake("nb14.first_bad", "too-many-questions")
def _(count, is_bad):  # one after another
    return next(k for k in range(count + 1) if is_bad(k))


@mistake("nb14.first_bad", "good-step")
def _(count, is_bad):  # the wrong end
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if is_bad(middle) else (middle, bad)
    return good


@mistake("nb14.first_bad", "too-many-questions")
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


@mistake("nb14.first_bad", "too-many-questions")
def _(count, is_bad):  # never gets nearer
    good, bad = 0, count
    while good < bad:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad


@mistake("nb14.first_bad", "too-many-questions")
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
    return first(before, after, arguments, lambda a, b: np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # a NaN is not itself
    return first(before, after, arguments, lambda a, b: a.tobytes() == b.tobytes() and not np.isnan(a).any())


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # near enough
    return first(before, after, arguments, lambda a, b: np.allclose(a, b, rtol=0.5, equal_nan=True))


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # the last one
    return first(before, after, arguments, same_bits, after.entry.post_order()[::-1])


@mistake("nb14.first_wrong", "another-culprit")
def _(before, after, arguments):  # by the alphabet
    return first(before, after, arguments, same_bits, sorted(after.entry.post_order(), key=lambda i: i.name))


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
    return next((i.name for i in before.entry.post_order() if not same_bits(right[i.name], got[i.name])), None)


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
