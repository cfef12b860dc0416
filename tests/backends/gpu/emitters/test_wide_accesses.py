"""Neighbouring loads and stores become one access: in the text of kernels, and in the PTX of those that LLVM alone leaves narrow."""

import re

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check, ptx_of
from xla_explorer.backends.gpu.emitters.wide_accesses import with_wide_accesses
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.hlo.primitive_type import primitive_type

SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"


def kernel(*lines):
    return Kernel(tuple(lines), tuple(range(len(lines))), 3, (0, 1, 2), (), (), (), 1)


def load(name, argument, at, kind="float"):
    return (
        f"  %p.{name} = getelementptr inbounds {kind}, ptr addrspace(1) {argument}, i64 {at}",
        f"  %{name} = load {kind}, ptr addrspace(1) %p.{name}, align 4, !invariant.load !0",
    )


def store(name, argument, at):
    return (
        f"  %q.{name} = getelementptr inbounds float, ptr addrspace(1) {argument}, i64 {at}",
        f"  store float %{name}, ptr addrspace(1) %q.{name}, align 4",
    )


def accesses(made):
    return [line.split(" = ")[-1].strip().split(",")[0] for line in made.lines if re.search(r" = load |^  store ", line)]


START = ("  %row = mul nsw i64 %r, 12", "  %first = mul nsw i64 %i, 4", "  %base = add nsw i64 %row, %first")


def neighbours(count, again=False):
    lines = list(START)
    for k in range(count):
        if again:  # computed anew, as emitters do
            lines += [f"  %row{k} = mul nsw i64 %r, 12", f"  %f{k} = add nsw i64 %first, {k}", f"  %at{k} = add nsw i64 %row{k}, %f{k}"]
        else:
            lines.append(f"  %at{k} = add nsw i64 %base, {k}")
    return lines


@pytest.mark.parametrize("again", [False, True])
def test_four_neighbours_are_one_load(again):
    made = with_wide_accesses(kernel(*neighbours(4, again), *[line for k in range(4) for line in load(f"x{k}", "%a0", f"%at{k}")]))
    assert accesses(made) == ["load <4 x float>"]
    assert sum("extractelement" in line for line in made.lines) == 4
    assert len(made.lines) == len(made.origins)


def test_an_element_read_twice_is_taken_from_the_same_load():
    loads = [line for k in (0, 1, 2, 3, 2) for line in load(f"x{k}", "%a0", f"%at{k}")]
    loads[-2:] = [line.replace("x2", "again") for line in loads[-2:]]
    assert accesses(with_wide_accesses(kernel(*neighbours(4), *loads))) == ["load <4 x float>"]


def test_alignment_limits_the_width():
    lines = [line.replace(", 12", ", 6") for line in neighbours(4)]
    made = with_wide_accesses(kernel(*lines, *[line for k in range(4) for line in load(f"x{k}", "%a0", f"%at{k}")]))
    assert accesses(made) == ["load <2 x float>", "load <2 x float>"]


@pytest.mark.parametrize("broken", ["block", "argument", "gap", "odd"])
def test_what_is_no_neighbour_stays(broken):
    lines = neighbours(5)
    second = load("x1", "%a1" if broken == "argument" else "%a0", "%at2" if broken == "gap" else "%at1")
    first = load("x0", "%a0", "%at0")
    if broken == "odd":
        first, second = load("x0", "%a0", "%at1"), load("x1", "%a0", "%at2")
    between = ["  br label %next", "next:"] if broken == "block" else []
    made = with_wide_accesses(kernel(*lines, *first, *between, *second))
    assert accesses(made) == ["load float", "load float"]


def test_stores_are_joined_at_the_last():
    made = with_wide_accesses(kernel(*neighbours(4), *[line for k in range(4) for line in store(f"y{k}", "%a1", f"%at{k}")]))
    assert accesses(made) == ["store <4 x float> %q.y0.wide3"]


@pytest.mark.parametrize(
    "between",
    ["  %o = load float, ptr addrspace(1) %p, align 4", "  call void @llvm.nvvm.barrier0()", "  %o = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic"],
)
def test_stores_do_not_pass_what_may_read(between):
    made = with_wide_accesses(kernel(*neighbours(2), *store("y0", "%a1", "%at0"), between, *store("y1", "%a1", "%at1")))
    assert len([line for line in made.lines if line.startswith("  store float")]) == 2


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
