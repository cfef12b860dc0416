"""LLVM IR text in, object code out: parse, optimise with LLVM's default pipeline, emit.

The fast path makes nothing but the object. Optimised IR and assembly are artefacts for people: they are made again from
the same text when somebody asks, with the same target and options, hence with the same result.
"""

from __future__ import annotations

import re
import struct
import sys
import time
from dataclasses import dataclass, field, replace
from typing import Any, Final

from xla_explorer.backends.llvm.module_partition import partition_module, separate_functions
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.parallel_llvm import compilation_threads, emit_assembly_text, emit_object, run_passes
from xla_explorer.backends.llvm.target_machine import (
    TargetDescription,
    create_target_machine,
    host_target,
    llvm,
    llvm_version,
    own_target_machine,
    usable_cores,
)
from xla_explorer.compiler.codegen.ir.effort import Effort
from xla_explorer.foundation.diagnostic import XlaExplorerError


class LlvmIrError(XlaExplorerError):
    """LLVM refused our IR. `line` and `column` count from 1 in the IR text (0: unknown); `excerpt` shows the place."""

    def __init__(self, message: str, line: int = 0, column: int = 0, excerpt: str = "") -> None:
        place = f"LLVM IR line {line}: " if line else "LLVM IR: "
        super().__init__(place + message + (f"\n{excerpt}" if excerpt else ""))
        self.line = line
        self.column = column
        self.excerpt = excerpt


@dataclass(frozen=True, slots=True)
class OptimizationOptions:
    """Settings of LLVM's default pipeline; part of the cache key.

    level: 0 to 3, as in -O; also the code generator's level. The vectorisers and the unroller only act from level 1 on.
    loop_unrolling: True lets LLVM unroll whatever it likes; else only loops whose metadata asks for it. Measured on 55 programs,
    True costs a quarter more compile time and gains 1 % of run time: the vectoriser interleaves what profits.
    by_effort: functions that state an effort (see `Effort`) are modules of their own, and get just that. Measured: the same speed, at
    0.6 of the compile time of matrix kernels (`final`), and at half of it for sorting (`short`).
    strength_reduction: True lets LLVM's code generator choose which numbers a loop counts and which addresses it adds to. Nests say that
    themselves for machines whose addresses are a base, an index and a constant; see `reduces_strength`.
    verify: run LLVM's verifier first (about 0.1 us an instruction); this LLVM aborts the process on broken IR.
    """

    level: int = 3
    loop_vectorization: bool = True
    slp_vectorization: bool = True
    loop_interleaving: bool = True
    loop_unrolling: bool = False
    by_effort: bool = True
    strength_reduction: bool = False
    verify: bool = True

    @classmethod
    def from_effort(cls, effort: str) -> OptimizationOptions:
        """Named presets: `none` (O0), `fast` (O1, no unrolling: about a tenth less compile time), `full` (O3)."""
        try:
            return _EFFORTS[effort]
        except KeyError:
            raise ValueError(f"unknown effort {effort!r}: choose from {', '.join(_EFFORTS)}") from None

    def reduces_strength(self, description: TargetDescription) -> bool:
        """Whether LLVM reduces strength. Without it on x86: the same speed, at three quarters of the time of generating code, and 2 % less
        of that. Elsewhere it was not measured, and addresses of fewer parts would cost an addition for each access."""
        return self.strength_reduction or description.architecture != "x86_64"

    def cache_key(self) -> str:
        """Text that is equal exactly for options that give equal code."""
        flags = (self.loop_vectorization, self.slp_vectorization, self.loop_interleaving, self.loop_unrolling, self.by_effort,
                 self.strength_reduction)
        return f"O{self.level}" + "".join("+" if flag else "-" for flag in flags)


_EFFORTS = {
    "none": OptimizationOptions(level=0),
    "fast": OptimizationOptions(level=1, slp_vectorization=False, loop_unrolling=False),
    "full": OptimizationOptions(),
}


@dataclass(slots=True)
class CompiledObject:
    """The object code of one module and how it came about.

    objects: ELF, Mach-O, COFF or wasm, as the target says; several where the module was cut for parallel compilation
    (load them together). ir_text: what was given. seconds: by step, what one waits for (`partition` if it was cut;
    `parse`, `optimize`, `emit`, of the slowest part; only `cache` when it came from the cache).
    """

    objects: tuple[bytes, ...]
    ir_text: str
    description: TargetDescription
    options: OptimizationOptions
    seconds: dict[str, float] = field(default_factory=dict)
    from_cache: bool = False
    parts: int = 1
    _optimized_text: str | None = None
    _assembly: str | None = None

    @property
    def object_bytes(self) -> bytes:
        """The only object. ValueError if the module was cut."""
        if len(self.objects) != 1:
            raise ValueError(f"this module was compiled in {len(self.objects)} parts; use `objects`")
        return self.objects[0]

    def part_texts(self) -> list[str]:
        """The IR text of each object."""
        return [text for text, _ in modules_to_compile(self.ir_text, self.options, self.parts)]

    @property
    def optimized_text(self) -> str:
        """LLVM IR after optimisation, part by part if cut; computed at the first use, then kept."""
        if self._optimized_text is None:
            self._optimized_text = "\n".join(optimized_ir(text, self.description, self.options)
                                             for text in self.part_texts())
        return self._optimized_text

    @property
    def assembly_text(self) -> str:
        """Assembly, part by part if cut; computed at the first use, then kept."""
        if self._assembly is None:
            self._assembly = "\n".join(emit_assembly(text, self.description, self.options)
                                       for text in self.part_texts())
        return self._assembly

    def __repr__(self) -> str:
        steps = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in self.seconds.items())
        return f"<CompiledObject {sum(map(len, self.objects))} bytes for {self.description.triple} ({steps})>"


def optimize_and_emit(ir_text: str, description: TargetDescription | None = None,
                      level: int | None = None, *, effort: str = "full", options: OptimizationOptions | None = None,
                      cache: ObjectCache | None = None, parts: int = 1) -> CompiledObject:
    """Object code for LLVM IR text.

    description: the target, this machine by default. The settings are `options` if given, else those of `effort`, with
    `level` over them. cache: where to look first and to store; None compiles always. parts: cut the module into so many
    at most and compile them on several cores (0: as many as there are cores); the result then has several `objects`.

    Raises LlvmIrError for IR that does not parse or verify, TargetError for an unknown target.
    """
    description = description or host_target()
    options = _resolve(options, effort, level)
    parts = parts or usable_cores()
    key = ""
    if cache is not None:
        started = time.perf_counter()
        key = cache.key(ir_text, description.cache_key(), options.cache_key(), llvm_version(), str(parts))
        stored = cache.get(key)
        objects = None if stored is None else _unpack(stored)
        if stored is not None and objects is None:
            cache.drop(key)
        if objects is not None:
            seconds = {"cache": time.perf_counter() - started}
            return CompiledObject(objects, ir_text, description, options, seconds, from_cache=True, parts=parts)
    started = time.perf_counter()
    units = modules_to_compile(ir_text, options, parts)
    partitioned = time.perf_counter() - started
    if len(units) == 1:
        results = [_compile(*units[0], description, options)]
    elif usable_cores() == 1:
        results = [_compile(*unit, description, options) for unit in units]
    else:
        futures = [compilation_threads().submit(_compile, *unit, description, options) for unit in units[1:]]
        results = [_compile(*units[0], description, options), *(future.result() for future in futures)]
    slowest = max((seconds for _, seconds in results), key=lambda seconds: sum(seconds.values()))
    compiled = CompiledObject(tuple(data for data, _ in results), ir_text, description, options,
                              {"partition": partitioned, **slowest} if len(units) > 1 else slowest, parts=parts)
    if cache is not None:
        cache.put(key, _pack(compiled.objects))
    return compiled


def modules_to_compile(ir_text: str, options: OptimizationOptions, parts: int = 1) -> list[tuple[str, str]]:
    """The modules to compile, each with what is done to it before code generation: `default`, `short` or `none`."""
    ordinary, final = separate_functions(ir_text, Effort.FINAL) if options.by_effort else (ir_text, "")
    ordinary, short = separate_functions(ordinary, Effort.SHORT) if options.by_effort and ordinary else (ordinary, "")
    return [(text, passes) for whole, passes in ((ordinary, "default"), (final, "none"), (short, "short")) if whole
            for text in (partition_module(whole, parts) if parts > 1 else [whole])]


def _compile(ir_text: str, passes: str, description: TargetDescription,
             options: OptimizationOptions) -> tuple[bytes, dict[str, float]]:
    started = time.perf_counter()
    with IrModule(ir_text, description, verify=options.verify) as ir:
        parsed = time.perf_counter()
        machine = own_target_machine(description, options.level)
        run_pipeline(ir.module, machine, options, passes)
        optimized = time.perf_counter()
        object_bytes = emit_object(machine, ir.module, options.reduces_strength(description))
    emitted = time.perf_counter()
    return object_bytes, {"parse": parsed - started, "optimize": optimized - parsed, "emit": emitted - optimized}


# How object files begin: ELF, Mach-O of 64 bits, WebAssembly, COFF of x86-64 and of arm64.
_OBJECT_FILES: Final = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\0asm", b"\x64\x86", b"\x64\xaa")


def _pack(objects: tuple[bytes, ...]) -> bytes:
    """Objects in one cache entry: their number, their lengths, then all bytes."""
    return struct.pack(f"<{len(objects) + 1}Q", len(objects), *map(len, objects)) + b"".join(objects)


def _unpack(data: bytes) -> tuple[bytes, ...] | None:
    """The objects of a cache entry; None for bytes that are none."""
    count = int.from_bytes(data[:8], "little")
    position = 8 * (count + 1)
    if not 0 < count <= len(data) // 8 or position > len(data):
        return None
    objects = []
    for length in struct.unpack_from(f"<{count}Q", data, 8):
        objects.append(data[position:position + length])
        position += length
    return tuple(objects) if position == len(data) and all(found.startswith(_OBJECT_FILES) for found in objects) else None


def optimized_ir(ir_text: str, description: TargetDescription | None = None,
                 options: OptimizationOptions | None = None) -> str:
    """LLVM IR text after the optimisation pipeline. Errors as for `optimize_and_emit`."""
    return "\n".join(optimized_parts(ir_text, description, options))


def optimized_parts(ir_text: str, description: TargetDescription | None = None,
                    options: OptimizationOptions | None = None) -> list[str]:
    """The same, module by module: functions that are compiled as written have one of their own. Metadata is numbered in each anew."""
    description, options = description or host_target(), options or OptimizationOptions()
    texts = []
    for text, passes in modules_to_compile(ir_text, options):
        with IrModule(text, description, verify=options.verify) as ir:
            run_pipeline(ir.module, create_target_machine(description, options.level), options, passes)
            texts.append(str(ir.module))
    return texts


def emit_assembly(ir_text: str, description: TargetDescription | None = None,
                  options: OptimizationOptions | None = None, *, verbose: bool = False) -> str:
    """Assembly text. verbose: with LLVM's comments (loop nesting, spills, constants). Errors as `optimize_and_emit`."""
    description, options = description or host_target(), options or OptimizationOptions()
    texts: list[str] = []
    for text, passes in modules_to_compile(ir_text, options):
        with IrModule(text, description, verify=options.verify) as ir:
            machine = create_target_machine(description, options.level)
            run_pipeline(ir.module, machine, options, passes)
            machine.set_asm_verbosity(verbose)
            texts.append(emit_assembly_text(machine, ir.module, options.reduces_strength(description)))
    return "\n".join(texts)


class IrModule:
    """A llvmlite module in an LLVM context of its own; closing frees both, in the order that LLVM needs.

    The process-wide context would keep every type and constant of every compilation for ever. Left to Python's
    collector, the two may be freed in the wrong order, which crashes; hence the context is ours to free.
    """

    __slots__ = ("_context", "module")

    def __init__(self, ir_text: str, description: TargetDescription, *, verify: bool = True) -> None:
        binding = llvm(all_targets=not description.is_host)
        self.module: Any = None
        self._context: Any = binding.create_context()
        self._context._owned = True
        try:
            self.module = binding.parse_assembly(ir_text, self._context)
            self.module.triple = description.triple
            self.module.data_layout = description.data_layout
            if verify:
                self.module.verify()
        except RuntimeError as problem:
            self.close()
            raise _ir_error(str(problem), ir_text) from None

    def close(self) -> None:
        """Free the module, then its context."""
        module, self.module = self.module, None
        context, self._context = self._context, None
        if module is not None:
            module.close()
        if context is not None and not context.closed:
            context._owned = False
            context.close()

    def __enter__(self) -> IrModule:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.close()


def _resolve(options: OptimizationOptions | None, effort: str, level: int | None) -> OptimizationOptions:
    resolved = options or OptimizationOptions.from_effort(effort)
    if level is None or level == resolved.level:
        return resolved
    return replace(resolved, level=level)


def run_pipeline(module: Any, machine: Any, options: OptimizationOptions, passes: str = "default") -> None:
    """Optimise a llvmlite module in place. passes: LLVM's -O0 to -O3 pipeline (`default`), its -O0 whatever the level (`none`), or
    what makes registers of variables and folds (`short`)."""
    binding = llvm()
    tuning = binding.create_pipeline_tuning_options(speed_level=options.level if passes == "default" else 0)
    tuning.loop_vectorization = options.loop_vectorization
    tuning.slp_vectorization = options.slp_vectorization
    tuning.loop_interleaving = options.loop_interleaving
    tuning.loop_unrolling = options.loop_unrolling
    builder = binding.create_pass_builder(machine, tuning)
    if passes == "short" and options.level:
        manager = binding.create_new_module_pass_manager()
        manager.add_always_inliner_pass()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
        manager.add_instruction_combine_pass()
        manager.add_sroa_pass()  # of arrays, now that places in them are constant
        manager.add_new_gvn_pass()
    else:
        manager = builder.getModulePassManager()
    run_passes(manager, module, builder)


_PARSE_PLACE = re.compile(r"<string>:(\d+):(\d+): error: (.*)")


def _ir_error(text: str, ir_text: str) -> LlvmIrError:
    found = _PARSE_PLACE.search(text)
    if found is None:
        # The verifier prints the sentence, then the instruction, without a line number: look the instruction up.
        sentences = [line for line in text.splitlines() if line.strip()]
        message = sentences[0].strip() if sentences else "refused without a message"
        lines = ir_text.splitlines()
        for candidate in sentences[1:]:
            wanted = candidate.strip()
            for number, line in enumerate(lines, 1):
                if line.strip() == wanted:
                    return LlvmIrError(message, number, 0, _excerpt(lines, number, 0))
        return LlvmIrError(message, excerpt="\n".join(sentences[1:6]))
    place, column = int(found[1]), int(found[2])
    return LlvmIrError(found[3], place, column, _excerpt(ir_text.splitlines(), place, column))


def _excerpt(lines: list[str], line: int, column: int, around: int = 2) -> str:
    shown = []
    for number in range(max(1, line - around), min(len(lines), line + around) + 1):
        shown.append(f"{'>' if number == line else ' '} {number:5d} | {lines[number - 1][:160]}")
        if number == line and 0 < column <= 160:
            shown.append(" " * (10 + column - 1) + "^")
    return "\n".join(shown)
