"""Programs as graphs of nodes with operands, shared by the parts of a student's compiler.

`evaluate` defines their meaning in numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "negate": np.negative, "exponential": np.exp, "tanh": np.tanh, "rsqrt": lambda x: x.dtype.type(1) / np.sqrt(x),
}  # fmt: skip
ELEMENTWISE = frozenset((*BINARY, *UNARY))
EXPENSIVE = frozenset(("divide", "exponential", "tanh", "rsqrt"))
"""Operations to compute once and keep, rather than again for each reader."""
LINE = 16  # floats of a cache line, to which stored arrays are aligned
_REDUCTIONS = {"add": np.add, "maximum": np.maximum}


@dataclass(eq=False)
class Node:
    """One value of a program: an array of f32, or a number if the shape is ().

    Parameters
    ----------
    name
        As in the text, without `%`.
    opcode
        As in the text.
    shape
        Its dimensions.
    operands
        The nodes that it reads, in the order of the text.
    attributes
        parameter: `number`. constant: `value`. broadcast, transpose: `dimensions`. reduce:
        `dimensions`, and `kind` (add or maximum). dot: `lhs_contracting`, `rhs_contracting`,
        `lhs_batch`, `rhs_batch`. Dimensions are tuples.

    Examples
    --------
    >>> from xla_explorer.course.mini import Node
    >>> x = Node("x", "parameter", (2, 3), attributes={"number": 0})
    >>> Node("y", "negate", (2, 3), [x])
    y = f32[2,3] negate(x)
    """

    name: str
    opcode: str
    shape: tuple[int, ...]
    operands: list[Node] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the node as a line of text."""
        given = "".join([f", {key}={value}" for key, value in self.attributes.items()])
        return f"{self.name} = f32[{','.join(map(str, self.shape))}] {self.opcode}({', '.join([o.name for o in self.operands])}){given}"


@dataclass(eq=False)
class Graph:
    """A program: its parameters in order, and the node whose value it returns.

    Parameters
    ----------
    parameters
        All of them, in the order of their numbers, used or not.
    root
        The result.

    Examples
    --------
    >>> from xla_explorer.course.mini import Graph, Node
    >>> x = Node("x", "parameter", (2,), attributes={"number": 0})
    >>> [n.name for n in Graph([x], Node("y", "negate", (2,), [x])).nodes()]
    ['x', 'y']
    """

    parameters: list[Node]
    root: Node

    def nodes(self) -> list[Node]:
        """Return the nodes that the result needs, each after its operands."""
        order: list[Node] = []
        seen: set[Node] = set()
        waiting = [(self.root, False)]
        while waiting:
            node, expanded = waiting.pop()
            if expanded:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                waiting.append((node, True))
                waiting += [(o, False) for o in reversed(node.operands)]
        return order

    def users(self) -> dict[Node, list[Node]]:
        """Return the readers of each node; a node that reads another twice is listed twice."""
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes()}
        for node in self.nodes():
            for operand in node.operands:
                found[operand].append(node)
        return found

    def __repr__(self) -> str:
        """Return a line for each node."""
        return "\n".join(map(repr, self.nodes()))


def inputs_of(kernel: Node, stored: Collection[Node]) -> list[Node]:
    """Return the arrays that a kernel reads from memory: parameters and stored nodes.

    Parameters
    ----------
    kernel
        The node that the kernel stores.
    stored
        All nodes that have a kernel of their own.

    Returns
    -------
    list
        Each once, in the order of a search from the kernel's operands.
    """
    found: dict[Node, None] = {}
    waiting = list(kernel.operands)
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop(0)
        if node in seen:
            continue
        seen.add(node)
        if node.opcode == "parameter" or node in stored:
            found[node] = None
        else:
            waiting += node.operands
    return list(found)


def room_of(node: Node) -> int:
    """Return the floats that a stored node takes in memory: whole cache lines."""
    return -(-prod(node.shape) // LINE) * LINE


def evaluate(graph: Graph, arrays: Sequence[Any], dtype: Any = np.float32) -> Array:
    """Return the value of a program, computed node by node in numpy.

    Parameters
    ----------
    graph
        The program.
    arrays
        One for each parameter.
    dtype
        The type in which all of it is computed; float64 shows how much of a result is rounding.

    Returns
    -------
    numpy.ndarray
        The result.

    Examples
    --------
    >>> from xla_explorer.course.mini import Graph, Node, evaluate
    >>> x = Node("x", "parameter", (2,), attributes={"number": 0})
    >>> evaluate(Graph([x], Node("y", "negate", (2,), [x])), [[1, 2]])
    array([-1., -2.], dtype=float32)
    """
    values: dict[Node, Array] = {}
    with np.errstate(all="ignore"):
        for node in graph.nodes():
            values[node] = np.asarray(
                _value(node, [values[o] for o in node.operands], arrays), dtype
            )
    return values[graph.root]


def _value(node: Node, operands: list[Array], arrays: Sequence[Any]) -> Any:
    opcode, given = node.opcode, node.attributes
    if opcode == "parameter":
        return np.asarray(arrays[given["number"]])
    if opcode == "constant":
        return np.float32(given["value"])
    if opcode in BINARY:
        return BINARY[opcode](*operands)
    if opcode in UNARY:
        return UNARY[opcode](operands[0])
    if opcode == "reshape":
        return operands[0].reshape(node.shape)
    if opcode == "transpose":
        return operands[0].transpose(given["dimensions"])
    if opcode == "broadcast":
        wide = [1] * len(node.shape)
        for place, dimension in enumerate(given["dimensions"]):
            wide[dimension] = operands[0].shape[place]
        return np.broadcast_to(operands[0].reshape(wide), node.shape)
    if opcode == "reduce":
        reduce = _REDUCTIONS[given["kind"]]
        return reduce(reduce.reduce(operands[0], axis=given["dimensions"]), operands[1])
    if opcode == "dot":
        return _product(node, *operands)
    raise NotImplementedError(f"no program of this thread has the opcode {opcode}")


def _product(node: Node, lhs: Array, rhs: Array) -> Array:
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    left, right = [next(letters) for _ in lhs.shape], [next(letters) for _ in rhs.shape]
    given = node.attributes
    for a, b in zip(
        given["lhs_batch"] + given["lhs_contracting"],
        given["rhs_batch"] + given["rhs_contracting"],
        strict=True,
    ):
        right[b] = left[a]
    batch = [left[a] for a in given["lhs_batch"]]
    rows = [
        letter
        for d, letter in enumerate(left)
        if d not in given["lhs_batch"] + given["lhs_contracting"]
    ]
    columns = [
        letter
        for d, letter in enumerate(right)
        if d not in given["rhs_batch"] + given["rhs_contracting"]
    ]
    product: Array = np.einsum(
        f"{''.join(left)},{''.join(right)}->{''.join(batch + rows + columns)}",
        lhs,
        rhs,
        optimize=True,
    )
    return product
