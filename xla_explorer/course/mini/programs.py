"""Random programs of the thread: arrays of f32, the opcodes that a transformer block needs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from xla_explorer.course.checking.programs import seeded
from xla_explorer.course.mini.graph import Array, Graph, Node
from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape

_BINARY = ("add", "subtract", "multiply", "maximum", "divide")
_UNARY = ("negate", "tanh", "exponential", "rsqrt")
_EXTENTS = (1, 2, 3, 4, 8)
DOT = {
    "lhs_contracting_dims": "lhs_contracting", "rhs_contracting_dims": "rhs_contracting",
    "lhs_batch_dims": "lhs_batch", "rhs_batch_dims": "rhs_batch",
}  # fmt: skip


def block_module(seed: int, size: int = 9) -> HloModule:
    """Return a program of about `size` operations, with dead, redundant and repeated ones."""
    choice = seeded(seed)
    b = HloBuilder("block", locations=False)
    rows, columns = choice.choice(_EXTENTS), choice.choice(_EXTENTS)
    known = [
        b.parameter(array_shape("f32", (rows, columns)), f"p{k}")
        for k in range(choice.randint(1, 3))
    ]
    for _ in range(choice.randint(2, size)):
        known += _operation(b, choice, known)
    return b.build(known[-1])


def _operation(b: HloBuilder, choice: random.Random, known: list[HloValue]) -> list[HloValue]:
    x = choice.choice(known[-4:])
    shape, rank = x.shape.dimensions, x.ndim
    kind = choice.random()
    if kind < 0.12 and rank:
        order = list(range(rank))
        choice.shuffle(order)
        turned = b.transpose(x, dimensions=tuple(order))
        return (
            [turned]
            if choice.random() < 0.6
            else [turned, b.transpose(turned, dimensions=tuple(reversed(range(rank))))]
        )
    if kind < 0.24:
        wanted = choice.choice(
            [shape, (1, *shape), (*shape, 1), (x.shape.element_count,), (1, x.shape.element_count)]
        )
        first = b.reshape(x, *wanted) if wanted else x
        return (
            [first] if choice.random() < 0.6 else [first, b.reshape(first, x.shape.element_count)]
        )
    if kind < 0.34:
        number = b.constant(choice.choice((0.0, 1.0, 1.0, 0.5, -2.0)), x.dtype)
        wide = b.broadcast(number, shape, ()) if rank else number
        name = choice.choice(("multiply", "divide", "add"))
        return [wide, getattr(b, name)(*((wide, x) if choice.random() < 0.3 else (x, wide)))]
    if kind < 0.5 and rank:
        axis = choice.randrange(rank)
        small = x.sum(axis=axis) if choice.random() < 0.5 else x.max(axis=axis)
        kept = tuple([d for d in range(rank) if d != axis])
        return (
            [small]
            if choice.random() < 0.3
            else [small, getattr(b, choice.choice(_BINARY))(x, b.broadcast(small, shape, kept))]
        )
    if kind < 0.62 and rank == 2:
        other = choice.choice([v for v in known if v.ndim == 2])
        if other.shape.dimensions[1] == shape[1]:
            return [b.dot(x, other, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,))]
        turned = b.transpose(x, dimensions=(1, 0))
        return [b.dot(x, turned, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))]
    if kind < 0.67 and rank == 3:
        return [
            b.dot(
                x,
                x,
                lhs_batch_dims=(0,),
                rhs_batch_dims=(0,),
                lhs_contracting_dims=(2,),
                rhs_contracting_dims=(2,),
            )
        ]
    if kind < 0.8:
        made = getattr(b, choice.choice(_UNARY))(x)
        more = choice.random()
        if more < 0.2 and rank:
            return [
                made,
                b.divide(made, b.broadcast(made.sum(axis=0), shape, tuple(range(1, rank)))),
            ]
        return [made] if more < 0.8 else [made, b.negate(b.negate(made))]
    y = choice.choice([v for v in known if v.shape is x.shape])
    name = choice.choice(_BINARY)
    made = getattr(b, name)(x, y)
    again = getattr(b, name)(*((x, y) if choice.random() < 0.5 else (y, x)))
    return [made] if choice.random() < 0.6 else [made, b.add(made, again)]


def attributes_of(i: HloInstruction) -> dict[str, Any]:
    """Return the attributes of an instruction's node."""
    name = i.opcode.name
    if name == "parameter":
        return {"number": i.parameter_number}
    if name == "constant":
        return {"value": float(i.literal.scalar)}
    if name == "dot":
        return {ours: tuple(i.attribute(theirs) or ()) for theirs, ours in DOT.items()}
    if name == "reduce":
        return {
            "dimensions": tuple(i.attribute("dimensions")),
            "kind": i.called[0].root.opcode.name,
        }
    return (
        {"dimensions": tuple(i.attribute("dimensions"))}
        if name in ("broadcast", "transpose")
        else {}
    )


def graph_of(module: HloModule) -> Graph:
    """Return the entry of a module as a graph of nodes."""
    nodes: dict[HloInstruction, Node] = {}
    for i in [*module.entry.parameters(), *module.entry.post_order()]:
        if i not in nodes:
            nodes[i] = Node(
                i.name,
                i.opcode.name,
                tuple(i.shape.dimensions),
                [nodes[o] for o in i.operands],
                attributes_of(i),
            )
    return Graph([nodes[p] for p in module.entry.parameters()], nodes[module.entry.root])


def arrays_of(graph: Graph, seed: int = 0) -> list[Array]:
    """Return an array for each parameter, of ordinary numbers."""
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(p.shape).astype(np.float32) for p in graph.parameters]
