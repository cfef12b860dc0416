"""`xe.doctor`: what this machine can do, and the command that adds what is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform as host
import shutil
import sys
from typing import NamedTuple

from xla_explorer.backends.registry import backend_names, platform
from xla_explorer.explorer.display import table_html, table_text

_PACKAGES = (
    ("llvmlite", "native code", ""),
    ("numpy", "arrays", ""),
    ("pandas", "tables", ""),
    ("ml_dtypes", "bf16, f8 and int4", ""),
    ("jupyterlab", "notebooks", ""),
    ("anywidget", "the explorer widget", ""),
    ("scipy-openblas32", "matrix products by a library", ""),
    ("jax", "real XLA, import of JAX functions", 'pip install "xla-explorer[jax]"'),
    ("cuda-bindings", "running on an NVIDIA GPU", 'pip install "xla-explorer[gpu]"'),
)


class Capability(NamedTuple):
    """name: what is looked at. state: ok, missing or limited. detail: one sentence. fix: the command that adds it, or empty."""

    name: str
    state: str
    detail: str
    fix: str = ""


class Diagnosis(list[Capability]):
    """A list of capabilities that shows itself as a table."""

    def __repr__(self) -> str:
        return table_text(Capability._fields, self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": table_html("", Capability._fields, self)}


def doctor() -> Diagnosis:
    """One row a capability. Nothing is installed, changed or fetched."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = Diagnosis()
    found.append(Capability("python", "ok", f"{sys.version.split()[0]} on {host.system()} {host.machine()}, {cores} cores"))
    for package, use, fix in _PACKAGES:
        try:
            found.append(Capability(package, "ok", f"{importlib.metadata.version(package)}: {use}"))
        except importlib.metadata.PackageNotFoundError:
            found.append(Capability(package, "missing", use, fix or f"pip install {package}"))
    for name in backend_names():
        try:
            made = platform(name)
            reason = made.availability()
        except Exception as problem:  # a broken plug-in must not hide the rest
            found.append(Capability(f"backend {name}", "missing", f"{type(problem).__name__}: {problem}"))
            continue
        if reason is None:
            found.append(Capability(f"backend {name}", "ok", made.description))
        else:
            found.append(Capability(f"backend {name}", "limited", reason.message))
    dot = shutil.which("dot")
    found.append(
        Capability(
            "graphviz dot",
            "ok" if dot else "missing",
            "optional second layout of graphs; our own needs no program",
            "" if dot else "apt-get install graphviz (or your system's equivalent)",
        )
    )
    return found
