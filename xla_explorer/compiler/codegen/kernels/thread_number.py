"""The number of a GPU thread in its grid: block x threads per block + thread in the block, as each kind of GPU has it.

Source: LLVM, docs/NVPTXUsage.rst (special registers); docs/AMDGPUUsage.rst (kernel descriptor, initial register state); HSA platform
system architecture specification 1.2, section 2.9.6: the dispatch packet holds the workgroup's size in x at byte 4, 16 bits wide.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import I32
from xla_explorer.compiler.target import Target


def thread_number(w: FunctionWriter, target: Target) -> str:
    """The name of an i64 value."""
    if target.triple.startswith("amdgcn"):
        block, thread = [_register(w, f"amdgcn.{name}") for name in ("workgroup.id.x", "workitem.id.x")]
        w.declare("declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()")
        packet = w.value("call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()")
        field = w.element_at(packet, "i8", 4, "ptr addrspace(4)")
        size = w.cast("zext", w.read(field, "i16", 4, "ptr addrspace(4)"), "i16", "i64")
    else:
        block, size, thread = [_register(w, f"nvvm.read.ptx.sreg.{name}") for name in ("ctaid.x", "ntid.x", "tid.x")]
    return w.operation("add", w.operation("mul", block, size, "i64", "nuw nsw"), thread, "i64", "nuw nsw")


def _register(w: FunctionWriter, intrinsic: str) -> str:
    return w.convert("zext", w.intrinsic(f"llvm.{intrinsic}", I32), "i64").name
