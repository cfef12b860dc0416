"""Schedules follow the caches of the target."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xla_explorer.backends.cpu_program.cpu_pipeline import cpu_pipeline
from xla_explorer.backends.cpu_program.program_writing import ENTRY, write_program
from xla_explorer.compiler.buffers import assign_buffers
from xla_explorer.compiler.codegen.ir.llvm_text import module_text
from xla_explorer.compiler.codegen.program_kernels import ProgramKernels
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.target import Target, cpu_target
from xla_explorer.hlo.text import parse_hlo

USUAL = cpu_target(triple="x86_64-unknown-linux-gnu", bits=256)


def _with_caches(*sizes: int) -> Target:
    made = [replace(cache, bytes=size) for cache, size in zip(USUAL.caches, sizes, strict=True)]
    return replace(USUAL, caches=tuple(made))


SMALLER = _with_caches(8 << 10, 64 << 10, 1 << 20)
SAME = _with_caches(32 << 10, 1 << 20, 16 << 20)


def _code(body: str, target: Target) -> str:
    sums = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }"
    module = parse_hlo(f"HloModule m\n{sums}\nENTRY e {{\n{body}\n}}")
    trace = optimize(module, cpu_pipeline(), "off", target=target)
    assignment = assign_buffers(trace.module)
    return module_text(
        write_program(trace.module, assignment, ProgramKernels(target, 1, ENTRY)).module
    )


PROGRAMS = {
    "a result that leaves the caches": "x = f32[1000000] parameter(0)  ROOT r = f32[1000000] exponential(x)",
    "a transposed result": "x = f32[512,1024] parameter(0)  ROOT r = f32[1024,512] transpose(x), dimensions={1,0}",
    "accumulators of columns": """x = f32[64,3000] parameter(0)  z = f32[] constant(0)
      ROOT r = f32[3000] reduce(x, z), dimensions={0}, to_apply=add""",
    "packed operands": """x = f32[256,300] parameter(0)  y = f32[300,400] parameter(1)
      ROOT r = f32[256,400] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    "a long copy": "x = f32[300000] parameter(0)  ROOT r = f32[200000] slice(x), slice={[50000:250000]}",
}


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_other_caches_give_another_schedule(body: str) -> None:
    assert _code(body, USUAL) != _code(body, SMALLER)


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_the_measured_caches_give_the_schedules_that_were_measured(body: str) -> None:
    assert _code(body, USUAL) == _code(body, SAME)


def test_a_result_larger_than_the_last_cache_is_stored_past_it() -> None:
    body = PROGRAMS["a result that leaves the caches"]
    assert "!nontemporal" in _code(body, SMALLER)
    assert "!nontemporal" not in _code(body, USUAL)
