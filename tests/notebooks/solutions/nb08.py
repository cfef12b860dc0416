"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# %% nb08.liveness
def live_ranges(computation):
    order = list(computation.post_order())
    place = {i: number for number, i in enumerate(order)}
    root = computation.root
    results = root.operands if root.opcode.name == "tuple" else (root,)
    ranges = {}
    for i in order:
        if i.opcode.name in ("parameter", "constant", "tuple"):
            continue
        last = len(order) - 1 if i in results else max([place[i]] + [place[u] for u in i.users])
        ranges[i] = (place[i], last)
    return ranges
# %% nb08.assign
def assign(ranges):
    offsets = [0] * len(ranges)
    placed = []
    for k in sorted(range(len(ranges)), key=lambda k: (-ranges[k][0], ranges[k][1])):
        size, first, last = ranges[k]
        neighbours = sorted((offsets[j], offsets[j] + ranges[j][0]) for j in placed if ranges[j][1] <= last and first <= ranges[j][2])
        offset = 0
        for low, high in neighbours:
            if low - offset >= size:
                break
            offset = max(offset, high)
        offsets[k] = offset
        placed.append(k)
    return offsets
