"""A module compiled ahead of time: one object, its arguments and results, and its memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from xla_explorer.backends.aot.c_names import c_identifier
from xla_explorer.backends.aot.errors import AheadOfTimeError, ElidedConstantsError
from xla_explorer.backends.aot.object_file import SectionSize, section_sizes, undefined_symbols
from xla_explorer.backends.aot.program_entry import Weight, aligned, write_entry
from xla_explorer.backends.cpu_program.cpu_pipeline import cpu_pipeline
from xla_explorer.backends.cpu_program.cpu_stages import cpu_stages
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.cpu_program.program_writing import write_program
from xla_explorer.backends.interfaces import AotCompilationOptions, CompilationStage
from xla_explorer.backends.interpreter.whole_module import why_no_native_code
from xla_explorer.backends.llvm.cpu_targets import description_of_triple
from xla_explorer.backends.llvm.llvm_compiler import (
    CompiledObject,
    OptimizationOptions,
    optimize_and_emit,
)
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.runtime_support import support_functions
from xla_explorer.backends.llvm.target_machine import TargetDescription
from xla_explorer.compiler.buffers.assignment import BufferAssignment, assign_buffers
from xla_explorer.compiler.codegen.foreign_calls import FOREIGN_CALL
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.program_kernels import ProgramKernels
from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike, requested_pipeline
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.elided_constants import REMEDY, elided_constants, elided_reason
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

WEIGHT_BYTES = (
    1024  # constants from this size on are passed by the caller where weights are passed at all
)
# A function that calls across two modules would be visible to the linker; so all is optimised and
# emitted as one.
OPTIMIZATION = OptimizationOptions(by_optimization_level=False, strength_reduction=True)
_WITHOUT_C_LIBRARY = ("wasm32", "wasm64")


class Buffer(NamedTuple):
    """An argument or a result of the entry.

    name: a C identifier. instruction: its HLO name. leaf: its index inside a tuple.
    """

    name: str
    instruction: str
    leaf: tuple[int, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class AheadOfTimeProgram:
    """See `backends.interfaces.AotCompilationResult`.

    prefix: begins every symbol that the linker sees. compiled: IR and object code. weights:
    constants that the caller passes; empty if all are in the object. workspace_bytes: memory that
    the caller provides for each concurrent run. needs: functions of the C library (or of the
    compiler's runtime) that the object calls.
    """

    trace: PassTrace
    prefix: str
    description: TargetDescription
    assignment: BufferAssignment
    program: HostProgram
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    weights: tuple[Weight, ...]
    workspace_bytes: int
    compiled: CompiledObject
    needs: tuple[str, ...]

    @property
    def module(self) -> HloModule:
        """The optimised module."""
        return self.trace.module

    optimized_module = module  # the name in `backends.interfaces.AotCompilationResult`

    @property
    def object_bytes(self) -> bytes:
        """The object file."""
        return self.compiled.object_bytes

    def serialize(self) -> bytes:
        """Return the object file."""
        return self.object_bytes

    @property
    def stages(self) -> dict[str, CompilationStage]:
        """Return the stages `hlo` (if the journal has it) to `object`.

        They are: hlo, hlo-optimized, buffers, llvm-ir, llvm-ir-optimized, assembly, object.
        """
        return cpu_stages(self.trace, self.assignment, self.program, self.compiled)

    @property
    def weight_bytes(self) -> bytes:
        """Return the weights that the caller passes: the constants, each at its offset."""
        size = sum([aligned(len(weight.data)) for weight in self.weights])
        blob = bytearray(size)
        for weight in self.weights:
            blob[weight.offset : weight.offset + len(weight.data)] = weight.data
        return bytes(blob)

    @property
    def sections(self) -> list[SectionSize]:
        """Return the sections of the object that are in memory at run time."""
        return section_sizes(self.object_bytes)


def entry_buffers(module: HloModule) -> tuple[tuple[Buffer, ...], tuple[Buffer, ...]]:
    """Return parameter leaves and result leaves, in the order of the entry's tables."""
    taken: set[str] = set()
    inputs = [
        Buffer(_unique(_buffer_name(p.name, index), taken), p.name, index, leaf)
        for p in module.entry.parameters()
        for index, leaf in p.shape.leaves()
    ]
    root = module.entry.root
    outputs = [
        Buffer(_unique(_buffer_name("result", index), taken), root.name, index, leaf)
        for index, leaf in root.shape.leaves()
        if leaf.is_array
    ]
    return tuple(inputs), tuple(outputs)


def _buffer_name(name: str, index: tuple[int, ...]) -> str:
    return "_".join([c_identifier(name), *map(str, index)])


def _unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def refusals(program: HostProgram) -> list[Reason]:
    """Return refusals of steps that an object file cannot contain.

    These are steps of the evaluator, and foreign functions, whose addresses are valid in one
    process.
    """
    reasons = []
    for row in program.rows:
        if row.runs_on in ("evaluator", "exchange") or row.function == FOREIGN_CALL:
            assert row.reason is not None
            message = f"%{row.name} ({row.opcode}) has no native code: {row.reason.message}"
            reasons.append(
                refuse(
                    "no-native-code",
                    message,
                    instruction=row.name,
                    opcode=row.opcode,
                    because=row.reason.code,
                )
            )
    return reasons


def ahead_of_time_program(
    module: HloModule, options: AotCompilationOptions, passes: PipelineLike = "default"
) -> AheadOfTimeProgram:
    """Optimise a copy of a module and compile it.

    Errors as for `compile_ahead_of_time`, and UnknownTargetError; ElidedConstantsError for text
    that left the values of constants out: a file is not to outlive a warning.
    """
    if elided := elided_constants(module):
        raise ElidedConstantsError([elided_reason(constant) for constant in elided], REMEDY)
    description = description_of_triple(
        options.triple, options.cpu or None, options.features or None
    )
    if options.relocation_model != "default":
        description = replace(description, relocation_model=options.relocation_model)
    pipeline = requested_pipeline(passes, cpu_pipeline("aot", libraries=options.libraries))
    trace = optimize(
        module, pipeline, "off", target=described_cpu(description, libraries=options.libraries)
    )
    weights = "embed" if options.embed_weights else "pass"
    return compile_ahead_of_time(
        trace, description, options.entry_point, weights=weights, libraries=options.libraries
    )


def _optimization(module: LlvmModule, description: TargetDescription) -> OptimizationOptions:
    """Return the optimisation options of a module.

    LLVM 22's code generator for wasm does not end on vectors of half precision, so modules with
    such numbers are not vectorised.
    """
    if description.architecture.startswith("wasm") and module.has_type("half"):
        return replace(OPTIMIZATION, loop_vectorization=False, slp_vectorization=False)
    return OPTIMIZATION


def write_kernels(
    module: HloModule, assignment: BufferAssignment, target: Target, prefix: str
) -> HostProgram:
    """Return the code of an optimised module for one thread, without an entry for C."""
    kernels = ProgramKernels(target, 1, f"{prefix}_run", prefix=f"{prefix}.")
    return write_program(module, assignment, kernels)


def compile_ahead_of_time(
    trace: PassTrace,
    description: TargetDescription,
    prefix: str,
    *,
    weights: str = "embed",
    assignment: BufferAssignment | None = None,
    cache: ObjectCache | None = None,
    libraries: bool = False,
) -> AheadOfTimeProgram:
    """Compile the optimised, scheduled module at the end of a trace.

    prefix: begins every symbol that the linker sees. weights: `embed`, or `pass` constants of 1 KiB
    and more. libraries: the code may call CBLAS and LAPACK. AheadOfTimeError if an instruction has
    no native code.
    """
    module = trace.module
    if (dynamic := why_no_native_code(module)) is not None:
        raise AheadOfTimeError([dynamic])
    assignment = assignment or assign_buffers(module)
    target = described_cpu(description, libraries=libraries)
    program = write_kernels(module, assignment, target, prefix)
    if reasons := refusals(program):
        if any(reason.facts.get("because") == "no-library" for reason in reasons):
            raise AheadOfTimeError(
                reasons,
                "libraries=True (--libraries) lets the code call CBLAS and LAPACK, which you "
                "then link",
            )
        raise AheadOfTimeError(reasons)
    inputs, outputs = entry_buffers(module)
    if tokens := [buffer for buffer in inputs if not buffer.shape.is_array]:
        message = f"%{tokens[0].instruction} is a token: nothing in C stands for one"
        raise AheadOfTimeError(
            [refuse("token-parameter", message, instruction=tokens[0].instruction)]
        )
    sizes = [buffer.shape.byte_size for buffer in (*inputs, *outputs)]
    least = {"embed": None, "pass": WEIGHT_BYTES}[weights]
    entry = write_entry(
        program, prefix, sizes, len(inputs), assignment.arena_size, target.cores.pointer_bits, least
    )
    program = program._replace(module=entry.module)
    options = _optimization(program.module, description)
    compiled = optimize_and_emit(program.module, description, options=options, cache=cache)
    needs = undefined_symbols(compiled.object_bytes)
    without_library = description.architecture in _WITHOUT_C_LIBRARY
    support = support_functions(
        needs, half_is_integer=without_library, has_c_library=not without_library
    )
    if support:
        module_with_support = replace(program.module, support=support)
        program = program._replace(module=module_with_support)
        compiled = optimize_and_emit(program.module, description, options=options, cache=cache)
        needs = undefined_symbols(compiled.object_bytes)
    return AheadOfTimeProgram(
        trace, prefix, description, assignment, program, inputs, outputs, tuple(entry.weights), entry.workspace_bytes, compiled,
        tuple(needs),
    )  # fmt: skip
