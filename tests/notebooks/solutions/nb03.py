"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# %% nb03.live
def live(computation):
    found, stack = set(), [computation.root]
    while stack:
        i = stack.pop()
        if i not in found:
            found.add(i)
            stack += i.operands
    return found
# %% nb03.dce
def dce(module):
    changed = False
    for computation in module.computations.values():
        for i in reversed(list(computation.post_order())):
            held = i.users or i is computation.root or i.opcode.name == "parameter" or i.opcode.side_effect
            if not held:
                computation.remove(i)
                changed = True
    return changed
