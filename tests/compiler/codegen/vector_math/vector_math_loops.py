"""Compiles a loop over every vector-math function, for the tests of this folder."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm
import numpy

from tests.compiler.codegen.vector_math.math_module import vector_math_module
from xla_explorer.compiler.codegen.vector_math import (
    vector_math_function,
    vector_math_opcodes,
)

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()

DTYPES = {"f32": numpy.dtype(numpy.float32), "f64": numpy.dtype(numpy.float64)}
BINARY_OPCODES = ("power", "atan2", "remainder")
Array = numpy.ndarray


def loop_text(opcode: str, element_type: str, fused: bool) -> str:
    llvm_type = {"f32": "float", "f64": "double"}[element_type]
    function = vector_math_function(opcode, element_type, fused)
    operands = range(2 if opcode in BINARY_OPCODES else 1)
    parameters = ", ".join(f"ptr noalias %in{index}" for index in operands)
    loads = "\n".join(
        f"  %p{index} = getelementptr inbounds {llvm_type}, ptr %in{index}, i64 %i\n"
        f"  %x{index} = load {llvm_type}, ptr %p{index}, align 4"
        for index in operands
    )
    arguments = ", ".join(f"{llvm_type} %x{index}" for index in operands)
    return f"""
define void @{loop_name(opcode)}({parameters}, ptr noalias %out, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
{loads}
  %y = call {llvm_type} @{function.name}({arguments})
  %po = getelementptr inbounds {llvm_type}, ptr %out, i64 %i
  store {llvm_type} %y, ptr %po, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}
"""


def loop_name(opcode: str) -> str:
    return "loop_" + opcode.replace("-", "_")


def module_text(element_type: str, fused: bool) -> str:
    opcodes = vector_math_opcodes()
    names = [vector_math_function(opcode, element_type).name for opcode in opcodes]
    loops = [loop_text(opcode, element_type, fused) for opcode in opcodes]
    return "\n".join([*loops, vector_math_module(names, fused)])


def host_target_machine() -> llvm.TargetMachine:
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        jit=True,
    )


def optimised(text: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


class CompiledLoops:
    """The loops over all functions of one element type, as native code."""

    def __init__(self, element_type: str, fused: bool) -> None:
        self.dtype = DTYPES[element_type]
        module = optimised(module_text(element_type, fused), host_target_machine())
        self.bodies = {
            match.group(1): match.group(0)
            for match in re.finditer(r"^define .*?@(\w+)\(.*?^}", str(module), re.M | re.S)
        }
        self._engine = llvm.create_mcjit_compiler(module, host_target_machine())
        self._engine.finalize_object()

    def function(self, opcode: str) -> Callable[..., Array]:
        count = 2 if opcode in BINARY_OPCODES else 1
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (count + 1), ctypes.c_int64)
        native = prototype(self._engine.get_function_address(loop_name(opcode)))

        def call(*operands: Array) -> Array:
            inputs = [numpy.ascontiguousarray(operand, self.dtype) for operand in operands]
            output = numpy.empty_like(inputs[0])
            native(*[array.ctypes.data for array in inputs], output.ctypes.data, output.size)
            return output

        return call


@cache
def compiled_loops(element_type: str, fused: bool = True) -> CompiledLoops:
    return CompiledLoops(element_type, fused)
