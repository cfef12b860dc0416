"""Kernels partitioned into tasks: the bits of one thread for any extents; the decisions."""

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.cpu.cpu_programs import opcodes_on_evaluator
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.backends.llvm.target_machine import host_target
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.codegen import parallel_plan
from xla_explorer.hlo.text.parser import parse_hlo

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
GREATER = "greater { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GT }\n"
LESS = "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=LT }\n"


def reduction(source, dimensions, result):
    return (
        f"HloModule m\n{ADD}ENTRY e {{ x = f32[{source}] parameter(0)\n z = f32[] constant(0)\n"
        f" ROOT r = f32[{result}] reduce(x, z), dimensions={{{dimensions}}}, to_apply=add }}"
    )


def unary(text, source):
    return f"HloModule m\n{LESS}{GREATER}{ADD}ENTRY e {{ x = f32[{source}] parameter(0)\n {text} }}"


def dot(left, right, result, contract, batch=""):
    return (
        f"HloModule m\nENTRY e {{ x = f32[{left}] parameter(0)\n y = f32[{right}] parameter(1)\n ROOT d = f32[{result}] dot(x, y), {batch}"
        f"lhs_contracting_dims={{{contract[0]}}}, rhs_contracting_dims={{{contract[1]}}} }}"
    )


def convolution(image, kernel, result, window, labels="b01f_01io->b01f", groups=1):
    return (
        f"HloModule m\nENTRY e {{ x = f32[{image}] parameter(0)\n k = f32[{kernel}] parameter(1)\n ROOT c = f32[{result}] convolution(x, k), "
        f"window={{{window}}}, dim_labels={labels}, feature_group_count={groups} }}"
    )


PROGRAMS = {
    "elementwise": unary("ROOT r = f32[7,1001] exponential(x)", "7,1001"),
    "elementwise-long": unary("ROOT r = f32[10007] tanh(x)", "10007"),
    "two-dimensional-fft": unary(
        "ROOT r = c64[48,37] fft(x), fft_type=RFFT, fft_length={48,72}", "48,72"
    ),
    "three-dimensional-fft": unary(
        "c = c64[10,12,17] fft(x), fft_type=RFFT, fft_length={10,12,32}\n ROOT r = f32[10,12,32] fft(c), fft_type=IRFFT, fft_length={10,12,32}",
        "10,12,32",
    ),
    "cubic-fft": unary(
        "c = c64[12,12,12] convert(x)\n ROOT r = c64[12,12,12] fft(c), fft_type=FFT, fft_length={12,12,12}",
        "12,12,12",
    ),
    "fft-of-two-equal-sides": unary(
        "c = c64[9,9,20] convert(x)\n ROOT r = c64[9,9,20] fft(c), fft_type=IFFT, fft_length={9,9,20}",
        "9,9,20",
    ),
    "transposed-convolution": convolution(
        "1,9,14,5", "4,4,5,8", "1,18,28,8", "size=4x4 pad=2_2x2_2 lhs_dilate=2x2"
    ),
    "two-nests": unary(
        "a = f32[31,64] negate(x)\n b = f32[64,31] transpose(x), dimensions={1,0}\n ROOT t = (f32[31,64], f32[64,31]) tuple(a, b)",
        "31,64",
    ),
    "broadcast": unary("ROOT r = f32[12,5,40] broadcast(x), dimensions={2}", "40"),
    "transpose": unary("ROOT r = f32[130,70] transpose(x), dimensions={1,0}", "70,130"),
    "concatenate": unary("ROOT r = f32[45,33] concatenate(x, x, x), dimensions={0}", "15,33"),
    "rows": reduction("61,300", "1", "61"),
    "rows-short": reduction("61,5", "1", "61"),
    "rows-batched": reduction("3,61,300", "2", "3,61"),
    "columns": reduction("300,61", "0", "61"),
    "columns-wide": reduction("40,5000", "0", "5000"),
    "columns-batched": reduction("9,40,50", "1", "9,50"),
    "everything": reduction("40,50", "0,1", ""),
    "columns-tall": reduction("5000,40", "0", "40"),
    "columns-tall-uneven": reduction("3,1037,7", "0,1", "7"),
    "rows-few": reduction("2,100003", "1", "2"),
    "everything-long": reduction("7,10007", "0,1", ""),
    "pad": unary(
        "z = f32[] constant(2)\n ROOT r = f32[33,45,21] pad(x, z), padding=1_2x0_0x3_1", "30,45,17"
    ),
    "pad-interior": unary(
        "z = f32[] constant(2)\n ROOT r = f32[64,33] pad(x, z), padding=1_2_1x0_0_1", "31,17"
    ),
    "pad-cropped": unary(
        "z = f32[] constant(2)\n ROOT r = f32[64,33] pad(x, z), padding=-1_2x0_3", "63,30"
    ),
    "update": unary(
        "u = f32[20,13] parameter(1)\n i = s32[] constant(7)\n j = s32[] constant(3)\n"
        " ROOT r = f32[40,50] dynamic-update-slice(x, u, i, j)",
        "40,50",
    ),
    "random-bits": unary(
        "k = u64[2] bitcast-convert(x)\n ROOT r = (u64[2], u32[37,101]) rng-bit-generator(k), algorithm=rng_three_fry",
        "2,2",
    ),
    "random-bits-philox": unary(
        "k = u64[2] bitcast-convert(x)\n ROOT r = (u64[2], u32[37,101]) rng-bit-generator(k), algorithm=rng_philox",
        "2,2",
    ),
    "scatter-rows": unary(
        "i = s32[100,1] parameter(1)\n u = f32[100,64] parameter(2)\n ROOT r = f32[50,64] scatter(x, i, u), update_window_dims={1}, "
        "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        "50,64",
    ),
    "scatter-grid": unary(
        "i = s32[7,2,11] parameter(1)\n u = f32[7,11,3,64] parameter(2)\n ROOT r = f32[50,5,64] scatter(x, i, u), update_window_dims={2,3}, "
        "inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
        "50,5,64",
    ),
    "select-and-scatter": unary(
        "s = f32[6,13,11] parameter(1)\n z = f32[] constant(0)\n"
        " ROOT r = f32[6,26,22] select-and-scatter(x, s, z), window={size=1x2x2 stride=1x2x2}, select=greater, scatter=add",
        "6,26,22",
    ),
    "select-and-scatter-overlapping": unary(
        "s = f32[6,24,20] parameter(1)\n z = f32[] constant(0)\n"
        " ROOT r = f32[6,26,22] select-and-scatter(x, s, z), window={size=1x3x3}, select=greater, scatter=add",
        "6,26,22",
    ),
    "window": unary(
        "z = f32[] constant(0)\n ROOT r = f32[5,20,21] reduce-window(x, z), window={size=1x3x3 pad=0_0x1_1x1_1}, to_apply=add",
        "5,20,21",
    ),
    "sort": unary("ROOT r = f32[13,200] sort(x), dimensions={1}, to_apply=less", "13,200"),
    "sort-columns": unary("ROOT r = f32[20,33] sort(x), dimensions={0}, to_apply=less", "20,33"),
    "dot-in-blocks-of-panels": dot("130,1600", "1600,520", "130,520", (1, 0)),
    "dot-in-blocks-of-rows": dot("460,1700", "1700,50", "460,50", (1, 0)),
    "dot": dot("123,65", "65,77", "123,77", "10"),
    "dot-turned": dot("123,65", "77,65", "123,77", "11"),
    "dot-tall": dot("1000,16", "16,8", "1000,8", "10"),
    "dot-deep": dot("96,4000", "4000,64", "96,64", "10"),
    "dot-packed": dot("256,1024", "1024,1024", "256,1024", "10"),
    "dot-batched": dot(
        "13,20,30", "13,30,25", "13,20,25", "21", "lhs_batch_dims={0}, rhs_batch_dims={0}, "
    ),
    "matrix-vector": dot("333,65", "65", "333", "10"),
    "vector-matrix": dot("600", "600,333", "333", "00"),
    "outer-product": dot("100,1", "1,90", "100,90", "10"),
    "convolution": convolution("2,16,16,8", "3,3,8,16", "2,16,16,16", "size=3x3 pad=1_1x1_1"),
    "convolution-batch": convolution("7,9,9,4", "3,3,4,8", "7,7,7,8", "size=3x3"),
    "convolution-1x1": convolution("1,20,20,16", "1,1,16,32", "1,20,20,32", "size=1x1"),
    "depthwise": convolution("1,20,20,16", "3,3,1,16", "1,18,18,16", "size=3x3", groups=16),
}


def compiled(text, threads):
    compiler = platform("cpu").compiler()
    options = CompileOptions(cache=False, threads=threads)
    return compiler.run_backend(
        compiler.run_hlo_passes(parse_hlo(text), options), options
    ).executable


@pytest.fixture
def every_kernel_is_worth_it(monkeypatch):
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 1e-9)


SUMS_IN_STRETCHES = {
    "columns",
    "columns-tall",
    "columns-tall-uneven",
    "rows-few",
    "everything",
    "everything-long",
}  # tasks of what is summed: another order, the same at every run


STRETCHES_WITHOUT_FMA = {"vector-matrix"}  # the same there


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("every_kernel_is_worth_it")
@pytest.mark.sampled(15)
def test_tasks_give_the_bits_of_one_thread(name):
    text = PROGRAMS[name]
    random = np.random.default_rng(1)
    inputs = [
        random.standard_normal(p.shape.dimensions).astype(np.float32)
        if p.shape.element_type.is_float
        else random.integers(-1, 51, p.shape.dimensions).astype(np.int32)  # some out of range
        for p in parse_hlo(text).entry.parameters()
    ]
    serial = compiled(text, 1)
    assert not opcodes_on_evaluator(serial) and {d.kind for d in serial.program.decisions} <= {
        "loop-vectorization",
        "loop-nest",
    }
    for threads in (2, 3):
        executable, wanted = compiled(text, threads), serial.execute(inputs)
        cut = any(
            d.accepted
            for d in executable.program.decisions
            if d.kind not in ("loop-vectorization", "loop-nest")
        )
        assert cut, executable.program.decisions
        if name in SUMS_IN_STRETCHES or (
            name in STRETCHES_WITHOUT_FMA and not host_target().has_fma
        ):
            wanted, of_one_thread = executable.execute(inputs), wanted
            for a, b in zip(wanted, of_one_thread, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)
        for _ in range(5):
            for a, b in zip(executable.execute(inputs), wanted, strict=True):
                assert a.shape == b.shape and a.tobytes() == b.tobytes()


def test_the_program_of_one_thread_has_no_tasks():
    text = PROGRAMS["elementwise-long"].replace("10007", "5000000")
    assert "xla_explorer_parallel_for" not in compiled(text, 1).program.text
    assert "xla_explorer_parallel_for" in compiled(text, 2).program.text


def test_the_decision_is_recorded_with_its_numbers():
    session = xe.compile(
        PROGRAMS["transpose"].replace("70", "2000").replace("130", "3000"), threads=2, cache=False
    )
    (row,) = session.decisions(kind="parallel").to_dict("records")
    assert row["verdict"] == "accepted" and row["code"] == "worth-threads"
    assert row["facts"]["tasks"] == 8 and row["facts"]["bytes"] == 2 * 4 * 2000 * 3000
    session = xe.compile(PROGRAMS["transpose"], threads=2, cache=False)
    (row,) = session.decisions(kind="parallel").to_dict("records")
    assert row["verdict"] == "refused" and row["code"] == "too-little-work"


def test_scratch_memory_is_each_tasks_own():
    text = PROGRAMS["sort"].replace("13,200", "64,4096")
    one, two = compiled(text, 1), compiled(text, 2)
    assert two.program.scratch_bytes >= 8 * one.program.scratch_bytes


@pytest.mark.parametrize(
    ("threads", "says"),
    [(0, "at least 1, got 0"), (-3, "got -3"), ("2", "must be an integer, got '2'"), (True, "must be an integer, got True"),
     (1.5, "got 1.5"), (10**9, "at most")],
)  # fmt: skip
def test_no_number_of_threads_is_an_error_with_a_next_step(threads, says):
    with pytest.raises(ValueError, match=says) as found:
        xe.compile(PROGRAMS["sort"], threads=threads)
    assert "threads=2" in found.value.hint
