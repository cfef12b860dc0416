"""Random programs with random shardings on random meshes, for properties of the partitioner."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import xla_explorer as xe
from xla_explorer.hlo.attributes import CODECS
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, array_shape

COUNTS = (2, 3, 4, 6, 8)


def random_sharding(rng: random.Random, shape: Shape, count: int) -> str:
    """Return the text of a sharding that fits a shape; sizes need not divide."""
    if not shape.rank or rng.random() < 0.2:
        return "{replicated}"
    tiles, rest = [1] * shape.rank, count
    while rest > 1 and rng.random() < 0.8:
        prime = next(k for k in range(2, rest + 1) if rest % k == 0)
        tiles[rng.randrange(shape.rank)] *= prime
        rest //= prime
    if rest == count:
        return "{replicated}"
    last = " last_tile_dim_replicate" if rest > 1 else ""
    dims = ",".join(map(str, [*tiles, rest] if rest > 1 else tiles))
    form = rng.random()
    if form < 0.6 or count in (2, 3):
        devices = f"<=[{count}]"
    elif form < 0.9:
        prime = next(k for k in range(2, count + 1) if count % k == 0)
        devices = f"<=[{prime},{count // prime}]T(1,0)"
    else:
        devices = ",".join(map(str, rng.sample(range(count), count)))
    return f"{{devices=[{dims}]{devices}{last}}}"


class Program:
    """A random program. rng: its choices. b: its builder. values: what operations may read."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.b = xe.HloBuilder(f"random_{seed}", locations=False)
        self.values: list[HloValue] = []
        self.arguments: list[np.ndarray[Any, Any]] = []

    def sizes(self, rank: int | None = None) -> list[int]:
        """Return random sizes."""
        rank = self.rng.randint(1, 3) if rank is None else rank
        return [self.rng.randint(1, 9) for _ in range(rank)]

    def parameter(self, sizes: list[int], kind: str = "f32", most: int = 4) -> HloValue:
        """Add a parameter of small whole numbers."""
        shape = array_shape(kind, sizes)
        numbers = np.random.default_rng(self.rng.randrange(1 << 30))
        low = -3 if kind == "f32" else 0
        self.arguments.append(numbers.integers(low, most, sizes).astype(shape.element_type.dtype))
        return self.b.parameter(shape)

    def value(self, rank: int = 0) -> HloValue:
        """Return an earlier value of at least some rank, or a new parameter."""
        found = [v for v in self.values if v.ndim >= max(rank, 1) and v.size]
        if found and self.rng.random() < 0.8:
            return self.rng.choice(found[-4:])
        return self.parameter(self.sizes(max(rank, self.rng.randint(1, 3))))

    def build(self, length: int, count: int) -> tuple[str, list[np.ndarray[Any, Any]]]:
        """Return the text of a program of some operations, and its arguments."""
        return str(self.module(length, count)), self.arguments

    def module(self, length: int, count: int) -> HloModule:
        """Return a program of some operations."""
        steps = self.rng.choices(OPERATIONS, k=length)
        for step in steps:
            self.values.append(step(self))
        module = self.b.build(*self.values[-2:])
        entry = module.entry
        for i in entry.instructions.values():
            if i.shape.is_array and self.rng.random() < 0.85:
                self._annotate(i, random_sharding(self.rng, i.shape, count))
        leaves = [i.attributes.get("sharding", "{replicated}") for i in entry.root.operands]
        if entry.root.opcode.name == "tuple":
            self._annotate(entry.root, "{" + ", ".join(leaves) + "}")
        return module

    @staticmethod
    def _annotate(i: Any, text: str) -> None:
        codec = CODECS["sharding"]
        i.parent.set_attributes(i, i.attributes.with_values(sharding=codec.read(text)))


Operation = Callable[[Program], HloValue]


def _unary(p: Program) -> HloValue:
    x = p.value()
    return p.rng.choice([lambda: -x, lambda: x.maximum(1.0), lambda: x * 2.0])()


def _binary(p: Program) -> HloValue:
    x = p.value()
    y = p.parameter(list(x.shape.dimensions))
    return p.rng.choice([lambda: x + y, lambda: x - y, lambda: p.b.select(x > y, x, y)])()


def _broadcast(p: Program) -> HloValue:
    x = p.value()
    if x.ndim > 2:
        return -x
    mapping = sorted(p.rng.sample(range(x.ndim + 1), x.ndim))
    sizes = p.sizes(x.ndim + 1)
    for k, d in enumerate(mapping):
        sizes[d] = x.shape.dimensions[k]
    return p.b.broadcast(x, sizes, mapping)


def _transpose(p: Program) -> HloValue:
    x = p.value(2)
    order = p.rng.sample(range(x.ndim), x.ndim)
    return p.b.emit("transpose", [x], {"dimensions": tuple(order)})


def _reshape(p: Program) -> HloValue:
    x = p.value()
    rest, sizes = x.size, []
    for _ in range(p.rng.randint(0, 2)):
        size = p.rng.choice([k for k in range(1, rest + 1) if rest % k == 0])
        sizes.append(size)
        rest //= size
    sizes.insert(p.rng.randint(0, len(sizes)), rest)
    return p.b.reshape(x, sizes)


def _reverse(p: Program) -> HloValue:
    x = p.value()
    dims = p.rng.sample(range(x.ndim), p.rng.randint(1, x.ndim))
    return p.b.emit("reverse", [x], {"dimensions": tuple(dims)})


def _slice(p: Program) -> HloValue:
    x, found = p.value(), []
    for n in x.shape.dimensions:
        start = p.rng.randrange(n) if p.rng.random() < 0.5 else 0
        limit = p.rng.randint(start + 1, n) if p.rng.random() < 0.5 else n
        found.append(f"[{start}:{limit}:{p.rng.choice([1, 1, 2, 3])}]")
    return p.b.emit("slice", [x], {"slice": "{" + ", ".join(found) + "}"})


def _pad(p: Program) -> HloValue:
    x = p.value()
    found = []
    for n in x.shape.dimensions:
        low = p.rng.choice([0, 0, 1, 3, -1 if n > 2 else 0])
        high = p.rng.choice([0, 0, 2, -1 if n > 3 else 0])
        found.append(f"{low}_{high}" + ("_1" if p.rng.random() < 0.1 else ""))
    return p.b.emit("pad", [x, p.b.constant(7.0)], {"padding": "x".join(found)})


def _concatenate(p: Program) -> HloValue:
    x = p.value()
    dim = p.rng.randrange(x.ndim)
    parts = [x]
    for _ in range(p.rng.randint(1, 2)):
        sizes = list(x.shape.dimensions)
        sizes[dim] = p.rng.randint(1, 5)
        parts.append(p.parameter(sizes))
    p.rng.shuffle(parts)
    return p.b.emit("concatenate", parts, {"dimensions": (dim,)})


def _dot(p: Program) -> HloValue:
    x = p.value()
    dims = p.rng.sample(range(x.ndim), x.ndim)
    batch = dims[: p.rng.randint(0, min(1, x.ndim - 1))]
    inner = dims[len(batch) : len(batch) + p.rng.randint(0 if x.ndim > 1 else 1, 1)]
    roles = [(d, x.shape.dimensions[d]) for d in [*batch, *inner]]
    free = p.sizes(p.rng.randint(0, 1))
    order = p.rng.sample(range(len(roles) + len(free)), len(roles) + len(free))
    sizes = [0] * len(order)
    for at, size in zip(order, [n for _, n in roles] + free, strict=True):
        sizes[at] = size
    if x.ndim + len(free) - len(inner) > 3 or not sizes:
        return -x
    y = p.parameter(sizes)
    return p.b.emit(
        "dot",
        [x, y],
        {
            "lhs_batch_dims": tuple(batch),
            "rhs_batch_dims": tuple(order[: len(batch)]),
            "lhs_contracting_dims": tuple(inner),
            "rhs_contracting_dims": tuple(order[len(batch) : len(roles)]),
        },
    )


def _reduce(p: Program) -> HloValue:
    x = p.value()
    dims = tuple(p.rng.sample(range(x.ndim), p.rng.randint(1, x.ndim)))
    found = p.rng.choice(
        [lambda: x.sum(axis=dims), lambda: x.max(axis=dims), lambda: x.min(axis=dims)]
    )()
    return found if found.ndim else p.b.broadcast(found, p.sizes(1))


def _reduce_from(p: Program) -> HloValue:
    x = p.value(2)
    dims = (p.rng.randrange(x.ndim),)
    return p.b.emit(
        "reduce", [x, p.b.constant(2.0)], {"dimensions": dims, "to_apply": lambda a, b: a + b}
    )


def _arg_max(p: Program) -> HloValue:
    x = p.value(2)
    dim = p.rng.randrange(x.ndim)
    return p.b.convert(x.argmax(axis=dim), "f32")


def _reduce_window(p: Program) -> HloValue:
    x, found = p.value(), []
    for n in x.shape.dimensions:
        low, high = p.rng.choice([0, 0, 1, 2]), p.rng.choice([0, 0, 1, 2])
        size = p.rng.randint(1, min(n + low + high, 4))
        dilated = p.rng.choice([1, 1, 1, 2]) if n > 1 else 1
        found.append((size, p.rng.choice([1, 1, 2]), low, high, dilated))
    window = (
        "{size=" + "x".join([str(f[0]) for f in found])
        + " stride=" + "x".join([str(f[1]) for f in found])
        + " pad=" + "x".join([f"{f[2]}_{f[3]}" for f in found])
        + " lhs_dilate=" + "x".join([str(f[4]) for f in found]) + "}"
    )  # fmt: skip
    init, combine = p.rng.choice(
        [(0.0, lambda a, b: a + b), (-99.0, lambda a, b: p.b.maximum(a, b))]
    )
    if init:
        return p.b.emit(
            "reduce-window",
            [x, p.b.constant(init)],
            {"window": window, "to_apply": lambda a, b: a.maximum(b)},
        )
    return p.b.emit(
        "reduce-window", [x, p.b.constant(init)], {"window": window, "to_apply": combine}
    )


def _dynamic_slice(p: Program) -> HloValue:
    x = p.value()
    sizes = [n if p.rng.random() < 0.5 else p.rng.randint(1, n) for n in x.shape.dimensions]
    starts = [p.parameter([], "s32", 9) for _ in sizes]
    return p.b.emit("dynamic-slice", [x, *starts], {"dynamic_slice_sizes": tuple(sizes)})


def _dynamic_update_slice(p: Program) -> HloValue:
    x = p.value()
    sizes = [n if p.rng.random() < 0.5 else p.rng.randint(1, n) for n in x.shape.dimensions]
    starts = [p.parameter([], "s32", 9) for _ in sizes]
    return p.b.emit("dynamic-update-slice", [x, p.parameter(sizes), *starts], {})


def _gather(p: Program) -> HloValue:
    x = p.value()
    dim = p.rng.randrange(x.ndim)
    indices = p.parameter(p.sizes(p.rng.randint(1, 4 - x.ndim)), "s32", 11)
    count = indices.ndim
    slices = [1 if d == dim else n for d, n in enumerate(x.shape.dimensions)]
    if p.rng.random() < 0.3 and x.ndim > 1:
        other = (dim + 1) % x.ndim
        slices[other] = p.rng.randint(1, slices[other])
    rank = count + x.ndim - 1
    offsets = sorted(p.rng.sample(range(rank), x.ndim - 1))
    return p.b.emit(
        "gather",
        [x, indices],
        {
            "offset_dims": tuple(offsets),
            "collapsed_slice_dims": (dim,),
            "start_index_map": (dim,),
            "index_vector_dim": count,
            "slice_sizes": tuple(slices),
        },
    )


def _scatter(p: Program) -> HloValue:
    x = p.value()
    dim = p.rng.randrange(x.ndim)
    indices = p.parameter(p.sizes(1), "s32", 11)
    rest = [n for d, n in enumerate(x.shape.dimensions) if d != dim]
    at = p.rng.randint(0, len(rest))
    updates = p.parameter([*rest[:at], indices.shape.dimensions[0], *rest[at:]])
    return p.b.emit(
        "scatter",
        [x, indices, updates],
        {
            "update_window_dims": tuple([d for d in range(len(rest) + 1) if d != at]),
            "inserted_window_dims": (dim,),
            "scatter_dims_to_operand_dims": (dim,),
            "index_vector_dim": 1,
            "to_apply": p.rng.choice([lambda a, b: a + b, lambda a, b: a.maximum(b)]),
        },
    )


def _sort(p: Program) -> HloValue:
    x = p.value()
    return x.sort(axis=p.rng.randrange(x.ndim))


def _iota(p: Program) -> HloValue:
    sizes = p.sizes()
    return p.b.iota(array_shape("f32", sizes), p.rng.randrange(len(sizes)))


def _convolution(p: Program) -> HloValue:
    groups, deep = p.rng.choice([1, 1, 2, 3]), p.rng.randint(1, 2)
    batch, size = p.rng.randint(1, 5), p.rng.randint(3, 9)
    x = p.parameter([batch, size, groups * deep])
    k = p.rng.randint(1, 4)
    y = p.parameter([k, deep, groups * p.rng.randint(1, 3)])
    window = (
        f"{{size={k} stride={p.rng.choice([1, 2])} pad={p.rng.randint(1, 2)}_{p.rng.randint(1, 2)}"
        f" lhs_dilate={p.rng.choice([1, 1, 2])} rhs_dilate={p.rng.choice([1, 1, 2])}}}"
    )
    return p.b.emit(
        "convolution",
        [x, y],
        {"window": window, "dim_labels": "b0f_0io->b0f", "feature_group_count": groups},
    )


def _weight_gradient(p: Program) -> HloValue:
    batch, size = p.rng.randint(1, 4), p.rng.randint(3, 9)
    x, y = p.parameter([batch, size, 2]), p.parameter([batch, size, 3])
    window = f"{{size={size} pad=1_1 rhs_dilate=1}}"
    return p.b.emit("convolution", [x, y], {"window": window, "dim_labels": "f0b_i0o->0bf"})


def _loop(p: Program) -> HloValue:
    x = p.value()
    start = p.b.constant(0)
    return p.b.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0 - 1.0), (start, x))[1]


OPERATIONS: tuple[Operation, ...] = (
    _unary, _binary, _broadcast, _transpose, _reshape, _reshape, _reverse, _slice, _pad,
    _concatenate, _dot, _dot, _reduce, _reduce_from, _arg_max, _reduce_window, _dynamic_slice,
    _dynamic_update_slice, _gather, _scatter, _sort, _iota, _convolution, _weight_gradient, _loop,
)  # fmt: skip
