"""The GPU thread index for each architecture, declared or not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.thread_number import (
    UnknownGpuError,
    numbers_threads,
    thread_number,
)
from xla_explorer.compiler.target import AMDGPU, Target


def written(triple: str) -> str:
    writer = FunctionWriter(False, AMDGPU.stack_space)
    name = thread_number(writer, replace(AMDGPU, triple=triple))
    lines = writer.lines()
    assert any(line.lstrip().startswith(f"{name} =") for line in lines)
    return "\n".join([*[d.text for d in writer.declarations], *lines])


@pytest.mark.parametrize(
    ("triple", "word"),
    [
        ("amdgcn-amd-amdhsa", "amdgcn.dispatch.ptr"),
        ("nvptx64-nvidia-cuda", "ptx.sreg.ntid.x"),
        ("spirv64-unknown-unknown", "get_global_id"),
    ],
)
def test_each_architecture_has_its_own(triple: str, word: str) -> None:
    assert word in written(triple)


def test_another_architecture_is_declared_in_four_lines() -> None:
    @numbers_threads("mygpu64")
    def number(writer: FunctionWriter, target: Target) -> Value[Integer]:
        return writer.intrinsic("thread", I64)

    assert "call i64 @thread()" in written("mygpu64-unknown-unknown")


def test_what_nobody_declared_is_refused_with_the_next_step() -> None:
    with pytest.raises(
        UnknownGpuError, match="no thread numbering is registered for r600"
    ) as refused:
        written("r600-amd-none")
    assert "numbers_threads" in (refused.value.hint or "")
