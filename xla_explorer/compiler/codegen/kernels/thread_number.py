"""The number of a GPU thread in its grid: block x threads per block + thread in the block, as each kind of GPU has it.

Source: LLVM, docs/NVPTXUsage.rst (special registers); docs/AMDGPUUsage.rst (kernel descriptor, initial register state); HSA platform
system architecture specification 1.2, section 2.9.6: the dispatch packet holds the workgroup's size in x at byte 4, 16 bits wide.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.target import Target


def thread_number(w: FunctionWriter, target: Target) -> str:
    """The name of an i64 value."""
    if target.triple.startswith("amdgcn"):
        block, thread = [_register(w, f"amdgcn.{name}") for name in ("workgroup.id.x", "workitem.id.x")]
        w.declare("declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()")
        packet = w.value("call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()")
        field = w.value(f"getelementptr inbounds i8, ptr addrspace(4) {packet}, i64 4")
        size = w.value(f"zext i16 {w.value(f'load i16, ptr addrspace(4) {field}, align 4')} to i64")
    else:
        block, size, thread = [_register(w, f"nvvm.read.ptx.sreg.{name}") for name in ("ctaid.x", "ntid.x", "tid.x")]
    return w.value(f"add nuw nsw i64 {w.value(f'mul nuw nsw i64 {block}, {size}')}, {thread}")


def _register(w: FunctionWriter, intrinsic: str) -> str:
    w.declare(f"declare i32 @llvm.{intrinsic}()")
    return w.value(f"zext i32 {w.value(f'call i32 @llvm.{intrinsic}()')} to i64")
