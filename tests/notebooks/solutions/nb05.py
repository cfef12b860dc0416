"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# ruff: noqa: F821
# %% nb05.rules
def is_number(i, number):
    value = splat(i)
    if value is None or value != number:
        return False
    return number != 0 or math.copysign(1, value) == math.copysign(1, number)


def simplify(i):
    name, integer = i.opcode.name, i.shape.is_array and i.shape.element_type.is_integer
    x = i.operands[0] if i.operands else None
    sides = [i.operands, i.operands[::-1]] if len(i.operands) == 2 else []
    if name == "multiply":
        for a, b in sides:
            if is_number(b, 1):
                return a
            if integer and is_number(b, 0):
                return b
    if name == "divide" and is_number(i.operands[1], 1):
        return x
    if name == "add":
        for a, b in sides:
            if is_number(b, 0 if integer else -0.0):
                return a
    if name in ("negate", "not") and x.opcode.name == name:
        return x.operands[0]
    if name == "transpose" and x.opcode.name == "transpose":
        inner, outer = x.attribute("dimensions"), i.attribute("dimensions")
        both = tuple(inner[d] for d in outer)
        if both == tuple(range(len(both))):
            return x.operands[0]
        return i.parent.add("transpose", i.shape, [x.operands[0]], i.attributes.with_values(dimensions=both))
    return None
# %% nb05.unsafe
answers = {
    "x * 0 -> 0": float("inf"),
    "x + 0 -> x": -0.0,
    "x - x -> 0": float("inf"),
    "x / x -> 1": 0.0,
    "x * 1 -> x": None,
    "x * 2 -> x + x": None,
    "x / 4 -> x * 0.25": None,
    "x / 3 -> x * (1/3)": 5.0,
    "max(x, x) -> x": None,
    "(x + y) - y -> x": (1.0, 1e30),
}
# %% nb05.fold
def fold(module):
    changed = False
    for i in list(module.entry.post_order()):
        if not i.operands or any(o.opcode.name != "constant" for o in i.operands):
            continue
        if i.opcode.side_effect or not i.shape.is_array or i.shape.element_count > 64:
            continue
        module.entry.replace(i, module.entry.add_constant(value_of(i)))
        module.entry.remove(i)
        changed = True
    return changed
# %% nb05.prove
def prove(left, right):
    every = []
    for parameter in left.entry.parameters():
        kind = parameter.shape.element_type
        bits = np.arange(2 if kind.is_pred else 256).astype(np.uint8)
        every.append(bits.astype(bool) if kind.is_pred else bits.view(kind.dtype))
    cases = [grid.ravel() for grid in np.meshgrid(*every, indexing="ij")]
    differ = xe.evaluate(left, *cases) != xe.evaluate(right, *cases)
    return tuple(column[differ.argmax()] for column in cases) if differ.any() else None
