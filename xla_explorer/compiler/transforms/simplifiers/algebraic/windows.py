"""Rules on reduce-window. Source: algebraic_simplifier.cc, HandleReduceWindow, HandleSlice.

The padding of a window is not combined: a window over padding alone gives the initial value, which
counts once in every window. The padding of a pad is combined, so it may replace that of a window
only if the value is the identity.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import (
    broadcast_scalar,
    reshape,
    splat_constant,
    with_dimensions,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters, scalar_constant_text
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import broadcast, convert, pad, reduce_window
from xla_explorer.compiler.rewriting.operators import slice_ as slice_of
from xla_explorer.compiler.rewriting.patterns import any_, scalar, uniform_value
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import plain_reducer, same_value
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import bounds, paddings
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import why_not_counted
from xla_explorer.compiler.transforms.simplifiers.algebraic.reductions import (
    is_not_variadic,
    starts_from_identity,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, Window, WindowDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32

_SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n---\n"
_ZERO = scalar_constant_text("zero", "f32", 0)
_X = _SUM + parameters("f32[3,4]", "x")
_TRIVIAL = WindowDimension(1)


def window_of(i: HloInstruction) -> tuple[WindowDimension, ...]:
    """Return the window, one row per dimension; rank 0 has none."""
    found = i.attributes.get("window")
    return () if found is None else found.dimensions


def reads_one_element_a_window(i: HloInstruction) -> bool:
    """Return True if every window holds one element of the operand, or of the padding."""
    return is_not_variadic(i) and all(
        w.size == 1
        and w.stride == 1
        and w.base_dilation == 1
        and w.padding_low >= 0
        and w.padding_high >= 0
        for w in window_of(i)
    )


def reduces_plainly(instruction: HloInstruction) -> Reason | None:
    """Require a reducer of one operation."""
    if plain_reducer(instruction.called[0]) is None:
        return refuse(
            "reducer-not-plain", f"%{instruction.called[0].name} is more than one operation"
        )
    return None


@rule(
    reduce_window(any_("x"), any_("start")).that(reads_one_element_a_window),
    exactness=Exactness.BITWISE,
    when=(reduces_plainly, static),
    before=_X
    + _ZERO
    + "ROOT r = f32[5,4] reduce-window(x, zero), window={size=1x1 pad=1_1x0_0}, to_apply=sum",
    after=_X
    + _ZERO
    + "b = f32[3,4] broadcast(zero), dimensions={}\ns = f32[3,4] add(b, x)\nROOT r = f32[5,4] pad(s, zero), padding=1_1x0_0",
)
def reduce_window_of_ones(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite a reduce-window over single elements as the reducer's operation and a pad."""
    name = plain_reducer(instruction.called[0])
    assert name is not None
    first = start if not x.shape.rank else broadcast_scalar(computation, start, x.shape)
    combined = computation.add(name, x.shape, (first, x))
    rows = tuple([PaddingDimension(w.padding_low, w.padding_high) for w in window_of(instruction)])
    if all(row == PaddingDimension(0, 0) for row in rows):
        return combined
    return computation.add(
        "pad", instruction.shape, (combined, start), attributes_of({"padding": rows})
    )


def reduces_no_windows(i: HloInstruction) -> bool:
    """Return True if an operand is empty, so that windows hold padding alone, or the result is."""
    return any(o.shape.element_count == 0 for o in i.operands)


@rule(
    reduce_window().that(reduces_no_windows),
    exactness=Exactness.BITWISE,
    before=_SUM
    + "x = f32[3,0] parameter(0)\n"
    + _ZERO
    + "ROOT r = f32[5,2] reduce-window(x, zero), "
    "window={size=1x1 pad=1_1x1_1}, to_apply=sum",
    after=_SUM
    + "x = f32[3,0] parameter(0)\n"
    + filled("b", "f32[5,2]", 0).replace("b = f32[5,2] b", "ROOT b = f32[5,2] b"),
)
def reduce_window_of_empty(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a reduce-window of nothing as its initial values."""
    starts = instruction.operands[len(instruction.operands) // 2 :]
    if not instruction.shape.is_tuple:
        return broadcast_scalar(computation, starts[0], instruction.shape)
    parts = [
        broadcast_scalar(computation, s, shape)
        for s, shape in zip(starts, instruction.shape.tuple_shapes, strict=True)
    ]
    return computation.add("tuple", instruction.shape, parts)


def counts_up(i: HloInstruction) -> bool:
    """Return True for sums of all elements up to each one along a single dimension."""
    rows = window_of(i)
    wide = [d for d, w in enumerate(rows) if w != _TRIVIAL]
    if not is_not_variadic(i) or len(wide) != 1 or plain_reducer(i.called[0]) != "add":
        return False
    size = i.operands[0].shape.dimensions[wide[0]]
    return rows[wide[0]] == WindowDimension(size, padding_low=size - 1)


@rule(
    reduce_window(broadcast(any_("x")), scalar(0)).that(counts_up),
    exactness=Exactness.REAL,
    when=(static,),
    before=_SUM
    + "x = f32[] parameter(0)\nb = f32[3,4] broadcast(x), dimensions={}\n"
    + _ZERO
    + "ROOT r = f32[3,4] reduce-window(b, zero), window={size=1x4 pad=0_0x3_0}, to_apply=sum",
    after=_SUM
    + "x = f32[] parameter(0)\nb = f32[3,4] broadcast(x), dimensions={}\ni = s32[3,4] iota(), iota_dimension=1\n"
    + filled("one", "s32[3,4]", 1)
    + "n = s32[3,4] add(i, one)\nc = f32[3,4] convert(n)\nROOT r = f32[3,4] multiply(b, c)",
)
def cumulative_sum_of_scalar(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction | Reason | None:
    """Rewrite the cumulative sum of one repeated scalar as the scalar times 1, 2, 3 ..."""
    if not x.shape.is_scalar or instruction.shape.element_type.is_pred:
        return None
    shape = instruction.shape.with_element_type(S32)
    dimension = next(d for d, w in enumerate(window_of(instruction)) if w != _TRIVIAL)
    reason = why_not_counted(instruction.shape.element_type, shape.dimensions[dimension])
    if reason is not None:
        return reason
    places = computation.add("iota", shape, (), attributes_of({"iota_dimension": dimension}))
    counts = computation.add("add", shape, (places, splat_constant(computation, shape, 1)))
    if instruction.shape.element_type is not S32:
        counts = computation.add("convert", instruction.shape, (counts,))
    return computation.add("multiply", instruction.shape, (instruction.operands[0], counts))


def covers_all_or_one(i: HloInstruction) -> bool:
    """Return True if, in each dimension, windows cover the operand or hold one element."""
    if not is_not_variadic(i) or not i.shape.rank:
        return False
    sizes = i.operands[0].shape.dimensions
    return any(w.size != 1 for w in window_of(i)) and all(
        w in (_TRIVIAL, WindowDimension(size)) for w, size in zip(window_of(i), sizes, strict=True)
    )


@rule(
    reduce_window(any_("x"), any_("start")).that(covers_all_or_one),
    exactness=Exactness.REAL,
    when=(static,),
    before=_X + _ZERO + "ROOT r = f32[3,1] reduce-window(x, zero), window={size=1x4}, to_apply=sum",
    after=_X
    + _ZERO
    + "s = f32[3] reduce(x, zero), dimensions={1}, to_apply=sum\nROOT r = f32[3,1] reshape(s)",
)
def reduce_window_to_reduce(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite a reduce-window whose windows cover whole dimensions as a reduce."""
    dimensions = [d for d, w in enumerate(window_of(instruction)) if w.size != 1]
    return _reduced(computation, instruction, x, start, dimensions, instruction)


def _reduced(
    computation: HloComputation,
    result: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
    dimensions: list[int],
    windows: HloInstruction,
) -> HloInstruction:
    kept = [size for d, size in enumerate(x.shape.dimensions) if d not in dimensions]
    shape = result.shape.with_dimensions(kept)
    total = computation.add(
        "reduce", shape, (x, start), with_dimensions(dimensions), called=windows.called
    )
    return reshape(computation, total, result.shape)


def selects_whole_window(i: HloInstruction) -> bool:
    """Return True if the slice selects one window that covers operand and padding.

    Other dimensions must have no real window.
    """
    windows = i.operands[0]
    if not is_not_variadic(windows) or not i.shape.rank:
        return False
    found = False
    for cut, w, size in zip(
        bounds(i), window_of(windows), windows.operands[0].shape.dimensions, strict=True
    ):
        if w == _TRIVIAL:
            if cut.size != size:
                return False
            continue
        first = cut.start * w.stride - w.padding_low
        whole = first <= 0 and first + w.size >= size and w.padding_low >= 0 and w.padding_high >= 0
        if cut.size != 1 or not whole or w.base_dilation != 1 or w.window_dilation != 1:
            return False
        found = True
    return found


@rule(
    slice_of(reduce_window(any_("x"), any_("start"), name="windows").one_use()).that(
        selects_whole_window
    ),
    exactness=Exactness.REAL,
    when=(static,),
    before=_X
    + _ZERO
    + "w = f32[3,4] reduce-window(x, zero), window={size=1x4 pad=0_0x3_0}, to_apply=sum\n"
    + "ROOT r = f32[3,1] slice(w), slice={[0:3],[3:4]}",
    after=_X
    + _ZERO
    + "s = f32[3] reduce(x, zero), dimensions={1}, to_apply=sum\nROOT r = f32[3,1] reshape(s)",
)
def slice_of_cumulative_reduce(
    computation: HloComputation,
    instruction: HloInstruction,
    windows: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite a slice of the one window that covers everything as a reduce."""
    dimensions = [d for d, w in enumerate(window_of(windows)) if w != _TRIVIAL]
    return _reduced(computation, instruction, x, start, dimensions, windows)


def pads_outwards(padded: HloInstruction) -> Reason | None:
    """Require a pad that crops nothing."""
    if any(row.low < 0 or row.high < 0 for row in paddings(padded)):
        return refuse("negative-padding", f"%{padded.name} crops")
    return None


def pads_with_nothing_new(
    instruction: HloInstruction, value: HloInstruction, start: HloInstruction
) -> Reason | None:
    """Require a padding value equal to the initial value, which is idempotent or the identity."""
    same = same_value(value, start) or (
        uniform_value(value) is not None and uniform_value(value) == uniform_value(start)
    )
    if not same:
        return refuse("padding-differs", f"%{value.name} pads, %{start.name} is the initial value")
    if plain_reducer(instruction.called[0]) in ("maximum", "minimum", "and", "or"):
        return None
    return starts_from_identity(instruction, start)


def _window_with(instruction: HloInstruction, padded: HloInstruction) -> Window | None:
    rows = []
    for w, edge in zip(window_of(instruction), paddings(padded), strict=True):
        if edge.interior and w.base_dilation != 1:
            return None
        rows.append(
            w._replace(
                padding_low=w.padding_low + edge.low * w.base_dilation,
                padding_high=w.padding_high + edge.high * w.base_dilation,
                base_dilation=w.base_dilation * (edge.interior + 1),
            )
        )
    return Window(tuple(rows))


@rule(
    reduce_window(pad(any_("x"), any_("value"), name="padded"), any_("start")).that(
        is_not_variadic
    ),
    exactness=Exactness.NUMERIC,
    when=(static, pads_outwards, pads_with_nothing_new),
    before=_X + _ZERO + "p = f32[4,4] pad(x, zero), padding=1_0x0_0\n"
    "ROOT r = f32[3,4] reduce-window(p, zero), window={size=2x1}, to_apply=sum",
    after=_X
    + _ZERO
    + "ROOT r = f32[3,4] reduce-window(x, zero), window={size=2x1 pad=1_0x0_0}, to_apply=sum",
)
def reduce_window_of_pad(
    computation: HloComputation,
    instruction: HloInstruction,
    padded: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction | None:
    """Rewrite padding with the initial value as padding of the window."""
    window = _window_with(instruction, padded)
    if window is None or not x.shape.element_count:
        return None
    attributes = instruction.attributes.with_values(window=window)
    return computation.add(
        "reduce-window", instruction.shape, (x, start), attributes, called=instruction.called
    )


_SHARE_WORTH_FOLDING = 0.1


def padding_is_profitable(padded: HloInstruction, x: HloInstruction) -> Reason | None:
    """Require that at least a tenth of the converted array is padding."""
    share = 1 - x.shape.element_count / max(padded.shape.element_count, 1)
    if share >= _SHARE_WORTH_FOLDING:
        return None
    return refuse(
        "little-padding", f"only {100 * share:.0f} % of %{padded.name} is padding", share=share
    )


@rule(
    reduce_window(
        convert(pad(any_("x"), any_("value"), name="padded").one_use()).one_use(), any_("start")
    ).that(is_not_variadic),
    exactness=Exactness.NUMERIC,
    when=(static, pads_outwards, pads_with_nothing_new, padding_is_profitable),
    before=_SUM
    + "x = bf16[3,4] parameter(0)\nv = bf16[] constant(0)\np = bf16[4,4] pad(x, v), padding=1_0x0_0\n"
    "c = f32[4,4] convert(p)\nzero = f32[] constant(0)\n"
    "ROOT r = f32[3,4] reduce-window(c, zero), window={size=2x1}, to_apply=sum",
    after=_SUM + "x = bf16[3,4] parameter(0)\nc = f32[3,4] convert(x)\nzero = f32[] constant(0)\n"
    "ROOT r = f32[3,4] reduce-window(c, zero), window={size=2x1 pad=1_0x0_0}, to_apply=sum",
)
def reduce_window_of_converted_pad(
    computation: HloComputation,
    instruction: HloInstruction,
    padded: HloInstruction,
    x: HloInstruction,
    start: HloInstruction,
) -> HloInstruction | None:
    """Rewrite padding with the initial value, before a convert, as padding of the window."""
    window = _window_with(instruction, padded)
    if window is None or not x.shape.element_count:
        return None
    converted = computation.add(
        "convert", x.shape.with_element_type(instruction.operands[0].shape.element_type), (x,)
    )
    attributes = instruction.attributes.with_values(window=window)
    return computation.add(
        "reduce-window",
        instruction.shape,
        (converted, start),
        attributes,
        called=instruction.called,
    )
