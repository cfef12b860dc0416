"""Loops in vectors: what is rewritten and how, what is left to LLVM, and that the values are those of the scalar loops."""

import ctypes
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.target_machine import host_target
from xla_explorer.compiler.codegen import loop_vectorization
from xla_explorer.compiler.codegen.function_writer import NO_VECTOR
from xla_explorer.compiler.codegen.ir.effort import Effort
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.loop_refusals import KERNEL_REASONS, LOOP_REASONS
from xla_explorer.compiler.codegen.loop_vectorization import in_vectors, vectorized_kernel
from xla_explorer.compiler.codegen.vector_instructions import VectorFunctions
from xla_explorer.compiler.target import cpu_target
from xla_explorer.foundation.reason import Reason

BF16 = ml_dtypes.bfloat16
WIDE = cpu_target(triple="x86_64-unknown-linux-gnu", bits=512)
needs_fixed_width = pytest.mark.skipif(
    not described_cpu().vectorizes_itself,
    reason="this machine's loops are LLVM's",
)


def loop(body, extent=100, slots="", start="0"):
    """A kernel with one loop, as the function writer writes it."""
    head = f"{slots}  br label %loop.1\nloop.1:\n  %i3 = phi i64 [ {start}, %entry ], [ %n3, %loop.1 ]\n"
    tail = f"  %n3 = add nuw nsw i64 %i3, 1\n  %v99 = icmp slt i64 %n3, {extent}\n  br i1 %v99, label %loop.1, label %loop.end.2\nloop.end.2:\n"
    return tuple((head + body + tail + "  ret void").split("\n"))


def load(name, pointer="%a0", t="float", index="%i3"):
    return f"  %p{name} = getelementptr inbounds {t}, ptr {pointer}, i64 {index}\n  %{name} = load {t}, ptr %p{name}, align 4\n"


def store(value, pointer="%a1", t="float", index="%i3"):
    return f"  %out = getelementptr inbounds {t}, ptr {pointer}, i64 {index}\n  store {t} {value}, ptr %out, align 4\n"


def rewritten(body, **options):
    lines = loop(body, **options)
    found = vectorized_kernel(lines, (7,) * len(lines), WIDE)
    return found if isinstance(found, Reason) else "\n".join(found.lines)


def test_values_that_vary_become_vectors_and_others_go_ahead():
    text = rewritten(load("x") + load("u", "%a2", index="0") + "  %y = fmul contract float %x, %u\n" + store("%y"))
    ahead, inside = text.split("loop.1.vector:")
    assert "load float, ptr %pu" in ahead and "shufflevector <16 x float>" in ahead
    assert "fmul contract <16 x float> %x.v, " in inside and "store <16 x float> %y.v" in inside
    # Two vectors at a time: four times 32 exceed 100, and the last time is moved back.
    assert "@llvm.smin.i64(i64 %k0.at, i64 68)" in text


def test_lines_keep_their_instruction():
    lines = loop(load("x") + "  %y = fneg float %x\n" + store("%y"))
    found = vectorized_kernel(lines, (7,) * len(lines), WIDE)
    assert len(found.lines) == len(found.origins)
    assert found.origins[next(k for k, line in enumerate(found.lines) if "fneg" in line)] == 7


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (load("x", index="%w").replace("  %px", "  %w = mul nsw i64 %i3, 2\n  %px") + store("%x"), "not-consecutive", "getelementptr"),
        (load("x", "%a1", index="%w").replace("  %px", "  %w = add nsw i64 %i3, 1\n  %px") + store("%x"), "iterations-meet", "%out and %px"),
        (load("x") + "  %k = sitofp i64 %i3 to float\n  %y = fadd float %x, %k\n" + store("%y"), "index-as-value", "%i3"),
        (load("x", t="i32") + "  %y = sdiv i32 %x, 3\n" + store("%y", t="i32"), "no-vector-form", "sdiv i32 %x, 3"),
        (load("x") + "  %y = call float @sinf(float %x)\n" + store("%y"), "no-vector-form", "@sinf"),
        (load("x", "%a1", index="0") + load("z") + "  %y = fadd float %x, %z\n" + store("%y"), "iterations-meet", "load float"),
    ],
)
def test_other_loops_are_left_alone_and_say_why(body, code, words):
    refused = rewritten(body)
    assert isinstance(refused, Reason) and refused.code == code and refused.facts["loop"] == "loop.1"
    assert refused.message.startswith(f"loop.1: {LOOP_REASONS[code]}") and words in refused.message


def test_every_code_of_a_refusal_is_listed_and_used():
    folder = Path(loop_vectorization.__file__).parent
    files = ("loop_vectorization.py", "counted_loop.py", "vector_loop.py", "vector_instructions.py")
    used = {code for file in files for code in re.findall(r'(?:RefusedLoop|refuse)\(\s*"([a-z-]+)"', (folder / file).read_text())}
    assert used == set(LOOP_REASONS) | {"little-code"}


def test_a_branch_in_the_kernel_leaves_all_to_llvm():
    lines = loop(load("x") + store("%x"))
    branch = ("  br i1 %c, label %then, label %after", "then:", "  br label %after", "after:")
    assert vectorized_kernel(lines, (None,) * len(lines), WIDE).lanes == [16]
    assert vectorized_kernel((*branch, *lines), (None,) * (len(lines) + 4), WIDE).code == "branches"


def test_functions_come_with_what_they_call():
    library = VectorFunctions(True)
    assert library.has([("xe_tanh_f32", 16)])
    assert "define internal <16 x float> @xe_tanh_f32.v16(<16 x float> %x)" in "\n".join(library.lines)
    known = len(library.lines)
    assert library.has([("xe_tanh_f32", 16)]) and len(library.lines) == known


def run(lines, declarations, *arrays):
    parameters = ", ".join([f"ptr noalias %a{k}" for k in range(len(arrays))])
    text = "\n".join([f"define void @k({parameters}) {{", "entry:", *lines, "}", *declarations, '!1 = distinct !{!1, !2}',
                      '!2 = !{!"llvm.loop.unroll.disable"}', ""])  # fmt: skip
    library = NativeLibrary(optimize_and_emit(text).objects, exports=["k"])
    library.bind("k", None, [ctypes.c_void_p] * len(arrays))(*[a.ctypes.data for a in arrays])


SLOT = "  %slot1 = alloca float, align 8\n  store float {start}, ptr %slot1\n"
DECLARATIONS = ("declare float @llvm.maximum.f32(float, float)", "declare float @llvm.fma.f32(float, float, float)")


@needs_fixed_width
@pytest.mark.parametrize("extent", [16, 17, 31, 32, 63, 64, 65, 100, 1000])
@pytest.mark.parametrize(
    ("operation", "start", "numpy"),
    [("fadd reassoc float %s, %x", "3.0", lambda x: 3 + x.sum(dtype=np.float64)), ("call float @llvm.maximum.f32(float %s, float %x)", "-1.0", np.max)],
)
def test_reductions_of_every_length(extent, operation, start, numpy):
    body = "  %s = load float, ptr %slot1\n" + load("x") + f"  %r = {operation}\n  store float %r, ptr %slot1\n"
    lines = loop(body, extent, SLOT.format(start=start))
    lines = (*lines[:-1], "  %total = load float, ptr %slot1", "  store float %total, ptr %a1, align 4", "  ret void")
    found = vectorized_kernel(lines, (None,) * len(lines), WIDE)
    x, result = np.random.default_rng(extent).standard_normal(extent).astype(np.float32), np.zeros(1, np.float32)
    run(found.lines, {**dict.fromkeys(DECLARATIONS), **found.declarations}, x, result)
    np.testing.assert_allclose(result[0], numpy(x), rtol=2e-6)


@needs_fixed_width
@pytest.mark.parametrize("extent", [16, 17, 40, 64, 100, 129])
def test_in_place_each_element_is_computed_once(extent):
    body = load("x", "%a0") + "  %y = fadd float %x, 1.0\n  store float %y, ptr %px, align 4\n"
    lines = loop(body, extent)
    found = vectorized_kernel(lines, (None,) * len(lines), WIDE)
    x = np.zeros(extent + 16, np.float32)
    run(found.lines, found.declarations, x)
    assert (x[:extent] == 1).all() and (x[extent:] == 0).all()


PROGRAMS = {
    "softmax": """HloModule m
mx { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] maximum(a, b) }
ad { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[37,203] parameter(0)
 lo = f32[] constant(-inf)
 m = f32[37] reduce(x, lo), dimensions={1}, to_apply=mx
 mb = f32[37,203] broadcast(m), dimensions={0}
 d = f32[37,203] subtract(x, mb)
 y = f32[37,203] exponential(d)
 zero = f32[] constant(0)
 s = f32[37] reduce(y, zero), dimensions={1}, to_apply=ad
 sb = f32[37,203] broadcast(s), dimensions={0}
 ROOT r = f32[37,203] divide(y, sb) }""",
    "many functions": """HloModule m
ENTRY e { x = f32[1003] parameter(0)
 a = f32[1003] tanh(x)
 b = f32[1003] exponential(a)
 c = f32[1003] logistic(b)
 d = f32[1003] sine(c)
 p = pred[1003] compare(a, d), direction=LT
 f = f32[1003] log(b)
 g = f32[1003] select(p, f, d)
 h = f64[1003] convert(g)
 k = f64[1003] multiply(h, h)
 ROOT r = (f64[1003], pred[1003], f32[1003]) tuple(k, p, g) }""",
}


@needs_fixed_width
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threads", [1, 2])
def test_programs_in_vectors_have_the_evaluators_values(name, threads):
    text = PROGRAMS[name]
    session = xe.compile(text, threads=threads, cache=False)
    assert re.search(r"<\d+ x float>", session.executable.program.text)
    shape = session.source.entry.parameters()[0].shape.dimensions
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    wanted = xe.evaluate(xe.parse_hlo(text), x)
    for mine, other in zip(session.run_flat([x]), wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_allclose(mine, np.asarray(other), rtol=1e-4, atol=1e-6)


def test_small_programs_are_left_to_llvm():
    text = "HloModule m\nENTRY e { x = f32[500] parameter(0)\n z = f32[] constant(1)\n ROOT r = f32[999] pad(x, z), padding=0_0_1 }"
    session = xe.compile(text, cache=False)
    assert ".vector:" not in session.executable.program.text
    (row,) = session.decisions("loop-vectorization").to_dict("records")
    expected = "little-code" if described_cpu(libraries=True).vectorizes_itself else "target-is-llvms"
    assert (row["verdict"], row["code"]) == ("refused", expected)


@needs_fixed_width
def test_decisions_say_what_was_done_with_each_kernel(monkeypatch):
    monkeypatch.setattr(loop_vectorization, "WORTH_LINES", 0)
    text = """HloModule m
ad { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[40,50] parameter(0)
  i = s32[40] parameter(1)
  z = f32[] constant(0)
  y = f32[40,50] reduce-window(x, z), window={size=40x1 pad=39_0x0_0}, to_apply=ad
  g = f32[40,1] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}
  ROOT r = (f32[40,50], f32[40,1]) tuple(y, g)
}"""
    session = xe.compile(text, cache=False, threads=1)
    rows = session.decisions("loop-vectorization").to_dict("records")
    assert len({row["subjects"] for row in rows}) == len(rows)
    done = [row for row in rows if row["verdict"] == "accepted"]
    assert any(row["code"] == "in-vectors" and row["facts"]["loops"] >= 1 and set(row["facts"]["lanes"]) <= {4, 8, 16} for row in done)
    refused = [row for row in rows if row["verdict"] == "refused"]
    assert refused and {row["code"] for row in refused} <= {*LOOP_REASONS, *KERNEL_REASONS}
    assert all(row["message"].startswith(row["subjects"][0]) for row in rows)


def test_arrays_on_the_stack_are_places_of_their_own():
    slots = "  %slot1 = alloca float, i64 64, align 64\n"
    body = load("x") + load("s", "%slot1") + "  %y = fadd float %x, %s\n" + store("%y", "%slot1")
    text = rewritten(body, extent=64, slots=slots)
    # 64 elements are four vectors, once: no loop is left.
    assert text.count("store <16 x float>") == 4 and ".vector:" not in text


@pytest.mark.parametrize(("distance", "refused"), [(100, False), (99, True)])
def test_places_at_a_distance_may_be_read_and_written(distance, refused):
    far = f"  %far = add nsw i64 %i3, {distance}\n" + load("x", "%a1", index="%far")
    text = rewritten(far + store("%x"))
    assert isinstance(text, Reason) == refused


@needs_fixed_width
@pytest.mark.parametrize("extent", [16, 20, 100])
def test_numbers_of_elements(extent):
    lines = loop("  %w = add nsw i64 %i3, 7\n  %k = trunc i64 %w to i32\n" + store("%k", "%a0", "i32"), extent)
    found = vectorized_kernel(lines, (None,) * len(lines), WIDE)
    numbers = np.zeros(extent, np.int32)
    run(found.lines, found.declarations, numbers)
    assert (numbers == np.arange(extent) + 7).all()


def test_a_choice_around_a_loop_leaves_registers_to_llvm():
    lines = ("  br label %loop.9", "loop.9:", "  %i8 = phi i64 [ 0, %entry ], [ %n8, %after ]", "  br i1 %c, label %then, label %after", "then:")
    lines += tuple(line.replace("%entry", "%then") for line in loop(load("x") + store("%x"))[:-1])
    lines += ("  br label %after", "after:", "  %n8 = add nuw nsw i64 %i8, 1", "  %v88 = icmp slt i64 %n8, 3",
              "  br i1 %v88, label %loop.9, label %loop.end.10", "loop.end.10:", "  ret void")  # fmt: skip
    assert vectorized_kernel(lines, (None,) * len(lines), WIDE).code == "branches"
    found = vectorized_kernel(lines, (None,) * len(lines), WIDE, "most")
    assert sum(line.endswith(NO_VECTOR) for line in found.lines) == len(found.lanes) == 1
    decision = in_vectors(Kernel(lines, (None,) * len(lines), 1, (0,), (), (), (), 1), WIDE, VectorFunctions(True))
    assert decision.in_vectors and decision.kernel.effort is Effort.SHORT


def test_argmax_keeps_ties_and_nan():
    text = """HloModule m
am { a = f32[] parameter(0)
 b = s32[] parameter(1)
 c = f32[] parameter(2)
 d = s32[] parameter(3)
 gt = pred[] compare(a, c), direction=GT
 ne = pred[] compare(a, a), direction=NE
 f = pred[] or(gt, ne)
 v = f32[] select(f, a, c)
 eq = pred[] compare(a, c), direction=EQ
 lt = pred[] compare(b, d), direction=LT
 t = pred[] and(eq, lt)
 g = pred[] or(f, t)
 i = s32[] select(g, b, d)
 ROOT r = (f32[], s32[]) tuple(v, i) }
ENTRY e { x = f32[9,300] parameter(0)
 k = s32[9,300] iota(), iota_dimension=1
 lo = f32[] constant(-inf)
 z = s32[] constant(0)
 ROOT r = (f32[9], s32[9]) reduce(x, k, lo, z), dimensions={1}, to_apply=am }"""
    x = np.random.default_rng(1).integers(-5, 5, (9, 300)).astype(np.float32)
    x[3, 17], x[4] = np.nan, -np.inf
    values, places = xe.compile(text, cache=False, threads=1).run_flat([x])
    wanted = [int(np.argmax(row)) for row in x]
    assert list(places) == wanted
    np.testing.assert_array_equal(values, x[np.arange(9), wanted])


# -- two elements of 16 bits as a word -------------------------------------------------------------------------------------
PAIRED = """HloModule paired

ENTRY e {{
  x = bf16[{n}] parameter(0)
  y = bf16[{n}] parameter(1)
  s = bf16[] parameter(2)
  b = bf16[{n}] broadcast(s), dimensions={{}}
  p = bf16[{n}] multiply(x, b)
  q = bf16[{n}] subtract(p, y)
  g = pred[{n}] compare(q, x), direction=GT
  ROOT r = bf16[{n}] select(g, q, y)
}}
"""


@needs_fixed_width
@pytest.mark.parametrize("n", [2048, 2111, 65536])
@pytest.mark.parametrize("donate", [False, True])
def test_pairs_have_the_bits_of_single_elements(n, donate):
    every = np.arange(65536).astype(np.uint16)[-n:]
    arguments = [every.view(BF16), np.roll(every, 4099 % n)[::-1].copy().view(BF16), np.array(1.171875, BF16)]
    paired = xe.compile(PAIRED.format(n=n), backend="cpu", threads=1, cache=False, donate=donate)
    assert "load <16 x i32>" in paired.stage("llvm-ir").text or host_target().vector_register_bits != 512
    (kernel,) = [d.name for d in paired.executable.program.decisions if d.kind == "loop-nest"]
    single = xe.compile(PAIRED.format(n=n), backend="cpu", threads=1, cache=False, schedules=f"%{kernel}: split{{i,8}},vectorize{{ii}}")
    assert " x i32>, ptr" not in single.stage("llvm-ir").text
    wanted = single.run_flat([a.copy() for a in arguments])[0].view(np.uint16)
    got = paired.run_flat([a.copy() for a in arguments])[0].view(np.uint16)
    np.testing.assert_array_equal(got, wanted)


POOL = """HloModule pool
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[2,12,12,64] parameter(0)  z = f32[] constant(0)
  ROOT r = f32[2,6,6,64] reduce-window(x, z), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=sum }"""


@pytest.mark.parametrize("text", [POOL, xe.example("mlp_train").to_text()], ids=["pool", "mlp_train"])
def test_only_functions_with_a_finished_loop_skip_the_optimiser(text: str) -> None:
    functions = xe.compile(text, threads=1).stage("llvm-ir").text.split("\ndefine ")[1:]
    final = {function.split("(")[0]: '"effort"="final"' in function.split("\n")[0] for function in functions}
    finished = {function.split("(")[0]: "!llvm.loop !1\n" in function for function in functions}
    in_vectors = {function.split("(")[0]: any(part in function for part in (" store <", " load <", "@llvm.masked.")) for function in functions}
    assert all(final[name] for name in final if finished[name])
    assert all(finished[name] or in_vectors[name] for name in final if final[name])
