"""Reason codes of the kind `dot-library`: why XLA:CPU does not give an operation to YNNPACK."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

_OWN = "nothing to do: XLA writes the kernel itself"
_LARGER = "do more in one call: a larger batch, or several calls as one with jax.vmap"

LIBRARY = table(
    {
        "library-lacks-operation": (
            "the library lacks the operation",
            "the library has no select, as %s is",
            _OWN,
        ),
        "library-array-small": (
            "the arrays are too small to pay for a library call",
            "%r has 1280 elements, operands included; the library is called from 4096 on",
            _LARGER,
        ),
        "library-type": (
            "the library has no kernel for these element types",
            "the library has no dot of f16, f16 to f16, as %d is",
            "compute in f32, or in bf16",
        ),
        "library-layout": (
            "the library supports row-major arrays of few dimensions",
            (
                "%d has an array of shape f32[8,4]{0,1}; the library takes row-major ones of at "
                "most 8 dimensions"
            ),
            "store the array in the order of its reads, or merge dimensions",
        ),
        "library-matrix-vector": (
            "XLA itself emits matrix-vector products",
            "%d is a product with a vector (512x512x1), which XLA writes itself",
            "put several vectors into one matrix with jax.vmap",
        ),
        "library-dot-small": (
            "the product is too small",
            "%d is 4x4x4; the library is called from 8 on",
            _LARGER,
        ),
        "library-left-transposed": (
            "the left side is contracted along a dimension other than its last",
            "%d contracts its left side f32[128,512]{1,0} along 0, not along the last",
            (
                "swap the sides and transpose the result, or store the left side transposed; "
                "gradients of weights have this form"
            ),
        ),
        "library-reducer": (
            "the reduction is not a sum, maximum or minimum of one array",
            "%r is not a sum, maximum or minimum of one array",
            "write it as a sum, maximum or minimum, one for each array",
        ),
        "library-window": (
            "the windows overlap, are dilated, or there are too many dimensions",
            "the windows of %w overlap or are dilated",
            "pool with a stride as large as the window",
        ),
        "library-convolution-form": (
            "the convolution is not one of images with the features last",
            "%c is bf01_oi01->bf01 over 2 dimensions; the library takes b01f_01io->b01f",
            'use dimension_numbers=("NHWC", "HWIO", "NHWC") and batch_group_count=1',
        ),
        "library-convolution-narrow": (
            "the convolution has few features",
            "%c has 16 features; the library is called above 16",
            "nothing to do, or use more features: XLA computes it with Eigen",
        ),
        "library-convolution-grows": (
            "the result or the filter is larger than the input",
            "the result or the filter of %c is larger than its input",
            _OWN,
        ),
        "library-convolution-dilated": (
            "the input is dilated or the window reversed, as in gradients",
            "%c has a dilated input or a reversed window",
            _OWN,
        ),
        "library-dimensions": (
            "the operation permutes dimensions, reduces none, or pads between elements",
            "%b permutes the dimensions",
            _OWN,
        ),
        "library-kernel-already": (
            "the operand or reader is in a library kernel already",
            "%d is in a library kernel already",
            "nothing to do: the library computes it",
        ),
        "library-other-readers": (
            "instructions outside the library kernel need the operand",
            "%e is read outside of the library kernel of %sum too",
            "nothing to do: it must be in memory for them",
        ),
        "library-several-readers": (
            "the library kernel's result has several readers; such a kernel has one result",
            "%e has 2 readers; a library kernel has one result",
            "nothing to do: it must be in memory for all of them",
        ),
    }
)
