"""Products, convolutions, transforms and dense linear algebra."""

from __future__ import annotations

from typing import Any

from xla_explorer.frontends.stablehlo.attributes import Dictionary, integers
from xla_explorer.frontends.stablehlo.conversion.registry import converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.attributes import ConvolutionDimensionNumbers, Window, WindowDimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.shape import Shape, array_shape

# (operands, accumulator, primitive operations) -> HLO's name. Sources: xla_data.proto
# PrecisionConfig.Algorithm; xla/hlo/translate, ConvertDotAlgorithm: the operands count as one
# component each however many parts a product of several operations cuts them into.
_ALGORITHMS: dict[tuple[str, str, int], str] = {
    **{
        (kind, accumulator, 1): f"dot_{kind}_{kind}_{accumulator}"
        for kind, accumulator in (
            ("f16", "f16"),
            ("f16", "f32"),
            ("bf16", "bf16"),
            ("bf16", "f32"),
            ("tf32", "f32"),
            ("f32", "f32"),
            ("f64", "f64"),
        )
    },
    ("bf16", "f32", 3): "dot_bf16_bf16_f32_x3",
    ("bf16", "f32", 6): "dot_bf16_bf16_f32_x6",
    ("bf16", "f32", 9): "dot_bf16_bf16_f32_x9",
    ("tf32", "f32", 3): "dot_tf32_tf32_f32_x3",
}


def precision(operation: Operation) -> dict[str, Any]:
    """Return `operand_precision`, unless every operand has the default."""
    given = tuple(
        [str(word).lower() for word in operation.attributes.get("precision_config") or ()]
    )
    return {"operand_precision": given} if any(word != "default" for word in given) else {}


def _type_name(given: Any) -> str:
    return given.element_type.name if isinstance(given, Shape) else str(given).lower()


def _algorithm(scope: Scope, given: Any) -> dict[str, Any]:
    if not isinstance(given, Dictionary):
        return {}
    left, right, accumulator = (
        _type_name(given.get(f"{k}_type", ""))
        for k in ("lhs_precision", "rhs_precision", "accumulation")
    )
    if left.startswith("f8") and right.startswith("f8") and accumulator == "f32":
        fast = "_fast_accum" if given.get("allow_imprecise_accumulation") else ""
        return {"algorithm": f"dot_any_f8_any_f8_f32{fast}"}
    components = given.get("lhs_component_count", 1), given.get("rhs_component_count", 1)
    found = _ALGORITHMS.get((left, accumulator, given.get("num_primitive_operations", 1)))
    if (
        found is None
        or left != right
        or components != (1, 1)
        or given.get("allow_imprecise_accumulation")
    ):
        scope.refuse(
            "dot-algorithm",
            f"HLO has no dot algorithm for {given.text}",
            "leave the algorithm out, or choose one that XLA names",
        )
    return {"algorithm": found}


@converts("dot_general")
def dot_general(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Batch and contracting dimensions of each side."""
    numbers = scope.attribute(operation, "dot_dimension_numbers", required=True)
    if not isinstance(numbers, dict):
        scope.fail(
            "dot_dimension_numbers must be a set of dimension numbers", "write #stablehlo.dot<...>"
        )
    attributes = {
        f"{side}_{ours}_dims": integers(numbers.get(f"{side}_{theirs}_dimensions", ()))
        for side in ("lhs", "rhs")
        for ours, theirs in (("batch", "batching"), ("contracting", "contracting"))
    }
    attributes |= precision(operation) | _algorithm(scope, operation.attributes.get("algorithm"))
    return [_dot(scope, operation, attributes)]


def _dot(scope: Scope, operation: Operation, attributes: dict[str, Any]) -> HloInstruction:
    """Emit a dot of the stated element type, which may be wider than that of the operands.

    The shape rule infers dimensions only.
    """
    operands, shape = scope.operands(operation), scope.type_of(operation)
    return scope.emit("dot", operands, attributes, shape=shape, any_type=True)


@converts("dot")
def dot(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a dot of the left side's last dimension with the right side's first."""
    left = scope.operands(operation)[0].shape
    return [
        _dot(
            scope,
            operation,
            {
                "lhs_contracting_dims": (left.rank - 1,),
                "rhs_contracting_dims": (0,),
                **precision(operation),
            },
        )
    ]


@converts("einsum", "unary_einsum")
def einsum(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit an einsum such as `ij,jk->ik`.

    Dimensions of both sides and the result are batch dimensions, those of both sides alone are
    contracted.
    """
    config = str(scope.attribute(operation, "einsum_config", required=True))
    inputs, _, result = config.replace(" ", "").partition("->")
    sides, operands = inputs.split(","), scope.operands(operation)
    fine = len(sides) == len(operands) and all(
        side.isalpha() and len(set(side)) == len(side) == i.shape.rank
        for side, i in zip(sides, operands, strict=True)
    )
    if not fine or len(set(result)) != len(result) or not set(result) <= set("".join(sides)):
        scope.refuse(
            "einsum",
            f"einsum {config!r} has no product of HLO",
            "use one letter for each dimension, none twice in an operand",
            config=config,
        )
    kept = []
    for k, (side, i) in enumerate(zip(sides, operands, strict=True)):
        alone = [
            d
            for d, letter in enumerate(side)
            if letter not in result and letter not in "".join(sides[:k] + sides[k + 1 :])
        ]
        kept.append(
            (
                "".join([letter for d, letter in enumerate(side) if d not in alone]),
                _summed(scope, i, alone),
            )
        )
    if len(kept) == 1:
        letters, product = kept[0]
    else:
        (a, left), (b, right) = kept
        batch = [letter for letter in a if letter in b and letter in result]
        shared = [letter for letter in a if letter in b and letter not in result]
        product = scope.emit(
            "dot",
            (left, right),
            {
                "lhs_batch_dims": tuple(map(a.index, batch)),
                "rhs_batch_dims": tuple(map(b.index, batch)),
                "lhs_contracting_dims": tuple(map(a.index, shared)),
                "rhs_contracting_dims": tuple(map(b.index, shared)),
                **precision(operation),
            },
        )
        letters = "".join(
            [
                *batch,
                *[c for c in a if c not in batch + shared],
                *[c for c in b if c not in batch + shared],
            ]
        )
    if letters != result:
        product = scope.emit(
            "transpose",
            (product,),
            {"dimensions": tuple(map(letters.index, result))},
            shape=scope.type_of(operation),
        )
    return [product]


def _summed(scope: Scope, i: HloInstruction, dimensions: list[int]) -> HloInstruction:
    if not dimensions:
        return i
    kind = array_shape(i.shape.element_type, ())
    adder = scope.converter.builder.nested("sum")
    adder.computation.set_root((adder.parameter(kind) + adder.parameter(kind)).instruction)
    return scope.emit(
        "reduce",
        (i, scope.constant(0, kind)),
        {"dimensions": tuple(dimensions)},
        called=(adder.computation,),
    )


def window_of(
    scope: Scope, operation: Operation, sizes: tuple[int, ...], pads: Any, base: str, window: str
) -> Window:
    """Return HLO's window.

    sizes: of the window; pads: low and high of each dimension; base, window: names of the
    dilations.
    """
    count = len(sizes)
    ones = (1,) * count
    strides, lhs, rhs = (
        scope.integers(operation, name, ones) or ones for name in ("window_strides", base, window)
    )
    reversal = _flags(operation.attributes.get("window_reversal"), count)
    flat = _pairs(pads, count)
    if not len(strides) == len(lhs) == len(rhs) == len(flat) == count:
        scope.fail(
            f"the window of {operation.name} has {count} dimensions, its attributes another number",
            "give each for every dimension",
        )
    return Window(
        tuple(
            [
                WindowDimension(
                    sizes[k], strides[k], flat[k][0], flat[k][1], lhs[k], rhs[k], reversal[k]
                )
                for k in range(count)
            ]
        )
    )


def _flags(given: Any, count: int) -> list[bool]:
    if given is None:
        return [False] * count
    return [
        bool(flag) for flag in (given.array.reshape(-1) if isinstance(given, Literal) else given)
    ] or [False] * count


def _pairs(given: Any, count: int) -> list[tuple[int, int]]:
    """Return low and high padding, from a dense matrix or nested lists; by default none."""
    if given is None:
        return [(0, 0)] * count
    flat = [
        int(v)
        for v in (
            given.array.reshape(-1)
            if isinstance(given, Literal)
            else [n for row in given for n in row]
        )
    ]
    return list(zip(flat[::2], flat[1::2], strict=False)) if flat or not count else [(0, 0)] * count


def convolve(
    scope: Scope, operation: Operation, operands: list[HloInstruction], pads: Any
) -> HloInstruction:
    """Emit a convolution with the given padding."""
    numbers = scope.attribute(operation, "dimension_numbers", required=True)
    if not isinstance(numbers, ConvolutionDimensionNumbers):
        scope.fail(
            "the dimension numbers must be those of a convolution",
            "write [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
        )
    sizes = tuple(
        [
            operands[1].shape.dimensions[d]
            for d in numbers.kernel_spatial
            if d < operands[1].shape.rank
        ]
    )
    attributes: dict[str, Any] = {
        "window": window_of(scope, operation, sizes, pads, "lhs_dilation", "rhs_dilation"),
        "dim_labels": numbers,
        "feature_group_count": operation.attributes.get("feature_group_count", 1),
        "batch_group_count": operation.attributes.get("batch_group_count", 1),
        **precision(operation),
    }
    return scope.emit(
        "convolution", operands, attributes, shape=scope.type_of(operation), any_type=True
    )


@converts("convolution")
def convolution(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a convolution of the input with a kernel."""
    return [
        convolve(scope, operation, scope.operands(operation), operation.attributes.get("padding"))
    ]


@converts("fft")
def fft(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the Fourier transform over the last dimensions."""
    kind = scope.keyword(operation, "fft_type", among=("FFT", "IFFT", "RFFT", "IRFFT"))
    attributes = {"fft_type": kind, "fft_length": scope.integers(operation, "fft_length")}
    return [
        scope.emit("fft", scope.operands(operation), attributes, shape=scope.type_of(operation))
    ]


@converts("cholesky")
def cholesky(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the Cholesky factor of each matrix."""
    attributes = {"lower": bool(operation.attributes.get("lower", False))}
    return [
        scope.emit(
            "cholesky", scope.operands(operation), attributes, shape=scope.type_of(operation)
        )
    ]


@converts("triangular_solve")
def triangular_solve(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the solution of systems with triangular matrices."""
    attributes: dict[str, Any] = {
        name: bool(operation.attributes.get(name, False))
        for name in ("left_side", "lower", "unit_diagonal")
    }
    attributes["transpose_a"] = scope.keyword(
        operation, "transpose_a", "NO_TRANSPOSE", among=("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
    )
    return [
        scope.emit(
            "triangular-solve",
            scope.operands(operation),
            attributes,
            shape=scope.type_of(operation),
        )
    ]


@converts("chlo.ragged_dot")
def ragged_dot(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a product of groups whose sizes are an operand."""
    numbers = scope.attribute(operation, "ragged_dot_dimension_numbers", required=True)
    attributes = {
        ours: integers(numbers.get(theirs, ()))
        for ours, theirs in (
            ("lhs_batch_dims", "lhs_batching_dimensions"),
            ("rhs_batch_dims", "rhs_batching_dimensions"),
            ("lhs_contracting_dims", "lhs_contracting_dimensions"),
            ("rhs_contracting_dims", "rhs_contracting_dimensions"),
            ("lhs_ragged_dims", "lhs_ragged_dimensions"),
            ("rhs_group_dims", "rhs_group_dimensions"),
        )
    }
    return [
        scope.emit(
            "ragged-dot",
            scope.operands(operation),
            attributes | precision(operation),
            shape=scope.type_of(operation),
            any_type=True,
        )
    ]
