"""XLA's semantics at the edges, in compiled code: indices, division, shifts, NaN, empty extents."""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import check_program, compile_for_cpu, opcodes_on_evaluator
from xla_explorer.foundation.diagnostic import XlaExplorerError


def run(text, *inputs):
    executable = compile_for_cpu(text)
    assert not opcodes_on_evaluator(executable)
    return executable.execute(list(inputs))[0]


X = np.arange(20, dtype=np.float32).reshape(4, 5)
LARGE = np.iinfo(np.int64)


@pytest.mark.parametrize("start", [(0, 0), (-3, 2), (9, 9), (LARGE.min, LARGE.max), (3, -1)])
def test_starts_are_clamped(start):
    a, b = np.int64(start[0]), np.int64(start[1])
    row, column = (int(np.clip(s, 0, limit)) for s, limit in zip(start, (2, 3), strict=True))
    found = run(
        "HloModule m\nENTRY e { x = f32[4,5] parameter(0)\n i = s64[] parameter(1)\n j = s64[] parameter(2)\n "
        "ROOT r = f32[2,2] dynamic-slice(x, i, j), dynamic_slice_sizes={2,2} }",
        X,
        a,
        b,
    )
    np.testing.assert_array_equal(found, X[row : row + 2, column : column + 2])
    found = run(
        "HloModule m\nENTRY e { x = f32[4,5] parameter(0)\n u = f32[2,2] parameter(1)\n i = s64[] parameter(2)\n j = s64[] parameter(3)\n "
        "ROOT r = f32[4,5] dynamic-update-slice(x, u, i, j) }",
        X,
        -np.ones((2, 2), np.float32),
        a,
        b,
    )
    wanted = X.copy()
    wanted[row : row + 2, column : column + 2] = -1
    np.testing.assert_array_equal(found, wanted)


def test_gather_clamps_and_scatter_drops():
    indices = np.array([[-5], [0], [3], [4], [2**31 - 1]], np.int32)
    found = run(
        "HloModule m\nENTRY e { x = f32[4,5] parameter(0)\n i = s32[5,1] parameter(1)\n ROOT r = f32[5,5] gather(x, i), offset_dims={1}, "
        "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5} }",
        X,
        indices,
    )
    np.testing.assert_array_equal(found, X[[0, 0, 3, 3, 3]])
    found = run(
        "HloModule m\nset { a = f32[] parameter(0)\n ROOT b = f32[] parameter(1) }\nENTRY e { x = f32[4,5] parameter(0)\n "
        "i = s32[5,1] parameter(1)\n u = f32[5,5] parameter(2)\n ROOT r = f32[4,5] scatter(x, i, u), update_window_dims={1}, "
        "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=set }",
        X,
        indices,
        -np.ones((5, 5), np.float32),
    )
    wanted = X.copy()
    wanted[[0, 3]] = -1
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("name", "dtype"), [("s8", np.int8), ("s16", np.int16), ("s32", np.int32), ("s64", np.int64)]
)
def test_integer_division_never_traps(name, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a, b = np.array([low, low, 7, low, high, -7], dtype), np.array([-1, 0, 0, 1, -1, 2], dtype)
    text = "HloModule m\nENTRY e {{ x = {0}[6] parameter(0)\n y = {0}[6] parameter(1)\n ROOT r = {0}[6] {1}(x, y) }}"
    np.testing.assert_array_equal(
        run(text.format(name, "divide"), a, b), np.array([low, -1, -1, low, -high, -3], dtype)
    )
    np.testing.assert_array_equal(
        run(text.format(name, "remainder"), a, b), np.array([0, low, 7, 0, 0, -1], dtype)
    )


@pytest.mark.parametrize("amount", [0, 31, 32, 33, -1])
def test_shifts_by_the_width_and_more(amount):
    x, by = np.array([-8, 5], np.int32), np.full(2, amount, np.int32)
    text = "HloModule m\nENTRY e {{ x = s32[2] parameter(0)\n y = s32[2] parameter(1)\n ROOT r = s32[2] {}(x, y) }}"
    for opcode in ("shift-left", "shift-right-logical", "shift-right-arithmetic"):
        check_program(text.format(opcode), x, by)


def test_a_nan_keeps_its_payload_where_it_only_moves():
    bits = np.array([0x7FC12345, 0xFFC00001, 0x7FA00001, 0x00000001, 0x80000000], np.uint32)
    for operation in ("reverse(x), dimensions={0}", "negate(n)", "copy(x)"):
        text = f"HloModule m\nENTRY e {{ x = f32[5] parameter(0)\n n = f32[5] negate(x)\n ROOT r = f32[5] {operation} }}"
        found = run(text, bits.view(np.float32)).view(np.uint32)
        np.testing.assert_array_equal(
            found, bits[::-1] if operation.startswith("reverse") else bits
        )


def test_denormals_are_not_flushed():
    tiny = np.array([1e-45, 1e-40, -1e-39, 1.2e-38], np.float32)
    text = "HloModule m\nENTRY e { x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n ROOT r = f32[4] multiply(x, y) }"
    half = np.full(4, 0.5, np.float32)
    np.testing.assert_array_equal(run(text, tiny, half), tiny * half)


@pytest.mark.parametrize("threads", [1, 2])
def test_extents_beyond_32_bits(threads):
    # Nothing of this size is in memory: the iota is computed where it is reduced.
    from xla_explorer.backends.interfaces import CompileOptions
    from xla_explorer.backends.registry import platform
    from xla_explorer.hlo.text.parser import parse_hlo

    count = 2**31 + 5
    text = f"""HloModule m
max {{ a = s64[] parameter(0)
 b = s64[] parameter(1)
 ROOT c = s64[] maximum(a, b) }}
ENTRY e {{ i = s64[2,{count}] iota(), iota_dimension=1
 x = s64[] parameter(0)
 b = s64[2,{count}] broadcast(x), dimensions={{}}
 s = s64[2,{count}] add(i, b)
 z = s64[] constant(-9)
 ROOT r = s64[2] reduce(s, z), dimensions={{1}}, to_apply=max }}"""
    compiler = platform("cpu").compiler()
    options = CompileOptions(cache=False, threads=threads)
    executable = compiler.run_backend(
        compiler.run_hlo_passes(parse_hlo(text), options), options
    ).executable
    np.testing.assert_array_equal(executable.execute([np.int64(3)])[0], [count + 2, count + 2])


def test_empty_arrays_and_scalars():
    check_program(
        "HloModule m\nENTRY e { x = f32[0,5] parameter(0)\n ROOT r = f32[0,5] negate(x) }",
        np.zeros((0, 5), np.float32),
    )
    check_program(
        "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
        "ENTRY e { x = f32[3,0] parameter(0)\n z = f32[] constant(4)\n ROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=add }",
        np.zeros((3, 0), np.float32),
    )
    check_program(
        "HloModule m\nENTRY e { x = f32[3,0] parameter(0)\n y = f32[0,2] parameter(1)\n "
        "ROOT r = f32[3,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
        np.zeros((3, 0), np.float32),
        np.zeros((0, 2), np.float32),
    )
    check_program(
        "HloModule m\nENTRY e { x = f32[] parameter(0)\n ROOT r = f32[] exponential(x) }",
        np.float32(0),
    )


def test_many_dimensions():
    shape = ",".join(["2"] * 12)
    order = ",".join(map(str, reversed(range(12))))
    x = np.arange(2**12, dtype=np.float32).reshape((2,) * 12)
    found = run(
        f"HloModule m\nENTRY e {{ x = f32[{shape}] parameter(0)\n ROOT r = f32[{shape}] transpose(x), dimensions={{{order}}} }}",
        x,
    )
    np.testing.assert_array_equal(found, x.transpose())


def test_memory_that_is_not_there_is_an_error_before_anything_runs():
    text = (
        "HloModule m\nENTRY e { x = f32[] parameter(0)\n b = f32[4000000000000] broadcast(x), dimensions={}\n "
        "s = f32[4000000000000] sort(b), dimensions={0}, to_apply=c\n ROOT r = f32[2] slice(s), slice={[0:2]} }"
    ).replace(
        "ENTRY",
        "c { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT l = pred[] compare(a, b), direction=LT }\nENTRY",
    )
    executable = compile_for_cpu(text)  # compiled and looked at it can be
    with pytest.raises(XlaExplorerError, match="TiB"):
        executable.execute([np.float32(1)])
    with pytest.raises(XlaExplorerError, match="TiB"):
        compile_for_cpu(
            "HloModule m\nENTRY e { x = f32[] parameter(0)\n ROOT b = f32[4000000000000] broadcast(x), dimensions={} }"
        ).execute([np.float32(1)])


def test_a_bitcast_inside_a_fusion_follows_memory():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = run(
        "HloModule m\nf { x = f32[3,4]{1,0} parameter(0)\n n = f32[3,4]{1,0} negate(x)\n ROOT b = s32[3,4]{1,0} bitcast(n) }\n"
        "ENTRY e { x = f32[3,4]{1,0} parameter(0)\n ROOT r = s32[3,4]{1,0} fusion(x), kind=kLoop, calls=f }",
        x,
    )
    np.testing.assert_array_equal(found, (-x).view(np.int32))
    found = run(
        "HloModule m\nf { x = f32[3,4]{1,0} parameter(0)\n b = f32[4,3]{0,1} bitcast(x)\n c = f32[4,3]{1,0} copy(b)\n "
        "ROOT n = f32[4,3]{1,0} negate(c) }\nENTRY e { x = f32[3,4]{1,0} parameter(0)\n "
        "ROOT r = f32[4,3]{1,0} fusion(x), kind=kLoop, calls=f }",
        x,
    )
    np.testing.assert_array_equal(found, -x.T)
