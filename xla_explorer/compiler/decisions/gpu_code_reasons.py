"""Reason codes of GPU emitters: why an emitter refuses a kernel, and where constants are stored."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

_NEXT = "nothing to do: the next emitter writes it"
_ALIGN = "pad the minor dimension to a multiple of 8 elements"
_LARGER = "nothing to do for so small a product; batch several of them"

LAUNCH = table(
    {
        "another-emitter-forced": (
            "an override forces another emitter to write the kernel",
            "an override forces simt-dot to write %dot",
            "leave it out of force=",
        ),
        "not-one-block": (
            (
                "a loop is one persistent kernel only if one block can run all of its steps "
                "without barriers in them"
            ),
            (
                "%while: add_fusion (%add_fusion) needs more than 512 threads, a barrier or "
                "another stream"
            ),
            "nothing to do: its kernels are launched one by one, in a graph",
        ),
        # products
        "no-dot": ("the kernel contains no such product", "%add is not a dot", _NEXT),
        "no-epilogue": (
            "the instructions after the product are not elementwise",
            "%r (reduce) cannot be computed element by element from %dot",
            _NEXT,
        ),
        "type-not-of-tensor-cores": (
            "tensor cores do not multiply these types",
            "%dot: f64 x f64",
            "convert to bf16 or f16, or compile with tf32",
        ),
        "type-not-tiled": (
            "the kernel has no tiles in shared memory for these types",
            "%dot: no tiles of c64 x c64",
            _NEXT,
        ),
        "result-not-row-major": (
            "the result is not row-major, or is empty",
            "%dot is not row-major",
            "use a row-major result",
        ),
        "dot-is-no-matrix-product": (
            "an operand has more, or fewer, than one kept and one reduced dimension",
            "%dot must have one kept and one reduced dimension, got 2 and 1",
            "merge the dimensions by a reshape",
        ),
        "reduced-is-not-minor": (
            "the reduced dimension is not contiguous",
            "%dot: the reduced dimension of %rhs is not minor",
            "transpose the operand",
        ),
        "minor-dimension-is-batch": (
            "the batch dimension is the minor one",
            "%dot: neither the kept nor the reduced dimension is minor",
            "make the batch dimension the major one",
        ),
        "rows-not-aligned": (
            "rows are not aligned to 16 bytes",
            "%dot: rows of 30 bytes are not aligned",
            _ALIGN,
        ),
        "gpu-lacks-instruction": (
            "the GPU lacks the instruction",
            "wgmma is an instruction of sm_90a alone, not of sm_80",
            "compile for a newer target",
        ),
        "matrix-is-small": (
            "the product does not fill a tile",
            "%dot: 4 x 4 x 4 does not fill a tile of 16 x 16",
            _LARGER,
        ),
        "too-many-batch-dimensions": (
            "a tensor map has at most five dimensions",
            "%dot: a tensor map has five dimensions, 6 are needed",
            "merge batch dimensions",
        ),
        "warps-are-faster": (
            "a kernel of independent warps is estimated to be faster than one of warpgroups",
            "%dot: 9.1 us by warp groups, 8.2 us by warps",
            _NEXT,
        ),
        "neither-side-is-skinny": (
            "both sides have many rows",
            "%dot: 64 and 64 rows, a skinny product has at most 16",
            _NEXT,
        ),
        "short-sums": (
            "the reduced dimension is too short to be split over threads",
            "%dot sums 8 elements",
            _LARGER,
        ),
        "no-minor-dimension": (
            "neither dimension of the larger matrix is contiguous",
            "%dot: the kept or the reduced dimension of the larger matrix must be its minor one",
            "transpose the operand",
        ),
        # convolutions
        "empty-convolution": (
            "the convolution has no multiplication",
            "%conv has no multiplication",
            "nothing to do: the result is zeros",
        ),
        "too-many-phases": (
            (
                "the dilated convolution has too many phases (groups of outputs that use the "
                "same taps)"
            ),
            "the outputs of %conv use too many different sets of taps",
            _NEXT,
        ),
        "not-depthwise": (
            "the convolution is not depthwise",
            "%conv must have a feature_group_count above 1",
            _NEXT,
        ),
        "loop-is-faster": (
            "a loop is estimated to be faster than tiles",
            "%conv: 9.1 us by tiles, 8.2 us by a loop",
            _NEXT,
        ),
        # loops
        "not-transposed": (
            "no minor dimension is transposed",
            "%fusion transposes no minor dimension",
            _NEXT,
        ),
        "transposed-dimension-is-short": (
            "a dimension is too short for a tile",
            "%fusion: a dimension of 3 elements does not fill a tile",
            _NEXT,
        ),
        "shared-memory": (
            "the tiles exceed the shared memory of a block",
            "%fusion: 90000 bytes of shared memory, 49152 are there",
            _NEXT,
        ),
        # operations
        "element-type-not-emitted": (
            "the kernel does not support the element type",
            "%c: cholesky of c64",
            "convert the operand",
        ),
        "no-operation": (
            "the opcode has no kernel of its own",
            "%add: add has no kernels of its own",
            _NEXT,
        ),
        "record-too-large": (
            "a block cannot hold enough records in shared memory",
            "records that %sort sorts must have at most 1536 bytes, got 4096",
            "sort keys with indices",
        ),
        # reductions
        "no-reduction": ("the kernel contains no reduction", "%fusion has no reduction", _NEXT),
        "reduction-is-short": (
            "one thread reduces so few elements fastest",
            "%r combines at most 8 elements, one thread does it",
            _NEXT,
        ),
        "opcode-not-emitted": (
            "the opcode has no elemental code",
            "%s: sort has no elemental emitter",
            _NEXT,
        ),
        "reducer-not-known-associative": (
            "the reducer is not known to be associative and commutative",
            (
                "%r: %f is not known to be associative and commutative, so one thread does a "
                "whole result"
            ),
            "reduce by add, maximum, minimum, multiply, and, or",
        ),
        "no-scan": ("the kernel is not a scan", "%r is not a scan", _NEXT),
        "library-not-called": (
            "XLA would call a library here; this program has a kernel instead",
            (
                "%dot: XLA would call a library for this dot; it is a kernel here: cuBLAS is not "
                "installed"
            ),
            "install the library (xla-explorer doctor says how)",
        ),
    }
)

CONSTANT_MEMORY = table(
    {
        "constant-address-taken": (
            "an instruction other than a load uses the constant's address",
            "%k: an instruction other than a load uses its address",
            "nothing to do: the constant stays in global memory",
        ),
        "divergent-constant": (
            (
                "the lanes of a warp read different elements, which the constant bank serves one "
                "by one"
            ),
            "%k: a warp read 32 elements at a time, served in turn",
            "index the constant with a value that is uniform in a warp",
        ),
        "constant-bank-full": (
            "the constant bank is full",
            "%k: with its 60000 bytes all constants take 90000, the bank has 65536",
            "make the constant smaller",
        ),
    }
)
