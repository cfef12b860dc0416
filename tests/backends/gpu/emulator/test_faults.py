"""Planted faults are reported with their PTX lines, though most keep values in lock-step."""

import re

import numpy as np
import pytest

from tests.backends.gpu.emulator.ptx_kernels import (
    COLLATZ,
    DOUBLE,
    ROW_SUM,
    TRANSPOSE,
    Unwritten,
    launch,
    one_instruction,
)
from xla_explorer.backends.gpu.emulator import LaunchOptions, parse_ptx

X = np.random.default_rng(1).standard_normal((3, 700)).astype(np.float32)


def row_sum(text):
    out = np.zeros(3, np.float32)
    result, _ = launch(text, 3, 256, [X, out, 700])
    return result, np.allclose(out, X.sum(1), rtol=1e-4, atol=1e-3)


def transpose(text, options=None):
    square, out = (
        np.arange(64 * 64, dtype=np.float32).reshape(64, 64),
        np.zeros((64, 64), np.float32),
    )
    result, kernel = launch(text, (2, 2), (32, 8), [square, out, 64], options)
    return result, np.array_equal(out, square.T), kernel


def double(text, n, size=1000, block=128, **options):
    x, out = np.ones(size, np.float32), np.zeros(1000, np.float32)
    result, kernel = launch(
        text, 8, block, [x, Unwritten(out), n], LaunchOptions(counters=True, **options)
    )
    return result, kernel


def line_of(text, pattern):
    return next(k for k, line in enumerate(text.splitlines(), 1) if re.search(pattern, line))


@pytest.mark.parametrize("run", [row_sum, transpose])
def test_removed_barrier(run):
    text = ROW_SUM if run is row_sum else TRANSPOSE.replace("PITCH", "33")
    assert run(text)[0].findings == []
    broken = text.replace("bar.sync 0;", "")
    result, right, *_ = run(broken)
    assert right, "lock-step hides it: only the race detector can tell"
    assert {f.kind for f in result.findings} == {"race: read after write"}
    finding = result.findings[0]
    assert finding.line == line_of(broken, r"ld\.shared") and re.search(
        r"block 0 thread \d+ and block 0 thread \d+, shared byte", finding.example
    )


def test_off_by_one_bound():
    text = DOUBLE.replace("STRIDE", "1")
    assert double(text, 1000)[0].findings == []
    result, _ = double(text, 1001)
    finding = result.findings[0]
    assert (
        finding.kind == "out of bounds"
        and finding.line == line_of(text, r"ld\.global")
        and finding.origin == 9
    )
    assert (
        finding.count == 1
        and "block 7 thread 104" in finding.example
        and "argument 0[byte 4000 of 4000]" in finding.example
    )


def test_shared_array_that_is_too_short():
    """Not misaligned, wherever it is looked at from."""
    text = ROW_SUM.replace("partial[32]", "partial[16]")
    finding = row_sum(text)[0].findings[0]
    assert (
        finding.kind == "out of bounds"
        and finding.line == line_of(text, r"st\.shared")
        and "shared memory, byte 16" in finding.example
    )


def test_removed_guard():
    text = DOUBLE.replace("STRIDE", "1").replace("@%p1 bra END;", "")
    result, _ = double(text, 1000)
    assert {f.kind for f in result.findings} == {"out of bounds"} and result.findings[0].count == 24


def test_wrong_shuffle_mask():
    broken = ROW_SUM.replace("16, 31, 0xffffffff", "16, 31, 0x0000ffff")
    result, _ = row_sum(broken)
    kinds = {f.kind for f in result.findings}
    assert kinds == {"member mask without the lane itself"} and result.findings[0].line == line_of(
        broken, "0x0000ffff"
    )


def test_mask_that_names_lanes_elsewhere():
    body = "setp.lt.u32 %p1, %t1, 7;\n@%p1 bra SIDE;\nmov.b32 %d, 0;\nbra JOIN;\nSIDE: shfl.sync.bfly.b32 %d, %a0, 1, 31, 0xffffffff;\nJOIN:"
    a, out = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    result, _ = launch(one_instruction(body, [], ["b32"], 32, 32), 1, 32, [a, out])
    assert {f.kind for f in result.findings} == {
        "member mask names lanes that are elsewhere",
        "shuffle from a lane that is elsewhere",
    }


def test_wrong_shuffle_distance_shows_only_in_the_values():
    result, right = row_sum(ROW_SUM.replace("%f1, 16, 31", "%f1, 15, 31"))
    assert result.findings == [] and not right


def test_uncoalesced_access_shows_in_the_counters():
    near, _ = DOUBLE.replace("STRIDE", "1"), None
    _, kernel = double(near, 1000)
    far = near.replace("%rd3, 1;", "%rd3, 32;")
    result, far_kernel = double(far, 1000, size=32000)
    assert result.findings == []
    row = next(r for r in kernel.counters.rows() if r["opcode"] == "ld.global.f32")
    far_row = next(r for r in far_kernel.counters.rows() if r["opcode"] == "ld.global.f32")
    assert row["sectors_per_request"] < 4.01 and row["sector_use"] == 1.0
    assert far_row["sectors_per_request"] > 31 and far_row["sector_use"] == 0.125
    assert far_row["line"] == line_of(far, r"ld\.global") and far_row["instruction"] == 9


def test_bank_conflicts_show_in_the_counters():
    for pitch, conflict in (("33", 1.0), ("32", 32.0)):
        _, right, kernel = transpose(
            TRANSPOSE.replace("PITCH", pitch), LaunchOptions(counters=True)
        )
        row = next(r for r in kernel.counters.rows() if r["opcode"] == "ld.shared.f32")
        assert right and row["bank_conflict"] == conflict


def test_divergence_shows_in_the_counters():
    starts, out = np.arange(1, 65, dtype=np.uint32), np.zeros(64, np.uint32)
    _, kernel = launch(COLLATZ, 1, 64, [starts, out])
    rows = kernel.counters.rows()
    branch = next(r for r in rows if r["opcode"] == "bra" and r["divergent_branches"])
    assert branch["divergent_branches"] > 30 and 0 < branch["active"] < 0.7
    assert kernel.counters.thread_instructions == sum(r["thread_instructions"] for r in rows)
    frame = kernel.counters.to_frame()
    assert len(frame) == len(rows) and set(frame["kernel"]) == {"collatz"}


def test_misaligned_vector():
    text = ROW_SUM.replace("[partial+16]", "[partial+12]")
    result, right = row_sum(text)
    assert (
        not right
        and [f.kind for f in result.findings] == ["misaligned"]
        and result.findings[0].line == line_of(text, r"partial\+12")
    )


def test_uninitialised():
    body = "ld.param.u64 %q30, [p0];\nld.global.b32 %d, [%q30+4];"
    result, _ = launch(
        one_instruction(body, [], [], 32, 1).replace("p0]", "p0]"),
        1,
        1,
        [Unwritten(np.zeros(4, np.uint32))],
    )
    assert [f.kind for f in result.findings] == [
        "uninitialised read"
    ] and "argument 0[byte 4 of 16]" in result.findings[0].example
    result, _ = row_sum(
        ROW_SUM.replace("st.shared.f32", "@%p3 st.shared.f32").replace(
            "and.b32 %r6", "setp.ne.s32 %p3, %r1, 64;\n  and.b32 %r6"
        )
    )
    assert [f.kind for f in result.findings] == [
        "uninitialised read"
    ] and "byte" in result.findings[0].example


def test_loads_past_the_end_that_nobody_looks_at_are_no_fault():
    # LLVM widens loads to aligned vectors; what is past the end is in registers that are never
    # read.
    wide = "ld.param.u64 %q30, [p0];\nld.global.v4.b32 {%d, %r1, %r2, %r3}, [%q30];"
    text = one_instruction(wide, [".reg .b32 %r<4>;"], ["b32"], 32, 1)
    x, out = np.arange(3, dtype=np.uint32), np.zeros(1, np.uint32)
    assert launch(text, 1, 1, [x, out])[0].findings == []
    used = text.replace("[%q30];\n", "[%q30];\nadd.u32 %d, %d, %r3;\n")
    assert used != text
    assert [f.kind for f in launch(used, 1, 1, [x, out])[0].findings] == ["out of bounds"]


def test_padding_in_the_last_word_of_a_widened_load_is_no_fault():
    wide = "ld.param.u64 %q30, [p0];\nld.global.v2.b32 {%r1, %r2}, [%q30];\nbfe.u32 %d, %r2, 8, 8;"
    text = one_instruction(wide, [".reg .b32 %r<4>;"], ["b8"], 32, 1)
    # Six bytes, at the start of a larger buffer whose rest is unwritten.
    store = "ld.param.u64 %q30, [p0];\nst.global.b32 [%q30], 7;\nst.global.b16 [%q30+4], 8;\n"
    both = text.replace(wide.split("\n")[0] + "\n", store).replace("ld.global.b8 %a0, [%q3];", "")
    result, _ = launch(
        both.replace(".reg .b16 %a0;", ""),
        1,
        1,
        [Unwritten(np.zeros(16, np.uint8)), np.zeros(1, np.uint32)],
    )
    assert result.findings == []


def test_store_past_the_end_of_a_buffer_is_one():
    text = one_instruction("mov.b32 %d, 1;", [], [], 32, 2)
    result, _ = launch(text, 1, 2, [np.zeros(7, np.uint8)])
    assert [f.kind for f in result.findings] == ["out of bounds"]


def test_races_in_global_memory():
    # Every thread writes the same word, then reads it.
    body = "ld.param.u64 %q30, [p1];\nst.global.u32 [%q30], %a0;\nld.global.u32 %d, [%q30];"
    a, shared, out = np.zeros(64, np.uint32), np.zeros(1, np.uint32), np.zeros(64, np.uint32)
    text = one_instruction(body, [], ["b32", "b32"], 32, 64).replace(
        "ld.global.b32 %a1, [%q6];", ""
    )
    result, _ = launch(text, 1, 64, [a, shared, out])
    assert {f.kind for f in result.findings} >= {
        "race: two lanes store to one place",
        "race: read after write in global memory",
    }
    assert "argument 1[byte 0 of 4]" in result.findings[0].example
    result, _ = launch(
        text.replace("st.global.u32 [%q30], %a0", "red.global.add.u32 [%q30], %a0"),
        1,
        64,
        [a, shared, out],
    )
    assert {f.kind for f in result.findings} == {"race: read after write in global memory"}


def test_barriers_in_branches():
    body = "mov.b32 %d, 0;\nsetp.lt.u32 %p1, %t1, 16;\n@%p1 bra SKIP;\nbar.sync 0;\nSKIP:"
    out = np.zeros(64, np.uint32)
    result, _ = launch(one_instruction(body, [], [], 32, 64), 1, 64, [out])
    assert [f.kind for f in result.findings] == ["barrier that threads of the block never reach"]
    body = "mov.b32 %d, 0;\nsetp.lt.u32 %p1, %t1, 16;\n@%p1 bra SIDE;\nbar.sync 0;\nbra JOIN;\nSIDE: bar.sync 0;\nJOIN:"
    result, _ = launch(one_instruction(body, [], [], 32, 64), 1, 64, [out])
    assert [f.kind for f in result.findings] == ["threads of a block wait at different barriers"]


def test_freed_memory_is_out_of_bounds():
    from xla_explorer.backends.gpu.emulator import EmulatedKernel, GlobalMemory

    device = GlobalMemory()
    module = parse_ptx(one_instruction("mov.b32 %d, 1;", [], [], 32, 4))
    kernel = EmulatedKernel(module, module.kernels["one"], device)
    kept, freed = device.allocate(16, "kept"), device.allocate(16, "freed")
    device.release(freed)
    assert kernel.launch(1, 4, [kept]).findings == []
    assert [f.kind for f in kernel.launch(1, 4, [freed]).findings] == ["out of bounds"]
    assert device.allocate(12) == freed, "memory is used again"


@pytest.mark.parametrize(
    ("pragma", "kinds"),
    [
        ('.pragma "used_bytes_mask 0x7";', set()),
        ('.pragma "used_bytes_mask 0xf";', {"out of bounds"}),
    ],
)
def test_bytes_that_nobody_reads_of_a_wide_load(pragma, kinds):
    # LLVM loads three bytes as four where the address is a multiple of four.
    text = f"""
.version 8.7
.target sm_90
.address_size 64
.visible .entry three(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr .global .align 16 b) {{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.b64 %rd1, [a];
	ld.param.b64 %rd2, [b];
	{pragma}
	ld.global.b32 %r1, [%rd1];
	and.b32 %r2, %r1, 65280;
	st.global.b32 [%rd2], %r2;
	ret;
}}
"""
    out = np.zeros(1, np.int32)
    result, _ = launch(text, 1, 1, [np.array([1, 2, 3], np.uint8), out])
    assert {f.kind for f in result.findings} == kinds
    assert bool(kinds) or out[0] == 0x200
