"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# ruff: noqa: F821
# %% nb11.cost
def cost(i):
    moved = i.shape.byte_size + sum(o.shape.byte_size for o in i.operands)
    name = i.opcode.name
    if name == "dot":
        contracted = math.prod(i.operands[0].shape.dimensions[d] for d in i.attribute("lhs_contracting_dims"))
        return 2 * i.shape.element_count * contracted, moved
    if name == "reduce":
        return i.operands[0].shape.element_count - i.shape.element_count, moved
    return (0 if name in MOVES else i.shape.element_count), moved
# %% nb11.bound
def attainable(operations, bytes_moved, peak, bandwidth):
    return operations / max(operations / peak, bytes_moved / bandwidth)
# %% nb11.place
answers = {
    "add of f32[1000000]": "memory",
    "exponential of f32[1000000]": "memory",
    "sum of f32[1000,1000] over dimension 1": "memory",
    "dot of f32[1024,1024] and f32[1024,1024]": "arithmetic",
    "dot of f32[1024,1024] and f32[1024,1]": "memory",
}
# %% nb11.fused
def fused_cost(computation):
    needed, todo = [], [computation.root]
    while todo:
        i = todo.pop()
        if i not in needed:
            needed.append(i)
            todo += i.operands
    root = computation.root
    results = root.operands if root.opcode.name == "tuple" else [root]
    read = [i for i in needed if i.opcode.name == "parameter"]
    work = [i for i in needed if i.opcode.name not in ("parameter", "constant", "tuple")]
    return sum(cost(i)[0] for i in work), sum(i.shape.byte_size for i in [*read, *results])
# %% nb11.predict
def predict(operations, moved, touched, machine):
    bandwidth = next(speed for size, speed in machine.levels if touched <= size)
    return machine.launch + max(operations / machine.peak, moved / bandwidth)
