"""Run calls of cuBLAS, cuBLASLt, cuDNN, cuFFT and cuSOLVER; create handles and plans on first use.

A workspace belongs to a stream, because calls on different streams run concurrently. A new kind of
`LibraryCall` needs a branch of `LibraryRunner.run`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.device_executor import DeviceExecutor, GpuExecutionError, PtxProgram
from xla_explorer.backends.gpu.libraries import cholesky_finish
from xla_explorer.backends.gpu.libraries.convolution import ConvolutionPlan
from xla_explorer.backends.gpu.libraries.fft import FftPlan
from xla_explorer.backends.gpu.libraries.matmul import WORKSPACE_BYTES, MatmulPlan, alignment_of
from xla_explorer.backends.gpu.libraries.shared_objects import SharedObject, find_library
from xla_explorer.backends.gpu.libraries.solver import (
    SIZES,
    cholesky_workspace,
    factor,
    solve_triangular,
)
from xla_explorer.backends.interfaces import DeviceMemory
from xla_explorer.compiler.transforms.library_calls.library_call import (
    CholeskyCall,
    ConvolutionCall,
    FftCall,
    LibraryCall,
    MatmulCall,
    TriangularSolveCall,
)
from xla_explorer.foundation.reason import Reason, refuse

_CREATE = {
    "cublasLt": "cublasLtCreate",
    "cublas": "cublasCreate_v2",
    "cusolver": "cusolverDnCreate",
    "cudnn": "cudnnCreate",
}
_DESTROY = {"cublasLt": "cublasLtDestroy", "cublas": "cublasDestroy_v2", "cusolver": "cusolverDnDestroy",
            "cudnn": "cudnnDestroy"}  # fmt: skip


class LibraryRunner:
    """Runs the library calls of one device.

    find: a function that returns a library by its name, or a refusal.
    """

    def __init__(
        self, executor: DeviceExecutor, find: Callable[[str], SharedObject | Reason] = find_library
    ) -> None:
        self.executor, self.find = executor, find
        self._handles: dict[str, ctypes.c_void_p] = {}
        self._matmuls: dict[tuple[MatmulCall, tuple[int, int, int]], MatmulPlan] = {}
        self._convolutions: dict[ConvolutionCall, ConvolutionPlan] = {}
        self._ffts: dict[tuple[FftCall, int], FftPlan] = {}
        self._spaces: dict[tuple[int, str, int], DeviceMemory] = {}

    def run(
        self, call: LibraryCall, operands: Sequence[int], result: int, stream: Any = None
    ) -> None:
        """Enqueue a call on a stream; GpuExecutionError if the library is missing or fails.

        operands: addresses of the instruction's operands. stream: a stream of the executor; None is
        its main stream.
        """
        queue = self.executor.stream_address(stream)
        if isinstance(call, MatmulCall):
            self._matmul(call, operands, result, queue, stream)
        elif isinstance(call, FftCall):
            self._fft(call, operands[0], result, queue, stream)
        elif isinstance(call, ConvolutionCall):
            self._convolution(call, operands, result, queue, stream)
        elif isinstance(call, CholeskyCall):
            self._cholesky(call, operands[0], result, queue, stream)
        else:
            self._triangular_solve(call, operands, result, queue, stream)

    def why_not(self, call: LibraryCall) -> Reason | None:
        """Return None if the library supports a call, else a refusal (see `LibraryCaller`).

        Only convolutions are checked, because cuDNN supports only some types, sizes and strides.
        """
        if not isinstance(call, ConvolutionCall):
            return None
        # Make the context of the device current: the objects of the library belong to it.
        self.executor.synchronize()
        try:
            self._convolution_plan(call)
        except GpuExecutionError as problem:
            if problem.fatal:
                raise
            return refuse("no-algorithm", problem.message, form=call.form, type=call.type)
        return None

    def close(self) -> None:
        """Destroy all handles, plans and workspaces."""
        plans: list[MatmulPlan | FftPlan | ConvolutionPlan] = [
            *self._matmuls.values(), *self._ffts.values(), *self._convolutions.values(),
        ]  # fmt: skip
        for plan in plans:
            plan.close()
        for name, handle in self._handles.items():
            self._library(name).call(_DESTROY[name], handle)
        for memory in self._spaces.values():
            self.executor.deallocate(memory)
        for kept in (self._matmuls, self._ffts, self._convolutions, self._handles, self._spaces):
            kept.clear()

    def _library(self, name: str) -> SharedObject:
        found = self.find(name)
        if isinstance(found, Reason):
            raise GpuExecutionError(
                found.message,
                'install it, or compile with libraries="never" to use our own kernels',
            )
        return found

    def _handle(self, name: str) -> ctypes.c_void_p:
        found = self._handles.get(name)
        if found is None:
            found = ctypes.c_void_p()
            self._library(name).call(_CREATE[name], ctypes.byref(found))
            self._handles[name] = found
        return found

    def _stream_key(self, stream: Any) -> int:
        """Return the key under which a stream's plans and workspaces are stored.

        During the capture of a CUDA graph another stream replaces the main stream. Both have the
        key 0, so that the graph uses the same workspaces.
        """
        return 0 if stream is None else self.executor.stream_address(stream)

    def _space(self, stream: Any, purpose: str, size: int) -> DeviceMemory:
        """Return the workspace of a stream for a purpose, of at least `size` bytes.

        Its address stays fixed, because captured CUDA graphs contain it.
        """
        room = 1 << (max(size, 256) - 1).bit_length()
        key = self._stream_key(stream)
        kept = self._spaces.get((key, purpose, room))
        if kept is None:
            kept = self._spaces[key, purpose, room] = self.executor.allocate_named(room, purpose)
        return kept

    def _matmul(
        self, call: MatmulCall, operands: Sequence[int], result: int, queue: int, stream: Any
    ) -> None:
        left, right, *rest = [operands[place] for place in call.operands]
        bias = rest[0] if rest else None
        alignments = (alignment_of(left), alignment_of(right), alignment_of(result))
        plan = self._matmuls.get((call, alignments))
        if plan is None:
            plan = MatmulPlan(
                self._library("cublasLt"), self._handle("cublasLt"), call, bias, alignments
            )
            self._matmuls[call, alignments] = plan
        plan.run(
            left,
            right,
            result,
            bias,
            self._space(stream, "cuBLASLt", WORKSPACE_BYTES).address,
            queue,
        )

    def _convolution(
        self, call: ConvolutionCall, operands: Sequence[int], result: int, queue: int, stream: Any
    ) -> None:
        plan = self._convolution_plan(call)
        plan.run(
            operands[0],
            operands[1],
            result,
            self._space(stream, "cuDNN", plan.workspace_bytes).address,
            queue,
        )

    def _convolution_plan(self, call: ConvolutionCall) -> ConvolutionPlan:
        handle, plan = self._handle("cudnn"), self._convolutions.get(call)
        if plan is None:
            plan = self._convolutions[call] = ConvolutionPlan(self._library("cudnn"), handle, call)
        return plan

    def _fft(self, call: FftCall, operand: int, result: int, queue: int, stream: Any) -> None:
        # A plan has a single workspace, so each stream has its own plans.
        key = self._stream_key(stream)
        plan = self._ffts.get((call, key))
        if plan is None:
            plan = self._ffts[call, key] = FftPlan(self._library("cufft"), call)
        if call.direction == "IRFFT":  # cuFFT may overwrite the operand
            space = self._space(stream, "cuFFT", plan.operand_bytes)
            self.executor.copy_on_device(operand, space.address, plan.operand_bytes, stream)
            operand = space.address
        plan.run(operand, result, queue)
        if call.direction in ("IFFT", "IRFFT"):
            plan.scale(self._library("cublas"), self._handle("cublas"), result, queue)

    def _triangular_solve(
        self,
        call: TriangularSolveCall,
        operands: Sequence[int],
        result: int,
        queue: int,
        stream: Any,
    ) -> None:
        matrix, right = operands[:2]
        size = SIZES[call.type] * call.rows * call.columns * call.batch
        if right != result:
            self.executor.copy_on_device(right, result, size, stream)
        solve_triangular(
            self._library("cublas"), self._handle("cublas"), call, matrix, result, queue
        )

    def _cholesky(
        self, call: CholeskyCall, operand: int, result: int, queue: int, stream: Any
    ) -> None:
        library, handle = self._library("cusolver"), self._handle("cusolver")
        if operand != result:
            self.executor.copy_on_device(
                operand, result, SIZES[call.type] * call.n * call.n * call.batch, stream
            )
        size = cholesky_workspace(library, handle, call)
        space, status = (
            self._space(stream, "cuSOLVER", size),
            self._space(stream, "cuSOLVER status", 4 * call.batch),
        )
        factor(library, handle, call, result, space.address, size, status.address, queue)
        architecture = gpu_architecture(self.executor.facts.architecture)
        text = cholesky_finish.ptx(architecture, call.type, call.n, call.batch, call.lower)
        loaded = self.executor.load_ptx(PtxProgram(text, architecture.name, ()))
        blocks = cholesky_finish.blocks_of(call.type, call.n, call.batch)
        arguments = [result, status.address]
        self.executor.launch_kernel(
            loaded, cholesky_finish.NAME, blocks, cholesky_finish.BLOCK, arguments, 0, stream
        )
