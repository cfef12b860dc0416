"""OpenBLAS by address: found, right kernels, right values."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from xla_explorer.backends.cpu import blas
from xla_explorer.backends.llvm.target_machine import describe_target, host_target


def test_symbols():
    symbols = blas.blas_symbols()
    for name in (
        "cblas_sgemm",
        "cblas_dgemm",
        "cblas_cgemm",
        "cblas_zgemm",
        "cblas_sgemv",
        "cblas_dgemv",
        "cblas_strsm",
        "cblas_dtrsm",
        "LAPACKE_spotrf",
        "LAPACKE_dpotrf",
        "spotrf_",
        "dpotrf_",
        "strtri_",
    ):
        assert symbols[name] == blas.symbol_address(name) != 0
    with pytest.raises(KeyError):
        blas.symbol_address("cblas_nonsense")


def test_sgemm_value():
    matrix = (ctypes.c_void_p, ctypes.c_int)
    signature = ctypes.CFUNCTYPE(
        None, *[ctypes.c_int] * 6, ctypes.c_float, *matrix, *matrix, ctypes.c_float, *matrix
    )
    gemm = signature(blas.symbol_address("cblas_sgemm"))
    a, b = (
        np.random.default_rng(0).random((5, 7), "f4"),
        np.random.default_rng(1).random((7, 3), "f4"),
    )
    out = np.empty((5, 3), "f4")
    gemm(
        blas.CBLAS_ROW_MAJOR,
        blas.CBLAS_NO_TRANSPOSE,
        blas.CBLAS_NO_TRANSPOSE,
        5,
        3,
        7,
        1.0,
        a.ctypes.data,
        7,
        b.ctypes.data,
        3,
        0.0,
        out.ctypes.data,
        3,
    )
    np.testing.assert_allclose(out, a @ b, rtol=1e-6)


def test_cholesky_value():
    potrf = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_int, ctypes.c_char, ctypes.c_int, ctypes.c_void_p, ctypes.c_int
    )(blas.symbol_address("LAPACKE_dpotrf"))
    a = np.array([[4.0, 2.0], [2.0, 3.0]])
    expected = np.linalg.cholesky(a)
    assert potrf(blas.CBLAS_ROW_MAJOR, b"L", 2, a.ctypes.data, 2) == 0
    np.testing.assert_allclose(np.tril(a), expected)


def test_core_type_rule():
    features = "+avx512f,+avx512bw,+avx512dq,+avx512vl"
    assert (
        blas.preferred_core_type(describe_target("x86_64-linux-gnu", "znver5", features))
        == "SkylakeX"
    )
    assert blas.preferred_core_type(describe_target("x86_64-linux-gnu", "znver3", "+avx2")) is None
    assert (
        blas.preferred_core_type(describe_target("x86_64-linux-gnu", "sapphirerapids", features))
        is None
    )


def test_loading_leaves_the_environment_alone_and_uses_the_wanted_kernels():
    code = (
        "import os\nbefore = dict(os.environ)\n"
        "from xla_explorer.backends.cpu.blas import corename\nname = corename()\n"
        "assert dict(os.environ) == before\nimport sys\nassert 'scipy_openblas32' not in sys.modules\nprint(name)"
    )
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")
    }
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    wanted = blas.preferred_core_type(host_target())
    assert result.stdout.strip() == wanted if wanted else result.stdout.strip()


def test_missing_wheel(monkeypatch):
    monkeypatch.setattr(blas.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(blas.BlasUnavailableError, match="pip install scipy-openblas32"):
        blas.blas_library_path()
