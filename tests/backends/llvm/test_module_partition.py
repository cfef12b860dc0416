"""Partitioning a module: the parts link to the same program."""

import ctypes
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.llvm_bodies import body_of
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit, optimized_parts
from xla_explorer.backends.llvm.module_partition import (
    partition_module,
    separate_functions,
    without_functions,
)
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.compiler.codegen.ir.definitions import AttributeGroup, Declaration, Global
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.llvm_text import module_text
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel

TABLE = Global("table", "[4 x float]", "[float 1.0, float 2.0, float 3.0, float 4.0]", 64)
OTHER_TABLE = Global("other_table", "[1 x float]", "[float 5.0]", 4)
FMA = Declaration("llvm.fma.f32", "float", ("float",) * 3)
COS = Declaration("cos", "double", ("double",))
GROUPS = (
    AttributeGroup(0, "nounwind"),
    AttributeGroup(1, 'nounwind "prefer-vector-width"="256"'),
)


def function(name: str, parameters: tuple[str, ...], body: str, **fields: Any) -> LlvmFunction:
    """A function of a body whose operations are indented."""
    return LlvmFunction(name, parameters, body_of(body), **fields)


SQUARE = function(
    "square",
    ("float %x",),
    """
  %p = getelementptr float, ptr @other_table, i64 0
  %c = load float, ptr %p, align 4
  %y = call float @llvm.fma.f32(float %x, float %x, float %c)
  ret float %y""",
    result="float",
    attributes=("alwaysinline",),
    globals=(OTHER_TABLE,),
    declarations=(FMA,),
)
SHARED = function(
    "shared",
    ("float %x",),
    """
  %y = fmul float %x, 2.0
  ret float %y""",
    result="float",
    attributes=("noinline",),
)


def kernel(number: int) -> LlvmFunction:
    return function(
        f"kernel.{number}",
        ("ptr noalias %x", "ptr noalias %out"),
        f"""
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %px = getelementptr inbounds float, ptr %x, i64 %i
  %po = getelementptr inbounds float, ptr %out, i64 %i
  %v = load float, ptr %px, align 4
  %s = call float @square(float %v)
  %pt = getelementptr inbounds [4 x float], ptr @table, i64 0, i64 {number % 4}
  %c = load float, ptr %pt, align 4
  %t = fadd float %s, %c
  %u = call float @shared(float %t)
  store float %u, ptr %po, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %exit
exit:
  ret void""",
        attributes=("#1",),
        globals=(TABLE,),
        callees=("square", "shared"),
        has_loop=True,
    )


def program(count: int) -> LlvmModule:
    calls = "\n".join(
        f"  %p{n} = getelementptr float, ptr %out, i64 {100 * n}\n"
        f"  call void @kernel.{n}(ptr %x, ptr %p{n})"
        for n in range(count)
    )
    entry = function(
        "entry",
        ("ptr %x", "ptr %out"),
        f"{calls}\n  %r = call double @cos(double 0.0)\n  ret double %r",
        result="double",
        linkage="",
        attributes=(),
        declarations=(COS,),
        callees=tuple([f"kernel.{n}" for n in range(count)]),
    )
    return LlvmModule(
        (SQUARE, SHARED, *map(kernel, range(count)), entry),
        "test",
        globals=(TABLE, OTHER_TABLE),
        declarations=(FMA, COS),
        attribute_groups=GROUPS,
    )


def run(objects, count):
    library = NativeLibrary(objects, exports=["entry"])
    x, out = np.arange(100, dtype="f4"), np.zeros((count, 100), "f4")
    assert (
        library.bind("entry", ctypes.c_double, [ctypes.c_void_p] * 2)(
            x.ctypes.data, out.ctypes.data
        )
        == 1.0
    )
    return x, out


@pytest.mark.parametrize("parts", [2, 3, 7, 50])
def test_parts_compute_what_the_whole_computes(parts):
    module = program(9)
    found = partition_module(module, parts, minimum_lines=10)
    assert 2 <= len(found) <= parts
    x, out = run([optimize_and_emit(part).object_bytes for part in found], 9)
    _, whole = run(optimize_and_emit(module).object_bytes, 9)
    np.testing.assert_array_equal(out, whole)
    np.testing.assert_array_equal(out[5], ((x * x + 5) + 2) * 2)


def test_helpers_are_copied_and_kernels_are_not():
    parts = partition_module(program(9), 3, minimum_lines=10)
    for part in parts:
        names = [f.name for f in part.functions]
        assert "square" in names and OTHER_TABLE in part.globals and FMA in part.declarations
        assert not set(names) & {f.name for f in part.elsewhere}
    for once in ("kernel.3", "shared"):
        (found,) = [f for part in parts for f in part.functions if f.name == once]
        assert found.linkage in ("hidden", "internal")
    assert (
        sum(f.name == "shared" and f.linkage == "hidden" for p in parts for f in p.functions) == 1
    )
    sizes = [len(module_text(part)) for part in parts]
    assert max(sizes) < 1.6 * min(sizes)


def test_a_part_of_a_part_still_declares_what_is_elsewhere():
    """A function is left out twice: by its level, then for equal sizes."""
    rest = without_functions(program(9), ["shared"])
    assert rest is not None
    for part in partition_module(rest, 3, minimum_lines=10):
        calls = any("shared" in f.callees for f in part.functions)
        assert calls == ("declare float @shared(float %x)" in module_text(part))


@pytest.mark.parametrize(
    "module",
    [
        replace(program(0), functions=(SQUARE, SHARED)),
        program(1),
        replace(
            program(9),
            globals=(
                Global("counter", "i64", "0", 8, "internal", is_constant=False),
                TABLE,
                OTHER_TABLE,
            ),
            is_whole=True,
        ),
    ],
    ids=["helpers", "one", "whole"],
)
def test_stays_whole(module):
    assert partition_module(module, 4, minimum_lines=25) == [module]


def test_through_the_compiler(tmp_path):
    cache = ObjectCache(tmp_path)
    module = program(30)
    compiled = optimize_and_emit(module, parts=2, cache=cache)
    assert len(compiled.objects) == 2 and "partition" in compiled.seconds
    with pytest.raises(ValueError, match="2 parts"):
        _ = compiled.object_bytes
    again = optimize_and_emit(module, parts=2, cache=cache)
    assert again.from_cache and again.objects == compiled.objects
    whole = optimize_and_emit(module, cache=cache)
    assert len(whole.objects) == 1 and not whole.from_cache
    np.testing.assert_array_equal(run(compiled.objects, 30)[1], run(whole.objects, 30)[1])
    assert len(compiled.part_texts()) == 2
    assert compiled.optimized_text.count("source_filename") == 2
    assert "entry:" in compiled.assembly_text
    assert len(optimize_and_emit(module, parts=0).objects) >= 1


def test_one_part_is_the_module_itself():
    module = program(9)
    assert partition_module(module, 1) == [module]
    assert partition_module(module, 4, minimum_lines=10_000) == [module]


def test_text_is_compiled_whole():
    text = module_text(program(30))
    assert len(optimize_and_emit(text, parts=4).objects) == 1


SUM = function(
    "other",
    ("ptr %a",),
    """
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %n, %loop ]
  %p = getelementptr inbounds float, ptr %a, i64 %i
  %x = load float, ptr %p
  %y = fadd float %x, 1.0
  store float %y, ptr %p
  %n = add nuw nsw i64 %i, 1
  %c = icmp slt i64 %n, 1024
  br i1 %c, label %loop, label %end
end:
  ret void""",
    attributes=("noinline",),
    has_loop=True,
)


def matrix_module(lines: int, other: bool) -> LlvmModule:
    body = "\n".join(
        f"  %p{k} = getelementptr inbounds float, ptr %a, i64 {k}\n  store float 0.0, ptr %p{k}"
        for k in range(lines // 2)
    )
    matrix = function(
        "matrix",
        ("ptr %a",),
        f"""
entry:
  br label %rows
rows:
  %i = phi i64 [ 0, %entry ], [ %n, %rows ]
{body}
  %n = add nuw nsw i64 %i, 1
  %c = icmp slt i64 %n, 64
  br i1 %c, label %rows, label %end
end:
  ret void""",
        attributes=("noinline",),
        optimization_level=OptimizationLevel.FINAL,
        has_loop=True,
    )
    call = "  call void @other(ptr %a)\n" if other else ""
    entry = function(
        "xe_entry",
        ("ptr %a",),
        f"entry:\n  call void @matrix(ptr %a)\n{call}  ret i32 0",
        result="i32",
        linkage="",
        callees=("matrix", "other") if other else ("matrix",),
    )
    return LlvmModule((matrix, *([SUM] if other else []), entry))


def test_functions_in_final_form_are_a_module_of_their_own() -> None:
    module = matrix_module(200, other=True)
    rest, finished = separate_functions(module, OptimizationLevel.FINAL)
    assert rest is not None and finished is not None
    assert [f.name for f in rest.functions] == ["other", "xe_entry"]
    assert "declare void @matrix(ptr %a)" in module_text(rest)
    assert [(f.name, f.linkage) for f in finished.functions] == [("matrix", "hidden")]
    compiled = optimize_and_emit(module)
    assert len(compiled.objects) == 2 == len(compiled.part_texts())
    ordinary, as_written = optimized_parts(module)
    assert " x float>" in ordinary and as_written.count("store float 0.0") == 100
    NativeLibrary(compiled.objects, exports=["xe_entry"]).close()


def test_a_partition_that_does_not_pay_is_not_made() -> None:
    few = matrix_module(20, other=True)
    assert separate_functions(few, OptimizationLevel.FINAL) == (few, None)
    only = matrix_module(200, other=False)
    assert separate_functions(only, OptimizationLevel.FINAL) == (None, only)
    ordinary = LlvmModule((SUM,))
    assert separate_functions(ordinary, OptimizationLevel.FINAL) == (ordinary, None)
    assert separate_functions(only, OptimizationLevel.SHORT) == (only, None)
