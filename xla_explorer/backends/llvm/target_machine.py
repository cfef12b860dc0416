"""LLVM targets: what we generate code for, and the LLVM objects that do it.

The only place that initialises LLVM. Nothing here runs at import; the first `host_target` or `create_target_machine`
loads llvmlite (about 60 to 100 ms in a fresh process) and initialises the targets (about 3 ms), once.
"""

from __future__ import annotations

import functools
import re
import threading
from dataclasses import dataclass, field, replace
from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError


class TargetError(XlaExplorerError):
    """LLVM knows no such target, CPU or feature."""


@dataclass(frozen=True, slots=True)
class TargetDescription:
    """Everything that decides which machine code comes out of the same LLVM IR; part of every cache key.

    triple: LLVM target triple. cpu, features: as LLVM spells them (`znver5`, `+avx2,+fma`); empty is the baseline.
    relocation_model: `default`, `static`, `pic` or `dynamicnopic`. code_model: `jitdefault` for code that is loaded
    into this process, `default` or `small` for object files. abi_name: RISC-V needs one (`lp64d`).
    vector_register_bits: width of the widest SIMD register, 0 without SIMD; scalable vectors (SVE, RVV) count with
    their least width. has_fma: one instruction for a * b + c in f32 and f64.
    """

    triple: str
    cpu: str = ""
    features: str = ""
    relocation_model: str = "default"
    code_model: str = "default"
    abi_name: str = ""
    vector_register_bits: int = 0
    has_fma: bool = False
    is_host: bool = field(default=False, compare=False)

    @property
    def architecture(self) -> str:
        """First part of the triple: `x86_64`, `aarch64`, `riscv64`, `wasm32`, `nvptx64` ..."""
        return self.triple.split("-", 1)[0]

    @property
    def enabled_features(self) -> frozenset[str]:
        """Names of the features that are switched on by `features` (what the CPU name implies is not listed)."""
        return frozenset(part[1:] for part in self.features.split(",") if part.startswith("+"))

    @property
    def data_layout(self) -> str:
        """The `target datalayout` string of this target."""
        return _data_layout(self)

    @property
    def pointer_bits(self) -> int:
        """Width of an address: 32 or 64."""
        return 32 if re.search(r"(^|-)p:32:", self.data_layout) else 64

    def cache_key(self) -> str:
        """Text that is equal exactly for targets that give equal machine code from equal IR."""
        return "|".join((self.triple, self.cpu, self.features, self.relocation_model, self.code_model, self.abi_name))


_initialisation_lock = threading.Lock()
_initialised: set[str] = set()


def llvm(all_targets: bool = False) -> Any:
    """The module `llvmlite.binding`, with the native target (or all targets) initialised. Cheap once done."""
    import llvmlite.binding as binding

    wanted = "all" if all_targets else "native"
    if wanted not in _initialised:
        with _initialisation_lock:
            if all_targets:
                binding.initialize_all_targets()
                binding.initialize_all_asmprinters()
            elif "all" not in _initialised:
                binding.initialize_native_target()
                binding.initialize_native_asmprinter()
            binding.initialize_native_asmparser()
            _initialised.update({"native", wanted})
    return binding


@functools.lru_cache(maxsize=1)
def llvm_version() -> str:
    """Version of the LLVM inside llvmlite and of llvmlite itself, `22.1.0 (llvmlite 0.50.0)`."""
    import llvmlite

    return f"{'.'.join(str(part) for part in llvm().llvm_version_info)} (llvmlite {llvmlite.__version__})"


@functools.lru_cache(maxsize=1)
def host_target() -> TargetDescription:
    """This machine, as LLVM sees it: exact CPU and features, code to be loaded into this process."""
    binding = llvm()
    features = binding.get_host_cpu_features().flatten()
    description = describe_target(binding.get_process_triple(), binding.get_host_cpu_name(), features)
    return replace(description, code_model="jitdefault", is_host=True)


def describe_target(triple: str, cpu: str = "", features: str = "", relocation_model: str = "default",
                    code_model: str = "default", abi_name: str = "") -> TargetDescription:
    """A target for object files. Fills in what LLVM needs but people forget, and what follows from the names.

    `describe_target("riscv64-linux-gnu", features="+m,+a,+f,+d,+c,+v")` gets ABI `lp64d`.
    """
    architecture = triple.split("-", 1)[0]
    if architecture in ("riscv64", "riscv32") and not abi_name:
        hard_float = "+d" in features.split(",")
        abi_name = {"riscv64": "lp64", "riscv32": "ilp32"}[architecture] + ("d" if hard_float else "")
    bits, has_fma = _simd_abilities(architecture, cpu, features)
    return TargetDescription(triple, cpu, features, relocation_model, code_model, abi_name, bits, has_fma)


_X86_LEVEL_BITS = {"x86-64": 128, "x86-64-v2": 128, "x86-64-v3": 256, "x86-64-v4": 512}


def _simd_abilities(architecture: str, cpu: str, features: str) -> tuple[int, bool]:
    on = {part[1:] for part in features.split(",") if part.startswith("+")}
    if architecture in ("x86_64", "i686", "i386", "amd64"):
        level_bits = _X86_LEVEL_BITS.get(cpu, 128)
        if "avx512f" in on:
            return 512, True
        bits = max(level_bits, 256 if on & {"avx", "avx2"} else 128)
        return bits, "fma" in on or level_bits >= 256
    if architecture in ("aarch64", "arm64"):
        return 128, True
    if architecture.startswith("riscv"):
        lengths = [int(found[1]) for name in on if (found := re.fullmatch(r"zvl(\d+)b", name))]
        return (max(lengths, default=128) if "v" in on or lengths else 0), bool(on & {"f", "d"})
    if architecture.startswith("wasm"):
        # fma, minnum and maxnum become library calls there, SIMD or not.
        return (128 if "simd128" in on else 0), False
    if architecture.startswith("nvptx"):
        return 0, True
    return 128, False


def create_target_machine(description: TargetDescription, level: int = 3) -> Any:
    """A new llvmlite TargetMachine (about 0.3 ms). level: code generator effort, 0 to 3.

    Raises TargetError for a triple that this LLVM was not built for.
    """
    native = description.is_host
    binding = llvm(all_targets=not native)
    try:
        target = binding.Target.from_triple(description.triple)
        return target.create_target_machine(
            cpu=description.cpu, features=description.features, opt=level, reloc=description.relocation_model,
            codemodel=description.code_model, jit=description.code_model == "jitdefault", abiname=description.abi_name)
    except (RuntimeError, AssertionError) as problem:
        raise TargetError(f"LLVM cannot generate code for {description.triple!r}: {problem}",
                          "xla_explorer.backends.llvm.target_machine.host_target() is this machine") from problem


_own = threading.local()
_MACHINES_OF_A_THREAD = 16


def own_target_machine(description: TargetDescription, level: int = 3) -> Any:
    """The calling thread's TargetMachine for a target, which it must leave as it is. LLVM works out what a CPU can do (0.7 ms) when a
    machine generates code for the first time, and no two threads may use one at a time. Errors as `create_target_machine`."""
    machines: dict[tuple[str, bool, int], Any] | None = getattr(_own, "machines", None)
    if machines is None:
        machines = _own.machines = {}
    key = description.cache_key(), description.is_host, level
    if key not in machines:
        if len(machines) >= _MACHINES_OF_A_THREAD:
            machines.clear()
        machines[key] = create_target_machine(description, level)
    return machines[key]


@functools.lru_cache(maxsize=64)
def _data_layout(description: TargetDescription) -> str:
    return str(create_target_machine(description, 0).target_data)
