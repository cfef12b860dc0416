"""Fourier transforms: every kind, length class and rank up to three; errors by the norm."""

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import run

RANDOM = np.random.default_rng(13)
TYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}


def module(kind, full, rank, complex_type):
    """(HLO, input): full are the dimensions with whole spectra."""
    real = "f32" if complex_type == "c64" else "f64"
    half = (*full[:-1], full[-1] // 2 + 1)
    (a, given), (b, made) = {
        "FFT": ((complex_type, full), (complex_type, full)),
        "IFFT": ((complex_type, full), (complex_type, full)),
        "RFFT": ((real, full), (complex_type, half)),
        "IRFFT": ((complex_type, half), (real, full)),
    }[kind]
    x = RANDOM.standard_normal(given) + (
        1j * RANDOM.standard_normal(given) if a.startswith("c") else 0
    )
    sizes, result, lengths = [
        ",".join(map(str, d)) for d in (given, made, full[len(full) - rank :])
    ]
    text = f"HloModule m\nENTRY e {{ x = {a}[{sizes}] parameter(0) ROOT r = {b}[{result}] fft(x), fft_type={kind}, fft_length={{{lengths}}} }}"
    return text, x.astype(TYPES[a])


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "full", "rank", "complex_type", "kernels"),
    [
        ("FFT", (3, 8), 1, "c64", 1),
        ("FFT", (1, 1), 1, "c64", 1),
        ("IFFT", (2, 100), 1, "c64", 1),
        ("RFFT", (3, 16), 1, "c64", 1),
        ("IRFFT", (3, 9), 1, "c64", 1),
        ("RFFT", (3, 9), 2, "c64", 2),
        ("IRFFT", (2, 6, 8), 3, "c128", 3),
        ("IFFT", (6, 10, 30), 3, "c64", 3),
        ("FFT", (2, 17), 1, "c64", 1),  # summed up directly
        ("IRFFT", (2, 34), 1, "c128", 1),
        ("FFT", (2, 4096), 1, "c64", 1),
        ("RFFT", (1, 3000), 1, "c128", 5),  # a kernel per stage
        ("FFT", (2, 521), 1, "c64", 5),  # a chirp
        ("IRFFT", (1, 1042), 1, "c64", 11),
    ],
)
@pytest.mark.sampled(3)
def test_values(kind, full, rank, complex_type, kernels):
    text, x = module(kind, full, rank, complex_type)
    ran = run(text, x, assemble=kernels > 1 or full[-1] < 20)
    assert ran.emitted.emitter == "fft" and len(ran.emitted.kernels) == kernels
    found, wanted = ran.values[0], ran.wanted[0]
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    error = np.linalg.norm(found.astype(np.complex128) - wanted) / np.linalg.norm(wanted)
    assert error < (1e-6 if complex_type == "c64" else 1e-13)


def test_what_real_spectra_cannot_have_is_ignored():
    text, x = module("IRFFT", (1, 8), 1, "c64")
    x[0, 0] += 3j
    x[0, -1] -= 2j
    ran = run(text, x, assemble=False)
    np.testing.assert_allclose(ran.values[0], np.fft.irfft(x.astype(np.complex128), 8), atol=1e-6)
