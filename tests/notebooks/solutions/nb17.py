"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""

# %% nb17.live_in
def live_in(blocks):
    alive = {label: set() for label in blocks}
    changed = True
    while changed:
        changed = False
        for label, block in reversed(blocks.items()):
            out = set().union(*[alive[other] for other in block.goes_to])
            new = set(block.uses) | (out - block.defines)
            changed |= new != alive[label]
            alive[label] = new
    return alive
# %% nb17.solve
def solve(given, update, bottom):
    readers = {n: [] for n in given}
    for n, others in given.items():
        for other in dict.fromkeys(others):
            readers[other].append(n)
    values = dict.fromkeys(given, bottom)
    waiting = dict.fromkeys(given)
    while waiting:
        n = next(iter(waiting))
        del waiting[n]
        new = update(n, [values[g] for g in given[n]])
        if new != values[n]:
            values[n] = new
            waiting.update(dict.fromkeys(readers[n]))
    return values
# %% nb17.dominators
def dominators(blocks):
    entry = next(iter(blocks))
    before = {label: [other for other in blocks if label in blocks[other].goes_to] for label in blocks}

    def update(label, found):
        return frozenset({label}) if label == entry else frozenset.intersection(*found) | {label}

    return solve(before, update, frozenset(blocks))
