"""A program for every operation of the StableHLO specification, with arguments and values.

EXAMPLES: operation -> list of Example. Values are worked out by hand or by numpy, never by code of
ours.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

f32, i32 = np.float32, np.int32


class Example(NamedTuple):
    """body: of the function; signature: `(%a: tensor<2xf32>) -> tensor<2xf32>`."""

    signature: str
    body: str
    arguments: tuple[Any, ...]
    expected: Any
    tolerance: float = 1e-6
    extra: str = ""  # other functions

    @property
    def text(self) -> str:
        return f"module @example {{\n  func.func @main{self.signature} {{\n{self.body}\n  }}\n{self.extra}\n}}\n"


EXAMPLES: dict[str, list[Example]] = {}


def example(
    operation: str,
    signature: str,
    body: str,
    arguments: tuple[Any, ...],
    expected: Any,
    tolerance: float = 1e-6,
    extra: str = "",
) -> None:
    EXAMPLES.setdefault(operation, []).append(
        Example(signature, body, arguments, expected, tolerance, extra)
    )


def elementwise(
    operation: str,
    kind: str,
    operands: list[Any],
    expected: Any,
    result: str | None = None,
    tolerance: float = 1e-6,
) -> None:
    """Add examples of the pretty and the generic form of an operation on vectors of four."""
    type_, out = f"tensor<4x{kind}>", f"tensor<4x{result or kind}>"
    names = [f"%a{k}" for k in range(len(operands))]
    signature = f"({', '.join(f'{n}: {type_}' for n in names)}) -> {out}"
    types = f"({', '.join([type_] * len(names))}) -> {out}"
    short = f": {out}" if result is None else f": {types}"
    arrays = tuple(operands)
    example(
        operation,
        signature,
        f"    %0 = stablehlo.{operation} {', '.join(names)} {short}\n    return %0 : {out}",
        arrays,
        expected,
        tolerance,
    )
    example(
        operation,
        signature,
        f'    %0 = "stablehlo.{operation}"({", ".join(names)}) : {types}\n    "func.return"(%0) : ({out}) -> ()',
        arrays,
        expected,
        tolerance,
    )


X = np.array([-1.5, 0.25, 1.0, 3.5], f32)
P = np.array([0.25, 0.5, 1.0, 4.0], f32)
Y = np.array([2.0, -0.5, 4.0, 1.5], f32)
W = np.array([7, -3, 0, 12], i32)
J = np.array([2, 3, 1, 5], i32)
B = np.array([True, False, True, False])
C = np.array([True, True, False, False])

elementwise("abs", "f32", [X], np.abs(X))
elementwise("abs", "i32", [W], np.array([7, 3, 0, 12], i32))
elementwise("add", "f32", [X, Y], X + Y)
elementwise("add", "i1", [B, C], B | C)
elementwise("and", "i32", [W, J], W & J)
elementwise("atan2", "f32", [X, Y], np.arctan2(X, Y))
elementwise("cbrt", "f32", [P], np.cbrt(P))
elementwise("ceil", "f32", [X], np.array([-1, 1, 1, 4], f32))
elementwise("cosine", "f32", [X], np.cos(X))
elementwise("count_leading_zeros", "i32", [W], np.array([29, 0, 32, 28], i32))
elementwise("divide", "f32", [X, Y], X / Y)
elementwise("divide", "i32", [W, J], np.array([3, -1, 0, 2], i32))
elementwise("exponential", "f32", [X], np.exp(X))
elementwise("exponential_minus_one", "f32", [X], np.expm1(X))
elementwise("floor", "f32", [X], np.array([-2, 0, 1, 3], f32))
elementwise("log", "f32", [P], np.log(P))
elementwise("log_plus_one", "f32", [P], np.log1p(P))
elementwise("logistic", "f32", [X], 1 / (1 + np.exp(-X)))
elementwise("maximum", "f32", [X, Y], np.maximum(X, Y))
elementwise("minimum", "f32", [X, Y], np.minimum(X, Y))
elementwise("multiply", "f32", [X, Y], X * Y)
elementwise("negate", "i32", [W], -W)
elementwise("not", "i1", [B], ~B)
elementwise("not", "i32", [W], ~W)
elementwise("or", "i32", [W, J], W | J)
elementwise("popcnt", "i32", [W], np.array([3, 31, 0, 2], i32))
elementwise("power", "f32", [P, Y], P**Y)
elementwise("remainder", "i32", [W, J], np.array([1, 0, 0, 2], i32))
elementwise("remainder", "f32", [X, Y], np.fmod(X, Y))
elementwise(
    "round_nearest_afz", "f32", [np.array([-2.5, 0.5, 1.4, 3.5], f32)], np.array([-3, 1, 1, 4], f32)
)
elementwise(
    "round_nearest_even",
    "f32",
    [np.array([-2.5, 0.5, 1.4, 3.5], f32)],
    np.array([-2, 0, 1, 4], f32),
)
elementwise("rsqrt", "f32", [P], 1 / np.sqrt(P))
elementwise("shift_left", "i32", [W, J], W << J)
elementwise("shift_right_arithmetic", "i32", [W, J], W >> J)
elementwise(
    "shift_right_logical", "i32", [W, J], (W.view(np.uint32) >> J.view(np.uint32)).view(i32)
)
elementwise("sign", "f32", [X], np.sign(X))
elementwise("sine", "f32", [X], np.sin(X))
elementwise("sqrt", "f32", [P], np.sqrt(P))
elementwise("subtract", "f32", [X, Y], X - Y)
elementwise("tan", "f32", [X], np.tan(X))
elementwise("tanh", "f32", [X], np.tanh(X))
elementwise("xor", "i1", [B, C], B ^ C)
elementwise(
    "is_finite",
    "f32",
    [np.array([1, np.inf, np.nan, -np.inf], f32)],
    np.array([True, False, False, False]),
    "i1",
)
elementwise("convert", "f32", [X], np.array([-1, 0, 1, 3], i32), "i32")
elementwise("bitcast_convert", "f32", [X], X.view(i32), "i32")
elementwise("real", "complex<f32>", [(X + 1j * Y).astype(np.complex64)], X, "f32")
elementwise("imag", "complex<f32>", [(X + 1j * Y).astype(np.complex64)], Y, "f32")

example(
    "complex",
    "(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xcomplex<f32>>",
    "    %0 = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>\n    return %0 : tensor<4xcomplex<f32>>",
    (X, Y),
    (X + 1j * Y).astype(np.complex64),
)
example(
    "clamp",
    "(%l: tensor<f32>, %a: tensor<4xf32>, %h: tensor<f32>) -> tensor<4xf32>",
    "    %0 = stablehlo.clamp %l, %a, %h : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n    return %0 : tensor<4xf32>",
    (f32(0), X, f32(2)),
    np.array([0, 0.25, 1, 2], f32),
)
example(
    "select",
    "(%p: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32>",
    "    %0 = stablehlo.select %p, %a, %b : tensor<4xi1>, tensor<4xf32>\n    return %0 : tensor<4xf32>",
    (B, X, Y),
    np.where(B, X, Y),
)
example(
    "compare",
    "(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1>",
    "    %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n    return %0 : tensor<4xi1>",
    (X, Y),
    X < Y,
)
example(
    "compare",
    "(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1>",
    """    %0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    return %0 : tensor<4xi1>""",
    (np.array([-0.0, 0.0, 1, np.nan], f32), np.array([0.0, -0.0, np.nan, 1], f32)),
    np.array([True, False, True, False]),
)
example(
    "reduce_precision",
    "(%a: tensor<4xf32>) -> tensor<4xf32>",
    "    %0 = stablehlo.reduce_precision %a, format = e5m2 : tensor<4xf32>\n    return %0 : tensor<4xf32>",
    (np.array([1.1, 1.9, 3.3, 1e9], f32),),
    np.array([1, 2, 3.5, np.inf], f32),
)

# -- constants and places --------------------------------------------------------------------------
example(
    "constant",
    "() -> (tensor<2x3xf32>, tensor<3xi1>, tensor<2xcomplex<f32>>, tensor<0xi32>, tensor<2xbf16>)",
    """    %a = stablehlo.constant dense<[[1.0, -2.5e-1, 0x7F800000], [0.0, 0xFF800000, 3.0]]> : tensor<2x3xf32>
    %b = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %c = "stablehlo.constant"() <{value = dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    %d = stablehlo.constant dense<> : tensor<0xi32>
    %e = stablehlo.constant dense<"0x803F0040"> : tensor<2xbf16>
    return %a, %b, %c, %d, %e : tensor<2x3xf32>, tensor<3xi1>, tensor<2xcomplex<f32>>, tensor<0xi32>, tensor<2xbf16>""",
    (),
    (
        np.array([[1, -0.25, np.inf], [0, -np.inf, 3]], f32),
        np.array([True, False, True]),
        np.full(2, 1 - 2j, np.complex64),
        np.zeros(0, i32),
        np.array([1, 2], f32),
    ),
)
example(
    "iota",
    "() -> tensor<2x3xi32>",
    "    %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>\n    return %0 : tensor<2x3xi32>",
    (),
    np.array([[0, 1, 2]] * 2, i32),
)
M = np.arange(6, dtype=f32).reshape(2, 3)
V = np.array([10, 20, 30], f32)
example(
    "broadcast_in_dim",
    "(%a: tensor<3xf32>) -> tensor<2x3xf32>",
    "    %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>",
    (V,),
    np.stack([V, V]),
)
example(
    "broadcast_in_dim",
    "(%a: tensor<3x1xf32>) -> tensor<2x3xf32>",
    """    %0 = "stablehlo.broadcast_in_dim"(%a) {broadcast_dimensions = dense<[1, 0]> : tensor<2xi64>} : (tensor<3x1xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>""",
    (V.reshape(3, 1),),
    np.stack([V, V]),
)
example(
    "broadcast",
    "(%a: tensor<3xf32>) -> tensor<2x3xf32>",
    "    %0 = stablehlo.broadcast %a, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>",
    (V,),
    np.stack([V, V]),
)
example(
    "reshape",
    "(%a: tensor<2x3xf32>) -> tensor<3x2xf32>",
    "    %0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<3x2xf32>\n    return %0 : tensor<3x2xf32>",
    (M,),
    M.reshape(3, 2),
)
example(
    "transpose",
    "(%a: tensor<2x3xf32>) -> tensor<3x2xf32>",
    "    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n    return %0 : tensor<3x2xf32>",
    (M,),
    M.T,
)
example(
    "reverse",
    "(%a: tensor<2x3xf32>) -> tensor<2x3xf32>",
    "    %0 = stablehlo.reverse %a, dims = [1] : tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>",
    (M,),
    M[:, ::-1],
)
example(
    "slice",
    "(%a: tensor<2x3xf32>) -> tensor<1x2xf32>",
    "    %0 = stablehlo.slice %a [1:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>\n    return %0 : tensor<1x2xf32>",
    (M,),
    M[1:2, 0:3:2],
)
example(
    "slice",
    "(%a: tensor<2x3xf32>) -> tensor<1x2xf32>",
    """    %0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 2>}> : (tensor<2x3xf32>) -> tensor<1x2xf32>
    return %0 : tensor<1x2xf32>""",
    (M,),
    M[1:2, 0:3:2],
)
example(
    "dynamic_slice",
    "(%a: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<1x2xf32>",
    """    %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    return %0 : tensor<1x2xf32>""",
    (M, i32(1), i32(5)),
    M[1:2, 1:3],
)
example(
    "dynamic_update_slice",
    "(%a: tensor<2x3xf32>, %u: tensor<1x2xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<2x3xf32>",
    """    %0 = stablehlo.dynamic_update_slice %a, %u, %i, %j : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>""",
    (M, np.array([[7, 8]], f32), i32(0), i32(1)),
    np.array([[0, 7, 8], [3, 4, 5]], f32),
)
example(
    "concatenate",
    "(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>) -> tensor<2x4xf32>",
    """    %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>""",
    (M, np.array([[8], [9]], f32)),
    np.array([[0, 1, 2, 8], [3, 4, 5, 9]], f32),
)
example(
    "pad",
    "(%a: tensor<3xf32>, %v: tensor<f32>) -> tensor<7xf32>",
    """    %0 = stablehlo.pad %a, %v, low = [1], high = [1], interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
    return %0 : tensor<7xf32>""",
    (V, f32(-1)),
    np.array([-1, 10, -1, 20, -1, 30, -1], f32),
)
example(
    "gather",
    "(%a: tensor<2x3xf32>, %i: tensor<2x1xi32>) -> tensor<2x2xf32>",
    """    %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1>}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>""",
    (M, np.array([[2], [0]], i32)),
    M[:, [2, 0]],
)
example(
    "scatter",
    "(%a: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> tensor<4xf32>",
    """    %0 = "stablehlo.scatter"(%a, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>""",
    (X, np.array([[3], [3]], i32), np.array([1, 10], f32)),
    X + np.array([0, 0, 0, 11], f32),
)
example(
    "torch_index_select",
    "(%a: tensor<2x3xf32>, %i: tensor<2xi32>) -> tensor<2x2xf32>",
    """    %0 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>""",
    (M, np.array([2, 0], i32)),
    M[:, [2, 0]],
)
example(
    "get_dimension_size",
    "(%a: tensor<2x3xf32>) -> tensor<i32>",
    "    %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>\n    return %0 : tensor<i32>",
    (M,),
    i32(3),
)
example(
    "set_dimension_size",
    "(%a: tensor<3xf32>, %n: tensor<i32>) -> tensor<f32>",
    """    %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<3xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<3>>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>""",
    (V, i32(2)),
    f32(30),
)

# -- products --------------------------------------------------------------------------------------
A3, B3 = np.arange(12, dtype=f32).reshape(2, 2, 3), np.arange(12, dtype=f32).reshape(2, 3, 2) - 5
example(
    "dot_general",
    "(%a: tensor<2x2x3xf32>, %b: tensor<2x3x2xf32>) -> tensor<2x2x2xf32>",
    """    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
    return %0 : tensor<2x2x2xf32>""",
    (A3, B3),
    A3 @ B3,
)
example(
    "dot_general",
    "(%a: tensor<2x2x3xf32>, %b: tensor<2x3x2xf32>) -> tensor<2x2x2xf32>",
    """    %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
    return %0 : tensor<2x2x2xf32>""",
    (A3, B3),
    A3 @ B3,
)
example(
    "dot",
    "(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2xf32>",
    "    %0 = stablehlo.dot %a, %b, precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>\n    return %0 : tensor<2xf32>",
    (M, V),
    M @ V,
)
example(
    "einsum",
    "(%a: tensor<2x2x3xf32>, %b: tensor<2x3x2xf32>) -> tensor<2x2x2xf32>",
    """    %0 = stablehlo.einsum %a, %b, config = "bij,bjk->bki" : (tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
    return %0 : tensor<2x2x2xf32>""",
    (A3, B3),
    np.einsum("bij,bjk->bki", A3, B3),
)
example(
    "unary_einsum",
    "(%a: tensor<2x3xf32>) -> tensor<3xf32>",
    '    %0 = stablehlo.unary_einsum %a, config = "ij->j" : (tensor<2x3xf32>) -> tensor<3xf32>\n    return %0 : tensor<3xf32>',
    (M,),
    M.sum(0),
)
example(
    "convolution",
    "(%a: tensor<1x4x1xf32>, %b: tensor<2x1x1xf32>) -> tensor<1x5x1xf32>",
    """    %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x5x1xf32>
    return %0 : tensor<1x5x1xf32>""",
    (np.array([1, 2, 3, 4], f32).reshape(1, 4, 1), np.array([1, 10], f32).reshape(2, 1, 1)),
    np.array([10, 21, 32, 43, 4], f32).reshape(1, 5, 1),
)
example(
    "convolution",
    "(%a: tensor<1x4x1xf32>, %b: tensor<2x1x1xf32>) -> tensor<1x2x1xf32>",
    """    %0 = "stablehlo.convolution"(%a, %b) <{window_strides = array<i64: 2>, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, padding = dense<0> : tensor<1x2xi64>, window_reversal = array<i1: true>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1xf32>
    return %0 : tensor<1x2x1xf32>""",
    (np.array([1, 2, 3, 4], f32).reshape(1, 4, 1), np.array([1, 10], f32).reshape(2, 1, 1)),
    np.array([12, 34], f32).reshape(1, 2, 1),
)
example(
    "fft",
    "(%a: tensor<4xf32>) -> tensor<3xcomplex<f32>>",
    "    %0 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>\n    return %0 : tensor<3xcomplex<f32>>",
    (X,),
    np.fft.rfft(X).astype(np.complex64),
)
S = np.array([[4, 2], [2, 5]], f32)
L = np.array([[2, 0], [1, 2]], f32)
example(
    "cholesky",
    "(%a: tensor<2x2xf32>) -> tensor<2x2xf32>",
    "    %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>\n    return %0 : tensor<2x2xf32>",
    (S,),
    L,
)
example(
    "triangular_solve",
    "(%a: tensor<2x2xf32>, %b: tensor<2x1xf32>) -> tensor<2x1xf32>",
    """    %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    return %0 : tensor<2x1xf32>""",
    (L, np.array([[4], [6]], f32)),
    np.array([[2], [2]], f32),
)

# -- reductions ------------------------------------------------------------------------------------
ADDS = "    ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n      %s = stablehlo.add %x, %y : tensor<f32>\n      stablehlo.return %s : tensor<f32>\n"
example(
    "reduce",
    "(%a: tensor<2x3xf32>) -> tensor<2xf32>",
    """    %c = stablehlo.constant dense<1.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>""",
    (M,),
    M.sum(1) + 1,
)
example(
    "reduce",
    "(%a: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi32>)",
    """    %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %0:2 = stablehlo.reduce(%a init: %c), (%i init: %z) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%x: tensor<f32>, %y: tensor<f32>) (%k: tensor<i32>, %l: tensor<i32>)  {
      %p = stablehlo.compare GE, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>
      %w = stablehlo.select %p, %k, %l : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
    return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>""",
    (np.array([[1, 9, 2], [7, 3, 5]], f32),),
    (np.array([9, 7], f32), np.array([1, 0], i32)),
)
example(
    "reduce_window",
    "(%a: tensor<4xf32>) -> tensor<3xf32>",
    f"""    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%a, %c) <{{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_dilations = array<i64: 2>}}> ({{
{ADDS}    }}) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>""",
    (X,),
    np.array([X[1], X[0] + X[2], X[1] + X[3]], f32),
)
example(
    "select_and_scatter",
    "(%a: tensor<4xf32>, %source: tensor<2xf32>) -> tensor<4xf32>",
    f"""    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%a, %source, %c) <{{padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}}> ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %p = stablehlo.compare GE, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }}, {{
{ADDS}    }}) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>""",
    (np.array([3, 1, 2, 5], f32), np.array([10, 20], f32)),
    np.array([10, 0, 0, 20], f32),
)
example(
    "sort",
    "(%a: tensor<4xf32>, %b: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)",
    """    %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %k: tensor<i32>, %l: tensor<i32>):
      %p = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>""",
    (X, W),
    (X[::-1], W[::-1]),
)
example(
    "map",
    "(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32>",
    """    %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %c = stablehlo.constant dense<2.0> : tensor<f32>
      %m = stablehlo.multiply %y, %c : tensor<f32>
      %s = stablehlo.add %x, %m : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>""",
    (X, Y),
    X + 2 * Y,
)
N = np.array([[1, 2], [3, 6]], f32)
SCALE, OFFSET = np.array([1, 2], f32), np.array([0, 10], f32)
_MEAN, _VARIANCE = N.mean(0), N.var(0)
_HAT = (N - _MEAN) / np.sqrt(_VARIANCE + f32(0.001))
VEC, MAT = "tensor<2xf32>", "tensor<2x2xf32>"
example(
    "batch_norm_training",
    f"(%a: {MAT}, %s: {VEC}, %o: {VEC}) -> ({MAT}, {VEC}, {VEC})",
    f"""    %0:3 = "stablehlo.batch_norm_training"(%a, %s, %o) <{{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}}> : ({MAT}, {VEC}, {VEC}) -> ({MAT}, {VEC}, {VEC})
    return %0#0, %0#1, %0#2 : {MAT}, {VEC}, {VEC}""",
    (N, SCALE, OFFSET),
    (_HAT * SCALE + OFFSET, _MEAN, _VARIANCE),
    1e-5,
)
example(
    "batch_norm_inference",
    f"(%a: {MAT}, %s: {VEC}, %o: {VEC}, %m: {VEC}, %v: {VEC}) -> {MAT}",
    f"""    %0 = "stablehlo.batch_norm_inference"(%a, %s, %o, %m, %v) <{{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}}> : ({MAT}, {VEC}, {VEC}, {VEC}, {VEC}) -> {MAT}
    return %0 : {MAT}""",
    (N, SCALE, OFFSET, _MEAN, _VARIANCE),
    _HAT * SCALE + OFFSET,
    1e-5,
)
_G = np.array([[1, 0.5], [2, -1]], f32)
_R = 1 / np.sqrt(_VARIANCE + f32(0.001))
_GS = (_G * (N - _MEAN) * _R).sum(0)
_GA = SCALE * _R / 2 * (2 * _G - _G.sum(0) - (N - _MEAN) * _R * _GS)
example(
    "batch_norm_grad",
    f"(%a: {MAT}, %s: {VEC}, %m: {VEC}, %v: {VEC}, %g: {MAT}) -> ({MAT}, {VEC}, {VEC})",
    f"""    %0:3 = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g) <{{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}}> : ({MAT}, {VEC}, {VEC}, {VEC}, {MAT}) -> ({MAT}, {VEC}, {VEC})
    return %0#0, %0#1, %0#2 : {MAT}, {VEC}, {VEC}""",
    (N, SCALE, _MEAN, _VARIANCE, _G),
    (_GA, _GS, _G.sum(0)),
    1e-4,
)

# -- control ---------------------------------------------------------------------------------------
example(
    "while",
    "(%a: tensor<f32>, %n: tensor<i32>) -> (tensor<i32>, tensor<f32>)",
    """    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<f32>
    cond {
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.add %x, %a : tensor<f32>
      stablehlo.return %j, %y : tensor<i32>, tensor<f32>
    }
    return %0#0, %0#1 : tensor<i32>, tensor<f32>""",
    (f32(2), i32(3)),
    (i32(3), f32(8)),
)
example(
    "while",
    "(%a: tensor<i32>) -> tensor<i32>",
    """    %0 = "stablehlo.while"(%a) ({
    ^bb0(%i: tensor<i32>):
      %c = stablehlo.constant dense<100> : tensor<i32>
      %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>):
      %d = stablehlo.add %i, %i : tensor<i32>
      "stablehlo.return"(%d) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>""",
    (i32(3),),
    i32(192),
)
example(
    "if",
    "(%p: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>)",
    """    %0:2 = "stablehlo.if"(%p) ({
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s, %a : tensor<f32>, tensor<f32>
    }, {
      %c = stablehlo.constant dense<7.0> : tensor<f32>
      stablehlo.return %c, %c : tensor<f32>, tensor<f32>
    }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
    return %0#0, %0#1 : tensor<f32>, tensor<f32>""",
    (np.bool_(True), f32(1), f32(2)),
    (f32(3), f32(1)),
)
example(
    "case",
    "(%k: tensor<i32>, %a: tensor<f32>) -> tensor<f32>",
    """    %0 = "stablehlo.case"(%k) ({
      stablehlo.return %a : tensor<f32>
    }, {
      %n = stablehlo.negate %a : tensor<f32>
      stablehlo.return %n : tensor<f32>
    }, {
      %c = stablehlo.constant dense<7.0> : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    return %0 : tensor<f32>""",
    (i32(1), f32(2)),
    f32(-2),
)
example(
    "tuple",
    "(%a: tensor<f32>, %b: tensor<i32>) -> tuple<tensor<f32>, tensor<i32>>",
    "    %0 = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<i32>>\n    return %0 : tuple<tensor<f32>, tensor<i32>>",
    (f32(1), i32(2)),
    (f32(1), i32(2)),
)
example(
    "get_tuple_element",
    "(%t: tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>",
    "    %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>\n    return %0 : tensor<i32>",
    ((f32(1), i32(2)),),
    i32(2),
)
example(
    "optimization_barrier",
    "(%a: tensor<f32>, %b: tensor<i32>) -> (tensor<f32>, tensor<i32>)",
    """    %0:2 = stablehlo.optimization_barrier %a, %b : tensor<f32>, tensor<i32>
    return %0#0, %0#1 : tensor<f32>, tensor<i32>""",
    (f32(1), i32(2)),
    (f32(1), i32(2)),
)
example(
    "after_all",
    "(%a: tensor<f32>) -> tensor<f32>",
    """    %0 = stablehlo.create_token : !stablehlo.token
    %1 = stablehlo.after_all %0, %0 : !stablehlo.token
    return %a : tensor<f32>""",
    (f32(1),),
    f32(1),
)
EXAMPLES["create_token"] = EXAMPLES["after_all"]
DOUBLE = """  func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.add %x, %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }"""
example(
    "composite",
    "(%a: tensor<4xf32>) -> tensor<4xf32>",
    """    %0 = stablehlo.composite "my.double" %a {composite_attributes = {n = 2 : i32}, decomposition = @double, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>""",
    (X,),
    X * 2,
    extra=DOUBLE,
)
example(
    "func.call",
    "(%a: tensor<4xf32>) -> tensor<4xf32>",
    """    %0 = func.call @double(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @double(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>""",
    (X,),
    X * 4,
    extra=DOUBLE,
)
example(
    "custom_call",
    "(%a: tensor<4xf32>) -> tensor<4xf32>",
    """    %0 = stablehlo.custom_call @Sharding(%a) {api_version = 1 : i32, backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>""",
    (X,),
    X,
)
example(
    "custom_call",
    "(%a: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)",
    """    %0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>""",
    (X,),
    (np.array([3.5, 1], f32), np.array([3, 2], i32)),
)
example(
    "rng_bit_generator",
    "(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)",
    """    %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
    return %0, %1 : tensor<2xui64>, tensor<2xui32>""",
    (np.array([1, 2], np.uint64),),
    None,
)
example(
    "rng",
    "() -> tensor<i1>",
    """    %a = stablehlo.constant dense<2.0> : tensor<f32>
    %b = stablehlo.constant dense<3.0> : tensor<f32>
    %n = stablehlo.constant dense<[100]> : tensor<1xi64>
    %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<100xf32>
    %l = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<100xf32>
    %1 = stablehlo.compare GE, %0, %l : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xi1>
    %t = stablehlo.constant dense<true> : tensor<i1>
    %2 = stablehlo.reduce(%1 init: %t) applies stablehlo.and across dimensions = [0] : (tensor<100xi1>, tensor<i1>) -> tensor<i1>
    return %2 : tensor<i1>""",
    (),
    np.bool_(True),
)

# -- sizes as operands -----------------------------------------------------------------------------
example(
    "dynamic_broadcast_in_dim",
    "(%a: tensor<3xf32>) -> tensor<2x3xf32>",
    """    %n = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
    %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [1] {known_expanding_dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>""".replace(
        "return %0 : tensor<?x?xf32>",
        "%1 = stablehlo.add %0, %0 : tensor<?x?xf32>\n    %2 = stablehlo.convert %1 : (tensor<?x?xf32>) -> tensor<2x3xf32>\n    return %2 : tensor<2x3xf32>",
    ),
    (V,),
    np.stack([V, V]) * 2,
)
example(
    "dynamic_iota",
    "() -> tensor<2x3xi32>",
    """    %n = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
    %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi32>) -> tensor<2x3xi32>
    return %0 : tensor<2x3xi32>""",
    (),
    np.array([[0] * 3, [1] * 3], i32),
)
example(
    "dynamic_reshape",
    "(%a: tensor<2x3xf32>) -> tensor<?x?xf32>",
    """    %d = stablehlo.get_dimension_size %a, dim = 0 : (tensor<2x3xf32>) -> tensor<i32>
    %e = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
    %x = stablehlo.reshape %e : (tensor<i32>) -> tensor<1xi32>
    %y = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
    %n = stablehlo.concatenate %x, %y, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %0 = stablehlo.dynamic_reshape %a, %n : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>""",
    (M,),
    M.reshape(3, 2),
)
example(
    "dynamic_pad",
    "(%a: tensor<3xf32>, %v: tensor<f32>) -> tensor<?xf32>",
    """    %l = stablehlo.constant dense<1> : tensor<1xi32>
    %z = stablehlo.constant dense<0> : tensor<1xi32>
    %0 = stablehlo.dynamic_pad %a, %v, %l, %z, %z : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>""",
    (V, f32(0)),
    np.array([0, 10, 20, 30], f32),
)
example(
    "real_dynamic_slice",
    "(%a: tensor<4xf32>) -> tensor<?xf32>",
    """    %s = stablehlo.constant dense<1> : tensor<1xi32>
    %l = stablehlo.constant dense<4> : tensor<1xi32>
    %t = stablehlo.constant dense<2> : tensor<1xi32>
    %0 = stablehlo.real_dynamic_slice %a, %s, %l, %t : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>""",
    (X,),
    X[1:4:2],
)
example(
    "dynamic_gather",
    "(%a: tensor<2x3xf32>, %i: tensor<2x1xi32>) -> tensor<?x2xf32>",
    """    %n = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
    %0 = "stablehlo.dynamic_gather"(%a, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>}> : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<?x2xf32>
    return %0 : tensor<?x2xf32>""",
    (M, np.array([[2], [0]], i32)),
    M[:, [2, 0]],
)
example(
    "dynamic_conv",
    "(%a: tensor<1x4x1xf32>, %b: tensor<2x1x1xf32>) -> tensor<1x?x1xf32>",
    """    %p = stablehlo.constant dense<1> : tensor<1x2xi32>
    %0 = "stablehlo.dynamic_conv"(%a, %b, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>
    return %0 : tensor<1x?x1xf32>""",
    (np.array([1, 2, 3, 4], f32).reshape(1, 4, 1), np.array([1, 10], f32).reshape(2, 1, 1)),
    np.array([10, 21, 32, 43, 4], f32).reshape(1, 5, 1),
)

# -- CHLO ------------------------------------------------------------------------------------------


def chlo(
    operation: str, operands: list[Any], expected: Any, tolerance: float = 1e-5, result: str = "f32"
) -> None:
    names = [f"%a{k}" for k in range(len(operands))]
    type_, out = "tensor<4xf32>", f"tensor<4x{result}>"
    example(
        f"chlo.{operation}",
        f"({', '.join(f'{n}: {type_}' for n in names)}) -> {out}",
        f"    %0 = chlo.{operation} {', '.join(names)} : {', '.join([type_] * len(names))} -> {out}\n    return %0 : {out}",
        tuple(operands),
        expected,
        tolerance,
    )


U = np.array([-0.75, -0.1, 0.3, 0.9], f32)
chlo("erf", [U], np.vectorize(math.erf)(U).astype(f32))
chlo("erfc", [X], np.vectorize(math.erfc)(X).astype(f32))
chlo("erf_inv", [np.vectorize(math.erf)(U).astype(f32)], U)
chlo("lgamma", [P], np.vectorize(math.lgamma)(P).astype(f32), 1e-5)
chlo(
    "digamma",
    [np.array([1, 2, 3, 0.5], f32)],
    np.array([-0.5772157, 0.42278434, 0.92278434, -1.9635100], f32),
)
chlo(
    "zeta",
    [np.array([2, 4, 2, 3], f32), np.array([1, 1, 2, 1], f32)],
    np.array([math.pi**2 / 6, math.pi**4 / 90, math.pi**2 / 6 - 1, 1.2020569], f32),
)
chlo(
    "digamma",
    [np.array([np.inf, 1e30, 1, 2], f32)],
    np.array([np.inf, 69.077553, -0.5772157, 0.42278434], f32),
)
chlo(
    "zeta",
    [np.array([101, 3e38, 172, 2], f32), np.array([1e4, 1e30, 3e4, 1], f32)],
    np.array([0, 0, 0, math.pi**2 / 6], f32),
)
chlo(
    "polygamma",
    [np.array([0, 1, 2, 1], f32), np.array([1, 1, 1, 2], f32)],
    np.array([-0.5772157, math.pi**2 / 6, -2 * 1.2020569, math.pi**2 / 6 - 1], f32),
)
chlo(
    "bessel_i1e",
    [np.array([-1, 0, 2, 20], f32)],
    np.array([-0.20791042, 0, 0.21526929, 0.08750622], f32),
)
chlo(
    "next_after",
    [np.array([1, 0, -1, 2], f32), np.array([2, -1, 0, 2], f32)],
    np.array(
        [
            np.nextafter(f32(1), f32(2)),
            np.nextafter(f32(0), f32(-1)),
            np.nextafter(f32(-1), f32(0)),
            2,
        ],
        f32,
    ),
    0,
)
for _name in ("asin", "acos", "atan", "sinh", "cosh", "asinh", "atanh"):
    chlo(
        _name,
        [U],
        getattr(
            np,
            {
                "asin": "arcsin",
                "acos": "arccos",
                "atan": "arctan",
                "asinh": "arcsinh",
                "atanh": "arctanh",
            }.get(_name, _name),
        )(U),
    )
chlo("acosh", [P + 1], np.arccosh(P + 1))
chlo("tan", [U], np.tan(U))
chlo("square", [X], X * X)
example(
    "chlo.square",
    "(%a: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>",
    "    %0 = chlo.square %a : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>\n    return %0 : tensor<3xcomplex<f32>>",
    (np.array([1e20 + 1e20j, 1 + 2j, -3j], np.complex64),),
    np.array([complex(0, np.inf), -3 + 4j, -9], np.complex64),
)
chlo(
    "is_inf",
    [np.array([1, np.inf, -np.inf, np.nan], f32)],
    np.array([False, True, True, False]),
    result="i1",
)
chlo(
    "is_pos_inf",
    [np.array([1, np.inf, -np.inf, np.nan], f32)],
    np.array([False, True, False, False]),
    result="i1",
)
chlo(
    "is_neg_inf",
    [np.array([1, np.inf, -np.inf, np.nan], f32)],
    np.array([False, False, True, False]),
    result="i1",
)
chlo("conj", [X], X)
example(
    "chlo.broadcast_add",
    "(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32>",
    "    %0 = chlo.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>",
    (M, V),
    M + V,
)
example(
    "chlo.broadcast_subtract",
    "(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2x3xf32>",
    """    %0 = chlo.broadcast_subtract %a, %b {broadcast_dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>""",
    (M, V[:2]),
    M - V[:2, None],
)
example(
    "chlo.broadcast_compare",
    "(%a: tensor<2x3xf32>, %b: tensor<f32>) -> tensor<2x3xi1>",
    """    %0 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>""",
    (M, f32(2)),
    M < 2,
)
example(
    "chlo.broadcast_select",
    "(%p: tensor<2x3xi1>, %a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32>",
    """    %0 = chlo.broadcast_select %p, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>""",
    (M < 2, M, V),
    np.where(M < 2, M, V),
)
example(
    "chlo.constant_like",
    "(%a: tensor<2x3xf32>) -> tensor<2x3xf32>",
    """    %0 = "chlo.constant_like"(%a) <{value = 1.500000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>""",
    (M,),
    np.full((2, 3), 1.5, f32),
)
example(
    "chlo.mulhi",
    "(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32>",
    """    %0 = chlo.mulhi %a, %b : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    return %0 : tensor<4xi32>""",
    (W * 2**26, J * 2**26),
    ((W * 2**26).astype(np.int64) * (J * 2**26) >> 32).astype(i32),
)
example(
    "chlo.top_k",
    "(%a: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)",
    """    %v, %i = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    return %v, %i : tensor<2xf32>, tensor<2xi32>""",
    (X,),
    (np.array([3.5, 1], f32), np.array([3, 2], i32)),
)
example(
    "chlo.ragged_dot",
    "(%l: tensor<3x2xf32>, %r: tensor<2x2x2xf32>, %g: tensor<2xi32>) -> tensor<3x2xf32>",
    """    %0 = "chlo.ragged_dot"(%l, %r, %g) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<3x2xf32>, tensor<2x2x2xf32>, tensor<2xi32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>""",
    (
        np.array([[1, 2], [3, 4], [5, 6]], f32),
        np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], f32),
        np.array([1, 2], i32),
    ),
    np.array([[1, 2], [4, 3], [6, 5]], f32),
)
example(
    "chlo.scan",
    "(%a: tensor<3x2xf32>, %c: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)",
    """    %0:2 = chlo.scan(%a) inits (%c) dimension=0  attributes {is_reverse = false} {
    ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
      %s = stablehlo.add %x, %y : tensor<2xf32>
      stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>
    } : (tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
    return %0#0, %0#1 : tensor<3x2xf32>, tensor<2xf32>""",
    (M.reshape(3, 2), np.array([100, 200], f32)),
    (
        np.cumsum(M.reshape(3, 2), 0) + np.array([100, 200], f32),
        M.reshape(3, 2).sum(0) + np.array([100, 200], f32),
    ),
)
