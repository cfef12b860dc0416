"""A CPU that LLVM has a description of, for passes and code generation."""

from __future__ import annotations

import functools

from xla_explorer.backends.llvm.target_machine import (
    TargetDescription,
    has_sve,
    host_target,
    usable_cores,
)
from xla_explorer.compiler.target import Cores, Source, Target, cpu_target


def described_cpu(
    description: TargetDescription | None = None, *, libraries: bool = False
) -> Target:
    """Return the compiler's target of a CPU, this machine's by default.

    libraries: code may call BLAS and LAPACK.
    """
    description = description or host_target()
    return _described(
        description, libraries, usable_cores() if description.is_host else 1, description.is_host
    )


@functools.lru_cache(maxsize=64)
def _described(
    description: TargetDescription, libraries: bool, cores: int, is_host: bool
) -> Target:
    source = (
        Source.DETECTED if is_host else Source.DATA_SHEET
    )  # which LLVM's tables are of CPUs by name
    counted = Cores().stating(source, pointer_bits=description.pointer_bits)
    return cpu_target(
        triple=description.triple, bits=description.vector_register_bits, fma=description.has_fma, features=description.enabled_features,
        libraries=libraries, is_scalable=has_sve(description.triple, description.cpu, description.features),
        cores=counted.stating(source, count=cores) if is_host else counted, source=source,
    )  # fmt: skip
