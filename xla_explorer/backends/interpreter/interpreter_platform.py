"""The evaluator as a backend: requested passes run, then numpy evaluates each instruction."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import (
    CompileOptions,
    CompileResult,
    DeviceMemory,
    KernelTiming,
    LinearTransferManager,
    ProfileResult,
    ProgramStep,
    hlo_stage,
)
from xla_explorer.backends.interfaces.host_arguments import LeafReader, wrong_count
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.rounds import rounds
from xla_explorer.hlo.evaluator import Host, evaluate_here
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]


class InterpreterPlatform:
    """See `backends.interfaces.Platform`."""

    name = "interpreter"
    description = (
        "The numpy reference evaluator: no code generation, every opcode, the values that all "
        "others are checked against."
    )
    option_names: tuple[str, ...] = ()

    def compiler(self) -> InterpreterCompiler:
        """Return the compiler."""
        return InterpreterCompiler()

    def stream_executor(self) -> HostMemoryExecutor:
        """Return host memory."""
        return HostMemoryExecutor()

    def transfer_manager(self) -> LinearTransferManager:
        """Return the converter between literals and numpy arrays."""
        return LinearTransferManager()

    def availability(self) -> Reason | None:
        """Return None: the evaluator is always available."""
        return None


class InterpreterCompiler:
    """See `backends.interfaces.Compiler`.

    Its default pipeline is empty: the module is evaluated as it was written.
    """

    name = "interpreter"

    def default_pipeline(self) -> PassPipeline:
        """Return a pipeline without passes."""
        return PassPipeline("interpreter", ())

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return None: the evaluator refuses at run time."""
        return None

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Run the passes that the options name."""
        pipeline = (
            self.default_pipeline() if options.passes in ("default", "none", "") else options.passes
        )
        return optimize(
            module, pipeline, options.journal, control=options.control, verify=options.verify
        )

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Wrap the module."""
        stages = (
            {"hlo": hlo_stage("hlo", HloModule.from_snapshot(trace.initial))}
            if trace.initial is not None
            else {}
        )
        stages["hlo-optimized"] = hlo_stage("hlo-optimized", trace.module)
        return CompileResult(
            trace, InterpreterExecutable(trace.module), stages, None, {"hlo-passes": trace.seconds}
        )


class InterpreterExecutable:
    """See `backends.interfaces.Executable`."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.host = Host()
        self._leaves = [
            LeafReader(p.name, leaf)
            for p in module.entry.parameters()
            for _, leaf in p.shape.leaves()
        ]
        self.steps = [
            ProgramStep(k, i.id, i.name, i.opcode.name, "evaluator", "evaluator", None)
            for k, i in enumerate(module.entry.post_order())
            if i.opcode.name not in ("parameter", "constant", "tuple", "get-tuple-element")
        ]

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Evaluate the module."""
        if len(arrays) != len(self._leaves):
            raise wrong_count(self._leaves, len(arrays))
        rest = iter(arrays)

        def argument(shape: Shape) -> Any:
            return (
                tuple([argument(part) for part in shape.tuple_shapes])
                if shape.is_tuple
                else next(rest)
            )

        result = evaluate_here(
            self.module,
            [argument(p.shape) for p in self.module.entry.parameters()],
            host=self.host,
        )
        leaves: list[Array] = []

        def flatten(value: Any) -> None:
            if isinstance(value, tuple):
                for part in value:
                    flatten(part)
            elif isinstance(value, (np.ndarray, np.generic)):
                leaves.append(np.asarray(value))

        flatten(result)
        return leaves

    def profile(self, arrays: list[Array], repeats: int = 5) -> ProfileResult:
        """Time whole programs; the evaluator has no kernels to time."""
        totals = []
        for _ in rounds(repeats):
            started = time.perf_counter_ns()
            self.execute(arrays)
            totals.append((time.perf_counter_ns() - started) / 1e3)
        whole = ProgramStep(
            0,
            self.module.entry.root.id,
            self.module.entry.name,
            "entry",
            "evaluator",
            "evaluator",
            None,
        )
        return ProfileResult(tuple(totals), (KernelTiming(whole, 1, tuple(totals)),), 0.0)


class HostMemoryExecutor:
    """Memory as bytearrays: addresses are handles, nothing is launched."""

    def allocate(self, size: int) -> DeviceMemory:
        """Allocate a bytearray."""
        return DeviceMemory(0, size, bytearray(size))

    def deallocate(self, memory: DeviceMemory) -> None:
        """Drop it."""
        memory.handle = None

    def copy_to_device(
        self, target: DeviceMemory, data: bytes | memoryview, stream: Any = None
    ) -> None:
        """Copy bytes in."""
        if len(data) > target.size:
            raise ValueError(f"{len(data)} bytes do not fit into {target.size} bytes")
        target.handle[: len(data)] = bytes(data)

    def copy_from_device(self, source: DeviceMemory, size: int, stream: Any = None) -> bytes:
        """Copy bytes out."""
        if size > source.size:
            raise ValueError(f"cannot read {size} bytes from a device memory of {source.size}")
        return bytes(source.handle[:size])

    def load(self, code: bytes, exports: list[str]) -> Any:
        """Raise NotImplementedError: the interpreter runs HLO, not machine code."""
        raise NotImplementedError("the interpreter loads no machine code")

    def launch(self, loaded: Any, function: str, arguments: list[int], stream: Any = None) -> None:
        """See load."""
        raise NotImplementedError("the interpreter launches no kernels")

    def create_stream(self) -> Any:
        """Return None: all work runs in the calling thread."""
        return None

    def synchronize(self, stream: Any = None) -> None:
        """Do nothing: every call has finished."""
