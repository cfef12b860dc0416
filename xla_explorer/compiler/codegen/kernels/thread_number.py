"""The number of a GPU thread in its grid: block x threads per block + thread in the block.

Sources: LLVM, docs/NVPTXUsage.rst (special registers) and docs/AMDGPUUsage.rst (kernel descriptor,
initial register state). HSA platform system architecture specification 1.2, section 2.9.6: the
dispatch packet has the workgroup's size in x at byte 4, 16 bits wide. OpenCL C specification 3.0,
section 6.15.1 (work-item functions), mangled as in LLVM's SPIR-V backend.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.definitions import Declaration
from xla_explorer.compiler.codegen.ir.types import I8, I16, I32, I64, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.diagnostic import XlaExplorerError

ThreadNumber = Callable[[FunctionWriter, Target], Value[Integer]]
"""Emits the number of a thread in its grid, an i64."""
_REGISTERS = {
    "amdgcn": {"block": "amdgcn.workgroup.id.x", "thread": "amdgcn.workitem.id.x"},
    "nvptx64": {
        "block": "nvvm.read.ptx.sreg.ctaid.x",
        "thread": "nvvm.read.ptx.sreg.tid.x",
        "size": "nvvm.read.ptx.sreg.ntid.x",
    },
}
_THREAD_NUMBERS: dict[str, ThreadNumber] = {}


class UnknownGpuError(XlaExplorerError, LookupError):
    """An architecture without a declared numbering of its threads."""


def numbers_threads(architecture: str) -> Callable[[ThreadNumber], ThreadNumber]:
    """Register the thread numbering of an architecture, for kernels of one element a thread.

    Parameters
    ----------
    architecture
        The first part of the target's triple, such as `spirv64`.

    Returns
    -------
    callable
        A decorator of a function (writer, target) that writes the instructions and returns an i64.

    Examples
    --------
    >>> from xla_explorer.plugin import numbers_threads
    >>> from xla_explorer.compiler.codegen.ir.types import I64
    >>> @numbers_threads("mygpu")
    ... def number(writer, target):
    ...     return writer.intrinsic("thread_of_the_grid", I64)
    """

    def declare(function: ThreadNumber) -> ThreadNumber:
        _THREAD_NUMBERS[architecture] = function
        return function

    return declare


def launch_number(b: Builder, target: Target, what: str) -> Value[Integer]:
    """Return the number of the `block`, of the `thread` in it, or the `size` of a block.

    Raises an UnknownGpuError if no register has it.
    """
    registers = _REGISTERS.get(_architecture(target), {})
    if what not in registers:
        raise UnknownGpuError(
            f"no register of {_architecture(target)} is known for the {what} of a thread",
            "kernels of warps and blocks are for amdgcn and nvptx64; write one thread an element "
            "there",
        )
    return b.convert("zext", b.intrinsic(f"llvm.{registers[what]}", I32), "i64")


def thread_number(w: FunctionWriter, target: Target) -> Value[Integer]:
    """Return the number of the thread in the grid, an i64."""
    found = _THREAD_NUMBERS.get(_architecture(target))
    if found is None:
        known = ", ".join(sorted(_THREAD_NUMBERS))
        raise UnknownGpuError(
            f"no thread numbering is registered for {_architecture(target)}; registered are "
            f"{known}",
            "declare a function (writer, target) with "
            "@xla_explorer.plugin.numbers_threads(architecture)",
        )
    return found(w, target)


def _architecture(target: Target) -> str:
    return target.triple.partition("-")[0]


@numbers_threads("amdgcn")
def _amd(w: FunctionWriter, target: Target) -> Value[Integer]:
    block, thread = [launch_number(w, target, what) for what in ("block", "thread")]
    packet = w.intrinsic("llvm.amdgcn.dispatch.ptr", Type("ptr", space=4))
    size = w.convert("zext", w.load(w.address(packet, I8, 4), I16, 4), "i64")
    return _in_grid(w, block, size, thread)


@numbers_threads("nvptx64")
def _nvidia(w: FunctionWriter, target: Target) -> Value[Integer]:
    block, size, thread = [launch_number(w, target, what) for what in ("block", "size", "thread")]
    return _in_grid(w, block, size, thread)


@numbers_threads("spirv64")
def _opencl(w: FunctionWriter, target: Target) -> Value[Integer]:
    declared = Declaration("_Z13get_global_idj", "i64", ("i32",), "spir_func")
    w.declarations[declared] = None
    return w.emit("call", I64, (w.number(0, I32),), "spir_func i64 @_Z13get_global_idj")


def _in_grid(
    w: FunctionWriter, block: Value[Integer], size: Value[Integer], thread: Value[Integer]
) -> Value[Integer]:
    return w.binary("add", w.binary("mul", block, size, "nuw nsw"), thread, "nuw nsw")
