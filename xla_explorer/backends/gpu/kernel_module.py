"""An LLVM module with a function per distinct kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import NamedTuple

from xla_explorer.backends.gpu.device_math import DEFAULT_LEVEL, device_math_functions
from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.backends.gpu.tensor_map import MAP_BYTES
from xla_explorer.compiler.codegen.ir.definitions import (
    EMPTY_NODE,
    AttributeGroup,
    Metadata,
    node_list,
)
from xla_explorer.compiler.codegen.ir.llvm_module import (
    ALWAYS_INLINE,
    SOURCE,
    LlvmFunction,
    LlvmModule,
)
from xla_explorer.compiler.codegen.ir.records import INVARIANT, Access, Body, Instruction, Line
from xla_explorer.compiler.codegen.ir.types import I32
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchArchitecture
from xla_explorer.compiler.codegen.symbol_names import word_of
from xla_explorer.compiler.codegen.vector_math import vector_math_functions
from xla_explorer.compiler.target import NVPTX

_FIRST_ANNOTATION = 90_000  # metadata numbers: above the kernels', below debug information
CALLED_EMITTERS = frozenset({"loop", "vector-loop"})
"""Emitters whose kernels can be functions of another: they have no barrier for all threads."""


def ptx_identifier(name: str) -> str:
    """Return an HLO name as a PTX identifier: ptxas refuses dots, hyphens and leading digits."""
    mangled = word_of(name)
    return mangled if mangled[:1].isalpha() or mangled[:1] == "_" else f"_{mangled}"


def function_in_a_block(kernel: GpuKernel) -> str:
    """Return the name of a kernel as a function of a single-block kernel.

    Between two calls that kernel may write its inputs. The last parameters are the thread's number
    in a block of the called kernel, and that block's number.
    """
    return f"{kernel.name}.in_a_block"


def _vector_math(names: Iterable[str]) -> tuple[LlvmFunction, ...]:
    return tuple([function.definition for function in vector_math_functions(names)])


class KernelDialect(NamedTuple):
    """The LLVM form of kernels of a kind of GPU.

    convention: calling convention. block_attribute: function attribute of the block size, with
    `{threads}`. functions: returns vector-math functions by name, with their callees. math: level
    of `device_math`; empty without levels.
    """

    triple: str
    convention: str
    block_attribute: str
    functions: Callable[[Iterable[str]], tuple[LlvmFunction, ...]] = _vector_math
    math: str = ""


@cache
def ptx_kernels(math: str = DEFAULT_LEVEL) -> KernelDialect:
    """Return the dialect of NVIDIA's kernels, with a level of `device_math`."""
    functions = partial(device_math_functions, level=math)
    return KernelDialect(NVPTX.triple, "ptx_kernel", '"nvvm.maxntid"="{threads}"', functions, math)


PTX_KERNELS = ptx_kernels()


class KernelModule:
    """Collection of kernels without duplicates."""

    def __init__(
        self, architecture: LaunchArchitecture, dialect: KernelDialect = PTX_KERNELS
    ) -> None:
        self.architecture = architecture
        self.dialect = dialect
        self.kernels: list[GpuKernel] = []
        self._known: dict[tuple[object, ...], GpuKernel] = {}
        self._names: set[str] = set()

    def add(
        self, name: str, instruction: int, kernel: GpuKernel, may_overlap: bool = False
    ) -> GpuKernel:
        """Add a kernel under a unique name, or return an equal one that was added before."""
        code = kernel.kernel
        key = (
            code.body,
            code.globals,
            code.parameters,
            kernel.launch[:3],
            may_overlap,
            kernel.tensor_maps,
        )
        known = self._known.get(key)
        if known is not None:
            return known
        stem = unique = ptx_identifier(name)
        number = 1
        while unique in self._names:
            number += 1
            unique = f"{stem}_{number}"
        self._names.add(unique)
        added = kernel._replace(name=unique, instruction=instruction, may_overlap=may_overlap)
        self._known[key] = added
        self.kernels.append(added)
        return added

    def write(self) -> LlvmModule:
        """Write all kernels (see `write_kernels`)."""
        return write_kernels(self.kernels, self.dialect)


def kernel_groups(kernels: Sequence[GpuKernel], lines: int = 2000) -> list[Sequence[GpuKernel]]:
    """Split kernels into groups of at least `lines` lines of LLVM IR, for parallel compilation.

    The last group may be smaller. Groups depend only on the kernels, so that a program has the same
    PTX on every machine.
    """
    groups: list[Sequence[GpuKernel]] = []
    begin = size = 0
    for number, k in enumerate(kernels):
        size += len(k.kernel.body)
        if size >= lines:
            groups.append(kernels[begin : number + 1])
            begin, size = number + 1, 0
    return [*groups, kernels[begin:]] if begin < len(kernels) or not groups else groups


def write_kernels(kernels: Sequence[GpuKernel], dialect: KernelDialect = PTX_KERNELS) -> LlvmModule:
    """Return the module of these kernels."""
    called = tuple(dict.fromkeys([inner for k in kernels for inner in k.inside]))
    groups: dict[str, int] = {}
    functions = [_launched(k, dialect, groups) for k in kernels]
    functions += [_called(k) for k in called]
    codes = [k.kernel for k in (*kernels, *called)]
    math = dialect.functions(tuple(dict.fromkeys([name for code in codes for name in code.math])))
    declared = [d for code in codes for d in code.declarations]
    declared += [d for function in math for d in function.declarations]
    return LlvmModule(
        (*functions, *math),
        SOURCE,
        dialect.triple,
        globals=tuple(dict.fromkeys([definition for code in codes for definition in code.globals])),
        declarations=tuple(dict.fromkeys(declared)),
        # No jump tables: an indirect branch costs a warp more than a few comparisons, and hides its
        # targets.
        attribute_groups=tuple(
            [
                AttributeGroup(group, f'nounwind "no-jump-tables"="true" {attributes}')
                for attributes, group in groups.items()
            ]
        ),
        metadata=(EMPTY_NODE, *_annotations(kernels)),
        is_whole=any(code.has_variables for code in codes),
    )


def _launched(k: GpuKernel, dialect: KernelDialect, groups: dict[str, int]) -> LlvmFunction:
    """Return a kernel as a function. groups: numbers of attribute groups, new ones are added."""
    # Registers can move between warps (setmaxnreg) only if a block is known to be alone.
    alone = ' "nvvm.minctasm"="1"' if k.tensor_maps or k.many_registers else ""
    block = dialect.block_attribute.format(threads=k.launch.threads_per_block)
    group = groups.setdefault(block + alone, len(groups))
    alias = "" if k.may_overlap else " noalias"
    pointers = [f"ptr addrspace(1){alias} align 16 %a{n}" for n in range(k.kernel.parameters)]
    maps = [
        f'ptr byval([{MAP_BYTES} x i8]) align 64 "nvvm.grid_constant" %map{number}'
        for number in range(len(k.tensor_maps))
    ]
    return LlvmFunction(
        k.name,
        (*pointers, *maps),
        k.kernel.body,
        k.instruction,
        linkage="",
        convention=dialect.convention,
        attributes=(f"#{group}",),
        globals=k.kernel.globals,
        declarations=k.kernel.declarations,
        callees=(*k.kernel.math, *[function_in_a_block(inner) for inner in k.inside]),
    )


def _called(k: GpuKernel) -> LlvmFunction:
    """Return a kernel as a function of a single-block kernel."""
    pointers = [f"ptr addrspace(1) align 16 %a{number}" for number in range(k.kernel.parameters)]
    return LlvmFunction(
        function_in_a_block(k),
        (*pointers, "i32 %lane", "i32 %number"),
        _in_a_block(k),
        k.instruction,
        attributes=(ALWAYS_INLINE, "nounwind"),
        globals=k.kernel.globals,
        declarations=k.kernel.declarations,
        callees=k.kernel.math,
    )


def _in_a_block(kernel: GpuKernel) -> Body:
    """Return the body of a function of a single-block kernel.

    Loads are no longer invariant, and special registers are parameters.
    """
    registers = {
        f"i32 @llvm.nvvm.read.ptx.sreg.{register}.x": value
        for register, value in (
            ("tid", "%lane"),
            ("ctaid", "%number"),
            ("ntid", str(kernel.launch.threads_per_block)),
        )
    }

    def changed(record: Line) -> Line:
        if not isinstance(record, Instruction):
            return record
        if isinstance(record.detail, Access) and record.detail.mark == INVARIANT:
            return record._replace(detail=record.detail._replace(mark=""))
        if record.op == "call" and record.detail in registers and record.result is not None:
            named = record.result.builder.named
            value = named(registers[record.detail], I32)
            return record._replace(op="add", operands=(value, named("0", I32)), detail="")
        return record

    return Body(map(changed, kernel.kernel.body))


def _annotations(kernels: Sequence[GpuKernel]) -> list[Metadata]:
    """Return annotations of grid-constant parameters, as LLVM before 21 requires.

    Without them LLVM copies the parameters to local memory.
    """
    number = _FIRST_ANNOTATION
    named: list[int] = []
    nodes: list[Metadata] = []
    for k in kernels:
        if k.tensor_maps:
            places = ", ".join(
                [f"i32 {k.kernel.parameters + at + 1}" for at in range(len(k.tensor_maps))]
            )
            content = f'!{{ptr @{k.name}, !"grid_constant", !{number + 1}}}'
            nodes += [Metadata(number, content), Metadata(number + 1, f"!{{{places}}}")]
            named.append(number)
            number += 2
    return [Metadata("nvvm.annotations", node_list(*named)), *nodes] if named else []
