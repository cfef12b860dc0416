"""LLVM IR in, object code out: parse, optimise with LLVM's default pipeline, emit.

The fast path makes only the object. Optimised IR and assembly are for people: they are made on
demand from the same text, target and options, hence with the same result.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from xla_explorer.backends.llvm.code_maker import submit
from xla_explorer.backends.llvm.crashed_code import Finished, finished
from xla_explorer.backends.llvm.llvm_module import IrModule as IrModule
from xla_explorer.backends.llvm.llvm_module import Job, LlvmIr, text_of
from xla_explorer.backends.llvm.llvm_module import LlvmIrError as LlvmIrError
from xla_explorer.backends.llvm.llvm_module import OptimizationOptions as OptimizationOptions
from xla_explorer.backends.llvm.llvm_module import run_pipeline as run_pipeline
from xla_explorer.backends.llvm.module_partition import partition_module, separate_functions
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.target_machine import (
    TargetDescription,
    host_target,
    llvm_version,
    usable_cores,
)
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel


class SharedObject(NamedTuple):
    """Object code of functions that several programs use.

    key: equal for equal code. data: an object, or several that refer to each other. symbols: the
    symbol in the object of each function that this program calls, by the function's name.
    """

    key: str
    data: tuple[bytes, ...]
    symbols: dict[str, str]


@dataclass(slots=True)
class CompiledObject:
    """The object code of one module, and how it was made.

    objects: ELF, Mach-O, COFF or wasm, by target; several if the module was partitioned for
    parallel compilation (load them together). shared: code of further functions, which other
    programs may use too. shared_hits: functions whose code other programs had made before.

    ir: the input. seconds: elapsed time by step (`partition` if it was partitioned; `parse`,
    `optimize`, `emit`, of the slowest part; only `cache` for a cache hit). remarks: deviations from
    the requested compilation, with their causes.
    """

    objects: tuple[bytes, ...]
    ir: LlvmIr
    description: TargetDescription
    options: OptimizationOptions
    seconds: dict[str, float] = field(default_factory=dict)
    from_cache: bool = False
    parts: int = 1
    remarks: tuple[str, ...] = ()
    shared: tuple[SharedObject, ...] = ()
    shared_hits: int = 0
    _optimized_text: str | None = None
    _assembly: str | None = None

    @property
    def object_bytes(self) -> bytes:
        """The only object. ValueError if the module was cut."""
        if len(self.objects) != 1:
            raise ValueError(
                f"this module was compiled in {len(self.objects)} parts; use `objects`"
            )
        return self.objects[0]

    @property
    def images(self) -> tuple[bytes, ...]:
        """All object code, shared code first."""
        return (*[data for shared in self.shared for data in shared.data], *self.objects)

    @property
    def ir_text(self) -> str:
        """The input as text."""
        return text_of(self.ir)

    def part_texts(self) -> list[str]:
        """Return the IR text of each object."""
        return [text_of(part) for part in self._parts()]

    def _parts(self) -> list[LlvmIr]:
        return [part for part, _ in modules_to_compile(self.ir, self.options, self.parts)]

    @property
    def optimized_text(self) -> str:
        """LLVM IR after optimisation, part by part if partitioned; computed on first use."""
        if self._optimized_text is None:
            self._optimized_text = "\n".join(
                optimized_ir(part, self.description, self.options) for part in self._parts()
            )
        return self._optimized_text

    @property
    def assembly_text(self) -> str:
        """Assembly, part by part if partitioned; computed on first use."""
        if self._assembly is None:
            self._assembly = "\n".join(
                emit_assembly(part, self.description, self.options) for part in self._parts()
            )
        return self._assembly

    def __repr__(self) -> str:
        steps = ", ".join(
            f"{name} {seconds * 1e3:.1f} ms" for name, seconds in self.seconds.items()
        )
        return (
            f"<CompiledObject {sum(map(len, self.objects))} bytes for {self.description.triple} "
            f"({steps})>"
        )


def optimize_and_emit(
    ir: LlvmIr,
    description: TargetDescription | None = None,
    level: int | None = None,
    *,
    preset: str = "full",
    options: OptimizationOptions | None = None,
    cache: ObjectCache | None = None,
    parts: int = 1,
) -> CompiledObject:
    """Compile LLVM IR to object code.

    description: the target, this machine by default. The settings are `options` if given, else
    those of `preset`, with `level` over them. cache: read first, then written; None compiles
    always. parts: partition the module into at most so many, and compile them on several cores (0:
    as many as there are cores); the result then has several `objects`. Raises LlvmIrError for IR
    that does not parse or verify, TargetError for an unknown target, LlvmCrashedError if LLVM
    crashes.
    """
    description = description or host_target()
    options = _resolve(options, preset, level)
    parts = parts or usable_cores()
    key = ""
    if cache is not None:
        started = time.perf_counter()
        key = cache.key(
            text_of(ir), description.cache_key(), options.cache_key(), llvm_version(), str(parts)
        )
        stored = cache.get(key)
        objects = None if stored is None else _unpack(stored)
        if stored is not None and objects is None:
            cache.drop(key)
        if objects is not None:
            seconds = {"cache": time.perf_counter() - started}
            return CompiledObject(
                objects, ir, description, options, seconds, from_cache=True, parts=parts
            )
    started = time.perf_counter()
    units = modules_to_compile(ir, options, parts)
    partitioned = time.perf_counter() - started
    results = finish(
        [Job("object", *unit, description, options) for unit in units],
        whole=parts == 1 and not options.by_optimization_level,
    )
    slowest = max([result.seconds for result in results], key=lambda seconds: sum(seconds.values()))
    compiled = CompiledObject(
        tuple([data for result in results for data in result.data]),
        ir,
        description,
        options,
        {"partition": partitioned, **slowest} if len(units) > 1 else slowest,
        parts=parts,
        remarks=tuple([remark for result in results for remark in result.remarks]),
    )
    if cache is not None and not compiled.remarks:
        cache.put(key, _pack(compiled.objects))
    return compiled


def finish(jobs: Sequence[Job], whole: bool = False) -> list[Finished]:
    """Have jobs done side by side, and wait for all. See `crashed_code.finished`."""
    futures = [submit(job) for job in jobs]
    return [finished(job, future, whole) for job, future in zip(jobs, futures, strict=True)]


def modules_to_compile(
    ir: LlvmIr, options: OptimizationOptions, parts: int = 1
) -> list[tuple[LlvmIr, str]]:
    """Return (module, passes before code generation): `default`, `short` or `none`."""
    if isinstance(ir, str):
        return [(ir, "default")]
    ordinary: LlvmModule | None = ir
    final = short = None
    if options.by_optimization_level:
        ordinary, final = separate_functions(ir, OptimizationLevel.FINAL)
        if ordinary is not None:
            ordinary, short = separate_functions(ordinary, OptimizationLevel.SHORT)
    return [
        (part, passes)
        for whole, passes in ((ordinary, "default"), (final, "none"), (short, "short"))
        if whole is not None
        for part in partition_module(whole, parts)
    ]


# How object files begin: ELF, Mach-O of 64 bits, WebAssembly, COFF of x86-64 and of arm64.
_OBJECT_FILES: Final = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\0asm", b"\x64\x86", b"\x64\xaa")


def _pack(objects: tuple[bytes, ...]) -> bytes:
    """Pack objects into one cache entry: their number, their lengths, then all bytes."""
    return struct.pack(f"<{len(objects) + 1}Q", len(objects), *map(len, objects)) + b"".join(
        objects
    )


def _unpack(data: bytes) -> tuple[bytes, ...] | None:
    """Return the objects of a cache entry; None for damaged bytes."""
    count = int.from_bytes(data[:8], "little")
    position = 8 * (count + 1)
    if not 0 < count <= len(data) // 8 or position > len(data):
        return None
    objects = []
    for length in struct.unpack_from(f"<{count}Q", data, 8):
        objects.append(data[position : position + length])
        position += length
    return (
        tuple(objects)
        if position == len(data) and all(found.startswith(_OBJECT_FILES) for found in objects)
        else None
    )


def optimized_ir(
    ir: LlvmIr,
    description: TargetDescription | None = None,
    options: OptimizationOptions | None = None,
) -> str:
    """Return LLVM IR text after the optimisation pipeline. Errors as for `optimize_and_emit`."""
    return "\n".join(optimized_parts(ir, description, options))


def optimized_parts(
    ir: LlvmIr,
    description: TargetDescription | None = None,
    options: OptimizationOptions | None = None,
) -> list[str]:
    """Return the optimised IR of each module; functions of other levels have their own.

    Metadata is numbered anew in each.
    """
    description, options = description or host_target(), options or OptimizationOptions()
    return _texts("ir", ir, description, options, False)


def emit_assembly(
    ir: LlvmIr,
    description: TargetDescription | None = None,
    options: OptimizationOptions | None = None,
    *,
    verbose: bool = False,
) -> str:
    """Return assembly text.

    verbose: with LLVM's comments (loop nesting, spills, constants). Errors as `optimize_and_emit`.
    """
    description, options = description or host_target(), options or OptimizationOptions()
    return "\n".join(_texts("assembly", ir, description, options, verbose))


def _texts(
    wanted: Literal["assembly", "ir"],
    ir: LlvmIr,
    description: TargetDescription,
    options: OptimizationOptions,
    verbose: bool,
) -> list[str]:
    """Return LLVM's output for each module."""
    jobs = [
        Job(wanted, *unit, description, options, verbose)
        for unit in modules_to_compile(ir, options)
    ]
    return [data.decode() for result in finish(jobs) for data in result.data]


def _resolve(
    options: OptimizationOptions | None, preset: str, level: int | None
) -> OptimizationOptions:
    resolved = options or OptimizationOptions.from_preset(preset)
    if level is None or level == resolved.level:
        return resolved
    return replace(resolved, level=level)
