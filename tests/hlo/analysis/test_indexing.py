"""Index maps: simplified expressions keep their value; gathers by map equal the evaluator."""

from __future__ import annotations

import math
import operator
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.properties.random_modules import random_module
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import (
    MOVEMENT,
    Axis,
    Guard,
    IndexSyntaxError,
    Read,
    RuntimeValue,
    delinearize,
    index,
    index_map_text,
    linearize,
    parse_index,
    parse_place,
    reads_of,
    row_major_strides,
)
from xla_explorer.hlo.evaluator import Evaluator
from xla_explorer.hlo.instruction import HloInstruction

AXES = [Axis("i", 6), Axis("j", 10), Axis("k", 4), Axis("l", 1)]
GRID = {
    a: np.arange(a.extent).reshape([-1 if n == m else 1 for m in range(len(AXES))])
    for n, a in enumerate(AXES)
}
START = RuntimeValue("%7", (index(AXES[0]),), 0, 5)


def random_expression(choice: random.Random, depth: int) -> tuple[Any, Any]:
    """Return (an expression, numpy's value of the same operations)."""
    if depth == 0:
        axis = choice.choice([*AXES, START])
        number = choice.randrange(-7, 20)
        if choice.random() < 0.2:
            return index(number), np.int64(number)
        return index(axis), np.clip(GRID[AXES[0]] * 2 - 3, 0, 5) if axis is START else GRID[axis]
    x, a = random_expression(choice, depth - 1)
    symbol = choice.choice(("+", "-", "*", "//", "%"))
    if symbol in "+-":
        y, b = random_expression(choice, depth - 1)
    else:
        y = b = choice.choice((1, 2, 3, 4, 5, 6, 8, 10, 12)) * (
            choice.choice((1, -1)) if symbol == "*" else 1
        )
    f = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "//": operator.floordiv,
        "%": operator.mod,
    }[symbol]
    return f(x, y), f(a, b)


def test_simplified_expressions_keep_value_bounds_and_text() -> None:
    choice = random.Random(1)
    for _ in range(1000):
        x, wanted = random_expression(choice, choice.randrange(1, 5))
        assert np.array_equal(
            np.broadcast_to(x.evaluate(GRID, lambda _: GRID[AXES[0]] * 2 - 3), (6, 10, 4, 1)),
            np.broadcast_to(wanted, (6, 10, 4, 1)),
        )
        low, high = x.bounds
        assert low <= np.min(wanted) and np.max(wanted) <= high, x
        assert parse_index(str(x), AXES) == x
        halved = {AXES[0]: index(Axis("io", 3)) * 2 + Axis("ii", 2)}
        finer = {Axis("io", 3): GRID[AXES[0]] // 2, Axis("ii", 2): GRID[AXES[0]] % 2, **GRID}
        assert np.array_equal(
            np.broadcast_to(
                x.substitute(halved).evaluate(finer, lambda _: GRID[AXES[0]] * 2 - 3), (6, 10, 4, 1)
            ),
            np.broadcast_to(wanted, (6, 10, 4, 1)),
        )


def test_what_expressions_simplify_to() -> None:
    i, j, k, one = [index(a) for a in AXES]
    assert str((i * 40 + j * 4 + k) // 4 % 10) == "j"
    assert str(i * 10 // 4) == "(5*i) // 2"
    assert (i * 10 + j) // 10 * 10 + (i * 10 + j) % 10 == i * 10 + j
    assert (i * 10 + j) // 4 * 4 + (i * 10 + j) % 4 == i * 10 + j
    assert ((i * 10 + j) // 3) // 4 == (i * 10 + j) // 12
    assert ((i * 10 + j) // 3) % 4 * 3 + (i * 10 + j) % 3 == (i * 10 + j) % 12
    assert j % 8 % 4 == j % 4 and one == index(0)
    assert (i + j) == (j + i) and hash(i + j) == hash(j + i)
    assert (
        (i * 16 + j).coefficient(AXES[0]) == 16
        and (j // 2).coefficient(AXES[1]) is None
        and k.coefficient(AXES[0]) == 0
    )
    assert str(5 - i) == "5 - i" and str(i - 5) == "i - 5" and str(-i) == "-i"
    assert (i + START).axes == {AXES[0]} and (i + START).substitute({START: index(2)}) == i + 2


@pytest.mark.parametrize(
    "text", ["i +", "i * j", "q", "i // 0", "(i", "i j", "clamp(%7[i, 0, 1)", "i ? 2"]
)
def test_texts_that_are_no_index_are_refused(text: str) -> None:
    with pytest.raises((IndexSyntaxError, ValueError)):
        parse_index(text, AXES)
    assert [str(x) for x in parse_place("i, 2*j + 1", AXES)] == ["i", "2*j + 1"]


class Gatherer:
    """The elements that reads give, in numpy. values: of the operands."""

    def __init__(
        self, i: HloInstruction, values: dict[int, Any], over: tuple[Axis, ...] = ()
    ) -> None:
        self.i, self.values = i, values
        self.axes = [Axis(f"d{n}", extent) for n, extent in enumerate(i.shape.dimensions)] + list(
            over
        )
        self.grid = {
            a: np.arange(a.extent).reshape([-1 if n == m else 1 for m in range(len(self.axes))])
            for n, a in enumerate(self.axes)
        }
        self.shape = tuple([a.extent for a in self.axes])

    def _index(self, x: Any) -> Any:
        return np.broadcast_to(x.evaluate(self.grid, self._runtime), self.shape)

    def _runtime(self, value: RuntimeValue) -> Any:
        return self.values[value.source.id][tuple([self._index(x) for x in value.place])]

    def inside(self, guards: tuple[Guard, ...]) -> Any:
        return np.all(
            [
                np.ones(self.shape, bool),
                *[
                    (self._index(g.expression) >= 0) & (self._index(g.expression) < g.bound)
                    for g in guards
                ],
            ],
            axis=0,
        )

    def elements(self, read: Read) -> tuple[Any, Any]:
        """Return (the elements, the mask of those that are read)."""
        array, inside = self.values[self.i.operands[read.operand].id], self.inside(read.guards)
        at = [np.where(inside, self._index(x), 0) for x in read.place]
        assert all(
            np.all((x >= 0) & (x < n)) for x, n in zip(at, array.shape, strict=True) if inside.any()
        ), "an element outside the operand is read"
        found = array[tuple(at)] if array.size else np.zeros(self.shape, array.dtype)
        return np.broadcast_to(found, self.shape), inside


def gathered(i: HloInstruction, values: dict[int, Any]) -> Any:
    """Return the result of a data movement by its index map."""
    g = Gatherer(i, values)
    reads = reads_of(i, tuple([index(a) for a in g.axes]))
    assert not isinstance(reads, Reason), reads
    found = None
    for read in reversed([r for r in reads if not r.addressing]):
        elements, inside = g.elements(read)
        assert found is not None or inside.all() or len(reads) > 1
        found = elements if found is None else np.where(inside, elements, found)
    return found


def combined(i: HloInstruction, values: dict[int, Any]) -> Any:
    """Return a sum of elements, or of products, by the index map; None for other combiners.

    Floats are summed in f64, integers wrap.
    """
    reads = reads_of(
        i, tuple([index(Axis(f"d{n}", extent)) for n, extent in enumerate(i.shape.dimensions)])
    )
    assert not isinstance(reads, Reason), reads
    over = reads[0].over
    g = Gatherer(i, values, over)
    along = tuple(range(i.shape.rank, i.shape.rank + len(over)))
    total: Any = 1
    for read in reads[: len(reads) // 2] if i.called else reads:
        elements, inside = g.elements(read)
        wide = elements.astype(
            np.complex128
            if elements.dtype.kind == "c"
            else np.int64
            if elements.dtype.kind in "iub"
            else np.float64
        )
        total = total * np.where(inside, wide, 0)
    start = values[i.operands[1].id] if i.called else 0
    return total.sum(axis=along) + start


def test_gathering_by_maps_gives_what_the_evaluator_gives() -> None:
    seen: Counter[str] = Counter()
    for seed in range(500, 650):
        case = random_module(seed)
        evaluator = Evaluator(record=True)
        if (
            max(
                [
                    math.prod(i.shape.dimensions)
                    for i in case.module.entry.instructions.values()
                    if i.shape.is_array
                ],
                default=0,
            )
            > 4000
        ):
            continue
        evaluator.evaluate_computation(case.module.entry, case.arguments)
        for i in case.module.entry.post_order():
            name, values = i.opcode.name, evaluator.values
            if any(o.id not in values for o in (i, *i.operands)):
                continue  # what nothing needs is not evaluated
            if (
                name in MOVEMENT
                and i.operands
                and i.shape.is_array
                and not isinstance(
                    reads_of(i, tuple([index(n) for n in i.shape.dimensions])), Reason
                )
            ):
                found, wanted = gathered(i, values), values[i.id]
                if name == "bitcast-convert":
                    found = found.view(wanted.dtype)
                assert (
                    found.dtype == wanted.dtype
                    and found.tobytes() == np.ascontiguousarray(wanted).tobytes()
                ), (seed, i)
            elif name in ("dot", "convolution") or (
                name in ("reduce", "reduce-window")
                and i.to_apply.root.opcode.name == "add"
                and i.shape.is_array
            ):
                if case.extremes:
                    continue
                wanted = values[i.id]
                found = combined(i, values)
                if wanted.dtype.kind in "iu":
                    assert np.array_equal(found.astype(wanted.dtype), wanted), (seed, i)
                else:
                    assert np.allclose(
                        found,
                        wanted.astype(found.dtype),
                        1e-1 if wanted.itemsize == 2 else 1e-4,
                        1e-4,
                    ), (seed, i)
            else:
                continue
            seen[name] += 1
    movement = {
        "broadcast",
        "reshape",
        "transpose",
        "slice",
        "reverse",
        "pad",
        "concatenate",
        "dynamic-slice",
        "dynamic-update-slice",
        "gather",
    }
    assert {*movement, "dot", "convolution", "reduce", "reduce-window"} <= seen.keys(), seen


def _composed(text: str) -> str:
    """Return the offset in the parameter of an element of a chain of movements."""
    i = xe.parse_hlo(f"HloModule m\nENTRY e {{\n{text}\n}}").entry.root
    place: Any = tuple(
        [index(Axis("ijkl"[n], extent)) for n, extent in enumerate(i.shape.dimensions)]
    )
    while i.operands:
        reads = reads_of(i, place)
        assert not isinstance(reads, Reason)
        place, i = reads[0].place, i.operands[0]
    return str(linearize(place, i.shape.strides))


def test_compositions_simplify() -> None:
    assert (
        _composed(
            "p = f32[8,16] parameter(0)\n a = f32[2,4,16] reshape(p)\n b = f32[128] reshape(a)\n ROOT r = f32[8,16] reshape(b)"
        )
        == "16*i + j"
    )
    assert (
        _composed(
            "p = f32[6,4] parameter(0)\n t = f32[4,6] transpose(p), dimensions={1,0}\n s = f32[2,2,6] reshape(t)\n"
            " ROOT r = f32[2,6,2] transpose(s), dimensions={0,2,1}"
        )
        == "4*j + 2*i + k"
    )
    assert (
        _composed(
            "p = f32[4,6]{0,1} parameter(0)\n b = f32[6,4]{1,0} bitcast(p)\n ROOT r = f32[6,4] reverse(b), dimensions={1}"
        )
        == "4*i - j + 3"
    )
    assert (
        _composed(
            "p = f32[32] parameter(0)\n b = f32[3,32] broadcast(p), dimensions={1}\n ROOT r = f32[3,16] slice(b), slice={[0:3], [1:32:2]}"
        )
        == "2*j + 1"
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("p = f32[4,6] parameter(0)\n ROOT r = f32[6,4] transpose(p), dimensions={1,0}", "[i, j] <- %p[j, i]"),
        ("p = f32[5] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[9] pad(p, z), padding=2_2", "[i] <- %p[i - 2] where 0 <= i - 2 < 5, %z[]"),
        ("p = f32[9] parameter(0)\n s = s32[] parameter(1)\n ROOT r = f32[4] dynamic-slice(p, s), dynamic_slice_sizes={4}",
         "[i] <- %p[clamp(%s[], 0, 5) + i]"),
        ("a = f32[2,3] parameter(0)\n b = f32[3,5] parameter(1)\n ROOT r = f32[2,5] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
         "[i, j] <- %a[i, s0] for s0 in 3, %b[s0, j] for s0 in 3"),
        ("ROOT r = s32[4] iota(), iota_dimension=0", ""),
        ("p = f32[3] parameter(0)\n ROOT r = (f32[3]) tuple(p)", ""),
    ],
)  # fmt: skip
def test_a_map_is_told_in_one_line(body: str, text: str) -> None:
    assert index_map_text(xe.parse_hlo(f"HloModule m\nENTRY e {{\n{body}\n}}").entry.root) == text


@pytest.mark.parametrize("extents", [(6,), (3, 4), (8, 28, 28, 64), (2, 3, 5, 7, 2)])
def test_the_place_of_an_offset_has_that_offset(extents: tuple[int, ...]) -> None:
    x = index(Axis("x", math.prod(extents)))
    assert linearize(delinearize(x, extents), row_major_strides(extents)) == x


def test_parts_of_one_number_come_together_however_they_were_simplified() -> None:
    rng = random.Random(1)
    for _ in range(60):
        extents = [rng.choice([1, 2, 3, 4, 7, 8, 12]) for _ in range(rng.randint(1, 4))]
        copies, lanes = rng.choice([1, 2, 3, 4]), rng.choice([1, 4, 8, 16])
        turns = Axis("o", -(-math.prod(extents) // (copies * lanes)))
        whole = (
            index(turns) * (copies * lanes)
            + index(Axis("u", copies)) * lanes
            + index(Axis("v", lanes))
            + rng.randrange(3)
        )
        outer, *inner = delinearize(whole, (10**6, *extents))
        assert str(linearize((outer, *inner), row_major_strides((10**6, *extents)))) == str(whole)
