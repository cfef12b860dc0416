"""Finished modules as data: their functions state all that their bodies name."""

from __future__ import annotations

import re

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.llvm_bodies import text_of_body
from xla_explorer.backends.llvm.debug_lines import with_debug_lines
from xla_explorer.compiler.codegen.ir.definitions import AttributeGroup, Declaration, Global
from xla_explorer.compiler.codegen.ir.in_order_builder import InOrderBuilder
from xla_explorer.compiler.codegen.ir.llvm_module import (
    LlvmFunction,
    LlvmModule,
    reached_functions,
)
from xla_explorer.compiler.codegen.ir.llvm_text import (
    function_text,
    module_lines,
    module_text,
    text_with_origins,
)
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel

TABLE = ", ".join(map(str, np.arange(64)))
PROGRAM = f"""HloModule program
less {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT l = pred[] compare(a, b), direction=LT }}
add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }}
cond {{ s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT c = pred[] compare(i, n), direction=LT }}
body {{ s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  k = f32[64] constant({{{TABLE}}})
  y = f32[64] tanh(x)
  z = f32[64] add(y, k)
  ROOT t = (s32[], f32[64]) tuple(j, z) }}
ENTRY e {{
  x = f32[64] parameter(0)
  m = f32[512,512] parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[64]) tuple(zero, x)
  w = (s32[], f32[64]) while(start), condition=cond, body=body
  v = f32[64] get-tuple-element(w), index=1
  d = f32[512,512] dot(m, m), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  e = f32[512,512] exponential(d)
  none = f32[] constant(0)
  r = f32[512] reduce(e, none), dimensions={{1}}, to_apply=add
  o = f32[512] sort(r), dimensions={{0}}, to_apply=less
  u = u64[2] rng-get-and-update-state(), delta=1
  ROOT out = (f32[64], f32[512], u64[2]) tuple(v, o, u) }}
"""
_NAMED = re.compile(r"@([\w.$-]+)")


@pytest.mark.parametrize(
    "options",
    [
        {"backend": "cpu", "threads": 1},
        {"backend": "cpu", "threads": 4},
        {"backend": "gpu", "architecture": "sm_80"},
        {"backend": "gpu", "architecture": "sm_90a"},
    ],
    ids=["cpu", "threads", "sm_80", "sm_90a"],
)
def test_functions_state_all_that_their_bodies_name(options: dict[str, object]) -> None:
    module = xe.compile(PROGRAM, **options).executable.llvm_module
    for function in module.functions:
        stated = {
            name
            for line in [x.text for x in (*function.globals, *function.declarations)]
            for name in _NAMED.findall(line)[:1]
        }
        named = set(_NAMED.findall(text_of_body(function.body)))
        assert named <= {*stated, *function.callees}, function.name
        assert set(function.globals) <= set(module.globals)
        assert set(function.declarations) <= set(module.declarations)
    assert module.is_whole


def _function(name: str, *callees: str, **fields: object) -> LlvmFunction:
    b = InOrderBuilder()
    for number, callee in enumerate(callees):
        b.origin = number
        b.call(callee)
    b.origin = None
    b.return_()
    return LlvmFunction(name, (), b.body(), callees=callees, **fields)  # type: ignore[arg-type]


def test_sections_are_printed_in_order() -> None:
    module = LlvmModule(
        (_function("f", "g", origin=4, linkage="", convention="ptx_kernel", attributes=("#0",)),),
        "file",
        "cpu",
        (Global("c", "i8", "0", 1),),
        (_function("g", optimization_level=OptimizationLevel.FINAL),),
        (Declaration("h"),),
        (AttributeGroup(0, "nounwind"),),
        support=("; last",),
    )
    lines, (text, origins) = module_lines(module), text_with_origins(module)
    assert "\n".join(lines) + "\n" == module_text(module) == text
    assert lines == [
        'source_filename = "file"',
        'target triple = "cpu"',
        "",
        "@c = private unnamed_addr constant i8 0, align 1",
        "define ptx_kernel void @f() #0 {",
        "entry:",
        "  call void @g()",
        "  ret void",
        "}",
        "",
        'declare void @g() nounwind "optimization-level"="final"',
        "declare void @h()",
        "",
        "attributes #0 = { nounwind }",
        "",
        "!0 = !{}",
        "; last",
    ]
    assert origins[4:10] == [4, None, 0, None, 4, None] and len(origins) == len(lines)


def test_functions_are_reached_through_calls() -> None:
    inlined = ("alwaysinline", "nounwind")
    functions = [
        _function("a", "b", "c", "external"),
        _function("b", "d", attributes=inlined),
        _function("c", "e"),
        _function("d"),
        _function("e", "a"),
    ]
    assert reached_functions(functions, ["a"]) == {"a", "b", "c", "d", "e"}
    assert reached_functions(functions, ["a"], inlined_only=True) == {"a", "b", "c", "d"}
    assert reached_functions(functions, ["c", "a"], inlined_only=True) == {"a", "b", "c", "d", "e"}
    alone = LlvmModule(tuple(functions)).reached_from("b")
    assert [(f.name, f.linkage) for f in alone.functions] == [("b", ""), ("d", "internal")]


def test_operations_have_the_locations_of_their_instructions() -> None:
    """Labels have none; nor have functions of no instruction that are inlined."""
    math = _function("math", attributes=("alwaysinline",))
    found = with_debug_lines(LlvmModule((_function("f", "math", "math", origin=7), math)))
    f, unchanged = found.functions
    assert unchanged == math and "!dbg !100004 {" in function_text(f)
    assert f.locations == (0, 100005, 100006, 100006)
    assert "  ret void, !dbg !100006\n" in function_text(f)
    locations = "\n".join([node.text for node in found.metadata])
    assert '!100004 = distinct !DISubprogram(name: "f"' in locations
    assert "!100005 = !DILocation(line: 1, column: 1, scope: !100004)" in locations
