"""Suggestions for mistyped names, and HLO names for the terms of other libraries.

Sources of the synonyms: the public functions of numpy, `jax.numpy` and `jax.lax`; the operations of
MLIR's dialects arith, math, tensor and tosa; LLVM's instructions and intrinsics; PyTorch's
operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# An opcode of HLO -> its names elsewhere, without prefixes such as `np.` or `arith.`.
_ELSEWHERE: Final = {
    "abs": "absolute fabs absf absi magnitude",
    "add": "addf addi fadd plus iadd",
    "all-reduce": "allreduce psum pmean cross-replica-sum",
    "all-gather": "allgather",
    "all-to-all": "alltoall",
    "and": "logical-and bitwise-and andi band land",
    "atan2": "arctan2",
    "acos": "arccos",
    "asin": "arcsin",
    "atan": "arctan",
    "acosh": "arccosh",
    "asinh": "arcsinh",
    "atanh": "arctanh",
    "bitcast-convert": "view bitcast-convert-type reinterpret reinterpret-cast",
    "broadcast": "broadcast-to broadcast-in-dim expand tile repeat splat full full-like ones zeros fill",
    "call": "invoke apply",
    "clamp": "clip bound relu6",
    "collective-permute": "ppermute pshuffle",
    "compare": ("cmp cmpf cmpi icmp fcmp eq ne lt le gt ge equal not-equal less less-equal greater "
    "greater-equal"),
    "concatenate": "concat cat stack hstack vstack append",
    "conditional": "cond if ifelse switch case branch",
    "constant": "const literal number",
    "convert": "cast astype convert-element-type to extf truncf sitofp fptosi trunc zext sext",
    "convolution": "conv conv2d conv1d conv3d conv-general-dilated convolve correlate",
    "copy": "clone",
    "cosine": "cos",
    "count-leading-zeros": "clz ctlz lzcnt",
    "custom-call": "ffi-call pure-callback extern",
    "divide": "div truediv true-divide divf divsi fdiv sdiv udiv quotient",
    "dot": "matmul mm bmm gemm gemv einsum tensordot inner dot-general linear",
    "dynamic-slice": "dynamic-index dynamic-slice-in-dim extract-slice",
    "dynamic-update-slice": "dynamic-update update-slice insert-slice",
    "exponential": "exp expf",
    "exponential-minus-one": "expm1",
    "fft": "ifft rfft irfft fftn",
    "gather": "take index-select embedding lookup take-along-axis index",
    "iota": "arange range linspace",
    "is-finite": "isfinite",
    "log": "ln logf",
    "log-plus-one": "log1p",
    "logistic": "sigmoid expit",
    "map": "vmap vectorize",
    "maximum": "max fmax maxf maxnum maxsi relu",
    "minimum": "min fmin minf minnum minsi",
    "multiply": "mul mulf muli fmul times mult",
    "negate": "neg negf fneg negative minus unary-minus",
    "not": "logical-not bitwise-not invert complement inv",
    "opt-barrier": "optimization-barrier barrier",
    "or": "logical-or bitwise-or ori bor lor",
    "popcnt": "popcount population-count ctpop bitcount",
    "power": "pow powf float-power",
    "reduce": "sum prod mean any all argmax argmin reduce-sum reduce-max reduce-min amax amin",
    "reduce-scatter": "psum-scatter",
    "reduce-window": "maxpool max-pool avgpool avg-pool pool pooling cumsum cumprod cumulative-sum",
    "remainder": "rem mod fmod modulo remf remsi srem frem",
    "reshape": "view-as flatten ravel squeeze unsqueeze expand-dims collapse-shape expand-shape",
    "reverse": "rev flip fliplr flipud",
    "rng": "random rand randn uniform normal random-uniform",
    "rng-bit-generator": "random-bits threefry philox",
    "round-nearest-even": "round rint roundeven nearbyint",
    "round-nearest-afz": "round-half-away",
    "rsqrt": "inverse-sqrt reciprocal-sqrt",
    "scatter": "put index-add scatter-add segment-sum index-update",
    "select": "where choose ternary iif mux",
    "shift-left": "shl lsl left-shift bitwise-left-shift lshift shli",
    "shift-right-arithmetic": "ashr sra right-shift rshift shrsi arithmetic-shift-right",
    "shift-right-logical": "lshr srl shrui logical-shift-right",
    "sign": "sgn signum copysign",
    "sine": "sin",
    "slice": "subset extract strided-slice narrow",
    "sort": "argsort lexsort order",
    "sqrt": "square-root sqrtf",
    "subtract": "sub subf subi fsub difference",
    "topk": "top-k argtopk",
    "transpose": "permute swapaxes moveaxis permute-dims",
    "triangular-solve": "solve-triangular trsm trsolve",
    "while": "while-loop for loop fori-loop for-loop",
    "xor": "logical-xor bitwise-xor xori bxor",
}  # fmt: skip
_SYNONYMS: Final = {word: name for name, words in _ELSEWHERE.items() for word in words.split()}


def nearest(word: str, known: Iterable[str], count: int = 3, cutoff: float = 0.6) -> list[str]:
    """List the known names that a word may mean: its HLO name first, then similar spellings.

    Parameters
    ----------
    word
        The misspelt name.
    known
        The existing names. `-` and `_` are equal here, so opcodes, builder methods and
        StableHLO's operations all match.
    count
        The most names to return.
    cutoff
        The least similarity of a spelling, from 0 to 1.

    Returns
    -------
    list of str
        Names out of `known`, best first; empty if none is near.

    Examples
    --------
    >>> nearest("matmul", ["multiply", "dot"])
    ['dot']
    >>> nearest("multply", ["multiply", "dot"])
    ['multiply']
    """
    import difflib  # a slow import, needed only for a mistake

    names = list(known)
    meant = _SYNONYMS.get(_plain(word).rpartition(".")[2])
    by_meaning = [name for name in names if _plain(name) == meant] if meant else []
    return list(
        dict.fromkeys([*by_meaning, *difflib.get_close_matches(word, names, count, cutoff)])
    )[:count]


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").strip("-%@")
