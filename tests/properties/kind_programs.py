"""Random programs of kinds in which compilers are often wrong.

The kinds: hand-written fusions, empty arrays, hostile indices, windows with holes, mixed precision,
pairs of starts and dones, aliased results.

`program(kind, seed)` is one program; `module_text(programs, seed)` puts several, independent of one
another, into one module, since compiling a module costs far more than a program in it. The same
seed makes the same text everywhere.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "s4", "u4", "pred")
FLOATS = ("f32", "f64", "f16", "bf16", "f8e4m3fn", "f8e5m2")
INDEX_TYPES = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
_SIZES = ((1, 2, 3, 4), (0, 1, 2, 3), (1, 3, 5, 8), (2, 7, 16, 17), (0, 0, 1, 4))
MOST_ELEMENTS = 3000


class Value(NamedTuple):
    """A value of a program."""

    name: str
    type: str
    sizes: tuple[int, ...]

    @property
    def text(self) -> str:
        return shape_text(self.type, self.sizes)

    @property
    def count(self) -> int:
        return math.prod(self.sizes)


def shape_text(element_type: str, sizes: tuple[int, ...]) -> str:
    return f"{element_type}[{','.join(map(str, sizes))}]"


def _braces(numbers: object) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"  # type: ignore[call-overload]


class Body:
    """Instructions of one computation. prefix: of its names."""

    def __init__(self, choice: random.Random, prefix: str) -> None:
        self.choice, self.prefix = choice, prefix
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.parameters: list[Value] = []
        self.results: list[Value] = []
        self.pool = choice.choice(_SIZES)

    # -- parts -------------------------------------------------------------------------------------
    def name(self) -> str:
        return f"{self.prefix}v{len(self.lines)}"

    def let(self, element_type: str, sizes: tuple[int, ...], expression: str) -> Value:
        made = Value(self.name(), element_type, tuple(sizes))
        self.lines.append(f"  {made.name} = {made.text} {expression}")
        return made

    def parameter(self, element_type: str, sizes: tuple[int, ...]) -> Value:
        self.parameters.append(Value(self.name(), element_type, tuple(sizes)))
        made = self.parameters[-1]
        self.lines.append(f"  {made.name} = {made.text} parameter(@{len(self.parameters) - 1}@)")
        return made

    def constant(self, element_type: str, number: int) -> Value:
        text = ("true" if number else "false") if element_type == "pred" else str(number)
        return self.let(element_type, (), f"constant({text})")

    def combiner(
        self,
        element_type: str,
        names: tuple[str, ...] = ("add", "maximum", "minimum"),
        result: str = "",
    ) -> tuple[str, str]:
        """Return a reducer and its operation; of predicates a logical one."""
        operation = self.choice.choice(("and", "or", "xor") if element_type == "pred" else names)
        t, name = result or element_type, f"{self.prefix}c{len(self.functions)}"
        self.functions.append(
            f"{name} {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = {t}[] {operation}(a, b)\n}}\n"
        )
        return name, operation

    def identity(self, element_type: str, operation: str) -> Value:
        """Return the neutral element of a reducer."""
        if operation in ("add", "or", "xor"):
            return self.constant(element_type, 0)
        if operation in ("and", "multiply"):
            return self.constant(element_type, 1)
        low, high = _range(element_type)
        return self.let(element_type, (), f"constant({low if operation == 'maximum' else high})")

    # -- picks -------------------------------------------------------------------------------------
    def type(self, floats: float = 0.25) -> str:
        return self.choice.choice(FLOATS[:4] if self.choice.random() < floats else INTEGERS)

    def sizes(self, low: int = 0, high: int = 4, most: int = MOST_ELEMENTS) -> tuple[int, ...]:
        while True:
            found = tuple(
                [self.choice.choice(self.pool) for _ in range(self.choice.randint(low, high))]
            )
            if math.prod(found) <= most:
                return found

    def some(self, count: int, least: int = 0) -> list[int]:
        """Return some of the first numbers, in order."""
        return sorted(
            self.choice.sample(range(count), self.choice.randint(min(least, count), count))
        )


def _range(element_type: str) -> tuple[str, str]:
    if element_type == "pred":
        return "false", "true"
    if element_type[0] in "su":
        bits = int(element_type[1:])
        return (
            (str(-(1 << bits - 1)), str((1 << bits - 1) - 1))
            if element_type[0] == "s"
            else ("0", str((1 << bits) - 1))
        )
    return ("-inf", "inf") if element_type != "f8e4m3fn" else ("-448", "448")


# -- fusions written by hand -----------------------------------------------------------------------
_BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
_LOGICAL = ("and", "or", "xor")


def _binary(body: Body, a: Value, b: Value) -> Value:
    logical = a.type == "pred" or (a.type[0] in "su" and body.choice.random() < 0.3)
    return body.let(
        a.type,
        a.sizes,
        f"{body.choice.choice(_LOGICAL if logical else _BINARY)}({a.name}, {b.name})",
    )


def _moved(body: Body, x: Value) -> Value:
    """Return an instruction that moves elements."""
    c, rank = body.choice, len(x.sizes)
    kind = c.randrange(9)
    if kind == 0:
        return body.let(
            x.type, x.sizes, f"reverse({x.name}), dimensions={_braces(body.some(rank))}"
        )
    if kind == 1:
        order = c.sample(range(rank), rank)
        return body.let(
            x.type,
            tuple([x.sizes[d] for d in order]),
            f"transpose({x.name}), dimensions={_braces(order)}",
        )
    if kind == 2:
        rows = []
        for n in x.sizes:
            start, stride = c.randint(0, n), c.choice((1, 1, 2, 3))
            rows.append((start, c.randint(start, n), stride))
        sizes = tuple([-(-(limit - start) // stride) for start, limit, stride in rows])
        return body.let(
            x.type,
            sizes,
            f"slice({x.name}), slice={{{', '.join(f'[{a}:{b}:{s}]' for a, b, s in rows)}}}",
        )
    if kind == 3:
        rows = [(c.randint(-1, 2), c.randint(-1, 2), c.choice((0, 0, 1, 2))) for _ in x.sizes]
        sizes = tuple(
            [
                low + high + n + max(n - 1, 0) * inside
                for (low, high, inside), n in zip(rows, x.sizes, strict=True)
            ]
        )
        if rank and min(sizes) >= 0 and math.prod(sizes) <= MOST_ELEMENTS:
            z = body.constant(x.type, c.randint(0, 1))
            return body.let(
                x.type,
                sizes,
                f"pad({x.name}, {z.name}), padding={'x'.join('_'.join(map(str, row)) for row in rows)}",
            )
    if kind == 4 and x.count <= MOST_ELEMENTS // 4 and rank < 5:
        at, extent = c.randint(0, rank), c.choice((0, 1, 2, 3))
        sizes = (*x.sizes[:at], extent, *x.sizes[at:])
        return body.let(
            x.type,
            sizes,
            f"broadcast({x.name}), dimensions={_braces([d for d in range(rank + 1) if d != at])}",
        )
    if kind == 5:
        return body.let(x.type, (x.count,), f"reshape({x.name})")
    if kind == 6 and rank and x.count <= MOST_ELEMENTS // 2:
        d = c.randrange(rank)
        sizes = tuple([2 * n if k == d else n for k, n in enumerate(x.sizes)])
        return body.let(x.type, sizes, f"concatenate({x.name}, {x.name}), dimensions={{{d}}}")
    if kind == 7 and rank:
        starts = [body.let("s32", (), f"constant({c.choice((-7, 0, 1, 99))})") for _ in x.sizes]
        sizes = tuple([c.randint(0, n) for n in x.sizes])
        names = ", ".join([s.name for s in starts])
        return body.let(
            x.type, sizes, f"dynamic-slice({x.name}, {names}), dynamic_slice_sizes={_braces(sizes)}"
        )
    if kind == 8 and x.type != "pred":
        other = c.choice([t for t in (*INTEGERS[:8], "f32") if t != x.type])
        return body.let(
            x.type, x.sizes, f"convert({body.let(other, x.sizes, f'convert({x.name})').name})"
        )
    return body.let(x.type, x.sizes, f"copy({x.name})")


def _reduced(body: Body, x: Value) -> Value:
    name, operation = body.combiner(x.type)
    dimensions = body.some(len(x.sizes))
    z = body.identity(x.type, operation)
    sizes = tuple([n for d, n in enumerate(x.sizes) if d not in dimensions])
    return body.let(
        x.type,
        sizes,
        f"reduce({x.name}, {z.name}), dimensions={_braces(dimensions)}, to_apply={name}",
    )


def _windowed(body: Body, x: Value) -> Value:
    """Return a reduce-window of a value."""
    window = _window(body.choice, len(x.sizes))
    out = window.results(x.sizes)
    if math.prod(out) > MOST_ELEMENTS:
        return x
    name, operation = body.combiner(x.type)
    z = body.identity(x.type, operation)
    return body.let(
        x.type,
        out,
        f"reduce-window({x.name}, {z.name}), window={{{window.text()}}}, to_apply={name}",
    )


def _array_constant(body: Body, element_type: str, sizes: tuple[int, ...]) -> Value:
    """Return a constant with several values."""

    def numbers(rest: tuple[int, ...]) -> str:
        if not rest:
            return (
                body.choice.choice(("true", "false"))
                if element_type == "pred"
                else str(body.choice.randint(0, 3))
            )
        return "{" + ", ".join([numbers(rest[1:]) for _ in range(rest[0])]) + "}"

    return body.let(element_type, sizes, f"constant({numbers(sizes)})")


def _product(body: Body, x: Value) -> Value:
    """Return a dot of a value with a broadcast, or with itself along its outermost dimension."""
    if (
        len(x.sizes) > 1
        and body.choice.random() < 0.3
        and x.sizes[0] * x.sizes[1] ** 2 * math.prod(x.sizes[2:]) < 20_000
    ):
        last = len(x.sizes) - 1
        kept = x.sizes[1:last]
        if x.sizes[0] * math.prod(kept) ** 2 <= MOST_ELEMENTS and last > 0:
            dims = f"lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{{last}}}, rhs_contracting_dims={{{last}}}"
            return (
                body.let(x.type, (x.sizes[0], *kept, *kept), f"dot({x.name}, {x.name}), {dims}")
                if last > 0
                else x
            )
    rank = len(x.sizes)
    contracted = body.some(rank, 1)
    order = body.choice.sample(range(len(contracted)), len(contracted))
    lines = body.choice.choice((1, 2, 5))
    kept = [n for d, n in enumerate(x.sizes) if d not in contracted]
    if math.prod(kept) * lines > MOST_ELEMENTS:
        return x
    ones = body.constant(x.type, 1)
    y = body.let(
        x.type,
        (*[x.sizes[contracted[k]] for k in order], lines),
        f"broadcast({ones.name}), dimensions={{}}",
    )
    y = (
        body.let(x.type, y.sizes, f"{'xor' if x.type == 'pred' else 'add'}({y.name}, {y.name})")
        if body.choice.random() < 0.3
        else y
    )
    left, right = [contracted[k] for k in order], list(range(len(contracted)))
    return body.let(
        x.type,
        (*kept, lines),
        f"dot({x.name}, {y.name}), lhs_contracting_dims={_braces(left)}, rhs_contracting_dims={_braces(right)}",
    )


def fusion(p: Body) -> None:
    """Draw a fusion with a random body: elementwise, movement, reduction or product, results."""
    c, t = p.choice, p.type()
    inner = Body(c, f"{p.prefix}f")
    inner.pool = p.pool
    sizes = p.sizes(1, 4, 800)
    known = [inner.parameter(t, sizes) for _ in range(c.randint(1, 3))]
    for _ in range(c.randint(1, 6)):
        x = c.choice(known[-3:])
        same = [k for k in known if k.sizes == x.sizes and k.type == x.type]
        known.append(_binary(inner, x, c.choice(same)) if c.random() < 0.5 else _moved(inner, x))
        if c.random() < 0.15 and known[-1].sizes:
            known.append(_reduced(inner, known[-1]))
        if c.random() < 0.1 and known[-1].count <= 60 and t[0] in "sup":
            known.append(_binary(inner, known[-1], _array_constant(inner, t, known[-1].sizes)))
    roots = [known[-1]]
    if c.random() < 0.5 and roots[0].sizes and t not in ("s4", "u4", "f16"):
        end = c.choices((_product, _windowed, _reduced), (3, 2, 5))[0]
        roots = [
            _reduced(inner, roots[0]) if end is _product and t == "pred" else end(inner, roots[0])
        ]
    elif c.random() < 0.3:
        roots += [k for k in known if k.sizes == roots[0].sizes][:2]
    arguments = [p.parameter(v.type, v.sizes) for v in inner.parameters]
    p.functions += inner.functions
    name = f"{p.prefix}fused"
    lines = list(inner.lines)
    shape = roots[0].text
    if len(roots) > 1:
        shape = f"({', '.join([r.text for r in roots])})"
        lines.append(
            f"  ROOT {inner.prefix}root = {shape} tuple({', '.join([r.name for r in roots])})"
        )
    else:
        at = next(k for k, line in enumerate(lines) if line.startswith(f"  {roots[0].name} = "))
        lines[at] = "  ROOT" + lines[at][1:]
    p.functions.append(f"{name} {{\n" + "\n".join(lines).replace("@", "") + "\n}\n")
    call = f"fusion({', '.join([a.name for a in arguments])}), kind={c.choice(('kLoop', 'kInput'))}, calls={name}"
    if len(roots) > 1:
        whole = p.name()
        p.lines.append(f"  {whole} = {shape} {call}")
        p.results += [
            p.let(r.type, r.sizes, f"get-tuple-element({whole}), index={k}")
            for k, r in enumerate(roots)
        ]
    else:
        p.results.append(p.let(roots[0].type, roots[0].sizes, call))
    if c.random() < 0.3 and arguments[0].type != "pred":
        p.results.append(
            p.let(arguments[0].type, arguments[0].sizes, f"negate({arguments[0].name})")
        )


# -- indices ---------------------------------------------------------------------------------------
def _indices(p: Body, batch: tuple[int, ...], components: int) -> tuple[Value, int]:
    """Return an array of index vectors and the dimension that holds them."""
    at = p.choice.randint(0, len(batch))
    if components == 1 and p.choice.random() < 0.3:
        return p.parameter(p.choice.choice(INDEX_TYPES), batch), len(batch)
    return p.parameter(p.choice.choice(INDEX_TYPES), (*batch[:at], components, *batch[at:])), at


def gather(p: Body) -> None:
    """Draw slices of any size, 0 in dropped dimensions too, typed starts, batching dimensions."""
    c, t = p.choice, p.type()
    x = p.parameter(t, p.sizes(1, 3, 300))
    rank = len(x.sizes)
    batched = body_batch = [d for d in range(rank) if c.random() < 0.15]
    batch = tuple(p.sizes(0, 2, 60)) if not batched else tuple([x.sizes[d] for d in batched])
    mapped = [d for d in c.sample(range(rank), rank) if d not in batched and c.random() < 0.7]
    indices, vector = _indices(p, batch, len(mapped))
    collapsed = [
        d for d in range(rank) if d not in batched and x.sizes[d] >= 0 and c.random() < 0.4
    ]
    sizes = []
    for d, n in enumerate(x.sizes):
        most = min(n, 1) if d in collapsed or d in batched else n
        sizes.append(most if c.random() < 0.5 else c.randint(0, most))
    kept = [sizes[d] for d in range(rank) if d not in collapsed and d not in batched]
    whole = len(batch) + len(kept)
    offset = sorted(c.sample(range(whole), len(kept)))
    shape = _woven(batch, kept, offset)
    if math.prod(shape) > MOST_ELEMENTS:
        return
    places = [k + (k >= vector) for k in range(len(batch))]
    text = (
        f"gather({x.name}, {indices.name}), offset_dims={_braces(offset)}, collapsed_slice_dims={_braces(collapsed)}, "
        f"start_index_map={_braces(mapped)}, index_vector_dim={vector}, slice_sizes={_braces(sizes)}"
    )
    if batched:
        text += f", operand_batching_dims={_braces(body_batch)}, start_indices_batching_dims={_braces(places)}"
    p.results.append(p.let(t, shape, text))


def _woven(outer: Sequence[int], inner: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    """Sizes of both, in their order; those of the inner at these places."""
    rest, own = iter(outer), iter(inner)
    return tuple([next(own) if d in places else next(rest) for d in range(len(outer) + len(inner))])


def scatter(p: Body) -> None:
    """Add updates at any index, with windows of any size and any valid combiner."""
    c, t = p.choice, p.type(0.0)
    x = p.parameter(t, p.sizes(1, 3, 300))
    rank = len(x.sizes)
    batch = tuple(p.sizes(0, 2, 60))
    mapped = [d for d in c.sample(range(rank), rank) if c.random() < 0.7]
    indices, vector = _indices(p, batch, len(mapped))
    inserted = [d for d in range(rank) if c.random() < 0.4]
    window = [c.choice((n, c.randint(0, n))) for d, n in enumerate(x.sizes) if d not in inserted]
    whole = len(batch) + len(window)
    places = sorted(c.sample(range(whole), len(window)))
    shape = _woven(batch, window, places)
    if math.prod(shape) > MOST_ELEMENTS:
        return
    u = p.parameter(t, shape)
    name, _ = p.combiner(t)
    p.results.append(p.let(t, x.sizes, (
        f"scatter({x.name}, {indices.name}, {u.name}), update_window_dims={_braces(places)}, inserted_window_dims={_braces(inserted)}, "
        f"scatter_dims_to_operand_dims={_braces(mapped)}, index_vector_dim={vector}, to_apply={name}"
    )))  # fmt: skip


def dynamic_slices(p: Body) -> None:
    """Slices and updates at starts of any type, far outside too."""
    c, t = p.choice, p.type()
    x = p.parameter(t, p.sizes(1, 4, 800))
    kind = c.choice(INDEX_TYPES)
    starts = [p.parameter(kind, ()) for _ in x.sizes]
    names, sizes = ", ".join([s.name for s in starts]), tuple([c.randint(0, n) for n in x.sizes])
    part = p.let(
        t, sizes, f"dynamic-slice({x.name}, {names}), dynamic_slice_sizes={_braces(sizes)}"
    )
    u = p.parameter(t, sizes)
    p.results += [part, p.let(t, x.sizes, f"dynamic-update-slice({x.name}, {u.name}, {names})")]


# -- windows ---------------------------------------------------------------------------------------
class _Window(NamedTuple):
    sizes: list[int]
    strides: list[int]
    pads: list[tuple[int, int]]
    spreads: list[int]
    dilations: list[int]
    reversed: list[int]

    def text(self) -> str:
        parts = [f"size={'x'.join(map(str, self.sizes))}"]
        for name, numbers in (
            ("stride", self.strides),
            ("lhs_dilate", self.spreads),
            ("rhs_dilate", self.dilations),
        ):
            if any(n != 1 for n in numbers):
                parts.append(f"{name}={'x'.join(map(str, numbers))}")
        if any(pad != (0, 0) for pad in self.pads):
            parts.append(f"pad={'x'.join(f'{low}_{high}' for low, high in self.pads)}")
        if any(self.reversed):
            parts.append(f"rhs_reversal={'x'.join(map(str, self.reversed))}")
        return " ".join(parts)

    def results(self, given: tuple[int, ...]) -> tuple[int, ...]:
        found = []
        for k, n in enumerate(given):
            whole = (n - 1) * self.spreads[k] + 1 if n else 0
            whole += sum(self.pads[k])
            window = (self.sizes[k] - 1) * self.dilations[k] + 1
            found.append((whole - window) // self.strides[k] + 1 if whole >= window else 0)
        return tuple(found)


def _window(c: random.Random, rank: int, reverses: bool = False, spreads: bool = True) -> _Window:
    pick = lambda *numbers: [c.choice(numbers) for _ in range(rank)]  # noqa: E731
    return _Window(
        pick(1, 1, 2, 3, 5), pick(1, 1, 2, 3), [(c.choice((0, 0, 1, 3, -1)), c.choice((0, 0, 1, 2, -1))) for _ in range(rank)],
        pick(1, 1, 2, 3) if spreads else [1] * rank, pick(1, 1, 2, 4), pick(0, 0, 1) if reverses else [0] * rank,
    )  # fmt: skip


def convolution(p: Body) -> None:
    """Draw strides, paddings, dilations, groups and dimension orders; the result may be wider."""
    c = p.choice
    spatial = c.choice((0, 1, 1, 2, 2, 3))
    window = _window(c, spatial, reverses=True)
    given = tuple([c.choice((1, 2, 3, 4, 7)) for _ in range(spatial)])
    out = window.results(given)
    features, batches = c.choice((1, 1, 2, 3, 4)), c.choice((1, 1, 2))
    each_in, each_out, batch = c.choice((0, 1, 2, 3)), c.choice((1, 2, 4)), c.choice((1, 2))
    if c.random() < 0.5 or features > 1:
        batches = 1
    kinds = c.choice(
        (
            ("s8", "s32"),
            ("u8", "u32"),
            ("s32", "s32"),
            ("f32", "f32"),
            ("f32", "f64"),
            ("bf16", "f32"),
            ("u4", "u4"),
            ("s16", "s64"),
        )
    )
    if (math.prod(out) * batch * each_out * features * batches) > MOST_ELEMENTS or any(
        n > 40 for n in out
    ):
        return
    parts = [
        {"b": batch * batches, "f": each_in * features},
        {"i": each_in, "o": each_out * features * batches},
        {"b": batch, "f": each_out * features * batches},
    ]
    labels, shapes = [], []
    for part, sizes in zip(parts, (given, tuple(window.sizes), out), strict=True):
        names = {**part, **{str(k): n for k, n in enumerate(sizes)}}
        order = c.sample(sorted(names), len(names))
        labels.append("".join(order))
        shapes.append(tuple([names[d] for d in order]))
    x, w = p.parameter(kinds[0], shapes[0]), p.parameter(kinds[0], shapes[1])
    text = (
        f"convolution({x.name}, {w.name}), "
        + (f"window={{{window.text()}}}, " if spatial else "")
        + f"dim_labels={labels[0]}_{labels[1]}->{labels[2]}"
    )
    text += f", feature_group_count={features}" if features > 1 else ""
    text += f", batch_group_count={batches}" if batches > 1 else ""
    p.results.append(p.let(kinds[1], shapes[2], text))


def reduce_window(p: Body) -> None:
    """Windows over an array or two, elements of which lie in holes or beside it."""
    c, t = p.choice, p.type(0.15)
    x = p.parameter(t, p.sizes(1, 3, 200))
    window = _window(c, len(x.sizes))
    out = window.results(x.sizes)
    if math.prod(out) > MOST_ELEMENTS:
        return
    name, operation = p.combiner(t)
    z = p.identity(t, operation)
    p.results.append(
        p.let(
            t,
            out,
            f"reduce-window({x.name}, {z.name}), window={{{window.text()}}}, to_apply={name}",
        )
    )


def select_and_scatter(p: Body) -> None:
    """Each source goes to the largest element of its window."""
    c = p.choice
    t = c.choice(("s8", "u8", "s32", "u16", "s64"))
    x = p.parameter(t, p.sizes(1, 3, 200))
    window = _window(c, len(x.sizes), spreads=False)._replace(dilations=[1] * len(x.sizes))
    out = window.results(x.sizes)
    if math.prod(out) > MOST_ELEMENTS or any(low < 0 or high < 0 for low, high in window.pads):
        return
    s, z = p.parameter(t, out), p.constant(t, 0)
    name, _ = p.combiner(t, ("add",))
    select = f"{p.prefix}s{len(p.functions)}"
    direction = c.choice(("GE", "LE"))
    p.functions.append(
        f"{select} {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction={direction}\n}}\n"
    )
    p.results.append(
        p.let(
            t,
            x.sizes,
            f"select-and-scatter({x.name}, {s.name}, {z.name}), window={{{window.text()}}}, select={select}, scatter={name}",
        )
    )


# -- types and time --------------------------------------------------------------------------------
def mixed_precision(p: Body) -> None:
    """Operands, sums and results of different types."""
    c = p.choice
    small, wide = c.choice(
        (
            ("bf16", "f32"),
            ("f16", "f32"),
            ("f32", "f64"),
            ("s8", "s32"),
            ("u8", "s32"),
            ("u8", "u32"),
            ("f8e4m3fn", "f32"),
        )
    )
    n, k, m = [c.choice(p.pool) for _ in range(3)]
    x, y = (
        p.parameter(small, (n, k)),
        p.parameter(c.choice((small, small, "s8" if small == "u8" else small)), (k, m)),
    )
    p.results.append(
        p.let(
            wide,
            (n, m),
            f"dot({x.name}, {y.name}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
        )
    )
    up = p.let(wide, x.sizes, f"convert({x.name})")
    name, operation = p.combiner(wide)
    p.results.append(
        p.let(
            wide,
            (n,),
            f"reduce({up.name}, {p.identity(wide, operation).name}), dimensions={{1}}, to_apply={name}",
        )
    )
    down = p.let(
        small, x.sizes, f"convert({p.let(wide, x.sizes, f'add({up.name}, {up.name})').name})"
    )
    p.results.append(_binary(p, down, x))
    if small in ("bf16", "f16"):
        mapped = f"{p.prefix}m"
        p.functions.append(
            f"{mapped} {{\n  a = {small}[] parameter(0)\n  b = {wide}[] parameter(1)\n  c = {small}[] convert(b)\n  ROOT r = {small}[] multiply(a, c)\n}}\n"
        )
        p.results.append(
            p.let(
                small, x.sizes, f"map({x.name}, {up.name}), dimensions={{0,1}}, to_apply={mapped}"
            )
        )


def asynchronous(p: Body) -> None:
    """Return a program that starts a computation and a copy, and waits for both later."""
    c, t = p.choice, p.type(0.2)
    x = p.parameter(t, p.sizes(1, 3, 300))
    if c.random() < 0.4:
        start = p.name()
        p.lines.append(f"  {start} = ({x.text}, {x.text}, u32[]) copy-start({x.name})")
        between = _binary(p, x, x)
        p.results += [p.let(t, x.sizes, f"copy-done({start})"), between]
        return
    inner = Body(c, f"{p.prefix}a")
    a, b = inner.parameter(t, x.sizes), inner.parameter(t, x.sizes)
    root = _moved(inner, _binary(inner, a, b))
    name, lines = f"{p.prefix}wrapped", list(inner.lines)
    at = next(k for k, line in enumerate(lines) if line.startswith(f"  {root.name} = "))
    lines[at] = "  ROOT" + lines[at][1:]
    p.functions += [*inner.functions, f"{name} {{\n" + "\n".join(lines).replace("@", "") + "\n}\n"]
    y = p.parameter(t, x.sizes)
    start, state = p.name(), f"(({x.text}, {y.text}), {root.text}, s32[])"
    p.lines.append(f"  {start} = {state} async-start({x.name}, {y.name}), calls={name}")
    if c.random() < 0.4:
        p.lines.append(f"  {start}u = {state} async-update({start})")
        start += "u"
    between = _binary(p, y, x)
    p.results += [p.let(root.type, root.sizes, f"async-done({start})"), between]


KINDS: dict[str, Callable[[Body], None]] = {
    "fusion": fusion, "gather": gather, "scatter": scatter, "dynamic-slices": dynamic_slices, "convolution": convolution,
    "reduce-window": reduce_window, "select-and-scatter": select_and_scatter, "mixed-precision": mixed_precision, "asynchronous": asynchronous,
}  # fmt: skip
_WEIGHTS = {
    "fusion": 5,
    "gather": 3,
    "scatter": 2,
    "dynamic-slices": 1,
    "convolution": 4,
    "reduce-window": 3,
    "select-and-scatter": 1,
    "mixed-precision": 1,
    "asynchronous": 1,
}


class Program(NamedTuple):
    """kind: of KINDS. seed: names it."""

    kind: str
    seed: int
    body: Body


def program(seed: int, number: int = 0, kind: str = "") -> Program:
    """Return the program of a seed.

    number: its place in a module, which names its values. kind: instead of the seed's.
    """
    choice = random.Random(seed)
    drawn = choice.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    while True:
        body = Body(choice, f"p{number}")
        KINDS[kind or drawn](body)
        if body.results:
            return Program(kind or drawn, seed, body)


def module_text(programs: list[Program], seed: int, aliases: bool = True) -> str:
    """Return a module of independent programs, whose result is a tuple.

    aliases: one time in three some results have the memory of a parameter.
    """
    choice = random.Random(seed)
    lines, functions, parameters, results = list[str](), list[str](), list[Value](), list[Value]()
    for p in programs:
        first = len(parameters)
        for line in p.body.lines:
            for k in range(len(p.body.parameters)):
                line = line.replace(f"(@{k}@)", f"({first + k})")
            lines.append(line)
        functions += p.body.functions
        parameters += p.body.parameters
        results += p.body.results
    pairs, taken = [], set[int]()
    if aliases and choice.random() < 0.34:
        for k, r in enumerate(results):
            fits = [n for n, v in enumerate(parameters) if v.text == r.text and n not in taken]
            if fits and choice.random() < 0.6:
                taken.add(found := choice.choice(fits))
                pairs.append(f"{{{k}}}: ({found}, {{}}, may-alias)")
    header = f", input_output_alias={{ {', '.join(pairs)} }}" if pairs else ""
    shape = ", ".join([r.text for r in results])
    root = f"  ROOT root = ({shape}) tuple({', '.join([r.name for r in results])})"
    return "\n".join(
        [f"HloModule kinds_{seed}{header}", "", *functions, "ENTRY entry {", *lines, root, "}", ""]
    )
