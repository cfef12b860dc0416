"""Checks for the instructions that XLA:CPU gives to its library of kernels (YNNPACK).

Each check is named by the condition. Source of the rules: xla/backends/cpu/ynn_support.cc,
xla/backends/cpu/transforms/ynn_matcher.h.
"""

from __future__ import annotations

from math import prod

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.foundation.measured import at_least
from xla_explorer.foundation.reason import Predicate, Reason, first_refusal, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

MIN_ELEMENTS, MIN_DOT, MIN_FEATURES, MAX_RANK = 4096, 8, 16, 8
_PRODUCTS = frozenset({"dot", "convolution"})
_REDUCES = frozenset({"reduce", "reduce-window"})
_MOVES = frozenset({"reshape", "bitcast", "broadcast", "transpose", "pad"})
_MADE = frozenset({"constant", "iota"})
_UNARY = frozenset({
    "abs", "ceil", "convert", "cosine", "erf", "exponential", "exponential-minus-one", "floor", "log", "log-plus-one", "logistic", "negate",
    "round-nearest-even", "rsqrt", "sign", "sine", "sqrt", "tanh", "tan", "cbrt",
})  # fmt: skip
_BINARY = frozenset({"add", "divide", "maximum", "minimum", "multiply", "power", "subtract"})
_ELEMENT_TYPES = frozenset({"f64", "f32", "bf16", "s8", "u8"})
_DOT_TYPES = frozenset({
    ("f64", "f64", "f64"), ("f32", "f32", "f32"), ("bf16", "bf16", "f32"), ("bf16", "bf16", "bf16"), ("s8", "s8", "s32"),
    ("u8", "s8", "s32"),
})  # fmt: skip
_CONVOLUTION_TYPES = frozenset({("f64", "f64", "f64"), ("f32", "f32", "f32"), ("s8", "s8", "s32")})
_SUM_TYPES = frozenset(
    {("f64", "f64"), ("f32", "f32"), ("f16", "f32"), ("bf16", "f32"), ("s8", "s32"), ("u8", "s32")}
)
_LARGEST_TYPES = frozenset({"u8", "s8", "bf16", "f16", "f32", "f64"})
_HAS_TYPE = frozenset({"f64", "f32", "f16", "bf16", "s8", "u8", "s32", "s4", "u4"})
_NHWC = "b01f_01io->b01f"


def starts_library_kernel(i: HloInstruction) -> bool:
    """Return True for products, convolutions and reductions, which start a library kernel."""
    return i.opcode.name in _PRODUCTS | _REDUCES


def grows(i: HloInstruction) -> bool:
    """Return True if a library kernel that starts here absorbs others: a reduction does."""
    return i.opcode.name in _REDUCES


def refusal(i: HloInstruction) -> Reason | None:
    """Return why the library does not compute the instruction, or None."""
    return first_refusal(CHECKS, i)


def _types(i: HloInstruction) -> tuple[str, ...]:
    return tuple(
        [
            shape.element_type.name if shape.is_array else "tuple"
            for shape in (*[o.shape for o in i.operands], i.shape)
        ]
    )


def _most_elements(i: HloInstruction) -> int:
    return max(
        [
            shape.element_count
            for shape in (i.shape, *[o.shape for o in i.operands])
            if shape.is_array
        ],
        default=0,
    )


def _row_major(shape: Shape) -> bool:
    return (
        shape.is_array
        and shape.rank <= MAX_RANK
        and shape.layout.minor_to_major == tuple(range(shape.rank - 1, -1, -1))
    )


def _dot_sizes(dot: HloInstruction) -> tuple[int, int, int]:
    """Return (rows, columns, contracted)."""
    left, right = [o.shape.dimensions for o in dot.operands]
    batch = set(dot.attribute("lhs_batch_dims")), set(dot.attribute("rhs_batch_dims"))
    inner = set(dot.attribute("lhs_contracting_dims")), set(dot.attribute("rhs_contracting_dims"))
    rows, columns = [
        prod([size for d, size in enumerate(sizes) if d not in batch[side] | inner[side]])
        for side, sizes in enumerate((left, right))
    ]
    return rows, columns, prod([left[d] for d in inner[0]])


@value_formatter(lambda i: described(i))
def library_has_the_operation(i: HloInstruction) -> Reason | None:
    """Require a kernel of the operation in the library."""
    name = i.opcode.name
    elementwise = {1: _UNARY, 2: _BINARY}.get(len(i.operands), frozenset())
    known = name in _PRODUCTS | _REDUCES | _MOVES | _MADE | elementwise
    return (
        None
        if known
        else refuse(
            "library-lacks-operation", f"the library has no {name}, as %{i.name} is", opcode=name
        )
    )


@value_formatter(lambda i: at_least("elements", _most_elements(i), MIN_ELEMENTS))
def array_is_large(i: HloInstruction) -> Reason | None:
    """Require many elements in the result or an operand, except for moves of data and products."""
    if i.opcode.name in _PRODUCTS | _MOVES | _MADE or (most := _most_elements(i)) >= MIN_ELEMENTS:
        return None
    return refuse(
        "library-array-small",
        f"%{i.name} has {most} elements, operands included; the library is called from "
        f"{MIN_ELEMENTS} on",
        elements=most,
        limit=MIN_ELEMENTS,
    )


@value_formatter(lambda i: f"types {', '.join(_types(i))}")
def library_has_the_types(i: HloInstruction) -> Reason | None:
    """Require a kernel for the element types in the library."""
    types, name = _types(i), i.opcode.name
    if name == "dot":
        known = types in _DOT_TYPES
    elif name == "convolution":
        known = types in _CONVOLUTION_TYPES
    elif name in _REDUCES:
        pair = types[0], types[-1]
        of_pair = (
            pair in _SUM_TYPES
            if _reducer(i) == "add"
            else len({*pair}) == 1 and pair[0] in _LARGEST_TYPES
        )
        known = len(types) == 3 and types[1] == types[-1] and of_pair
    elif name == "iota":
        known = types[-1] in ("f32", "s32")
    elif name in _MOVES | _MADE:
        known = types[-1] in _HAS_TYPE and (name in ("constant",) or len(set(types)) == 1)
    else:
        known = set(types) <= _ELEMENT_TYPES
    if known:
        return None
    said = f"{', '.join(types[:-1])} to {types[-1]}" if len(types) > 1 else types[0]
    return refuse(
        "library-type", f"the library has no {name} of {said}, as %{i.name} is", types=list(types)
    )


@value_formatter(
    lambda i: (
        "layouts "
        f"{', '.join([str(s.layout) for s in (i.shape, *[o.shape for o in i.operands]) if s.is_array])}"
    )
)
def arrays_are_row_major(i: HloInstruction) -> Reason | None:
    """Require row-major result and operands of few dimensions."""
    if i.opcode.name in _MADE:
        return None
    shapes = (
        (i.shape, *[o.shape for o in i.operands])
        if i.opcode.name in _PRODUCTS | _REDUCES | _MOVES
        else ()
    )
    bad = next((shape for shape in shapes if not _row_major(shape)), None)
    if bad is None:
        return None
    wanted = f"the library takes row-major ones of at most {MAX_RANK} dimensions"
    return refuse("library-layout", f"%{i.name} has an array of shape {bad.text}; {wanted}")


@value_formatter(
    lambda i: "x".join(map(str, _dot_sizes(i))) if i.opcode.name == "dot" else "no dot"
)
def product_is_of_matrices(i: HloInstruction) -> Reason | None:
    """Require a matrix product, not too small, that contracts the last dimension on the left."""
    if i.opcode.name != "dot":
        return None
    sizes = rows, columns, inner = _dot_sizes(i)
    said = f"{rows}x{inner}x{columns}"
    if 1 in (rows, columns):
        return refuse(
            "library-matrix-vector",
            f"%{i.name} is a product with a vector ({said}), which XLA writes itself",
        )
    if max(sizes) < MIN_DOT:
        return refuse(
            "library-dot-small",
            f"%{i.name} is {said}; the library is called from {MIN_DOT} on",
            limit=MIN_DOT,
        )
    left = i.operands[0].shape
    contracted = i.attribute("lhs_contracting_dims")
    if tuple(contracted) != (left.rank - 1,):
        return refuse(
            "library-left-transposed",
            f"%{i.name} contracts its left side {left.text} along "
            f"{', '.join(map(str, contracted))}, not along the last",
        )
    return None


def _reducer(i: HloInstruction) -> str:
    """Return the opcode of a body that is one operation on the two parameters, else empty."""
    body = i.called[0]
    if (
        len(body.instructions) != 3
        or len(body.root.operands) != 2
        or {o.opcode.name for o in body.root.operands} != {"parameter"}
    ):
        return ""
    return body.root.opcode.name if body.root.operands[0] is not body.root.operands[1] else ""


@value_formatter(
    lambda i: (
        f"reducer {_reducer(i) or 'of its own'}" if i.opcode.name in _REDUCES else "no reduction"
    )
)
def reducer_is_known(i: HloInstruction) -> Reason | None:
    """Require a sum, a maximum or a minimum of one array."""
    if i.opcode.name not in _REDUCES or (
        len(i.operands) == 2 and _reducer(i) in ("add", "maximum", "minimum")
    ):
        return None
    return refuse("library-reducer", f"%{i.name} is not a sum, maximum or minimum of one array")


@value_formatter(
    lambda i: f"window {i.attribute('window')}" if i.opcode.name == "reduce-window" else "no window"
)
def windows_do_not_overlap(i: HloInstruction) -> Reason | None:
    """Require a reduce-window with a window that neither overlaps nor is dilated."""
    if i.opcode.name != "reduce-window":
        return None
    found = 0
    for d in i.attribute("window").dimensions:
        if d.size > 1 or d.stride > 1:
            if (
                (d.size > 1 and d.stride != d.size)
                or d.base_dilation != 1
                or d.window_dilation != 1
                or d.window_reversal
            ):
                return refuse("library-window", f"the windows of %{i.name} overlap or are dilated")
            found += 1
    if not found or i.shape.rank + found > MAX_RANK:
        limit = f"with the {i.shape.rank} of the result at most {MAX_RANK}"
        return refuse("library-window", f"%{i.name} has windows in {found} dimensions; {limit}")
    return None


@value_formatter(
    lambda i: (
        f"dim_labels {i.attribute('dim_labels').text}"
        if i.opcode.name == "convolution"
        else "no convolution"
    )
)
def convolution_has_the_form(i: HloInstruction) -> Reason | None:
    """Require a 2D convolution of wide images with the features last.

    It must be neither dilated nor larger than its input.
    """
    if i.opcode.name != "convolution":
        return None
    labels, windows = i.attribute("dim_labels").text, i.attribute("window").dimensions
    if labels != _NHWC or len(windows) != 2 or i.attribute("batch_group_count") != 1:
        return refuse(
            "library-convolution-form",
            f"%{i.name} is {labels} over {len(windows)} dimensions; the library takes {_NHWC}",
        )
    image, kernel, result = (
        i.operands[0].shape.dimensions,
        i.operands[1].shape.dimensions,
        i.shape.dimensions,
    )
    features = max(image[3], result[3])
    if features <= MIN_FEATURES:
        return refuse(
            "library-convolution-narrow",
            f"%{i.name} has {features} features; the library is called above {MIN_FEATURES}",
            features=features,
            limit=MIN_FEATURES,
        )
    if any(result[d] > image[d] or kernel[d - 1] > image[d] for d in (1, 2)):
        return refuse(
            "library-convolution-grows",
            f"the result or the filter of %{i.name} is larger than its input",
        )
    if any(d.base_dilation != 1 or d.window_reversal for d in windows):
        return refuse(
            "library-convolution-dilated", f"%{i.name} has a dilated input or a reversed window"
        )
    return None


@value_formatter(
    lambda i: (
        f"dimensions {i.attribute('dimensions')}"
        if i.opcode.name in ("broadcast", "reduce")
        else "no matter"
    )
)
def dimensions_keep_their_order(i: HloInstruction) -> Reason | None:
    """Require simple dimensions.

    A broadcast keeps their order, a reduce reduces at least one, a pad only adds at the edges.
    """
    name = i.opcode.name
    if name == "broadcast" and list(i.attribute("dimensions")) != sorted(i.attribute("dimensions")):
        return refuse("library-dimensions", f"%{i.name} permutes the dimensions")
    if name == "reduce" and not i.attribute("dimensions"):
        return refuse("library-dimensions", f"%{i.name} reduces no dimension")
    if name == "pad" and any(
        row.interior or (size == 1 and (row.low or row.high))
        for row, size in zip(i.attribute("padding"), i.operands[0].shape.dimensions, strict=True)
    ):
        return refuse(
            "library-dimensions", f"%{i.name} pads between elements, or a dimension of one"
        )
    return None


CHECKS: tuple[Predicate, ...] = (
    library_has_the_operation, array_is_large, reducer_is_known, library_has_the_types, arrays_are_row_major, product_is_of_matrices,
    windows_do_not_overlap, convolution_has_the_form, dimensions_keep_their_order,
)  # fmt: skip
