"""An LLVM module with a function per distinct kernel, as text with each line's HLO instruction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import NamedTuple

from xla_explorer.backends.gpu.device_math import DEFAULT_LEVEL, device_math_module
from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.backends.gpu.launch_dimensions import (
    LaunchArchitecture,
)
from xla_explorer.backends.gpu.tensor_map import MAP_BYTES
from xla_explorer.compiler.codegen.ir.records import INVARIANT
from xla_explorer.compiler.codegen.vector_math import vector_math_module
from xla_explorer.compiler.target import NVPTX

_FIRST_ANNOTATION = 90_000  # metadata numbers: above the kernels', below debug information
_NOT_IN_IDENTIFIERS = re.compile(r"[^A-Za-z0-9_]")


def ptx_identifier(name: str) -> str:
    """Return an HLO name as a PTX identifier: ptxas refuses dots, hyphens and leading digits."""
    mangled = _NOT_IN_IDENTIFIERS.sub("_", name)
    return mangled if mangled[:1].isalpha() or mangled[:1] == "_" else f"_{mangled}"


def function_in_a_block(kernel: GpuKernel) -> str:
    """Return the name of a kernel as a function of a single-block kernel.

    Between two calls that kernel may write its inputs. The last parameters are the thread's number
    in a block of the called kernel, and that block's number.
    """
    return f"{kernel.name}.in_a_block"


class KernelDialect(NamedTuple):
    """The LLVM form of kernels of a kind of GPU.

    convention: calling convention. block_attribute: function attribute of the block size, with
    `{threads}`. functions: returns the text of vector-math functions. math: level of `device_math`;
    empty without levels.
    """

    triple: str
    convention: str
    block_attribute: str
    functions: Callable[[Iterable[str]], str] = vector_math_module
    math: str = ""


@cache
def ptx_kernels(math: str = DEFAULT_LEVEL) -> KernelDialect:
    """Return the dialect of NVIDIA's kernels, with a level of `device_math`."""
    functions = partial(device_math_module, level=math)
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
            code.lines,
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
        added = kernel._replace(
            name=unique, instruction=instruction, may_overlap=may_overlap, records=()
        )
        self._known[key] = added
        self.kernels.append(added)
        return added

    def write(self) -> tuple[list[str], list[int | None]]:
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
        size += len(k.kernel.lines)
        if size >= lines:
            groups.append(kernels[begin : number + 1])
            begin, size = number + 1, 0
    return [*groups, kernels[begin:]] if begin < len(kernels) or not groups else groups


def write_kernels(
    kernels: Sequence[GpuKernel], dialect: KernelDialect = PTX_KERNELS
) -> tuple[list[str], list[int | None]]:
    """Return the lines of a module of these kernels, and each line's HLO instruction id."""
    lines: list[str] = ['source_filename = "module.hlo"', f'target triple = "{dialect.triple}"', ""]
    origins: list[int | None] = [None] * len(lines)

    def append(new: list[str], owners: list[int | None] | None = None) -> None:
        lines.extend(new)
        origins.extend(owners if owners is not None else [None] * len(new))

    declarations: dict[str, None] = {}
    math: dict[str, None] = {}
    constants: dict[str, None] = {}
    called = tuple(dict.fromkeys([inner for k in kernels for inner in k.inside]))
    for k in (*kernels, *called):
        declarations.update(dict.fromkeys(k.kernel.declarations))
        math.update(dict.fromkeys(k.kernel.math))
        constants.update(dict.fromkeys(k.kernel.globals))
    append(list(constants))
    groups: dict[str, int] = {}
    for k in kernels:
        # Registers can move between warps (setmaxnreg) only if a block is known to be alone.
        alone = ' "nvvm.minctasm"="1"' if k.tensor_maps or k.many_registers else ""
        group = groups.setdefault(
            dialect.block_attribute.format(threads=k.launch.threads_per_block) + alone, len(groups)
        )
        alias = "" if k.may_overlap else " noalias"
        parameters = ", ".join(
            [
                f"ptr addrspace(1){alias} align 16 %a{number}"
                for number in range(k.kernel.parameters)
            ]
            + [
                f'ptr byval([{MAP_BYTES} x i8]) align 64 "nvvm.grid_constant" %map{number}'
                for number in range(len(k.tensor_maps))
            ]
        )
        append(
            [
                f"define {dialect.convention} void @{k.name}({parameters}) #{group} {{",
                "entry:",
                *k.kernel.lines,
                "}",
                "",
            ],
            [k.instruction, k.instruction, *k.kernel.origins, k.instruction, None],
        )
    for k in called:
        pointers = [
            f"ptr addrspace(1) align 16 %a{number}" for number in range(k.kernel.parameters)
        ]
        parameters = ", ".join([*pointers, "i32 %lane", "i32 %number"])
        begin = (
            f"define internal void @{function_in_a_block(k)}({parameters}) alwaysinline nounwind {{"
        )
        body = [_in_a_block(line, k.launch.threads_per_block) for line in k.kernel.lines]
        append(
            [begin, "entry:", *body, "}", ""],
            [k.instruction, k.instruction, *k.kernel.origins, k.instruction, None],
        )
    if math:
        text = dialect.functions(tuple(math)).splitlines()
        append([line for line in text if not line.startswith("declare ")])
        declarations.update(dict.fromkeys([line for line in text if line.startswith("declare ")]))
    append([*declarations, ""])
    # No jump tables: an indirect branch costs a warp more than a few comparisons, and hides its
    # targets.
    append(
        [
            f'attributes #{group} = {{ nounwind "no-jump-tables"="true" {attributes} }}'
            for attributes, group in groups.items()
        ]
    )
    append(["", "!0 = !{}", *_annotations(kernels)])
    return lines, origins


def _in_a_block(line: str, threads: int) -> str:
    """Return a kernel's line for a function of another kernel.

    Loads are no longer invariant, and special registers are parameters.
    """
    for register, value in (("tid", "%lane"), ("ctaid", "%number"), ("ntid", str(threads))):
        line = line.replace(
            f"call i32 @llvm.nvvm.read.ptx.sreg.{register}.x()", f"add i32 {value}, 0"
        )
    return line.replace(INVARIANT, "")


def _annotations(kernels: Sequence[GpuKernel]) -> list[str]:
    """Return annotations of grid-constant parameters, as LLVM before 21 requires.

    Without them LLVM copies the parameters to local memory.
    """
    number = _FIRST_ANNOTATION
    named: list[str] = []
    lines: list[str] = []
    for k in kernels:
        if k.tensor_maps:
            places = ", ".join(
                [f"i32 {k.kernel.parameters + at + 1}" for at in range(len(k.tensor_maps))]
            )
            lines += [
                f'!{number} = !{{ptr @{k.name}, !"grid_constant", !{number + 1}}}',
                f"!{number + 1} = !{{{places}}}",
            ]
            named.append(f"!{number}")
            number += 2
    return [f"!nvvm.annotations = !{{{', '.join(named)}}}", *lines] if named else []
