"""`session.loops(kernel).steps`: a kernel from its plain nest to LLVM IR."""

from __future__ import annotations

import pickle

import pytest

import xla_explorer as xe
from xla_explorer.backends.aot import ahead_of_time
from xla_explorer.backends.llvm import early_objects
from xla_explorer.explorer.code.lowering_steps import KernelSteps

PROGRAM = """HloModule m
ENTRY e {
  x = bf16[509,765] parameter(0)
  y = f32[509,765] convert(x)
  z = f32[509,765] tanh(y)
  n = s8[509,765] convert(z)
  w = bf16[509,765] convert(z)
  ROOT r = (bf16[509,765], s8[509,765]) tuple(w, n)
}"""
ROWS = """HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[64,700] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
}"""
BACKENDS = [("cpu", {}), ("gpu", {"architecture": "sm_80"}), ("aarch64", {})]


def _steps(text: str, backend: str, options: dict[str, str]) -> tuple[xe.Session, KernelSteps]:
    session = xe.compile(text, backend=backend, cache=False, **options)
    kernel = next(k.name for k in session.loops() if k.is_nest)
    return session, session.loops(kernel).steps


@pytest.mark.parametrize(("backend", "options"), BACKENDS, ids=[name for name, _ in BACKENDS])
def test_the_last_step_is_the_code_that_is_printed(backend: str, options: dict[str, str]) -> None:
    session, steps = _steps(PROGRAM, backend, options)
    emitted = [
        line.split(" !dbg")[0].strip() for line in session.stage("llvm-ir").text.splitlines()
    ]
    lines = [line.strip() for line in steps[-1].lines if not line.endswith(":")]
    missing = [line for line in lines if line not in emitted and not line.startswith("br ")]
    if backend == "gpu":
        assert len(missing) <= 0.2 * len(lines), missing
    else:
        assert not missing
    assert len([step for step in steps if step.phase == "lowering"]) >= (
        9 if backend == "gpu" else 7
    )


def test_each_step_says_what_it_changes() -> None:
    _, steps = _steps(PROGRAM, "cpu", {})
    names = [step.name for step in steps]
    assert names[0] == "plain nest" and names[-5:] == [
        "expand-math",
        "expand-divisions",
        "legalise-conversions",
        "legalise-types",
        "legalise-memory",
    ]
    assert steps.step("legalise-memory").changed is False
    diff = steps.diff("legalise-types")
    assert "-  %v" in diff and "fpext <" in diff and "bf16>" in diff
    assert "bf16" not in steps.step("legalise-types").text
    assert all(step.sentence.endswith(".") for step in steps if step.phase == "lowering")
    assert pickle.loads(pickle.dumps(tuple(steps))) == tuple(steps)


def test_a_stored_text_keeps_no_session() -> None:
    session = xe.compile(PROGRAM, cache=False)
    kernel = next(k.name for k in session.loops() if k.is_nest)
    text = session.loops(kernel)
    stored = pickle.dumps(text)
    assert len(stored) < 2 * len(text) + 1000
    loaded = pickle.loads(stored)
    assert loaded == text and loaded.whole == text.whole and text.steps
    with pytest.raises(xe.errors.XlaExplorerError, match="loaded without its session"):
        _ = loaded.steps


def test_the_lowering_compiles_no_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    session = xe.compile(PROGRAM, cache=False)
    kernel = next(k.name for k in session.loops() if k.is_nest)

    def compiles(*_: object, **__: object) -> None:
        raise AssertionError("LLVM runs")

    monkeypatch.setattr(early_objects.EarlyObjects, "with_rest", compiles)
    monkeypatch.setattr(early_objects.EarlyObjects, "add", compiles)
    assert session.lowering(kernel).step("expand-math").lines


def test_steps_for_another_cpu_need_no_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    session = xe.compile(PROGRAM, backend="aarch64", cache=False)
    kernel = next(k.name for k in session.loops() if k.is_nest)

    def compiles(*_: object, **__: object) -> None:
        raise AssertionError("LLVM runs")

    monkeypatch.setattr(ahead_of_time, "optimize_and_emit", compiles)
    assert session.lowering(kernel).step("expand-math").lines


def test_lines_name_instructions_of_the_session() -> None:
    session, steps = _steps(PROGRAM, "cpu", {})
    names = {
        i.name
        for c in session.module.computations.values()
        for number, i in c.instructions.items()
        if number in steps[-1].origins
    }
    assert {"y", "z", "w", "n"} <= {name.split(".")[0] for name in names}


def test_a_schedule_of_the_user_is_lowered() -> None:
    session = xe.compile(PROGRAM, cache=False)
    kernel = next(k.name for k in session.loops() if k.is_nest)
    steps = session.loops(kernel, "split{j,17},unroll{ji}").steps
    assert [step.name for step in steps if step.phase == "schedule"] == [
        "split{j,17}",
        "unroll{ji}",
    ]
    assert "<" not in steps.step("write-blocks").text.replace("<tasks>", "")


def test_threads_wait_for_shared_memory() -> None:
    session = xe.compile(
        "HloModule m\nENTRY e { x = f32[512,512] parameter(0)\n"
        "  ROOT t = f32[512,512] transpose(x), dimensions={1,0} }",
        backend="gpu",
        architecture="sm_80",
        cache=False,
    )
    steps = session.loops(session.loops()[0].name).steps
    assert "barrier" not in steps.step("scheduled-nest").text
    assert "barrier" in steps.step("place-barriers").text
    assert steps.step("write-statements").text.count("barrier") >= 1


def test_an_unknown_step_names_a_near_one() -> None:
    _, steps = _steps(ROWS, "cpu", {})
    with pytest.raises(xe.XlaExplorerError, match="no step 'legalize-types'") as problem:
        steps.diff("legalize-types")
    assert "legalise-types" in problem.value.hint


def test_the_constant_bank_is_a_step() -> None:
    table = ", ".join([str(k * k % 61) for k in range(64)])
    session = xe.compile(
        f"HloModule m\nENTRY e {{ x = f32[64,256] parameter(0) c = f32[64] constant({{{table}}})\n"
        "  b = f32[64,256] broadcast(c), dimensions={0}\n  ROOT r = f32[64,256] add(x, b) }",
        backend="gpu",
        architecture="sm_80",
        cache=False,
    )
    step = session.lowering(session.loops()[0].name).step("constant-bank")
    assert step.changed and "addrspace(4) @const_" in step.text


def test_threads_reduce_before_they_combine() -> None:
    session = xe.compile(
        "HloModule m\nsum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
        "ENTRY e { x = f32[64,4096] parameter(0) z = f32[] constant(0)\n"
        "  ROOT r = f32[64] reduce(x, z), dimensions={1}, to_apply=sum }",
        backend="gpu",
        architecture="sm_80",
        cache=False,
    )
    steps = session.lowering(session.loops()[0].name)
    assert steps.step("scheduled-nest").text.count("reduce add") == 1
    text = steps.step("split-reductions").text
    crossing, private = [line for line in text.splitlines() if "reduce add" in line]
    assert "@thread" in crossing and "@serial" not in crossing and "@vector" not in crossing
    assert "@thread" not in private and "@vector" in private
    launched = steps.step("bind-launch").text
    assert " = thread" in launched and " = block" in launched
