"""Prototypes and constants of NVIDIA's libraries against the headers in their wheels."""

import ctypes
import os
import re
import sys
from pathlib import Path

import pytest

from xla_explorer.backends.gpu.libraries import fft, matmul, shared_objects
from xla_explorer.backends.gpu.libraries.prototypes import PROTOTYPES

HEADERS = (
    "cublasLt.h",
    "cublas_api.h",
    "cublas_v2.h",
    "cufft.h",
    "cusolverDn.h",
    "cusolver_common.h",
)
# C types that are passed as they are; every other one is a pointer, be it a handle's.
PLAIN = {
    "int": ctypes.c_int, "size_t": ctypes.c_size_t, "uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64, "cufftHandle": ctypes.c_int,
    **dict.fromkeys(("cudaDataType", "cudaDataType_t", "cublasComputeType_t", "cublasLtMatmulDescAttributes_t", "cufftType",
                     "cublasLtMatrixLayoutAttribute_t", "cublasLtMatmulPreferenceAttributes_t", "cublasSideMode_t", "cublasFillMode_t",
                     "cublasOperation_t", "cublasDiagType_t"), ctypes.c_int),
}  # fmt: skip


@pytest.fixture(scope="module")
def text():
    """All headers, without comments.

    XLA_EXPLORER_CUDA_INCLUDE names a folder outside of the package manager's.
    """
    folders = [
        os.environ.get("XLA_EXPLORER_CUDA_INCLUDE", ""),
        "/usr/local/cuda/include",
        "/usr/include",
    ]
    folders += [
        f"{path}/nvidia/{part}/include"
        for path in sys.path
        for part in ("cu13", "cublas", "cufft", "cusolver")
    ]
    found = {
        name: next(
            (p for folder in folders if folder and (p := Path(folder) / name).exists()), None
        )
        for name in HEADERS
    }
    if missing := [name for name, path in found.items() if path is None]:
        pytest.skip(
            f"{', '.join(missing)} not found (nvidia-cublas, nvidia-cufft, nvidia-cusolver): prototypes are not checked"
        )
    whole = "\n".join(path.read_text(errors="replace") for path in found.values())
    return re.sub(r"//.*", "", re.sub(r"/\*.*?\*/", " ", whole, flags=re.DOTALL))


def declared(text, function):
    match = re.search(rf"\b{function}\s*\(([^)]*)\)", text)
    assert match, function
    arguments = [" ".join(a.split()) for a in match[1].split(",")]
    return [
        ctypes.c_void_p
        if "*" in a or "[" in a
        else PLAIN.get(a.rsplit(" ", 1)[0].removeprefix("const "), ctypes.c_void_p)
        for a in arguments
    ]


@pytest.mark.parametrize(
    "function", sorted(f for f in PROTOTYPES if f.startswith(("cublas", "cufft", "cusolver")))
)
def test_prototypes(text, function):
    assert declared(text, function) == list(PROTOTYPES[function])


def number(text, name):
    match = re.search(rf"\b{name}\s*=\s*(\(?[^,}}]*)", text)
    assert match, name
    value = match[1].strip()
    return eval(re.sub(r"[A-Z]\w+", lambda m: str(number(text, m[0])), value))


def test_numbers(text):
    expected = {
        f"CUBLASLT_MATMUL_DESC_{n}": getattr(matmul, n)
        for n in ("TRANSA", "TRANSB", "EPILOGUE", "BIAS_POINTER", "BIAS_DATA_TYPE")
    }
    expected |= {
        f"CUBLASLT_MATRIX_LAYOUT_{n}": getattr(matmul, n)
        for n in ("BATCH_COUNT", "STRIDED_BATCH_OFFSET")
    }
    expected |= {
        f"CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_{m}_BYTES": n
        for m, n in zip("ABCD", matmul.MIN_ALIGNMENTS, strict=True)
    }
    expected["CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES"] = matmul.MAX_WORKSPACE_BYTES
    expected |= {
        f"CUBLASLT_EPILOGUE_{'DEFAULT' if n == 'none' else n.upper()}": v
        for n, v in matmul.EPILOGUES.items()
    }
    expected |= {
        f"CUBLAS_COMPUTE_{c}": matmul.COMPUTE_TYPES[n]
        for n, c in (("f32", "32F"), ("f64", "64F"), ("tf32", "32F_FAST_TF32"))
    }
    expected |= {f"CUFFT_{name}": value for value, name in fft.TRANSFORMS.values()}
    for prefix, table in (("CUBLAS_STATUS", shared_objects._CUBLAS_STATUS), ("CUFFT", shared_objects._CUFFT_STATUS),
                          ("CUSOLVER_STATUS", shared_objects._CUSOLVER_STATUS)):  # fmt: skip
        expected |= {f"{prefix}_{name}": value for value, name in table.items()}
    assert {name: number(text, name) for name in expected} == expected


def test_structures(text):
    (algorithm,) = re.findall(r"typedef struct \{([^}]*)\}\s*cublasLtMatmulAlgo_t;", text)
    assert (
        algorithm.split() == ["uint64_t", "data[8];"]
        and ctypes.sizeof(matmul.MatmulAlgorithm) == 64
    )
    (result,) = re.findall(r"typedef struct \{([^}]*)\}\s*cublasLtMatmulHeuristicResult_t;", text)
    fields = [" ".join(line.split()) for line in result.split(";") if line.strip()]
    assert [f.rsplit(" ", 1)[0] for f in fields] == [
        "cublasLtMatmulAlgo_t",
        "size_t",
        "cublasStatus_t",
        "float",
        "int",
    ]
    assert (
        fields[-1].endswith("[4]") and ctypes.sizeof(matmul.HeuristicResult) == 64 + 8 + 4 + 4 + 16
    )
