"""`xe.doctor`: the capabilities of this machine, and the commands that add missing ones."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform as host
import shutil
import sys
from typing import NamedTuple

from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.target_machine import host_target, usable_cores, why_not_here
from xla_explorer.backends.llvm.target_request import TARGET_VARIABLE
from xla_explorer.backends.registry import backend_names, platform
from xla_explorer.compiler.target import Source
from xla_explorer.explorer.display import Blocks, Report, Table
from xla_explorer.explorer.environment import unknown_variables
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments

_PACKAGES = (
    ("llvmlite", "native code", ""),
    ("numpy", "arrays", ""),
    ("pandas", "tables", ""),
    ("ml_dtypes", "bf16, f8 and int4", ""),
    ("jupyterlab", "notebooks", ""),
    ("anywidget", "the explorer widget", ""),
    ("scipy-openblas32", "matrix products by a library", ""),
    ("jax", "real XLA, import of JAX functions", 'pip install "xla-explorer[jax]"'),
    (
        "cuda-bindings",
        "the link to an NVIDIA GPU, if there is one",
        'pip install "xla-explorer[gpu]"',
    ),
)
_PROGRAMS = (
    ("dot", "optional second layout of graphs; our own needs no program", "apt-get install graphviz (or your system's equivalent)"),
    ("llvm-mca", "estimates of inner loops (session.llvm.inner_loops), by LLVM's model of the processor",
     "apt-get install llvm (or your system's equivalent)"),
)  # fmt: skip


class Capability(NamedTuple):
    """A row of the table.

    name: of the capability. state: ok, missing or limited. detail: one sentence. fix: the command
    that adds it, or empty.
    """

    name: str
    state: str
    detail: str
    fix: str = ""


class Diagnosis(Report, list[Capability]):
    """A list of capabilities that shows itself as a table."""

    def blocks(self) -> Blocks:
        """Yield a row per capability."""
        yield Table(Capability._fields, self)


@explains_arguments
def doctor(*, measure_again: bool = False) -> Diagnosis:
    """Return the capabilities of this machine, one row per capability.

    Nothing is installed or fetched. The limits of the machine are measured once (about 0.5 s) and
    kept in the cache folder, for `session.profile` and all rooflines.

    Parameters
    ----------
    measure_again : bool, default False
        Measure now and keep the higher figures, for instance if other work ran during the first
        measurement.

    Returns
    -------
    Diagnosis
        The table; each row has a state, its detail and the command that adds the capability.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> str(xe.doctor()).split()[:4]
    ['name', 'state', 'detail', 'fix']
    """
    found = Diagnosis()
    found.append(
        Capability("python", "ok", f"{sys.version.split()[0]} on {host.system()} {host.machine()}")
    )
    found.append(_target())
    found.append(_numbers())
    for package, use, fix in _PACKAGES:
        try:
            found.append(Capability(package, "ok", f"{importlib.metadata.version(package)}: {use}"))
        except importlib.metadata.PackageNotFoundError:
            found.append(Capability(package, "missing", use, fix or f"pip install {package}"))
    found.extend(_limits(measure_again))
    for name in backend_names():
        try:
            made = platform(name)
            reason = made.availability()
        except Exception as problem:  # a broken plug-in must not hide the rest
            found.append(
                Capability(f"backend {name}", "missing", f"{type(problem).__name__}: {problem}")
            )
            continue
        if reason is None:
            found.append(Capability(f"backend {name}", "ok", made.description))
        else:
            found.append(Capability(f"backend {name}", "limited", reason.message))
    found.append(_nvidia_device())
    for name, near in unknown_variables():
        found.append(
            Capability(
                "environment",
                "limited",
                f"this package does not read {name}",
                f"did you mean {near}?" if near else "",
            )
        )
    for program, use, fix in _PROGRAMS:
        state, add = ("ok", "") if shutil.which(program) else ("missing", fix)
        found.append(Capability("graphviz dot" if program == "dot" else program, state, use, add))
    return found


def _target() -> Capability:
    """Return the CPU that programs are compiled for, its vectors, its cores, and their source."""
    try:
        target, stated = host_target(), os.environ.get(TARGET_VARIABLE, "")
        cores = usable_cores()
    except XlaExplorerError as problem:
        return Capability("target of programs", "missing", problem.message, problem.hint)
    why = (
        f"{TARGET_VARIABLE}={stated}"
        if stated
        else f"this machine; {TARGET_VARIABLE}=x86-64-v3,cores=1 would be another"
    )
    words = (
        f"{target.cpu or target.architecture}, {cores} cores; "
        f"{target.vector_width_fact().message} ({why})"
    )
    lacking = why_not_here(target)
    if lacking is not None:
        return Capability(
            "target of programs",
            "limited",
            f"{words}; compiled and verified only: {lacking.message}",
        )
    return Capability("target of programs", "ok", words)


def _numbers() -> Capability:
    """Return the numbers of that CPU that estimates assume, grouped by their source."""
    try:
        numbers = list(described_cpu().numbers())
    except XlaExplorerError as problem:
        return Capability("numbers of estimates", "missing", problem.message, problem.hint)
    by_source = {
        source: [
            f"{unit} {name} {_short(value)}" for unit, name, value, s in numbers if s is source
        ]
        for source in Source
    }
    return Capability(
        "numbers of estimates",
        "ok",
        "; ".join([f"{s.value}: {', '.join(rows)}" for s, rows in by_source.items() if rows]),
    )


def _short(value: object) -> str:
    return "/".join(map(str, sorted(value))) if isinstance(value, frozenset) else str(value)


def _nvidia_device() -> Capability:
    """Return the NVIDIA device for GPU programs, or the reason why the emulator runs them."""
    # Start-up time of the command line: the driver.
    from xla_explorer.backends.gpu.runtime.devices import device_executor

    try:
        device, why_emulated = device_executor()
    except Exception as problem:  # a driver that answers with an error
        return Capability("NVIDIA device", "limited", f"{type(problem).__name__}: {problem}")
    if why_emulated is not None:
        return Capability(
            "NVIDIA device",
            "limited",
            f"none, GPU programs run on the emulator: {why_emulated.message}",
        )
    return Capability(
        "NVIDIA device", "ok", f"GPU programs run on it ({device.facts.architecture})"
    )


def _limits(measure_again: bool) -> list[Capability]:
    """Return the measured numbers of this machine's roofline."""
    # Start-up time of the command line.
    from xla_explorer.backends.cpu.machine_limits import machine_limits, refresh_machine_limits

    try:
        limits = refresh_machine_limits() if measure_again else machine_limits()
    except XlaExplorerError as problem:
        return [Capability("machine limits", "limited", f"not measured: {problem.message}")]
    except (OSError, RuntimeError, ImportError) as problem:
        return [Capability("machine limits", "missing", f"not measured: {problem}")]
    nearest, fastest = limits.cached_bandwidth[0] if limits.cached_bandwidth else (0, 0.0)
    cached = f"; {fastest / 1e9:.0f} in a cache ({nearest >> 10} KiB)" if nearest else ""
    cores = f"on {limits.cores} cores"
    streaming = ""
    if limits.streaming_bandwidth:
        past = (
            f"{limits.streaming_bandwidth / 1e9:.1f} and {limits.streaming_bandwidth_all / 1e9:.1f}"
        )
        streaming = f"; {past} with streaming stores, which do not read a line before they write it"
    return [
        Capability(
            "memory bandwidth",
            "ok",
            f"{limits.stream_bandwidth / 1e9:.1f} GB/s, {limits.stream_bandwidth_all / 1e9:.1f} "
            f"{cores}{cached}: a triad, measured"
            f"{streaming}",
        ),
        Capability(
            "arithmetic peak",
            "ok",
            f"f32 {limits.f32_flops / 1e9:.0f} Gflop/s, {limits.f32_flops_all / 1e9:.0f} {cores}; "
            f"f64 {limits.f64_flops / 1e9:.0f} and {limits.f64_flops_all / 1e9:.0f}: "
            "multiply-adds, measured",
        ),
    ]
