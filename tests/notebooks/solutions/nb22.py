"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# %% nb22.product
def product(a, b, c, rows, depth, columns):
    program = []
    for i in range(rows):
        for j in range(columns):
            program.append(("fill", 0, 0.0))
            for k in range(depth):
                program += [("load", 1, a, i, k), ("load", 2, b, k, j), ("dot", 0, 1, 2)]
            program.append(("store", c, i, j, 0))
    return program
# %% nb22.fast
def product_in_groups(a, b, c, rows, depth, columns, side=3):
    program = []
    for top in range(0, rows, side):
        for left in range(0, columns, side):
            down, across = range(top, min(top + side, rows)), range(left, min(left + side, columns))
            sums = {(i, j): n for n, (i, j) in enumerate((i, j) for i in down for j in across)}
            program += [("fill", tile, 0.0) for tile in sums.values()]
            free = list(range(len(sums), 16))
            for k in range(depth):
                at_b = {}
                for j in across:
                    at_b[j] = free.pop(0)
                    program.append(("load", at_b[j], b, k, j))
                for i in down:
                    tile = free.pop(0)
                    program.append(("load", tile, a, i, k))
                    program += [("dot", sums[i, j], tile, at_b[j]) for j in across]
                    free.append(tile)
                free += at_b.values()
            program += [("store", c, i, j, tile) for (i, j), tile in sums.items()]
    return program
# %% nb22.compile
def compile_for(computation, arrays, result, new_array):
    program, place, numbers = [], {}, {}

    def emit(*instruction):
        program.append(instruction)

    def size(i):
        dims = i.shape.dimensions
        return dims[0] // 8, dims[1] // 8 if len(dims) == 2 else 1

    def read(tile, i, row, column):
        if i in numbers:
            emit("fill", tile, numbers[i])
        else:
            array, vector = place[i]
            emit("load", tile, array, row, 0 if vector else column)

    for i in computation.post_order():
        name, operands = i.opcode.name, i.operands
        if name == "parameter":
            place[i] = arrays[i.parameter_number], False
        elif name == "constant":
            numbers[i] = float(i.literal.scalar)
        elif name == "broadcast" and operands[0] in numbers:
            numbers[i] = numbers[operands[0]]
        elif name == "broadcast":
            place[i] = place[operands[0]][0], True
        else:
            rows, columns = size(i)
            array = new_array(8 * rows, 8 * columns)
            place[i] = array, len(i.shape.dimensions) == 1
            for row in range(rows):
                for column in range(columns):
                    if name == "dot":
                        turned = tuple(i.attribute("rhs_contracting_dims")) == (1,)
                        emit("fill", 0, 0.0)
                        for k in range(size(operands[0])[1]):
                            read(1, operands[0], row, k)
                            read(2, operands[1], *((column, k) if turned else (k, column)))
                            if turned:
                                emit("transpose", 2, 2)
                            emit("dot", 0, 1, 2)
                    elif name == "reduce":
                        kind = i.called[0].root.opcode.name
                        read(0, operands[0], row, 0)
                        for k in range(1, size(operands[0])[1]):
                            read(1, operands[0], row, k)
                            emit(kind, 0, 0, 1)
                        emit(kind + "-rows", 0, 0)
                    else:
                        for tile, operand in enumerate(operands):
                            read(tile, operand, row, column)
                        emit(name, 0, *range(len(operands)))
                    emit("store", array, row, column, 0)
    rows, columns = size(computation.root)
    for row in range(rows):
        for column in range(columns):
            read(0, computation.root, row, column)
            emit("store", result, row, column, 0)
    return program
# %% nb22.backend
def load(module, machine):
    arrays = [machine.allocate(*p.shape.dimensions) for p in module.entry.parameters()]
    result = machine.allocate(*module.entry.root.shape.dimensions)
    program = compile_for(module.entry, arrays, result, machine.allocate)

    def run(arguments):
        for array, value in zip(arrays, arguments, strict=True):
            machine.copy_in(array, value)
        machine.run(program)
        return machine.copy_out(result)

    return run
