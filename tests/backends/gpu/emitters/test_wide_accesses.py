"""Neighbouring loads and stores become one access: in the records of kernels, and in the PTX of those that LLVM alone leaves narrow."""

import re

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check, ptx_of
from xla_explorer.backends.gpu.emitters.wide_accesses import widen_accesses
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.records import INVARIANT
from xla_explorer.hlo.primitive_type import primitive_type

SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"


GLOBAL = "ptr addrspace(1)"


def load(w, at, argument="%a0"):
    return w.read(w.element_at(argument, "float", at, GLOBAL), "float", 4, GLOBAL, INVARIANT)


def store(w, at, value, argument="%a1"):
    w.write(value, w.element_at(argument, "float", at, GLOBAL), "float", 4, GLOBAL)


def accesses(w):
    """After neighbours were joined."""
    widen_accesses(w)
    lines, origins = w.body_lines()
    assert len(lines) == len(origins)
    return [re.sub(" %.*", "", line.split(" = ")[-1].strip().split(",")[0]) for line in lines if re.search(r" = load |^  store ", line)]


def neighbours(w, count, again=False, factor=12):
    base, first = w.mul("%r", factor), w.mul("%i", 4)
    if again:  # computed anew, as emitters do
        return [w.add(w.mul("%r", factor), w.add(first, k)) for k in range(count)]
    return [w.add(w.add(base, first), k) for k in range(count)]


@pytest.mark.parametrize("again", [False, True])
def test_four_neighbours_are_one_load(again):
    w = FunctionWriter()
    for at in neighbours(w, 4, again):
        load(w, at)
    assert accesses(w) == ["load <4 x float>"]
    assert sum("extractelement" in line for line in w.body_lines()[0]) == 4


def test_an_element_read_twice_is_taken_from_the_same_load():
    w = FunctionWriter()
    at = neighbours(w, 4)
    for k in (0, 1, 2, 3, 2):
        load(w, at[k])
    assert accesses(w) == ["load <4 x float>"]


def test_alignment_limits_the_width():
    w = FunctionWriter()
    for at in neighbours(w, 4, factor=6):
        load(w, at)
    assert accesses(w) == ["load <2 x float>", "load <2 x float>"]


@pytest.mark.parametrize("broken", ["block", "argument", "gap", "odd"])
def test_what_is_no_neighbour_stays(broken):
    w = FunctionWriter()
    at = neighbours(w, 5)
    load(w, at[1 if broken == "odd" else 0])
    if broken == "block":
        w.branch("next")
        w.start_block("next")
    load(w, at[2 if broken in ("gap", "odd") else 1], "%a1" if broken == "argument" else "%a0")
    assert accesses(w) == ["load float", "load float"]


def test_stores_are_joined_at_the_last():
    w = FunctionWriter()
    for k, at in enumerate(neighbours(w, 4)):
        store(w, at, f"%y{k}")
    assert accesses(w) == ["store <4 x float>"]


@pytest.mark.parametrize(
    "between",
    [
        lambda w: w.read("%p", "float", 4, GLOBAL),
        lambda w: w.effect("call", (), "void @llvm.nvvm.barrier0"),
        lambda w: w.value("atomicrmw add ptr addrspace(1) %p, i32 1 monotonic"),
    ],
)
def test_stores_do_not_pass_what_may_read(between):
    w = FunctionWriter()
    first, second = neighbours(w, 2)
    store(w, first, "%y0")
    between(w)
    store(w, second, "%y1")
    assert accesses(w).count("store float") == 2


def test_long_rows_are_read_by_sixteen_bytes():
    """LLVM makes `or` of sums in the second vector's addresses, and then reads its elements one by one."""
    text = f"""HloModule m
{SUM}
ENTRY e {{ x = f32[4096,1024] parameter(0) z = f32[] constant(0) ROOT r = f32[4096] reduce(x, z), dimensions={{1}}, to_apply=sum }}"""
    ran = check(text, np.random.default_rng(3).normal(size=(4096, 1024)).astype(np.float32), relative=1e-4)
    assert ran.ptx.count("ld.global.nc.v4") == 2
    assert ran.ptx.count("ld.global") == 3  # and the initial value


def test_a_row_with_idle_threads_is_read_and_written_by_sixteen_bytes():
    """768 elements: half of the threads have nothing to do in the second step."""
    text = f"""HloModule m
{SUM}
f {{ x = f32[64,768] parameter(0) g = f32[768] parameter(1) z = f32[] constant(0) t = f32[64] reduce(x, z), dimensions={{1}}, to_apply=sum
  b = f32[64,768] broadcast(t), dimensions={{0}} d = f32[64,768] subtract(x, b) h = f32[64,768] broadcast(g), dimensions={{1}}
  ROOT r = f32[64,768] multiply(d, h) }}
ENTRY e {{ x = f32[64,768] parameter(0) g = f32[768] parameter(1) ROOT r = f32[64,768] fusion(x, g), kind=kInput, calls=f }}"""
    random = np.random.default_rng(4)
    ran = check(text, random.normal(size=(64, 768)).astype(np.float32), random.normal(size=768).astype(np.float32), relative=1e-3)
    assert not re.search(r"(ld|st)\.global\.(nc\.)?(L\S+\.)?(b32|v2)", ran.ptx)


@pytest.mark.parametrize(("kind", "count"), [("bf16", 8), ("f64", 2), ("s8", 16), ("pred", 16), ("c64", 2)])
def test_other_types(kind, count):
    name = "not" if kind == "pred" else "negate"
    text = f"""HloModule m
ENTRY e {{ x = {kind}[1024,{count * 64}] parameter(0) ROOT r = {kind}[1024,{count * 64}] {name}(x) }}"""
    values = np.random.default_rng(5).integers(0, 2, (1024, count * 64)) + (1j if kind == "c64" else 0)
    check(text, values.astype(primitive_type(kind).dtype), assemble=False)


def test_long_functions_do_not_keep_a_loop_from_reading_sixteen_bytes():
    """One element a thread leaves too few bytes under way for the memory of a large GPU."""
    text = """HloModule m
f { x = f32[1048576] parameter(0) a = f32[1048576] erf(x) b = f32[1048576] tanh(a) c = f32[1048576] exponential(b)
  d = f32[1048576] log(c) e = f32[1048576] logistic(d) ROOT r = f32[1048576] divide(e, x) }
ENTRY e { x = f32[1048576] parameter(0) ROOT r = f32[1048576] fusion(x), kind=kLoop, calls=f }"""
    _, emitted, _, ptx = ptx_of(text)
    assert emitted.emitter == "vector-loop"
    assert "ld.global.nc.v4.b32" in ptx
