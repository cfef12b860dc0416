"""Real XLA behind the interfaces of a backend."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import (
    CompileOptions,
    CompileResult,
    LinearTransferManager,
    ProfileResult,
    ProgramStep,
)
from xla_explorer.backends.interpreter.interpreter_platform import HostMemoryExecutor
from xla_explorer.backends.xla.child import XlaChild
from xla_explorer.backends.xla.dumped_compile import dumped_stages, dumped_trace
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.compiler.pipeline import PassPipeline, PassTrace
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.optional import MissingExtraError
from xla_explorer.foundation.reason import Reason
from xla_explorer.frontends.xla_dump import DumpFolder, read_stages
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
_NOTHING_RUNS = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})


class XlaPlatform:
    """See `backends.interfaces.Platform`."""

    name = "xla"
    description = "Real XLA:CPU of jaxlib, in a child process, with its dump of every pass; for comparison."
    option_names: tuple[str, ...] = ()

    def compiler(self) -> XlaCompiler:
        """The compiler."""
        return XlaCompiler()

    def stream_executor(self) -> HostMemoryExecutor:
        """Host memory: the child has its own."""
        return HostMemoryExecutor()

    def transfer_manager(self) -> LinearTransferManager:
        """Literals as numpy arrays."""
        return LinearTransferManager()

    def availability(self) -> Reason | None:
        """Whether jaxlib is installed."""
        if find_spec("jaxlib") is None or find_spec("jax") is None:
            return Reason("jax-not-installed", 'real XLA comes with jax: pip install "xla-explorer[jax]"', {"extra": "jax"})
        return None


class XlaCompiler:
    """See `backends.interfaces.Compiler`. XLA decides about its passes: `passes=`, journal levels and overrides do not reach it."""

    name = "xla"

    def default_pipeline(self) -> PassPipeline:
        """Nothing of ours."""
        return PassPipeline("xla", ())

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """XLA answers when it compiles."""
        return None

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Let XLA compile the module and read its dump.

        Raises:
            MissingExtraError: jax is not installed.
            XlaProcessError: XLA refuses the module or dies of it.
        """
        reason = XlaPlatform().availability()
        if reason is not None:
            raise MissingExtraError(reason.message, 'pip install "xla-explorer[jax]"')
        child = XlaChild(options.threads)
        names = SourceNames(module)
        seconds = child.ask("compile", names.text)
        # The client itself compiles nothing, so the one module of the dump is ours.
        with collector_paused():
            dumped = DumpFolder(child.folder).module()
            stages, optimised = read_stages(dumped, module, names.restore)
            trace = dumped_trace(stages, optimised)
        trace.seconds = sum(seconds.values())
        self._last = child, seconds, dumped, HloModule.from_snapshot(stages[0].snapshot)
        return trace

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """What the child compiled in run_hlo_passes."""
        child, seconds, dumped, source = self._last
        return CompileResult(trace, XlaExecutable(child, trace.module), dumped_stages(dumped, source, trace.module), None, seconds)


class XlaExecutable:
    """See `backends.interfaces.Executable`."""

    def __init__(self, child: XlaChild, module: HloModule) -> None:
        self.child, self.module = child, module
        self.steps = [
            ProgramStep(k, i.id, i.name, i.opcode.name, "kernel", i.name, None)
            for k, i in enumerate(module.entry.sequence())
            if i.opcode.name not in _NOTHING_RUNS
        ]

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Run in the child; arrays travel by pipe."""
        return list(self.child.ask("run", [np.asarray(a) for a in arrays]))

    def profile(self, arrays: list[Array], repeats: int = 5) -> ProfileResult:
        """Whole-program times measured in the child. XLA:CPU says nothing about single kernels."""
        self.child.ask("run", arrays)
        samples = tuple(self.child.ask("time", arrays, repeats))
        return ProfileResult(samples, (), 0.0)
