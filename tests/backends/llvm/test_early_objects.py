"""Kernels compiled while others are lowered: the same values from the same objects."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.llvm_bodies import body_of, text_of_body
from xla_explorer.backends.cpu import cpu_compiler
from xla_explorer.backends.llvm import early_objects
from xla_explorer.backends.llvm.early_objects import EarlyObjects
from xla_explorer.backends.llvm.llvm_compiler import LlvmIrError, OptimizationOptions
from xla_explorer.backends.llvm.module_partition import without_functions
from xla_explorer.backends.llvm.native_library import program_library
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.target_machine import host_target
from xla_explorer.compiler.codegen import program_kernels
from xla_explorer.compiler.codegen.ir.definitions import Global
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel

DOUBLE = LlvmFunction(
    "double",
    ("ptr noalias %a",),
    body_of("""
entry:
  %x = load float, ptr %a, align 4
  %y = fadd float %x, %x
  store float %y, ptr %a, align 4
  ret void"""),
    attributes=("noinline", "nounwind"),
    optimization_level=OptimizationLevel.FINAL,
)
START = LlvmFunction(
    "start",
    ("ptr noalias %a",),
    body_of("entry:\n  call void @double(ptr %a)\n  ret i32 0"),
    result="i32",
    linkage="",
    callees=("double",),
)
FINISHED = LlvmModule((DOUBLE._replace(linkage="hidden"),))
WHOLE = LlvmModule((DOUBLE, START))
SOFTMAX_OF_PRODUCTS = """HloModule softmax_of_products
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[64,48] parameter(0)
  y = f32[48,96] parameter(1)
  p = f32[64,96] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[64] reduce(p, low), dimensions={1}, to_apply=max
  mb = f32[64,96] broadcast(m), dimensions={0}
  d = f32[64,96] subtract(p, mb)
  e = f32[64,96] exponential(d)
  s = f32[64] reduce(e, zero), dimensions={1}, to_apply=add
  sb = f32[64,96] broadcast(s), dimensions={0}
  q = f32[64,96] divide(e, sb)
  z = f32[96,32] parameter(2)
  ROOT r = f32[64,32] dot(q, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


@pytest.fixture
def two_cores(monkeypatch):
    """Set a machine of two cores, whose kernels are worth a module of their own."""
    monkeypatch.setattr(cpu_compiler, "usable_cores", lambda: 2)
    monkeypatch.setattr(program_kernels, "MODULE_LINES", 20)


def compiled(**options):
    session = xe.compile(SOFTMAX_OF_PRODUCTS, backend="cpu", threads=1, cache=False, **options)
    return session, session.executable.compiled.images


def test_kernels_are_compiled_early_and_once(two_cores, monkeypatch):
    """Values are those of one object, and no function is defined twice."""
    x, y, z = (
        np.random.default_rng(k).standard_normal(s, np.float32)
        for k, s in enumerate(((64, 48), (48, 96), (96, 32)))
    )
    session, objects = compiled()
    assert len(objects) > 1
    assert objects == compiled()[1]
    monkeypatch.setattr(cpu_compiler, "usable_cores", lambda: 1)
    whole, alone = compiled()
    assert len(alone) < len(objects)
    np.testing.assert_array_equal(session(x, y, z), whole(x, y, z))
    assert str(session.llvm_ir(False)) == str(whole.llvm_ir(False))
    assert str(session.assembly()) == str(whole.assembly())


def test_the_rest_calls_what_was_compiled_early():
    """The object of the rest only names the function; both link to the program."""
    early = EarlyObjects(host_target(), OptimizationOptions(), None)
    early.add(FINISHED)
    found = early.with_rest(WHOLE, 1)
    assert found.ir == WHOLE
    assert len(found.images) == 2
    rest = without_functions(WHOLE, ["double"])
    assert rest is not None and rest.functions == (START,) and rest.elsewhere == (DOUBLE,)
    program_library(found, {}, ["start"])


def test_what_cannot_be_cut_is_compiled_whole():
    """A module with a variable of its own: early objects are not used."""
    early = EarlyObjects(host_target(), OptimizationOptions(), None)
    early.add(FINISHED)
    counted = replace(
        WHOLE,
        globals=(Global("count", "i32", "0", 4, "internal", is_constant=False),),
        is_whole=True,
    )
    found = early.with_rest(counted, 1)
    assert len(found.images) == 1
    program_library(found, {}, ["start"])


def renamed(function, name):
    return function._replace(name=name, linkage="hidden")


def test_equal_functions_of_other_programs_are_not_compiled_again(tmp_path, monkeypatch):
    """Names and neighbours may differ; another process reads them from the disk."""
    cache = ObjectCache(tmp_path)
    early = EarlyObjects(host_target(), OptimizationOptions(), cache)
    triple = body_of(text_of_body(DOUBLE.body).replace("%x, %x", "%x, 3.0"))
    early.add(
        LlvmModule((renamed(DOUBLE, "double"), renamed(DOUBLE, "triple")._replace(body=triple)))
    )
    assert early.with_rest(WHOLE, 1).shared_hits == 0
    cache.forget_memory()
    monkeypatch.setattr(early_objects, "submit", None)
    early = EarlyObjects(host_target(), OptimizationOptions(), cache)
    early.add(LlvmModule((renamed(DOUBLE, "twice"),)))
    start = START._replace(
        body=body_of("entry:\n  call void @twice(ptr %a)\n  ret i32 0"), callees=("twice",)
    )
    found = early.with_rest(LlvmModule((renamed(DOUBLE, "twice"), start)), 1)
    assert found.shared_hits == 1
    run = program_library(found, {}, ["start"]).bind("start", ctypes.c_int, [ctypes.c_void_p])
    value = ctypes.c_float(21)
    run(ctypes.addressof(value))
    assert value.value == 42


def test_functions_with_other_parameters_are_other_functions(tmp_path):
    """`noalias` is part of the code."""
    cache = ObjectCache(tmp_path)
    for parameters, hits in ((("ptr noalias %a",), 0), (("ptr %a",), 0), (("ptr %a",), 1)):
        early = EarlyObjects(host_target(), OptimizationOptions(), cache)
        early.add(LlvmModule((renamed(DOUBLE, "double")._replace(parameters=parameters),)))
        assert early.with_rest(WHOLE, 1).shared_hits == hits


def test_a_deleted_object_is_made_again(tmp_path):
    """The entry of a function may outlive the object that it names."""
    cache = ObjectCache(tmp_path)
    for _ in range(2):
        early = EarlyObjects(host_target(), OptimizationOptions(), cache)
        early.add(FINISHED)
        found = early.with_rest(WHOLE, 1)
        assert (found.shared_hits, len(found.images)) == (0, 2)
        cache.drop(found.shared[0].key)


def test_programs_with_equal_kernels_share_loaded_code():
    """It is unloaded with the last of them."""
    found = []
    for _ in range(2):
        early = EarlyObjects(host_target(), OptimizationOptions(), None)
        early.add(FINISHED)
        found.append(program_library(early.with_rest(WHOLE, 1), {}, ["start"]))
    (first,), (second,) = (library._needs for library in found)
    assert first is second


def test_wrong_text_is_refused_when_the_program_is_finished():
    """As by `optimize_and_emit`."""
    early = EarlyObjects(host_target(), OptimizationOptions(), None)
    wrong = body_of(text_of_body(DOUBLE.body).replace("fadd", "fad"))
    early.add(LlvmModule((DOUBLE._replace(body=wrong, linkage="hidden"),)))
    with pytest.raises(LlvmIrError):
        early.with_rest(WHOLE, 1)
