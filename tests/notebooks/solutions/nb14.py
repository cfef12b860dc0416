"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# ruff: noqa: F821

# %% nb14.first_bad
def first_bad(count, is_bad):
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad
# %% nb14.first_wrong
def first_wrong(before, after, arguments):
    right, got = values_of(before, *arguments), values_of(after, *arguments)
    for i in after.entry.post_order():
        if i.name in right and i.name in got and not same_bits(right[i.name], got[i.name]):
            return i.name
    return None
# %% nb14.shrink
def shrink(module, still_fails):
    progress = True
    while progress:
        progress = False
        for candidate in smaller(module):
            if still_fails(candidate):
                module, progress = candidate, True
                break
    return module
