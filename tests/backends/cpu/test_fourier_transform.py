"""Native fft: every kind and class of lengths, against numpy in f64.

Errors are in units of the rounding of the result's size.
"""

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.cpu.cpu_programs import compile_for_cpu, opcodes_on_evaluator
from xla_explorer.compiler.codegen.kernels.fourier import transform
from xla_explorer.compiler.codegen.kernels.fourier.stages import (
    chirp_length,
    radices,
    roots_of_unity,
)
from xla_explorer.compiler.codegen.kernels.fourier.vectors import plan_stages

NUMPY = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn}


def check(kind, batch, lengths, double=False):
    real, complex_ = ("f64", "c128") if double else ("f32", "c64")
    half = (*lengths[:-1], lengths[-1] // 2 + 1)
    source, result = (half if kind == "IRFFT" else lengths), (half if kind == "RFFT" else lengths)
    source_type, result_type = (
        (real if kind == "RFFT" else complex_),
        (real if kind == "IRFFT" else complex_),
    )

    def shape(t, dimensions):
        return f"{t}[{','.join(map(str, (*batch, *dimensions)))}]"

    executable = compile_for_cpu(
        f"HloModule m\nENTRY e {{ x = {shape(source_type, source)} parameter(0)\n ROOT f = {shape(result_type, result)} fft(x), "
        f"fft_type={kind}, fft_length={{{','.join(map(str, lengths))}}} }}"
    )
    assert not opcodes_on_evaluator(executable)
    random = np.random.default_rng(3)
    wide = random.standard_normal((*batch, *source))
    if source_type == complex_:
        wide = wide + 1j * random.standard_normal(wide.shape)
    x = wide.astype(
        {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}[
            source_type
        ]
    )
    (found,) = executable.execute([x])
    axes = tuple(range(-len(lengths), 0))
    wide = x.astype(np.complex128 if source_type == complex_ else np.float64)
    wanted = (
        np.fft.irfftn(wide, s=lengths, axes=axes)
        if kind == "IRFFT"
        else NUMPY[kind](wide, axes=axes)
    )
    size = np.sqrt(np.mean(np.abs(wanted) ** 2))
    rounding = np.finfo(np.float64 if double else np.float32).eps
    assert (
        np.abs(found - wanted).max() <= 6 * max(1, np.log2(np.prod(lengths))) / 2 * rounding * size
    )


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize("length", [1, 2, 17, 37, 210])
def test_one_line(kind, length):
    check(kind, (), (length,))


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize(
    ("batch", "lengths", "double"),
    [((7,), (60,), False), ((), (5, 3, 9), False), ((3,), (37, 4), True), ((2,), (20, 18), False)],
)
def test_batches_and_several_dimensions(kind, batch, lengths, double):
    check(kind, batch, lengths, double)


def test_the_imaginary_parts_of_what_must_be_real_are_ignored():
    executable = compile_for_cpu(
        "HloModule m\nENTRY e { x = c64[5] parameter(0)\n ROOT f = f32[8] fft(x), fft_type=IRFFT, fft_length={8} }"
    )
    x = np.array([1 + 5j, 2, 3j, 4, 5 - 7j], np.complex64)
    np.testing.assert_allclose(
        executable.execute([x])[0], np.fft.irfft(x.astype(np.complex128), 8), atol=1e-6
    )


def test_radices_multiply_to_the_length():
    for length in range(1, 500):
        plan = radices(length)
        assert plan is None or int(np.prod(plan)) == length
        assert plan is not None or chirp_length(length) >= 2 * length - 1
    real, imaginary = roots_of_unity(np.arange(8), 8)
    assert float(real[2]) < 1e-17 and float(imaginary[2]) == -1.0


@pytest.mark.parametrize("kind", ["FFT", "IFFT"])
@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("length", [64, 96, 128, 256, 320, 512, 1024, 4096, 4096 * 3])
@pytest.mark.sampled(12)
def test_lines_cut_into_whole_vectors(kind, length, double):
    check(kind, (3,), (length,), double)


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("side_by_side", [1, 16, 48])
def test_stages_in_vectors(lanes, side_by_side):
    for length in range(1, 1500):
        stages = plan_stages(length, side_by_side, lanes)
        if stages is None:
            assert radices(length) is None
            continue
        n, s = length, side_by_side
        for stage in stages:
            assert (stage.n, stage.s) == (n, s) and n % stage.radix == 0
            assert stage.kind != "blocks" or (lanes % s == 0 and n // stage.radix * s >= lanes)
            assert (stage.kind == "one") == (s >= lanes)
            n, s = n // stage.radix, s * stage.radix
        assert n == 1


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize(
    "length", [30, 75, 81, 98, 130, 243, 250, 343, 500, 508, 509, 1000, 1001, 2 * 37, 2 * 131]
)
@pytest.mark.sampled(20)
def test_lines_of_any_length(kind, length):
    check(kind, (3,), (length,), length % 3 == 0)


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize("lengths", [(128, 64), (48, 40), (5, 70), (37, 2), (19, 33), (3, 6, 20)])
@pytest.mark.parametrize("double", [False, True])
@pytest.mark.sampled(12)
def test_columns_in_vectors(kind, lengths, double):
    check(kind, (2,), lengths, double)


@pytest.mark.parametrize("length", [60, 509, 1000, 4096])
def test_transforms_need_little_code(length):
    """LLVM takes about 30 us for a line."""
    text = f"HloModule m\nENTRY e {{ x = c64[8,{length}] parameter(0)\n ROOT f = c64[8,{length}] fft(x), fft_type=FFT, fft_length={{{length}}} }}"
    assert len(compile_for_cpu(text).program.text.splitlines()) < 800


def test_equal_stages_are_one_piece_of_code():
    def lines(length):
        text = f"HloModule m\nENTRY e {{ x = c64[8,{length}] parameter(0)\n ROOT f = c64[8,{length}] fft(x), fft_type=FFT, fft_length={{{length}}} }}"
        return len(compile_for_cpu(text).program.text.splitlines())

    assert lines(4**9) == lines(4**7)


@pytest.mark.parametrize("length", [2, 4, 8, 12, 64, 1024])
def test_the_middle_of_a_real_transform_is_real(length):
    text = f"""HloModule m
ENTRY e {{
  x = f32[{length}] parameter(0)
  ROOT y = c64[{length // 2 + 1}] fft(x), fft_type=RFFT, fft_length={{{length}}}
}}"""
    x = np.random.default_rng(1).standard_normal(length).astype(np.float32)
    found = xe.compile(text, backend="cpu")(x)
    assert found[0].imag == 0 and found[-1].imag == 0


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize("lengths", [(1,), (1, 1), (2, 1), (1, 2), (1, 7, 1)])
def test_lines_of_one_element(kind, lengths):
    check(kind, (3,), lengths)


@pytest.mark.parametrize("lengths", [(0,), (0, 2), (2, 0), (2, 1, 0)])
def test_no_elements_stay_no_elements(lengths):
    """A size of 0 is no half of anything: RFFT and IRFFT keep it, as StableHLO and XLA say."""
    dims, fft_length = ",".join(map(str, (3, *lengths))), ",".join(map(str, lengths))
    for kind, source, result in (
        ("FFT", "c64", "c64"),
        ("RFFT", "f32", "c64"),
        ("IRFFT", "c64", "f32"),
    ):
        last = (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)
        half = ",".join(map(str, (3, *last)))
        before, after = (half if kind == "IRFFT" else dims), (half if kind == "RFFT" else dims)
        text = f"HloModule m\nENTRY e {{ x = {source}[{before}] parameter(0)\n ROOT f = {result}[{after}] fft(x), fft_type={kind}, fft_length={{{fft_length}}} }}"
        shape = tuple(map(int, before.split(",")))
        (found,) = compile_for_cpu(text).execute(
            [np.zeros(shape, np.float32 if source == "f32" else np.complex64)]
        )
        assert found.shape == tuple(map(int, after.split(","))) and found.size == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1 << 16, 3 << 15, 100_003, 65_538])
def test_roots_of_long_tables_are_rounded_once(length, dtype):
    """A table by products has the values of one by sines, but for the last bit in few places."""
    steps = np.arange(-3, length + 3)
    found = roots_of_unity(steps, length, dtype)
    wanted = np.concatenate(
        [roots_of_unity(part, length) for part in np.array_split(steps, 16)], axis=1
    )
    apart = np.abs(found - wanted) / np.spacing(np.abs(wanted).astype(dtype))
    assert apart.max() < 0.51
    quarters = steps[(4 * steps) % length == 0] + 3
    assert set(np.abs(found[:, quarters]).ravel().tolist()) == {0.0, 1.0}


def test_a_long_line_is_written_once(monkeypatch):
    """Its tables take longer than all other code; threads cannot share one line."""
    written = []
    write = transform._FftWriter.write
    monkeypatch.setattr(
        transform._FftWriter, "write", lambda writer: (written.append(writer), write(writer))
    )
    text = "ENTRY e { x = c64[65536] parameter(0)\n ROOT r = c64[65536] fft(x), fft_type=FFT, fft_length={65536} }"
    xe.compile(text, threads=8)
    assert len(written) == 1
