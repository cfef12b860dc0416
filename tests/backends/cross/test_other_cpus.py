"""Other CPUs: what is generated for each, what running them needs, values under emulation."""

from __future__ import annotations

import os
import re
import signal
import warnings
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cross import CrossPlatform, runners
from xla_explorer.backends.llvm.cpu_targets import (
    CPU_TARGETS,
    CpuTarget,
    description_of_triple,
    target_description,
)
from xla_explorer.backends.registry import platform
from xla_explorer.explorer.sessions.compilation import program_steps

RUNNING = [name for name, target in CPU_TARGETS.items() if target.runner]
ELEMENTWISE = "HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  y = f32[64] parameter(1)\n  z = f32[64] multiply(x, y)\n  ROOT r = f32[64] add(z, x)\n}"
HALF = """HloModule m
ENTRY e {
  x = f16[40,5]{0,1} parameter(0)
  d = f64[40,5]{0,1} parameter(1)
  t = f16[40,5]{0,1} tanh(x)
  n = f16[40,5]{0,1} convert(d)
  s = f16[40,5]{0,1} add(t, n)
  w = f64[40,5]{0,1} convert(s)
  o = f64[40,5]{0,1} remainder(d, w)
  e = f64[40,5]{0,1} round-nearest-even(d)
  a = f64[40,5]{0,1} round-nearest-afz(d)
  ROOT r = (f16[40,5]{0,1}, f64[40,5]{0,1}, f64[40,5]{0,1}, f64[40,5]{0,1}) tuple(s, o, e, a)
}"""


def _session(name: str, text: str, **options: Any) -> xe.Session:
    return xe.compile(text, backend=name, cache=False, **options)


def _need(name: str) -> None:
    if (why := platform(name).availability()) is not None:
        pytest.skip(f"{name}: {why}")


@pytest.mark.parametrize(
    ("name", "options", "pattern"),
    [
        ("aarch64", {}, r"fm\w+\s+v\d+\.4s"),
        ("aarch64", {"cpu": "neoverse-v1"}, r"fm\w+\s+z\d+\.s"),
        ("riscv64", {}, r"vfm\w+\.v"),
        ("riscv64", {"features": "+m,+a,+f,+d,+c"}, r"fm\w+\.s"),
        ("x86-64", {}, r"vf?m\w+ps.*%ymm"),
        ("x86-64", {"cpu": "x86-64-v2"}, r"\smulps\s.*%xmm"),
        ("x86-64", {"cpu": "x86-64-v4"}, r"vf?m\w+ps.*%[yz]mm"),
        ("wasm32", {}, r"f32x4\.mul"),
        ("hexagon", {}, r"\t\{\n[^}]*sfmpy[^}]*\n\t\}"),
    ],
)
def test_each_cpu_gets_its_own_vectors(name: str, options: dict[str, str], pattern: str) -> None:
    session = _session(name, ELEMENTWISE, **options)
    assert re.search(pattern, str(session.assembly())), str(session.assembly())
    assert set(session.stages()["assembly"].origins) - {None}, "no line names its instruction"
    assert list(session.stages()) == [
        "hlo",
        "hlo-optimized",
        "buffers",
        "llvm-ir",
        "llvm-ir-optimized",
        "assembly",
        "object",
    ]


@pytest.mark.parametrize("name", RUNNING)
def test_values_where_the_cpu_lacks_instructions(name: str) -> None:
    """Half precision, rounding and remainders, in a layout that is not row-major.

    Several of these CPUs call a runtime for them.
    """
    _need(name)
    random = np.random.default_rng(3)
    d = (random.normal(size=(40, 5)) * 10.0 ** random.integers(-9, 6, (40, 5))).round(8)
    d.ravel()[:12] = [
        0.5,
        1.5,
        2.5,
        -0.5,
        -2.5,
        1e300,
        -1e300,
        np.inf,
        np.nan,
        65519.999,
        65520.0,
        5.9e-8,
    ]
    x = random.normal(size=(40, 5)).astype(np.float16)
    x.ravel()[:6] = [np.inf, -np.inf, np.nan, 6e-8, -6e-8, 65504]
    got = _session(name, HALF)(x, d)
    want = xe.evaluate(xe.parse_hlo(HALF), x, d)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
        np.testing.assert_allclose(
            np.asarray(a, np.float64),
            np.asarray(b, np.float64),
            rtol=1e-3 if a.dtype == np.float16 else 0,
        )


@pytest.mark.parametrize("name", RUNNING)
def test_loops_sorts_and_factorisations_run(name: str) -> None:
    _need(name)
    b = xe.HloBuilder("m")
    x = b.parameter(xe.f32[6, 6], "x")
    module = b.build(b.cholesky(x, lower=True))
    a = np.random.default_rng(1).normal(size=(6, 6)).astype(np.float32)
    a = a @ a.T + 6 * np.eye(6, dtype=np.float32)
    session = xe.compile(module, backend=name, cache=False)
    np.testing.assert_allclose(session(a), np.linalg.cholesky(a), rtol=1e-4, atol=1e-5)
    assert {step.runs_on for step in program_steps(session)} <= {"kernel", "copy"}
    assert "cholesky" not in {i.opcode.name for i in session.module.instructions()}


@pytest.mark.parametrize("name", RUNNING)
def test_profiles_have_a_time_a_run(name: str) -> None:
    _need(name)
    executable = _session(name, ELEMENTWISE).executable
    profile = executable.profile([np.ones(64, np.float32)] * 2, 4)
    assert len(profile.total_us) == 4 and min(profile.total_us) >= 0 and profile.kernels == ()


@pytest.mark.parametrize(
    ("name", "missing"),
    [("aarch64", "qemu-aarch64"), ("riscv64", "riscv64-linux-gnu-gcc"), ("wasm32", "wasm-ld")],
)
def test_a_missing_tool_is_a_reason_with_its_command(
    name: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        runners.shutil,
        "which",
        lambda program: None if program == missing else f"/usr/bin/{program}",
    )
    why = CrossPlatform(name).availability()
    assert (
        why is not None
        and why.code == "tool-missing"
        and missing in why.message
        and "install" in why.facts["command"]
    )
    session = _session(name, ELEMENTWISE)
    assert session.stages()["object"].data
    with pytest.raises(xe.XlaExplorerError, match=missing):
        session(np.ones(64, np.float32), np.ones(64, np.float32))


def test_x86_levels_that_this_machine_lacks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    target = CPU_TARGETS["x86-64"]
    description = target_description(target, "x86-64-v4")
    if runners.runner_availability(target) is not None:
        pytest.skip("no x86-64 machine with a C compiler")
    from dataclasses import replace

    from xla_explorer.backends.llvm import target_machine

    host = replace(target_machine.detected_target(), features="+sse4.2")
    monkeypatch.setattr(target_machine, "detected_target", lambda: host)
    why = runners.runner_availability(target, description)
    assert (
        why is not None and why.code == "cpu-feature-missing" and "avx512f" in why.facts["features"]
    )


def test_an_unknown_cpu_is_an_error_not_a_message_of_llvm(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(xe.XlaExplorerError, match="neoverse-n1"):
        _session("aarch64", ELEMENTWISE, cpu="neoverse-n0")
    assert "recognized" not in capfd.readouterr().err


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(xe.XlaExplorerError, match="no option 'level'"):
        _session("aarch64", ELEMENTWISE, level=3)


def test_what_has_no_native_code_has_stages_and_a_reason() -> None:
    text = "HloModule m\nENTRY e {\n  t = token[] after-all()\n  i = (f32[2], token[]) infeed(t)\n  ROOT x = f32[2] get-tuple-element(i), index=0\n}"
    session = _session("aarch64", text)
    assert list(session.stages()) == ["hlo", "hlo-optimized"]
    with pytest.raises(xe.XlaExplorerError, match="infeed"):
        session()


def test_a_program_that_fails_says_so() -> None:
    _need("aarch64")
    session = _session("aarch64", ELEMENTWISE)
    session.executable.program.compiled.objects = (b"no object",)
    with pytest.raises(runners.RunFailedError, match="linking"):
        session(np.ones(64, np.float32), np.ones(64, np.float32))


def test_triples_have_their_facts() -> None:
    assert description_of_triple("riscv64-linux-gnu").abi_name == "lp64d"
    assert description_of_triple("riscv64-linux-gnu", features="+v").features == "+m,+a,+f,+d,+c,+v"
    assert description_of_triple("wasm32-unknown-unknown").pointer_bits == 32
    assert (
        not description_of_triple("x86_64-linux-gnu").has_fma
        and description_of_triple("x86_64-linux-gnu", "x86-64-v3").has_fma
    )
    assert description_of_triple("x86_64-linux-gnu", "x86-64-v4").vector_register_bits == 512


@pytest.mark.parametrize("name", sorted(CPU_TARGETS))
def test_every_tool_has_a_install_command(name: str) -> None:
    target = CPU_TARGETS[name]
    for program in filter(None, [target.compiler, *target.emulator[:1]]):
        assert runners.install_command(program).startswith("apt-get install ")


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("powerpc64le-linux-gnu-gcc", "apt-get install gcc-powerpc64le-linux-gnu"),
        ("mips64el-linux-gnuabi64-gcc", "apt-get install gcc-mips64el-linux-gnuabi64"),
        ("arm-linux-gnueabihf-gcc-12", "apt-get install gcc-arm-linux-gnueabihf"),
        ("qemu-ppc64le", "apt-get install qemu-user"),
        ("my-linker", "install my-linker and put it on the PATH"),
    ],
)
def test_a_tool_of_a_new_cpu_has_a_command_too(
    program: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runners.install_command(program) == command
    monkeypatch.setattr(runners.shutil, "which", lambda _: None)
    row = CpuTarget("new", "A new CPU.", "powerpc64le-linux-gnu", runner="qemu", compiler=program)
    why = runners.runner_availability(row)
    assert why is not None and why.code == "tool-missing" and command in why.message


@pytest.mark.parametrize(
    "triple",
    [
        "s390x-linux-gnu",
        "mips-linux-gnu",
        "sparc64-linux-gnu",
        "powerpc64-linux-gnu",
        "aarch64_be-linux-gnu",
    ],
)
def test_a_big_endian_cpu_is_refused_by_name(triple: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match="is big-endian"):
        target_description(CpuTarget("big", "A big-endian CPU.", triple))
    with pytest.raises(xe.XlaExplorerError, match="is big-endian"):
        description_of_triple(triple)


def test_a_cpu_without_object_files_is_refused_by_name() -> None:
    text = "ENTRY e { x = f32[8] parameter(0) ROOT r = f32[8] negate(x) }"
    with pytest.raises(xe.XlaExplorerError, match="no object files for 'xcore'"):
        xe.aot(text, triple="xcore")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_runs_wasm_after_its_parent_did() -> None:
    """The compiler for wasm32 has no threads of its own, for which a forked child would wait."""
    _need("wasm32")
    x, y = np.ones((2, 64), np.float32)
    first, second = (
        _session("wasm32", ELEMENTWISE),
        _session("wasm32", ELEMENTWISE.replace("multiply", "subtract")),
    )
    np.testing.assert_array_equal(first(x, y), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns if a process with threads is forked
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        os._exit(0 if (second(x, y) == 1).all() else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
