"""Cutting a module: the parts link to the same program."""

import ctypes

import numpy as np
import pytest

from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit, optimized_parts
from xla_explorer.backends.llvm.module_partition import (
    partition_module,
    separate_functions,
    stated_optimization_level,
)
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel

HELPERS = """source_filename = "test"
@table = private unnamed_addr constant [4 x float] [float 1.0, float 2.0, float 3.0, float 4.0], align 64
@"other table" = private constant [1 x float] [float 5.0]

define internal float @square(float %x) alwaysinline {
  %p = getelementptr float, ptr @"other table", i64 0
  %c = load float, ptr %p, align 4
  %y = call float @llvm.fma.f32(float %x, float %x, float %c)
  ret float %y
}

define internal float @shared(float %x) noinline {
  %y = fmul float %x, 2.0
  ret float %y
}

declare float @llvm.fma.f32(float, float, float)
declare double @cos(double) #0

attributes #0 = { nounwind }
attributes #1 = { nounwind "prefer-vector-width"="256" }
"""


def kernel(number):
    return f"""
define internal void @"kernel.{number}"(ptr noalias %x, ptr noalias %out) #1 {{
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
  ret void
}}
"""


def program(count):
    calls = "\n".join(
        f"  %p{n} = getelementptr float, ptr %out, i64 {100 * n}\n"
        f'  call void @"kernel.{n}"(ptr %x, ptr %p{n})'
        for n in range(count)
    )
    entry = (
        f"\ndefine double @entry(ptr %x, ptr %out) {{\n{calls}\n"
        "  %r = call double @cos(double 0.0)\n  ret double %r\n}\n"
    )
    return HELPERS + "".join(map(kernel, range(count))) + entry


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
    text = program(9)
    texts = partition_module(text, parts, minimum_lines=10)
    assert 2 <= len(texts) <= parts
    x, out = run([optimize_and_emit(part).object_bytes for part in texts], 9)
    _, whole = run(optimize_and_emit(text).object_bytes, 9)
    np.testing.assert_array_equal(out, whole)
    np.testing.assert_array_equal(out[5], ((x * x + 5) + 2) * 2)


def test_helpers_are_copied_and_kernels_are_not():
    texts = partition_module(program(9), 3, minimum_lines=10)
    assert all("define internal float @square(" in text for text in texts)
    assert (
        sum(
            'define hidden void @"kernel.3"(' in text or 'define internal void @"kernel.3"(' in text
            for text in texts
        )
        == 1
    )
    assert sum("@shared(float %x) noinline {" in text for text in texts) == 1
    sizes = [len(text) for text in texts]
    assert max(sizes) < 1.6 * min(sizes)


@pytest.mark.parametrize(
    "text",
    [
        HELPERS,
        program(1),
        program(9) + "\n@counter = internal global i64 0\n",
        program(9) + '\nmodule asm "nop"\n',
        program(9) + "\n@alias = alias float (float), ptr @shared\n",
    ],
)
def test_stays_whole(text):
    assert partition_module(text, 4, minimum_lines=25 if "kernel.1" in text else 200) == [text]


def test_through_the_compiler(tmp_path):
    cache = ObjectCache(tmp_path)
    text = program(30)
    compiled = optimize_and_emit(text, parts=2, cache=cache)
    assert len(compiled.objects) == 2 and "partition" in compiled.seconds
    with pytest.raises(ValueError, match="2 parts"):
        _ = compiled.object_bytes
    again = optimize_and_emit(text, parts=2, cache=cache)
    assert again.from_cache and again.objects == compiled.objects
    whole = optimize_and_emit(text, cache=cache)
    assert len(whole.objects) == 1 and not whole.from_cache
    np.testing.assert_array_equal(run(compiled.objects, 30)[1], run(whole.objects, 30)[1])
    assert len(compiled.part_texts()) == 2
    assert compiled.optimized_text.count("source_filename") == 2
    assert "entry:" in compiled.assembly_text
    assert len(optimize_and_emit(text, parts=0).objects) >= 1


def test_one_part_is_the_text_itself():
    text = program(9)
    assert partition_module(text, 1) == [text] and partition_module(
        text, 4, minimum_lines=10_000
    ) == [text]


AS_WRITTEN = """define internal void @matrix(ptr %a) noinline "optimization-level"="final" {{
entry:
  br label %rows
rows:
  %i = phi i64 [ 0, %entry ], [ %n, %rows ]
{body}
  %n = add nuw nsw i64 %i, 1
  %c = icmp slt i64 %n, 64
  br i1 %c, label %rows, label %end
end:
  ret void
}}

{other}define i32 @xe_entry(ptr %a) {{
entry:
  call void @matrix(ptr %a)
{call}  ret i32 0
}}
"""
SUM = """define internal void @other(ptr %a) noinline {
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
  ret void
}

"""


def matrix_module(lines: int, other: bool) -> str:
    body = "\n".join(
        f"  %p{k} = getelementptr inbounds float, ptr %a, i64 {k}\n  store float 0.0, ptr %p{k}"
        for k in range(lines // 2)
    )
    return AS_WRITTEN.format(
        body=body, other=SUM if other else "", call="  call void @other(ptr %a)\n" if other else ""
    )


def test_functions_in_final_form_are_a_module_of_their_own() -> None:
    text = matrix_module(200, other=True)
    rest, finished = separate_functions(text, OptimizationLevel.FINAL)
    assert "define" in rest and "@matrix" in rest and "declare void @matrix(ptr %a)" in rest
    assert "@other" not in finished and "define hidden void @matrix" in finished
    compiled = optimize_and_emit(text)
    assert len(compiled.objects) == 2 == len(compiled.part_texts())
    ordinary, as_written = optimized_parts(text)
    assert " x float>" in ordinary and as_written.count("store float 0.0") == 100
    NativeLibrary(compiled.objects, exports=["xe_entry"]).close()


def test_a_cut_that_does_not_pay_is_not_made() -> None:
    few = matrix_module(20, other=True)
    assert separate_functions(few, OptimizationLevel.FINAL) == (few, "")
    only = matrix_module(200, other=False)
    assert separate_functions(only, OptimizationLevel.FINAL) == ("", only)
    assert separate_functions(SUM, OptimizationLevel.FINAL) == (SUM, "")


def test_the_optimization_level_of_a_function_is_an_attribute() -> None:
    assert [stated_optimization_level(level.attribute) for level in OptimizationLevel] == list(
        OptimizationLevel
    )
    grouped = (
        matrix_module(200, other=True).replace(OptimizationLevel.FINAL.attribute, " #0")
        + 'attributes #0 = { noinline "optimization-level"="final" }\n'
    )
    assert "@other" not in separate_functions(grouped, OptimizationLevel.FINAL)[1]
    assert separate_functions(grouped, OptimizationLevel.SHORT) == (grouped, "")
