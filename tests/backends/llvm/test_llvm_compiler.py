"""LLVM IR text to object code: results, errors, artefacts on demand."""

import ctypes

import numpy as np
import pytest

from xla_explorer.backends.llvm import parallel_llvm
from xla_explorer.backends.llvm.llvm_compiler import (
    LlvmIrError,
    OptimizationOptions,
    emit_assembly,
    optimize_and_emit,
    optimized_ir,
)
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.target_machine import host_target

ADD = """
define void @add(ptr noalias %a, ptr noalias %b, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %pa = getelementptr inbounds float, ptr %a, i64 %i
  %pb = getelementptr inbounds float, ptr %b, i64 %i
  %po = getelementptr inbounds float, ptr %out, i64 %i
  %x = load float, ptr %pa, align 4
  %y = load float, ptr %pb, align 4
  %s = fadd float %x, %y
  store float %s, ptr %po, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
"""


@pytest.mark.parametrize("preset", ["none", "fast", "full"])
def test_text_to_callable(preset):
    compiled = optimize_and_emit(ADD, preset=preset)
    assert set(compiled.seconds) == {"parse", "optimize", "emit"}
    assert not compiled.from_cache
    library = NativeLibrary(compiled.object_bytes, exports=["add"])
    function = library.bind("add", None, [ctypes.c_void_p] * 3 + [ctypes.c_int64])
    a, b = np.arange(1003, dtype="f4"), np.ones(1003, "f4")
    out = np.empty_like(a)
    function(a.ctypes.data, b.ctypes.data, out.ctypes.data, 1003)
    np.testing.assert_array_equal(out, a + b)


def test_vectorised_when_optimised():
    assert f"<{host_target().vector_register_bits // 32} x float>" in optimized_ir(ADD)
    assert " x float>" not in optimized_ir(ADD, options=OptimizationOptions(level=0))
    assert " x float>" not in optimized_ir(
        ADD, options=OptimizationOptions(loop_vectorization=False, slp_vectorization=False)
    )


def test_artifacts_are_lazy_and_kept():
    compiled = optimize_and_emit(ADD)
    assert compiled._optimized_text is None
    assert "vector.body" in compiled.optimized_text
    assert compiled.optimized_text is compiled.optimized_text
    assert "add:" in compiled.assembly_text
    assert compiled.ir_text == ADD
    assert "bytes for" in repr(compiled)


def test_same_input_same_object():
    assert optimize_and_emit(ADD).object_bytes == optimize_and_emit(ADD).object_bytes


def test_parse_error_has_line_column_and_excerpt():
    broken = ADD.replace("%s = fadd float %x, %y", "%s = fadd float %x, %undefined")
    with pytest.raises(LlvmIrError, match="undefined") as caught:
        optimize_and_emit(broken)
    error = caught.value
    assert broken.splitlines()[error.line - 1].strip().startswith("%s = fadd")
    assert error.column > 0
    assert ">" in error.excerpt and "^" in error.excerpt


def test_verifier_error_names_the_instruction():
    broken = (
        "define i32 @f(i1 %c) {\nentry:\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n  br label %b\n"
        "b:\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n"
    )
    with pytest.raises(LlvmIrError, match="does not dominate") as caught:
        optimize_and_emit(broken)
    assert caught.value.line in (5, 8)


def test_unknown_preset():
    with pytest.raises(ValueError, match="none, fast, full"):
        optimize_and_emit(ADD, preset="heroic")


def test_cache_round_trip(tmp_path):
    cache = ObjectCache(tmp_path)
    first = optimize_and_emit(ADD, cache=cache)
    second = optimize_and_emit(ADD, cache=cache)
    assert second.from_cache and second.object_bytes == first.object_bytes
    assert set(second.seconds) == {"cache"}
    assert not optimize_and_emit(ADD, preset="fast", cache=cache).from_cache
    assert not optimize_and_emit(ADD.replace("fadd", "fsub"), cache=cache).from_cache
    assert optimize_and_emit(ADD, cache=ObjectCache(tmp_path)).from_cache


def test_verbose_assembly_has_comments():
    assert len(emit_assembly(ADD, verbose=True)) > len(emit_assembly(ADD))


def test_fallback_to_locked_calls(monkeypatch):
    expected = optimize_and_emit(ADD).object_bytes
    monkeypatch.setattr(parallel_llvm, "_unlocked", lambda: None)
    assert optimize_and_emit(ADD).object_bytes == expected
