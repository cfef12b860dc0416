"""Reason codes of decisions about kernels: threads, cache blocks, vectors, who computes it.

Some codes refuse a step, others say why it was taken.
"""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

_THREADS = "compile with another threads=; more work a kernel makes more tasks"
_OWN_LOOP = "nothing to do: a loop of our own computes it"

PARALLEL = table(
    {
        "worth-threads": (
            "several threads share the work",
            "%fusion is about 80.0 us of work: 8 tasks for 2 threads",
            "compile with threads=1 for one thread",
        ),
        "too-little-work": (
            "distributing the work would take longer than the work",
            "%fusion is about 1.1 us of work; two tasks need 10 us",
            _THREADS,
        ),
        "operands-overlap": (
            "it writes where it reads",
            "%update writes where it reads: its steps depend on one another",
            "read another array",
        ),
        "not-partitioned": (
            "the kernel has no loop that can be partitioned into independent tasks",
            "the kernel of %sort has no loop that can be partitioned into 8 independent tasks",
            "nothing to do: its steps depend on each other",
        ),
    }
)

CACHE_BLOCKING = table(
    {
        "cache-blocking": (
            (
                "kernels that iterate over the same rows run block by block, so that a block "
                "stays in the cache"
            ),
            (
                "%a, %b iterate over the same rows: 16 blocks; every kernel runs on a block, "
                "which stays in the cache, before the next one"
            ),
            "nothing to do: the values are the same",
        ),
    }
)

_LLVM = "nothing to do: LLVM's optimiser may still vectorise it; look at session.remarks()"
VECTORS = table(
    {
        "written-in-vectors": (
            "the kernel's emitter chose the vectors",
            "%fusion: the kernel's emitter chose the vectors",
            "nothing to do: its loops are vectorised",
        ),
        "width-chosen-by-llvm": (
            "LLVM chooses the vector width of this target",
            "%fusion: LLVM chooses the vector width of this target",
            _LLVM,
        ),
        "operands-overlap": ("its arrays share memory", "%update: its arrays share memory", _LLVM),
        "tiny-kernel": (
            "the kernel is inlined into the code that calls it",
            "%add: the kernel is inlined into the code that calls it",
            "nothing to do: LLVM optimises both together",
        ),
        "scalar-loops": (
            "most loops of the kernel are scalar, because their iterations depend on each other",
            (
                "%sort: most loops of the kernel are scalar, because their iterations depend on "
                "each other"
            ),
            "nothing to do: its steps depend on each other",
        ),
        "left-to-llvm": (
            "LLVM vectorises the loops if it can",
            "%dot: LLVM vectorises the loops if it can",
            _LLVM,
        ),
    }
)

_TARGET = "describe another CPU: XLA_EXPLORER_TARGET=x86-64-v4"
VECTOR_WIDTH = table(
    {
        "no-vectors": (
            "the CPU has no vector registers, so the code is scalar",
            "generic has no vector registers, so the code is scalar",
            _TARGET,
        ),
        "narrower-vectors-requested": (
            "XLA_EXPLORER_TARGET requests vectors narrower than the registers",
            "vectors have 256 bits as requested; x86-64-v4 has registers of 512 bits",
            "leave prefer-256 out of XLA_EXPLORER_TARGET",
        ),
        "widest-registers": (
            "vectors fill the widest registers",
            "vectors have 256 bits, the widest registers of x86-64-v3",
            _TARGET,
        ),
    }
)

NATIVE_CODE = table(
    {
        "no-library": (
            "code for this target calls no library",
            "%dot: code for riscv64 calls no library",
            _OWN_LOOP,
        ),
        "type-differs": (
            "operand and product differ in type or shape",
            "%add must have the shape of the product, f32[8,8], got f64[8,8]",
            "convert the operand",
        ),
        "not-in-registers": (
            "the operation cannot be computed in the registers of a tile",
            "%sort (sort) cannot be computed in the registers of a tile",
            "nothing to do: it has a kernel of its own",
        ),
        "no-vectors": (
            "the target has no vector registers",
            "the target has no vector registers",
            _OWN_LOOP,
        ),
        "type-without-tile": (
            "no register tile multiplies this type",
            "no register tile for s64",
            "convert to a type that has tiles",
        ),
        "irregular-strides": (
            "the dimensions form no matrices without a copy",
            "the dimensions of %dot do not form matrices without a copy",
            "transpose the operand so that dimensions of a kind are adjacent",
        ),
        "empty-dot": (
            "the product has no multiply-add",
            "%dot has no multiply-add",
            "nothing to do: the result is zeros",
        ),
        "no-fused-multiply-add": (
            "the CPU has no fused multiply-add",
            "the target has no fused multiply-add",
            _OWN_LOOP,
        ),
        "too-few-rows-to-transpose": (
            "the product has too few rows to pay for transposing the right operand",
            "%dot has too few rows to pay for transposing its right operand",
            "store the right operand with contiguous rows",
        ),
        "dot-too-large": (
            "a copy of the right operand would be too large",
            "%dot would need 900 MiB for a copy of its right operand",
            "split the dot",
        ),
        "no-dot-product-instruction": (
            "the CPU has no dot-product instruction for the types",
            "the CPU has no dot-product instruction for s8 x u8",
            _OWN_LOOP,
        ),
        "product-too-skinny": (
            "the product is skinny: a copy of its operands does not pay",
            "%dot has 1 row",
            _OWN_LOOP,
        ),
        "sequential-kernel": (
            "the kernel is sequential code for a CPU",
            "%sort: the kernel of sort is sequential code for a CPU",
            "compile for the CPU",
        ),
        "opcode-not-emitted": (
            "the opcode has no native code, so the evaluator computes it",
            "%x: rng has no emitter yet",
            "write it with other operations, or add an emitter (README, how to add an opcode)",
        ),
        "shape-not-emitted": (
            "the shape is not an array",
            "expected an array, got token[]",
            "nothing to do: the evaluator computes it",
        ),
        "bitcast-changes-width": (
            "the bitcast changes the width or the number of elements",
            "%b makes f32[8] of f64[4]",
            "use bitcast-convert",
        ),
        "power-not-emitted": (
            "power of that type has no code yet",
            "%p: power of s4 has no emitter yet",
            "convert to s32 first",
        ),
        "reducer-not-emitted": (
            "the reducer contains an opcode without native code",
            "%reduce calls %f, whose sort has no emitter",
            "reduce by simpler operations",
        ),
        "variadic-reduce-inside-fusion": (
            "a reduce of several arrays must be the root of its kernel",
            "%argmax reduces several operands inside a fusion",
            "nothing to do: it has a kernel of its own",
        ),
        "complex-not-emitted": (
            "the opcode has no code for complex numbers yet",
            "%a: erf of complex numbers has no emitter yet",
            "split real and imag",
        ),
        "grouped-convolution": (
            "the convolution works in groups",
            "%conv works in groups",
            _OWN_LOOP,
        ),
        "features-not-contiguous": (
            "the features are not contiguous in memory",
            "the output features of %conv must be contiguous",
            "keep features as the minor dimension (b01f_01io->b01f)",
        ),
        "random-element-type": (
            "random bits have no code for this type",
            "%r generates random c64, which has no native code",
            "make u32, and convert",
        ),
        "custom-call-target": (
            "no native code implements the custom call's target for these operands",
            "%r: the custom call target my_target has no native code",
            (
                "implement it by @xe.hlo.evaluator.evaluates_custom_call, or write it with HLO "
                "operations"
            ),
        ),
        "random-algorithm": (
            "the generator's algorithm has no code",
            "%r: rng_default with a state of u32[3] has no native code",
            "use rng_philox or rng_three_fry",
        ),
        "row-too-long": (
            "rows are longer than the sort's 32-bit indices",
            "rows that %sort sorts must have fewer than 2**31 elements, got 5000000000",
            "sort in parts",
        ),
        "no-blas-routine": (
            "BLAS or LAPACK has no routine for the types",
            "BLAS has no routine for s32, s32 -> s32",
            _OWN_LOOP,
        ),
        "matrix-vector": (
            "a loop over a matrix-vector product reads the matrix only once",
            "%dot is a matrix-vector product; a vectorised loop reads the matrix once",
            "nothing to do: memory bandwidth is the limit",
        ),
        "register-tile-faster": (
            (
                "our register tiles are preferred to the library: they are faster in the mean of "
                "all shapes"
            ),
            "our tile of 6x2 accumulators computes %dot without a call, in about 9000 cycles",
            "nothing to do: it is the faster kernel; or compile for another target",
        ),
        "dot-too-small": (
            "a loop is faster than a library call",
            "4x4 by 4x4 is cheaper as a loop than as a library call",
            "batch several small dots",
        ),
        "library-faster": (
            "the library is estimated to be faster than a loop, or preferred by the user",
            "dpotrf is estimated at 8000 cycles, a loop at 9000",
            "compile for a target without libraries to see our kernel",
        ),
        "library-only": (
            (
                "only the library computes it: a custom call names its routine, or no loop is "
                "written, even if one is estimated to be faster"
            ),
            "LAPACK is estimated at 9000 cycles, a loop that sweeps the matrices 8 times at 8000",
            "nothing to do: the library is the only kernel",
        ),
        "foreign-function": (
            "a foreign function of this process is called by its address",
            "%call calls my_function, which is registered in this process",
            "nothing to do: it is called without Python",
        ),
        "no-register-tile": (
            "the library computes the product, register tiles cannot",
            "BLAS computes %dot, register tiles cannot",
            "nothing to do: the library is the only fast kernel",
        ),
        "no-fft-library": (
            "no callable library has an FFT",
            (
                "no library that %fft could call has an FFT; our own stages are estimated at "
                "90000 cycles"
            ),
            "nothing to do: our own stages compute it",
        ),
        "dilated-or-reversed": (
            "the input is dilated, or the window is reversed",
            "%conv dilates its input or reverses its window",
            _OWN_LOOP,
        ),
        "too-few-features": (
            "the convolution has too few features for a matrix product",
            "3 input and 4 output features are too few for a matrix product",
            _OWN_LOOP,
        ),
        "element-type-not-emitted": (
            "the element type has no native code yet",
            "f8e3m4 has no native code yet",
            "convert to f32 first",
        ),
        "shared-computation": (
            "a computation has several callers",
            "%f is called from several places",
            "nothing to do: the evaluator runs the module",
        ),
        "several-devices": (
            "the module is for several devices",
            "the module runs on 2 replicas of 1 partitions",
            "run it with xe.evaluate_replicated",
        ),
        "shape-changes": (
            "on one device the operand and the result must have one shape",
            "operand and result of %g must have one shape on one device",
            "run it on all devices",
        ),
        "other-devices": (
            "the instruction names other devices",
            "%p sends between devices {0,1}",
            "run it on all devices",
        ),
    },
    "layout-differs",
    "dynamic-dimension",
    "too-many-instructions",
)

CONSTANT_VALUES = table(
    {
        "elided-constant": (
            "the text has no values of the constant, so consecutive numbers replace them",
            (
                "%constant (f32[8]) has no values in the text ({...}); consecutive numbers "
                "replace them"
            ),
            "print the module with its constants: XLA's flag --xla_dump_large_constants",
        ),
    }
)
