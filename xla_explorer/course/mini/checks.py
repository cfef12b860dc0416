"""The first four parts of the thread: parse, simplify, fuse, allocate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from xla_explorer.course.checking.programs import same_bits
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure, value_text
from xla_explorer.course.mini.graph import (
    ELEMENTWISE,
    EXPENSIVE,
    LINE,
    Graph,
    Node,
    evaluate,
    inputs_of,
    room_of,
)
from xla_explorer.course.mini.programs import arrays_of, attributes_of, block_module, graph_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import PrintOptions, module_text, parse_hlo

VIEWS = ("reshape", "transpose", "broadcast")
_ATTENTION = """HloModule attention
largest { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
total { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { q = f32[2,4,8] parameter(0)  k = f32[2,4,8] parameter(1)  v = f32[2,4,8] parameter(2)
  s = f32[2,4,4] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  low = f32[] constant(-inf)  zero = f32[] constant(0)  m = f32[2,4] reduce(s, low), dimensions={2}, to_apply=largest
  wide = f32[2,4,4] broadcast(m), dimensions={0,1}  d = f32[2,4,4] subtract(s, wide)  e = f32[2,4,4] exponential(d)
  n = f32[2,4] reduce(e, zero), dimensions={2}, to_apply=total  w = f32[2,4,4] broadcast(n), dimensions={0,1}
  a = f32[2,4,4] divide(e, w)
  ROOT o = f32[2,4,8] dot(a, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1} }"""

# Small programs that each expose a mistake that random programs seldom show.
_FIXED = (
    "HloModule m\nENTRY main { x = f32[2,3] parameter(0)  y = f32[1,3] parameter(1)  a = f32[3,2] reshape(x)  "
    "b = f32[2,3] transpose(a), dimensions={1,0}  c = f32[3,2] transpose(x), dimensions={1,0}  d = f32[2,3] reshape(c)  "
    "e = f32[3] reshape(y)  f = f32[2,3] broadcast(e), dimensions={1}  s = f32[2,3] add(b, d)  ROOT r = f32[2,3] add(s, f) }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  c = f32[] constant(1)  one = f32[4] broadcast(c), dimensions={}  "
    "ROOT r = f32[4] divide(one, x) }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  c = f32[] constant(0)  zero = f32[4] broadcast(c), dimensions={}  "
    "ROOT r = f32[4] add(x, zero) }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT r = f32[4] subtract(x, y) }",
    "HloModule m\nENTRY main { x = f32[4,2] parameter(0)  n = f32[4,2] negate(x)  t = f32[2,4] transpose(n), dimensions={1,0}  "
    "ROOT r = f32[2,2] dot(t, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "HloModule m\nsum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
    "ENTRY main { x = f32[4] parameter(0)  e = f32[4] exponential(x)  w = f32[4,8] broadcast(e), dimensions={0}  z = f32[] constant(0.5)  "
    "ROOT r = f32[4] reduce(w, z), dimensions={1}, to_apply=sum }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  s = f32[4] multiply(x, x)  ROOT r = f32[4] rsqrt(s) }",
)


def modules(count: int) -> Iterator[HloModule]:
    """Yield the programs of a check: small ones, an attention, and random ones."""
    yield from map(parse_hlo, _FIXED)
    yield parse_hlo(_ATTENTION)
    for seed in range(count):
        yield block_module(seed)


def _text(module: HloModule, number: int) -> str:
    """Return the text in one of several forms: `%`, layouts, comments and metadata are optional."""
    text = module_text(
        module,
        PrintOptions.default.but(
            percent=number % 2 == 0, layouts=number % 3 != 0, program_shape=number % 4 != 1
        ),
    )
    if number % 5 == 2:
        text = text.replace(
            "parameter(0)", 'parameter(0), metadata={op_name="x = f32[] add(a, b)"}'
        )
    if number % 5 == 3:
        text = re.sub(
            r"(add|subtract|multiply|divide|maximum|dot)\(([^,()]+), ", r"\1(\2, /*index=1*/", text
        )
    return text


@exercise(
    "nb01.mini",
    "Write parse(text) in mini/parse.py: the text of a program as a Graph of Nodes.",
    "One instruction a line: a regular expression finds name, dimensions, opcode, what is in "
    "parentheses, and the rest.",
    hints=(
        (
            "The entry's lines stand between `ENTRY ... {` and `}`. Of other computations only "
            "the ROOT's opcode matters: a reduce's kind."
        ),
        (
            "Operands stand before their users: keep a dictionary from names to nodes. Take `%` "
            "off, and drop /* comments */ first."
        ),
        (
            "A shape may end with a layout, {1,0}; constants are written like -inf, 1e-05 or "
            "0.5, and float(...) reads them all."
        ),
        "Graph.parameters has every parameter, by number, also those that nothing reads.",
    ),
)
def parse(function: Callable[[str], Any]) -> Cases:
    """Check every node against the module that the text was printed from, in several forms."""

    def test(number: int, module: HloModule) -> Failure | None:
        text = _text(module, number)
        with answering(module):
            graph = _is_graph(function(text), module)
        failure = _differs(module, graph)
        return failure and failure._replace(
            expected=f"{failure.expected}\nin the text:\n{text}"[:1900]
        )

    for number, module in enumerate(modules(40)):
        yield from cases_of([module], partial(test, number))


def _is_graph(got: Any, module: HloModule) -> Graph:
    if not isinstance(got, Graph) or not isinstance(got.root, Node):
        message = "The answer is a Graph with a Node as its root."
        found = f"a Graph whose root is {got.root!r}" if isinstance(got, Graph) else repr(got)
        raise WrongAnswerError(
            Failure("no-graph", message, "Graph(parameters, root)", found[:300], module)
        )
    return got


def _differs(module: HloModule, graph: Graph) -> Failure | None:
    """Return the failure of the first node, from the result on, that differs from the module's."""
    wanted = [p.name for p in module.entry.parameters()]
    if [p.name for p in graph.parameters] != wanted:
        return Failure("other-parameters", "The parameters are other ones.", repr(wanted), repr([p.name for p in graph.parameters]), module,
                       hint="All of them, in the order of their numbers, also unused ones.")  # fmt: skip
    nodes: dict[HloInstruction, Node] = dict(
        zip(module.entry.parameters(), graph.parameters, strict=True)
    )
    waiting = [(module.entry.root, graph.root)]
    while waiting:
        i, node = waiting.pop()
        if nodes.setdefault(i, node) is not node:
            return Failure(
                "two-nodes",
                f"%{i.name} is one instruction and became two nodes.",
                "one Node for each name",
                repr(node),
                module,
            )
        want, got = (
            (i.name, i.opcode.name, tuple(i.shape.dimensions)),
            (node.name, node.opcode, node.shape),
        )
        if got != want or len(node.operands) != len(i.operands):
            return Failure("other-node", f"%{i.name} is another node.", repr((*want, [o.name for o in i.operands])), repr(node), module,
                           hint="The shape is a tuple of integers, () for a number; the operands are nodes.")  # fmt: skip
        if node.attributes != (attributes := attributes_of(i)):
            return Failure("other-attributes", f"%{i.name} has other attributes.", repr(attributes), repr(node.attributes), module,
                           hint="help(Node) lists the attributes of each opcode; a dot has all four, () for none.")  # fmt: skip
        waiting += zip(i.operands, node.operands, strict=True)
    return None


@exercise(
    "nb05.mini",
    "Write simplify(graph) in mini/simplify.py: a Graph that computes the same bits with fewer "
    "nodes.",
    "Go through graph.nodes(), operands first, and make for each old node a new one from the new "
    "operands, or take a simpler one.",
    hints=(
        "x * 1 and x / 1 are x; the one may be a broadcast constant. x + 0 is not x: -0 + 0 is 0.",
        (
            "A reshape to the same shape, an identity transpose, a broadcast to the same shape: "
            "the operand."
        ),
        "transpose of transpose: new[k] = inner[outer[k]]. A reshape of a reshape reads the inner one's operand, and may then do nothing.",
        (
            "Two nodes are the same when opcode, shape, attributes and (new) operands are. A "
            "dictionary keeps the first. And -0.0 == 0.0."
        ),
    ),
)
def simplify(function: Callable[[Graph], Any]) -> Cases:
    """Check the bits on ordinary and extreme numbers, the parameters, the removed nodes."""

    def test(module: HloModule) -> Failure | None:
        graph = graph_of(module)
        before = repr(graph)
        with answering(module):
            got = _is_graph(function(graph), module)
        if repr(graph) != before:
            return Failure("changed-in-place", "Your function changed the graph that it was given.", before, repr(graph), module,
                           hint="Others hold the old nodes: make new ones.")  # fmt: skip
        if [(p.opcode, p.attributes, p.shape) for p in got.parameters] != [
            (p.opcode, p.attributes, p.shape) for p in graph.parameters
        ]:
            return Failure(
                "other-parameters",
                "The parameters are other ones.",
                repr(graph.parameters),
                repr(got.parameters),
                module,
            )
        for arrays in (
            arrays_of(graph),
            [
                np.where(a < 0, np.float32(-0.0), a * np.float32(np.inf))
                for a in arrays_of(graph, 1)
            ],
        ):
            want = evaluate(graph, arrays)
            try:
                have = evaluate(got, arrays)
            except (
                ValueError,
                LookupError,
                TypeError,
            ) as error:  # shapes that do not fit, attributes that are missing
                return Failure("no-value", "Your graph cannot be computed.", value_text(want), f"{error}\nof:\n{got}"[:1500], module,
                               hint="Does each new node have the shape and the attributes of the node that it replaces?")  # fmt: skip
            if not same_bits(want, have):
                shown = f"{value_text(have)}\nby:\n{got}"[:1500]
                return Failure("value-changed", "The program computes something else than before.", value_text(want), shown, module,
                               hint="Which of your rules is not true for -0, infinity or NaN?")  # fmt: skip
        left = _left(got)
        return left and Failure(
            f"left-{left[0]}", f"{left[1]} is left.", "a graph without it", repr(got)[:1500], module
        )

    yield from cases_of(modules(60), test)


def _constant(node: Node) -> float | None:
    while node.opcode in ("broadcast", "reshape"):
        node = node.operands[0]
    return node.attributes["value"] if node.opcode == "constant" else None


def _left(graph: Graph) -> tuple[str, str] | None:
    """Return the code and the sentence of an operation that the exercise must have removed."""
    seen: dict[Any, Node] = {}
    for node in graph.nodes():
        opcode, first = node.opcode, node.operands[0] if node.operands else node
        same_order = node.attributes.get("dimensions") == tuple(range(len(node.shape)))
        if opcode in VIEWS and node.shape == first.shape and (opcode == "reshape" or same_order):
            return "nothing", f"{node}, which changes nothing,"
        if opcode in ("reshape", "transpose", "negate") and first.opcode == opcode:
            return "pair", f"{node} of another {opcode}"
        if opcode in ("multiply", "divide") and (
            _constant(node.operands[1]) == 1 or (opcode == "multiply" and _constant(first) == 1)
        ):
            return "one", f"{node}, where one side is 1,"
        key = (
            opcode,
            node.shape,
            tuple(map(id, node.operands)),
            repr(sorted(node.attributes.items())),
        )
        if opcode != "parameter" and seen.setdefault(key, node) is not node:
            return "twice", f"{node}, which is {seen[key]} again,"
    return None


def _inside(kernel: Node, stored: list[Node]) -> list[Node]:
    """Return the nodes that a kernel computes itself, from its own node to memory."""
    found: dict[Node, None] = {kernel: None}
    waiting = list(kernel.operands)
    while waiting:
        node = waiting.pop()
        if node not in stored and node.opcode != "parameter" and node not in found:
            found[node] = None
            waiting += node.operands
    return list(found)


def _flaw(graph: Graph, stored: list[Node]) -> tuple[str, str, str] | None:
    """Return (code, sentence, hint) if these nodes cannot be the stored ones."""
    for node in graph.nodes():
        if node not in stored and (node.opcode in ("dot", "reduce") or node is graph.root):
            return (
                "not-stored",
                f"{node} has no kernel.",
                "The result, every dot and every reduce have loops of their own.",
            )
    for node in graph.nodes():
        for operand in node.operands if node.opcode == "dot" else ():
            while operand.opcode in VIEWS and operand not in stored:
                operand = operand.operands[0]
            if operand not in stored and operand.opcode not in ("parameter", "constant"):
                return (
                    "dot-computes",
                    f"{node} would compute {operand} again for each row.",
                    "A dot reads arrays, through views at most.",
                )
    rounds: dict[Node, int] = {}
    for kernel in stored:
        for node in _inside(kernel, stored):
            rounds[node] = rounds.get(node, 0) + prod(
                kernel.operands[0].shape if kernel.opcode == "reduce" else kernel.shape
            )
    for node, count in rounds.items():
        if node.opcode in EXPENSIVE and count > prod(node.shape):
            return (
                "computed-again",
                f"{node} is computed {count} times for its {prod(node.shape)} elements.",
                "Store it, or what reads it.",
            )
    return None


@exercise(
    "nb07.mini",
    "Write fuse(graph) in mini/fuse.py: the nodes that get a kernel of their own, in an order in "
    "which they can run.",
    "Begin with what must be stored: the result, every dot and reduce, and what a dot reads "
    "(through reshape, transpose, broadcast).",
    hints=(
        (
            "All the rest is computed inside the loops of its readers. inputs_of(kernel, "
            "stored): the arrays that a kernel then reads."
        ),
        (
            "EXPENSIVE operations must not be computed more often than they have elements: not "
            "by two kernels, not through a broadcast."
        ),
        (
            "A kernel's loop runs once for each element of its result; a reduce's for each "
            "element of its operand."
        ),
        (
            "Store one more node at a time until nothing expensive is computed again; then try "
            "to remove each that was not required."
        ),
    ),
)
def fuse(function: Callable[[Graph], Any]) -> Cases:
    """Check that required nodes are stored, and that nothing expensive is repeated.

    No kernel may be superfluous.
    """

    def test(module: HloModule) -> Failure | None:
        graph = graph_of(module)
        if graph.root.opcode in ("parameter", "constant"):
            return None
        with answering(module):
            kernels = list(function(graph))
        strange = next(
            (
                k
                for k in kernels
                if not isinstance(k, Node) or k not in graph.nodes() or k.opcode == "parameter"
            ),
            None,
        )
        if strange is not None or len(set(kernels)) < len(kernels):
            message = "The answer lists nodes of the graph, each once, and no parameters."
            return Failure("no-kernels", message, "a list of nodes", repr(kernels)[:600], module)
        shown = "\n".join(map(repr, kernels))
        flaw = _flaw(graph, kernels)
        if flaw is not None:
            return Failure(flaw[0], flaw[1], "", f"kernels:\n{shown}", module, hint=flaw[2])
        for place, kernel in enumerate(kernels):
            late = next(
                (
                    n
                    for n in inputs_of(kernel, kernels)
                    if n.opcode != "parameter" and n not in kernels[:place]
                ),
                None,
            )
            if late is not None:
                return Failure(
                    "too-late",
                    f"{kernel} reads {late.name}, whose kernel runs later.",
                    "",
                    f"kernels:\n{shown}",
                    module,
                )
            fewer = [k for k in kernels if k is not kernel]
            if kernel is not graph.root and _flaw(graph, fewer) is None:
                message = f"{kernel} need not be stored: its readers can compute it."
                return Failure("one-too-many", message, "", f"kernels:\n{shown}", module)
        return None

    yield from cases_of(modules(60), test, alive=True)


@exercise(
    "nb08.mini",
    "Write allocate(kernels) in mini/allocate.py: ({kernel: offset}, size), in floats, for all "
    "but the last, whose array is the result.",
    "A kernel's array lives from its own place in the list to the last kernel that reads it: "
    "inputs_of(reader, kernels).",
    hints=(
        "Offsets and sizes of arrays are multiples of 16 (64 bytes: a cache line).",
        (
            "Two arrays may have the same place when one is dead before the other is written. A "
            "kernel must not overwrite its inputs."
        ),
        "Place the largest first, each at the lowest offset that is free during its whole life.",
    ),
)
def allocate(function: Callable[[list[Node]], Any]) -> Cases:
    """Check that no two living arrays overlap, and the size of the memory.

    It may exceed the largest sum of living arrays by a quarter.
    """

    def test(module: HloModule) -> Failure | None:
        graph = graph_of(module)
        kernels = [
            n for n in graph.nodes() if n.opcode in ELEMENTWISE or n.opcode in ("dot", "reduce")
        ]
        if graph.root not in kernels:
            return None
        with answering(module):
            answer = function(list(kernels))
        if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[0], dict):
            message = "The answer is a dictionary of offsets and a size."
            return Failure(
                "no-offsets", message, "({kernel: offset}, size)", repr(answer)[:300], module
            )
        return _placed(kernels, answer[0], answer[1], module)

    yield from cases_of(modules(60), test, alive=True)


def _placed(
    kernels: list[Node], offsets: dict[Node, int], size: int, module: HloModule
) -> Failure | None:
    inner = kernels[:-1]
    shown = (
        "\n".join([f"{k.name}: {offsets.get(k)} ({prod(k.shape)} floats)" for k in inner])
        + f"\nsize: {size}"
    )
    if set(offsets) != set(inner):
        message = "Each kernel but the last has an offset, and no other does."
        return Failure("other-kernels", message, repr([k.name for k in inner]), shown, module)
    lives: list[dict[Node, int]] = []
    last = {
        read: place for place, kernel in enumerate(kernels) for read in inputs_of(kernel, kernels)
    }
    for place in range(len(kernels)):
        alive = [k for number, k in enumerate(inner) if number <= place <= last.get(k, number)]
        lives.append({k: room_of(k) for k in alive})
    for k in inner:
        if offsets[k] % LINE or offsets[k] < 0 or offsets[k] + prod(k.shape) > size:
            return Failure(
                "outside",
                f"{k.name} does not begin at a multiple of {LINE} inside of the memory.",
                "",
                shown,
                module,
            )
    for place, alive_now in enumerate(lives):
        ordered = sorted(alive_now, key=lambda k: offsets[k])
        for a, b in pairwise(ordered):
            if offsets[a] + prod(a.shape) > offsets[b]:
                message = (
                    f"{a.name} and {b.name} overlap while kernel {place} ({kernels[place].name}) "
                    "runs."
                )
                return Failure("overlap", message, "", shown, module,
                               hint="An array lives until its last reader has run, that reader included.")  # fmt: skip
    peak = max([sum(alive_now.values()) for alive_now in lives])
    if size > peak * 5 / 4:
        return Failure("too-large", f"{size} floats, where at most {peak} live at once.", f"at most {int(peak * 5 / 4)}", shown, module,
                       hint="Does an array take the place of one that is dead?")  # fmt: skip
    return None
