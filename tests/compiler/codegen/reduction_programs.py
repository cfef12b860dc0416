"""Small modules, one or a few kernels each: reductions, windows, products, regions and fusions."""

import ml_dtypes
import numpy as np

from tests.compiler.codegen.kernel_programs import fusion_program, program, values

# -- reductions ------------------------------------------------------------------------------------
for _name, _dims, _out in (
    ("rows", "{1}", "f32[37]"),
    ("columns", "{0}", "f32[53]"),
    ("all", "{0,1}", "f32[]"),
):
    program(
        f"reduce-{_name}",
        f"x = f32[37,53] parameter(0)\n z = f32[] constant(0)\n ROOT r = {_out} reduce(x, z), "
        f"dimensions={_dims}, to_apply=add_f32",
        np.abs(values(37, 53)),
        relative=1e-5,
    )
program(
    "reduce-middle",
    "x = f32[5,11,13] parameter(0)\n z = f32[] constant(-inf)\n a = f32[5,13] reduce(x, z), dimensions={1}, "
    "to_apply=max_f32\n"
    " b = f32[11] reduce(x, z), dimensions={0,2}, to_apply=max_f32\n ROOT r = (f32[5,13], f32[11]) tuple(a, b)",
    values(5, 11, 13),
)
program(
    "reduce-small",
    "x = f32[100,3] parameter(0)\n z = f32[] constant(0)\n a = f32[100] reduce(x, z), dimensions={1}, "
    "to_apply=add_f32\n"
    " ROOT b = f32[100] negate(a)",
    values(100, 3),
    relative=1e-6,
)
program(
    "reduce-long",
    "x = f32[3,20000] parameter(0)\n z = f32[] constant(1)\n ROOT r = f32[3] reduce(x, z), dimensions={1}, "
    "to_apply=add_f32",
    np.abs(values(3, 20000)),
    relative=1e-5,
)
program(
    "reduce-wide-columns",
    "x = f32[19,2100] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[2100] reduce(x, z), dimensions={0}, "
    "to_apply=add_f32",
    np.abs(values(19, 2100)),
    relative=1e-5,
)
program(
    "reduce-f16",
    "x = f16[7,600] parameter(0)\n z = f16[] constant(0)\n a = f16[7] reduce(x, z), dimensions={1}, "
    "to_apply=add_f16\n"
    " b = f16[600] reduce(x, z), dimensions={0}, to_apply=add_f16\n ROOT r = (f16[7], f16[600]) tuple(a, b)",
    np.abs(values(7, 600, dtype=np.float16)),
    relative=2e-2,
)
program(
    "reduce-bf16",
    "x = bf16[7,60] parameter(0)\n z = bf16[] constant(0)\n ROOT a = bf16[7] reduce(x, z), dimensions={1}, "
    "to_apply=add_bf16",
    np.abs(values(7, 60)).astype(ml_dtypes.bfloat16),
    relative=6e-2,
)
program(
    "reduce-integers",
    "x = s8[9,33] parameter(0)\n z = s8[] constant(127)\n a = s8[33] reduce(x, z), dimensions={0}, to_apply=min_s8\n"
    " y = s64[5,5] parameter(1)\n o = s64[] constant(3)\n b = s64[5] reduce(y, o), dimensions={1}, to_apply=mul_s64\n"
    " ROOT r = (s8[33], s64[5]) tuple(a, b)",
    values(9, 33, dtype=np.int8),
    values(5, 5, dtype=np.int64),
)
program(
    "reduce-pred",
    "x = pred[9,33] parameter(0)\n z = pred[] constant(true)\n a = pred[33] reduce(x, z), dimensions={0}, "
    "to_apply=and_pred\n"
    " b = pred[9] reduce(x, z), dimensions={1}, to_apply=and_pred\n ROOT r = (pred[33], pred[9]) tuple(a, b)",
    values(9, 33, dtype=np.bool_),
)
program(
    "reduce-complex",
    "x = c64[9,33] parameter(0)\n z = c64[] constant((0, 0))\n a = c64[33] reduce(x, z), dimensions={0}, "
    "to_apply=add_c64\n"
    " b = c64[9] reduce(x, z), dimensions={1}, to_apply=add_c64\n ROOT r = (c64[33], c64[9]) tuple(a, b)",
    values(9, 33, dtype=np.complex64),
    relative=1e-4,
)
program(
    "reduce-nan",
    "x = f32[3,40] parameter(0)\n z = f32[] constant(-inf)\n a = f32[3] reduce(x, z), dimensions={1}, "
    "to_apply=max_f32\n"
    " b = f32[40] reduce(x, z), dimensions={0}, to_apply=max_f32\n ROOT r = (f32[3], f32[40]) tuple(a, b)",
    np.where(np.arange(120).reshape(3, 40) == 47, np.float32(np.nan), values(3, 40)),
)
program(
    "reduce-empty",
    "x = f32[3,0] parameter(0)\n z = f32[] constant(5)\n a = f32[3] reduce(x, z), dimensions={1}, to_apply=add_f32\n"
    " b = f32[0] reduce(x, z), dimensions={0}, to_apply=add_f32\n ROOT r = (f32[3], f32[0]) tuple(a, b)",
    values(3, 0),
)
program(
    "reduce-nothing",
    "x = f32[3,4] parameter(0)\n z = f32[] constant(5)\n ROOT a = f32[3,4] reduce(x, z), dimensions={}, "
    "to_apply=add_f32",
    values(3, 4),
)
program(
    "reduce-initial-parameter",
    "x = f32[30] parameter(0)\n z = f32[] parameter(1)\n ROOT a = f32[] reduce(x, z), dimensions={0}, to_apply=max_f32",
    values(30),
    np.float32(0.5),
)
_TIES = np.array([[1, 3, 3, 2] * 5, [0, 0, 0, 0] * 5, [-1, -5, -1, -9] * 5], np.float32)
for _dims, _out in (("{1}", "[3]"), ("{0}", "[20]")):
    program(
        f"argmax-{_dims[1]}",
        "x = f32[3,20] parameter(0)\n i = s32[3,20] iota(), iota_dimension="
        + _dims[1]
        + "\n z = f32[] constant(-inf)\n n = s32[] constant(0)\n"
        f" ROOT r = (f32{_out}, s32{_out}) reduce(x, i, z, n), dimensions={_dims}, to_apply=argmax",
        _TIES,
    )
program(
    "reduce-general",
    "x = f32[4,6] parameter(0)\n z = f32[] constant(0.5)\n ROOT r = f32[4] reduce(x, z), dimensions={1}, "
    "to_apply=square_plus",
    values(4, 6) * 0.3,
    relative=1e-5,
)
program(
    "reduce-output-layout",
    "x = f32[4,6,5] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[4,5]{0,1} reduce(x, z), dimensions={1}, "
    "to_apply=add_f32",
    values(4, 6, 5),
    relative=1e-4,
)

# -- windows ---------------------------------------------------------------------------------------
program(
    "reduce-window-pool",
    "x = f32[2,8,8,3] parameter(0)\n z = f32[] constant(-inf)\n"
    " ROOT r = f32[2,4,4,3] reduce-window(x, z), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0}, "
    "to_apply=max_f32",
    values(2, 8, 8, 3),
)
program(
    "reduce-window-cumsum",
    "x = f32[3,17] parameter(0)\n z = f32[] constant(0)\n"
    " ROOT r = f32[3,17] reduce-window(x, z), window={size=1x17 pad=0_0x16_0}, to_apply=add_f32",
    values(3, 17),
    relative=1e-4,
)
program(
    "reduce-window-dilated",
    "x = f32[9,6] parameter(0)\n z = f32[] constant(0)\n"
    " ROOT r = f32[13,2] reduce-window(x, z), "
    "window={size=3x2 stride=1x2 pad=0_0x0_0 lhs_dilate=2x1 rhs_dilate=2x3}, to_apply=add_f32",
    values(9, 6),
    relative=1e-4,
)
program(
    "convolution-2d",
    "x = f32[2,7,8,3] parameter(0)\n k = f32[3,3,3,5] parameter(1)\n"
    " ROOT r = f32[2,4,4,5] convolution(x, k), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
    values(2, 7, 8, 3),
    values(3, 3, 3, 5),
    relative=1e-4,
)
program(
    "convolution-1d-dilated",
    "x = f32[2,3,9] parameter(0)\n k = f32[4,3,2] parameter(1)\n"
    " ROOT r = f32[2,4,17] convolution(x, k), window={size=2 pad=1_1 lhs_dilate=2 rhs_dilate=2 rhs_reversal=1}, "
    "dim_labels=bf0_oi0->bf0",
    values(2, 3, 9),
    values(4, 3, 2),
    relative=1e-4,
)
program(
    "convolution-groups",
    "x = f32[2,6,6,4] parameter(0)\n k = f32[2,2,2,6] parameter(1)\n"
    " ROOT r = f32[2,5,5,6] convolution(x, k), window={size=2x2}, dim_labels=b01f_01io->b01f, feature_group_count=2",
    values(2, 6, 6, 4),
    values(2, 2, 2, 6),
    relative=1e-4,
)
program(
    "convolution-depthwise",
    "x = f32[2,6,6,8] parameter(0)\n k = f32[3,3,1,8] parameter(1)\n"
    " ROOT r = f32[2,4,4,8] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=8",
    values(2, 6, 6, 8),
    values(3, 3, 1, 8),
    relative=1e-4,
)
program(
    "convolution-batch-groups",
    "x = f32[4,5,5,2] parameter(0)\n k = f32[2,2,2,6] parameter(1)\n"
    " ROOT r = f32[2,4,4,6] convolution(x, k), window={size=2x2}, dim_labels=b01f_01io->b01f, batch_group_count=2",
    values(4, 5, 5, 2),
    values(2, 2, 2, 6),
    relative=1e-4,
)
program(
    "convolution-f16",
    "x = f16[1,5,5,2] parameter(0)\n k = f16[2,2,2,3] parameter(1)\n"
    " ROOT r = f16[1,4,4,3] convolution(x, k), window={size=2x2}, dim_labels=b01f_01io->b01f",
    values(1, 5, 5, 2, dtype=np.float16),
    values(2, 2, 2, 3, dtype=np.float16),
    relative=2e-2,
)

# -- dot -------------------------------------------------------------------------------------------
program(
    "dot-matrix",
    "x = f32[7,9] parameter(0)\n y = f32[9,11] parameter(1)\n ROOT r = f32[7,11] dot(x, y), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    values(7, 9),
    values(9, 11),
    relative=1e-4,
)
program(
    "dot-transposed",
    "x = f32[9,7] parameter(0)\n y = f32[11,9] parameter(1)\n ROOT r = f32[7,11] dot(x, y), "
    "lhs_contracting_dims={0}, rhs_contracting_dims={1}",
    values(9, 7),
    values(11, 9),
    relative=1e-4,
)
program(
    "dot-batched",
    "x = f64[3,4,5] parameter(0)\n y = f64[3,6,5] parameter(1)\n"
    " ROOT r = f64[3,4,6] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={2}",
    values(3, 4, 5, dtype=np.float64),
    values(3, 6, 5, dtype=np.float64),
    relative=1e-12,
)
program(
    "dot-vectors",
    "x = f32[50] parameter(0)\n y = f32[50] parameter(1)\n m = f32[4,50] parameter(2)\n"
    " a = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n b = f32[4] dot(m, x), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    " c = f32[50,50] dot(x, y), lhs_contracting_dims={}, rhs_contracting_dims={}\n"
    " ROOT r = (f32[], f32[4], f32[50,50]) tuple(a, b, c)",
    values(50),
    values(50),
    values(4, 50),
    relative=1e-4,
)
program(
    "dot-integers",
    "x = s32[3,4] parameter(0)\n y = s32[4,5] parameter(1)\n ROOT r = s32[3,5] dot(x, y), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    values(3, 4, dtype=np.int32),
    values(4, 5, dtype=np.int32),
)
program(
    "dot-mixed",
    "x = s8[3,4] parameter(0)\n y = s8[4,5] parameter(1)\n ROOT r = s32[3,5] dot(x, y), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    values(3, 4, dtype=np.int8),
    values(4, 5, dtype=np.int8),
)
program(
    "dot-bf16",
    "x = bf16[3,40] parameter(0)\n y = bf16[40,5] parameter(1)\n ROOT r = bf16[3,5] dot(x, y), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    np.abs(values(3, 40)).astype(ml_dtypes.bfloat16),
    np.abs(values(40, 5)).astype(ml_dtypes.bfloat16),
    relative=2e-2,
)
program(
    "dot-complex",
    "x = c64[3,4] parameter(0)\n y = c64[4,5] parameter(1)\n ROOT r = c64[3,5] dot(x, y), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    values(3, 4, dtype=np.complex64),
    values(4, 5, dtype=np.complex64),
    relative=1e-4,
)
program(
    "dot-empty",
    "x = f32[3,0] parameter(0)\n y = f32[0,5] parameter(1)\n ROOT r = f32[3,5] dot(x, y), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    values(3, 0),
    values(0, 5),
)

# -- regions and fusions ---------------------------------------------------------------------------
program(
    "map",
    "x = f32[3,5] parameter(0)\n y = f32[3,5] parameter(1)\n ROOT r = f32[3,5] map(x, y), dimensions={0,1}, "
    "to_apply=square_plus",
    values(3, 5),
    values(3, 5),
    relative=1e-6,
)

fusion_program(
    "multi-output",
    """p = f32[4,6] parameter(0)
 q = f32[6] parameter(1)
 b = f32[4,6] broadcast(q), dimensions={1}
 s = f32[4,6] add(p, b)
 n = f32[4,6] negate(s)
 t = f32[6,4] transpose(s), dimensions={1,0}
 ROOT r = (f32[4,6], f32[4,6], f32[6,4]) tuple(s, n, t)""",
    """x = f32[4,6] parameter(0)
 y = f32[6] parameter(1)
 ROOT f = (f32[4,6], f32[4,6], f32[6,4]) fusion(x, y), kind=kLoop, calls=fc""",
    values(4, 6),
    values(6),
)
fusion_program(
    "reduce-with-producer",
    """p = f32[9,41] parameter(0)
 e = f32[9,41] exponential(p)
 z = f32[] constant(0)
 ROOT r = f32[9] reduce(e, z), dimensions={1}, to_apply=add_f32""",
    """x = f32[9,41] parameter(0)
 ROOT f = f32[9] fusion(x), kind=kInput, calls=fc""",
    values(9, 41),
    relative=1e-5,
)
fusion_program(
    "reduce-inside-loop",
    """p = f32[9,5] parameter(0)
 z = f32[] constant(0)
 s = f32[9] reduce(p, z), dimensions={1}, to_apply=add_f32
 b = f32[9,5] broadcast(s), dimensions={0}
 ROOT d = f32[9,5] divide(p, b)""",
    """x = f32[9,5] parameter(0)
 ROOT f = f32[9,5] fusion(x), kind=kLoop, calls=fc""",
    np.abs(values(9, 5)),
    relative=1e-5,
)
fusion_program(
    "constant-array",
    """p = f32[2,3] parameter(0)
 c = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})
 ROOT r = f32[2,3] multiply(p, c)""",
    """x = f32[2,3] parameter(0)
 ROOT f = f32[2,3] fusion(x), kind=kLoop, calls=fc""",
    values(2, 3),
)
fusion_program(
    "update-with-producer",
    """p = f32[8,4] parameter(0)
 u = f32[2,4] parameter(1)
 i = s32[] parameter(2)
 z = s32[] constant(0)
 n = f32[2,4] negate(u)
 ROOT r = f32[8,4] dynamic-update-slice(p, n, i, z)""",
    """x = f32[8,4] parameter(0)
 y = f32[2,4] parameter(1)
 k = s32[] parameter(2)
 ROOT f = f32[8,4] fusion(x, y, k), kind=kLoop, calls=fc""",
    values(8, 4),
    values(2, 4),
    np.int32(5),
    in_place=("f",),
)
