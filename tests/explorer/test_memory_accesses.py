"""Loads and stores among lines of code."""

from __future__ import annotations

import pytest

from xla_explorer.explorer.code.memory_accesses import accesses


@pytest.mark.parametrize(
    ("stage", "line", "what"),
    [
        ("llvm-ir", "  %v1 = load <8 x float>, ptr %a0, align 4", "load"),
        ("llvm-ir-optimized", "  store float %v3, ptr %p", "store"),
        (
            "llvm-ir-optimized",
            "  %v9 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %p)",
            "load",
        ),
        ("llvm-ir-optimized", "  %v2 = fadd float %v1, %v0", ""),
        ("ptx", "\tld.global.nc.f32 \t%f1, [%rd1];", "load"),
        ("ptx", "\t@%p1 st.shared.f32 [%r1], %f1;", "store"),
        ("ptx", "\tld.param.u64 %rd1, [k_param_0];", ""),
        ("ptx", "\tatom.global.add.f32 %f1, [%rd1], %f2;", "load and store"),
        ("assembly", "\tvmovups\t(%rdi,%rax,4), %ymm0", "load"),
        ("assembly", "\tvmovups\t%ymm0, 32(%rsi,%rax,4)", "store"),
        ("assembly", "\tvaddps\t(%rdi), %ymm1, %ymm0", "load"),
        ("assembly", "\taddl\t$1, (%rdi)", "load and store"),
        ("assembly", "\tcmpl\t$1, (%rdi)", "load"),
        ("assembly", "\tleaq\t(%rdi,%rax), %rcx", ""),
        ("assembly", "\tldr\tq0, [x1]", "load"),
        ("assembly", "\tstp\tx29, x30, [sp, #-16]!", "store"),
    ],
)
def test_lines_that_touch_memory(stage: str, line: str, what: str) -> None:
    assert [access.what for access in accesses(stage, [line])] == ([what] if what else [])
