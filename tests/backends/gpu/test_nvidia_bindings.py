"""The CUDA side through NVIDIA's cuda-bindings, on the fake driver.

It checks their conversions and C's calling convention.

In a process of its own: for it, this machine has a device.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.gpu.driver_library import FOLDER, compiler

HERE = Path(__file__).resolve().parent


def test_every_call_goes_through_the_real_bindings(tmp_path):
    pytest.importorskip(
        "cuda.bindings.driver",
        reason="cuda-bindings is not installed: what the backend passes to it is not checked",
    )
    if compiler() is None or os.name != "posix":
        pytest.skip("no C compiler: what the backend passes to cuda-bindings is not checked")
    chosen = (
        "test_cuda_executor.py",
        "test_gpu_streams.py",
        "test_device_loops.py",
        "test_libraries.py::test_types",
        "test_gpu_device_script.py::test_on_the_cuda_side",
    )
    files = [str(HERE / name) for name in chosen]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        *files,
    ]
    run = subprocess.run(
        command,
        env={**os.environ, FOLDER: str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6000:]
    assert " passed" in run.stdout and (tmp_path / "libcuda.so.1").exists()
