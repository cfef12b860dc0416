"""Runners of programs for other CPUs: qemu, wasmtime, or this CPU if it can execute them.

For qemu a program is linked with a small C driver. A runner that cannot run names the missing tool
and the command that installs it.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import re
import shutil
import struct
import subprocess
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from xla_explorer.backends.llvm.target_machine import describe_target, why_not_here
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse

if TYPE_CHECKING:
    from xla_explorer.backends.aot.ahead_of_time import AheadOfTimeProgram
    from xla_explorer.backends.llvm.cpu_targets import CpuTarget
    from xla_explorer.backends.llvm.target_machine import TargetDescription

DRIVER = Path(__file__).with_name("driver.c")
_COMMANDS = {"gcc": "apt-get install gcc", "wasm-ld": "apt-get install lld"}
_C_COMPILER = re.compile(r"(.+-linux-gnu\w*)-gcc(-\d+)?")


class RunFailedError(XlaExplorerError):
    """A foreign program could not be linked, or ended with an error."""


class Runner(Protocol):
    """A runner of programs.

    It takes the bytes of the inputs and returns those of the outputs, with the time of each of
    `repeats` runs in microseconds.
    """

    def run(
        self, program: AheadOfTimeProgram, inputs: list[bytes], repeats: int
    ) -> tuple[list[bytes], tuple[float, ...]]:
        """Run the program; RunFailedError with the tool's message if it fails."""
        ...


def install_command(program: str) -> str:
    """Return the command that installs a tool, by its package in Debian."""
    if program in _COMMANDS:
        return _COMMANDS[program]
    if program.startswith("qemu-"):
        return "apt-get install qemu-user"
    compiler = _C_COMPILER.fullmatch(program)
    return (
        f"apt-get install gcc-{compiler[1].replace('_', '-')}"
        if compiler
        else f"install {program} and put it on the PATH"
    )


def runner_availability(
    target: CpuTarget, description: TargetDescription | None = None
) -> Reason | None:
    """Return None if programs for the target can run here, else the missing tool.

    The reason has the command that installs it.
    """
    if not target.runner:
        return refuse(
            "inspect-only",
            f"{target.name} code can be compiled and inspected; nothing here runs it",
            triple=target.triple,
        )
    programs = [target.compiler, *target.emulator[:1]]
    for program in programs:
        if shutil.which(program) is None:
            fix = install_command(program)
            return refuse(
                "tool-missing",
                f"running {target.name} code needs {program}: {fix}",
                program=program,
                command=fix,
            )
    if target.runner == "wasmtime" and importlib.util.find_spec("wasmtime") is None:
        return refuse(
            "tool-missing",
            "running wasm32 code needs wasmtime: pip install wasmtime",
            command="pip install wasmtime",
        )
    if target.runner == "native":
        return why_not_here(description or describe_target(target.triple))
    return None


def make_runner(target: CpuTarget) -> Runner:
    """Return the runner of a target that `runner_availability` accepts."""
    return WasmRunner() if target.runner == "wasmtime" else ProcessRunner(target)


def run_tool(arguments: list[str], what: str) -> None:
    """Run a tool; RunFailedError with the end of the tool's output if it fails."""
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise RunFailedError(
            f"{what} ended with status {done.returncode}: {said or 'no message'}",
            " ".join(arguments),
        )


class _Folder:
    """A temporary folder, deleted with its owner."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="xla_explorer_"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


_DRIVERS: dict[str, tuple[_Folder, Path]] = {}


def _driver_object(compiler: str) -> Path:
    """Return the driver, compiled once a process for each C compiler."""
    if compiler not in _DRIVERS:
        folder = _Folder()
        made = folder.path / "driver.o"
        run_tool([compiler, "-O1", "-c", str(DRIVER), "-o", str(made)], "compiling the driver")
        _DRIVERS[compiler] = folder, made
    return _DRIVERS[compiler][1]


class ProcessRunner:
    """Runner that links with the driver and starts the program, under an emulator if needed."""

    def __init__(self, target: CpuTarget) -> None:
        self.target = target
        self._folder = _Folder()
        self._linked: Path | None = None

    def _link(self, program: AheadOfTimeProgram) -> Path:
        if self._linked is None:
            made, code = self._folder.path / "program", self._folder.path / "module.o"
            code.write_bytes(program.object_bytes)
            driver = _driver_object(self.target.compiler)
            run_tool(
                [self.target.compiler, "-static", str(driver), str(code), "-o", str(made), "-lm"],
                "linking",
            )
            self._linked = made
        return self._linked

    def run(
        self, program: AheadOfTimeProgram, inputs: list[bytes], repeats: int
    ) -> tuple[list[bytes], tuple[float, ...]]:
        """See `Runner`."""
        linked = self._link(program)
        sizes = [buffer.shape.byte_size for buffer in program.outputs]
        numbers = [
            repeats,
            program.workspace_bytes,
            len(inputs),
            *map(len, inputs),
            len(sizes),
            *sizes,
        ]
        given, answer = self._folder.path / "inputs", self._folder.path / "outputs"
        given.write_bytes(struct.pack(f"<{len(numbers)}q", *numbers) + b"".join(inputs))
        run_tool(
            [*self.target.emulator, str(linked), str(given), str(answer)],
            f"the {self.target.name} program",
        )
        raw = answer.read_bytes()
        times = struct.unpack_from(f"<{repeats}q", raw)
        results = []
        at = 8 * repeats
        for size in sizes:
            results.append(raw[at : at + size])
            at += size
        return results, tuple([nanoseconds / 1e3 for nanoseconds in times])


class WasmRunner:
    """Runner that links with wasm-ld and runs the program in this process, in wasmtime."""

    def __init__(self) -> None:
        self._code: bytes | None = None

    def _link(self, program: AheadOfTimeProgram) -> bytes:
        if self._code is None:
            with tempfile.TemporaryDirectory() as folder:
                code, made = Path(folder, "module.o"), Path(folder, "module.wasm")
                code.write_bytes(program.object_bytes)
                exports = [f"--export={program.prefix}_run", "--export=__heap_base"]
                run_tool(["wasm-ld", "--no-entry", *exports, str(code), "-o", str(made)], "linking")
                self._code = made.read_bytes()
        return self._code

    def run(
        self, program: AheadOfTimeProgram, inputs: list[bytes], repeats: int
    ) -> tuple[list[bytes], tuple[float, ...]]:
        """See `Runner`."""
        import time

        import wasmtime

        engine = _wasm_engine()
        store = wasmtime.Store(engine)
        instance = wasmtime.Instance(store, wasmtime.Module(engine, self._link(program)), [])
        exports: Any = instance.exports(store)
        memory = exports["memory"]
        place = -(-int(exports["__heap_base"].value(store)) // 64) * 64

        def reserve(size: int) -> int:
            nonlocal place
            found, place = place, place + -(-max(size, 1) // 64) * 64
            return found

        sizes = [buffer.shape.byte_size for buffer in program.outputs]
        in_places, out_places = (
            [reserve(len(data)) for data in inputs],
            [reserve(size) for size in sizes],
        )
        workspace = reserve(program.workspace_bytes)
        tables = [reserve(4 * len(places)) for places in (in_places, out_places)]
        missing = place - memory.data_len(store)
        if missing > 0:
            with _wasm_errors("growing the memory"):
                memory.grow(store, -(-missing // 65536))
        for table, places in zip(tables, (in_places, out_places), strict=True):
            memory.write(store, struct.pack(f"<{len(places)}I", *places), table)
        times = []
        for data, at in zip(inputs, in_places, strict=True):
            memory.write(store, data, at)
        entry = exports[f"{program.prefix}_run"]
        for _ in range(repeats):
            started = time.perf_counter_ns()
            with _wasm_errors("the wasm32 program"):
                status = entry(store, *tables, workspace)
            times.append((time.perf_counter_ns() - started) / 1e3)
            if status:
                raise RunFailedError(f"the wasm32 program ended with status {status}")
        return [
            bytes(memory.read(store, at, at + size))
            for at, size in zip(out_places, sizes, strict=True)
        ], tuple(times)


_ENGINES: list[Any] = []


def _wasm_engine() -> Any:
    if not _ENGINES:
        import wasmtime

        config = wasmtime.Config()
        # A forked child has no copy of the compilation threads and would wait for them forever.
        config.parallel_compilation = False
        engine = wasmtime.Engine(config)
        # At exit, Python clears modules that the engine's __del__ needs before it calls __del__.
        atexit.register(engine.close)
        _ENGINES.append(engine)
    return _ENGINES[0]


@contextlib.contextmanager
def _wasm_errors(what: str) -> Iterator[None]:
    import wasmtime

    try:
        yield
    except wasmtime.WasmtimeError as problem:
        raise RunFailedError(f"{what} failed: {problem}") from None
