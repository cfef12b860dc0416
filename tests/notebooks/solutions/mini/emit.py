"""Reference solution of nb09.mini."""

import struct
from math import prod

ROWS, COLUMNS = 8, 32  # of a tile of a matrix product
BINARY = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
CALLS = {"maximum": "llvm.maximum.f32", "exponential": "llvm.exp.f32", "tanh": "llvm.tanh.f32", "rsqrt": "llvm.sqrt.f32"}


def number(value):
    return "0x" + struct.pack(">d", struct.unpack("f", struct.pack("f", value))[0]).hex().upper()


def largest(most, count):
    """The largest power of two up to `most` that divides a count."""
    while count % most:
        most //= 2
    return most


class Writer:
    def __init__(self, places):
        self.places, self.lines, self.slots, self.count, self.known = places, [], [], 0, {}

    def line(self, text):
        self.count += 1
        self.lines.append(f"%t{self.count} = {text}")
        return f"%t{self.count}"

    def slot(self, type):
        self.count += 1
        self.slots.append(f"%s{self.count} = alloca {type}, align 64")
        return f"%s{self.count}"

    def loop(self, count, body, step=1):
        """body(index) in a loop from 0 to count; a loop of one round is none."""
        if count == step:
            return body(0)
        self.count += 1
        n, known = self.count, self.known
        self.lines += [f"br label %before{n}", f"before{n}:", f"br label %loop{n}", f"loop{n}:",
                       f"%i{n} = phi i64 [ 0, %before{n} ], [ %next{n}, %latch{n} ]"]
        self.known = {}
        body(f"%i{n}")
        self.known = known
        self.lines += [f"br label %latch{n}", f"latch{n}:", f"%next{n} = add nuw nsw i64 %i{n}, {step}",
                       f"%more{n} = icmp ult i64 %next{n}, {count}", f"br i1 %more{n}, label %loop{n}, label %after{n}", f"after{n}:"]

    def loops(self, counts, body, *indices):
        """body(indices) in a loop a dimension."""
        if len(indices) == len(counts):
            return body(list(indices))
        self.loop(counts[len(indices)], lambda i: self.loops(counts, body, *indices, i))

    def sum(self, a, b):
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return b if a == 0 else a if b == 0 else self.line(f"add nuw nsw i64 {a}, {b}")

    def times(self, a, factor):
        if isinstance(a, int) or factor == 1:
            return a * factor if isinstance(a, int) else a
        return self.line(f"mul nuw nsw i64 {a}, {factor}")

    def linear(self, indices, shape):
        at = 0
        for index, size in zip(indices, shape, strict=True):
            at = self.sum(self.times(at, size), index)
        return at

    def split(self, at, shape):
        """Indices of a dimension each, from the place in the order of memory."""
        found = []
        for size in reversed(shape):
            if size == 1:
                found.append(0)
            elif isinstance(at, int):
                found.append(at % size)
                at //= size
            else:
                found.append(self.line(f"urem i64 {at}, {size}"))
                at = self.line(f"udiv i64 {at}, {size}")
        return found[::-1]

    def load(self, base, at, type="float"):
        return self.line(f"load {type}, ptr {self.line(f'getelementptr inbounds float, ptr {base}, i64 {at}')}, align 4")

    def store(self, value, base, at, type="float"):
        self.lines.append(f"store {type} {value}, ptr {self.line(f'getelementptr inbounds float, ptr {base}, i64 {at}')}, align 4")

    def at(self, node, indices):
        """The value of a node at some indices."""
        key = node, tuple(indices)
        if key not in self.known:
            self.known[key] = self.value(node, indices)
        return self.known[key]

    def value(self, node, indices):
        if node in self.places:
            return self.load(self.places[node], self.linear(indices, node.shape))
        opcode, given = node.opcode, node.attributes
        if opcode == "constant":
            return number(given["value"])
        x = node.operands[0]
        if opcode == "broadcast":
            return self.at(x, [indices[d] for d in given["dimensions"]])
        if opcode == "transpose":
            inner = [0] * len(indices)
            for index, d in zip(indices, given["dimensions"], strict=True):
                inner[d] = index
            return self.at(x, inner)
        if opcode == "reshape":
            if [i for i, size in zip(indices, node.shape, strict=True) if size > 1] and [s for s in node.shape if s > 1] == [s for s in x.shape if s > 1]:
                left = iter([i for i, size in zip(indices, node.shape, strict=True) if size > 1])
                return self.at(x, [next(left) if size > 1 else 0 for size in x.shape])
            at = self.linear(indices, node.shape)
            return self.load(self.places[x], at) if x in self.places else self.at(x, self.split(at, x.shape))
        return self.operation(opcode, [self.at(o, indices) for o in node.operands])

    def operation(self, opcode, operands, flags=""):
        if opcode in BINARY:
            return self.line(f"{BINARY[opcode]} contract {flags}float {operands[0]}, {operands[1]}")
        if opcode == "negate":
            return self.line(f"fneg float {operands[0]}")
        given = ", ".join(f"float {o}" for o in operands)
        made = self.line(f"call float @{CALLS[opcode]}({given})")
        return self.line(f"fdiv float 1.0, {made}") if opcode == "rsqrt" else made

    def elementwise(self, node, to):
        self.loops(node.shape, lambda at: self.store(self.value(node, at), to, self.linear(at, node.shape)))

    def reduce(self, node, to):
        x, start = node.operands
        reduced = node.attributes["dimensions"]
        kept = [d for d in range(len(x.shape)) if d not in reduced]
        total = self.slot("float")

        def one(at):
            self.lines.append(f"store float {self.at(start, [])}, ptr {total}")

            def step(inner):
                indices = [0] * len(x.shape)
                for d, index in zip([*kept, *reduced], [*at, *inner], strict=True):
                    indices[d] = index
                so_far = self.line(f"load float, ptr {total}")
                self.lines.append(f"store float {self.operation(node.attributes['kind'], [so_far, self.at(x, indices)], 'reassoc ')}, ptr {total}")

            self.loops([x.shape[d] for d in reduced], step)
            self.store(self.line(f"load float, ptr {total}"), to, self.linear(at, node.shape))

        self.loops(node.shape, one)

    def dot(self, node, to):
        """A tile of ROWS x COLUMNS in registers; the columns of rhs that it needs are copied side by side first."""
        lhs, rhs = node.operands
        given = node.attributes
        batch = len(given["lhs_batch"])
        left = [d for d in range(len(lhs.shape)) if d not in given["lhs_batch"] + given["lhs_contracting"]]
        right = [d for d in range(len(rhs.shape)) if d not in given["rhs_batch"] + given["rhs_contracting"]]
        depth = [lhs.shape[d] for d in given["lhs_contracting"]]
        rows, columns, k = prod(lhs.shape[d] for d in left), prod(rhs.shape[d] for d in right), prod(depth)
        high, wide = largest(ROWS, rows), largest(COLUMNS, columns)
        type = f"<{wide} x float>"
        panel, totals = self.slot(f"[{k * wide} x float]"), [self.slot(type) for _ in range(high)]

        def place(shape, free, batch_dims, contracted, outer, index, inner):
            indices = [0] * len(shape)
            for d, i in zip([*batch_dims, *free, *contracted], [*outer, *self.split(index, [shape[d] for d in free]), *self.split(inner, depth)], strict=True):
                indices[d] = i
            return indices

        def of_batch(outer):
            def of_columns(j):
                def copy(p):
                    def element(c):
                        self.store(self.at(rhs, place(rhs.shape, right, given["rhs_batch"], given["rhs_contracting"], outer, self.sum(j, c), p)),
                                   panel, self.sum(self.times(p, wide), c))
                    self.loop(wide, element)

                def of_rows(i):
                    for total in totals:
                        self.lines.append(f"store {type} zeroinitializer, ptr {total}")

                    def step(p):
                        b = self.load(panel, self.times(p, wide), type)
                        for r, total in enumerate(totals):
                            a = self.at(lhs, place(lhs.shape, left, given["lhs_batch"], given["lhs_contracting"], outer, self.sum(i, r), p))
                            first = self.line(f"insertelement {type} poison, float {a}, i64 0")
                            all_lanes = self.line(f"shufflevector {type} {first}, {type} poison, <{wide} x i32> zeroinitializer")
                            so_far = self.line(f"load {type}, ptr {total}")
                            product = self.line(f"fmul contract {type} {all_lanes}, {b}")
                            self.lines.append(f"store {type} {self.line(f'fadd contract {type} {so_far}, {product}')}, ptr {total}")

                    self.loop(k, step)
                    for r, total in enumerate(totals):
                        row = self.linear([*outer, self.sum(i, r)], [*node.shape[:batch], rows])
                        self.store(self.line(f"load {type}, ptr {total}"), to, self.sum(self.times(row, columns), j), type)

                self.loop(k, copy)
                self.loop(rows, of_rows, high)

            self.loop(columns, of_columns, wide)

        self.loops(node.shape[:batch], of_batch)


def emit(graph, kernels, offsets):
    places = {p: f"%x{k}" for k, p in enumerate(graph.parameters)}
    writer = Writer(places)
    for node in kernels:
        to = f"%k{len(places)}"
        writer.lines.append(f"{to} = getelementptr inbounds float, ptr %{'out' if node is graph.root else 'arena'}, i64 {offsets.get(node, 0)}")
        writer.known = {}
        if node.opcode in ("dot", "reduce"):
            getattr(writer, node.opcode)(node, to)
        else:
            writer.elementwise(node, to)
        places[node] = to
    pointers = ", ".join([*[f"ptr noalias %x{k}" for k in range(len(graph.parameters))], "ptr noalias %arena", "ptr noalias %out"])
    declared = "\n".join(f"declare float @{name}(float{', float' if name == 'llvm.maximum.f32' else ''})" for name in CALLS.values())
    body = "\n  ".join([*writer.slots, *writer.lines])
    return f"{declared}\ndefine void @run({pointers}, i64 %n) {{\nentry:\n  {body}\n  ret void\n}}\n"
