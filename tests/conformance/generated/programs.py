"""Random modules for one pass: mostly the instructions and pairs of instructions that it rewrites.

Beside the families of `tests.properties`, `PATTERNS` draws what rewrites look for: neutral
operands, equal operands, an operation and its inverse, a chain with constants.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from tests.properties import random_control as control
from tests.properties import random_families as elementwise
from tests.properties import random_movement as movement
from tests.properties import random_rare as rare
from tests.properties import random_reductions as reductions
from tests.properties import random_special as special
from tests.properties.random_families import Families, Known
from tests.properties.random_modules import ModuleWriter
from xla_explorer.hlo.module import HloModule

Family = Callable[[Families], Any]


def neutral(s: Families) -> Known | None:
    """Return an operation with 0, 1, -1, 2 or an extreme as its other operand."""
    k = s.pick(lambda k: not k.value.dtype.is_pred)
    if k is None:
        return None
    b, t = s.b, k.value.dtype
    number = s.choice.choice((0, 1, 2, 3) if t.is_integer and not t.is_signed else (0, 1, -1, 2))
    scalar = b.constant(number, t)
    other = b.broadcast(scalar, k.dimensions, []) if k.rank else scalar
    names = ["add", "subtract", "multiply", "divide"]
    names += [] if t.is_complex else ["maximum", "minimum", "power", "remainder"]
    names += ["and_", "or_", "xor", "shift_left", "shift_right_logical"] if t.is_integer else []
    pair = [k.value, other]
    if s.choice.random() < 0.4:
        pair.reverse()
    return Known(getattr(b, s.choice.choice(names))(*pair), 8.0, 4.0, False)


def equal_operands(s: Families) -> Known | None:
    """Return an operation of a value with itself."""
    k = s.pick()
    if k is None:
        return None
    b, t = s.b, k.value.dtype
    if s.choice.random() < 0.3:
        direction = s.choice.choice(("EQ", "NE") if t.is_complex else ("EQ", "NE", "LT", "GE"))
        return Known(b.compare(k.value, k.value, direction))
    if s.choice.random() < 0.3:
        return s.same(b.select(s.like(k, kind="pred").value, k.value, k.value), k)
    names = ["and_", "or_", "xor"] if t.is_pred or t.is_integer else []
    names += [] if t.is_pred else ["subtract", "divide", "add", "multiply"]
    names += [] if t.is_complex else ["maximum", "minimum"]
    return Known(getattr(b, s.choice.choice(names))(k.value, k.value), 8.0, 4.0, False)


def inverse_pair(s: Families) -> Known | None:
    """Return the result of two operations, each the inverse of the other."""
    k = s.pick()
    if k is None:
        return None
    b, t, v = s.b, k.value.dtype, k.value
    if k.rank > 1 and s.choice.random() < 0.4:
        order = list(range(k.rank))
        s.choice.shuffle(order)
        back = [order.index(n) for n in range(k.rank)]
        turned = b.transpose(v, dimensions=tuple(order))
        return s.same(b.transpose(turned, dimensions=tuple(back)), k)
    if k.rank and s.choice.random() < 0.4:
        across = (s.choice.randrange(k.rank),)
        return s.same(b.reverse(b.reverse(v, dimensions=across), dimensions=across), k)
    if t.is_pred or (t.is_integer and s.choice.random() < 0.5):
        return s.same(b.not_(b.not_(v)), k)
    if s.choice.random() < 0.5:
        return s.same(b.negate(b.negate(v)), k)
    return Known(b.subtract(b.add(v, s.like(k).value), v), 8.0, 4.0, False)


def constant_chain(s: Families) -> Known | None:
    """Return one operation twice, each with a constant."""
    k = s.pick(lambda k: not k.value.dtype.is_pred and not k.value.dtype.is_complex)
    if k is None:
        return None
    name = s.choice.choice(("add", "multiply", "maximum", "minimum", "subtract"))
    once = getattr(s.b, name)(k.value, s.constant_of(k.kind, k.dimensions).value)
    again = getattr(s.b, name)(once, s.constant_of(k.kind, k.dimensions).value)
    return Known(again, 8.0, 4.0, False)


def common_factor(s: Families) -> Known | None:
    """Return a sum or a difference of two products with one factor in common."""
    k = s.pick(lambda k: not k.value.dtype.is_pred)
    if k is None:
        return None
    x, y = s.like(k).value, s.like(k).value
    name = s.choice.choice(("add", "subtract"))
    products = s.b.multiply(k.value, x), s.b.multiply(k.value, y)
    return Known(getattr(s.b, name)(*products), 8.0, 4.0, False)


def nested_select(s: Families) -> Known | None:
    """Return a select of a constant, a negated or a nested condition."""
    k = s.pick()
    if k is None:
        return None
    condition = s.like(k, kind="pred").value
    if s.choice.random() < 0.4:
        condition = s.b.not_(condition)
    inner = s.b.select(condition, k.value, s.like(k).value)
    if s.choice.random() < 0.5:
        return s.same(s.b.select(condition, inner, s.like(k).value), k)
    return s.same(s.b.select(condition, s.like(k).value, inner), k)


def twice(family: Family) -> Family:
    """Return a family that applies itself to its own result."""

    def applied(s: Families) -> Any:
        made = family(s)
        if not isinstance(made, Known):
            return made
        s.known.append(made)
        following = family(s)
        return following if isinstance(following, Known) else made

    return applied


def tuple_elements(s: Families) -> list[Known] | None:
    """Return elements of a tuple, of a tuple in a tuple too."""
    parts = [k for k in [s.pick() for _ in range(s.choice.randint(1, 3))] if k is not None]
    if not parts:
        return None
    packed = s.b.tuple(*[k.value for k in parts])
    if s.choice.random() < 0.4:
        packed = s.b.tuple(packed, parts[0].value)[0]
    return [s.same(packed[n], k) for n, k in enumerate(parts) if s.choice.random() < 0.7]


def repeated(s: Families) -> list[Known] | None:
    """Return one operation made twice, in another order of operands sometimes."""
    k = s.pick(lambda k: not k.value.dtype.is_pred)
    if k is None:
        return None
    o = s.like(k)
    name = s.choice.choice(("add", "multiply", "subtract"))
    pairs = [(k.value, o.value), s.choice.choice([(k.value, o.value), (o.value, k.value)])]
    return [Known(getattr(s.b, name)(*pair), 8.0, 4.0, False) for pair in pairs]


def moved_operands(s: Families) -> Known | None:
    """Return an operation whose operands are moved in the same way."""
    k = s.array(1)
    if k is None or k.value.dtype.is_complex:
        return None
    o, b = s.like(k), s.b
    if k.rank > 1 and s.choice.random() < 0.5:
        order = list(range(k.rank))
        s.choice.shuffle(order)
        x, y = [b.transpose(v.value, dimensions=tuple(order)) for v in (k, o)]
    else:
        sizes = (k.value.size,)
        x, y = b.reshape(k.value, sizes), b.reshape(o.value, sizes)
    return Known(b.maximum(x, y), 8.0, 4.0, k.exact and o.exact)


def logistic(s: Families) -> Known | None:
    """Return a logistic."""
    k = s.pick(lambda k: k.value.dtype.is_float or k.value.dtype.is_complex)
    return s.inexact(s.b.logistic(k.value), 1.0) if k is not None else None


def compared(s: Families) -> Known | None:
    """Return a comparison, in the total order too."""
    k = s.pick(lambda k: not k.value.dtype.is_complex)
    if k is None:
        return None
    order = "TOTALORDER" if k.value.dtype.is_float and s.choice.random() < 0.6 else None
    direction = s.choice.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
    return Known(s.b.compare(k.value, s.like(k).value, direction, order))


def _loop(s: Families) -> Any:
    return control.while_loop(s, 1)


def _conditional(s: Families) -> Any:
    return control.conditional(s, 1)


def _call(s: Families) -> Any:
    return control.call(s, 1)


ALGEBRA: Final = (
    neutral, neutral, equal_operands, inverse_pair, constant_chain, common_factor, nested_select,
    twice(movement.reshape), twice(movement.transpose), twice(movement.slice_),
    twice(movement.pad), twice(movement.broadcast), movement.concatenate, elementwise.convert,
    movement.dynamic_slice, movement.dynamic_update_slice, reductions.reduce, reductions.dot,
    elementwise.compare, elementwise.clamp, moved_operands, reductions.reduce_window,
)  # fmt: skip
LOOPS: Final = (_loop, _loop, tuple_elements)
_FLOAT8 = ["f8e4m3fn", "f8e5m2", "f8e4m3", "f8e3m4", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz"]
_NARROW = (
    elementwise.binary, elementwise.unary, elementwise.convert, elementwise.select,
    elementwise.compare, movement.reshape, movement.concatenate, tuple_elements, _loop,
    reductions.reduce, reductions.dot,
)  # fmt: skip
FUSED: Final = (
    elementwise.binary, elementwise.unary, elementwise.chain, movement.broadcast,
    movement.transpose, movement.slice_, movement.reshape, reductions.reduce, reductions.dot,
    movement.dynamic_update_slice, tuple_elements, movement.concatenate, elementwise.select,
    movement.iota, movement.gather, reductions.reduce_mean,
)  # fmt: skip

BIAS: Final[dict[str, tuple[Family, ...]]] = {
    "algsimp": ALGEBRA,
    "batch-dot-simplification": (reductions.dot, reductions.dot, movement.reshape),
    "batched_gather_scatter_normalizer": (special.batched_gather, movement.gather, movement.scatter),
    "batchnorm_expander": (rare.batch_norm,),
    "bitcast_dtypes_expander": (special.wide_bits, elementwise.bits),
    "broadcast_canonicalizer": (movement.broadcast, movement.transpose),
    "call-inliner": (_call, _call, _loop, _conditional),
    "change-op-data-type": (reductions.dot, special.convolution, elementwise.convert),
    "cholesky_expander": (rare.cholesky,),
    "comparison-expander": (compared,),
    "conditional-canonicalizer": (_conditional,),
    "conditional-to-select": (_conditional, _loop),
    "constant_folding": (
        movement.iota, constant_chain, twice(elementwise.unary), elementwise.binary,
        movement.broadcast, movement.reshape, movement.slice_, movement.pad, movement.concatenate,
    ),
    "convolution-canonicalization": (special.convolution,),
    "convolution-group-converter": (special.convolution,),
    "copy-insertion": (*LOOPS, _conditional, movement.dynamic_update_slice, movement.copy),
    "cpu-parallel-task-assigner": FUSED,
    "cse": (repeated, repeated, movement.iota, elementwise.binary, movement.broadcast, _loop),
    "cse_barrier_expander": (special.barrier,),
    "dce": (_call, _loop, tuple_elements, elementwise.binary, _conditional),
    "dot-library-rewriter": (reductions.dot, reductions.dot_known, reductions.reduce),
    "dot_decomposer": (reductions.dot, reductions.dot_known),
    "dynamic-dimension-simplifier": (rare.dynamic_size, movement.reshape),
    "dynamic-index-splitter": (movement.dynamic_slice, movement.dynamic_update_slice),
    "dynamic_padder": (rare.dynamic_size,),
    "flatten-call-graph": (_call, _loop, _conditional, elementwise.mapped),
    "float-normalization-bf16": _NARROW,
    **{f"float-normalization-{name}": _NARROW for name in _FLOAT8},
    "float-normalization-s4": _NARROW,
    "float-normalization-u4": _NARROW,
    "fusion": FUSED,
    "fusion-wrapper": FUSED,
    "gather_expander": (movement.gather, special.batched_gather),
    "gather_simplifier": (movement.gather, special.batched_gather),
    "gemv-rewriter": (reductions.dot, reductions.dot_known, movement.reshape),
    "layout-assignment": (
        *FUSED, twice(movement.transpose), special.convolution, _loop, reductions.sort,
    ),
    "logistic-expander": (logistic,),
    "map-inline": (elementwise.mapped,),
    "operand_upcaster": (reductions.dot, special.convolution),
    "reduce-decomposer": (reductions.reduce, reductions.reduce_several),
    "reduce-window-rewriter": (special.cumulative, reductions.reduce_window),
    "reshape-decomposer": (movement.reshape, twice(movement.reshape), movement.transpose),
    "reshape-mover": (moved_operands, moved_operands, movement.reshape, movement.broadcast),
    "result_caster": (reductions.dot, special.convolution),
    "rng-bit-generator-expander": (rare.random_bits,),
    "scatter_expander": (movement.scatter, special.scatter_several),
    "scatter_simplifier": (movement.scatter, special.scatter_several),
    "select_and_scatter_expander": (special.select_and_scatter,),
    "simplify-conditional": (_conditional, _conditional, tuple_elements),
    "simplify-sorts": (reductions.sort,),
    "simplify-while-loops": LOOPS,
    "small-while-loop-hoisting": LOOPS,
    "sub-byte-size-setter": (elementwise.binary, elementwise.convert, movement.reshape, _loop),
    "topk-decomposer": (special.topk,),
    "topk-rewriter": (reductions.sort, movement.slice_),
    "transpose-folding": (reductions.dot, movement.transpose, reductions.dot_known),
    "tree_reduction_rewriter": (reductions.reduce, reductions.reduce_several),
    "triangular_solve_expander": (special.triangular_solve,),
    "tuple-simplifier": (tuple_elements, _loop, _conditional),
    "while-loop-constant-sinking": LOOPS,
    "while-loop-invariant-code-motion": LOOPS,
    "while-loop-trip-count-annotator": LOOPS,
    "zero_sized_hlo_elimination": (movement.slice_, movement.pad, movement.concatenate, *LOOPS),
}  # fmt: skip
"""Pass -> the families that its modules mostly have."""
KINDS: Final = {
    "float-normalization-bf16": ("bf16", "f32"),
    **{f"float-normalization-{name}": (name, "f32") for name in _FLOAT8},
    "float-normalization-s4": ("s4", "s32"),
    "float-normalization-u4": ("u4", "s32"),
    "sub-byte-size-setter": ("s4", "u4"),
    "operand_upcaster": ("s8", "bf16"),
    "result_caster": ("bf16", "s8"),
    "change-op-data-type": ("f16", "bf16"),
}
"""Pass -> element types, for passes that rewrite a few types only."""


class _Writer(ModuleWriter):
    rare_share = 0.75


def program(name: str, seed: int) -> HloModule:
    """Return the random module of a seed for a pass."""
    choice = random.Random(f"{name} {seed}")
    writer = _Writer(choice, 8, rare=BIAS[name])
    if name in KINDS:
        first, second = KINDS[name]
        writer.kinds = [first, first, second]
    if name == "zero_sized_hlo_elimination":
        writer.sizes.append(0)
    return writer.write().module
