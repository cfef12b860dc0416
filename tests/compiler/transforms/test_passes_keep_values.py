"""Each pass alone on the smallest program that it changes: its effect, and kept values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.evaluator import evaluate, evaluate_replicated, flatten_value
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text import parse_hlo

ADD = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
ADD_BF16 = ADD.replace("f32", "bf16")
GE = "ge {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GE\n}\n"
LESS = (
    "less {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = s32[] parameter(2)\n d = s32[] parameter(3)\n"
    " ROOT l = pred[] compare(a, b), direction=LT\n}\n"
)
LOOP = (
    "body {\n p = (s32[], f32[3], f32[3]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n k = f32[3] get-tuple-element(p), index=1\n"
    " x = f32[3] get-tuple-element(p), index=2\n one = s32[] constant(1)\n j = s32[] add(i, one)\n y = f32[3] add(x, k)\n"
    " ROOT t = (s32[], f32[3], f32[3]) tuple(j, k, y)\n}\n"
    "condition {\n p = (s32[], f32[3], f32[3]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(5)\n"
    " ROOT c = pred[] compare(i, n), direction=LT\n}\n"
)
WHILE = (
    "z = s32[] constant(0)\nk = f32[3] constant({1, 2, 3})\nx = f32[3] parameter(0)\ni = (s32[], f32[3], f32[3]) tuple(z, k, x)\n"
    "ROOT w = (s32[], f32[3], f32[3]) while(i), condition=condition, body=body"
)
BRANCHES = "yes {\n x = f32[3] parameter(0)\n ROOT n = f32[3] negate(x)\n}\nno {\n x = f32[3] parameter(0)\n ROOT n = f32[3] exponential(x)\n}\n"
SCAN = "step {\n x = f32[] parameter(0)\n c = f32[] parameter(1)\n s = f32[] add(x, c)\n ROOT t = (f32[], f32[]) tuple(s, s)\n}\n"
TRIANGULAR = "x = f32[2,4,4] parameter(0)\ny = f32[2,4,4] parameter(1)\nd = f32[2,4,4] constant({DIAGONAL})\na = f32[2,4,4] add(x, d)\n"
DIAGONAL = (
    "{"
    + ", ".join(
        [
            "{"
            + ", ".join(
                ["{" + ", ".join([str(9 * (r == c)) for c in range(4)]) + "}" for r in range(4)]
            )
            + "}"
        ]
        * 2
    )
    + "}"
)
TRIANGULAR = TRIANGULAR.replace("{DIAGONAL}", DIAGONAL)


class Case(NamedTuple):
    """Passes, entry body, computations, an opcode removed by the passes, one left by them."""

    passes: str
    body: str
    before: str = ""
    gone: str = ""
    there: str = ""


GATHER = "x = f32[4,5] parameter(0)\ni = s32[3] parameter(1)\nROOT g = f32[2,3] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, "
GATHER += "start_index_map={1}, index_vector_dim=1, slice_sizes={2,1}"
SCATTER = (
    "x = f32[4,5] parameter(0)\ni = s32[3] parameter(1)\nu = f32[2,3] parameter(2)\nROOT g = f32[4,5] scatter(x, i, u), "
    "update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add"
)
BATCHED = (
    "x = f32[3,5] parameter(0)\ni = s32[3,2,1] parameter(1)\nROOT g = f32[3,2] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, "
    "start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}"
)
NORM = "x = f32[2,3] parameter(0)\na = f32[3] parameter(1)\nb = f32[3] parameter(2)\nc = f32[3] parameter(3)\nv = f32[3] constant({1, 2, 3})\ny = f32[2,3] parameter(4)\n"
RAGGED = "g = s32[3] constant({2, 0, 5})\n"
CASES = [
    Case(
        "ragged-dot-rewriter",
        f"x = f32[9,4] parameter(0)\nw = f32[3,4,5] parameter(1)\n{RAGGED}ROOT r = f32[9,5] ragged-dot(x, w, g), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
        gone="ragged-dot",
        there="dot",
    ),
    Case(
        "ragged-dot-rewriter",
        f"x = f32[6,9] parameter(0)\nw = f32[9,5] parameter(1)\n{RAGGED}ROOT r = f32[3,6,5] ragged-dot(x, w, g), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={0}, lhs_ragged_dims={1}",
        gone="ragged-dot",
        there="dot",
    ),
    Case(
        "ragged-dot-rewriter",
        f"x = f32[9,2,4] parameter(0)\nw = f32[9,4,5] parameter(1)\n{RAGGED}ROOT r = f32[9,2,5] ragged-dot(x, w, g), lhs_batch_dims={{0}}, "
        "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={0}",
        gone="ragged-dot",
        there="dot",
    ),
    Case(
        "cholesky_expander",
        "x = f32[3,3] constant({{4,1,0},{1,5,2},{0,2,6}})\nROOT r = f32[3,3] cholesky(x), lower=true",
        gone="cholesky",
    ),
    Case(
        "cholesky_expander",
        "x = c64[2,2] constant({{(4,0),(1,-1)},{(1,1),(5,0)}})\nROOT r = c64[2,2] cholesky(x), lower=false",
        gone="cholesky",
    ),
    *[
        Case(
            "triangular_solve_expander",
            TRIANGULAR
            + f"ROOT r = f32[2,4,4] triangular-solve(a, y), left_side={left}, lower={lower}, "
            f"unit_diagonal={unit}, transpose_a={how}",
            gone="triangular-solve",
        )
        for left, lower, unit, how in [
            ("true", "true", "false", "NO_TRANSPOSE"),
            ("false", "true", "true", "TRANSPOSE"),
            ("true", "false", "false", "ADJOINT"),
            ("false", "false", "false", "NO_TRANSPOSE"),
        ]
    ],
    *[
        Case(
            "rng-bit-generator-expander",
            f"s = u64[2] constant({{12345678901234567, 18446744073709551614}})\n"
            f"ROOT r = (u64[2], {shape}) rng-bit-generator(s), algorithm={how}",
            gone="rng-bit-generator",
        )
        for how in ("rng_philox", "rng_three_fry")
        for shape in ("u32[3,5]", "u64[7]", "u8[4]", "s32[]")
    ],
    Case("gather_expander", GATHER, gone="gather", there="while"),
    Case("gather_simplifier", GATHER, there="transpose"),
    Case("batched_gather_scatter_normalizer", BATCHED, there="concatenate"),
    Case("scatter_expander", SCATTER, ADD, gone="scatter", there="while"),
    Case("scatter_determinism_expander", SCATTER, ADD, gone="scatter"),
    Case("scatter_simplifier", SCATTER, ADD, there="reshape"),
    Case(
        "select_and_scatter_expander",
        "x = f32[6] parameter(0)\ns = f32[3] parameter(1)\nz = f32[] constant(0)\n"
        "ROOT r = f32[6] select-and-scatter(x, s, z), window={size=2 stride=2}, select=ge, scatter=add",
        ADD + GE,
        gone="select-and-scatter",
    ),
    *[
        Case(
            "reduce-window-rewriter",
            f"x = f32[3,{n}] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[3,{n}] reduce-window(x, z), "
            f"window={{size=1x{n} pad=0_0x{pad}}}, to_apply=add",
            ADD,
        )
        for n in (17, 300)
        for pad in (f"{n - 1}_0", f"0_{n - 1}")
    ],
    Case(
        "scan_expander",
        "x = f32[5] parameter(0)\nz = f32[] parameter(1)\nROOT s = (f32[5], f32[]) scan(x, z), dimensions={0}, num_carries=1, "
        "is_reverse=true, to_apply=step",
        SCAN,
        gone="scan",
    ),
    *[
        Case(
            "scan_expander",
            f"x = f32[{n}] parameter(0)\nz = f32[] parameter(1)\nROOT s = {result} scan(x, z), dimensions={{0}}, num_carries=1, to_apply={step}",
            SCAN
            + "last { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n",
            gone="scan",
        )
        for n in (0, 1, 5)
        for result, step in ((f"(f32[{n}], f32[])", "step"), ("(f32[])", "last"), ("f32[]", "last"))
    ],
    Case(
        "scan_expander",
        "x = f32[3] parameter(0)\nROOT s = (f32[3]) scan(x), dimensions={0}, num_carries=0, to_apply=twice",
        "twice { a = f32[] parameter(0)\n b = f32[] add(a, a)\n ROOT t = (f32[]) tuple(b) }\n",
        gone="scan",
    ),
    Case(
        "bitcast_dtypes_expander",
        "x = s32[3] parameter(0)\nROOT r = s16[3,2] bitcast-convert(x)",
        there="shift-right-logical",
    ),
    Case(
        "bitcast_dtypes_expander",
        "x = u8[3,4] parameter(0)\nROOT r = s32[3] bitcast-convert(x)",
        there="reduce",
    ),
    Case(
        "comparison-expander",
        "x = f32[4] constant({0, -0, nan, -1})\ny = f32[4] constant({-0, 0, 1, -inf})\n"
        "ROOT r = pred[4] compare(x, y), direction=LT, type=TOTALORDER",
        there="bitcast-convert",
    ),
    Case(
        "stochastic_convert_decomposer",
        "x = f32[5] constant({1.5, -2.3, 200, -500, 0.1})\ny = u32[5] constant({1, 2147483648, 5, 6, 4294967295})\n"
        "ROOT r = s8[5] stochastic-convert(x, y)",
        gone="stochastic-convert",
    ),
    Case(
        "topk-decomposer",
        "x = f32[3,7] parameter(0)\nROOT r = (f32[3,2], s32[3,2]) topk(x), k=2, largest=false",
        gone="topk",
        there="sort",
    ),
    Case(
        "custom-call-expander",
        'x = f32[3,7] parameter(0)\nROOT r = (f32[3,2], s32[3,2]) custom-call(x), custom_call_target="TopK"',
        gone="custom-call",
        there="topk",
    ),
    *[
        Case(
            "custom-call-expander",
            f'x = f32[3] parameter(0)\nROOT r = f32[3] custom-call(x), custom_call_target="{name}"',
            gone="custom-call",
        )
        for name in (
            "Sharding",
            "annotate_device_placement",
            "MoveToHost",
            "LayoutConstraint",
            "xla.sdy.FuncResultSharding",
        )
    ],
    Case(
        "batchnorm_expander",
        NORM
        + "ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-training(x, a, b), epsilon=0.01, feature_index=1",
    ),
    Case(
        "batchnorm_expander",
        NORM
        + "ROOT r = f32[2,3] batch-norm-inference(x, a, b, c, v), epsilon=0.01, feature_index=1",
    ),
    Case(
        "batchnorm_expander",
        NORM
        + "ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-grad(x, a, c, v, y), epsilon=0.01, feature_index=1",
    ),
    Case(
        "cse_barrier_expander",
        "x = f32[3] parameter(0)\nb = f32[3] opt-barrier(x)\nROOT n = f32[3] negate(b)",
        gone="opt-barrier",
    ),
    Case(
        "dynamic-index-splitter",
        "x = f32[4,5] parameter(0)\ni = s32[2] parameter(1)\nROOT d = f32[2,2] dynamic-slice(x, i), dynamic_slice_sizes={2,2}",
        there="reshape",
    ),
    Case(
        "map-inline",
        "x = f32[3] parameter(0)\ny = f32[3] parameter(1)\nROOT m = f32[3] map(x, y), dimensions={0}, to_apply=add",
        ADD,
        gone="map",
    ),
    Case(
        "float-normalization-bf16",
        "x = bf16[7] parameter(0)\ny = bf16[7] multiply(x, x)\nz = bf16[] constant(0)\n"
        "ROOT r = bf16[] reduce(y, z), dimensions={0}, to_apply=add",
        ADD_BF16,
        there="convert",
    ),
    Case(
        "float-normalization-bf16",
        "x = bf16[4] parameter(0)\na = bf16[4] add(x, x)\nb = f32[4] convert(a)\nROOT t = (f32[4], bf16[4]) tuple(b, a)",
        there="convert",
    ),
    Case(
        "float-normalization-s4",
        "x = s4[6] parameter(0)\nROOT r = s4[6] add(x, x)",
        there="convert",
    ),
    Case(
        "convert-mover",
        "x = f32[3,7] parameter(0)\nt = f32[7,3] transpose(x), dimensions={1,0}\nROOT r = f16[7,3] convert(t)",
        there="transpose",
    ),
    Case(
        "simplify-sorts",
        "x = f32[6] parameter(0)\ny = s32[6] parameter(1)\ns = (f32[6], s32[6]) sort(x, y), dimensions={0}, to_apply=less\n"
        "ROOT g = f32[6] get-tuple-element(s), index=0",
        LESS,
        gone="get-tuple-element",
    ),
    Case(
        "stable-sort-expander",
        "x = f32[6] constant({1, 0, 1, 0, 1, 0})\ny = s32[6] constant({0, 1, 2, 3, 4, 5})\n"
        "ROOT s = (f32[6], s32[6]) sort(x, y), dimensions={0}, is_stable=true, to_apply=less",
        LESS,
        there="iota",
    ),
    Case(
        "dot_decomposer",
        "x = f32[2,3,4,5] parameter(0)\ny = f32[5,4,2,6] parameter(1)\nROOT r = f32[2,3,6] dot(x, y), lhs_batch_dims={0}, "
        "rhs_batch_dims={2}, lhs_contracting_dims={2,3}, rhs_contracting_dims={1,0}",
        there="reshape",
    ),
    Case(
        "batch-dot-simplification",
        "x = f32[1,3] parameter(0)\ny = f32[1,3] parameter(1)\nROOT r = f32[1] dot(x, y), lhs_batch_dims={0}, "
        "rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        there="reshape",
    ),
    Case(
        "dot-merger",
        "x = f32[2,5] parameter(0)\ny = f32[5,3] parameter(1)\nz = f32[5,4] parameter(2)\na = f32[2,3] dot(x, y), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}\nb = f32[2,4] dot(x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "ROOT t = (f32[2,3], f32[2,4]) tuple(a, b)",
        there="concatenate",
    ),
    Case(
        "dot-strength-reduction",
        "x = f32[5,2] parameter(0)\ny = f32[5,2,7] parameter(1)\nROOT a = f32[2,7] dot(x, y), lhs_batch_dims={1}, "
        "rhs_batch_dims={1}, lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        gone="dot",
        there="reduce",
    ),
    Case(
        "gemv-rewriter",
        "x = f32[7,5] parameter(0)\ny = f32[5] parameter(1)\nROOT a = f32[7] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        there="reshape",
    ),
    Case(
        "operand_upcaster",
        "x = s8[3] parameter(0)\ny = s8[3] parameter(1)\nROOT a = s64[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        there="convert",
    ),
    Case(
        "convolution-canonicalization",
        "x = f32[2,3,5] parameter(0)\nk = f32[4,3,2] parameter(1)\nROOT c = f32[2,4,4] convolution(x, k), window={size=2}, "
        "dim_labels=bf0_oi0->bf0",
        there="transpose",
    ),
    Case(
        "broadcast_canonicalizer",
        "x = f32[2,3,4] parameter(0)\nROOT s = f32[4,9,2,3] broadcast(x), dimensions={2,3,0}",
        there="transpose",
    ),
    Case(
        "tree_reduction_rewriter",
        "x = f32[100,7] parameter(0)\nz = f32[] constant(0)\nROOT s = f32[7] reduce(x, z), dimensions={0}, to_apply=add",
        ADD,
        there="reduce-window",
    ),
    Case(
        "reduction-degenerate-dim-remover",
        "x = f32[2,1,4,1] parameter(0)\nz = f32[] constant(0)\nROOT s = f32[2,1] reduce(x, z), dimensions={1,2}, to_apply=add",
        ADD,
        there="reshape",
    ),
    Case(
        "reduction-dimension-grouper",
        "x = f32[2,3,4,5] parameter(0)\nz = f32[] constant(0)\nROOT s = f32[2,3] reduce(x, z), dimensions={2,3}, to_apply=add",
        ADD,
        there="reshape",
    ),
    Case(
        "reduction-splitter",
        "x = f32[16,20,30] parameter(0)\nz = f32[] constant(0)\nROOT s = f32[20] reduce(x, z), dimensions={0,2}, to_apply=add",
        ADD,
        there="reduce",
    ),
    Case(
        "integer-products-in-floats",
        "x = s8[9,50] parameter(0)\ny = u8[50,7] parameter(1)\nw = s32[9,50] convert(x)\nv = s32[50,7] convert(y)\n"
        "a = s16[9,7] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "b = s32[9,7] dot(w, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT t = (s16[9,7], s32[9,7]) tuple(a, b)",
        there="convert",
    ),
    Case(
        "slice-sinker",
        "x = f32[8] parameter(0)\ny = f32[8] parameter(1)\na = f32[2] slice(x), slice={[0:2]}\nb = f32[6] slice(x), slice={[2:8]}\n"
        "c = f32[2] slice(y), slice={[0:2]}\nd = f32[6] slice(y), slice={[2:8]}\ne = f32[2] add(a, c)\nf = f32[6] add(b, d)\n"
        "ROOT t = (f32[2], f32[6]) tuple(e, f)",
    ),
    Case(
        "dynamic-dimension-simplifier",
        "x = s32[1] parameter(0)\ny = s32[1] parameter(1)\nc = s32[2] concatenate(x, y), dimensions={0}\n"
        "ROOT s = s32[1] slice(c), slice={[1:2]}",
        gone="slice",
    ),
    Case("while_loop_unroller", WHILE, LOOP, gone="while"),
    Case("while-loop-constant-sinking", WHILE, LOOP),
    Case("while-loop-trip-count-annotator", WHILE, LOOP),
    Case("small-while-loop-hoisting", WHILE, LOOP, there="call"),
    Case(
        "conditional-canonicalizer",
        "p = pred[] parameter(0)\nx = f32[3] parameter(1)\nROOT c = f32[3] conditional(p, x, x), true_computation=yes, "
        "false_computation=no",
        BRANCHES,
        there="get-tuple-element",
    ),
    Case(
        "computation-deduplicator",
        "x = f32[3] parameter(0)\nz = f32[] constant(0)\na = f32[] reduce(x, z), dimensions={0}, to_apply=add\n"
        "b = f32[] reduce(x, z), dimensions={0}, to_apply=other\nROOT t = (f32[], f32[]) tuple(a, b)",
        ADD + ADD.replace("add {", "other {"),
    ),
]

CASES += [
    Case(
        "dynamic_padder",
        "x = f32[5] parameter(0)\nn = s32[] constant(3)\nd = f32[<=5] set-dimension-size(x, n), dimensions={0}\ne = f32[<=5] exponential(d)\n"
        "z = f32[] constant(0)\na = f32[] reduce(e, z), dimensions={0}, to_apply=add\nb = f32[] reduce(x, z), dimensions={0}, to_apply=add\n"
        "ROOT t = (f32[], f32[]) tuple(a, b)",
        ADD,
        gone="set-dimension-size",
        there="select",
    ),
    *[
        Case(
            "convolution-group-converter",
            f"{operands}\nROOT c = f32[2,4,9] convolution(x, k), window={{size=2}}, dim_labels=b0f_0io->b0f, {groups}=3",
        )
        for operands, groups in [
            ("x = f32[2,5,6] parameter(0)\nk = f32[2,2,9] parameter(1)", "feature_group_count"),
            ("x = f32[6,5,4] parameter(0)\nk = f32[2,4,9] parameter(1)", "batch_group_count"),
        ]
    ],
    Case(
        "while-loop-expensive-invariant-code-motion",
        "z = s32[] constant(0)\nx = f32[3,3] parameter(0)\ni = (s32[], f32[3,3], f32[3,3]) tuple(z, x, x)\n"
        "ROOT w = (s32[], f32[3,3], f32[3,3]) while(i), condition=condition, body=body",
        LOOP.replace("f32[3]", "f32[3,3]").replace(
            "y = f32[3,3] add(x, k)",
            "m = f32[3,3] dot(k, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n y = f32[3,3] add(x, m)",
        ),
        there="dot",
    ),
    Case(
        "simplify-fp-conversions",
        "x = f32[3] parameter(0)\nb = f16[3] convert(x)\nc = f32[3] convert(b)\nROOT d = f16[3] convert(c)",
    ),
    Case(
        "convolution-pred-expander",
        "x = pred[2,5,6] parameter(0)\nk = pred[2,6,9] parameter(1)\n"
        "ROOT c = pred[2,4,9] convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f",
        there="convert",
    ),
    Case(
        "convert_operand_folding",
        "x = s8[3,10] parameter(0)\na = s32[3,10] convert(x)\nb = s32[3,2,5] reshape(a)\nc = s32[2,5,3] transpose(b), dimensions={1,2,0}\n"
        "d = s32[2,1,3] slice(c), slice={[0:2], [2:3], [0:3]}\ne = s32[2,3] reshape(d)\ny = s8[1,3,2] parameter(1)\n"
        "f = s32[1,3,2] convert(y)\nz = s32[] constant(0)\ng = s32[3,2] reduce(f, z), dimensions={0}, to_apply=sum\n"
        "ROOT r = s32[2,2] dot(e, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "sum {\n p = s32[] parameter(0)\n q = s32[] parameter(1)\n ROOT s = s32[] add(p, q)\n}\n",
        there="dot",
    ),
    *[
        Case(
            "reshape-decomposer",
            f"x = {before} parameter(0)\nROOT r = {after} reshape(x)",
            gone="reshape",
            there=there,
        )
        for before, after, there in [
            ("f32[4,2,3]{0,1,2}", "f32[8,3]{1,0}", "copy"),
            ("f32[8,3]{1,0}", "f32[4,2,3]{0,1,2}", "copy"),
            ("f32[4,6]{0,1}", "f32[3,8]{0,1}", "copy"),
            ("f32[2,2]{1,0}", "f32[1,2,1,2]{3,1,2,0}", "bitcast"),
        ]
    ],
    *[
        Case(
            "layout_normalization",
            "x = f32[3,4,5]{0,2,1} parameter(0)\n" + body,
            ADD,
            there="bitcast",
        )
        for body in [
            "y = f32[3,4,5]{0,2,1} parameter(1)\na = f32[3,4,5]{0,2,1} add(x, y)\nROOT b = f32[3,4,5]{0,2,1} tanh(a)",
            "ROOT c = f32[3,4,5]{1,0,2} copy(x)",
            "ROOT c = f32[5,3,4]{1,2,0} transpose(x), dimensions={2,0,1}",
            "ROOT c = f32[3,7,4,5]{1,0,3,2} broadcast(x), dimensions={0,2,3}",
            "i = f32[3,4,5]{0,2,1} iota(), iota_dimension=2\nROOT a = f32[3,4,5]{0,2,1} add(x, i)",
            "v = f32[] constant(7)\nROOT p = f32[6,4,13]{0,2,1} pad(x, v), padding=1_2x0_0x0_0_2",
            "ROOT s = f32[2,4,2]{0,2,1} slice(x), slice={[0:3:2], [0:4], [3:5]}",
            "ROOT r = f32[3,4,5]{0,2,1} reverse(x), dimensions={0,2}",
            "ROOT c = f32[3,8,5]{0,2,1} concatenate(x, x), dimensions={1}",
            "z = f32[] constant(0)\nROOT w = f32[3,3,5]{0,2,1} reduce-window(x, z), window={size=1x2x1}, to_apply=add",
            "i = s32[] parameter(1)\nj = s32[] parameter(2)\nk = s32[] parameter(3)\n"
            "ROOT d = f32[1,2,3]{0,2,1} dynamic-slice(x, i, j, k), dynamic_slice_sizes={1,2,3}",
            "i = s32[] parameter(1)\nj = s32[] parameter(2)\nk = s32[] parameter(3)\nu = f32[1,2,3]{0,2,1} parameter(4)\n"
            "ROOT d = f32[3,4,5]{0,2,1} dynamic-update-slice(x, u, i, j, k)",
            "ROOT r = f32[3,2,2,5]{0,3,2,1} reshape(x)",
            "k = f32[5,1,7]{0,1,2} parameter(1)\nROOT c = f32[3,4,7]{0,1,2} convolution(x, k), window={size=1}, dim_labels=b0f_i0o->b0f",
        ]
    ],
    *[
        Case(
            "move_copy_to_users",
            "x = f32[3,4,5]{2,1,0} parameter(0)\nc = f32[3,4,5]{0,1,2} copy(x)\n" + body,
            ADD,
        )
        for body in [
            "ROOT r = f32[3,4,5]{0,1,2} sqrt(c)",
            "y = f32[3,4,5]{2,1,0} parameter(1)\nd = f32[3,4,5]{0,1,2} copy(y)\nROOT r = f32[3,4,5]{0,1,2} add(c, d)",
            "v = f32[] constant(7)\nROOT p = f32[6,4,13]{0,1,2} pad(c, v), padding=1_2x0_0x0_0_2",
            "z = f32[] constant(0)\nROOT s = f32[3,5]{0,1} reduce(c, z), dimensions={1}, to_apply=add",
        ]
    ],
    Case(
        "slice-hoister",
        "x = f32[3,4] parameter(0)\ny = f32[3,4] parameter(1)\na = f32[3,4] add(x, y)\nt = f32[4,3] transpose(a), dimensions={1,0}\n"
        "ROOT s = f32[2,3] slice(t), slice={[0:3:2], [0:3]}",
    ),
    Case(
        "dot_dimension_sorter",
        "x = f32[2,3,4] parameter(0)\ny = f32[5,3,4] parameter(1)\n"
        "ROOT d = f32[2,5] dot(x, y), lhs_contracting_dims={2,1}, rhs_contracting_dims={2,1}",
    ),
    Case(
        "dot_dimension_merger",
        "x = f32[4,2,3,5] parameter(0)\ny = f32[2,3,4,6] parameter(1)\nROOT d = f32[2,3,5,6] dot(x, y), "
        "lhs_batch_dims={1,2}, rhs_batch_dims={0,1}, lhs_contracting_dims={0}, rhs_contracting_dims={2}",
        there="reshape",
    ),
    Case(
        "convolution_4d_expander",
        "x = f32[2,5,1,6,1,3] parameter(0)\nk = f32[2,1,3,1,3,4] parameter(1)\n"
        "ROOT c = f32[2,4,1,4,1,4] convolution(x, k), window={size=2x1x3x1}, dim_labels=b0123f_0123io->b0123f",
        there="reshape",
    ),
    *[
        Case("dynamic_padder", "n = s32[] constant(2)\n" + body, ADD)
        for body in [
            "x = f32[3,4] parameter(0)\na = f32[3,<=4] set-dimension-size(x, n), dimensions={1}\ni = s32[2] parameter(1)\n"
            "g = f32[2,<=4] gather(a, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}\n"
            "z = f32[] constant(0)\nROOT r = f32[2] reduce(g, z), dimensions={1}, to_apply=add",
            "x = f32[5,4] parameter(0)\ni = s32[3] parameter(1)\na = s32[<=3] set-dimension-size(i, n), dimensions={0}\n"
            "u = f32[3,4] parameter(2)\nb = f32[<=3,4] set-dimension-size(u, n), dimensions={0}\n"
            "ROOT s = f32[5,4] scatter(x, a, b), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
            "index_vector_dim=1, to_apply=add",
            "x = f32[4,4] parameter(0)\na = f32[<=4,4] set-dimension-size(x, n), dimensions={0}\n"
            "b = f32[<=4,<=4] set-dimension-size(a, n), dimensions={1}\nz = f32[] constant(0)\n"
            "ROOT r = f32[] reduce(b, z), dimensions={0,1}, to_apply=add",
        ]
    ],
    Case(
        "constant_folding",
        "x = f32[] parameter(0)\na = f32[] constant(3)\nb = f32[] constant(4)\nc = f32[] call(a, x, b), to_apply=f\n"
        "ROOT d = f32[] call(a, c, a), to_apply=f",
        "f {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n r = f32[] parameter(2)\n m = f32[] multiply(p, p)\n n = f32[] add(m, q)\n"
        " ROOT o = f32[] subtract(n, r)\n}\n",
        there="call",
    ),
    Case(
        "scatter_simplifier",
        "x = f32[] parameter(0)\ni = s32[0] parameter(1)\nu = f32[] parameter(2)\nROOT s = f32[] scatter(x, i, u), update_window_dims={}, "
        "inserted_window_dims={}, scatter_dims_to_operand_dims={}, index_vector_dim=0, to_apply=add",
        ADD,
        gone="scatter",
        there="add",
    ),
    Case(
        "element_type_converter{eliminate_type=f16}",
        "x = f16[3] parameter(0)\nROOT a = f16[3] add(x, x)",
        there="convert",
    ),
]


def values_for(shape: Shape, seed: int) -> Any:
    """Return normal floats and small integers."""
    kind, random = shape.element_type, np.random.default_rng(seed)
    if kind.is_float or kind.is_complex:
        return random.standard_normal(shape.dimensions).astype(kind.dtype)
    return random.integers(0, 2 if kind.is_pred else 4, shape.dimensions).astype(kind.dtype)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.passes)
def test_the_pass_rewrites_and_keeps_the_value(case: Case) -> None:
    module = parse_hlo(f"HloModule m\n{case.before}ENTRY e {{\n{case.body}\n}}\n")
    trace = optimize(module, case.passes, verify=True)
    assert trace.changed
    here = {i.opcode.name for i in trace.module.entry.instructions.values()}
    assert case.gone not in here and (not case.there or case.there in here)
    inputs = [values_for(shape, k) for k, shape in enumerate(module.parameter_shapes())]
    for a, b in zip(
        flatten_value(evaluate(module, *inputs)),
        flatten_value(evaluate(trace.module, *inputs)),
        strict=True,
    ):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind in "biu":
            assert (a == b).all()
        else:
            tolerance = 3e-2 if a.dtype.itemsize == 2 else 1e-4
            np.testing.assert_allclose(
                a.astype(np.complex128), b.astype(np.complex128), rtol=tolerance, atol=tolerance
            )


@pytest.mark.parametrize(
    "passes", sorted({case.passes for case in CASES} - {"map-inline", "dot_decomposer"})
)
def test_a_second_run_changes_nothing_more(passes: str) -> None:
    for case in [c for c in CASES if c.passes == passes]:
        module = parse_hlo(f"HloModule m\n{case.before}ENTRY e {{\n{case.body}\n}}\n")
        assert not optimize(optimize(module, passes).module, passes).changed


def test_rng_expander_draws_in_range() -> None:
    body = "a = f32[] constant(2)\nb = f32[] constant(5)\nROOT r = f32[1000] rng(a, b), distribution=rng_uniform"
    trace = optimize(
        parse_hlo(f"HloModule m\nENTRY e {{\n{body}\n}}\n"), "rng-expander", verify=True
    )
    drawn = np.asarray(evaluate(trace.module))
    assert trace.changed and drawn.min() >= 2 and drawn.max() < 5 and 3.3 < drawn.mean() < 3.7


def test_a_scan_whose_start_is_not_neutral_is_left_alone_with_the_reason() -> None:
    body = "x = f32[40,2] parameter(0)\nz = f32[] constant(1)\nROOT r = f32[40,2] reduce-window(x, z), window={size=40x1 pad=39_0x0_0}, to_apply=add"
    trace = optimize(
        parse_hlo(f"HloModule m\n{ADD}ENTRY e {{\n{body}\n}}\n"), "reduce-window-rewriter"
    )
    assert trace.journal is not None and not trace.changed
    assert [e.reason.code for e in trace.journal.events if e.verdict == "refused" and e.reason] == [
        "initial-value-not-neutral"
    ]


COLLECTIVE = "x = f32[8] parameter(0)\ny = f32[8] parameter(1)\n"
TWO_SUMS = (
    COLLECTIVE
    + "a = f32[8] all-reduce(x), replica_groups={}, to_apply=add\nb = f32[8] all-reduce(y), replica_groups={}, to_apply=add\n"
)


@pytest.mark.parametrize(
    ("passes", "body", "count"),
    [
        ("all-reduce-reassociate", TWO_SUMS + "ROOT s = f32[8] add(a, b)", 1),
        (
            "all-reduce-reassociate",
            TWO_SUMS
            + "c = f32[4] slice(a), slice={[0:4]}\nd = f32[4] slice(b), slice={[0:4]}\nROOT s = f32[4] add(c, d)",
            1,
        ),
        (
            "all-reduce-reassociate",
            TWO_SUMS + "c = f64[8] convert(a)\nd = f64[8] convert(b)\nROOT s = f64[8] add(c, d)",
            1,
        ),
        (
            "reorder-convert-reduce-add",
            TWO_SUMS + "c = f64[8] convert(a)\nd = f64[8] convert(b)\nROOT s = f64[8] add(c, d)",
            2,
        ),
        ("all-reduce-combiner", TWO_SUMS + "ROOT s = (f32[8], f32[8]) tuple(a, b)", 1),
        (
            "all-reduce-combiner{combine_threshold_in_bytes=40}",
            TWO_SUMS + "ROOT s = (f32[8], f32[8]) tuple(a, b)",
            2,
        ),
        (
            "all-reduce-simplifier",
            COLLECTIVE + "ROOT a = f32[8] all-reduce(x), replica_groups={{0},{1}}, to_apply=add",
            0,
        ),
        (
            "all-reduce-folder",
            COLLECTIVE + "a = f32[8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add\n"
            "ROOT b = f32[8] all-reduce(a), replica_groups={{0,2},{1,3}}, to_apply=add",
            1,
        ),
    ],
)
def test_collectives(passes: str, body: str, count: int) -> None:
    trace = optimize(parse_hlo(f"HloModule m\n{ADD}ENTRY e {{\n{body}\n}}\n"), passes, verify=True)
    assert [i.opcode.name for i in trace.module.entry.instructions.values()].count(
        "all-reduce"
    ) == count


OWN_PART = "r = u32[] replica-id()\nt = s32[4] constant({0, 2, 4, 6})\nd = s32[1] dynamic-slice(t, r), dynamic_slice_sizes={1}\ni = s32[] reshape(d)\n"
GROUPS = "replica_groups={{0,1,2,3}}"


@pytest.mark.parametrize(
    ("passes", "body", "there"),
    [
        (
            "reduce-scatter-creator",
            f"a = f32[8,3] all-reduce(x), {GROUPS}, to_apply=add\nROOT p = f32[2,3] dynamic-slice(a, i, z), dynamic_slice_sizes={{2,3}}",
            "reduce-scatter",
        ),
        (
            "reduce-scatter-creator",
            f"a = f32[8,3] all-reduce(x), {GROUPS}, to_apply=add\nb = f32[8,3,1] reshape(a)\n"
            "ROOT p = f32[2,3,1] dynamic-slice(b, i, z, z), dynamic_slice_sizes={2,3,1}",
            "reduce-scatter",
        ),
        (
            "all-gather-dynamic-slice-simplifier",
            f"y = f32[2,3] slice(x), slice={{[1:3], [0:3]}}\na = f32[8,3] all-gather(y), {GROUPS}, dimensions={{0}}\n"
            "ROOT p = f32[2,3] dynamic-slice(a, i, z), dynamic_slice_sizes={2,3}",
            "slice",
        ),
        (
            "all-gather-to-collective-permute-simplifier",
            f"y = f32[2,3] slice(x), slice={{[1:3], [0:3]}}\na = f32[8,3] all-gather(y), {GROUPS}, dimensions={{0}}\n"
            "u = s32[4] constant({2, 6, 0, 4})\ne = s32[1] dynamic-slice(u, r), dynamic_slice_sizes={1}\nj = s32[] reshape(e)\n"
            "ROOT p = f32[2,3] dynamic-slice(a, j, z), dynamic_slice_sizes={2,3}",
            "collective-permute",
        ),
    ],
)
def test_each_device_keeps_its_part(passes: str, body: str, there: str) -> None:
    entry = f"x = f32[8,3] parameter(0)\nz = s32[] constant(0)\n{OWN_PART}{body}"
    module = parse_hlo(f"HloModule m, replica_count=4\n{ADD}ENTRY e {{\n{entry}\n}}\n")
    trace = optimize(module, passes, verify=True)
    assert trace.changed and there in {
        i.opcode.name for i in trace.module.entry.instructions.values()
    }
    given = [
        [np.random.default_rng(k).standard_normal((8, 3)).astype(np.float32)] for k in range(4)
    ]
    for a, b in zip(
        evaluate_replicated(module, given), evaluate_replicated(trace.module, given), strict=True
    ):
        np.testing.assert_allclose(flatten_value(a)[0], flatten_value(b)[0], rtol=1e-6)


def test_parts_in_another_order_are_no_reduce_scatter() -> None:
    body = (
        f"x = f32[8,3] parameter(0)\nz = s32[] constant(0)\n{OWN_PART}".replace(
            "{0, 2, 4, 6}", "{2, 0, 4, 6}"
        )
        + f"a = f32[8,3] all-reduce(x), {GROUPS}, to_apply=add\nROOT p = f32[2,3] dynamic-slice(a, i, z), dynamic_slice_sizes={{2,3}}"
    )
    trace = optimize(
        parse_hlo(f"HloModule m, replica_count=4\n{ADD}ENTRY e {{\n{body}\n}}\n"),
        "reduce-scatter-creator",
    )
    assert trace.journal is not None and not trace.changed
    assert [e.reason.code for e in trace.journal.events if e.reason] == ["parts-out-of-order"]


@pytest.mark.parametrize(
    ("passes", "body"),
    [
        # Of four-bit elements two lie in a byte, of others one: a layout of the one is none for the
        # other.
        (
            "move_copy_to_users",
            "x = s8[3,4] parameter(0)\nc = s8[3,4]{0,1} copy(x)\nROOT r = s4[3,4]{0,1:E(4)} convert(c)",
        ),
        (
            "dot_dimension_merger",
            "x = s32[<=2,3,4,5] parameter(0)\ny = s32[<=2,3,5,6] parameter(1)\nROOT r = s32[<=2,3,4,6] dot(x, y), "
            "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}",
        ),
        (
            "slice-hoister",
            "x = f32[<=6,4] parameter(0)\nt = f32[4,<=6] transpose(x), dimensions={1,0}\nROOT r = f32[2,<=6] slice(t), slice={[0:2], [0:6]}",
        ),
    ],
)
def test_what_the_pass_does_not_know_stays(passes: str, body: str) -> None:
    assert not optimize(
        parse_hlo(f"HloModule m\nENTRY e {{\n{body}\n}}\n"), passes, verify=True
    ).changed


@pytest.mark.parametrize("kind", ["u8", "s8", "u32"])
def test_a_scatter_expands_whatever_the_indices_reach(kind: str) -> None:
    """The last place of 300 is no u8."""
    body = f"x = f32[300] parameter(0)\ni = {kind}[3] parameter(1)\nu = f32[3] parameter(2)\nROOT g = f32[300] scatter(x, i, u), "
    body += "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"
    module = parse_hlo(f"HloModule m\n{ADD}ENTRY e {{\n{body}\n}}\n")
    trace = optimize(module, "scatter_expander", verify=True)
    assert trace.changed
    dtype = module.parameter_shapes()[1].element_type.dtype
    given = (
        np.zeros(300, np.float32),
        np.array([7, np.iinfo(dtype).max, 7], dtype),
        np.ones(3, np.float32),
    )
    np.testing.assert_array_equal(evaluate(trace.module, *given), evaluate(module, *given))
