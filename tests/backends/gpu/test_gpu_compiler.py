"""From HLO to PTX text: stages, source maps, launch dimensions, records without kernels."""

import re
import subprocess
import sys

import numpy as np
import pytest

from tests.backends.gpu.gpu_modules import BRANCHES, DOT, LOOP, SOFTMAX, TWO_REPLICAS, compiled
from tests.support.llvm_bodies import text_of_body
from xla_explorer.backends.gpu import gpu_stages, platform
from xla_explorer.backends.gpu.architecture import (
    ARCHITECTURES,
    UnknownArchitectureError,
    gpu_architecture,
)
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.gpu_stages import PTX_OPTIMIZATION
from xla_explorer.backends.gpu.kernel_module import kernel_groups
from xla_explorer.backends.interfaces import Platform
from xla_explorer.backends.llvm.llvm_compiler import emit_assembly


def test_platform_needs_no_llvm():
    code = (
        "import sys\nfrom xla_explorer.backends.gpu import platform\np = platform()\nassert p.name == 'gpu'\n"
        "assert p.availability() is None\n"
        "assert 'llvmlite' not in sys.modules and 'cuda' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert isinstance(platform(), Platform)


def test_stages_in_order():
    result = compiled(SOFTMAX)
    names = [
        name for name in result.stages if name != "sass"
    ]  # where NVIDIA's disassembler is installed
    assert names == [
        "hlo",
        "hlo-optimized",
        "buffers",
        "llvm-ir",
        "llvm-ir-optimized",
        "ptx",
        "launches",
    ]
    assert result.executable is not None and result.why_not is None
    for stage in result.stages.values():
        assert stage.is_text and stage.text


def test_ptx_has_an_entry_per_kernel():
    result = compiled(SOFTMAX)
    entries = re.findall(r"\.visible \.entry (\w+)\(", result.stages["ptx"].text)
    assert entries == [k.name for k in result.program.kernels]
    assert entries
    assert ".target sm_90" in result.stages["ptx"].text


def test_functions_are_inlined_and_as_exact_as_asked():
    text = compiled(SOFTMAX).stages["ptx"].text
    assert "ex2.approx.ftz.f32" in text
    assert "rcp.approx.f32" in text
    assert not re.search(r"\bcall|\.func\b|\.extern\b", text)
    precise = compiled(SOFTMAX, math="precise").stages["ptx"].text
    assert "fma.rn.f32" in precise
    assert "approx" not in precise


def test_every_launch_limit_is_in_the_ptx():
    result = compiled(SOFTMAX)
    limits = [int(n) for n in re.findall(r"\.maxntid (\d+)", result.stages["ptx"].text)]
    assert limits == [k.launch.threads_per_block for k in result.program.kernels]


def instruction_names(result):
    return {
        i.id: i for c in result.trace.module.computations.values() for i in c.instructions.values()
    }


@pytest.mark.parametrize("stage", ["llvm-ir", "llvm-ir-optimized", "ptx"])
def test_source_map_points_at_optimised_hlo(stage):
    result = compiled(SOFTMAX)
    known = instruction_names(result)
    lines = result.stages[stage].lines()
    assert all(origin is None or origin in known for _, origin in lines)
    needle = {"llvm-ir": "rcp.approx", "llvm-ir-optimized": "rcp.approx", "ptx": "fma.rn.f32"}[
        stage
    ]
    owners = {
        known[origin].opcode.name for line, origin in lines if needle in line and origin is not None
    }
    assert owners & {"divide", "exponential", "multiply"}, owners


def test_most_ptx_instructions_have_an_origin():
    lines = compiled(SOFTMAX).stages["ptx"].lines()
    code = [
        (line, origin)
        for line, origin in lines
        if line.startswith("\t") and not line.strip().startswith((".", "//"))
    ]
    assert len([1 for _, origin in code if origin is not None]) > 0.85 * len(code)


def test_hlo_stage_is_the_unoptimised_module():
    result = compiled(SOFTMAX)
    assert "fusion" not in result.stages["hlo"].text
    assert "fusion" in result.stages["hlo-optimized"].text


def without_numbering(text):
    """Comments, labels and register numbers do not count."""
    return [
        re.sub(r"\s+", " ", line.split("//")[0]).strip()
        for line in text.splitlines()
        if line.split("//")[0].strip()
    ]


def test_debug_directives_do_not_change_the_code():
    result = compiled(SOFTMAX)
    plain = emit_assembly(result.program.text, gpu_architecture().target, PTX_OPTIMIZATION)
    assert without_numbering(plain) == without_numbering(result.stages["ptx"].text)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_architectures(architecture):
    text = compiled(SOFTMAX, architecture).stages["ptx"].text
    version = ARCHITECTURES[architecture].ptx_version
    assert (
        f".target {architecture}\n" in text and f".version {version // 10}.{version % 10}" in text
    )


@pytest.mark.parametrize("devices", ["", ", replica_count=2", ", num_partitions=4"])
@pytest.mark.parametrize(
    "root", ["u32[] replica-id()", "u32[] partition-id()", "u32[] all-reduce(x), to_apply=add"]
)
def test_what_several_devices_do_together_has_no_kernel(devices, root):
    text = f"""HloModule m{devices}
add {{ a = u32[] parameter(0) b = u32[] parameter(1) ROOT s = u32[] add(a, b) }}
ENTRY e {{ x = u32[] parameter(0) ROOT r = {root} }}"""
    result = compiled(text)
    why = GpuCompiler().supports(result.trace.module.entry.root)
    (step,) = result.program.steps
    assert (why is None) == (not devices) and (step.runs_on == "evaluator") == bool(devices)
    assert step.reason == why and (why is None or why.code == "several-devices")


def test_unknown_architecture():
    with pytest.raises(UnknownArchitectureError, match="sm_91"):
        compiled(SOFTMAX, "sm_91")


def test_dot_is_a_kernel_with_the_reason_why_no_library():
    result = compiled(DOT)
    row = next(step for step in result.program.steps if step.name.startswith("dot"))
    assert (
        row.runs_on == "kernel"
        and row.reason.code == "library-not-called"
        and row.reason.facts["library"] == "cublasLt"
        and row.reason.facts["because"] == "library-unavailable"
        and row.reason.facts["own_us"] > 0 < row.reason.facts["library_us"]
    )
    assert f".entry {row.function}(" in result.stages["ptx"].text


def test_what_has_no_kernel_is_recorded_not_dropped():
    result = compiled(TWO_REPLICAS)
    refused = [step for step in result.program.steps if step.runs_on == "evaluator"]
    assert [(step.opcode, step.reason.code) for step in refused] == [
        ("all-reduce", "several-devices")
    ]
    assert len([step for step in result.program.steps if step.runs_on == "kernel"]) == 2
    assert "evaluator    %" in result.stages["launches"].text


def test_loop_has_thunks_inside():
    result = compiled(LOOP)
    loop = next(thunk for thunk in result.program.thunks if thunk.kind == "while")
    condition, body = loop.bodies
    assert condition and body
    assert all(thunk.kind in ("kernel", "copy") for thunk in (*condition, *body))
    functions = {step.function for step in result.program.steps}
    assert {k.name for k in result.program.kernels} <= {*functions, loop.kernel.name} and not set(
        loop.kernel.inside
    ) - set(result.program.kernels)


def test_update_in_place_shares_its_parameter():
    result = compiled(LOOP)
    updates = [
        t
        for t in result.program.walk()
        if t.kind == "kernel"
        and t.kernel.launch.threads == 8
        and len(t.arguments) < len(t.instruction.operands) + 1
    ]
    assert updates, "the table is written where it is read"


def test_conditional_has_a_body_per_branch():
    thunk = next(t for t in compiled(BRANCHES).program.walk() if t.kind == "conditional")
    assert len(thunk.bodies) == len(thunk.carried_copies) == 2


def test_equal_kernels_are_written_once():
    text = """HloModule m
ENTRY e { x = f32[50] parameter(0) y = f32[50] parameter(1) a = f32[50] sine(x) b = f32[50] sine(y)
  ROOT r = (f32[50], f32[50]) tuple(a, b) }"""
    result = compiled(text, passes="none")
    assert len([s for s in result.program.steps if s.runs_on == "kernel"]) == 2
    assert len(result.program.kernels) == 1


def test_names_are_mangled():
    text = """HloModule m
ENTRY e { x.1 = f32[50] parameter(0) ROOT sine.2 = f32[50] sine(x.1) }"""
    (kernel,) = compiled(text, passes="none").program.kernels
    assert kernel.name == "sine_2"
    from xla_explorer.backends.gpu.kernel_module import ptx_identifier

    assert ptx_identifier("loop-fusion.3") == "loop_fusion_3" and ptx_identifier("1st") == "_1st"


def test_pass_strings():
    result = compiled(SOFTMAX, passes="algsimp,dce")
    assert "fusion(" not in result.stages["hlo-optimized"].text
    assert len(result.program.kernels) > 4


def test_scatter_uses_atomics():
    text = """HloModule m
s { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[50,4] parameter(0) i = s32[9,1] parameter(1) u = f32[9,4] parameter(2)
  ROOT r = f32[50,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=s }"""
    result = compiled(text)
    assert re.search(r"(red|atom)\S*\.add\S*\.f32", result.stages["ptx"].text)
    kernel = next(k for k in result.program.kernels if "atomicrmw" in text_of_body(k.kernel.body))
    assert kernel.launch.threads == 36


def test_arithmetic_that_must_not_be_contracted_says_so():
    # ptxas joins a mul and an add without .rn into one fma; our functions count on the rounding
    # between.
    text = """HloModule m
ENTRY e { x = f32[50] parameter(0) a = f32[50] exponential(x) b = f32[50] log(x) c = f32[50] tanh(x) d = f32[50] remainder(x, a)
  ROOT r = (f32[50], f32[50], f32[50], f32[50]) tuple(a, b, c, d) }"""
    ptx = compiled(text, passes="none").stages["ptx"].text
    assert re.search(r"mul\.rn\.f32", ptx) and not re.search(r"\b(mul|add)\.f(32|64)", ptx)


def test_division_and_square_root_are_exact_where_asked():
    text = """HloModule m
ENTRY e { x = f32[50] parameter(0) y = f32[50] parameter(1) d = f32[50] divide(x, y) ROOT s = f32[50] sqrt(d) }"""
    ptx = compiled(text, passes="none", math="precise").stages["ptx"].text
    assert "div.rn.f32" in ptx and not re.search(r"\.approx", ptx)


def test_launches_are_decisions():
    events = [e for e in compiled(SOFTMAX).trace.journal.events if e.by == "launch"]
    (chosen,) = [e for e in events if e.verdict == "accepted"]
    assert (
        chosen.facts["emitter"] == "row-reduction"
        and chosen.facts["block"] >= 128
        and "rows" in chosen.facts["reasoning"]
    )


def test_dot_weighs_the_library():
    text = """HloModule m
ENTRY e { a = bf16[2048,2048] parameter(0) b = bf16[2048,2048] parameter(1)
  ROOT c = bf16[2048,2048] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    (step,) = compiled(text).program.steps
    assert (
        step.reason.facts["emitter"] == "tensor-core-dot"
        and step.reason.facts["own_us"] > step.reason.facts["library_us"] > 0
    )
    # A product that ends before a library call has started is not worth the call.
    (small,) = compiled(text.replace("2048", "256")).program.steps
    assert 0 < small.reason.facts["own_us"] < small.reason.facts["library_us"]


def test_dynamic_dimensions_run_on_the_evaluator_as_a_whole():
    result = compiled("""HloModule d
ENTRY e { x = s32[4,2] parameter(0) n = s32[] parameter(1)
  cut = s32[<=4,2] set-dimension-size(x, n), dimensions={0}
  ROOT twice = s32[<=4,2] add(cut, cut) }""")
    assert {step.reason.code for step in result.executable.steps} == {"dynamic-dimension"}
    x = np.arange(8, dtype=np.int32).reshape(4, 2)
    np.testing.assert_array_equal(result.executable.execute([x, np.int32(3)])[0], 2 * x[:3])


def test_kernels_compiled_in_groups_make_the_same_module(monkeypatch):
    result = compiled("""HloModule g
total { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[64,96] parameter(0) y = f32[96,64] parameter(1) zero = f32[] constant(0)
  t = f32[64,96] transpose(y), dimensions={1,0}
  c = f32[96] reduce(x, zero), dimensions={0}, to_apply=total
  r = f32[64] reduce(t, zero), dimensions={1}, to_apply=total
  d = f32[96,96] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT out = (f32[64,96], f32[96], f32[64], f32[96,96]) tuple(t, c, r, d) }""")
    target = gpu_architecture("sm_90").target
    whole, owners = gpu_stages.ptx_of(result.program, target)
    kernels = result.program.kernels
    monkeypatch.setattr(gpu_stages, "kernel_groups", lambda given: kernel_groups(given, 1))
    assert len(kernels) >= 3 and [list(group) for group in kernel_groups(kernels, 1)] == [
        [k] for k in kernels
    ]
    joined, origins = gpu_stages.ptx_of(result.program, target)

    def code(
        text,
    ):  # labels have the number of their function; shared memory of one function alone is declared in it
        lines = re.sub(r"\$L__BB\d+_", "$L__BB_", text).split("\n")
        return sorted(
            [
                line
                for line in lines
                if line.strip() and ".shared .align" not in line and "demoted" not in line
            ]
        )

    assert code(whole) == code(joined)
    assert len(origins) == joined.count("\n") and set(owners) == set(origins)
    assert joined.count(".version") == 1
    assert [len(group) for group in kernel_groups(kernels, 10**6)] == [
        len(kernels)
    ] and kernel_groups((), 5) == [()]


@pytest.mark.parametrize(("body", "kinds"), [
    ("b = f32[64] exponential(a) ROOT c = f32[64] add(b, a)", {"kernel"}),
    ("ROOT c = f32[64] exponential(a)", {"kernel", "copy"}),
])  # fmt: skip
def test_asynchronous_work_of_several_instructions_has_kernels(body, kinds):
    """One asynchronous operation keeps its stream; several become part of the program.

    The evaluator ran the latter before.
    """
    text = f"""HloModule m
wrapped {{ a = f32[64] parameter(0) {body} }}
ENTRY e {{ x = f32[64] parameter(0) s = ((f32[64]), f32[64], s32[]) async-start(x), calls=wrapped ROOT d = f32[64] async-done(s) }}"""
    assert {thunk.kind for thunk in compiled(text).program.walk()} == kinds


def test_a_fused_scatter_is_taken_out_of_its_fusion():
    text = """HloModule m
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
f { x = s32[3,3] parameter(0) u = s32[3,3] parameter(1) i = s32[3] parameter(2) n = s32[3] add(i, i)
  ROOT r = s32[3,3] scatter(x, n, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=add }
ENTRY e { x = s32[3,3] parameter(0) u = s32[3,3] parameter(1) i = s32[3] parameter(2)
  ROOT r = s32[3,3] fusion(x, u, i), kind=kInput, calls=f }"""
    result = compiled(text)
    rows, found = (
        np.zeros((3, 3), np.int32),
        result.executable.execute(
            [np.zeros((3, 3), np.int32), np.ones((3, 3), np.int32), np.int32([1, 0, 1])]
        ),
    )
    rows[2], rows[0] = 2, 1
    np.testing.assert_array_equal(found[0], rows)
    assert [thunk.kind for thunk in result.program.walk()] == [
        "kernel",
        "copy",
        "kernel",
    ] and "atom.global.add" in result.stages["ptx"].text


@pytest.mark.parametrize("target", ["Sharding", "xla.sdy.FuncResultSharding"])
def test_what_jax_writes_as_a_custom_call_is_no_step_of_the_evaluator(target):
    mark = f'y = f32[8] custom-call(x), custom_call_target="{target}"\n  z = f32[8] negate(y)'
    top = 'ROOT r = (f32[2], s32[2]) custom-call(z), custom_call_target="TopK"'
    steps = compiled(
        f"HloModule m, num_partitions=2\nENTRY e {{\n  x = f32[8] parameter(0)\n  {mark}\n  {top}\n}}"
    ).executable.steps
    assert {step.runs_on for step in steps} == {"kernel"}
