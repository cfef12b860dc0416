"""The tile machine as a backend of xla_explorer: the minimum around the student's compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import (
    CompileOptions,
    CompileResult,
    KernelTiming,
    LinearTransferManager,
    ProfileResult,
    ProgramStep,
    hlo_stage,
)
from xla_explorer.backends.interpreter.interpreter_platform import HostMemoryExecutor
from xla_explorer.backends.registry import register
from xla_explorer.compiler.pipeline.default_pipelines import requested_pipeline
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.course.capstone.tile_machine import TileMachine
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
Run = Callable[[list[Array]], Array]
Load = Callable[[HloModule, TileMachine], Run]
NAME = "tiles"
CYCLES_A_MICROSECOND = 1000.0  # a clock of 1 GHz


def register_tiles(load: Load) -> TileMachine:
    r"""Register `backend="tiles"` in this process, with a function that loads compiled modules.

    Parameters
    ----------
    load
        From an optimised module and the machine to a function of the list of arguments that returns
        the result's array. It is called once for each compile; `xe.compile` passes its exceptions
        on.

    Returns
    -------
    TileMachine
        The one device, on which everything is loaded.

    Examples
    --------
    >>> from xla_explorer.course.capstone import register_tiles
    >>> machine = register_tiles(lambda module, machine: lambda arguments: arguments[0])
    >>> import numpy as np, xla_explorer as xe
    >>> text = "HloModule m\nENTRY e { ROOT x = f32[8,8] parameter(0) }"
    >>> xe.compile(text, backend="tiles")(np.ones((8, 8), np.float32)).sum()
    np.float32(64.0)
    """
    machine = TileMachine()
    register(TilePlatform(load, machine))
    return machine


class TilePlatform:
    """See `backends.interfaces.Platform`."""

    name = NAME
    description = (
        "The accelerator of the course: a scratchpad of tiles, a matrix unit, a vector unit and "
        "a DMA engine."
    )

    def __init__(self, load: Load, machine: TileMachine) -> None:
        self._load, self.machine = load, machine

    def compiler(self) -> TileCompiler:
        """Return the compiler."""
        return TileCompiler(self._load, self.machine)

    def stream_executor(self) -> HostMemoryExecutor:
        """Return an executor without a queue: the machine copies whole arrays at once."""
        return HostMemoryExecutor()

    def transfer_manager(self) -> LinearTransferManager:
        """Return a transfer manager for numpy's layout of arrays."""
        return LinearTransferManager()

    def availability(self) -> Reason | None:
        """Return None: the machine runs everywhere."""
        return None


class TileCompiler:
    """See `backends.interfaces.Compiler`."""

    name = NAME

    def __init__(self, load: Load, machine: TileMachine) -> None:
        self._load, self._machine = load, machine

    def default_pipeline(self) -> PassPipeline:
        """Remove what is computed twice or has no user before code is made for the machine."""
        return PassPipeline(NAME, (make_pass("cse"), make_pass("dce")))

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return None: the student's function decides when it loads a module."""
        return None

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module."""
        pipeline = requested_pipeline(options.passes, self.default_pipeline())
        return optimize(
            module, pipeline, options.journal, control=options.control, verify=options.verify
        )

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Load the module."""
        stages = {"hlo-optimized": hlo_stage("hlo-optimized", trace.module)}
        executable = TileExecutable(
            trace.module, self._machine, self._load(trace.module, self._machine)
        )
        return CompileResult(trace, executable, stages, None, {"hlo-passes": trace.seconds})


class TileExecutable:
    """See `backends.interfaces.Executable`."""

    def __init__(self, module: HloModule, machine: TileMachine, run: Run) -> None:
        self.module, self._machine, self._run = module, machine, run
        root = module.entry.root
        self.steps = [ProgramStep(0, root.id, root.name, root.opcode.name, "kernel", NAME, None)]

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Run it on the machine."""
        return [np.asarray(self._run(arrays))]

    def profile(self, arrays: list[Array], repeats: int = 1) -> ProfileResult:
        """Return one measurement in cycles of the machine, which are the same in every run."""
        before = self._machine.cycles
        self.execute(arrays)
        took = (self._machine.cycles - before) / CYCLES_A_MICROSECOND
        return ProfileResult((took,), (KernelTiming(self.steps[0], 1, (took,)),), 0.0)
