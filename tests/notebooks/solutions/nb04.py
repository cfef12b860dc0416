"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# %% nb04.cse
def cse(module):
    changed = False
    seen = {}
    for i in list(module.entry.post_order()):
        if i.opcode.name == "parameter" or i.opcode.side_effect:
            continue
        value = i.payload.key if i.opcode.name == "constant" else None
        key = (i.opcode, i.shape, i.operands, i.attributes, i.called, value)
        first = seen.setdefault(key, i)
        if first is not i:
            module.entry.replace(i, first)
            module.entry.remove(i)
            changed = True
    return changed
# %% nb04.commutative
def commutative_cse(module):
    changed = False
    seen = {}
    for i in list(module.entry.post_order()):
        if i.opcode.name == "parameter" or i.opcode.side_effect:
            continue
        operands = [o.id for o in i.operands]
        if i.opcode.commutative:
            operands.sort()
        value = i.payload.key if i.opcode.name == "constant" else None
        key = (i.opcode, i.shape, tuple(operands), i.attributes, i.called, value)
        first = seen.setdefault(key, i)
        if first is not i:
            module.entry.replace(i, first)
            module.entry.remove(i)
            changed = True
    return changed
