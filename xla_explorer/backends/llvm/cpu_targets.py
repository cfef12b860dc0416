"""CPUs by their LLVM names: the rows that parametrise the shared pipeline.

Sources: `llc -mattr=help` of LLVM 22; x86-64 psABI, section 3.1.1 (microarchitecture levels);
RISC-V ELF psABI (lp64d).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from xla_explorer.backends.llvm.target_machine import (
    TargetDescription,
    TargetError,
    default_abi,
    describe_target,
    host_target,
)
from xla_explorer.backends.llvm.target_names import unknown_names
from xla_explorer.foundation.diagnostic import XlaExplorerError


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """A CPU backend. name: of the backend.

    cpu, features: target of generated code, unless the user names others. baseline: features that
    every program for the triple may assume (ahead of time, without other features). runner: how
    programs run here: `qemu`, `native`, `wasmtime`, or empty: compile and look only. compiler: of
    C, for linking. emulator: qemu's program and options.
    """

    name: str
    description: str
    triple: str
    cpu: str = ""
    features: str = ""
    baseline: str = ""
    runner: str = ""
    compiler: str = ""
    emulator: tuple[str, ...] = ()


CPU_TARGETS = {
    target.name: target
    for target in (
        CpuTarget(
            "aarch64",
            "64-bit Arm: NEON, or SVE with cpu='neoverse-v1'; runs under qemu-user.",
            "aarch64-linux-gnu",
            "neoverse-n1",
            runner="qemu",
            compiler="aarch64-linux-gnu-gcc",
            emulator=("qemu-aarch64", "-cpu", "max"),
        ),
        CpuTarget(
            "riscv64",
            "64-bit RISC-V with its vector extension; runs under qemu-user.",
            "riscv64-linux-gnu",
            features="+m,+a,+f,+d,+c,+v",
            baseline="+m,+a,+f,+d,+c",
            runner="qemu",
            compiler="riscv64-linux-gnu-gcc",
            # Debian's qemu 7.2 requires the version of the extension.
            emulator=("qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=128"),
        ),
        CpuTarget(
            "x86-64",
            "x86-64 by level: cpu='x86-64-v2' (SSE4.2), 'x86-64-v3' (AVX2, the default), "
            "'x86-64-v4' (AVX-512).",
            "x86_64-linux-gnu",
            "x86-64-v3",
            runner="native",
            compiler="gcc",
        ),
        CpuTarget(
            "wasm32",
            "WebAssembly with 128-bit SIMD; runs in wasmtime.",
            "wasm32-unknown-unknown",
            features="+simd128,+bulk-memory",
            baseline="+bulk-memory",
            runner="wasmtime",
            compiler="wasm-ld",
        ),
        CpuTarget(
            "hexagon",
            "Qualcomm's DSP: code in packets; to compile and look at.",
            "hexagon-unknown-elf",
            "hexagonv68",
            "+hvxv68,+hvx-length128b",
        ),
    )
}


class UnknownTargetError(XlaExplorerError, ValueError):
    """No such CPU is known here."""


def target_description(
    target: CpuTarget, cpu: str | None = None, features: str | None = None
) -> TargetDescription:
    """Return the target of a CPU's backend. cpu, features: instead of the row's."""
    names = (
        target.triple,
        target.cpu if cpu is None else cpu,
        target.features if features is None else features,
    )
    if cpu is not None or features is not None:
        _check_names(*names)
    return _little_endian(describe_target(*names, "pic"))


def _little_endian(description: TargetDescription) -> TargetDescription:
    """Return the description, or raise UnknownTargetError for a big-endian machine."""
    if description.data_layout.startswith("E"):
        message = (
            f"{description.triple!r} is big-endian; constants and arguments are written "
            "little-endian"
        )
        raise UnknownTargetError(message, "choose a little-endian target")
    return description


_LEVELS = ("", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")


def _check_names(triple: str, cpu: str, features: str) -> None:
    """Raise UnknownTargetError for names that LLVM lacks."""
    architecture = triple.split("-", 1)[0]
    if architecture == "x86_64" and cpu in _LEVELS and not features:
        return
    reason = unknown_names(triple, cpu, features, default_abi(architecture, features))
    if reason is not None:
        raise UnknownTargetError(
            reason.message,
            "spell CPU and features as LLVM does: cpu='x86-64-v3', features='+avx2,+fma'",
        )


_NAME_OF_LLVM = re.compile(r"[A-Za-z0-9_.+-]*")
_FEATURES = re.compile(r"[A-Za-z0-9_.+,=-]*")


def _check_characters(triple: str, cpu: str | None, features: str | None) -> None:
    """Raise for characters that are not valid in triples; C files contain the triple."""
    for what, given, pattern in (
        ("triple", triple, _NAME_OF_LLVM),
        ("cpu", cpu, _NAME_OF_LLVM),
        ("features", features, _FEATURES),
    ):
        if given is not None and (not isinstance(given, str) or pattern.fullmatch(given) is None):
            hint = "such as x86_64-linux-gnu, x86-64-v3, +sve"
            raise UnknownTargetError(
                f"{what}={given!r} must consist of letters, digits and `_.+-`", hint
            )


def description_of_triple(
    triple: str, cpu: str | None = None, features: str | None = None
) -> TargetDescription:
    """Return the target of ahead-of-time code: an architecture's baseline and `features`.

    cpu `native`: this machine's CPU and features. UnknownTargetError if this LLVM lacks the target,
    CPU or feature, and for GPUs and big-endian machines.
    """
    _check_characters(triple, cpu, features)
    architecture = triple.split("-", 1)[0]
    if architecture.startswith(("nvptx", "amdgcn", "r600", "spirv")):
        raise UnknownTargetError(
            f"{triple!r} is a GPU: object code ahead of time is for CPUs",
            "the backends gpu and amdgpu show its code",
        )
    try:
        _little_endian(describe_target(triple))
    except TargetError as problem:
        raise UnknownTargetError(
            problem.message,
            f"triples such as {', '.join([t.triple for t in CPU_TARGETS.values()])}",
        ) from None
    rows = [
        target for target in CPU_TARGETS.values() if target.triple.split("-", 1)[0] == architecture
    ]
    assumed, bits = rows[0].baseline if rows else "", None
    if cpu == "native":
        host = host_target()
        if host.architecture != architecture:
            raise UnknownTargetError(
                f"cpu='native' is {host.architecture}, the triple is {triple!r}",
                "name the CPU, as LLVM spells it",
            )
        cpu, assumed, bits = host.cpu, host.features, host.vector_register_bits
    names = (triple, cpu or "", ",".join(filter(None, (assumed, features))))
    if cpu or features:
        _check_names(*names)
    description = describe_target(*names, "pic")
    return description if bits is None else replace(description, vector_register_bits=bits)
