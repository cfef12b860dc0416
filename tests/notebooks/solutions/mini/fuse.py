"""Reference solution of nb07.mini."""

from math import prod

from xla_explorer.course.mini import EXPENSIVE

VIEWS = ("reshape", "transpose", "broadcast")
NEVER = ("parameter", "constant")


def inside(kernel, stored):
    """The nodes that a kernel computes itself."""
    found, waiting = {kernel: None}, list(kernel.operands)
    while waiting:
        node = waiting.pop()
        if node not in stored and node not in found and node.opcode != "parameter":
            found[node] = None
            waiting += node.operands
    return found


def rounds(kernel):
    return prod(kernel.operands[0].shape if kernel.opcode == "reduce" else kernel.shape)


def computed_again(stored):
    """Expensive nodes that are evaluated more often than they have elements."""
    count = {}
    for kernel in stored:
        for node in inside(kernel, stored):
            count[node] = count.get(node, 0) + rounds(kernel)
    return [node for node, times in count.items() if node.opcode in EXPENSIVE and times > prod(node.shape)]


def fuse(graph):
    nodes = graph.nodes()
    required = {graph.root: None}
    for node in nodes:
        if node.opcode in ("dot", "reduce"):
            required[node] = None
        if node.opcode == "dot":
            for operand in node.operands:
                while operand.opcode in VIEWS:
                    operand = operand.operands[0]
                if operand.opcode not in NEVER:
                    required[operand] = None
    stored = dict(required)
    while again := computed_again(stored):
        stored[min(again, key=nodes.index)] = None
    for node in reversed(list(stored)):
        if node not in required:
            fewer = {n: None for n in stored if n is not node}
            if not computed_again(fewer):
                stored = fewer
    return [node for node in nodes if node in stored]
