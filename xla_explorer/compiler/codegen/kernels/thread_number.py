"""The number of a GPU thread in its grid: block x threads per block + thread in the block, as each kind of GPU has it.

Source: LLVM, docs/NVPTXUsage.rst (special registers); docs/AMDGPUUsage.rst (kernel descriptor, initial register state); HSA platform
system architecture specification 1.2, section 2.9.6: the dispatch packet holds the workgroup's size in x at byte 4, 16 bits wide.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.types import I32
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.target import Target

_REGISTERS = {
    "amdgcn": {"block": "amdgcn.workgroup.id.x", "thread": "amdgcn.workitem.id.x"},
    "nvptx64": {"block": "nvvm.read.ptx.sreg.ctaid.x", "thread": "nvvm.read.ptx.sreg.tid.x", "size": "nvvm.read.ptx.sreg.ntid.x"},
}


def launch_number(b: Builder, target: Target, what: str) -> Value[Integer]:
    """The number of the `block`, of the `thread` in it, or the `size` of a block, where a register has it."""
    return b.convert("zext", b.intrinsic(f"llvm.{_REGISTERS[target.triple.partition('-')[0]][what]}", I32), "i64")


def thread_number(w: FunctionWriter, target: Target) -> str:
    """The name of an i64 value."""
    block = launch_number(w, target, "block").name
    if target.triple.startswith("amdgcn"):
        thread = launch_number(w, target, "thread").name
        w.declare("declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()")
        packet = w.value("call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()")
        field = w.element_at(packet, "i8", 4, "ptr addrspace(4)")
        size = w.cast("zext", w.read(field, "i16", 4, "ptr addrspace(4)"), "i16", "i64")
    else:
        size, thread = [launch_number(w, target, what).name for what in ("size", "thread")]
    return w.operation("add", w.operation("mul", block, size, "i64", "nuw nsw"), thread, "i64", "nuw nsw")
