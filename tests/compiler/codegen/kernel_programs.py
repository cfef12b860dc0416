"""Small modules of one or a few kernels: shapes, data movement, indexing; shared helpers.

PROGRAMS: name -> (HLO text, input arrays, options of `check_kernels`).
"""

import numpy as np

PROGRAMS = {}
_RNG = np.random.default_rng(20240611)
REGIONS = """
add_f32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
add_f16 { a = f16[] parameter(0) b = f16[] parameter(1) ROOT c = f16[] add(a, b) }
add_bf16 { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT c = bf16[] add(a, b) }
add_f64 { a = f64[] parameter(0) b = f64[] parameter(1) ROOT c = f64[] add(a, b) }
add_s32 { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
add_c64 { a = c64[] parameter(0) b = c64[] parameter(1) ROOT c = c64[] add(a, b) }
max_f32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
min_s8 { a = s8[] parameter(0) b = s8[] parameter(1) ROOT c = s8[] minimum(a, b) }
max_u64 { a = u64[] parameter(0) b = u64[] parameter(1) ROOT c = u64[] maximum(a, b) }
mul_s64 { a = s64[] parameter(0) b = s64[] parameter(1) ROOT c = s64[] multiply(a, b) }
and_pred { a = pred[] parameter(0) b = pred[] parameter(1) ROOT c = pred[] and(a, b) }
second_f32 { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
argmax { v = f32[] parameter(0) i = s32[] parameter(1) w = f32[] parameter(2) j = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  eq = pred[] compare(v, w), direction=EQ
  lower = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lower)
  first = pred[] or(gt, tie)
  value = f32[] select(first, v, w)
  index = s32[] select(first, i, j)
  ROOT both = (f32[], s32[]) tuple(value, index) }
square_plus { a = f32[] parameter(0) b = f32[] parameter(1) s = f32[] multiply(a, a) ROOT total = f32[] add(s, b) }
"""


def values(*shape, dtype=np.float32):
    """Random numbers; small integers for integer types."""
    kind = np.dtype(dtype).kind
    if kind in "iu":
        return _RNG.integers(0 if kind == "u" else -50, 50, shape).astype(dtype)
    if kind == "b":
        return _RNG.random(shape) > 0.2
    if kind == "c":
        return (_RNG.standard_normal(shape) + 1j * _RNG.standard_normal(shape)).astype(dtype)
    return _RNG.standard_normal(shape).astype(dtype)


def program(name, body, *inputs, **options):
    PROGRAMS[name] = (
        "HloModule m\n" + REGIONS + "ENTRY e {\n" + body.strip() + "\n}\n",
        inputs,
        options,
    )


def fusion_program(name, body, call, *inputs, **options):
    PROGRAMS[name] = (
        f"HloModule m\n{REGIONS}fc {{\n{body.strip()}\n}}\nENTRY e {{\n{call.strip()}\n}}\n",
        inputs,
        options,
    )


# -- lone instructions that read each other's results ----------------------------------------------
program(
    "chain",
    "x = f32[4,6] parameter(0)\n a = f32[4,6] add(x, x)\n b = f32[4,6] sine(a)\n c = f32[4,6] multiply(b, a)\n"
    " z = f32[] constant(0)\n s = f32[6] reduce(c, z), dimensions={0}, to_apply=add_f32\n"
    " w = f32[4,6] broadcast(s), dimensions={1}\n ROOT r = f32[4,6] subtract(c, w)",
    values(4, 6),
    relative=1e-4,
)
program("same-operand-twice", "x = f32[9] parameter(0)\n ROOT r = f32[9] multiply(x, x)", values(9))

# -- shape and data movement -----------------------------------------------------------------------
program(
    "broadcast",
    "x = f32[3] parameter(0)\n ROOT r = f32[2,3,4] broadcast(x), dimensions={1}",
    values(3),
)
program(
    "broadcast-scalar",
    "x = s8[] parameter(0)\n ROOT r = s8[5,1] broadcast(x), dimensions={}",
    np.int8(-7),
)
program(
    "broadcast-to-layout",
    "x = f32[3,4] parameter(0)\n ROOT r = f32[3,2,4]{0,1,2} broadcast(x), dimensions={0,2}",
    values(3, 4),
)
program(
    "iota",
    "a = s32[3,4] iota(), iota_dimension=1\n b = f32[5] iota(), iota_dimension=0\n c = u8[300] iota(), "
    "iota_dimension=0\n"
    " d = bf16[2,3] iota(), iota_dimension=0\n e = c64[4] iota(), iota_dimension=0\n"
    " ROOT r = (s32[3,4], f32[5], u8[300], bf16[2,3], c64[4]) tuple(a, b, c, d, e)",
)
program(
    "reshape",
    "x = f32[6,4] parameter(0)\n a = f32[3,2,4] reshape(x)\n b = f32[24] reshape(x)\n"
    " c = f32[8,3] reshape(x)\n d = f32[1,6,1,4] reshape(x)\n"
    " ROOT r = (f32[3,2,4], f32[24], f32[8,3], f32[1,6,1,4]) tuple(a, b, c, d)",
    values(6, 4),
)
program(
    "reshape-scalar",
    "x = f32[1,1] parameter(0)\n a = f32[] reshape(x)\n b = f32[1,1,1] reshape(a)\n ROOT r = (f32[], "
    "f32[1,1,1]) tuple(a, b)",
    values(1, 1),
)
program(
    "transpose",
    "x = f32[3,4,5] parameter(0)\n a = f32[5,3,4] transpose(x), "
    "dimensions={2,0,1}\n b = f32[4,3,5] transpose(x), dimensions={1,0,2}\n"
    " ROOT r = (f32[5,3,4], f32[4,3,5]) tuple(a, b)",
    values(3, 4, 5),
)
program(
    "transpose-large",
    "x = f32[70,65] parameter(0)\n ROOT a = f32[65,70] transpose(x), dimensions={1,0}",
    values(70, 65),
)
program(
    "slice",
    "x = f32[7,9] parameter(0)\n a = f32[3,4] slice(x), slice={[1:7:2], [0:4]}\n b = f32[7,1] slice(x), "
    "slice={[0:7], [8:9]}\n"
    " c = f32[0,9] slice(x), slice={[3:3], [0:9]}\n ROOT r = (f32[3,4], f32[7,1], f32[0,9]) tuple(a, b, c)",
    values(7, 9),
)
program(
    "pad",
    "x = f32[3,4] parameter(0)\n z = f32[] parameter(1)\n a = f32[6,9] pad(x, z), "
    "padding=1_2x0_5\n b = f32[9,10] pad(x, z), padding=2_2_1x0_3_1\n"
    " c = f32[2,3] pad(x, z), padding=-1_0x1_-2\n d = f32[4,6] pad(x, z), padding=-1_0_1x-1_0_1\n"
    " ROOT r = (f32[6,9], f32[9,10], f32[2,3], f32[4,6]) tuple(a, b, c, d)",
    values(3, 4),
    np.float32(9),
)
program(
    "pad-empty",
    "x = f32[0,4] parameter(0)\n z = f32[] parameter(1)\n ROOT a = f32[2,4] pad(x, z), padding=1_1x0_0",
    values(0, 4),
    np.float32(9),
)
program(
    "concatenate",
    "x = f32[2,3] parameter(0)\n y = f32[2,4] parameter(1)\n z = f32[2,0] parameter(2)\n"
    " a = f32[2,10] concatenate(x, y, z, x), dimensions={1}\n"
    " b = f32[4,3] concatenate(x, x), dimensions={0}\n ROOT r = (f32[2,10], f32[4,3]) tuple(a, b)",
    values(2, 3),
    values(2, 4),
    values(2, 0),
)
program(
    "concatenate-fused",
    """x = f32[2,3] parameter(0)
 y = f32[2,4] parameter(1)
 ROOT f = f32[2,7] fusion(x, y), kind=kLoop, calls=fc""",
    values(2, 3),
    values(2, 4),
)
PROGRAMS["concatenate-fused"] = (
    PROGRAMS["concatenate-fused"][0].replace(
        "ENTRY",
        """fc { p = f32[2,3] parameter(0) q = f32[2,4] parameter(1)
  c = f32[2,7] concatenate(p, q), dimensions={1}
  ROOT n = f32[2,7] negate(c) }
ENTRY""",
    ),
    *PROGRAMS["concatenate-fused"][1:],
)
program(
    "reverse",
    "x = s16[3,4] parameter(0)\n a = s16[3,4] reverse(x), dimensions={0,1}\n b = s16[3,4] reverse(x), "
    "dimensions={1}\n"
    " ROOT r = (s16[3,4], s16[3,4]) tuple(a, b)",
    values(3, 4, dtype=np.int16),
)
program(
    "copy-layout",
    "x = f32[3,4,5]{2,1,0} parameter(0)\n a = f32[3,4,5]{0,1,2} copy(x)\n b = f32[3,4,5]{1,2,0} copy(a)\n"
    " ROOT r = (f32[3,4,5]{0,1,2}, f32[3,4,5]{1,2,0}) tuple(a, b)",
    values(3, 4, 5),
)
program(
    "complex-movement",
    "x = c64[3,4] parameter(0)\n a = c64[4,3] transpose(x), dimensions={1,0}\n b = c64[6,4] concatenate(x, x), "
    "dimensions={0}\n"
    " ROOT r = (c64[4,3], c64[6,4]) tuple(a, b)",
    values(3, 4, dtype=np.complex64),
)

# -- indexing --------------------------------------------------------------------------------------
for _position in (0, 2, 5, 100, -3):
    program(
        f"dynamic-slice-{_position}",
        "x = f32[6,5] parameter(0)\n i = s32[] parameter(1)\n j = s64[] parameter(2)\n"
        " ROOT r = f32[3,2] dynamic-slice(x, i, j), dynamic_slice_sizes={3,2}",
        values(6, 5),
        np.int32(_position),
        np.int64(1),
    )
    program(
        f"dynamic-update-slice-{_position}",
        "x = f32[6,5] parameter(0)\n u = f32[3,2] parameter(1)\n i = s32[] parameter(2)\n j = s32[] parameter(3)\n"
        " ROOT r = f32[6,5] dynamic-update-slice(x, u, i, j)",
        values(6, 5),
        values(3, 2),
        np.int32(_position),
        np.int32(1),
    )
program(
    "dynamic-slice-unsigned",
    "x = f32[6] parameter(0)\n i = u8[] parameter(1)\n ROOT r = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
    values(6),
    np.uint8(200),
)
program(
    "dynamic-update-slice-in-place",
    PROGRAMS["dynamic-update-slice-2"][0].split("ENTRY e {\n")[1].rsplit("}", 1)[0],
    *PROGRAMS["dynamic-update-slice-2"][1],
    in_place=("r",),
)
program(
    "dynamic-update-slice-whole",
    "x = s32[4] parameter(0)\n u = s32[4] parameter(1)\n i = s32[] parameter(2)\n ROOT r = s32[4] dynamic-update-slice(x, u, i)",
    values(4, dtype=np.int32),
    values(4, dtype=np.int32),
    np.int32(3),
)
program(
    "gather-rows",
    "x = f32[10,4] parameter(0)\n i = s32[5,1] parameter(1)\n"
    " ROOT r = f32[5,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=1, slice_sizes={1,4}",
    values(10, 4),
    np.array([[3], [0], [9], [77], [-2]], np.int32),
)
program(
    "gather-windows",
    "x = f32[6,7] parameter(0)\n i = s64[2,3] parameter(1)\n"
    " ROOT r = f32[3,2,3] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1,0}, "
    "index_vector_dim=0, slice_sizes={2,3}",
    values(6, 7),
    np.array([[0, 5, 2], [4, 1, 9]], np.int64),
)
program(
    "gather-scalars",
    "x = f32[10] parameter(0)\n i = u32[2,3] parameter(1)\n"
    " ROOT r = f32[2,3] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=2, slice_sizes={1}",
    values(10),
    np.array([[0, 1, 2], [9, 4294967295, 5]], np.uint32),
)
program(
    "gather-batched",
    "x = f32[3,10,2] parameter(0)\n i = s32[3,4,1] parameter(1)\n"
    " ROOT r = f32[3,4,2] gather(x, i), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
    "operand_batching_dims={0}, "
    "start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,2}",
    values(3, 10, 2),
    _RNG.integers(0, 10, (3, 4, 1)).astype(np.int32),
)
_ROWS = np.array([[1], [4], [1], [9], [-1], [1]], np.int32)
for _region, _suffix in (
    ("add_f32", "add"),
    ("max_f32", "max"),
    ("second_f32", "assign"),
    ("square_plus", "general"),
):
    program(
        f"scatter-{_suffix}",
        "x = f32[6,4] parameter(0)\n i = s32[6,1] parameter(1)\n u = f32[6,4] parameter(2)\n"
        " ROOT r = f32[6,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, "
        f"index_vector_dim=1, to_apply={_region}",
        values(6, 4),
        _ROWS,
        values(6, 4),
        relative=1e-6,
    )
program(
    "scatter-in-place",
    PROGRAMS["scatter-add"][0].split("ENTRY e {\n")[1].rsplit("}", 1)[0],
    *PROGRAMS["scatter-add"][1],
    in_place=("r",),
    relative=1e-6,
)
for _index_type in ("s32", "u64"):
    program(
        f"scatter-{_index_type}-in-place",
        f"x = {_index_type}[6,4] parameter(0)\n i = s32[6,1] parameter(1)\n u = {_index_type}[6,4] parameter(2)\n"
        f" ROOT r = {_index_type}[6,4] scatter(x, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, "
        f"scatter_dims_to_operand_dims={{0}}, "
        f"index_vector_dim=1, to_apply={'add_s32' if _index_type == 's32' else 'max_u64'}",
        values(6, 4, dtype=np.int32 if _index_type == "s32" else np.uint64),
        _ROWS,
        values(6, 4, dtype=np.int32 if _index_type == "s32" else np.uint64),
        in_place=("r",),
    )
program(
    "scatter-windows",
    "x = s32[6,7] parameter(0)\n i = s32[4,2] parameter(1)\n u = s32[4,2,3] parameter(2)\n"
    " ROOT r = s32[6,7] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, "
    "scatter_dims_to_operand_dims={0,1}, "
    "index_vector_dim=1, to_apply=add_s32",
    values(6, 7, dtype=np.int32),
    np.array([[0, 0], [1, 1], [4, 4], [5, 5]], np.int32),
    values(4, 2, 3, dtype=np.int32),
)
program(
    "scatter-transposed-window",
    "x = s32[6,7] parameter(0)\n i = s32[3] parameter(1)\n u = s32[7,3] parameter(2)\n"
    " ROOT r = s32[6,7] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=add_s32",
    values(6, 7, dtype=np.int32),
    np.array([5, 0, 5], np.int32),
    values(7, 3, dtype=np.int32),
)
program(
    "scatter-scalars",
    "x = f64[8] parameter(0)\n i = s64[5,1] parameter(1)\n u = f64[5] parameter(2)\n"
    " ROOT r = f64[8] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=add_f64",
    values(8, dtype=np.float64),
    np.array([[7], [8], [0], [7], [3]], np.int64),
    values(5, dtype=np.float64),
)
