"""Rules on convolution.

Source: algebraic_simplifier.cc, HandleConvolution, FoldConvInputPad, FoldConvFilterPad,
SwapConvOperands, SimplifyConvToMultiply, SimplifyConvToDot.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.rewriting.construction import (
    broadcast,
    reshape,
    scalar_constant,
    splat_constant,
    transpose,
    with_dimensions,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, scalar_constant_text
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import convolution, pad
from xla_explorer.compiler.rewriting.patterns import any_, scalar
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.contractions import add_reducer
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import paddings
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import has_the_range_of_f32
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.codecs import CODECS
from xla_explorer.hlo.attributes.values import (
    ConvolutionDimensionNumbers,
    PaddingDimension,
    Window,
    WindowDimension,
)
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_XK = "x = f32[2,5,3] parameter(0)\nk = f32[2,3,4] parameter(1)\n"
_LABELS = "dim_labels=b0f_0io->b0f"
_NOTHING = PaddingDimension(0, 0)


def numbers_of(i: HloInstruction) -> ConvolutionDimensionNumbers:
    """Return the `dim_labels` attribute."""
    found: ConvolutionDimensionNumbers = i.attributes["dim_labels"]
    return found


def window_of(i: HloInstruction) -> tuple[WindowDimension, ...]:
    """Return the window, one row for each spatial dimension."""
    found: Window = i.attributes.value("window")
    return found.dimensions


def is_grouped(i: HloInstruction) -> bool:
    """Return True if features or batch have groups."""
    return bool(
        i.attributes.value("feature_group_count") != 1
        or i.attributes.value("batch_group_count") != 1
    )


def convolves_nothing(i: HloInstruction) -> bool:
    """Return True if an operand or the result has no elements."""
    return any(
        shape.element_count == 0 for shape in (i.shape, i.operands[0].shape, i.operands[1].shape)
    )


@rule(
    convolution(any_(), any_()).that(convolves_nothing),
    exactness=Exactness.BITWISE,
    before="x = f32[2,5,0] parameter(0)\nk = f32[2,0,4] parameter(1)\n"
    f"ROOT r = f32[2,4,4] convolution(x, k), window={{size=2}}, {_LABELS}",
    after="x = f32[2,5,0] parameter(0)\nk = f32[2,0,4] parameter(1)\n"
    + filled("z", "f32[2,4,4]", 0).replace("z = f32[2,4,4] b", "ROOT z = f32[2,4,4] b"),
)
def convolution_of_empty(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a convolution of arrays without elements as 0."""
    return splat_constant(computation, instruction.shape, 0)


@rule(
    convolution(pad(any_("x"), scalar(0), name="padded"), any_("k")),
    exactness=Exactness.REAL,
    when=(static,),
    before=_XK
    + scalar_constant_text("zero", "f32", 0)
    + "p = f32[2,8,3] pad(x, zero), padding=0_0x1_2x0_0\n"
    + f"ROOT r = f32[2,7,4] convolution(p, k), window={{size=2}}, {_LABELS}",
    after=_XK + f"ROOT r = f32[2,7,4] convolution(x, k), window={{size=2 pad=1_2}}, {_LABELS}",
)
def convolution_of_pad(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    k: HloInstruction,
    padded: HloInstruction,
) -> HloInstruction | Reason:
    """Rewrite zero padding of a convolution's input as padding and dilation of the window."""
    numbers, rows = numbers_of(instruction), paddings(padded)
    if rows[numbers.input_batch] != _NOTHING or rows[numbers.input_feature] != _NOTHING:
        return refuse("pads-no-spatial-dimension", f"%{padded.name} pads batch or features")
    window = []
    for w, d in zip(window_of(instruction), numbers.input_spatial, strict=True):
        if rows[d].low < 0 or rows[d].high < 0 or w.padding_low < 0 or w.padding_high < 0:
            return refuse("negative-padding", f"%{padded.name} or the window crops")
        if rows[d] != _NOTHING and w.base_dilation != 1:
            return refuse(
                "dilated-padding", f"%{instruction.name} dilates what %{padded.name} pads"
            )
        window.append(
            w._replace(
                padding_low=w.padding_low + rows[d].low,
                padding_high=w.padding_high + rows[d].high,
                base_dilation=w.base_dilation * (rows[d].interior + 1),
            )
        )
    if not x.shape.element_count:
        return refuse("no-elements", f"%{x.name} has no elements")
    attributes = instruction.attributes.with_values(window=Window(tuple(window)))
    return computation.add("convolution", instruction.shape, (x, k), attributes)


@rule(
    convolution(any_("x"), pad(any_("k"), scalar(0), name="padded")),
    exactness=Exactness.REAL,
    when=(static,),
    before=_XK
    + scalar_constant_text("zero", "f32", 0)
    + "p = f32[3,3,4] pad(k, zero), padding=0_0_1x0_0x0_0\n"
    + f"ROOT r = f32[2,3,4] convolution(x, p), window={{size=3}}, {_LABELS}",
    after=_XK + f"ROOT r = f32[2,3,4] convolution(x, k), window={{size=2 rhs_dilate=2}}, {_LABELS}",
)
def convolution_with_interior_padding(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    k: HloInstruction,
    padded: HloInstruction,
) -> HloInstruction | Reason:
    """Rewrite zeros between the elements of a kernel as dilation of the window."""
    numbers, rows = numbers_of(instruction), paddings(padded)
    if (
        rows[numbers.kernel_input_feature] != _NOTHING
        or rows[numbers.kernel_output_feature] != _NOTHING
    ):
        return refuse("pads-no-spatial-dimension", f"%{padded.name} pads features")
    window = []
    for w, d in zip(window_of(instruction), numbers.kernel_spatial, strict=True):
        if rows[d].low or rows[d].high or (rows[d].interior and w.window_dilation != 1):
            return refuse("edge-padding", f"%{padded.name} pads at the edges")
        window.append(
            w._replace(
                size=k.shape.dimensions[d],
                window_dilation=w.window_dilation * (rows[d].interior + 1),
            )
        )
    attributes = instruction.attributes.with_values(window=Window(tuple(window)))
    return computation.add("convolution", instruction.shape, (x, k), attributes)


def _labels(numbers: ConvolutionDimensionNumbers) -> str:
    """Return the swapped labels: kernel and input, and batch and feature of the result, swap."""
    spatial = len(numbers.input_spatial)

    def side(places: dict[str, int], spatial_places: tuple[int, ...]) -> str:
        letters = {place: label for label, place in places.items()}
        letters.update({place: str(number) for number, place in enumerate(spatial_places)})
        return "".join([letters[d] for d in range(spatial + 2)])

    lhs = side(
        {"b": numbers.kernel_output_feature, "f": numbers.kernel_input_feature},
        numbers.kernel_spatial,
    )
    rhs = side({"o": numbers.input_batch, "i": numbers.input_feature}, numbers.input_spatial)
    out = side({"b": numbers.output_feature, "f": numbers.output_batch}, numbers.output_spatial)
    return f"{lhs}_{rhs}->{out}"


def kernel_is_larger(instruction: HloInstruction) -> Reason | None:
    """Require no groups, and fewer multiplications with swapped sides.

    The kernel has more places than the input.
    """
    if is_grouped(instruction):
        return refuse("grouped", f"%{instruction.name} is grouped")
    sizes, numbers = instruction.operands[0].shape.dimensions, numbers_of(instruction)
    kernel, swapped = 1, 1
    for w, d in zip(window_of(instruction), numbers.input_spatial, strict=True):
        if _stays(w, sizes[d]):
            continue
        kernel *= w.size
        swapped *= (
            w.size if sizes[d] == 1 and w.stride == 1 and w.window_dilation == 1 else sizes[d]
        )
    if kernel > swapped:
        return None
    return refuse("kernel-not-larger", f"{kernel} places of the kernel, {swapped} of the input")


def _stays(w: WindowDimension, size: int) -> bool:
    """Return True for dimensions that keep their row: contracted, or groups."""
    plain = (
        not w.window_reversal
        and not w.padding_low
        and not w.padding_high
        and w.window_dilation == 1
    )
    group = w.base_dilation == w.size and w.stride == w.size - 1
    contraction = w.size == size and w.base_dilation == 1 and w.stride == 1
    return plain and (group or contraction)


@rule(
    convolution(any_("x"), any_("k")),
    exactness=Exactness.REAL,
    layout="insensitive",
    when=(static, kernel_is_larger),
    before="x = f32[2,3,3] parameter(0)\nk = f32[7,3,4] parameter(1)\n"
    f"ROOT r = f32[2,6,4] convolution(x, k), window={{size=7 pad=4_5}}, {_LABELS}",
    after="x = f32[2,3,3] parameter(0)\nk = f32[7,3,4] parameter(1)\nt = f32[7,3,4] reverse(k), dimensions={0}\n"
    "ROOT r = f32[2,6,4] convolution(t, x), window={size=3 pad=0_1 rhs_reversal=1}, dim_labels=0fb_o0i->f0b",
)
def convolution_swapped(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, k: HloInstruction
) -> HloInstruction:
    """Swap input and kernel of a convolution if the kernel is larger."""
    numbers, window, turned = numbers_of(instruction), [], []
    for number, w in enumerate(window_of(instruction)):
        size = x.shape.dimensions[numbers.input_spatial[number]]
        if _stays(w, size):
            window.append(w)
            continue
        kernel_extent = 1 + (w.size - 1) * w.window_dilation
        extent = 1 + (size - 1) * w.base_dilation
        if not w.window_reversal:
            turned.append(numbers.kernel_spatial[number])
        window.append(
            WindowDimension(
                size=size,
                stride=w.stride,
                padding_low=extent + w.padding_low - kernel_extent,
                padding_high=extent + w.padding_high - kernel_extent,
                base_dilation=w.window_dilation,
                window_dilation=w.base_dilation,
                window_reversal=True,
            )
        )
    kernel = (
        computation.add("reverse", k.shape, (k,), with_dimensions(sorted(turned))) if turned else k
    )
    precision = instruction.attributes.value("operand_precision")
    attributes = instruction.attributes.with_values(
        window=Window(tuple(window)),
        dim_labels=CODECS["dim_labels"].read(_labels(numbers)),
        operand_precision=tuple(precision)[::-1] or None,
    )
    return computation.add("convolution", instruction.shape, (kernel, x), attributes)


def is_depthwise_product(
    instruction: HloInstruction, x: HloInstruction, k: HloInstruction
) -> Reason | None:
    """Require a depthwise kernel that is one or as large as the input in each spatial dimension."""
    numbers, attributes = numbers_of(instruction), instruction.attributes
    groups = attributes.value("feature_group_count")
    features = (
        x.shape.dimensions[numbers.input_feature],
        k.shape.dimensions[numbers.kernel_output_feature],
    )
    kinds = {i.shape.element_type.name for i in (x, k, instruction)}
    if len(kinds) > 1:
        return refuse("types-differ", f"%{instruction.name} is of types {', '.join(sorted(kinds))}")
    if (
        attributes.value("batch_group_count") != 1
        or k.shape.dimensions[numbers.kernel_input_feature] != 1
    ):
        return refuse(
            "sums-over-features", f"%{instruction.name} sums over features or batch groups"
        )
    if features != (groups, groups):
        return refuse("sums-over-features", f"{features} features in {groups} groups")
    for w, d in zip(window_of(instruction), numbers.input_spatial, strict=True):
        size = x.shape.dimensions[d]
        plain = not w.padding_low and not w.padding_high and w.stride == 1 and w.base_dilation == 1
        whole = w.size == size and w.window_dilation == 1 and not w.window_reversal
        if not plain or not (w.size == 1 or whole):
            return refuse(
                "window-moves",
                f"%{instruction.name} moves its window along dimension {d} of its input",
            )
    return None


def is_no_narrow_sum_of_products(instruction: HloInstruction) -> Reason | None:
    """Require one product per element, or a sum of products with the range of f32."""
    return (
        has_the_range_of_f32(instruction)
        if any(w.size != 1 for w in window_of(instruction))
        else None
    )


@rule(
    convolution(any_("x"), any_("k")),
    exactness=Exactness.REAL,
    layout="insensitive",
    when=(static, is_depthwise_product),
    within_range=(is_no_narrow_sum_of_products,),
    before="x = f32[2,5,3] parameter(0)\nk = f32[1,1,3] parameter(1)\n"
    f"ROOT r = f32[2,5,3] convolution(x, k), window={{size=1}}, {_LABELS}, feature_group_count=3",
    after="x = f32[2,5,3] parameter(0)\nk = f32[1,1,3] parameter(1)\na = f32[3] reshape(k)\n"
    "b = f32[2,5,3] broadcast(a), dimensions={2}\nROOT r = f32[2,5,3] multiply(x, b)",
)
def convolution_to_multiply(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, k: HloInstruction
) -> HloInstruction:
    """Rewrite a depthwise convolution at one or over all places as a multiply and a sum."""
    numbers = numbers_of(instruction)
    to_input = {numbers.kernel_output_feature: numbers.input_feature}
    to_input.update(zip(numbers.kernel_spatial, numbers.input_spatial, strict=True))
    kept = [d for d in range(k.shape.rank) if d in to_input and k.shape.dimensions[d] != 1]
    narrow = reshape(computation, k, k.shape.with_dimensions([k.shape.dimensions[d] for d in kept]))
    order = sorted(range(len(kept)), key=lambda number: to_input[kept[number]])
    if order != list(range(len(kept))):
        narrow = transpose(computation, narrow, tuple(order))
    places = [to_input[kept[number]] for number in order]
    wide = (
        narrow
        if narrow.shape.base is x.shape.base
        else broadcast(computation, narrow, x.shape, places)
    )
    result = computation.add("multiply", x.shape, (x, wide))
    summed = sorted(
        [
            d
            for w, d in zip(window_of(instruction), numbers.input_spatial, strict=True)
            if w.size != 1
        ]
    )
    if summed:
        sizes = [size for d, size in enumerate(x.shape.dimensions) if d not in summed]
        zero = scalar_constant(computation, x.shape, 0)
        total = computation.add(
            "reduce",
            x.shape.with_dimensions(sizes),
            (result, zero),
            with_dimensions(summed),
            called=(add_reducer(computation, x.shape),),
        )
        sizes = [1 if d in summed else size for d, size in enumerate(x.shape.dimensions)]
        result = reshape(computation, total, x.shape.with_dimensions(sizes))
    to_output = {
        numbers.input_batch: numbers.output_batch,
        numbers.input_feature: numbers.output_feature,
    }
    to_output.update(zip(numbers.input_spatial, numbers.output_spatial, strict=True))
    permutation = tuple(sorted(range(x.shape.rank), key=lambda d: to_output[d]))
    if permutation == tuple(range(x.shape.rank)):
        return result
    return transpose(computation, result, permutation, instruction.shape)


def is_a_product_of_matrices(
    instruction: HloInstruction, x: HloInstruction, k: HloInstruction
) -> Reason | None:
    """Require a 1x1 kernel, no padding or dilation, and minor-most channels."""
    numbers = numbers_of(instruction)
    if is_grouped(instruction):
        return refuse("grouped", f"%{instruction.name} is grouped")
    for w in window_of(instruction):
        if w.size != 1 or w.stride != 1 or w.padding_low or w.padding_high or w.base_dilation != 1:
            return refuse(
                "window-moves", f"%{instruction.name} has a window of more than one position"
            )
    layouts = [i.shape.layout for i in (x, k, instruction)]
    if any(layout.properties for layout in layouts):
        return refuse(
            "layout-differs", f"%{instruction.name} has tiles or lies in another memory space"
        )
    dense, kernel, result = [layout.minor_to_major for layout in layouts]
    if dense[0] != numbers.input_feature or result[0] != numbers.output_feature:
        return refuse("layout-differs", "the features of input or result are not innermost")
    to_output = {
        numbers.input_batch: numbers.output_batch,
        numbers.input_feature: numbers.output_feature,
    }
    to_output.update(zip(numbers.input_spatial, numbers.output_spatial, strict=True))
    if [to_output[d] for d in dense] != list(result):
        return refuse("layout-differs", "input and result lie in different orders")
    inputs, outputs = (
        kernel.index(numbers.kernel_input_feature),
        kernel.index(numbers.kernel_output_feature),
    )
    if inputs < outputs:
        return refuse(
            "layout-differs", "the kernel's input features lie inside its output features"
        )
    return None


@rule(
    convolution(any_("x"), any_("k")),
    exactness=Exactness.REAL,
    layout="sensitive",
    when=(static, is_a_product_of_matrices),
    before="x = f32[2,5,3] parameter(0)\nk = f32[1,3,4] parameter(1)\n"
    f"ROOT r = f32[2,5,4] convolution(x, k), window={{size=1}}, {_LABELS}",
    after="x = f32[2,5,3] parameter(0)\nk = f32[1,3,4] parameter(1)\na = f32[10,3] bitcast(x)\nb = f32[3,4] bitcast(k)\n"
    "d = f32[10,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT r = f32[2,5,4] bitcast(d)",
)
def convolution_to_dot(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, k: HloInstruction
) -> HloInstruction:
    """Rewrite a 1x1 convolution with minor-most channels as a dot of the same bytes."""
    numbers = numbers_of(instruction)
    channels = x.shape.dimensions[numbers.input_feature]
    features = k.shape.dimensions[numbers.kernel_output_feature]
    rows = math.prod([n for d, n in enumerate(x.shape.dimensions) if d != numbers.input_feature])
    matrices = []
    for i, sizes in ((x, (rows, channels)), (k, (channels, features))):
        shape = i.shape.with_dimensions(sizes)
        matrices.append(i if shape is i.shape else computation.add("bitcast", shape, (i,)))
    precision = instruction.attributes.value("operand_precision")
    attributes = attributes_of(
        {
            "lhs_contracting_dims": (1,),
            "rhs_contracting_dims": (0,),
            "operand_precision": precision or (),
        }
    )
    shape = instruction.shape.with_dimensions((rows, features))
    product = computation.add("dot", shape, matrices, attributes, metadata=instruction.metadata)
    return (
        product
        if product.shape is instruction.shape
        else computation.add("bitcast", instruction.shape, (product,))
    )
