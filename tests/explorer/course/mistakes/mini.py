"""Wrong answers to the parts of the student's compiler: solutions with one usual mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.explorer.course.mistakes import mistake
from tests.notebooks.course_notebooks import solution_cells
from xla_explorer.course.mini import Graph, Node, Program

CELLS = {
    "parse": "nb01.mini",
    "simplify": "nb05.mini",
    "fuse": "nb07.mini",
    "allocate": "nb08.mini",
    "emit": "nb09.mini",
    "compile": "nb20.compile",
}


def part(name: str, *edits: tuple[str, str]) -> Callable[..., Any]:
    """Return a part of the reference compiler with texts replaced, each of which must exist."""
    text = solution_cells()[CELLS[name]].split("\n", 1)[1]
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    scope: dict[str, Any] = {}
    exec(text, scope)
    if name == "compile":
        scope["part"] = part
    found: Callable[..., Any] = scope[name]
    return found


def changed(name: str, code: str, *edits: tuple[str, str]) -> None:
    answer = part(name, *edits)
    mistake(CELLS[name], code)(answer)


PARSE, SIMPLIFY, FUSE, ALLOCATE = part("parse"), part("simplify"), part("fuse"), part("allocate")

changed("parse", "raised-KeyError", ('.lstrip("%")', ""))
changed("parse", "no-graph", (r"\S* ([\w\-]+)", r" ([\w\-]+)"))  # shapes with layouts are not read
changed("parse", "other-attributes", ("float(inside)", "inside"))
changed("parse", "other-attributes", ("int(inside)", "inside"))
changed(
    "parse",
    "other-parameters",
    ("for number in sorted(parameters)]", "for number in sorted(parameters, reverse=True)]"),
)
changed(
    "parse",
    "other-attributes",
    (
        'given["kind"] = kinds[re.search(r"to_apply=%?([\\w.\\-]+)", rest)[1]]',
        'given["kind"] = "add"',
    ),
)
changed(
    "parse",
    "raised-KeyError",
    ("if is_root:\n                kinds", "if False:\n                kinds"),
)
changed(
    "parse",
    "other-attributes",
    ('"rhs_batch_dims": "rhs_batch"', '"rhs_batch_dimensions": "rhs_batch"'),
)
changed("parse", "other-node", ("numbers(shape), operands", "list(numbers(shape)), operands"))
changed("parse", "no-graph", ("return Graph(", "return ("))
changed("parse", "no-graph", ("root = node\n", "pass\n"))
changed(
    "parse", "other-parameters", ("Node(name, opcode, numbers", "Node('%' + name, opcode, numbers")
)
changed("parse", "other-node", ("operands = [] if opcode", "operands = [] if True or opcode"))
changed(
    "parse",
    "two-nodes",
    ("nodes[o.strip()", "__import__('copy').copy(nodes[o.strip()"),
    ('lstrip("%")]', 'lstrip("%")])'),
)
changed("parse", "other-node", ("return tuple(int(part)", "return list(int(part)"))
changed(
    "parse",
    "other-parameters",
    ("parameters[given", "if given['number'] == 0:\n                parameters[given"),
)
mistake("nb01.mini", "no-graph")(lambda text: text)
mistake("nb01.mini", "other-node")(
    lambda text: Graph(PARSE(text).parameters, PARSE(text).parameters[0])
)


@mistake("nb01.mini", "other-parameters")
def _(text):  # only what is read
    graph = PARSE(text)
    return Graph([n for n in graph.nodes() if n.opcode == "parameter"], graph.root)


changed(
    "simplify",
    "no-value",
    ('opcode == "reshape" and operand.opcode == "reshape"', 'operand.opcode == "reshape"'),
)
changed(
    "simplify",
    "raised-KeyError",
    ('opcode == "transpose" and operand.opcode == "transpose"', 'operand.opcode == "transpose"'),
)
changed(
    "simplify",
    "value-changed",
    (
        "if one(right):\n            return left",
        "if one(right) or one(left):\n            return left",
    ),
)
changed("simplify", "value-changed", ('if opcode == "multiply" and one(left)', "if one(left)"))
changed("simplify", "left-one", ('if opcode == "multiply" and one(left)', "if False"))
changed("simplify", "left-one", ('while node.opcode in ("broadcast", "reshape"):', "while False:"))
changed("simplify", "left-nothing", ("if node.shape == operand.shape and (", "if False and ("))
changed("simplify", "value-changed", ("if node.shape == operand.shape and (opcode == \"reshape\" or node.attributes[\"dimensions\"] == tuple(range(len(node.shape)))):",
                                      "if node.shape == operand.shape:"))  # fmt: skip
changed(
    "simplify", "left-pair", ('if opcode == "reshape" and operand.opcode == "reshape"', "if False")
)
changed(
    "simplify",
    "left-pair",
    ('if opcode == "transpose" and operand.opcode == "transpose"', "if False"),
)
changed(
    "simplify",
    "left-pair",
    ('return operand.operands[0] if operand.opcode == "negate" else node', "return node"),
)
changed(
    "simplify",
    "value-changed",
    ('return operand.operands[0] if operand.opcode == "negate" else node', "return operand"),
)
changed(
    "simplify",
    "left-nothing",
    ('return simpler(Node(node.name, "reshape"', 'return (Node(node.name, "reshape"'),
)
changed(
    "simplify",
    "left-nothing",
    ('return simpler(Node(node.name, "transpose"', 'return (Node(node.name, "transpose"'),
)
changed("simplify", "left-twice", ("node = known.setdefault(key, node)", "pass"))
changed(
    "simplify",
    "value-changed",
    ("tuple(id(o) for o in node.operands)", "tuple(sorted(id(o) for o in node.operands))"),
)
changed("simplify", "value-changed", (", repr(sorted(node.attributes.items()))", ""))
changed(
    "simplify",
    "left-pair",
    ("[new[o] for o in old.operands], old.attributes", "old.operands, old.attributes"),
)
changed(
    "simplify", "no-graph", ("return Graph(parameters, new[graph.root])", "return new[graph.root]")
)
changed(
    "simplify",
    "other-parameters",
    ("[new.get(p, p) for p in graph.parameters]", "[p for p in graph.parameters if p in new]"),
)
mistake("nb05.mini", "left-pair")(lambda graph: graph)


@mistake("nb05.mini", "value-changed")
def _(graph):  # x + 0 is not x
    graph = SIMPLIFY(graph)
    return Graph(graph.parameters, without_zeros(graph.root, {}))


@mistake("nb05.mini", "changed-in-place")
def _(graph):
    for node in graph.nodes():
        node.operands[:] = [
            o.operands[0] if o.opcode == "negate" and o.operands[0].opcode == "negate" else o
            for o in node.operands
        ]
        node.name += "_new"
    return SIMPLIFY(graph)


changed("fuse", "not-stored", ('if node.opcode in ("dot", "reduce")', 'if node.opcode == "dot"'))
changed("fuse", "not-stored", ('if node.opcode in ("dot", "reduce")', 'if node.opcode == "reduce"'))
changed("fuse", "not-stored", ("required = {graph.root: None}", "required = {}"))
changed(
    "fuse",
    "dot-computes",
    ('if node.opcode == "dot":\n            for', "if False:\n            for"),
)
changed("fuse", "dot-computes", ("while operand.opcode in VIEWS:", "while False:"), ("if operand.opcode not in NEVER:", "if operand.opcode not in (*NEVER, *VIEWS):"))  # fmt: skip
changed("fuse", "one-too-many", ("while operand.opcode in VIEWS:", "while False:"))
changed("fuse", "computed-again", ("while again := computed_again(stored):", "while again := ():"))
changed("fuse", "computed-again", ("count.get(node, 0) + rounds(kernel)", "rounds(kernel)"))
changed(
    "fuse",
    "computed-again",
    (
        'prod(kernel.operands[0].shape if kernel.opcode == "reduce" else kernel.shape)',
        "prod(kernel.shape)",
    ),
)
changed(
    "fuse",
    "one-too-many",
    ("if not computed_again(fewer):\n                stored = fewer", "pass"),
)
changed(
    "fuse",
    "too-late",
    (
        "[node for node in nodes if node in stored]",
        "[node for node in reversed(nodes) if node in stored]",
    ),
)
changed(
    "fuse",
    "no-kernels",
    (
        "[node for node in nodes if node in stored]",
        "[node.name for node in nodes if node in stored]",
    ),
)
changed(
    "fuse",
    "no-kernels",
    (
        "[node for node in nodes if node in stored]",
        "[node for node in nodes if node in stored] * 2",
    ),
)
mistake("nb07.mini", "no-kernels")(lambda graph: graph.nodes())
mistake("nb07.mini", "one-too-many")(
    lambda graph: [n for n in graph.nodes() if n.opcode not in ("parameter", "constant")]
)
mistake("nb07.mini", "dot-computes")(
    lambda graph: [n for n in graph.nodes() if n is graph.root or n.opcode in ("dot", "reduce")]
)
mistake("nb07.mini", "computed-again")(
    lambda graph: [
        n for n in FUSE(graph) if n.opcode not in ("tanh", "exponential") or n is graph.root
    ]
)
mistake("nb07.mini", "not-stored")(lambda graph: [n for n in FUSE(graph) if n is not graph.root])


@mistake("nb07.mini", "one-too-many")
def _(graph):  # whatever is read twice is stored
    users = graph.users()
    more = {
        n
        for n, readers in users.items()
        if len(readers) > 1 and n.opcode not in ("parameter", "constant")
    }
    return [n for n in graph.nodes() if n in FUSE(graph) or n in more]


@mistake("nb07.mini", "too-late")
def _(graph):  # in the order in which they were found
    return sorted(FUSE(graph), key=lambda node: node.opcode != "dot")


changed("allocate", "overlap", ("last[read] = place", "last.setdefault(read, place)"))
changed("allocate", "overlap", ("(place, last.get(k, place))", "(place, last.get(k, place) - 1)"))
changed(
    "allocate",
    "overlap",
    (
        "lives[o][0] <= until and begin <= lives[o][1]",
        "lives[o][0] < until and begin < lives[o][1]",
    ),
)
changed("allocate", "overlap", ("lives[o][0] <= until and", "lives[o][0] <= begin and"))
changed("allocate", "overlap", ("if at + size[kernel] <= offset:", "if at <= offset:"))
changed("allocate", "overlap", ("at = max(at, offset + length)", "at = offset"))
changed(
    "allocate",
    "overlap",
    ("sorted((offsets[o], size[o])", "((offsets[o], size[o])"),
    ("at = max(at, offset + length)", "at = offset + length"),
)
changed("allocate", "outside", ("STEP = 16", "STEP = 1"))
changed("allocate", "outside", ("STEP = 16", "STEP = 4"))
changed("allocate", "outside", ("end = max(end, at + size[kernel])", "end = max(end, at)"))
changed(
    "allocate",
    "outside",
    ("return offsets, end", "return {k: 4 * v for k, v in offsets.items()}, end"),
)
changed("allocate", "outside", ("at = 0\n", "at = 8\n"))
changed("allocate", "too-large", ("return offsets, end", "return offsets, 4 * end"))
changed("allocate", "too-large", ("if lives[o][0] <= until and begin <= lives[o][1]", ""))
changed("allocate", "too-large", ("(place, last.get(k, place))", "(place, len(kernels))"))
changed("allocate", "too-large", ("(place, last.get(k, place))", "(0, last.get(k, place))"))
changed("allocate", "other-kernels", ("enumerate(kernels[:-1])", "enumerate(kernels)"))
changed("allocate", "other-kernels", ("enumerate(kernels[:-1])", "enumerate(kernels[1:-1])"))
changed("allocate", "no-offsets", ("return offsets, end", "return offsets"))
changed("allocate", "no-offsets", ("return offsets, end", "return list(offsets.values()), end"))
mistake("nb08.mini", "overlap")(
    lambda kernels: (dict.fromkeys(kernels[:-1], 0), ALLOCATE(kernels)[1])
)

changed(
    "emit", "wrong-value", ("inner[d] = index", "inner = [indices[k] for k in given['dimensions']]")
)
changed(
    "emit",
    "wrong-value",
    ('"llvm.maximum.f32", "exp', '"llvm.maxnum.f32", "exp'),
    ("name == 'llvm.maximum.f32'", "name == 'llvm.maxnum.f32'"),
)
changed("emit", "wrong-value", ("contract {flags}float", "fast float"))
changed("emit", "wrong-value", ('"subtract": "fsub"', '"subtract": "fadd"'))
changed(
    "emit",
    "wrong-value",
    ("float {operands[0]}, {operands[1]}", "float {operands[1]}, {operands[0]}"),
)
changed(
    "emit",
    "wrong-value",
    ('return self.line(f"fdiv float 1.0, {made}") if opcode == "rsqrt" else made', "return made"),
)
changed(
    "emit",
    "wrong-value",
    ('"llvm.maximum.f32", "exp', '"llvm.minimum.f32", "exp'),
    ("name == 'llvm.maximum.f32'", "name == 'llvm.minimum.f32'"),
)
changed("emit", "cannot-run", ('return "0x" + struct', 'return repr(value) + "q" + struct'))
changed("emit", "cannot-run", ("phi i64 [ 0, %before{n} ]", "phi i64 [ 0, %entry ]"))
changed("emit", "cannot-run", ("declare float", "declare double"))
changed(
    "emit",
    "wrong-value",
    ('[indices[d] for d in given["dimensions"]]', "[indices[d] for d in range(len(x.shape))]"),
)
changed("emit", "wrong-value", ("inner[d] = index", 'inner[given["dimensions"][d]] = index'))
changed("emit", "outside", ("icmp ult i64 %next{n}", "icmp ule i64 %next{n}"))
changed("emit", "wrong-value", ("outer, self.sum(i, r), p))", "outer, i, p))"))
changed(
    "emit",
    "wrong-value",
    ('f"store float {self.at(start, [])}, ptr {total}"', 'f"store float 0.0, ptr {total}"'),
)
changed(
    "emit",
    "wrong-value",
    ("{type} zeroinitializer, ptr {total}", "{type} {self.load(panel, 0, type)}, ptr {total}"),
)
changed("emit", "outside", ("'out' if node is graph.root else 'arena'", "'arena'"))
changed("emit", "wrong-value", ("{offsets.get(node, 0)}", "0"))
changed("emit", "crashed", ("add nuw nsw i64 %i{n}, {step}", "add nuw nsw i64 %i{n}, 0"))
changed("emit", "no-text", ('return f"{declared}', 'return len, f"{declared}'))
changed(
    "emit",
    "wrong-value",
    (
        'found.append(self.line(f"urem i64 {at}, {size}"))',
        'found.append(self.line(f"udiv i64 {at}, {size}"))',
    ),
)
changed(
    "emit",
    "not-written",
    ("self.sum(self.times(row, columns), j)", "self.sum(self.times(row, columns), 0)"),
)
changed("emit", "cannot-run", ("i64 %n)", ")"))

changed("compile", "no-program", ("return Program(", "return ("))
changed("compile", "other-shape", (", graph.root.shape)", ", (1,))"))
changed(
    "compile",
    "wrong-value",
    ('offsets, size = part("allocate")(kernels)', "offsets, size = {}, 10 ** 4"),
)
changed("compile", "outside", (", size, graph", ", 0, graph"))


def without_zeros(node: Node, done: dict[Node, Node]) -> Node:
    """Return the node with each `x + 0` replaced by x."""
    if node not in done:
        operands = [without_zeros(o, done) for o in node.operands]
        zero = node.opcode == "add" and any(is_zero(o) for o in operands)
        kept = next((o for o in operands if not is_zero(o)), None)
        done[node] = (
            kept
            if zero and kept is not None
            else node
            if operands == node.operands
            else Node(node.name, node.opcode, node.shape, operands, node.attributes)
        )
    return done[node]


def is_zero(node: Node) -> bool:
    """Return True for 0 and for an array of zeros."""
    while node.opcode in ("broadcast", "reshape"):
        node = node.operands[0]
    return node.opcode == "constant" and repr(node.attributes["value"]) == "0.0"


def composed(code: str, *, after: Callable[..., Any] | None = None, **mutants: Any) -> None:
    """Register as a mistake the whole compiler with some parts replaced.

    after: a change of the graph, kernels, offsets and size before emitting.

    after: a change of the graph, kernels, offsets and size before emitting.

    after: a change of the graph, kernels, offsets and size before emitting.
    """

    def compile(text: str) -> Any:
        made = {name: mutants.get(name, right) for name, right in RIGHT.items()}
        graph = made["simplify"](made["parse"](text))
        kernels = made["fuse"](graph)
        offsets, size = made["allocate"](kernels)
        if after is not None:
            graph, kernels, offsets, size = after(graph, kernels, offsets, size)
        return Program(made["emit"](graph, kernels, offsets), size, graph.root.shape)

    mistake("nb20.compile", code)(compile)


RIGHT = {
    "parse": PARSE,
    "simplify": SIMPLIFY,
    "fuse": FUSE,
    "allocate": ALLOCATE,
    "emit": part("emit"),
}


def reversed_parameters(text: str) -> Graph:
    graph = PARSE(text)
    return Graph(graph.parameters[::-1], graph.root)


composed(
    "wrong-value",
    simplify=part("simplify", ('if opcode == "multiply" and one(left)', "if one(left)")),
)
composed("wrong-value", emit=part("emit", ('"subtract": "fsub"', '"subtract": "fadd"')))
composed(
    "wrong-value", allocate=lambda kernels: (dict.fromkeys(kernels[:-1], 0), ALLOCATE(kernels)[1])
)
composed("wrong-value", parse=reversed_parameters)
composed(
    "raised-ValueError",
    fuse=lambda graph: [n for n in FUSE(graph) if n is graph.root or n.opcode != "reduce"],
)
composed("raised-KeyError", fuse=lambda graph: FUSE(graph)[::-1])
composed(
    "outside", after=lambda graph, kernels, offsets, size: (graph, kernels, offsets, size // 2)
)
composed(
    "outside",
    after=lambda graph, kernels, offsets, size: (
        graph,
        kernels,
        {k: v + size for k, v in offsets.items()},
        size,
    ),
)
composed(
    "not-written", after=lambda graph, kernels, offsets, size: (graph, kernels[:-1], offsets, size)
)
composed(
    "not-written", after=lambda graph, kernels, offsets, size: (graph, kernels[1:], offsets, size)
)
composed(
    "other-shape",
    after=lambda graph, kernels, offsets, size: (
        Graph(graph.parameters, kernels[0]),
        kernels[:1],
        {},
        size,
    ),
)
composed("another-form", emit=lambda graph, kernels, offsets: None)
mistake("nb20.compile", "no-program")(lambda text: None)
mistake("nb20.compile", "no-program")(lambda text: part("emit"))
mistake("nb20.compile", "raised-TypeError")(lambda text: FUSE())
mistake("nb20.compile", "outside")(lambda text: without_places(PARSE(text)))


def without_places(graph: Graph) -> Program:
    """Every kernel writes to the beginning of a memory of one float."""
    return Program(RIGHT["emit"](graph, FUSE(graph), {}), 1, graph.root.shape)
