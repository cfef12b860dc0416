"""LLVM targets and target machines.

The only place that initialises LLVM. Nothing here runs at import; the first `host_target` or
`create_target_machine` loads llvmlite (about 60 to 100 ms in a fresh process) and initialises the
targets (about 3 ms), once.

Only `host_target` and `usable_cores` determine the CPU and the number of cores that programs are
compiled for: those of the machine, or of the user's request (`target_request.py`).
"""

from __future__ import annotations

import functools
import os
import re
import threading
from dataclasses import dataclass, field, replace
from typing import Any

from xla_explorer.backends.llvm.target_request import TARGET_VARIABLE, TargetRequest, target_request
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse

_X86_WIDEST = 512  # bits of the registers that LLVM's own tuning of Intel's CPUs does not use
# What makes the vectoriser use vectors of so many bits, whatever LLVM prefers for the CPU
# (`prefer-256-bit` of most of Intel's with AVX-512). Code that names wider vectors itself keeps
# them. The feature is LLVM's own (X86.td); other architectures have none like it.
_X86_WIDTH_FEATURES = {
    128: "+prefer-128-bit",
    256: "+prefer-256-bit",
    512: "-prefer-128-bit,-prefer-256-bit",
}


class TargetError(XlaExplorerError):
    """LLVM has no such target, CPU or feature."""


class TargetAboveMachineError(TargetError):
    """A program for a CPU that has more than this machine's was to be executed."""


@dataclass(frozen=True, slots=True)
class TargetDescription:
    """Everything that decides the machine code of LLVM IR; part of every cache key.

    triple: LLVM target triple. cpu, features: as LLVM spells them (`znver5`, `+avx2,+fma`); empty
    is the baseline. relocation_model: `default`, `static`, `pic` or `dynamicnopic`. code_model:
    `jitdefault` for code that is loaded into this process, `default` or `small` for object files.
    abi_name: RISC-V needs one (`lp64d`). vector_register_bits: width of the vectors that our
    kernels and LLVM's vectoriser use, 0 without SIMD; scalable vectors (SVE, RVV) count with their
    least width. widest_register_bits: of the CPU; larger than the former only if the user requests
    narrower vectors. has_fma: one instruction for a * b + c in f32 and f64.
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
    widest_register_bits: int = 0

    @property
    def architecture(self) -> str:
        """First part of the triple: `x86_64`, `aarch64`, `riscv64`, `wasm32`, `nvptx64` ..."""
        return self.triple.split("-", 1)[0]

    @property
    def enabled_features(self) -> frozenset[str]:
        """Names of features that `features` enables, without those that the CPU name implies."""
        return frozenset(part[1:] for part in self.features.split(",") if part.startswith("+"))

    @property
    def has_half_conversions(self) -> bool:
        """True if an x86 CPU has instructions for half-precision conversions (F16C)."""
        return (
            "f16c" in self.enabled_features
            or self.widest_register_bits >= 512
            or self.cpu == "x86-64-v3"
        )

    @property
    def data_layout(self) -> str:
        """The `target datalayout` string of this target."""
        return _data_layout(self)

    @property
    def pointer_bits(self) -> int:
        """Width of an address: 32 or 64."""
        return 32 if re.search(r"(^|-)p:32:", self.data_layout) else 64

    @property
    def code_generator_features(self) -> str:
        """The features for LLVM: `features`, and the width of vectors if LLVM prefers another."""
        width = (
            _X86_WIDTH_FEATURES.get(self.vector_register_bits) if self.architecture in X86 else None
        )
        return ",".join(filter(None, (self.features, width)))

    def cache_key(self) -> str:
        """Return text that is equal exactly for targets with equal machine code from equal IR."""
        return "|".join(
            (
                self.triple,
                self.cpu,
                self.code_generator_features,
                self.relocation_model,
                self.code_model,
                self.abi_name,
            )
        )

    def vector_width_fact(self) -> Reason:
        """Return the width of vectors as a decision, with its reason."""
        chosen, widest = self.vector_register_bits, self.widest_register_bits
        cpu = self.cpu or f"the baseline of {self.architecture}"
        facts = {"bits": chosen, "register_bits": widest, "cpu": self.cpu, "triple": self.triple}
        if not chosen:
            return Reason(
                "no-vectors", f"{cpu} has no vector registers, so the code is scalar", facts
            )
        if chosen < widest:
            return Reason(
                "narrower-vectors-requested",
                f"vectors have {chosen} bits as requested; {cpu} has registers of {widest} bits",
                facts,
            )
        of = (
            "the least that registers of any length have"
            if self.architecture.startswith("riscv")
            else "the widest registers"
        )
        message = (
            f"vectors have {chosen} bits, in kernels with vectors of their own and in loops left "
            f"to LLVM: {of} of {cpu}"
        )
        if chosen == _X86_WIDEST:
            message += (
                ", where LLVM by itself may prefer 256 (Intel's CPUs: `prefer-256-bit` in LLVM's "
                "X86.td)"
            )
        return Reason("widest-registers", message, facts)


_initialisation_lock = threading.Lock()
_initialised: set[str] = set()


def llvm(all_targets: bool = False) -> Any:
    """Return `llvmlite.binding` with the native target (or all targets) initialised.

    Cheap after the first call.
    """
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
    """Return the versions of llvmlite's LLVM and of llvmlite itself, `22.1.0 (llvmlite 0.50.0)`."""
    import llvmlite

    return (
        f"{'.'.join(str(part) for part in llvm().llvm_version_info)} (llvmlite "
        f"{llvmlite.__version__})"
    )


@functools.lru_cache(maxsize=1)
def detected_target() -> TargetDescription:
    """Return this machine's CPU and features by LLVM, for code loaded into this process."""
    binding = llvm()
    features = binding.get_host_cpu_features().flatten()
    description = describe_target(
        binding.get_process_triple(), binding.get_host_cpu_name(), features
    )
    return replace(description, code_model="jitdefault", is_host=True)


def host_target() -> TargetDescription:
    """Return the target of programs for this process: this CPU, or that of XLA_EXPLORER_TARGET.

    Raises TargetRequestError for a variable that does not parse, TargetError for a CPU that LLVM
    lacks.
    """
    return _requested_target(target_request())


@functools.lru_cache(maxsize=8)
def _requested_target(request: TargetRequest) -> TargetDescription:
    description = detected_target()
    if request.cpu:
        triple = description.triple
        from xla_explorer.backends.llvm.target_names import (
            unknown_names,
        )  # starts processes, which few targets need

        if (
            request.cpu not in _X86_LEVEL_BITS
            and (why := unknown_names(triple, request.cpu, "")) is not None
        ):
            raise TargetError(
                f"{TARGET_VARIABLE}: {why.message}",
                "x86-64-v2, x86-64-v3, x86-64-v4, or a CPU as LLVM spells it",
            )
        described = describe_target(triple, request.cpu)
        description = replace(described, code_model="jitdefault", is_host=True)
    if request.vector_bits and description.vector_register_bits:
        description = replace(
            description,
            vector_register_bits=min(request.vector_bits, description.widest_register_bits),
        )
    return description


def usable_cores() -> int:
    """Return the number of threads of programs and of compilation.

    These are the cores that this process may run on, or the number in XLA_EXPLORER_TARGET.
    """
    return target_request().cores or len(usable_core_numbers())


def usable_core_numbers() -> list[int]:
    """Return the system's numbers of the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


# Features of each level beyond the previous one (x86-64 psABI, section 3.1.1), by LLVM's names.
_LEVEL_FEATURES = {
    "x86-64-v2": ("cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}


def why_not_here(description: TargetDescription) -> Reason | None:
    """Return None if this machine executes code for the target, else the missing feature.

    Named features (of levels, and explicit ones) are compared. Of a CPU with another name only the
    width of its registers is compared.
    """
    return _lacking(description, detected_target())


@functools.lru_cache(maxsize=64)
def _lacking(description: TargetDescription, machine: TargetDescription) -> Reason | None:
    if description.architecture != machine.architecture:
        message = (
            f"this machine is {machine.architecture}, which does not run code for "
            f"{description.triple}"
        )
        return refuse(
            "other-machine", message, machine=machine.architecture, triple=description.triple
        )
    needed = set(description.enabled_features)
    if description.cpu in _LEVEL_FEATURES:
        for level, features in _LEVEL_FEATURES.items():
            needed.update(features)
            if level == description.cpu:
                break
    cpu = description.cpu or description.triple
    if missing := sorted(needed - machine.enabled_features):
        message = f"this CPU ({machine.cpu}) has no {', '.join(missing)}, which {cpu} code uses"
        return refuse("cpu-feature-missing", message, features=missing, cpu=description.cpu)
    have, want = machine.widest_register_bits, description.widest_register_bits
    if want > have:
        message = (
            f"this CPU ({machine.cpu}) has vector registers of {have} bits, {cpu} code uses {want}"
        )
        return refuse("registers-too-narrow", message, register_bits=have, needed_bits=want)
    return None


def describe_target(
    triple: str,
    cpu: str = "",
    features: str = "",
    relocation_model: str = "default",
    code_model: str = "default",
    abi_name: str = "",
) -> TargetDescription:
    """Return a target for object files, with ABI, vector width and FMA derived from the names.

    `describe_target("riscv64-linux-gnu", features="+m,+a,+f,+d,+c,+v")` gets ABI `lp64d`.
    """
    architecture = triple.split("-", 1)[0]
    abi_name = abi_name or default_abi(architecture, features)
    bits, has_fma = _simd_abilities(triple, cpu, features)
    return TargetDescription(
        triple,
        cpu,
        features,
        relocation_model,
        code_model,
        abi_name,
        bits,
        has_fma,
        widest_register_bits=bits,
    )


def default_abi(architecture: str, features: str) -> str:
    """Return the ABI name that LLVM needs for RISC-V; empty for others."""
    if architecture not in ("riscv64", "riscv32"):
        return ""
    hard_float = "+d" in features.split(",")
    return {"riscv64": "lp64", "riscv32": "ilp32"}[architecture] + ("d" if hard_float else "")


X86 = ("x86_64", "i686", "i386", "amd64")
_X86_LEVEL_BITS = {
    "": 128,
    "generic": 128,
    "x86-64": 128,
    "x86-64-v2": 128,
    "x86-64-v3": 256,
    "x86-64-v4": 512,
}


def _simd_abilities(triple: str, cpu: str, features: str) -> tuple[int, bool]:
    """Return (bits of the widest vector registers, has fused multiply-adds)."""
    architecture = triple.split("-", 1)[0]
    on = {part[1:] for part in features.split(",") if part.startswith("+")}
    if architecture in X86:
        if cpu not in _X86_LEVEL_BITS and not on & {"avx", "avx512f"}:
            return _x86_abilities(triple, cpu, features)
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


_ABILITIES = """define void @f(ptr %p) {
  %x = load <16 x float>, ptr %p, align 64
  %y = call <16 x float> @llvm.fma.v16f32(<16 x float> %x, <16 x float> %x, <16 x float> splat (float 1.0))
  %z = fadd <16 x float> %x, %y
  store <16 x float> %z, ptr %p, align 64
  ret void
}
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)"""


@functools.lru_cache(maxsize=64)
def _x86_abilities(triple: str, cpu: str, features: str) -> tuple[int, bool]:
    """Return (vector bits, has FMA) of an x86 CPU.

    LLVM compiles 512 bits of arithmetic for it; the registers in the assembly show the width.
    """
    binding = llvm(all_targets=True)
    machine = create_target_machine(
        TargetDescription(triple, cpu, features, vector_register_bits=_X86_WIDEST), 0
    )
    module = binding.parse_assembly(_ABILITIES, binding.create_context())
    module.triple, module.data_layout = triple, str(machine.target_data)
    assembly = machine.emit_assembly(module)
    bits = next(
        (bits for register, bits in (("%zmm", 512), ("%ymm", 256)) if register in assembly), 128
    )
    return bits, "vfm" in assembly


_EIGHT_FLOATS = """define void @f(ptr %p) vscale_range(2,2) {
  %x = load <8 x float>, ptr %p
  %y = fadd <8 x float> %x, %x
  store <8 x float> %y, ptr %p
  ret void
}"""


@functools.lru_cache(maxsize=64)
def has_sve(triple: str, cpu: str, features: str) -> bool:
    """Return True if an arm64 CPU has SVE, which its name may imply.

    LLVM compiles 256 bits of arithmetic for it; SVE registers in the assembly show the feature.
    """
    if not triple.startswith(("aarch64", "arm64")):
        return False
    machine = create_target_machine(TargetDescription(triple, cpu, features))
    binding = llvm(all_targets=True)
    module = binding.parse_assembly(_EIGHT_FLOATS, binding.create_context())
    module.triple, module.data_layout = triple, str(machine.target_data)
    return re.search(r"\bz\d+", machine.emit_assembly(module)) is not None


def create_target_machine(description: TargetDescription, level: int = 3) -> Any:
    """Return a new llvmlite TargetMachine (about 0.3 ms). level: code generator level, 0 to 3.

    Raises TargetError for a triple that this LLVM was not built for.
    """
    native = description.is_host
    binding = llvm(all_targets=not native)
    try:
        target = binding.Target.from_triple(description.triple)
        return target.create_target_machine(
            cpu=description.cpu,
            features=description.code_generator_features,
            opt=level,
            reloc=description.relocation_model,
            codemodel=description.code_model,
            jit=description.code_model == "jitdefault",
            abiname=description.abi_name,
        )
    except (RuntimeError, AssertionError) as problem:
        raise TargetError(
            f"LLVM cannot generate code for {description.triple!r}: {problem}",
            "xla_explorer.backends.llvm.target_machine.host_target() is this machine",
        ) from problem


_own = threading.local()
_MACHINES_OF_A_THREAD = 16


def own_target_machine(description: TargetDescription, level: int = 3) -> Any:
    """Return the calling thread's TargetMachine for a target. It must not be modified.

    The first code generation of a machine computes the CPU's features (0.7 ms). A machine must not
    be used by two threads at a time. Errors as `create_target_machine`.
    """
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
