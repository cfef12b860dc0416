"""Custom calls: markers that are the identity on one device, and targets that XLA itself emits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.analysis.call_signatures import MARKERS, signature_mismatch
from xla_explorer.hlo.analysis.custom_calls import PAD_TO_STATIC
from xla_explorer.hlo.attributes.interning import attributes_of
from xla_explorer.hlo.evaluator.contraction import dot_general
from xla_explorer.hlo.evaluator.conversion import widen
from xla_explorer.hlo.evaluator.convolution import convolution
from xla_explorer.hlo.evaluator.registry import (
    EvaluationError,
    UnsupportedOpcodeError,
    Value,
    custom_call_function,
    evaluates,
    evaluates_custom_call,
)
from xla_explorer.hlo.evaluator.sorting import largest
from xla_explorer.hlo.evaluator.structural import zeros
from xla_explorer.hlo.instruction import new_instruction
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates("custom-call")
def custom_call(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Evaluate by target (see `@evaluates_custom_call`).

    UnsupportedOpcodeError if it is unknown.
    """
    target = i.attributes.value("custom_call_target")
    function = custom_call_function(target.strip('"'))
    if function is None and "_python_cpu_callback" in target:
        raise UnsupportedOpcodeError(
            "custom-call",
            f"%{i.name} calls a Python function ({target.strip(chr(34))}), which is not in the "
            "module",
            "call xe.jit or xe.from_jax on the Python program itself, in the process that has "
            "the function",
        )
    if function is None:
        raise UnsupportedOpcodeError(
            "custom-call",
            f"%{i.name}: the evaluator has no custom call target {target}",
            f"give it a meaning: @xe.hlo.evaluator.evaluates_custom_call({target}) above a "
            "function of (instruction, operands, evaluator)",
        )
    if (mismatch := signature_mismatch(i)) is not None:
        raise EvaluationError(
            f"%{i.name}: {mismatch.message}", "state the operands and results that the target has"
        )
    return function(i, operands, evaluator)


@evaluates_custom_call(*sorted(MARKERS))
def identity(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return operand 0; the call is a marker for passes."""
    return operands[0]


@evaluates_custom_call(PAD_TO_STATIC)
def pad_to_static(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (the array padded to its bound, the size of each dimension).

    Source: xla/service/dynamic_padder.cc.
    """
    (x,) = operands
    whole = np.zeros(i.shape.tuple_shapes[0].dimensions, x.dtype)
    whole[tuple([slice(size) for size in x.shape])] = x
    return whole, *[np.asarray(size, np.int32) for size in x.shape]


@evaluates_custom_call("SliceToDynamic")
def slice_to_dynamic(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the part of a padded array that the sizes of its dimensions leave.

    Source: xla/service/dynamic_padder.cc.
    """
    x, *sizes = operands
    return x[tuple([slice(int(size)) for size in sizes])]


@evaluates_custom_call("__gpu$TopK")  # the spelling in GPU dumps after TopkSpecializer
@evaluates_custom_call("TopK")
def top_k(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (values, s32 indices) of the k largest along the last dimension; the shape gives k."""
    return largest(operands[0], i.shape.tuple_shapes[0].dimensions[-1])


@evaluates_custom_call("cpu_csr_sparse_dense_ffi")
def sparse_times_dense(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Multiply a CSR matrix (elements, row starts, columns) by a dense vector or matrix.

    Floating-point sums are accumulated in double precision and rounded once. Elements stored past
    the last row, and columns out of range, are padding. Source: jaxlib/cpu/sparse_kernels.cc.
    """
    elements, starts, columns, dense = operands
    lengths = np.maximum(np.diff(starts), 0)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    # The storage index of each element: its number within its row plus the row's start.
    places = (
        np.arange(len(rows))
        - np.repeat(np.cumsum(lengths) - lengths, lengths)
        + np.repeat(starts[:-1], lengths)
    )
    stored = (places >= 0) & (places < len(elements))
    rows, places = rows[stored], places[stored]
    inside = (columns[places] >= 0) & (columns[places] < dense.shape[0])
    rows, places = rows[inside], places[inside]
    kind = (
        elements.dtype
        if elements.dtype.kind in "iub"
        else np.result_type(widen(elements), np.float64)
    )
    result = np.zeros((len(lengths), *dense.shape[1:]), kind)
    terms = elements[places].astype(kind).reshape(-1, *[1] * (dense.ndim - 1)) * dense[
        columns[places]
    ].astype(kind)
    np.add.at(result, rows, terms)
    return result.astype(i.shape.element_type.dtype)


_EPILOGUES = ("DEFAULT", "RELU", "BIAS", "BIAS_RELU")


@evaluates_custom_call("__cublas$gemm", "__cublas$lt$matmul")
def library_product(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return alpha * dot(a, b) + beta * c with the configured epilogue, rounded once.

    The workspace is zeros. Operands are a, b, then c if beta is not 0, then the bias of each
    column. Source: GemmBackendConfig of XLA's backend_configs.proto.
    """
    config = _product_config(i)
    if config is None:
        raise UnsupportedOpcodeError(
            "custom-call",
            f"%{i.name} is a product of cuBLAS with an incomplete configuration: it needs "
            "gemm_backend_config with "
            "dot_dimension_numbers, a real alpha, and an epilogue that is one of "
            f"{', '.join(_EPILOGUES)}",
            "take the module before the pass gemm-rewriter, where it is a dot",
        )
    shape = i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape
    numbers, epilogue, beta = (
        config["dot_dimension_numbers"],
        config.get("epilogue", "DEFAULT"),
        float(config.get("beta", 0)),
    )
    left, right, left_batch, right_batch = (
        [int(d) for d in numbers.get(name, ())]
        for name in (
            "lhs_contracting_dimensions",
            "rhs_contracting_dimensions",
            "lhs_batch_dimensions",
            "rhs_batch_dimensions",
        )
    )
    wide = shape.element_type if shape.element_type.bits >= 32 else PRIMITIVE_TYPES["f32"]
    exact = [np.asarray(o).astype(wide.dtype) for o in operands]
    result = float(config.get("alpha_real", 1)) * dot_general(
        exact[0], exact[1], left, right, left_batch, right_batch, wide
    )
    rest = list(exact[2:])
    if beta:
        result = result + beta * rest.pop(0)
    if "BIAS" in epilogue:
        result = result + rest.pop(0)
    if "RELU" in epilogue:
        result = np.maximum(result, 0)
    product = np.asarray(result).astype(shape.element_type.dtype)
    return _with_workspace(i, product)


def _with_workspace(i: HloInstruction, value: np.ndarray[Any, Any]) -> Value:
    """Return the results of a call of a library: its value, then a workspace of zeros if any."""
    return (value, *map(zeros, i.shape.tuple_shapes[1:])) if i.shape.is_tuple else value


def _product_config(i: HloInstruction) -> dict[str, Any] | None:
    """Return the configuration of a cuBLAS product; None if it does not determine the value."""
    try:
        given = json_config(i)["gemm_backend_config"]
        epilogue, beta = given.get("epilogue", "DEFAULT"), float(given.get("beta", 0))
        count = 2 + (beta != 0) + ("BIAS" in epilogue)
        said = (
            "dot_dimension_numbers" in given
            and float(given.get("alpha_imag", 0)) == 0
            and epilogue in _EPILOGUES
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return given if said and len(i.operands) == count else None


_ACTIVATIONS = ("kNone", "kRelu", "kRelu6", "kElu", "kLeakyRelu")


@evaluates_custom_call("__cudnn$convForward", "__cudnn$convBiasActivationForward")
def library_convolution(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Return the activation of scale * convolution + side scale * side input + bias, rounded once.

    The workspace is zeros. Operands are the input, the filter, then the bias of each output
    feature and a side input. Source: CudnnConvBackendConfig of XLA's backend_configs.proto.
    """
    config = _convolution_config(i)
    if config is None:
        raise UnsupportedOpcodeError(
            "custom-call",
            f"%{i.name} is a convolution of cuDNN with an incomplete configuration: it needs "
            "window, dim_labels and "
            "cudnn_conv_backend_config with an activation_mode that is one of "
            f"{', '.join(_ACTIVATIONS)}",
            "take the module before the pass conv-rewriter, where it is a convolution",
        )
    shape = i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape
    wide = shape.element_type if shape.element_type.bits >= 32 else PRIMITIVE_TYPES["f32"]
    made = convolution(_plain_convolution(i, shape.with_element_type(wide)), operands, evaluator)
    result = float(config.get("conv_result_scale", 1)) * made
    if len(operands) > 3:
        result = result + float(config.get("side_input_scale", 0)) * operands[3].astype(wide.dtype)
    if len(operands) > 2:
        sizes = [1] * shape.rank
        sizes[i.attributes["dim_labels"].output_feature] = -1
        result = result + operands[2].astype(wide.dtype).reshape(sizes)
    value = _activated(result, config).astype(shape.element_type.dtype)
    return _with_workspace(i, value)


def _plain_convolution(i: HloInstruction, shape: Shape, **changes: Any) -> HloInstruction:
    """Return the convolution that a call's attributes state, apart from a computation."""
    known = ("window", "dim_labels", "feature_group_count", "batch_group_count")
    stated = {name: i.attributes[name] for name in known if name in i.attributes}
    attributes = attributes_of({**stated, **changes})
    return new_instruction(i.id, i.name, opcode("convolution"), shape, i.operands[:2], attributes)


@evaluates_custom_call("DynamicConvolutionForward")
def dynamic_convolution(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Return a convolution whose padding follows from the sizes of its operands at run time.

    Source: dynamic_padder.cc (RewriteDynamicConvolutionForward), padding.cc (MakePadding).
    """
    if not {"window", "dim_labels"} <= set(i.attributes) or len(operands) != 2:
        raise EvaluationError(
            f"%{i.name} must have an input, a filter, window and dim_labels",
            "take the module before XLA's passes",
        )
    window, labels = i.attributes["window"], i.attributes["dim_labels"]
    padding = str(i.attributes.get("padding_type", "PADDING_INVALID"))
    if padding != "PADDING_INVALID":
        x, w = operands
        dimensions = []
        for d, size, kernel in zip(
            window.dimensions,
            [x.shape[k] for k in labels.input_spatial],
            [w.shape[k] for k in labels.kernel_spatial],
            strict=True,
        ):
            missing = 0
            if padding == "PADDING_SAME":
                covered = (-(-size // d.stride) - 1) * d.stride + (kernel - 1) * d.window_dilation
                missing = max(covered + 1 - size, 0)
            low = missing // 2
            dimensions.append(d._replace(size=kernel, padding_low=low, padding_high=missing - low))
        window = window._replace(dimensions=tuple(dimensions))
    return convolution(_plain_convolution(i, i.shape, window=window), operands, evaluator)


def _activated(x: Any, config: dict[str, Any]) -> Any:
    mode = config.get("activation_mode", "kNone")
    if mode in ("kRelu", "kRelu6"):
        return np.clip(x, 0, 6 if mode == "kRelu6" else np.inf)
    if mode == "kElu":
        return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))
    if mode == "kLeakyRelu":
        return np.where(x > 0, x, float(config.get("leakyrelu_alpha", 0)) * x)
    return x


def _convolution_config(i: HloInstruction) -> dict[str, Any] | None:
    """Return the configuration of a cuDNN convolution; None if it does not determine the value."""
    try:
        given = json_config(i)["cudnn_conv_backend_config"]
        said = (
            {"window", "dim_labels"} <= set(i.attributes)
            and given.get("activation_mode", "kNone") in _ACTIVATIONS
            and not given.get("serialized_graph")
            and not given.get("reordered_int8_nchw_vect")
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return given if said and 2 <= len(i.operands) <= 4 else None
