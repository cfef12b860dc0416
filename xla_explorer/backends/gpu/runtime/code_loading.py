"""Loading of PTX: as a cubin by ptxas or nvJitLink, or as text that the driver compiles.

The first way that works is taken. A driver older than the PTX version rejects the text; an older
ptxas lacks the architecture; a cubin of sm_90a runs on sm_90 devices alone. So each way is tried in
turn, and the error lists all answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.backends.gpu.device_executor import GpuExecutionError, PtxProgram
from xla_explorer.backends.gpu.ptx_assembler import PtxAssemblerError, assemble_ptx, find_ptxas
from xla_explorer.backends.gpu.runtime.cuda_driver import CudaError

# Answers of the driver after which another way is worth trying.
_NOT_THIS_CODE = frozenset(
    {
        "CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "CUDA_ERROR_INVALID_IMAGE",
        "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "CUDA_ERROR_INVALID_SOURCE", "CUDA_ERROR_JIT_COMPILATION_DISABLED",
    }
)  # fmt: skip


def load_program(program: PtxProgram, load: Callable[[bytes], Any]) -> tuple[Any, str]:
    """Return (loaded code, the way: `ptxas`, `nvjitlink` or `driver`).

    GpuExecutionError lists the answer of each way.
    """
    answers: list[str] = []
    for name, make in (("ptxas", _by_ptxas), ("nvjitlink", _by_nvjitlink), ("driver", _as_text)):
        try:
            code = make(program)
        except PtxAssemblerError as problem:
            answers.append(f"{name}: {problem.message}")
            continue
        if isinstance(code, str):
            answers.append(f"{name}: {code}")
            continue
        try:
            return load(code), name
        except CudaError as problem:
            if problem.code not in _NOT_THIS_CODE:
                raise
            answers.append(f"{name}: {problem.message}")
    raise GpuExecutionError(
        f"no way to load kernels for {program.architecture}: " + "; ".join(answers),
        "install a newer ptxas (pip install nvidia-cuda-nvcc) or compile with an older "
        "architecture=",
    )


def _by_ptxas(program: PtxProgram) -> bytes | str:
    if find_ptxas() is None:
        return "is not installed"
    return assemble_ptx(program.text, program.architecture).cubin


def _by_nvjitlink(program: PtxProgram) -> bytes | str:
    try:
        from cuda.bindings import nvjitlink
    except ImportError:
        return "cuda.bindings.nvjitlink is not installed"
    handle: Any = None
    # The binding and cuda-pathfinder raise errors of several kinds of their own.
    try:
        handle = nvjitlink.create(1, [f"-arch={program.architecture}"])
        text = program.text.encode()
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, text, len(text), "module.ptx")
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return bytes(cubin)
    except Exception as problem:
        said = (str(problem).splitlines() or [type(problem).__name__])[0]
        return f"{said}: {_log_of(nvjitlink, handle)}"[:500] if handle is not None else said[:300]
    finally:
        if handle is not None:
            nvjitlink.destroy(handle)


def _log_of(nvjitlink: Any, handle: Any) -> str:
    """Return the linker's error log, on one line."""
    log = bytearray(nvjitlink.get_error_log_size(handle))
    if log:
        nvjitlink.get_error_log(handle, log)
    return " ".join(bytes(log).split(b"\0", 1)[0].decode(errors="replace").split())


def _as_text(program: PtxProgram) -> bytes | str:
    return program.text.encode()
