"""The NPU package: contract, conformance, workloads with utilisation, assembler, simulator."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import tomllib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.compiler.pipeline.value_check import largest_error
from xla_explorer.explorer.sessions.compilation import program_steps

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "extensions" / "xla_explorer_npu"
DATA = ROOT / "tests" / "data"
CORPUS = SHARED / "conformance"

ATTENTION = """HloModule attention
larger { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY main {
  q = f32[2,150,40] parameter(0)
  k = f32[2,150,40] parameter(1)
  v = f32[2,150,40] parameter(2)
  s = f32[2,150,150] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[2,150] reduce(s, low), dimensions={2}, to_apply=larger
  mb = f32[2,150,150] broadcast(m), dimensions={0,1}
  d = f32[2,150,150] subtract(s, mb)
  e = f32[2,150,150] exponential(d)
  n = f32[2,150] reduce(e, zero), dimensions={2}, to_apply=sum
  nb = f32[2,150,150] broadcast(n), dimensions={0,1}
  p = f32[2,150,150] divide(e, nb)
  ROOT o = f32[2,150,40] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}
"""
CONVOLUTION = """HloModule convolution
ENTRY main {
  x = f32[2,17,19,12] parameter(0)
  k = f32[3,3,6,20] parameter(1)
  ROOT r = f32[2,9,10,20] convolution(x, k), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=2
}
"""
LARGE_ADD = """HloModule large
ENTRY main {
  x = f32[512,512] parameter(0)
  y = f32[512] parameter(1)
  b = f32[512,512] broadcast(y), dimensions={1}
  a = f32[512,512] add(x, b)
  t = f32[512,512] tanh(a)
  ROOT r = f32[512,512] multiply(t, x)
}
"""
LOOP = """HloModule loop
again { p = (s32[], f32[5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(7)
  ROOT r = pred[] compare(i, n), direction=LT }
step { p = (s32[], f32[5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[5] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[5] multiply(x, x)
  ROOT r = (s32[], f32[5]) tuple(j, y) }
ENTRY main { x = f32[5] parameter(0)
  z = s32[] constant(0)
  s = (s32[], f32[5]) tuple(z, x)
  ROOT w = (s32[], f32[5]) while(s), condition=again, body=step }
"""


@pytest.fixture(autouse=True, scope="module")
def npu() -> Iterator[ModuleType]:
    """As if the package were installed, in this process."""
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(FOLDER))
    package = importlib.import_module("xla_explorer_npu")
    installed = "npu" in xe.backends.names()
    if not installed:
        xe.backends.register(package.platform())
    yield package
    if not installed:
        xe.backends.unregister("npu")
    patch.undo()


def compiled(text: str) -> tuple[Any, Any]:
    """(session, timeline) after a run that gave the evaluator's values."""
    session = xe.compile(text, backend="npu")
    arguments = xe.random_arguments(session.source)
    leaves = session.signature.leaves(arguments)
    from xla_explorer.hlo.evaluator import flatten_value

    _, fine = largest_error(
        flatten_value(xe.evaluate(session.source, *leaves)), session.run_flat(leaves)
    )
    assert fine
    return session, session.executable.timeline


def test_it_is_a_package_of_its_own() -> None:
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["xla_explorer.backends"] == {"npu": "xla_explorer_npu:platform"}
    mentions = [
        p
        for p in (ROOT / "xla_explorer").rglob("*.py")
        if "xla_explorer_npu" in p.read_text() or '"npu"' in p.read_text()
    ]
    assert not mentions


def test_the_contract_is_kept() -> None:
    found = xe.backends.contract("npu", sample=3)
    found.require()
    assert {check.name for check in found.checks if check.status == "skipped"} == set()


@pytest.mark.long
def test_conformance_is_right_or_refused() -> None:
    found = xe.backends.conformance("npu")
    assert found.passed, found.first_failure
    assert found.counts["ok"] > 600
    assert all(row.code for row in found.rows if row.status == "refused")


# -- workloads -------------------------------------------------------------------------------------
def test_attention() -> None:
    _, timeline = compiled(ATTENTION)
    assert timeline.work["mat"] == 2 * 2 * 150 * 150 * 40


def test_convolution_with_groups_strides_and_padding() -> None:
    _, timeline = compiled(CONVOLUTION)
    assert timeline.work["mat"] == 2 * 9 * 10 * 20 * 6 * 9


@pytest.mark.parametrize("kind", ["f32", "bf16", "s32"])
def test_depthwise_convolutions_go_to_the_vector_unit(kind: str) -> None:
    _, timeline = compiled(
        f"HloModule d\nENTRY e {{ x = {kind}[2,9,8,70] parameter(0)\n k = {kind}[3,3,1,70] parameter(1)\n ROOT r = {kind}[2,9,8,70] "
        "convolution(x, k), window={size=3x3 pad=1_1x1_1 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, feature_group_count=70 }"
    )
    assert not timeline.work["mat"] and timeline.least_cycles < timeline.cycles


@pytest.mark.parametrize(("dimension", "operation"), [(0, "accumulate"), (1, "reduce")])
def test_reductions_load_along_memory(dimension: int, operation: str) -> None:
    session, timeline = compiled(
        "HloModule r\nsum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
        f"ENTRY e {{ x = f32[300,400] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[{(400, 300)[dimension]}] reduce(x, z), "
        f"dimensions={{{dimension}}}, to_apply=sum }}"
    )
    assert f"vec.{operation}-add.f32" in session.stage("npu-assembly").text
    assert timeline.cycles < 2.5 * timeline.least_cycles


def test_cycles_do_not_depend_on_where_buffers_lie() -> None:
    text = (
        "HloModule r\nsum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
        "ENTRY e { x = f32[300,400] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[300] reduce(x, z), dimensions={1}, to_apply=sum }"
    )
    assert len({compiled(text)[1].cycles for _ in range(4)}) == 1


@pytest.mark.parametrize(
    ("name", "least_busy"), [("mlp_train_b128_784_512_10", 0.25), ("attention_h8_s256_d64", 0.12)]
)
def test_whole_workloads(name: str, least_busy: float) -> None:
    """The matrix unit's share of all cycles; the rest is memory and vector work."""
    text = (DATA / f"{name}.hlo").read_text()
    session = xe.compile(text, backend="npu")
    arguments = xe.random_arguments(session.source)
    got = session.run_flat(session.signature.leaves(arguments))
    want = xe.compile(text).run_flat(session.signature.leaves(arguments))
    assert largest_error(want, got)[1]
    frame = session.executable.timeline.utilisation().set_index("unit")
    assert frame.loc["mat", "busy"] > least_busy


def test_double_buffering_overlaps_loads_work_and_stores() -> None:
    _, timeline = compiled(LARGE_ADD)
    assert timeline.cycles < 0.65 * sum(timeline.busy.values())
    frame = timeline.to_frame()
    loads, work = frame[frame["unit"].isin(["dma0", "dma1"])], frame[frame["unit"] == "vec"]
    # Some load starts and ends while the vector unit is at it.
    assert any(
        ((loads["start"] > row.start - 1) & (loads["start"] < row.end)).any()
        for row in work.itertuples()
    )


def test_one_fusion_reads_and_writes_each_array_once() -> None:
    session, timeline = compiled(LARGE_ADD)
    assert [step.opcode for step in program_steps(session)] == ["fusion"]
    moved = sum(work for unit, work in timeline.work.items() if unit.startswith("dma"))
    assert moved == 3 * 512 * 512 * 4  # x and the spread y in, the result out


def test_loops_branch() -> None:
    session, timeline = compiled(LOOP)
    text = session.stage("npu-assembly").text
    assert "ctl.branch-unless-equal.pred" in text and "ctl.jump" in text
    assert timeline.executed["ctl"] == 8 + 7


@pytest.mark.parametrize("selector", ["pred[]", "s32[]"])
def test_conditionals_take_their_branch(selector: str) -> None:
    branches = "b0 { ROOT x = f32[3] parameter(0) }\nb1 { x = f32[3] parameter(0)\n ROOT n = f32[3] negate(x) }\n"
    called = (
        "true_computation=b0, false_computation=b1"
        if selector == "pred[]"
        else "branch_computations={b0, b1, b1}"
    )
    extra = "" if selector == "pred[]" else ", x"
    session = xe.compile(
        f"HloModule c\n{branches}ENTRY main {{ s = {selector} parameter(0)\n x = f32[3] parameter(1)\n"
        f" ROOT r = f32[3] conditional(s, x, x{extra}), {called} }}",
        backend="npu",
    )
    x = np.array([1, -2, 3], np.float32)
    chosen = (
        [(True, x), (False, -x)]
        if selector == "pred[]"
        else [(0, x), (1, -x), (2, -x), (-1, -x), (9, -x)]
    )
    for value, want in chosen:
        np.testing.assert_array_equal(
            session(np.asarray(value, bool if selector == "pred[]" else np.int32), x), want
        )


def test_layouts_of_arguments_and_results() -> None:
    compiled(
        "HloModule l\nENTRY e { x = f32[4,6]{0,1} parameter(0)\n y = f32[4,6]{0,1} negate(x)\n ROOT r = f32[4,6]{1,0} copy(y) }"
    )
    compiled(
        "HloModule l\nENTRY e { x = f32[4,6]{0,1} parameter(0)\n ROOT r = f32[24]{0} reshape(x) }"
    )


def test_arrays_without_elements() -> None:
    compiled("HloModule z\nENTRY e { x = f32[0,3] parameter(0)\n y = f32[3] parameter(1)\n n = f32[0,3] negate(x)\n"
             " m = f32[3] negate(y)\n ROOT r = (f32[0,3], f32[3]) tuple(n, m) }")  # fmt: skip


def test_threads_take_turns() -> None:
    from concurrent.futures import ThreadPoolExecutor

    session = xe.compile(LARGE_ADD, backend="npu")
    inputs = [xe.random_arguments(session.source, seed) for seed in range(4)]
    alone = [session(*given) for given in inputs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda given: session(*given), inputs))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


# -- what it shows ---------------------------------------------------------------------------------
def test_lines_of_assembly_belong_to_instructions() -> None:
    session, _ = compiled(ATTENTION)
    stage = session.stage("npu-assembly")
    names = {i.id: i.name for i in session.module.instructions()}
    owners = {
        names[origin]
        for line, origin in stage.lines()
        if origin is not None and "mat.multiply" in line
    }
    assert len(owners) == 2
    assert list(session.stages())[:2] == ["hlo", "hlo-optimized"] and "buffers" in session.stages()
    assert "npu-assembly" in [
        pane.name for pane in session._explorer_source_().panes()
    ]  # beside the HLO, in the widget
    assert session.explain(next(iter(owners))).code["npu-assembly"]


def test_the_timeline_is_a_table_and_a_picture() -> None:
    _, timeline = compiled(ATTENTION)
    frame = timeline.to_frame()
    assert list(frame.columns) == ["number", "unit", "start", "end", "work", "hlo"]
    assert frame["end"].max() == timeline.cycles and (frame["hlo"] != "").all()
    bundle = timeline._repr_mimebundle_()
    assert (
        "<svg" in bundle["text/html"]
        and "of_peak" in bundle["text/html"]
        and "for this work; busy" in bundle["text/plain"]
    )
    svg = timeline.svg()
    assert svg.svg.count("<rect") > 10 and svg._repr_mimebundle_()["image/svg+xml"].startswith(
        "<svg"
    )
    assert timeline.by_instruction().index[0].startswith("%")


def test_profiles_are_simulated_time() -> None:
    session, timeline = compiled(CONVOLUTION)
    profile = session.profile(*xe.random_arguments(session.source))
    assert len(profile) == 1 + len(program_steps(session))
    again = session.executable.profile(
        session.signature.leaves(xe.random_arguments(session.source)), 3
    )
    assert again.total_us == (pytest.approx(timeline.cycles / 1e3),)


def test_fusions_are_decided_with_reasons() -> None:
    session = xe.compile(
        "HloModule d\nENTRY e { x = f32[8] parameter(0)\n a = f32[8] exponential(x)\n b = f32[8] negate(a)\n c = f32[8] tanh(a)\n"
        " s = f32[8] sine(b)\n ROOT r = (f32[8], f32[8]) tuple(s, c) }",
        backend="npu",
    )
    decisions = session.decisions("fusion")
    assert "used-elsewhere" in set(decisions["code"])
    assert (decisions["verdict"] == "accepted").any()


# -- refusals --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ENTRY e { x = f64[4] parameter(0)\n ROOT y = f64[4] negate(x) }", "element-type"),
        (
            "ENTRY e { x = c64[8] parameter(0)\n ROOT y = c64[8] fft(x), fft_type=FFT, fft_length={8} }",
            "element-type",
        ),
        (
            "ENTRY e { x = f32[4,4] parameter(0)\n ROOT y = (f32[4,1], s32[4,1]) topk(x), k=1, largest=true }",
            "opcode-without-lowering",
        ),
        (
            "ENTRY e { x = s64[4,4] parameter(0)\n ROOT y = s64[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
            "accumulator-type",
        ),
    ],
)
def test_what_it_cannot_do_it_refuses(text: str, code: str) -> None:
    session = xe.compile("HloModule r\n" + text, backend="npu")
    assert session.result.executable is None and session.result.why_not.code == code
    with pytest.raises(xe.XlaExplorerError, match="npu cannot run here"):
        session(*xe.random_arguments(session.source))


# -- the assembler and the machine -----------------------------------------------------------------
@pytest.mark.parametrize("text", [ATTENTION, CONVOLUTION, LARGE_ADD, LOOP])
def test_text_and_bytes_are_one_program(text: str) -> None:
    from xla_explorer_npu.assembler import assemble, disassemble

    session = xe.compile(text, backend="npu")
    code = session.executable.code
    assert assemble(disassemble(code)) == code
    assert assemble(session.stage("npu-assembly").text) == code


PROGRAM = """
# out = 2 * in + 1, four elements at a time, twice
  vec.fill.f32 to=s[256] bits=1073741824 n=4
  vec.fill.f32 to=s[512] bits=1065353216 n=4
  dma.copy.f32 to=s[0] from=d[r0+0] size=4 to_step=1 from_step=1 queue=0
  vec.multiply.f32 to=s[0] a=s[0] b=s[256] n=4
  vec.add.f32 to=s[0] a=s[0] b=s[512] n=4
  dma.copy.f32 to=d[r1+0] from=s[0] size=4 to_step=1 from_step=1 queue=1
  ctl.halt
"""


def test_a_program_by_hand() -> None:
    from xla_explorer_npu.assembler import assemble

    executor = xe.backends.get("npu").stream_executor()
    source, target = executor.allocate(16), executor.allocate(16)
    executor.copy_to_device(source, np.arange(4, dtype=np.float32).tobytes())
    executor.copy_to_device(target, bytes(16))
    stream = executor.create_stream()
    executor.launch(
        executor.load(assemble(PROGRAM), ["main"]), "main", [source.address, target.address], stream
    )
    assert executor.copy_from_device(target, 16) == bytes(16)  # nothing has run yet
    executor.synchronize(stream)
    assert np.frombuffer(executor.copy_from_device(target, 16), np.float32).tolist() == [1, 3, 5, 7]
    events = {number: (start, end) for number, _, start, end, _ in executor.timeline.events}
    assert events[3][0] >= events[2][1]  # the multiplication waits for the load
    assert events[0][1] <= events[2][1]  # the constants are made meanwhile


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vec.ad.f32 to=s[0] a=s[0] b=s[0] n=4", "line 1: no operation"),
        ("vec.add.f31 to=s[0] a=s[0] b=s[0] n=4", "no element type"),
        ("vec.add.f32 to=s[0] a=s[0] n=4", "takes to a b n, got to a n"),
        ("vec.add.f32 to=q[0] a=s[0] b=s[0] n=4", "is no address"),
        ("ctl.jump target=nowhere", "target=nowhere"),
    ],
)
def test_bad_assembly_is_said_with_its_line(line: str, message: str) -> None:
    from xla_explorer_npu.assembler import AssemblyError, assemble

    with pytest.raises(AssemblyError, match=message.replace("[", r"\[")):
        assemble(line)


@pytest.mark.parametrize(
    "body",
    [
        "vec.abs.f32 to=s[0] a=s[1048570] n=4",
        "vec.abs.f32 to=s[0] a=s[-8] n=4",
        "top:\n ctl.jump target=top",
    ],
)
def test_faults_name_the_instruction(body: str) -> None:
    from xla_explorer_npu.assembler import assemble, decode
    from xla_explorer_npu.simulator import Machine, NpuFaultError

    with pytest.raises(NpuFaultError, match="instruction"):
        Machine().run(decode(assemble(body + "\n ctl.halt")), [], most_instructions=1000)


# -- the corpus ------------------------------------------------------------------------------------
@pytest.mark.shared
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus is not at {CORPUS}")
@pytest.mark.parametrize("step", [30, pytest.param(1, marks=pytest.mark.slow)])
def test_corpus_cases_are_right_or_refused(step: int) -> None:
    spec = importlib.util.spec_from_file_location("conformance_corpus", CORPUS / "conformance.py")
    assert spec is not None and spec.loader is not None
    corpus = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = corpus
    spec.loader.exec_module(corpus)
    right, wrong = 0, []
    for case in corpus.load_cases(str(CORPUS / "dev"))[::step]:
        session = xe.compile(case.hlo, backend="npu")
        if session.result.executable is None:
            assert session.result.why_not.code
            continue
        fine, message, _ = corpus.compare_case(session.run_flat(case.inputs), case)
        right += fine
        if not fine:
            wrong.append((case.name, message))
    assert not wrong
    assert right >= (1200 if step == 1 else 38)
