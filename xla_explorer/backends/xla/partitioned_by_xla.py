"""Partitioning of a program by real XLA:CPU, in a child process with N virtual devices."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass

from xla_explorer.foundation.child_python import child_environment, python_command
from xla_explorer.foundation.diagnostic import XlaExplorerError

_CHILD = "xla_explorer.backends.xla.partitioning_child"
_REMATERIALIZED = "Involuntary full rematerialization"


@dataclass(frozen=True)
class XlaPartitioning:
    """The stages of a partitioning by XLA, as HLO text.

    Attributes
    ----------
    version : str
        Of jaxlib.
    propagated : str
        Each instruction has its sharding.
    partitioned : str
        The program of one device, after `spmd-partitioning`.
    optimized : str
        After all passes of XLA:CPU.
    warnings : tuple of str
        Of the partitioner: values that it gathers whole.
    """

    version: str
    propagated: str
    partitioned: str
    optimized: str
    warnings: tuple[str, ...] = ()


def partitioned_by_xla(
    text: str, devices: int, *, shardy: bool = True, seconds: float = 120.0
) -> XlaPartitioning:
    """Partition HLO text by the XLA of jaxlib for a number of virtual devices.

    shardy: propagate with Shardy, not with GSPMD. XlaExplorerError if XLA refuses the program, or
    jax is absent.
    """
    request = json.dumps({"text": text, "devices": devices, "shardy": shardy})
    environment = child_environment(JAX_PLATFORMS="cpu", JAX_ENABLE_COMPILATION_CACHE="false")
    try:
        done = subprocess.run(
            python_command(_CHILD),
            input=request,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise XlaExplorerError(
            f"XLA took longer than {seconds:g} s to partition the program", "give a smaller program"
        ) from None
    lines = done.stderr.strip().splitlines()
    if done.returncode:
        message = lines[-1][:300] if lines else f"exit status {done.returncode}"
        absent = "No module named" in message
        raise XlaExplorerError(
            f"XLA cannot partition the program: {message}",
            'real XLA comes with jax: pip install "xla-explorer[jax]"'
            if absent
            else "session.devices.partitioned is the program of one device without XLA",
        )
    found = json.loads(done.stdout)
    warnings = tuple([line for line in lines if _REMATERIALIZED in line])
    return XlaPartitioning(**found, warnings=warnings)
